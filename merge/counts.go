package merge

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// A SignatureCount is how often ranks make the calls of a signature of the trace.
type SignatureCount struct {
	Signature int
	Calls     uint64 // of all these ranks; 2⁶⁴−1 if they are more
	Ranks     int    // that make them
}

// Counts returns how often ranks of s make which calls, in ascending order of the
// signatures. Where a rank has equal calls under several signatures, they count for the
// first, as in [Trace.Summaries] and [Calls.Signature]; those of a rank whose arguments
// cannot be read count where the grammar has them.
//
// It takes time in proportion to the signatures and, if ranks may have some of them as
// one, to these times the ranks. The calls of a rank are read only if it has signatures
// that are equal but for values that vary from call to call.
func (s *Shape) Counts(ctx context.Context, ranks rankenc.Set) ([]SignatureCount, error) {
	c := callCounter{shape: s, each: make([]uint64, len(s.signatures)), sums: make([]SignatureCount, len(s.signatures))}
	number := make(map[int]int, len(s.signatures))
	for i, n := range s.signatures {
		number[int(n)], c.sums[i].Signature = i, int(n)
	}
	for n, calls := range s.Grammar.Occurrences() {
		c.each[number[int(n)]] = calls
	}
	if err := c.count(ctx, ranks); err != nil {
		return nil, err
	}
	c.sums = slices.DeleteFunc(c.sums, func(n SignatureCount) bool { return n.Ranks == 0 })
	slices.SortFunc(c.sums, func(a, b SignatureCount) int { return a.Signature - b.Signature })
	return c.sums, nil
}

// A callCounter counts the calls of ranks of a shape, by signatures of the shape.
type callCounter struct {
	shape *Shape
	each  []uint64 // calls of each rank in the grammar
	sums  []SignatureCount
	key   []byte
}

// A lookalike is signatures of a shape of one function that a rank may have as one, in
// ascending order.
type lookalike struct {
	members []int
	streams uint64 // bit k: slot k of one of them varies from call to call
}

// count sums up the calls of ranks.
func (c *callCounter) count(ctx context.Context, ranks rankenc.Set) error {
	alike := c.shape.lookalikes()
	differs := make([]bool, len(c.sums)) // from rank to rank, maybe
	for _, l := range alike {
		for _, i := range l.members {
			differs[i] = true
		}
	}
	for i := range c.sums {
		if !differs[i] {
			c.sums[i].Calls, c.sums[i].Ranks = wire.MulSat(c.each[i], uint64(ranks.Len())), ranks.Len()
		}
	}
	if len(alike) == 0 {
		return nil
	}
	for _, rank := range ranks.All() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c.rank(newRankReader(c.shape, int(rank)), alike)
	}
	return nil
}

// rank adds the calls of a rank that are of signatures that are alike.
func (c *callCounter) rank(r *rankReader, alike []lookalike) {
	varying := make(map[int]bool) // the signatures of which the calls must be read
	for _, l := range alike {
		firsts, same, err := c.firsts(r, l)
		if err == nil && same && l.streams != 0 {
			for _, i := range l.members {
				varying[int(c.shape.signatures[i])] = true
			}
			continue
		}
		for k, i := range l.members {
			first := i
			if err == nil {
				first = firsts[k]
			}
			c.sums[first].Calls = wire.AddSat(c.sums[first].Calls, c.each[i])
			if first == i {
				c.sums[i].Ranks++
			}
		}
	}
	if len(varying) > 0 {
		c.read(r.rank, varying)
	}
}

// firsts returns the first of those members of l that are the same for a rank but for
// values that vary, for each member, and whether there are several of any.
func (c *callCounter) firsts(r *rankReader, l lookalike) (firsts []int, same bool, err error) {
	found := make(map[string]int, len(l.members))
	for _, i := range l.members {
		if c.key, err = r.appendKey(c.key[:0], r.signatureTemplate(i), l.streams); err != nil {
			return nil, false, err
		}
		first, ok := found[string(c.key)]
		if !ok {
			first, found[string(c.key)] = i, i
		}
		firsts, same = append(firsts, first), same || ok
	}
	return firsts, same, nil
}

// appendKey appends what the slots of a signature of a rank are, but for some.
func (r *rankReader) appendKey(dst []byte, s *signatureTemplate, without uint64) (key []byte, err error) {
	if err := r.readSlots(s); err != nil {
		return dst, err
	}
	for k, v := range r.slots {
		if without>>k&1 == 0 {
			dst = binary.AppendVarint(dst, v)
		}
	}
	for _, m := range s.matrices {
		if m.slots == 0 {
			continue
		}
		if r.row, err = r.trace.row(r.row[:0], m.number, r.shape.number, r.position, r.rank, m.slots); err != nil {
			return dst, err
		}
		for _, v := range r.row {
			dst = binary.AppendVarint(dst, v)
		}
	}
	return dst, nil
}

// read adds the calls of a rank that are of some signatures, call by call.
func (c *callCounter) read(rank int, signatures map[int]bool) {
	byNumber := make(map[int]uint64)
	if calls, err := c.shape.trace.Calls(rank); err == nil {
		for terminal, n := range calls.Occurrences() {
			byNumber[calls.Signature(terminal)] += n
		}
	} else {
		for i, n := range c.shape.signatures {
			byNumber[int(n)] = c.each[i]
		}
	}
	for i := range c.sums {
		if n := byNumber[c.sums[i].Signature]; n > 0 && signatures[c.sums[i].Signature] {
			c.sums[i].Calls = wire.AddSat(c.sums[i].Calls, n)
			c.sums[i].Ranks++
		}
	}
}

// lookalikes returns the signatures that a rank may have as one: of one function, with
// arrays of the same lengths, and without a slot in which all of them have a constant, or
// all the rank and a constant, that is another.
func (s *Shape) lookalikes() []lookalike {
	templates := make([]signatureTemplate, len(s.signatures))
	byLengths := make(map[string][]int)
	var order []string
	for i, n := range s.signatures {
		s.trace.signatures.template(&templates[i], int(n))
		key := string(templates[i].appendLengths(nil))
		if byLengths[key] == nil {
			order = append(order, key)
		}
		byLengths[key] = append(byLengths[key], i)
	}
	var found []lookalike
	for _, key := range order {
		groups := [][]int{byLengths[key]}
		for slot := range templates[byLengths[key][0]].slots {
			groups = splitBySlot(groups, templates, slot)
		}
		for _, members := range groups {
			if len(members) < 2 {
				continue
			}
			l := lookalike{members: members}
			for _, i := range members {
				l.streams |= templates[i].streams
			}
			found = append(found, l)
		}
	}
	return found
}

// appendLengths appends the function of s, and the lengths of its arrays.
func (s *signatureTemplate) appendLengths(dst []byte) []byte {
	dst = binary.AppendVarint(dst, int64(s.function))
	for _, n := range s.lengths {
		dst = binary.AppendVarint(dst, int64(n))
	}
	return dst
}

// splitBySlot splits groups of signatures by a slot in which no rank has the same.
func splitBySlot(groups [][]int, templates []signatureTemplate, slot int) [][]int {
	var split [][]int
	for _, members := range groups {
		first := &templates[members[0]]
		written := first.slots[slot].written
		if len(members) < 2 || written != writtenConstant && written != writtenShift || slices.ContainsFunc(members, func(i int) bool {
			return templates[i].slots[slot].written != written || templates[i].streams>>slot&1 != 0
		}) {
			split = append(split, members)
			continue
		}
		place := make(map[int64]int) // in split
		for _, i := range members {
			v := templates[i].slots[slot].value
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
