// SPDX-License-Identifier: LGPL-3.0-or-later

package embed_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// Each function that cgo/abi/flux.h declares is defined here: those of the job
// manager are weak, so the linker would not miss them.
func TestAllDefined(t *testing.T) {
	decl, err := os.ReadFile("../../cgo/abi/flux.h")
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob("cfuncs_*.c")
	defined := map[string]bool{}
	def := regexp.MustCompile(`(?m)^[a-z].*?\b(flux_\w+) \([^;{]*\)\n\{`)
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range def.FindAllStringSubmatch(string(src), -1) {
			defined[m[1]] = true
		}
	}
	count := 0
	for _, m := range regexp.MustCompile(`(?m)^(?:const |flux_|int|void|bool|char|double|uint)[^(;]*?\b(flux_\w+) \(`).FindAllStringSubmatch(string(decl), -1) {
		count++
		if !defined[m[1]] {
			t.Errorf("%s is declared and not defined", m[1])
		}
	}
	if count < 70 {
		t.Errorf("only %d declarations found", count)
	}
}
