// SPDX-License-Identifier: LGPL-3.0-or-later

package jobspec

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"flux-burrow/rv1reader/idset"
)

// MaxCount is the largest count that is told apart from "no limit". It is
// above any number of nodes or cores, and small enough that products of two
// counts fit an int64.
const MaxCount = 1<<31 - 1

// Count is a number of resources as RFC 14 lets a job ask for it: one value, a
// range, a range with a step, or a list of the values that will do. The zero
// Count is "none asked for".
type Count struct {
	Min int
	Max int // MaxCount where there is no maximum

	op      byte // how to get from one value to the next: '+', '*' or '^'
	operand int
	values  *idset.Set // the acceptable values, where they are listed
	scale   int        // all values are multiplied by it; 0 stands for 1
	unbound bool
}

// Fixed returns the Count of exactly n.
func Fixed(n int) Count { return Count{Min: n, Max: n, op: '+', operand: 1} }

// IsFixed tells whether there is only one acceptable value.
func (c Count) IsFixed() bool { return c.Min == c.Max }

// Unbounded tells whether the job takes as many as there are.
func (c Count) Unbounded() bool { return c.unbound }

// Scaled returns the Count whose acceptable values are those of c times n.
func (c Count) Scaled(n int) (Count, error) {
	if n == 1 || c.Min == 0 {
		return c, nil
	}
	if n < 1 || c.Min > MaxCount/n {
		return Count{}, fmt.Errorf("count %s times %d is more than %d", c, n, MaxCount)
	}
	c.scale = max(c.scale, 1) * n
	c.Min *= n
	if c.Max > MaxCount/n {
		c.Max = MaxCount
	} else {
		c.Max *= n
	}
	return c, nil
}

// AppendKey adds bytes to b that are the same for equal counts only.
func (c Count) AppendKey(b []byte) []byte {
	b = fmt.Appendf(b, "%d-%d:%d:%d*%d", c.Min, c.Max, c.op, c.operand, c.scale)
	if c.values != nil {
		b, _ = c.values.AppendText(b)
	}
	return b
}

// Largest returns the largest acceptable value that is not above limit; false
// if there is none.
func (c Count) Largest(limit int) (int, bool) {
	limit = min(limit, c.Max)
	if limit < c.Min {
		return 0, false
	}
	scale := max(c.scale, 1)
	least, limit := c.Min/scale, limit/scale
	switch {
	case c.values != nil:
		for i := c.values.NumRuns() - 1; i >= 0; i-- {
			if run := c.values.RunAt(i); run.Lo <= limit {
				return min(run.Hi, limit) * scale, true
			}
		}
		return 0, false
	case c.op == '*' || c.op == '^':
		v := least
		for {
			next, ok := step(v, c.op, c.operand, limit)
			if !ok {
				return v * scale, true
			}
			v = next
		}
	default:
		return (least + (limit-least)/max(c.operand, 1)*max(c.operand, 1)) * scale, true
	}
}

// step returns the value after v; false if it is above limit.
func step(v int, op byte, operand, limit int) (int, bool) {
	if op == '*' {
		return v * operand, v <= limit/operand
	}
	next := 1
	for range operand {
		if next > limit/v {
			return 0, false
		}
		next *= v
	}
	return next, true
}

// String gives the Count in words for messages: 4, 2-8, 2+, 2-8:2:*, 1,7-9.
func (c Count) String() string {
	scale := max(c.scale, 1)
	times := ""
	if scale > 1 {
		times = fmt.Sprintf(" times %d", scale)
	}
	if c.values != nil {
		b, _ := c.values.AppendText(nil)
		return string(b) + times
	}
	if c.IsFixed() {
		return strconv.Itoa(c.Min)
	}
	s := fmt.Sprintf("%d-%d", c.Min/scale, c.Max/scale)
	if c.unbound {
		s = fmt.Sprintf("%d+", c.Min/scale)
	}
	if c.op != '+' || c.operand != 1 {
		s += fmt.Sprintf(":%d", c.operand)
		if c.op != '+' {
			s += ":" + string(c.op)
		}
	}
	return s + times
}

// ParseCount reads the value of a vertex's count key: an integer, an object
// with min and, as the job likes, max, operator and operand (RFC 14), or a
// string with a range (RFC 45) or an idset (RFC 22). A missing value counts 1.
func ParseCount(v gjson.Result) (Count, error) {
	switch {
	case !v.Exists():
		return Fixed(1), nil
	case v.Type == gjson.Number:
		n, err := integer("count", v)
		if err != nil {
			return Count{}, err
		}
		return Fixed(n), nil
	case v.Type == gjson.String:
		return parseRange(v.Str)
	case v.IsObject():
		return parseObject(v)
	}
	return Count{}, fmt.Errorf("count %s is neither a number, a string nor an object", short(v.Raw))
}

