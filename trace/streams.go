package trace

import (
	"fmt"
	"math/bits"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/pairmap"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// An expander puts the values of streams in the calls of a rank.
type expander struct {
	rank *Rank
	flow
	varied
	most    int               // terminals
	opened  [][]*streamReader // those of each signature of the shape
	streams map[layout.StreamArgument]*streamReader

	// Terminals differ in the values of their streams. They are found from the
	// signature of the shape, a state, by the number of one value after the other, each
	// of which leads to another state.
	states    pairmap.Map       // by value and state
	firsts    []uint32          // of the signatures, those that are the same for the rank; nil if all differ
	terminals []sequitur.Symbol // by state, unknown where there is none
}

// unknown is no terminal.
const unknown = sequitur.MaxSymbol + 1

// listFactor is how much longer the list of the calls of a rank may be than the
// grammar and the streams it is made from. A list takes less memory than a
// grammar unless that is some ten times shorter.
const listFactor = 16

// A rank with streams has at most so many terminals as these, its streams and its
// grammar may stand for: streams that vary with different periods could make many
// of a few values.
const (
	minTerminals     = 1 << 16
	terminalsPerByte = 16
)

// expand returns the flow of a rank whose shape has streams. Firsts tells which
// signatures are the same for the rank, nil if none are.
func (r *Rank) expand(firsts []uint32) (*flow, error) {
	g := r.shape.template().flow.calls.grammar()
	if g.Len() > layout.MaxStreamCalls {
		return nil, layout.Damaged(layout.KindGrammars, 0, layout.Corrupt("%d calls of a rank with streams", g.Len()))
	}
	n := len(r.shape.signatures)
	e := expander{
		rank: r, firsts: firsts, opened: make([][]*streamReader, n), terminals: make([]sequitur.Symbol, n),
		streams: make(map[layout.StreamArgument]*streamReader),
	}
	for i := range e.terminals {
		e.terminals[i] = unknown
	}
	if err := e.open(); err != nil {
		return nil, err
	}
	size := g.Symbols()
	for _, s := range e.streams {
		size += s.size
	}
	e.most = max(minTerminals, terminalsPerByte*size)
	if g.Len() <= listFactor*uint64(size) {
		list := g.AppendSymbols(nil)
		if err := e.replace(list); err != nil {
			return nil, err
		}
		e.calls = newListedCalls(list, len(e.of))
		return e.end()
	}
	var b sequitur.Builder
	for _, run := range g.Runs() {
		if err := e.add(&b, run); err != nil {
			return nil, err
		}
	}
	e.calls = grammarCalls{b.Finish()}
	return e.end()
}

// end returns the flow, or an error if a stream has more values than there are calls.
func (e *expander) end() (*flow, error) {
	for _, s := range e.streams {
		if err := s.end(); err != nil {
			return nil, layout.Damaged(layout.KindStreams, 0, err)
		}
	}
	values := e.varied
	return &flow{calls: e.calls, of: e.of, several: e.several, varied: &values}, nil
}

// open opens the streams.
func (e *expander) open() error {
	shape := e.rank.shape
	return shape.eachStream(e.rank.number, *e.rank.stored(),
		func(i int, argument layout.StreamArgument, number int64) error {
			if e.streams[argument] == nil {
				var err error
				if e.streams[argument], err = shape.stream(number, argument); err != nil {
					return err
				}
			}
			e.opened[i] = append(e.opened[i], e.streams[argument])
			return nil
		})
}

// eachStream calls use with the signatures of s that have streams and, slot by slot,
// the numbers of those of a rank, whose stored values these are, until that fails.
func (s *Shape) eachStream(rank int, stored storedValues,
	use func(i int, argument layout.StreamArgument, number int64) error) error {
	varying := func(x *layout.Template) uint64 { return x.Streams &^ s.trace.advancing(x) }
	return s.eachMasked(rank, stored, varying, func(i, slot int, number int64) error {
		return use(i, layout.StreamArgument{Function: s.trace.FunctionOf(int(s.signatures[i])), Slot: slot}, number)
	})
}

// eachMasked calls use with the slots of a mask of each signature and the values of a rank there, until that
// fails.
func (s *Shape) eachMasked(
	rank int, stored storedValues, mask func(*layout.Template) uint64, use func(i, slot int, value int64) error,
) error {
	var scratch layout.Template
	at := evaluation{rank: rank, size: s.trace.run.Ranks}
	for i := range s.signatures {
		x := s.signature(i, &scratch)
		slots := mask(x)
		if slots == 0 {
			continue
		}
		at.evaluate(x, stored.scalars[s.template().scalars[i]:])
		for k, value := range at.slots {
			if k >= layout.MaxStreamSlot || slots>>k&1 == 0 {
				continue
			}
			if err := use(i, k, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// replace replaces the signatures of the shape in list by terminals.
func (e *expander) replace(list []sequitur.Symbol) error {
	for i, x := range list {
		t := e.terminals[x]
		if t == unknown {
			var err error
			if t, err = e.next(x); err != nil {
				return err
			}
		}
		list[i] = t
	}
	return nil
}

// add adds a run of a signature of the shape to a grammar of terminals.
func (e *expander) add(b *sequitur.Builder, run sequitur.Run) error {
	if t := e.terminals[run.Symbol]; t != unknown {
		b.AppendRun(t, run.Count)
		return nil
	}
	for range run.Count {
		t, err := e.next(run.Symbol)
		if err != nil {
			return err
		}
		b.Append(t)
	}
	return nil
}

// next returns the terminal of the next call of a signature of the shape.
func (e *expander) next(x sequitur.Symbol) (sequitur.Symbol, error) {
	state := x
	if e.firsts != nil {
		state = e.firsts[x]
	}
	for _, s := range e.opened[x] {
		n, err := s.next()
		if err != nil {
			return 0, layout.Damaged(layout.KindStreams, 0, err)
		}
		to, ok := e.states.Get(n, state)
		if !ok {
			to = uint32(len(e.terminals))
			e.states.Put(n, state, to)
			e.terminals = append(e.terminals, unknown)
		}
		state = to
	}
	t := e.terminals[state]
	if t == unknown {
		if len(e.of) > e.most {
			return 0, layout.Damaged(layout.KindStreams, 0,
				fmt.Errorf("trace: %w: a rank has more than %d signatures", format.ErrLimit, e.most))
		}
		t = sequitur.Symbol(len(e.of))
		e.addTerminal(x)
		e.terminals[state] = t
	} else if at := [2]uint32{t, x}; e.firsts != nil && e.of[t] != x && !e.others[at] {
		if e.rank.shape.severalForms(int(e.of[t]), int(x)) {
			if e.several == nil {
				e.several = make(map[uint32]bool)
			}
			e.several[t] = true
		}
		if e.others == nil {
			e.others = make(map[[2]uint32]bool)
		}
		e.others[at] = true
	}
	if e.firsts != nil && len(e.opened[x]) == 0 {
		e.terminals[x] = t // it is not asked for again
	}
	return t, nil
}

// addTerminal adds a terminal of a signature of the shape with the values of streams
// that were read last.
func (e *expander) addTerminal(x sequitur.Symbol) {
	e.of = append(e.of, x)
	e.begin = append(e.begin, uint32(len(e.values)))
	for _, s := range e.opened[x] {
		e.values = append(e.values, s.values[s.last])
	}
}

// setVaried sets the slots of a signature that have streams to the values that they have in the calls of a
// terminal of a flow.
func (r *Rank) setVaried(slots []int64, x *layout.Template, f *flow, terminal uint32) {
	streams := r.trace.varying(x, f)
	if streams == 0 {
		return
	}
	values := f.varied.in(terminal)
	for i := 0; streams != 0; i++ {
		slots[bits.TrailingZeros64(streams)] = values[i]
		streams &= streams - 1
	}
}

// varying returns the slots of a signature whose values are those of varied in a flow.
func (t *Trace) varying(x *layout.Template, f *flow) uint64 {
	if f.kept == nil {
		return x.Streams &^ t.advancing(x)
	}
	return x.Streams &^ (t.advancing(x) &^ f.kept[x.Function])
}

// advancing returns the slots of a signature with streams of what advances.
func (t *Trace) advancing(x *layout.Template) uint64 {
	if x.Streams == 0 {
		return 0
	}
	return x.Streams &^ t.varies[x.Function]
}

// varyingSlots returns the slots of each function that are varying arguments.
func (t *Trace) varyingSlots() []uint64 {
	masks := make([]uint64, len(t.Functions()))
	if s := t.signatures.Streams; s != nil {
		for _, e := range s.Arguments {
			if e.Slot < layout.MaxStreamSlot {
				masks[e.Function] |= 1 << e.Slot
			}
		}
	}
	return masks
}

// appendVaried appends the values of a terminal of a flow with streams, and those of what advances of which
// kept has the slots, slot by slot.
func (r *Rank) appendVaried(dst []int64, from *flow, terminal uint32, kept []uint64, advancing []int64) []int64 {
	var scratch layout.Template
	x := r.shape.signature(from.signatureOf(terminal), &scratch)
	if x.Streams == 0 {
		return dst
	}
	var varying []int64
	mask := r.trace.advancing(x)
	if mask != x.Streams {
		varying = from.varied.in(terminal)
	}
	for left := x.Streams &^ (mask &^ kept[x.Function]); left != 0; left &= left - 1 {
		if mask>>bits.TrailingZeros64(left)&1 == 1 {
			dst, advancing = append(dst, advancing[0]), advancing[1:]
			continue
		}
		dst, varying = append(dst, varying[0]), varying[1:]
	}
	return dst
}

// A streamReader reads a stream of numbers of values, one after the other.
type streamReader struct {
	values  []int64
	data    wire.Decoder
	walker  *sequitur.Walker // of a grammar
	run     sequitur.Run
	list    []uint32 // the numbers that are to come, if the stream is in a block
	inBlock bool
	last    uint64 // number that was read
	size    int    // of the stream, in bytes, or the values of one in a block
}

// next returns the number of the next value.
func (r *streamReader) next() (uint64, error) {
	var n uint64
	if r.inBlock {
		if len(r.list) == 0 {
			return 0, layout.Corrupt("a stream is too short")
		}
		n, r.list = uint64(r.list[0]), r.list[1:]
	} else if r.walker == nil {
		n = r.data.Uvarint("number")
		if r.data.Err() != nil {
			return 0, r.data.Err()
		}
	} else {
		if r.run.Count == 0 {
			r.run = r.walker.Next()
		}
		if r.run.Count == 0 {
			return 0, layout.Corrupt("a stream is too short")
		}
		r.run.Count--
		n = uint64(r.run.Symbol)
	}
	if n >= uint64(len(r.values)) {
		return 0, layout.Corrupt("value %d of %d in a stream", n, len(r.values))
	}
	r.last = n
	return n, nil
}

// end returns an error if there are more values.
func (r *streamReader) end() error {
	if len(r.list) > 0 || !r.inBlock && r.walker == nil && r.data.Rest() > 0 ||
		r.walker != nil && (r.run.Count > 0 || r.walker.Next().Count > 0) {
		return layout.Corrupt("a stream is too long")
	}
	return nil
}

// stream opens a stream of an argument, of the number if it is in a section of streams.
func (s *Shape) stream(number int64, argument layout.StreamArgument) (*streamReader, error) {
	t := s.trace
	table := t.signatures.Streams
	if table.InBlocks {
		i, ok := table.Number(argument)
		if !ok || s.streams == nil {
			return nil, layout.Damaged(layout.KindSignatures, 0,
				layout.Corrupt("slot %d of function %d has no streams", argument.Slot, argument.Function))
		}
		return &streamReader{values: table.Values[i], list: s.streams[i], inBlock: true, size: len(s.streams[i])}, nil
	}
	if number < 0 || number >= int64(len(table.Streams)) ||
		table.Arguments[table.Streams[number].Argument] != argument {
		return nil, layout.Damaged(layout.KindSignatures, 0, layout.Corrupt("stream %d is none of an argument", number))
	}
	p := table.Streams[number]
	r := &streamReader{values: table.Values[p.Argument], size: p.Size}
	err := t.sections.ReadShared(layout.KindStreams, uint64(p.Section), func(data []byte) error {
		data, err := layout.ItemOf(data, p.Offset, p.Size)
		if err != nil {
			return err
		}
		switch data[0] {
		case layout.StreamNumbers:
			r.data = wire.NewDecoder("merge", data[1:])
			return nil
		case layout.StreamGrammar:
			g, err := sequitur.Parse(data[1:], sequitur.Options{Plain: true})
			if err == nil {
				r.walker = g.Walk(0)
			}
			return layout.AtOffset(err, p.Offset+1)
		}
		return layout.Corrupt("stream %d is encoded as %d", number, data[0])
	})
	return r, err
}
