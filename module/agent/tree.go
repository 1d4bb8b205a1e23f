// SPDX-License-Identifier: LGPL-3.0-or-later

package agent

import (
	"encoding/json"
	"fmt"

	"flux-burrow/rv1reader/idset"
)

// Tree is a rank and what is below it in the tree-based overlay network.
type Tree struct {
	Rank     uint32
	Children []*Tree
	// Ranks is this rank and all below.
	Ranks *idset.Set
	// Height is the number of links to the farthest rank below.
	Height int
}

// ParseTree reads what overlay.topology answers:
// {"rank":R,"size":N,"children":[...]}.
func ParseTree(payload string) (*Tree, error) {
	var t Tree
	if err := json.Unmarshal([]byte(payload), &t); err != nil {
		return nil, fmt.Errorf("overlay topology: %w", err)
	}
	return &t, nil
}

// UnmarshalJSON reads one level, and by that all below.
func (t *Tree) UnmarshalJSON(b []byte) error {
	var level struct {
		Rank     *uint32 `json:"rank"`
		Children []*Tree `json:"children"`
	}
	if err := json.Unmarshal(b, &level); err != nil {
		return err
	}
	if level.Rank == nil || *level.Rank >= 1<<31 {
		return fmt.Errorf("a node without a rank: %.60s", b)
	}
	*t = Tree{Rank: *level.Rank, Children: level.Children, Ranks: idset.New(int(*level.Rank))}
	for _, c := range t.Children {
		t.Ranks.AddSet(c.Ranks)
		t.Height = max(t.Height, c.Height+1)
	}
	return nil
}
