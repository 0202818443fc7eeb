package extrapolate

import (
	"errors"
	"fmt"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

// Arguments that advance from call to call are runs of values: see merge.Streams. The runs of a rank are solved
// as calls after its last one, whose arguments are the beginning, the steps and the lengths of runs. So what is
// made has runs, too, and it takes no longer where loops have more iterations. The runs of each argument are calls of
// functions of their own, named after it, as those of two arguments have nothing to do with each other.

// A runsReader makes calls of the runs of a rank.
type runsReader struct {
	*solver
	rank  *rank
	f     *folder
	table *cst.Table

	names []string // of streams
	name  string   // of the stream that is read
	own   map[uint32]*node

	missing bool // there are more streams than names
}

// runs returns the runs of a part as calls. The calls of the part are those of a rank already.
func (s *solver) runs(r *rank, f *folder, part *merge.Part) ([]*node, error) {
	list, err := f.grammar(part.Streams.Runs)
	if err != nil {
		return nil, err
	}
	x := runsReader{solver: s, rank: r, f: f, table: part.Table, names: streamNames(part)}
	list = x.section(nil, list)
	if x.missing {
		return nil, errors.New("streams of no argument")
	}
	return list, nil
}

// streamNames returns what the streams of a part are called, in their order.
func streamNames(part *merge.Part) (names []string) {
	order, calledSo := make(layout.StreamOrder), make(map[string]int)
	var args []cst.Value
	for _, t := range part.Grammar.FirstUses() {
		var fn int
		fn, args = part.Table.AppendSignature(args[:0], t)
		f := &part.Table.Functions()[fn]
		for slot, n := range layout.NumbersIn(args, part.Streams.Slots[t]) {
			if order.Index(layout.StreamKey{Function: fn, Slot: slot, Number: n}) < len(names) {
				continue
			}
			name := fmt.Sprintf("advancing %s of %s", f.Params[paramOf(args, slot)].Name, f.Name)
			if calledSo[name]++; calledSo[name] > 1 {
				name += fmt.Sprintf(" (%d)", calledSo[name])
			}
			names = append(names, name)
		}
	}
	return names
}

// paramOf returns which of the arguments has a slot.
func paramOf(args []cst.Value, slot int) int {
	for i := range args {
		for range layout.NumbersIn(args[:i+1], 1<<slot) {
			return i
		}
	}
	return 0
}

// section appends nodes to what is read of the runs, with loops of several streams written out, as each has
// functions of its own.
func (x *runsReader) section(dst, list []*node) []*node {
	for _, n := range list {
		switch {
		case x.begins(n) && len(x.names) == 0:
			x.missing = true
			return dst
		case x.begins(n):
			x.name, x.own = x.names[0], make(map[uint32]*node)
			x.names = x.names[1:]
		case n.trips > 0 && x.hasBeginning(n):
			for i := range int(n.trips) {
				dst = x.section(dst, n.round(i))
			}
			continue
		}
		dst = append(dst, x.copied(n))
	}
	return dst
}

// begins reports whether a node is the beginning of a stream.
func (x *runsReader) begins(n *node) bool {
	return n.trips == 0 && x.role(n) == layout.StreamBegin
}

func (x *runsReader) role(n *node) layout.StreamRole {
	fn, _ := x.table.AppendSignature(nil, n.terminal)
	return layout.StreamRoleOf(&x.table.Functions()[fn])
}

// hasBeginning reports whether streams begin in a loop.
func (x *runsReader) hasBeginning(n *node) bool {
	for _, list := range n.rounds {
		for _, n := range list {
			if x.begins(n) || x.hasBeginning(n) {
				return true
			}
		}
	}
	return false
}

// copied returns a node with calls of the functions of the stream that is read.
func (x *runsReader) copied(n *node) *node {
	if n.trips > 0 {
		var rounds [][]*node
		for _, list := range n.rounds {
			var round []*node
			for _, n := range list {
				round = append(round, x.copied(n))
			}
			rounds = append(rounds, round)
		}
		return x.f.loop(n.trips, rounds)
	}
	if own := x.own[n.terminal]; own != nil {
		return own
	}
	fn, args := x.table.AppendSignature(nil, n.terminal)
	of := x.table.Functions()[fn]
	number := x.declared.Declare(cst.Function{Name: x.name, Params: of.Params})
	x.streamed[number] = of
	own := x.call(x.rank, x.f, number, of.Params, args, 0)
	x.own[n.terminal] = own
	return own
}

// An advancing is what a writer has of streams.
type advancing struct {
	slots map[uint32]uint64 // of all terminals, also of those without
	begun bool              // what is written now are streams
	block int               // with which they begin
	run   int               // the same
}

// begin takes note of a call, with which the streams may begin.
func (w *writer) begin(of *cst.Function) {
	if w.advancing.begun || layout.StreamRoleOf(of) != layout.StreamBegin {
		return
	}
	w.close(1)
	w.advancing.begun, w.advancing.block, w.advancing.run = true, len(w.blocks), len(w.runs)
}

// advance takes note of which slots of a terminal have the numbers of streams.
func (w *writer) advance(t uint32, slots uint64) {
	if w.advancing.slots == nil {
		w.advancing.slots = make(map[uint32]uint64)
	}
	if before, ok := w.advancing.slots[t]; ok && before != slots {
		w.failed = fmt.Errorf("extrapolate: calls of rank %d of %d that advance are as others that do not", w.at.rank,
			w.at.ranks)
	}
	w.advancing.slots[t] = slots
}

// streams returns the streams of what is written, of which the runs have a grammar.
func (w *writer) streams(runs *sequitur.Grammar) *merge.Streams {
	s := &merge.Streams{Slots: make(map[uint32]uint64), Runs: runs}
	for t, mask := range w.advancing.slots {
		if mask != 0 {
			s.Slots[t] = mask
		}
	}
	return s
}
