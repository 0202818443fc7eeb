package running

import (
	"math"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/sequitur"
)

// Calls are the calls of a rank with what advances in them.
type Calls struct {
	Table   *cst.Table        // in which arguments that advance have the numbers of their streams
	Grammar *sequitur.Grammar // of the calls, over terminals of Table

	// Slots says which slots of a terminal have the numbers of streams, if any do: bit k stands for the k-th
	// of those in no array.
	Slots map[uint32]uint64

	// Streams are the runs of each stream, one after the other, each after its beginning; nil if nothing
	// advances.
	Streams *sequitur.Grammar

	// Renamed has the terminal of Table for each of the terminals that Intern returned, nil if it is the same.
	Renamed []uint32
}

// Take returns the calls of a grammar over the terminals of t. It takes time in proportion to the signatures
// and the symbols of grammars. The result may have the memory of t, to which nothing may be added then, unless
// its Table is copied.
func (t *Table) Take(g *sequitur.Grammar) Calls {
	if !t.advances() {
		plain := t.plain
		return Calls{Table: &plain, Grammar: g}
	}
	var c Calls
	var order []*stream
	for first, ok := int64(0), false; !ok; first = further(first) { // the number of the first stream of an argument
		c, order, ok = t.signed(first)
	}
	c.Streams = appendStreams(c.Table, order)
	if isInjective(c.Renamed) {
		c.Grammar = g.Rewrite(func(s sequitur.Symbol) sequitur.Symbol { return c.Renamed[s] })
	} else {
		c.Grammar = refold(g, c.Renamed)
	}
	return c
}

// further returns the number of a first stream that is tried after another: of the values that an argument had
// before it was taken to advance, many may be numbers one after the other.
func further(first int64) int64 {
	if first < 1<<61 {
		return 2*first + 1
	}
	return first + 1
}

// signed returns the signatures of all calls, in which arguments that advance have the numbers of streams from
// first on, and the streams in the order in which calls first take values of them. It fails where a number is
// one that an argument has that does not advance.
func (t *Table) signed(first int64) (c Calls, order []*stream, ok bool) {
	numbers := make(map[*stream]int64)
	counts := make(map[[2]int]int64) // of the streams of arguments
	c = Calls{Table: new(cst.Table), Slots: make(map[uint32]uint64), Renamed: make([]uint32, len(t.signatures))}
	for _, f := range t.plain.Functions() {
		c.Table.Declare(f)
	}
	var args []cst.Value
	for i, s := range t.signatures {
		count, mask, fn, own := t.signature(args[:0], uint32(i))
		args = own
		if s.group >= 0 {
			mask |= t.groups[s.group].fromFirst(t.function(fn))
		}
		for k, slot := range t.function(fn).slots {
			if mask>>slot.slot&1 == 0 {
				continue
			}
			of := t.groups[s.group].states[k].stream
			n, known := numbers[of]
			if !known {
				at := [2]int{fn, k}
				n = first + counts[at]
				counts[at]++
				numbers[of], order = n, append(order, of)
			}
			args[slot.param] = layout.WithNumber(args[slot.param], n)
		}
		before := c.Table.Len()
		n := c.Table.InternRun(fn, count, args...)
		if int(n) < before && c.Slots[n] != mask {
			return c, nil, false
		}
		if mask != 0 {
			c.Slots[n] = mask
		}
		c.Renamed[i] = n
	}
	return c, order, true
}

// fromFirst returns the mask of the slots that advance from the first call of the group on.
func (g *group) fromFirst(f *function) uint64 {
	mask := uint64(0)
	if g.watch == nil {
		return mask
	}
	for _, k := range g.advance {
		if !g.states[k].stream.late {
			mask |= 1 << f.slots[k].slot
		}
	}
	return mask
}

// appendStreams adds the runs of streams to a table, and returns the grammar of them.
func appendStreams(table *cst.Table, streams []*stream) *sequitur.Grammar {
	var b sequitur.Builder
	for _, s := range streams {
		s.appendTo(&b, table)
	}
	return b.Finish()
}

