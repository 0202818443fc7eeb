package trace

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
)

// An evaluation finds the values that a rank has in the slots of a signature.
type evaluation struct {
	rank, size int
	slots      []int64     // that are in no array
	group      merge.Group // that the call names, if it is grouped
	grouped    bool

	scratch  layout.Template
	rows     []int64     // of arrays
	elements []cst.Value // of the arrays of a call that was rebuilt
}

// evaluate sets e.slots to those of s, of which the values that are stored in columns begin
// with these.
func (e *evaluation) evaluate(s *layout.Template, stored []int64) {
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
}

// A lookalike is signatures of a shape of one function that a rank may have as one, in
// ascending order.
type lookalike struct {
	members []int
	streams uint64 // bit k: slot k of one of them is a varying argument
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
		scratch layout.Template
		key     []byte
	)
	for i := range s.own {
		x := s.signature(i, &scratch)
		key = binary.AppendVarint(key[:0], int64(x.Function))
		for _, n := range x.Lengths {
			key = binary.AppendVarint(key, int64(n))
		}
		key = binary.AppendUvarint(key, x.Streams)
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
				n := int(s.signatures[i])
				l.streams |= s.trace.signatures.Mask(n) & s.trace.varies[s.trace.FunctionOf(n)]
			}
			found = append(found, l)
		}
	}
	return found
}

