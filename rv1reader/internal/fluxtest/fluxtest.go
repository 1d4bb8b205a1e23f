// SPDX-License-Identifier: LGPL-3.0-or-later

// Package fluxtest asks an installed flux-core what its own library makes of a
// string, so that tests can compare. It runs one process for any number of
// questions.
package fluxtest

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

//go:embed answer.py
var script []byte

// Answer is what the library said; which fields it has depends on the question.
type Answer struct {
	OK               bool
	Out, Short, Uniq string
	First, Last      string
	Err              string
	Count            int
}

// Ask puts the questions, each a name and its arguments (see answer.py), and
// returns as many answers. It skips the test if there is no Flux to ask.
func Ask(t testing.TB, questions [][]string) []Answer {
	t.Helper()
	flux := find(t)
	file := filepath.Join(t.TempDir(), "answer.py")
	if err := os.WriteFile(file, script, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(flux, "python", file)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("%s does not start: %v", flux, err)
	}
	go func() {
		w := bufio.NewWriter(in)
		for _, q := range questions {
			_ = json.NewEncoder(w).Encode(q) // a broken pipe shows as missing answers
		}
		_ = w.Flush()
		_ = in.Close()
	}()
	answers := make([]Answer, 0, len(questions))
	for d := json.NewDecoder(out); ; {
		var a Answer
		if err := d.Decode(&a); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if err := cmd.Wait(); err != nil && len(answers) == 0 {
		t.Skipf("%s python has no bindings to ask: %v", flux, err)
	}
	if len(answers) != len(questions) {
		t.Fatalf("%d answers to %d questions; the last one answered: %v", len(answers), len(questions), questions[max(0, len(answers)-1)])
	}
	return answers
}

func find(t testing.TB) string {
	t.Helper()
	if flux, err := exec.LookPath("flux"); err == nil {
		return flux
	}
	const flux = "/opt/flux/bin/flux"
	if _, err := os.Stat(flux); err != nil {
		t.Skip("no flux program on PATH or in /opt/flux/bin: nothing to compare with")
	}
	return flux
}

// Program returns a function that runs flux with an input and gives its output.
// It skips the test if there is no Flux. A run takes some 20 ms.
func Program(t testing.TB) func(input string, args ...string) ([]byte, error) {
	t.Helper()
	flux := find(t)
	return func(input string, args ...string) ([]byte, error) {
		cmd := exec.Command(flux, args...)
		cmd.Stdin = strings.NewReader(input)
		return cmd.Output()
	}
}

// Number returns how many strings to compare: few with -short.
func Number() int {
	if testing.Short() {
		return 500
	}
	return 10000
}
