// SPDX-License-Identifier: LGPL-3.0-or-later

package sched

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"flux-burrow/module/sched/policy"
	"flux-burrow/module/sched/resource"
)

// fromTOML gives what the broker makes of a configuration file.
func fromTOML(t *testing.T, text string) []byte {
	t.Helper()
	var o map[string]any
	if _, err := toml.Decode(text, &o); err != nil {
		t.Fatalf("the test's own TOML: %v", err)
	}
	b, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parsed(t *testing.T, text string, args ...string) Config {
	t.Helper()
	table, err := ParseTable(fromTOML(t, text))
	if err != nil {
		t.Fatalf("%s: %s", text, err)
	}
	a, err := ParseArgs(args)
	if err != nil {
		t.Fatalf("%s: %s", args, err)
	}
	return Merge(table, a)
}

const queues = "[queues.batch]\n[queues.debug]\n"

// full has every key with a value that is not the default.
const full = `
[sched-burrow]
policy = "conservative"
reservation-depth = 7
match = "last"
node-exclusive = ["gpu", "big", "gpu"]
queue-depth = 17
writer = "rv1"
log-level = "warning"
[sched-burrow.queues.debug]
policy = "easy"
reservation-depth = "all"
node-exclusive = true
`

func with(f func(*Config)) Config {
	c := DefaultConfig()
	f(&c)
	return c
}

func TestConfig(t *testing.T) {
	easy, all := policy.Easy, policy.DepthAll
	whole := &NodeExclusive{All: true}
	whatFullSays := func(c *Config) {
		c.Policy, c.Depth, c.Match = policy.Conservative, 7, resource.Last
		c.NodeExclusive = NodeExclusive{Properties: []string{"gpu", "big"}}
		c.QueueDepth, c.Writer, c.LogLevel = 17, RV1, Warning
		c.Queues = map[string]QueueConfig{"debug": {&easy, &all, whole}}
	}
	for _, tt := range []struct {
		name, toml, args string
		want             Config
	}{
		{"nothing", "", "", DefaultConfig()},
		{"others' tables", "[burrow]\nx = 1\n[queues.debug]\npolicy = 3", "", DefaultConfig()},
		{"empty tables", queues + "[sched-burrow]\n[sched-burrow.queues]", "", DefaultConfig()},
		{"full", queues + full, "", with(whatFullSays)},
		{"arguments", "", "policy=conservative match=last reservation-depth=7 node-exclusive=gpu,big queue-depth=17 writer=rv1 log-level=WARNING",
			with(func(c *Config) { whatFullSays(c); c.Queues = nil })},
		{"arguments win, but not over a queue's own", queues + full,
			"policy=fifo match=worst reservation-depth=0 node-exclusive=false queue-depth=unlimited writer=rv1exec log-level=error",
			with(func(c *Config) {
				whatFullSays(c)
				c.Policy, c.Depth, c.Match, c.NodeExclusive = policy.FIFO, 0, resource.Worst, NodeExclusive{}
				c.QueueDepth, c.Writer, c.LogLevel = 0, RV1Exec, Err
			})},
		{"the last of an argument", "", "policy=easy queue-depth=3 policy=fifo queue-depth=unlimited", DefaultConfig()},
		{"all and unlimited", "[sched-burrow]\nreservation-depth = \"all\"\nqueue-depth = \"unlimited\"\nmatch = \"best\"", "",
			with(func(c *Config) { c.Depth, c.Match = policy.DepthAll, resource.Best })},
		{"all as an argument", "", "reservation-depth=all node-exclusive=true", with(func(c *Config) { c.Depth, c.NodeExclusive.All = policy.DepthAll, true })},
		{"an empty list", "[sched-burrow]\nnode-exclusive = []", "", DefaultConfig()},
		{"a queue with a dot", "[queues.\"a.b\"]\n[sched-burrow.queues.\"a.b\"]\npolicy = \"easy\"", "",
			with(func(c *Config) { c.Queues = map[string]QueueConfig{"a.b": {Policy: &easy}} })},
	} {
		if diff := cmp.Diff(tt.want, parsed(t, tt.toml, strings.Fields(tt.args)...)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// What holds for a queue: its own, else that of all, and the depth by the
// policy that comes of it.
func TestConfigOfQueue(t *testing.T) {
	for _, tt := range []struct {
		toml, args, queue string
		policy            string
		depth             int
		exclusive         string
	}{
		{"", "", "", "fifo", 1, "false"},
		{"", "", "debug", "fifo", 1, "false"},
		{full, "", "batch", "conservative", 7, "gpu,big"},
		{full, "", "", "conservative", 7, "gpu,big"},
		{full, "", "debug", "easy", policy.DepthAll, "true"},
		{full, "policy=fifo reservation-depth=3 node-exclusive=x", "debug", "easy", policy.DepthAll, "true"},
		{full, "policy=fifo reservation-depth=3 node-exclusive=x", "batch", "fifo", 3, "x"},
		{"[sched-burrow]\npolicy = \"conservative\"\n[sched-burrow.queues.debug]\npolicy = \"easy\"", "", "debug", "easy", 1, "false"},
		{"[sched-burrow]\npolicy = \"conservative\"\n[sched-burrow.queues.debug]\npolicy = \"easy\"", "", "batch", "conservative", policy.DepthAll, "false"},
		{"[sched-burrow]\nreservation-depth = 5\n[sched-burrow.queues.debug]\npolicy = \"conservative\"", "", "debug", "conservative", 5, "false"},
		{"[sched-burrow]\npolicy = \"easy\"\n[sched-burrow.queues.debug]\nreservation-depth = 0", "", "debug", "easy", 0, "false"},
		{"[sched-burrow]\nnode-exclusive = true\n[sched-burrow.queues.debug]\nnode-exclusive = false", "", "debug", "fifo", 1, "false"},
		{"[sched-burrow]\nnode-exclusive = true\n[sched-burrow.queues.debug]\nnode-exclusive = [\"gpu\"]", "", "debug", "fifo", 1, "gpu"},
	} {
		c := parsed(t, queues+tt.toml, strings.Fields(tt.args)...)
		p, d, x := c.PolicyOf(tt.queue).String(), c.DepthOf(tt.queue), c.ExclusiveOf(tt.queue).String()
		if p != tt.policy || d != tt.depth || x != tt.exclusive {
			t.Errorf("%s %s: %q: %s %d %s, want %s %d %s", tt.toml, tt.args, tt.queue, p, d, x, tt.policy, tt.depth, tt.exclusive)
		}
	}
}

func TestTableErrors(t *testing.T) {
	const all = "log-level, match, node-exclusive, policy, queue-depth, reservation-depth, writer"
	for _, tt := range []struct{ toml, want string }{
		{`sched-burrow = 7`, `sched-burrow: 7 is not a table`},
		{`[sched-burrow]
colour = "red"`, `sched-burrow.colour: unknown key: there are ` + all + `, queues`},
		{`[sched-burrow]
policy = "lifo"`, `sched-burrow.policy: "lifo" is none of fifo, easy, conservative`},
		{`[sched-burrow]
policy = 1`, `sched-burrow.policy: 1 is none of fifo, easy, conservative`},
		{`[sched-burrow]
policy = ["easy"]`, `sched-burrow.policy: ["easy"] is none of fifo, easy, conservative`},
		{`[sched-burrow]
match = "left"`, `sched-burrow.match: "left" is none of first, last, best, worst`},
		{`[sched-burrow]
writer = "jgf"`, `sched-burrow.writer: "jgf" is none of rv1exec, rv1`},
		{`[sched-burrow]
log-level = "loud"`, `sched-burrow.log-level: "loud" is none of err, warning, info, debug`},
		{`[sched-burrow]
log-level = 7`, `sched-burrow.log-level: 7 is none of err, warning, info, debug`},
		{`[sched-burrow]
queue-depth = 0`, `sched-burrow.queue-depth: 0 is neither a number in 1-2147483647 nor unlimited`},
		{`[sched-burrow]
queue-depth = "17"`, `sched-burrow.queue-depth: "17" is neither a number in 1-2147483647 nor unlimited`},
		{`[sched-burrow]
queue-depth = 2147483648`, `sched-burrow.queue-depth: 2147483648 is neither a number in 1-2147483647 nor unlimited`},
		{`[sched-burrow]
reservation-depth = -1`, `sched-burrow.reservation-depth: -1 is neither a number of 0 or more nor all`},
		{`[sched-burrow]
reservation-depth = 1.5`, `sched-burrow.reservation-depth: 1.5 is neither a number of 0 or more nor all`},
		{`[sched-burrow]
reservation-depth = "none"`, `sched-burrow.reservation-depth: "none" is neither a number of 0 or more nor all`},
		{`[sched-burrow]
reservation-depth = true`, `sched-burrow.reservation-depth: true is neither a number of 0 or more nor all`},
		{`[sched-burrow]
node-exclusive = "gpu"`, `sched-burrow.node-exclusive: "gpu" is none of true, false, a list of properties`},
		{`[sched-burrow]
node-exclusive = 1`, `sched-burrow.node-exclusive: 1 is none of true, false, a list of properties`},
		{`[sched-burrow]
node-exclusive = ["gpu", 1]`, `sched-burrow.node-exclusive: 1 is not the name of a property (RFC 20)`},
		{`[sched-burrow]
node-exclusive = ["^gpu"]`, `sched-burrow.node-exclusive: "^gpu" is not the name of a property (RFC 20)`},
		{`[sched-burrow]
node-exclusive = [""]`, `sched-burrow.node-exclusive: "" is not the name of a property (RFC 20)`},
		{queues + `[sched-burrow]
queues = ["debug"]`, `sched-burrow.queues: ["debug"] is not a table`},
		{queues + `[sched-burrow.queues]
debug = "easy"`, `sched-burrow.queues.debug: "easy" is not a table`},
		{queues + `[sched-burrow.queues.debug]
policy = "lifo"`, `sched-burrow.queues.debug.policy: "lifo" is none of fifo, easy, conservative`},
		{queues + `[sched-burrow.queues.debug]
reservation-depth = -1`, `sched-burrow.queues.debug.reservation-depth: -1 is neither a number of 0 or more nor all`},
		{queues + `[sched-burrow.queues.debug]
node-exclusive = "x"`, `sched-burrow.queues.debug.node-exclusive: "x" is none of true, false, a list of properties`},
		{queues + `[sched-burrow.queues.debug]
match = "best"`, `sched-burrow.queues.debug.match: unknown key: there are node-exclusive, policy, reservation-depth`},
		{queues + `[sched-burrow.queues.debug]
queues = 1`, `sched-burrow.queues.debug.queues: unknown key: there are node-exclusive, policy, reservation-depth`},
		{queues + `[sched-burrow.queues.debgu]
policy = "easy"`, `sched-burrow.queues.debgu: there is no such queue: [queues] names batch, debug`},
		{`[sched-burrow.queues.debug]
policy = "easy"`, `sched-burrow.queues.debug: there is no such queue: [queues] names none`},
		{queues + `[sched-burrow]
policy = "lifo"
colour = "red"
[sched-burrow.queues.debug]
policy = 1`, `sched-burrow.colour: unknown key: there are ` + all + `, queues; ` +
			`sched-burrow.policy: "lifo" is none of fifo, easy, conservative; ` +
			`sched-burrow.queues.debug.policy: 1 is none of fifo, easy, conservative`},
		{`[sched-burrow]
policy = "a name that is much longer than anybody could want it to be"`, `sched-burrow.policy: "a name that is much longer than anyb... is none of fifo, easy, conservative`},
	} {
		if _, err := ParseTable(fromTOML(t, tt.toml)); err == nil || err.Error() != tt.want {
			t.Errorf("%s:\n     %v\nwant %s", tt.toml, err, tt.want)
		}
	}
	for _, text := range []string{"[]", "{", `{"sched-burrow":null}`, `{"sched-burrow":{"policy":null}}`, `{"sched-burrow":{"queues":null}}`} {
		if _, err := ParseTable([]byte(text)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

func TestArgumentErrors(t *testing.T) {
	for _, tt := range []struct{ args, want string }{
		{"policy=x", `policy="x" is none of fifo, easy, conservative`},
		{"policy", `policy="" is none of fifo, easy, conservative`},
		{"match=", `match="" is none of first, last, best, worst`},
		{"queue-depth=0", `queue-depth=0 is neither a number in 1-2147483647 nor unlimited`},
		{"queue-depth=-1", `queue-depth="-1" is neither`},
		{"queue-depth=2147483648", `queue-depth=2147483648 is neither`},
		{"queue-depth=1x", `queue-depth="1x" is neither`},
		{"reservation-depth=-1", `reservation-depth="-1" is neither a number of 0 or more nor all`},
		{"reservation-depth=", `reservation-depth="" is neither`},
		{"node-exclusive=", `node-exclusive="" is not the name of a property`},
		{"node-exclusive=a,,b", `node-exclusive="" is not the name of a property`},
		{"log-level=loud", `log-level="loud" is none of err, warning, info, debug`},
		{"writer=jgf", `writer="jgf" is none of rv1exec, rv1`},
		{"x=y", `unknown argument "x=y": there are log-level=, match=, node-exclusive=, policy=, queue-depth=, reservation-depth=, writer=`},
		{"queues=debug", `unknown argument "queues=debug": there are log-level=`},
		{"policy=x writer=y", `policy="x" is none of fifo, easy, conservative; writer="y" is none of`},
	} {
		if _, err := ParseArgs(strings.Fields(tt.args)); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s:\n     %v\nwant %s", tt.args, err, tt.want)
		}
	}
	if _, err := ParseArgs([]string{""}); err == nil {
		t.Error("an empty argument was taken")
	}
}

// The manual and the example have every key; what the example says is taken.
func TestConfigIsDocumented(t *testing.T) {
	page, example := read(t, "../../doc/sched-burrow.7"), read(t, "../../etc/burrow.toml")
	for _, k := range keys {
		for _, want := range []string{"\n.BR " + k.name + ` " (`, "\n.RB [ " + k.name + "="} {
			if !strings.Contains(page, want) {
				t.Errorf("%s is not in the manual as %q", k.name, want)
			}
		}
		if !strings.Contains(example, "\n# "+k.name+" = ") {
			t.Errorf("%s is not in the example", k.name)
		}
	}
	_, after, _ := strings.Cut(example, "\n# [sched-burrow]\n")
	text := queues + "[sched-burrow]\n"
	for line := range strings.Lines(after) {
		if line = strings.TrimPrefix(line, "# "); line[0] == '[' || strings.Contains(line, " = ") {
			text += line
		}
	}
	c := parsed(t, text)
	all := c
	all.Queues = nil
	if diff := cmp.Diff(DefaultConfig().String(), all.String()); diff != "" || c.PolicyOf("debug") != policy.Easy {
		t.Errorf("%s: %s", diff, text)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Whatever is taken can be gone by, and printed in the report.
func FuzzParseTable(f *testing.F) {
	f.Add([]byte(`{"queues":{"a":{}},"sched-burrow":{"policy":"easy","reservation-depth":"all","queues":{"a":{"node-exclusive":["x"]}}}}`))
	f.Add([]byte(`{"sched-burrow":{"queue-depth":17,"match":"last","writer":"rv1","log-level":"err","node-exclusive":true}}`))
	f.Add([]byte(`{"sched-burrow":{"queue-depth":1e3,"reservation-depth":-1}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, in []byte) {
		s, err := ParseTable(in)
		if err != nil {
			if len(err.Error()) == 0 {
				t.Error("an error without a text")
			}
			return
		}
		c := Merge(s, Settings{})
		names := []string{""}
		for name := range c.Queues {
			names = append(names, name)
		}
		for _, name := range names {
			if d := c.DepthOf(name); d < 0 {
				t.Errorf("%q has a depth of %d", name, d)
			}
			r, err := json.Marshal(c.report(name))
			if err != nil || strings.Contains(string(r), `"?"`) {
				t.Errorf("%q: %s %v", name, r, err)
			}
		}
		if c.QueueDepth < 0 || c.QueueDepth > MaxDepth || c.LogLevel.String() == "" || c.String() == "" {
			t.Errorf("%+v", c)
		}
	})
}