// splitBySlot splits groups of signatures, all of one function, by a slot in which no rank has the same.
func (s *Shape) splitBySlot(groups [][]int, slot int) [][]int {
	var split [][]int
	of := s.slot(groups[0][0], slot)
	for _, members := range groups {
		how := of(members[0]).How
		apart := len(members) > 1 && (how == layout.Constant || how == layout.Shift)
		for _, i := range members {
			if !apart {
				break
			}
			apart = of(i).How == how && s.trace.signatures.Mask(int(s.signatures[i]))>>slot&1 == 0
		}
		if !apart {
			split = append(split, members)
			continue
		}
		place := make(map[int64]int) // in split
		for _, i := range members {
			v := of(i).Number
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

// slot returns a function that yields a slot of the signatures of s of the same function as the i-th.
func (s *Shape) slot(i, slot int) func(i int) layout.Value {
	if t := s.template(); t.signatures != nil {
		return func(i int) layout.Value { return t.signatures[i].Values[slot] }
	}
	of := s.trace.signatures.Slot(int(s.signatures[i]), slot)
	return func(i int) layout.Value { return of(int(s.signatures[i])) }
}

// firsts returns, for each signature of s, the first that is the same for a rank, whose
// stored values these are, but for values that vary from call to call. It returns nil
// if no two are the same.
func (s *Shape) firsts(rank int, stored storedValues) []uint32 {
	var firsts []uint32
	e := comparisons.Get().(*comparison)
	defer func() {
		clear(e.sources[:cap(e.sources)]) // or they kept matrices in memory
		comparisons.Put(e)
	}()
	e.rank, e.size = rank, s.trace.run.Ranks
	for _, l := range s.alike() {
		for _, members := range s.same(e, l, stored) {
			for _, i := range members[1:] {
				if firsts == nil {
					firsts = make([]uint32, len(s.signatures))
					for i := range firsts {
						firsts[i] = uint32(i)
					}
				}
				firsts[i] = uint32(members[0])
			}
		}
	}
	return firsts
}

// same returns those of l that are the same for the rank of e, until e is used again. What tells most of them
// apart is compared first: slots, and then the first elements of one array after the other.
func (s *Shape) same(e *comparison, l lookalike, stored storedValues) [][]int {
	t := s.template()
	e.members = append(e.members[:0], l.members...)
	e.groups = append(e.groups[:0], e.members)
	e.split(func(key []byte, i int) []byte { return s.appendSlots(key, e, i, l.streams, stored) })
	arrays := int(t.rows[l.members[0]+1] - t.rows[l.members[0]])
	for k := range arrays {
		e.split(func(key []byte, i int) []byte { return e.appendBegin(key, &stored.rows[int(t.rows[i])+k]) })
	}
	if arrays > 0 {
		e.sources = e.sources[:0]
		e.split(func(key []byte, i int) []byte { return s.appendRows(key, e, i, stored) })
	}
	return e.groups
}

// A comparison compares signatures of a shape as a rank has them.
type comparison struct {
	evaluation
	members []int   // that are compared
	groups  [][]int // of these, those that are the same as far as they were compared
	before  [][]int // as they were before that
	keys    []byte  // of a group that is split
	order   []keyed

	// Of the signature whose arrays were hashed last.
	elements []byte
	sources  []columns.RowSource
	hash     [2]uint64
}

// comparisons keeps the memory of comparisons.
var comparisons = sync.Pool{New: func() any { return new(comparison) }}

// split makes groups of the members of each group that have a key in common with others of it, where
// appendKey appends the one of a member.
func (e *comparison) split(appendKey func(key []byte, i int) []byte) {
	groups := e.groups
	e.groups, e.before = e.before[:0], groups
	for _, members := range groups {
		e.keys, e.order = e.keys[:0], e.order[:0]
		for _, i := range members {
			begin := len(e.keys)
			e.keys = appendKey(e.keys, i)
			e.order = append(e.order, keyed{i, begin, len(e.keys)})
		}
		compare := func(a, b keyed) int { return bytes.Compare(e.keys[a.begin:a.end], e.keys[b.begin:b.end]) }
		slices.SortStableFunc(e.order, compare)
		for k, o := range e.order {
			members[k] = o.member
		}
		for n := 0; n < len(members); {
			end := n + 1
			for end < len(members) && compare(e.order[n], e.order[end]) == 0 {
				end++
			}
			if end-n > 1 {
				e.groups = append(e.groups, members[n:end])
			}
			n = end
		}
	}
}

// A keyed is a member with a key.
type keyed struct{ member, begin, end int }

// hashSeeds are those of the two halves of a hash.
var hashSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// comparedFirst is how many elements of arrays are compared before others are decoded.
const comparedFirst = 4

// appendSlots appends what the i-th signature of s has in slots without streams.
func (s *Shape) appendSlots(key []byte, e *comparison, i int, streams uint64, stored storedValues) []byte {
	e.evaluate(s.signature(i, &e.scratch), stored.scalars[s.template().scalars[i]:])
	for k, v := range e.slots {
		if streams>>k&1 == 0 {
			key = binary.AppendVarint(key, v)
		}
	}
	return key
}

// appendBegin appends the first elements of an array.
func (e *comparison) appendBegin(key []byte, row *storedRow) []byte {
	e.rows = row.appendBegin(e.rows[:0], comparedFirst)
	for _, v := range e.rows {
		key = binary.AppendVarint(key, v)
	}
	return key
}

// appendRows appends a hash of the elements of the arrays of the i-th signature of s, of
// 128 bits, which nobody can foresee.
func (s *Shape) appendRows(key []byte, e *comparison, i int, stored storedValues) []byte {
	t := s.template()
	rows := stored.rows[t.rows[i]:t.rows[i+1]]
	if !e.followSources(rows) {
		e.elements = e.elements[:0]
		for k := range rows {
			e.rows = rows[k].appendTo(e.rows[:0])
			for _, v := range e.rows {
				e.elements = binary.LittleEndian.AppendUint64(e.elements, uint64(v))
			}
		}
		for k, seed := range hashSeeds {
			e.hash[k] = maphash.Bytes(seed, e.elements)
		}
	}
	for _, h := range e.hash {
		key = binary.LittleEndian.AppendUint64(key, h)
	}
	return key
}

// followSources sets e.sources to those of rows, as far as they are known, and reports whether
// they are what they were.
func (e *comparison) followSources(rows []storedRow) bool {
	same := len(e.sources) == len(rows)
	e.sources = slices.Grow(e.sources[:0], len(rows))[:len(rows)]
	for k := range rows {
		source, ok := rows[k].source()
		same = same && ok && source == e.sources[k]
		e.sources[k] = source
	}
	return same
}
