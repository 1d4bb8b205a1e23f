// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"flux-burrow/rv1reader/hostlist"
	"flux-burrow/rv1reader/idset"
)

func (rd *reader) nodelist(n node) {
	const path = "execution.nodelist"
	if n.in == nil {
		rd.warn(path, n, "missing")
		return
	}
	ranks := rd.r.Ranks.Count()
	if n.kind() != '[' {
		if ranks > 0 {
			rd.fault(path, n, -1, "not an array")
		} else {
			rd.warn(path, n, "not an array, read as an empty one")
		}
		return
	}
	list, whole := &hostlist.List{}, true
	n.array(func(i int, v node) {
		at := func() string { return fmt.Sprintf("%s[%d]", path, i) }
		if v.kind() != '"' {
			rd.warn(at(), v, "not a string, passed over")
			return
		}
		hosts, err := hostlist.ParseMax(unquote(v.raw()), rd.limits.MaxRanks-list.Len())
		if err != nil {
			e := err.(*hostlist.Error)
			rd.fault(at(), v, e.Pos, "%s", e.Msg)
			whole = false
			return
		}
		if hosts.Bracketed() {
			rd.warn(at(), v, "a host name has a bracket in it: only the first bracket of a name is expanded")
		}
		if list.Len() == 0 {
			list = hosts
			return
		}
		list.AppendList(hosts)
	})
	rd.r.Nodelist = list
	if whole && list.Len() != ranks && !rd.liteFaulty {
		rd.fault(path, n, -1, "%d hosts for %d ranks", list.Len(), ranks)
	}
}

// badInProperty are the bytes that RFC 20 keeps out of property names.
const badInProperty = "^&'\"`|()"

func (rd *reader) properties(n node) {
	const path = "execution.properties"
	if n.in == nil {
		return
	}
	if n.kind() != '{' {
		rd.fault(path, n, -1, "not an object")
		return
	}
	var members []member
	places := map[string]int{}
	n.object(func(key, value node) {
		name := unquote(key.raw())
		if i := strings.IndexAny(name, badInProperty); i >= 0 {
			rd.fault(join(path, name), key, -1, "%q in the name of a property", name[i])
			return
		}
		if i, ok := places[name]; ok {
			rd.warn(join(path, name), value, "the key is there more than once, this one counts")
			members[i].value = value
			return
		}
		places[name] = len(members)
		members = append(members, member{name, value})
	})
	for _, m := range members {
		at := func() string { return join(path, m.key) }
		ranks := rd.ids(at, m.value, rd.limits.MaxRanks)
		if ranks == nil {
			continue
		}
		rd.r.Properties = append(rd.r.Properties, Property{m.key, ranks})
		if rd.liteFaulty || rd.r.Ranks.ContainsAll(ranks) {
			continue
		}
		if len(rd.faults) >= rd.limits.MaxFaults {
			rd.moreFaults++ // as fault does, without working out which ranks
			continue
		}
		rd.fault(at(), m.value, -1, "ranks %s are not in R_lite", brief(ranks.Difference(rd.r.Ranks)))
	}
}

// brief keeps a message short: a set can have as many runs as R is long.
func brief(s *idset.Set) string {
	if text := s.String(); len(text) > 60 {
		return text[:60] + "..."
	}
	return s.String()
}

func (rd *reader) nslots(n node) {
	const path = "execution.nslots"
	if n.in == nil {
		return
	}
	v, err := strconv.ParseInt(string(n.raw()), 10, 32)
	if errors.Is(err, strconv.ErrRange) {
		rd.fault(path, n, -1, "not within 32 bits")
		return
	}
	if err != nil {
		rd.fault(path, n, -1, "not an integer")
		return
	}
	if v < 1 {
		rd.warn(path, n, "less than 1, read as not there")
		return
	}
	rd.r.NSlots = int(v)
}

// seconds reads a time; what is missing or negative is 0.
func (rd *reader) seconds(path string, n node) float64 {
	if n.in == nil {
		return 0
	}
	if n.kind() != '0' {
		rd.fault(path, n, -1, "not a number")
		return 0
	}
	t, err := strconv.ParseFloat(string(n.raw()), 64)
	if err != nil {
		rd.fault(path, n, -1, "not a number")
		return 0
	}
	if t < 0 {
		rd.warn(path, n, "negative, read as 0")
		return 0
	}
	return t
}
