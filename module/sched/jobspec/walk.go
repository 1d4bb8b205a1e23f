// SPDX-License-Identifier: LGPL-3.0-or-later

package jobspec

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"
)

// maxDepth is how deep vertices may nest. Real ones nest four or five deep.
const maxDepth = 32

// level is where in the tree of vertices the walk is.
type level struct {
	depth  int
	groups int  // product of the counts of grouping vertices since the last slot or node
	inSlot bool // below a slot
	inNode bool // below a node
}

// walker collects what the vertices say. There may be one slot and one node;
// the slot may be on the node or around it.
type walker struct {
	slot, node, core, gpu                     Count
	slotGroups, nodeGroups                    int
	slotOutside                               bool
	haveSlot, haveNode, haveCore, haveGPU, ex bool
	left                                      []string
}

func (w *walker) list(path string, list gjson.Result, l level) error {
	if l.depth >= maxDepth {
		return fmt.Errorf("%s: vertices are nested more than %d deep", path, maxDepth)
	}
	var fault error
	i := 0
	list.ForEach(func(_, v gjson.Result) bool {
		fault = w.vertex(fmt.Sprintf("%s[%d]", path, i), v, l)
		i++
		return fault == nil
	})
	if fault == nil && i == 0 {
		return fmt.Errorf("%s is empty", path)
	}
	return fault
}

func (w *walker) vertex(path string, v gjson.Result, l level) error {
	if !v.IsObject() {
		return fmt.Errorf("%s is not an object", path)
	}
	typ := v.Get("type")
	if typ.Type != gjson.String || typ.Str == "" {
		return fmt.Errorf("%s has no type", path)
	}
	count, err := ParseCount(v.Get("count"))
	if err != nil {
		return fmt.Errorf("%s (%s): %w", path, short(typ.Str), err)
	}
	with := v.Get("with")
	if with.Exists() && !with.IsArray() {
		return fmt.Errorf("%s (%s): with is not a list", path, short(typ.Str))
	}
	exclusive := v.Get("exclusive")
	if exclusive.Exists() && !exclusive.IsBool() {
		return fmt.Errorf("%s (%s): exclusive is neither true nor false", path, short(typ.Str))
	}
	below := l
	below.depth++
	switch typ.Str {
	case "slot":
		err = w.onSlot(&below, l, count, exclusive.Bool(), with.Exists())
	case "node":
		err = w.onNode(&below, l, count, exclusive.Bool())
	case "core":
		err = w.inside(&w.core, &w.haveCore, l, count)
	case "gpu":
		err = w.inside(&w.gpu, &w.haveGPU, l, count)
	default:
		err = w.onOther(&below, l, typ.Str, count, with.Exists())
	}
	if err != nil {
		return fmt.Errorf("%s (%s): %w", path, short(typ.Str), err)
	}
	if !with.Exists() {
		return nil
	}
	return w.list(path+".with", with, below)
}

func (w *walker) onSlot(below *level, l level, count Count, exclusive, children bool) error {
	switch {
	case w.haveSlot:
		return errors.New("a request with more than one slot is not supported")
	case !children:
		return errors.New("a slot must have resources in it")
	}
	w.haveSlot, w.slot, w.slotGroups = true, count, l.groups
	w.slotOutside = !l.inNode
	w.ex = w.ex || exclusive
	below.inSlot, below.groups = true, 1
	return nil
}

func (w *walker) onNode(below *level, l level, count Count, exclusive bool) error {
	if w.haveNode {
		return errors.New("a request with more than one kind of node is not supported")
	}
	w.haveNode, w.node, w.nodeGroups = true, count, l.groups
	w.ex = w.ex || exclusive
	below.inNode, below.groups = true, 1
	return nil
}

// inside takes a vertex that belongs into a slot.
func (w *walker) inside(into *Count, have *bool, l level, count Count) error {
	switch {
	case !l.inSlot:
		return errors.New("it must be inside a slot")
	case *have:
		return errors.New("a slot with two of this type is not supported")
	}
	*have = true
	var err error
	*into, err = count.Scaled(l.groups)
	return err
}

// onOther passes through what R version 1 does not describe. What has children
// groups them (rack, socket); what has none is some other service's to give
// (ssd), as flux-core sees it too.
func (w *walker) onOther(below *level, l level, typ string, count Count, children bool) error {
	if !children {
		if !slices.Contains(w.left, typ) && len(w.left) < 16 {
			w.left = append(w.left, short(typ))
		}
		return nil
	}
	if count.Min > MaxCount/l.groups {
		return fmt.Errorf("the counts multiply to more than %d", MaxCount)
	}
	below.groups = l.groups * count.Min
	return nil
}

// request makes one shape of what was seen.
func (w *walker) request() (*Request, error) {
	switch {
	case !w.haveSlot:
		return nil, errors.New("the request has no slot")
	case !w.haveCore:
		return nil, errors.New("the slot has no core in it")
	}
	r := &Request{Cores: w.core, GPUs: w.gpu, Exclusive: w.ex, Left: w.left}
	slot, err := w.slot.Scaled(w.slotGroups)
	if err != nil {
		return nil, err
	}
	switch {
	case w.haveNode && w.slotOutside:
		// A slot that spans nodes: its own count is of such sets of nodes.
		if !w.node.IsFixed() {
			return nil, fmt.Errorf("a slot around a range of nodes (%s) is not supported", w.node)
		}
		per, err := w.node.Scaled(w.nodeGroups)
		if err != nil {
			return nil, err
		}
		r.SlotNodes = per.Min
		if r.Nodes, err = slot.Scaled(per.Min); err != nil {
			return nil, err
		}
		r.Slots = Fixed(1)
	case w.haveNode:
		if r.Nodes, err = w.node.Scaled(w.nodeGroups); err != nil {
			return nil, err
		}
		r.Slots = slot
	case w.ex:
		// Only whole nodes can be exclusive in R version 1: each slot has one.
		r.Nodes, r.Slots = slot, Fixed(1)
	default:
		r.Slots = slot
	}
	for _, per := range []Count{r.Cores, r.GPUs} {
		if per.Min > 0 && r.Slots.Min > MaxCount/per.Min {
			return nil, fmt.Errorf("%d slots of %d are more than %d", r.Slots.Min, per.Min, MaxCount)
		}
	}
	return r, nil
}
