// SPDX-License-Identifier: LGPL-3.0-or-later

package sim

import (
	"cmp"
	"math"
	"slices"

	"flux-burrow/t/replay/swf"
)

// Job is what a workload says of a job. It gets whole nodes. Times are seconds.
type Job struct {
	ID     int64   `json:"id"`
	Nodes  int     `json:"nodes"`
	Submit float64 `json:"submit"` // from the beginning of the workload
	Run    float64 `json:"run"`
	Limit  float64 `json:"limit"` // it is killed after that
}

// Jobs takes the jobs of a workload, in order of their submission. A job
// without a requested time has its run time times factor for a limit. Those
// that did not run, and those that are larger than the machine, are left out.
func Jobs(w *swf.Workload, nodes, coresPerNode int, factor float64) (jobs []Job, left int) {
	for i := range w.Jobs {
		j := &w.Jobs[i]
		size := j.Size()
		n := int((size + int64(coresPerNode) - 1) / int64(coresPerNode))
		if size == swf.Unknown || j.Run == swf.Unknown || j.Submit == swf.Unknown || n > nodes {
			left++
			continue
		}
		limit := j.ReqTime
		if limit <= 0 {
			limit = math.Max(1, j.Run*factor)
		}
		jobs = append(jobs, Job{j.ID, n, j.Submit, j.Run, limit})
	}
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	if len(jobs) > 0 {
		begin := jobs[0].Submit
		for i := range jobs {
			jobs[i].Submit -= begin
		}
	}
	return jobs, left
}