// appendTo appends the runs of s to the grammar of all streams. The first run has the jump of the second, so
// that it may be the same, from what comes before it.
func (s *stream) appendTo(b *sequitur.Builder, table *cst.Table) {
	var (
		runs      = s.runs.Snapshot()
		terminals = make([]sequitur.Symbol, len(s.list))
		last, ok  = s.writer.Last()
	)
	if !ok {
		b.Append(intern(table)(layout.StreamCall(0)))
		return
	}
	first, jump := last, int64(0)
	if runs.Len() > 0 {
		first, jump = s.list[runs.At(0)], last.Jump
	}
	if runs.Len() > 1 {
		jump = s.list[runs.At(1)].Jump
	}
	b.Append(intern(table)(layout.StreamCall(first.Jump - jump)))
	first.Jump = jump
	b.Append(intern(table)(layout.RunCall(first)))
	if runs.Len() == 0 {
		return
	}
	for i := range terminals {
		terminals[i] = math.MaxUint32
	}
	for at, r := range runs.Runs() {
		if at == 0 {
			if r.Count--; r.Count == 0 {
				continue
			}
		}
		if terminals[r.Symbol] == math.MaxUint32 {
			terminals[r.Symbol] = intern(table)(layout.RunCall(s.list[r.Symbol]))
		}
		b.AppendRun(terminals[r.Symbol], r.Count)
	}
	b.Append(intern(table)(layout.RunCall(last)))
}

// intern returns a function that returns the terminal of a call in a table.
func intern(table *cst.Table) func(fn cst.Function, args []cst.Value) uint32 {
	return func(fn cst.Function, args []cst.Value) uint32 { return table.Intern(table.Declare(fn), args...) }
}

// isInjective reports whether no two terminals are renamed to one.
func isInjective(renamed []uint32) bool {
	seen := make([]bool, len(renamed))
	for _, n := range renamed {
		if seen[n] {
			return false
		}
		seen[n] = true
	}
	return true
}

// maxBody is how many runs of symbols the body of a loop has at most that is folded again as one.
const maxBody = 1 << 20

// refold returns a grammar over other terminals, of which several may be one, folded from what it generates.
func refold(g *sequitur.Grammar, to []uint32) *sequitur.Grammar {
	f := folder{g: g, to: to}
	if g.Rules() > 0 {
		f.add(g.Rules() - 1)
	}
	return f.b.Finish()
}

// A folder is the state of refold.
type folder struct {
	b    sequitur.Builder
	g    *sequitur.Grammar
	to   []uint32
	body []sequitur.Run
}

// add adds what a rule generates.
func (f *folder) add(rule int) {
	for t := range f.g.Body(rule) {
		switch {
		case t.Rule < 0:
			f.b.AppendRun(f.to[t.Symbol], t.Count)
		case t.Count > 1 && f.g.RuleLen(t.Rule) <= maxBody:
			f.body = f.appendBody(f.body[:0], t.Rule)
			f.b.AppendLoop(f.body, t.Count)
		default:
			for range t.Count {
				f.add(t.Rule)
			}
		}
	}
}

// appendBody appends what a rule generates to a body.
func (f *folder) appendBody(body []sequitur.Run, rule int) []sequitur.Run {
	for t := range f.g.Body(rule) {
		if t.Rule < 0 {
			body = appendRun(body, sequitur.Run{Symbol: f.to[t.Symbol], Count: t.Count})
			continue
		}
		for range t.Count {
			body = f.appendBody(body, t.Rule)
		}
	}
	return body
}

// appendRun appends a run to a body, or makes its last run longer.
func appendRun(body []sequitur.Run, r sequitur.Run) []sequitur.Run {
	if n := len(body); n > 0 && body[n-1].Symbol == r.Symbol {
		body[n-1].Count += r.Count
		return body
	}
	return append(body, r)
}
