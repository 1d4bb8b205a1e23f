// SPDX-License-Identifier: LGPL-3.0-or-later

package jgf

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"flux-burrow/rv1reader"
	"flux-burrow/rv1reader/idset"
	"flux-burrow/rv1reader/internal/jsonstr"
)

// graph is one graph being written. A node of 100 cores makes 200 objects, so
// the text is put together by hand: what is the same for all children of one
// type on one node is made once. Vertices and edges are written in two rounds
// over the set, which is cheaper than to keep one and copy it.
type graph struct {
	w   *Writer
	out []byte

	host, path, head, mid, tmp []byte // room that is used again
}

const (
	openVertex = `{"id":"`
	openMeta   = `","metadata":{"type":`
	openID     = `,"id":`
	openRank   = `,"rank":`
	exclusive  = `,"exclusive":true`
	openPath   = `,"paths":{"containment":`
	shutVertex = `}}},`
	openEdge   = `{"source":"`
	openTarget = `","target":"`
	shutEdge   = `"},`
)

// room returns at least how many bytes the graph takes, and little more.
func (w *Writer) room(set *rv1reader.ResourceSet) int {
	digits, host := len(strconv.Itoa(w.total)), 0
	if l := w.inv.Nodelist(); l.Len() > 0 {
		host = len(l.At(l.Len() - 1))
	}
	fixed := len(openVertex+openMeta+openID+openRank+exclusive+openPath+shutVertex) +
		len(openEdge+openTarget+shutEdge) + 3*digits + len(w.root) + len(`"""//"`) + host
	n := 256
	for run, c := range set.Runs() {
		size := fixed + 64 // the node itself: name and base name
		for _, ch := range c {
			ids := len(strconv.Itoa(ch.IDs.Last()))
			size += ch.IDs.Count() * (fixed + 2*len(ch.Type) + 2*ids + len(strconv.Itoa(run.Hi)))
		}
		n += (run.Hi - run.Lo + 1) * size
	}
	return n
}

// node writes a node after its children, as Fluxion does.
func (g *graph) node(b *block, rank int, c rv1reader.Children, whole bool) error {
	g.host = g.w.inv.AppendHost(g.host[:0], rank)
	if bytes.IndexByte(g.host, '/') >= 0 {
		return fmt.Errorf("jgf: the host name %q of rank %d has a slash in it", g.host, rank)
	}
	g.path = append(append(append(g.path[:0], g.w.root...), '/'), g.host...)
	id := b.first + (rank-b.lo)*b.size
	b.each(id, c, func(first int, have rv1reader.Child, held *idset.Set) {
		g.children(first, rank, have, held)
	})
	base, n := splitHost(g.host)
	v := strconv.AppendInt(append(g.out, openVertex...), int64(id), 10)
	v = jsonstr.Append(append(v, openMeta...), "node")
	if string(base) != "node" {
		v = jsonstr.Append(append(v, `,"basename":`...), base)
	}
	g.tmp = strconv.AppendInt(append(g.tmp[:0], base...), n, 10)
	if !bytes.Equal(g.tmp, g.host) {
		v = jsonstr.Append(append(v, `,"name":`...), g.host)
	}
	v = strconv.AppendInt(append(v, openID...), n, 10)
	v = strconv.AppendInt(append(v, openRank...), int64(rank), 10)
	v = g.properties(v, rank)
	if whole {
		v = append(v, exclusive...)
	}
	v = jsonstr.Append(append(v, openPath...), g.path)
	g.out = append(v, shutVertex...)
	return nil
}

// each calls f for each type of the children c of a node with vertex id, with
// the vertex id of the first the node has, what it has and what c has of it.
// Cores come last, as flux-core writes R. Where they do not, as in an R that a
// site amended, Fluxion numbers them before the others; nothing depends on it.
func (b *block) each(id int, c rv1reader.Children, f func(first int, have rv1reader.Child, held *idset.Set)) {
	next := id + 1
	for i := range b.children {
		have := b.children[len(b.children)-1-i]
		if held := c.IDs(have.Type); !held.Empty() {
			f(next, have, held)
		}
		next += have.IDs.Count()
	}
}

