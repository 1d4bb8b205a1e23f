// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"encoding/json"
	"strings"

	"github.com/BurntSushi/toml"
)

// parseConfig makes JSON of a configuration in TOML or JSON.
func parseConfig(text string) (string, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "{}", nil
	}
	o := map[string]any{}
	if text[0] == '{' {
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			return "", err
		}
		return text, nil
	}
	if _, err := toml.Decode(text, &o); err != nil {
		return "", err
	}
	return marshal(o), nil
}

// Config gives the configuration as JSON.
func (in *Instance) Config() string { return in.config }
