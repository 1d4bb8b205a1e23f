// SPDX-License-Identifier: LGPL-3.0-or-later

package embed_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"flux-burrow/hooks/jobid"
	"flux-burrow/t/embed"
)

// Queues: what is refused at submission, what a queue's jobs get to require,
// and which of them the scheduler is shown.
func TestQueues(t *testing.T) {
	in := embed.New(embed.Options{Size: 2, Config: "[queues.a]\nrequires = [\"p\", \"q\"]\n[queues.b]\n"})
	for queue, text := range map[string]string{"": "a named queue is required", "c": "Invalid queue 'c' specified"} {
		if _, err := in.Submit(embed.Jobspec{Queue: queue}); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("queue %q: %v", queue, err)
		}
	}
	spec := func(id embed.JobID) gjson.Result {
		text, _ := in.KVSGet(jobid.ID(id).Key("jobspec"))
		return gjson.Get(text, "attributes.system.constraints")
	}
	for own, want := range map[string]string{
		``:                                       `{"properties":["p","q"]}`,
		`"constraints":{"properties":["q","r"]}`: `{"properties":["q","r","p"]}`,
		`"constraints":{"ranks":["0"]}`:          `{"and":[{"ranks":["0"]},{"properties":["p","q"]}]}`,
	} {
		if got := spec(submit(t, in, embed.Jobspec{Queue: "a", System: own})).Raw; got != want {
			t.Errorf("%s: %s, want %s", own, got, want)
		}
	}
	b := submit(t, in, embed.Jobspec{Queue: "b", Run: embed.Forever})
	if spec(b).Exists() {
		t.Error("queue b requires nothing")
	}
	in.Advance(time.Second)
	if in.State(b) != embed.StateSched {
		t.Errorf("a named queue begins stopped; its job is %s", in.State(b))
	}
	if err := in.StartQueue("b"); err != nil {
		t.Fatal(err)
	}
	in.Advance(time.Second)
	if in.State(b) != embed.StateRun {
		t.Errorf("its queue was started and the job is %s", in.State(b))
	}
	if err := in.ConfigReload(""); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Submit(embed.Jobspec{Queue: "b"}); err == nil || err.Error() != "'b' is not a valid queue" {
		t.Errorf("without queues: %v", err)
	}
	anon := submit(t, in, embed.Jobspec{})
	in.Advance(time.Second)
	if in.State(anon) != embed.StateInactive || in.State(b) != embed.StateRun {
		t.Errorf("without queues: %s, that of a queue that is gone %s", in.State(anon), in.State(b))
	}
	closed(t, in)
}
