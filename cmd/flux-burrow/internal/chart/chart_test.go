// SPDX-License-Identifier: LGPL-3.0-or-later

package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"flux-burrow/cmd/flux-burrow/internal/golden"
)

// now is for jobs that are not over, 20 s after the last event of most.
const now = 1796061310.0 + 61.5

func logs(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob("testdata/logs/*.jsonl")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d logs, %v", len(files), err)
	}
	all := map[string]string{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(f), ".jsonl")] = string(b)
	}
	return all
}

func text(t testing.TB, c *Chart, o TextOptions) string {
	t.Helper()
	var b strings.Builder
	if err := c.Text(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestCharts(t *testing.T) {
	for name, log := range logs(t) {
		c, err := Read("ƒ2PyhmmR", log, now)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		golden.Check(t, name+".txt", text(t, c, TextOptions{Width: 100}))
		golden.Check(t, name+".ascii", text(t, c, TextOptions{Width: 80, ASCII: true}))
		var b strings.Builder
		if err := c.SVG(&b); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, name+".svg", b.String())
		wellFormed(t, b.String())
	}
}

// wellFormed reads a whole XML document, and refuses numbers that are none.
func wellFormed(t interface{ Errorf(string, ...any) }, doc string) {
	d := xml.NewDecoder(strings.NewReader(doc))
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Errorf("%v in:\n%s", err, doc)
			return
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	if depth != 0 || strings.Contains(doc, "NaN") || strings.Contains(doc, "Inf") {
		t.Errorf("depth %d, or a number that is none, in:\n%s", depth, doc)
	}
}

func TestNoEvents(t *testing.T) {
	for _, s := range []string{"", "\n\n", "no event\n", "{}\n"} {
		if _, err := Read("ƒ1", s, 0); err == nil {
			t.Errorf("%q gives a chart", s)
		}
	}
}

func TestWidth(t *testing.T) {
	for name, log := range logs(t) {
		c, err := Read("ƒ1", log, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, width := range []int{80, 100, 132, 250} {
			out, _, _ := strings.Cut(text(t, c, TextOptions{Width: width}), "\n  ")
			for _, line := range strings.Split(out, "\n")[1:] {
				if n := utf8.RuneCountInString(line); n > width {
					t.Errorf("%s: %d columns in %d: %s", name, n, width, line)
				}
			}
		}
	}
}

func TestColor(t *testing.T) {
	c, err := Read("ƒ1", logs(t)["cancelled"], 0)
	if err != nil {
		t.Fatal(err)
	}
	if s := text(t, c, TextOptions{Width: 80}); strings.Contains(s, "\x1b") {
		t.Errorf("an escape sequence, of the log or our own:\n%q", s)
	}
	if s := text(t, c, TextOptions{Width: 80, Color: true}); strings.Count(s, resetColor) < 5 {
		t.Errorf("%q", s)
	}
}

// Any events give a chart: with times out of order, far apart or equal.
func TestAnyEvents(t *testing.T) {
	names := []string{"submit", "alloc", "prolog-start", "prolog-finish", "epilog-start", "epilog-finish",
		"dws_environment", "start", "finish", "release", "exception", "free", "clean", "odd"}
	contexts := []string{``, `,"context":{"description":"dws-epilog","status":1}`, `,"context":{"description":"a<&\"b"}`,
		`,"context":{"severity":0,"type":"x","note":"]]>","final":true}`, `,"context":7`}
	times := rapid.OneOf(rapid.SampledFrom([]float64{0, 1, 1.001, 1e9, 1.8e9, 1.8e9 + 1e-3, -5, 1e300}), rapid.Float64Range(0, 4e9))
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 30).Draw(t, "n") {
			at := times.Draw(t, "at")
			stamp := strconv.FormatFloat(at, 'g', -1, 64)
			b.WriteString(`{"timestamp":` + stamp + `,"name":"` + rapid.SampledFrom(names).Draw(t, "name") + `"` +
				rapid.SampledFrom(contexts).Draw(t, "context") + "}\n")
		}
		c, err := Read("ƒ1", b.String(), times.Draw(t, "now"))
		if err != nil {
			t.Fatal(err)
		}
		var s strings.Builder
		if err := c.Text(&s, TextOptions{Width: rapid.IntRange(0, 200).Draw(t, "width")}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(s.String(), "NaN") || !utf8.ValidString(s.String()) {
			t.Fatalf("%s", s.String())
		}
		s.Reset()
		if err := c.SVG(&s); err != nil {
			t.Fatal(err)
		}
		wellFormed(t, s.String())
	})
}

func TestStep(t *testing.T) {
	for d, want := range map[float64]float64{
		0.00012: 0.0002, 0.05: 0.05, 0.051: 0.1, 1: 1, 3: 5, 7: 10, 12: 20, 25: 60, 45: 60, 61: 120, 4000: 7200,
		86401: 172800, 86400 * 7: 864000,
	} {
		if got := step(d); math.Abs(got-want) > 1e-9*want {
			t.Errorf("step(%v) = %v, want %v", d, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for s, want := range map[float64]string{
		0: "0.000s", 9.9994: "9.999s", 9.9996: "10.0s", 59.94: "59.9s", 59.96: "1m00s", 3599.4: "59m59s",
		3599.6: "1h00m", 86000: "23h53m", 90000: "1d01h",
	} {
		if got := duration(s); got != want {
			t.Errorf("duration(%v) = %s, want %s", s, got, want)
		}
	}
	for _, c := range []struct {
		t, step float64
		want    string
	}{
		{0, 0.5, "0.0s"}, {1.5, 0.5, "1.5s"}, {36003.5, 0.5, "10h3.5s"}, {120, 60, "2m"}, {90, 30, "1m30s"},
		{86400 * 3, 86400, "3d"}, {0.002, 0.0005, "0.0020s"},
	} {
		if got := offset(c.t, c.step); got != c.want {
			t.Errorf("offset(%v, %v) = %s, want %s", c.t, c.step, got, c.want)
		}
	}
}
