// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

type timeDuration = time.Duration

func jsonGet(s, path string) gjson.Result { return gjson.Get(s, path) }

func jsonParse(s string) gjson.Result { return gjson.Parse(s) }

// jsonSet gives the object s with more keys.
func jsonSet(s string, more map[string]any) string {
	o := map[string]any{}
	_ = json.Unmarshal([]byte(s), &o)
	for k, v := range more {
		o[k] = v
	}
	return marshal(o)
}

func marshal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic("embed: " + err.Error())
	}
	return string(b)
}

func itoa(i int) string { return strconv.Itoa(i) }

// quote makes a JSON string.
func quote(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= 0x7f {
			return marshal(s)
		}
	}
	return `"` + s + `"`
}

// ftoa writes a number that stays a JSON real.
func ftoa(f float64) string {
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