func integer(what string, v gjson.Result) (int, error) {
	if v.Type != gjson.Number || v.Num != float64(int64(v.Num)) {
		return 0, fmt.Errorf("%s %s is not an integer", what, short(v.Raw))
	}
	if v.Num < 1 || v.Num > MaxCount {
		return 0, fmt.Errorf("%s %s is not in 1-%d", what, short(v.Raw), MaxCount)
	}
	return int(v.Num), nil
}

func parseObject(v gjson.Result) (Count, error) {
	c := Count{Min: 1, Max: MaxCount, op: '+', operand: 1, unbound: true}
	var fault error
	v.ForEach(func(key, value gjson.Result) bool {
		switch key.Str {
		case "min":
			c.Min, fault = integer("min", value)
		case "max":
			c.Max, fault = integer("max", value)
			c.unbound = false
		case "operator":
			if value.Type != gjson.String || len(value.Str) != 1 {
				fault = fmt.Errorf("operator %s is none of + * ^", short(value.Raw))
				break
			}
			c.op = value.Str[0]
		case "operand":
			c.operand, fault = integer("operand", value)
		default:
			fault = fmt.Errorf("count has a key %q, which RFC 14 does not know", short(key.Str))
		}
		return fault == nil
	})
	if fault != nil {
		return Count{}, fault
	}
	if !v.Get("min").Exists() {
		return Count{}, fmt.Errorf("count %s has no min", short(v.Raw))
	}
	return c.checked()
}

// checked refuses what no sequence can be made of.
func (c Count) checked() (Count, error) {
	switch {
	case c.Max < c.Min:
		return Count{}, fmt.Errorf("count has a max of %d, less than its min of %d", c.Max, c.Min)
	case c.op != '+' && c.op != '*' && c.op != '^':
		return Count{}, fmt.Errorf("operator %q is none of + * ^", string(c.op))
	case c.op != '+' && c.operand < 2:
		return Count{}, fmt.Errorf("operator %c needs an operand of 2 or more", c.op)
	case c.op == '^' && c.Min < 2:
		return Count{}, fmt.Errorf("operator ^ needs a min of 2 or more")
	}
	return c, nil
}

// parseRange reads the string forms.
func parseRange(in string) (Count, error) {
	s := in
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		s = s[1 : len(s)-1]
	}
	parts := strings.Split(s, ":")
	c := Count{op: '+', operand: 1}
	var err error
	if lo, open := strings.CutSuffix(parts[0], "+"); open {
		c.unbound, c.Max = true, MaxCount
		c.Min, err = decimal(lo, in)
	} else if len(parts) == 1 && (strings.Contains(s, ",") || !strings.Contains(s, "-")) {
		return parseList(s, in)
	} else {
		lo, hi, ranged := strings.Cut(parts[0], "-")
		if !ranged {
			hi = lo
		}
		if c.Min, err = decimal(lo, in); err == nil {
			c.Max, err = decimal(hi, in)
		}
	}
	if err == nil && len(parts) > 1 {
		c.operand, err = decimal(parts[1], in)
	}
	if err != nil {
		return Count{}, err
	}
	switch {
	case len(parts) > 3, len(parts) == 3 && len(parts[2]) != 1:
		return Count{}, fmt.Errorf("count %q is not of the form min-max:operand:operator", short(in))
	case len(parts) == 3:
		c.op = parts[2][0]
	}
	return c.checked()
}

func decimal(s, in string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || n < 1 || s[0] == '0' || s[0] == '+' {
		return 0, fmt.Errorf("count %q: %q is not a number in 1-%d", short(in), short(s), MaxCount)
	}
	return int(n), nil
}

func parseList(s, in string) (Count, error) {
	set, err := idset.Parse(s)
	if err != nil {
		return Count{}, fmt.Errorf("count %q is no range and no idset: %w", short(in), err)
	}
	if set.Empty() || set.First() < 1 {
		return Count{}, fmt.Errorf("count %q does not begin at 1 or above", short(in))
	}
	c := Count{Min: set.First(), Max: set.Last(), op: '+', operand: 1}
	if set.NumRuns() > 1 {
		c.values = set
	}
	return c, nil
}

// short cuts what is quoted in a message.
func short(s string) string {
	const limit = 64
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "..."
}
