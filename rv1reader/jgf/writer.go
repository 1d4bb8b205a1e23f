// SPDX-License-Identifier: LGPL-3.0-or-later

package jgf

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"flux-burrow/rv1reader"
	"flux-burrow/rv1reader/idset"
)

// Options of a Writer; the zero value is what Fluxion does.
type Options struct {
	// Cluster is the base name of the root vertex, "cluster" if empty. Its id
	// is 0 and stands at the end of its name: cluster0.
	Cluster string
}

// Writer writes graphs of parts of one inventory. It does not change once made
// and may be used by several goroutines.
type Writer struct {
	inv  *rv1reader.Inventory
	root string // path of the cluster, "/cluster0"
	base string
	// blocks say which vertex ids the nodes have, by rank. Fluxion numbers the
	// cluster 0 and then, by entry of R_lite as flux-core groups them and in that
	// by rank, each node and what is below it.
	blocks []block
	total  int // vertices
	// props are the properties of nodes, sorted by name.
	props []rv1reader.Property
}

// block is a run of ranks with equal children: rank lo has the vertex id first,
// and each node takes size ids.
type block struct {
	lo, hi, first, size int
	children            rv1reader.Children
}

// New makes a writer for an inventory. It refuses one that does not know its
// hosts, or in which a name would spoil the paths.
func New(inv *rv1reader.Inventory, o Options) (*Writer, error) {
	if o.Cluster == "" {
		o.Cluster = "cluster"
	}
	if inv.Nodelist() == nil {
		return nil, errors.New("jgf: the inventory has no nodelist, and vertices are named by host")
	}
	if strings.Contains(o.Cluster, "/") {
		return nil, fmt.Errorf("jgf: the cluster name %q has a slash in it", o.Cluster)
	}
	w := &Writer{inv: inv, base: o.Cluster, root: "/" + o.Cluster + "0", total: 1}
	for _, g := range inv.Set().Groups() {
		size := 1
		for _, ch := range g.Children {
			if strings.Contains(ch.Type, "/") {
				return nil, fmt.Errorf("jgf: the type %q has a slash in it", ch.Type)
			}
			size += ch.IDs.Count()
		}
		for r := range g.Ranks.Runs() {
			w.blocks = append(w.blocks, block{lo: r.Lo, hi: r.Hi, first: w.total, size: size, children: g.Children})
			w.total += (r.Hi - r.Lo + 1) * size
		}
	}
	slices.SortFunc(w.blocks, func(a, b block) int { return cmp.Compare(a.lo, b.lo) })
	w.props = slices.Clone(inv.R().Properties)
	slices.SortFunc(w.props, func(a, b rv1reader.Property) int { return strings.Compare(a.Name, b.Name) })
	return w, nil
}

// FromR returns the graph of a job's R, to be its scheduling key. A node of
// which the job holds everything is exclusive. Fluxion marks only those that
// were asked for so, which R does not say and Graph can be told; to nobody else
// it makes a difference, as nothing of such a node is left. FromR refuses an R
// that does not fit the inventory; the error then is made of *rv1reader.Problem.
func (w *Writer) FromR(r *rv1reader.R) ([]byte, error) {
	m := w.inv.Map(r)
	if !m.Fits() {
		errs := []error{errors.New("jgf: R does not fit the inventory")}
		for _, p := range m.Problems[:min(len(m.Problems), 10)] {
			errs = append(errs, p)
		}
		return nil, errors.Join(errs...)
	}
	return w.Graph(m.Set, m.Whole)
}

// Graph returns the graph of a part of the inventory, the nodes at the ranks
// in exclusive marked so. It refuses resources that the inventory has not got,
// and host names with a slash in them.
func (w *Writer) Graph(set *rv1reader.ResourceSet, exclusive *idset.Set) ([]byte, error) {
	return w.AppendGraph(nil, set, exclusive)
}

// AppendGraph appends what Graph returns to b.
func (w *Writer) AppendGraph(b []byte, set *rv1reader.ResourceSet, exclusive *idset.Set) ([]byte, error) {
	if !w.inv.Set().Contains(set) {
		return nil, fmt.Errorf("jgf: the inventory has not got %s", set.Difference(w.inv.Set()))
	}
	g := graph{w: w, out: append(slices.Grow(b, w.room(set)), `{"graph":{"nodes":[`...)}
	err := w.nodes(set, func(b *block, rank int, c rv1reader.Children) error {
		return g.node(b, rank, c, exclusive.Contains(rank))
	})
	if err != nil {
		return nil, err
	}
	if !set.Empty() {
		g.cluster()
	}
	g.out = append(g.out, `],"edges":[`...)
	_ = w.nodes(set, func(b *block, rank int, c rv1reader.Children) error {
		g.edges(b, rank, c)
		return nil
	})
	if !set.Empty() {
		g.out = g.out[:len(g.out)-1] // the last comma
	}
	return append(g.out, `]}}`...), nil
}

// nodes calls f for each rank of a set, with the block it is in.
func (w *Writer) nodes(set *rv1reader.ResourceSet, f func(*block, int, rv1reader.Children) error) error {
	i := 0
	for run, c := range set.Runs() {
		for rank := run.Lo; rank <= run.Hi; rank++ {
			for w.blocks[i].hi < rank {
				i++
			}
			if err := f(&w.blocks[i], rank, c); err != nil {
				return err
			}
		}
	}
	return nil
}
