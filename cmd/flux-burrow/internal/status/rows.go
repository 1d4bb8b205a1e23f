// SPDX-License-Identifier: LGPL-3.0-or-later

// Package status shows what the agents answered to burrow.status as a table.
package status

import (
	"fmt"
	"slices"
	"strings"

	"flux-burrow/hooks/control"
	"flux-burrow/hooks/jobid"
	"flux-burrow/hooks/wire"
	"flux-burrow/rv1reader/idset"
)

// maxJobs is how many jobs of one node are named; the others are counted.
const maxJobs = 4

// row is a line of the table: nodes on which a service is alike.
type row struct {
	ranks *idset.Set
	// failed: the ranks did not answer, and note says why.
	failed bool
	wire.ServiceStatus
	jobs string
	note string
}

// differs tells whether a service is not as it is wanted. A unit that a node
// does not have is as it is wanted; while nobody has said what is wanted, so
// is any state.
func (r *row) differs() bool {
	return r.Error != "" || r.State != r.Wanted &&
		r.State != control.Absent.String() && r.Wanted != control.Unknown.String()
}

func (r *row) mark() string {
	switch {
	case r.failed:
		return "!"
	case r.differs():
		return "*"
	}
	return ""
}

// rows makes the lines of the table, in the order of their first rank; of one
// node, in the order of the configuration.
func rows(st *wire.StatusResponse, ascii bool) []*row {
	var list []*row
	for _, n := range st.Nodes {
		text := jobs(n.Needs, ascii)
		if len(n.Services) == 0 {
			list = merge(list, &row{ranks: n.Ranks, jobs: text, note: "no services are configured"})
		}
		for _, s := range n.Services {
			list = merge(list, &row{ranks: n.Ranks, ServiceStatus: s, jobs: text, note: s.Error})
		}
	}
	for _, f := range st.Failed {
		list = merge(list, &row{ranks: f.Ranks, failed: true, note: f.Reason})
	}
	slices.SortStableFunc(list, func(a, b *row) int { return a.ranks.First() - b.ranks.First() })
	return list
}

// merge adds a row, or its ranks to one that reads the same.
func merge(list []*row, r *row) []*row {
	for _, have := range list {
		if have.failed == r.failed && have.ServiceStatus == r.ServiceStatus &&
			have.jobs == r.jobs && have.note == r.note {
			have.ranks.AddSet(r.ranks)
			return list
		}
	}
	r.ranks = r.ranks.Clone()
	return append(list, r)
}

func jobs(needs []wire.Need, ascii bool) string {
	var words []string
	for i, need := range needs {
		if i == maxJobs {
			words = append(words, fmt.Sprintf("and %d more", len(needs)-i))
			break
		}
		words = append(words, need.Phase.String()+" "+jobid.ID(need.ID).Text(ascii))
	}
	return strings.Join(words, ", ")
}
