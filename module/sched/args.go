// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"encoding/json"
	"strconv"
	"strings"
)

// ParseArgs reads module arguments: NAME=VALUE, with the names of the table's
// keys. The last of a name wins. An error names the argument.
func ParseArgs(args []string) (Settings, error) {
	var s Settings
	var f faults
	for _, arg := range args {
		name, text, _ := strings.Cut(arg, "=")
		k := findKey(name, false)
		if k == nil {
			f.add("unknown argument %q: there are %s=", arg, strings.Join(keyNames(false), "=, "))
			continue
		}
		if err := k.set(&s, argValue(text, k.list)); err != nil {
			f.add("%s=%s", name, err)
		}
	}
	return s, f.err()
}

// argValue makes of an argument what stands for it in a table.
func argValue(text string, list bool) any {
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	if list {
		var words []any
		for word := range strings.SplitSeq(text, ",") {
			words = append(words, word)
		}
		return words
	}
	if _, err := strconv.ParseUint(text, 10, 64); err == nil {
		return json.Number(text)
	}
	return text
}
