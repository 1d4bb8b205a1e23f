// SPDX-License-Identifier: LGPL-3.0-or-later

package hostlist

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits. A short string can name very many hosts, so there is an end to it.
const (
	MaxHosts   = 1 << 22 // hosts in one list, unless ParseMax says otherwise
	MaxRange   = 1 << 20 // hosts in one range lo-hi, as in flux-core
	MaxRanges  = 10240   // ranges in one bracket, as in flux-core
	MaxNameLen = 255     // bytes in one name
)

// Error says where and why a string is not a hostlist.
type Error struct {
	Input string // the string, cut if long
	Pos   int    // byte offset in the string, from 0
	Msg   string
}

func (e *Error) Error() string {
	return fmt.Sprintf("hostlist %q: at byte %d: %s", e.Input, e.Pos, e.Msg)
}

const separators = "\t, "

type parser struct {
	in   string
	max  int
	list *List
}

func (p *parser) fault(pos int, format string, args ...any) error {
	s := p.in
	if len(s) > 64 {
		s = s[:64] + "..."
	}
	return &Error{s, pos, fmt.Sprintf(format, args...)}
}

// Parse reads a hostlist (RFC 29): names separated by commas, blanks or tabs.
// A bracket in a name stands for the numbers in it, `n[08-11,20]-ib0`. As in
// flux-core only the first bracket of a name is expanded and empty names are
// passed over. The error is an *Error.
func Parse(in string) (*List, error) { return ParseMax(in, MaxHosts) }

// ParseMax is Parse with a limit of its own on the number of hosts.
func ParseMax(in string, maxHosts int) (*List, error) {
	p := parser{in, maxHosts, &List{}}
	for i := 0; i < len(in); {
		if strings.IndexByte(separators, in[i]) >= 0 {
			i++
			continue
		}
		start, depth := i, 0
		for ; i < len(in) && (depth > 0 || strings.IndexByte(separators, in[i]) < 0); i++ {
			switch in[i] {
			case '[':
				depth++
			case ']':
				if depth--; depth < 0 {
					return nil, p.fault(i, "']' without a '['")
				}
			}
		}
		if depth > 0 {
			return nil, p.fault(start, "'[' without a ']'")
		}
		if err := p.name(start, i); err != nil {
			return nil, err
		}
	}
	return p.list, nil
}

// MustParse is Parse for constants in code and tests; it panics on an error.
func MustParse(in string) *List {
	l, err := Parse(in)
	if err != nil {
		panic(err)
	}
	return l
}

// name reads one name, brackets and all, at in[start:end].
func (p *parser) name(start, end int) error {
	text := p.in[start:end]
	open := strings.IndexByte(text, '[')
	if open < 0 {
		if len(text) > MaxNameLen {
			return p.fault(start, "name of %d bytes, the limit is %d", len(text), MaxNameLen)
		}
		if uncounted(text) {
			return p.fault(start, "the number at the end of %s is too large", text)
		}
		return p.add(start, hostRun(text))
	}
	shut := open + strings.IndexByte(text[open:], ']')
	r := run{prefix: text[:open], suffix: text[shut+1:]}
	ranges := 0
	for i := open + 1; i <= shut; {
		n := strings.IndexAny(text[i:shut+1], ",]")
		if ranges++; ranges > MaxRanges {
			return p.fault(start+i, "more than %d ranges in a bracket", MaxRanges)
		}
		if err := p.numbers(&r, start+i, text[i:i+n]); err != nil {
			return err
		}
		if l := len(r.prefix) + len(r.suffix) + max(r.width, digits(r.hi)); l > MaxNameLen {
			return p.fault(start, "name of %d bytes, the limit is %d", l, MaxNameLen)
		}
		if r.suffix != "" || open > 0 && isDigit(text[open-1]) {
			if last := string(r.append(nil, r.count()-1)); uncounted(last) {
				return p.fault(start, "the number at the end of %s is too large", last)
			}
		}
		if err := p.add(start+i, r); err != nil {
			return err
		}
		i += n + 1
	}
	return nil
}

// uncounted tells whether a name ends in a number that is too large to count
// with. flux-core passes over such a name without a word.
func uncounted(name string) bool {
	return isDigit(name[len(name)-1]) && hostRun(name).plain
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (p *parser) add(pos int, r run) error {
	if p.list.n+r.count() > p.max {
		return p.fault(pos, "more than %d hosts", p.max)
	}
	p.list.push(r)
	return nil
}

// numbers reads `lo` or `lo-hi` into r. The width is that of lo as written,
// with blanks before and after it counted in, which flux-core allows.
func (p *parser) numbers(r *run, pos int, text string) error {
	lo, hi, ranged := strings.Cut(text, "-")
	first := strings.TrimLeft(lo, " \t\n\v\f\r")
	if ranged {
		first = strings.TrimRight(first, " \t\n\v\f\r")
	}
	var err error
	if r.lo, err = p.number(pos+strings.Index(lo, first), first); err != nil {
		return err
	}
	r.hi, r.width = r.lo, len(lo)
	if hi != "" {
		second := strings.TrimLeft(hi, " \t\n\v\f\r")
		if r.hi, err = p.number(pos+len(text)-len(second), second); err != nil {
			return err
		}
	}
	switch {
	case r.lo > r.hi:
		return p.fault(pos, "range %s runs backwards", text)
	case r.hi-r.lo >= MaxRange:
		return p.fault(pos, "range %s is of more than %d hosts", text, MaxRange)
	}
	return nil
}

func (p *parser) number(pos int, s string) (uint64, error) {
	if s == "" {
		return 0, p.fault(pos, "a number is missing")
	}
	digits := strings.TrimPrefix(s, "+") // flux-core takes a sign here
	for i := range len(digits) {
		if !isDigit(digits[i]) {
			return 0, p.fault(pos+len(s)-len(digits)+i, "%q is not a digit", digits[i])
		}
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0, p.fault(pos, "number %s is too large", s)
	}
	return n, nil
}
