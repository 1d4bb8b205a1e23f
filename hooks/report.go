// SPDX-License-Identifier: LGPL-3.0-or-later

package hooks

import (
	"fmt"
	"strings"

	"github.com/hashicorp/go-multierror"

	"flux-burrow/hooks/phase"
	"flux-burrow/hooks/wire"
)

// report makes one text of all that failed for a job in one phase.
func (h *Hooks) report(w *window, p phase.Phase, failed []wire.RankText) string {
	var all *multierror.Error
	nodes := 0
	for _, f := range failed {
		nodes += f.Ranks.Count()
		all = multierror.Append(all, fmt.Errorf("rank %s: %s", f.Ranks, f.Reason))
	}
	all.ErrorFormat = func(errs []error) string {
		texts := make([]string, len(errs))
		for i, err := range errs {
			texts[i] = err.Error()
		}
		return strings.Join(texts, "; ")
	}
	noun := "nodes"
	if w.ranks.Count() == 1 {
		noun = "node"
	}
	return fmt.Sprintf("services not as %s wants them on %d of %d %s: %v", p, nodes, w.ranks.Count(), noun, all)
}