func (g *graph) properties(v []byte, rank int) []byte {
	open := false
	for _, p := range g.w.props {
		if !p.Ranks.Contains(rank) {
			continue
		}
		if !open {
			v = append(v, `,"properties":{`...)
		} else {
			v = append(v, ',')
		}
		open = true
		v = append(jsonstr.Append(v, p.Name), `:""`...)
	}
	if open {
		v = append(v, '}')
	}
	return v
}

// children writes the vertices of one type.
func (g *graph) children(first, rank int, have rv1reader.Child, held *idset.Set) {
	g.head = jsonstr.Append(append(g.head[:0], openMeta...), have.Type)
	g.head = append(g.head, openID...)
	g.mid = strconv.AppendInt(append(g.mid[:0], openRank...), int64(rank), 10)
	g.mid = append(append(g.mid, exclusive...), openPath...)
	g.tmp = append(append(append(g.tmp[:0], g.path...), '/'), have.Type...)
	g.mid = jsonstr.Append(g.mid, g.tmp)
	g.mid = g.mid[:len(g.mid)-1] // the quote comes after the id
	v := g.out
	shared(first, have.IDs, held, func(vertex, id int) {
		v = strconv.AppendInt(append(v, openVertex...), int64(vertex), 10)
		v = strconv.AppendInt(append(v, g.head...), int64(id), 10)
		v = strconv.AppendInt(append(v, g.mid...), int64(id), 10)
		v = append(v, `"`+shutVertex...)
	})
	g.out = v
}

// shared calls f for each id of held, which is a part of have, with its vertex:
// that of the first id of have is first.
func shared(first int, have, held *idset.Set, f func(vertex, id int)) {
	for r := range have.Runs() {
		for id := r.Lo; id <= r.Hi; id++ {
			if held == have || held.Contains(id) {
				f(first, id)
			}
			first++
		}
	}
}

// edges writes those of a node, that from the cluster to it last.
func (g *graph) edges(b *block, rank int, c rv1reader.Children) {
	id := b.first + (rank-b.lo)*b.size
	g.head = append(strconv.AppendInt(append(g.head[:0], openEdge...), int64(id), 10), openTarget...)
	e := g.out
	b.each(id, c, func(first int, have rv1reader.Child, held *idset.Set) {
		shared(first, have.IDs, held, func(vertex, _ int) {
			e = append(strconv.AppendInt(append(e, g.head...), int64(vertex), 10), shutEdge...)
		})
	})
	e = append(append(e, openEdge+"0"...), openTarget...)
	g.out = append(strconv.AppendInt(e, int64(id), 10), shutEdge...)
}

// cluster writes the root.
func (g *graph) cluster() {
	v := jsonstr.Append(append(append(append(g.out, openVertex...), '0'), openMeta...), "cluster")
	if g.w.base != "cluster" {
		v = jsonstr.Append(append(v, `,"basename":`...), g.w.base)
	}
	v = append(append(append(v, openID+"0"...), openRank...), "-1"...)
	v = jsonstr.Append(append(v, openPath...), g.w.root)
	g.out = append(v, "}}}"...)
}

// splitHost gives what Fluxion makes of a host name: the number at its end
// without leading zeros, -1 if there is none, and what is before it.
func splitHost(host []byte) (base []byte, id int64) {
	i := len(host)
	for i > 0 && '0' <= host[i-1] && host[i-1] <= '9' {
		i--
	}
	for _, c := range host[i:] {
		if id > (math.MaxInt64-9)/10 {
			return host, -1 // Fluxion refuses such a host
		}
		id = id*10 + int64(c-'0')
	}
	switch i {
	case len(host):
		return host, -1
	case 0: // a name of digits only is its own base
		return host, id
	}
	return host[:i], id
}
