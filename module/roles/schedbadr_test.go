// SPDX-License-Identifier: LGPL-3.0-or-later

package roles_test

import (
	"syscall"
	"testing"

	"flux-burrow/hooks/jobid"
	"flux-burrow/t/embed"
)

// badR are R in the KVS that can't be used, of a job on ranks 1-2. Where R names
// another job's node that one is in doubt too.
var badR = []struct {
	name, r string
	fenced  int
}{
	{"missing", "-", 2},
	{"empty", "", 2},
	{"not JSON", "{]", 2},
	{"an empty object", "{}", 2},
	{"of a wrong version", `{"version":2,"execution":{"R_lite":[{"rank":"1-2","children":{"core":"0-3"}}],"starttime":0,"expiration":0,"nodelist":["node[1-2]"]}}`, 2},
	{"of an empty R_lite", `{"version":1,"execution":{"R_lite":[],"starttime":0,"expiration":0,"nodelist":[]}}`, 2},
	{"of ranks without children", `{"version":1,"execution":{"R_lite":[{"rank":"1-2","children":{}}],"starttime":0,"expiration":0,"nodelist":["node[1-2]"]}}`, 2},
	{"of zero-length children", `{"version":1,"execution":{"R_lite":[{"rank":"1-2","children":{"core":""}}],"starttime":0,"expiration":0,"nodelist":["node[1-2]"]}}`, 2},
	{"of one rank without children", `{"version":1,"execution":{"R_lite":[{"rank":"1","children":{"core":"0-3"}},{"rank":"2","children":{}}],"starttime":0,"expiration":0,"nodelist":["node[1-2]"]}}`, 1},
	{"of less than the job holds", `{"version":1,"execution":{"R_lite":[{"rank":"1","children":{"core":"0-1"}}],"starttime":0,"expiration":0,"nodelist":["node1"]}}`, 2},
	{"another job's", `{"version":1,"execution":{"R_lite":[{"rank":"0","children":{"core":"0-3"}}],"starttime":0,"expiration":0,"nodelist":["node0"]}}`, 3},
}

func (s *site) putR(id embed.JobID, r string) {
	key := jobid.ID(id).Key("R")
	if r == "-" {
		s.in.KVSDelete(key)
	} else {
		s.in.KVSPut(key, r)
	}
}

// Case g: the job lives on, its nodes are kept from others until its free, with
// one warning, and everything else is scheduled. Where it is, job-list knows; or
// else the job manager's sum of all that is allocated says so.
func TestSchedulerBadR(t *testing.T) {
	for _, tt := range badR {
		for _, help := range []string{"job-list", "job-manager"} {
			t.Run(tt.name+", "+help, func(t *testing.T) {
				s := newSite(t, embed.Options{Size: 6, Cores: 4}, false)
				if help == "job-manager" {
					s.in.Service("job-list", func(r *embed.Request) { r.RespondError(syscall.ENOSYS, "") })
				}
				older, a := s.submitted(node(1)), s.submitted(node(2))
				younger := s.submitted(node(1))
				s.m.Unload()
				s.putR(a, tt.r)
				s.doubts = 1
				s.load()
				s.in.Settle()
				s.want("hello.recovered", 3, "hello.fenced", 1, "nodes.fenced", tt.fenced, "nodes.idle", 2, "hello.warnings.#", 1)
				b, c := s.submitted(node(2)), s.submitted(node(1))
				s.runs(older, "[0]")
				s.runs(a, "[1 2]")
				s.runs(younger, "[3]")
				s.runs(b, "[4 5]")
				s.runs(c, "")
				s.cancel(younger)
				s.runs(c, "[3]")
				d := s.submitted(node(2))
				s.runs(d, "")
				s.cancel(a)
				s.runs(d, "[1 2]")
				s.want("nodes.fenced", 0)
				s.end()
			})
		}
	}
}

// Case g: with the hooks R is out of memory, whatever the KVS has.
func TestSchedulerBadRInMemory(t *testing.T) {
	for _, tt := range badR {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, embed.Options{Size: 4, Cores: 4}, true)
			older, a := s.submitted(node(1)), s.submitted(node(2))
			s.m.Unload()
			s.putR(a, tt.r)
			s.load()
			s.in.Settle()
			s.want("hello.recovered", 2, "hello.fenced", 0, "nodes.idle", 1)
			b := s.submitted(node(2))
			s.runs(b, "")
			s.cancel(older)
			s.runs(a, "[1 2]")
			s.runs(b, "[0 3]")
			s.end()
		})
	}
}

// Case g: two of three R are of no use, one job at a time ends.
func TestSchedulerTwoBadR(t *testing.T) {
	s := newSite(t, embed.Options{Size: 4, Cores: 4}, false)
	a, b, c := s.submitted(node(1)), s.submitted(node(1)), s.submitted(node(1))
	s.m.Unload()
	s.putR(a, "-")
	s.putR(b, "{]")
	s.doubts = 2
	s.load()
	s.in.Settle()
	s.want("hello.recovered", 3, "hello.fenced", 2, "nodes.fenced", 2, "nodes.idle", 1, "hello.warnings.#", 2)
	d := s.submitted(node(2))
	s.runs(d, "")
	s.cancel(b)
	s.runs(d, "[1 3]")
	s.runs(a, "[0]")
	s.runs(c, "[2]")
	s.want("nodes.fenced", 1)
	s.end()
}
