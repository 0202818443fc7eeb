package reprise

import (
	"encoding/binary"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
)

// An evaluation finds the values that a rank has in the slots of a signature.
type evaluation struct {
	rank, size int
	slots      []int64     // that are in no array
	group      merge.Group // that the call names, if it is grouped
	grouped    bool

	scratch  layout.Signature
	elements []cst.Value // of the arrays of a call that was rebuilt
}

// evaluate sets e.slots to those of s, of which the values that are stored begin with
// these, and returns the rest of them, which are those of arrays.
func (e *evaluation) evaluate(s *layout.Signature, stored []int64) []int64 {
	e.slots, e.grouped = e.slots[:0], false
	for i := range s.Values {
		x := &s.Values[i]
		v := x.Number
		switch x.How {
		case layout.Shift:
			v += int64(e.rank)
		case layout.Column:
			v, stored = stored[0], stored[1:]
		case layout.InGroup:
			of, size := stored[0], stored[1]
			stored = stored[2:]
			v = x.Expr.Eval(of, size)
			if min(of, size) >= 0 && max(of, size) <= layout.MaxRanks {
				e.group, e.grouped = merge.Group{Rank: int(of), Size: int(size)}, true
			}
		case layout.Expression:
			v = x.Expr.Eval(int64(e.rank), int64(e.size))
		}
		e.slots = append(e.slots, v)
	}
	return stored
}

// readStored reads the values of a rank of s that are stored in columns and matrices,
// of all signatures, in their order.
func (s *Shape) readStored(rank int) ([]int64, error) {
	t := s.template()
	if t.stored[len(t.stored)-1] == 0 {
		return nil, nil
	}
	position, _ := s.trace.all[s.number].Index(rank)
	stored := make([]int64, 0, t.stored[len(t.stored)-1])
	column := func(n int64) error {
		v, err := s.trace.columnValue(int(n), s.number, position, rank)
		stored = append(stored, v)
		return err
	}
	var scratch layout.Signature
	for i := range s.signatures {
		if t.stored[i] == t.stored[i+1] {
			continue
		}
		x := s.signature(i, &scratch)
		for k := range x.Values {
			var err error
			switch v := &x.Values[k]; v.How {
			case layout.Column:
				err = column(v.Number)
			case layout.InGroup:
				if err = column(v.Number); err == nil {
					err = column(v.Number + 1)
				}
			}
			if err != nil {
				return nil, err
			}
		}
		for _, a := range x.Arrays {
			if a.Slots == 0 {
				continue
			}
			var err error
			if stored, err = s.trace.row(stored, a.Column, s.number, position, rank, a.Slots); err != nil {
				return nil, err
			}
		}
	}
	return stored, nil
}

// A lookalike is signatures of a shape of one function that a rank may have as one, in
// ascending order.
type lookalike struct {
	members []int
	streams uint64 // bit k: slot k of one of them varies from call to call
}

// lookalikes returns the signatures that a rank may have as one, as where shapes were
// united that differ in which calls are equal: of one function, with arrays of the same
// lengths, and without a slot in which all of them have a constant, or all the rank and
// a constant, that is another. A rank that is alone in its shape has none.
func (s *Shape) lookalikes() []lookalike {
	if s.trace.all[s.number].Len() == 1 {
		return nil
	}
	byLengths := make(map[string][]int)
	var (
		order   []string
		scratch layout.Signature
		key     []byte
	)
	for i := range s.signatures {
		x := s.signature(i, &scratch)
		key = binary.AppendVarint(key[:0], int64(x.Function))
		for _, n := range x.Lengths {
			key = binary.AppendVarint(key, int64(n))
		}
		if byLengths[string(key)] == nil {
			order = append(order, string(key))
		}
		byLengths[string(key)] = append(byLengths[string(key)], i)
	}
	var found []lookalike
	for _, key := range order {
		groups := [][]int{byLengths[key]}
		for slot := range s.signature(byLengths[key][0], &scratch).Values {
			groups = s.splitBySlot(groups, slot)
		}
		for _, members := range groups {
			if len(members) < 2 {
				continue
			}
			l := lookalike{members: members}
			for _, i := range members {
				l.streams |= s.trace.signatures.Mask(int(s.signatures[i]))
			}
			found = append(found, l)
		}
	}
	return found
}

// splitBySlot splits groups of signatures by a slot in which no rank has the same.
func (s *Shape) splitBySlot(groups [][]int, slot int) [][]int {
	var split [][]int
	var scratch layout.Signature
	for _, members := range groups {
		how := s.signature(members[0], &scratch).Values[slot].How
		apart := len(members) > 1 && (how == layout.Constant || how == layout.Shift)
		for _, i := range members {
			if !apart {
				break
			}
			x := s.signature(i, &scratch)
			apart = x.Values[slot].How == how && x.Streams>>slot&1 == 0
		}
		if !apart {
			split = append(split, members)
			continue
		}
		place := make(map[int64]int) // in split
		for _, i := range members {
			v := s.signature(i, &scratch).Values[slot].Number
			at, ok := place[v]
			if !ok {
				at = len(split)
				place[v], split = at, append(split, nil)
			}
			split[at] = append(split[at], i)
		}
	}
	return split
}

// firsts returns, for each signature of s, the first that is the same for a rank, whose
// stored values these are, but for values that vary from call to call. It returns nil
// if no two are the same.
func (s *Shape) firsts(rank int, stored []int64) []uint32 {
	var (
		firsts  []uint32
		scratch layout.Signature
		key     []byte
		e       = evaluation{rank: rank, size: s.trace.run.Ranks}
	)
	for _, l := range s.alike() {
		found := make(map[string]int, len(l.members))
		for _, i := range l.members {
			x := s.signature(i, &scratch)
			begin, end := s.template().stored[i], s.template().stored[i+1]
			rows := e.evaluate(x, stored[begin:end])
			key = key[:0]
			for k, v := range e.slots {
				if l.streams>>k&1 == 0 {
					key = binary.AppendVarint(key, v)
				}
			}
			for _, v := range rows {
				key = binary.AppendVarint(key, v)
			}
			first, ok := found[string(key)]
			if !ok {
				found[string(key)] = i
				continue
			}
			if firsts == nil {
				firsts = make([]uint32, len(s.signatures))
				for i := range firsts {
					firsts[i] = uint32(i)
				}
			}
			firsts[i] = uint32(first)
		}
	}
	return firsts
}
