// SPDX-License-Identifier: LGPL-3.0-or-later

package chart

import (
	"math"
	"slices"
)

// A job of ten hours has windows of seconds. So where nothing begins or ends
// for most of the chart's time, that time is cut short: it gets a fixed part
// of the width, and the rest keeps one scale.
const (
	cutRatio = 4    // the gap is at least this many times all the rest
	cutShare = 0.22 // of the width
)

// piece is a part of the axis with one scale.
type piece struct {
	t0, t1 float64
	x0, x1 float64
	cut    bool
}

// scale maps times to places on an axis from 0 to its width.
type scale struct {
	begin  float64
	pieces []piece
}

func newScale(c *Chart, width float64) scale {
	begin, end := c.Begin, c.End
	if !(end > begin) {
		end = begin + 0.001
	}
	s := scale{begin: begin}
	a, b := longestGap(c, begin, end)
	rest := (end - begin) - (b - a)
	if rest <= 0 || b-a < cutRatio*rest {
		s.pieces = []piece{{t0: begin, t1: end, x1: width}}
		return s
	}
	perSecond := width * (1 - cutShare) / rest
	x := 0.0
	for _, p := range []piece{{t0: begin, t1: a}, {t0: a, t1: b, cut: true}, {t0: b, t1: end}} {
		p.x0 = x
		x += (p.t1 - p.t0) * perSecond
		if p.cut {
			x = p.x0 + width*cutShare
		}
		p.x1 = x
		if p.t1 > p.t0 {
			s.pieces = append(s.pieces, p)
		}
	}
	return s
}

// longestGap finds the longest time in which no span begins or ends.
func longestGap(c *Chart, begin, end float64) (a, b float64) {
	times := []float64{begin, end}
	add := func(t float64) {
		if t > begin && t < end {
			times = append(times, t)
		}
	}
	for _, r := range c.Rows {
		for _, s := range r.Spans {
			add(s.From)
			add(s.To)
		}
	}
	for _, m := range c.Marks {
		add(m.At)
	}
	slices.Sort(times)
	for i, t := range times[1:] {
		if t-times[i] > b-a {
			a, b = times[i], t
		}
	}
	return a, b
}

// at is where a time is; one outside the chart is at its edge.
func (s scale) at(t float64) float64 {
	for _, p := range s.pieces {
		if t <= p.t1 {
			t = max(t, p.t0)
			return p.x0 + (t-p.t0)/(p.t1-p.t0)*(p.x1-p.x0)
		}
	}
	return s.pieces[len(s.pieces)-1].x1
}

// steps between ticks from a minute on, in seconds.
var steps = []float64{60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 43200, 86400}

// step is the smallest round time that is at least d.
func step(d float64) float64 {
	if d > 30 {
		for _, s := range steps {
			if s >= d {
				return s
			}
		}
		return 86400 * step(d/86400)
	}
	power := math.Pow(10, math.Floor(math.Log10(d)))
	for _, m := range []float64{1, 2, 5, 10} {
		if s := m * power; s >= d*(1-1e-9) {
			if s > 30 {
				return 60
			}
			return s
		}
	}
	return 10 * power
}

// tick is a labelled place on the axis.
type tick struct {
	x     float64
	label string
}

// ticks are at least room apart, and none is where the axis is cut.
func (s scale) ticks(room float64) []tick {
	var list []tick
	for _, p := range s.pieces {
		if p.cut || p.x1 <= p.x0 {
			continue
		}
		d := step((p.t1 - p.t0) / (p.x1 - p.x0) * room)
		first := max(math.Ceil((p.t0-s.begin)/d-1e-9), 0)
		for i := first; i-first < 1000; i++ {
			t := i * d
			if s.begin+t > p.t1 {
				break
			}
			list = append(list, tick{x: s.at(s.begin + t), label: offset(t, d)})
		}
	}
	return list
}

// cut tells where the axis is cut, if it is.
func (s scale) cut() (piece, bool) {
	for _, p := range s.pieces {
		if p.cut {
			return p, true
		}
	}
	return piece{}, false
}
