// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// encodeIDs writes a set of ids as Flux does: `0-3,7` (RFC 22).
func encodeIDs(ids []int) string {
	var b strings.Builder
	for i := 0; i < len(ids); {
		k := i
		for k+1 < len(ids) && ids[k+1] == ids[k]+1 {
			k++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(ids[i]))
		if k > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(ids[k]))
		}
		i = k + 1
	}
	return b.String()
}

func decodeIDs(s string) ([]int, error) {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	if s == "" {
		return nil, nil
	}
	seen := map[int]bool{}
	var ids []int
	for _, part := range strings.Split(s, ",") {
		lo, hi, ranged := strings.Cut(part, "-")
		a, err := strconv.Atoi(lo)
		b := a
		if ranged && err == nil {
			b, err = strconv.Atoi(hi)
		}
		if err != nil || a < 0 || b < a {
			return nil, fmt.Errorf("error decoding idset '%s'", s)
		}
		for ; a <= b; a++ {
			if !seen[a] {
				seen[a] = true
				ids = append(ids, a)
			}
		}
	}
	sort.Ints(ids)
	return ids, nil
}

func contains(ids []int, id int) bool {
	for _, o := range ids {
		if o == id {
			return true
		}
	}
	return false
}

func sortIDs(ids []JobID) { sort.Slice(ids, func(i, k int) bool { return ids[i] < ids[k] }) }
