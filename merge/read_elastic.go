package merge

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/pairmap"
	"github.com/reprise-trace/reprise/sequitur"
)

// An expander puts the values of streams in the calls of a rank.
type expander struct {
	*rankReader
	of      *Calls
	most    int // signatures
	table   *cst.Table
	calls   []elasticCall // by signature of the shape
	streams map[elastic]*streamReader

	// Signatures differ in the values of their streams. They are found from the
	// number of the signature of the shape, a state, by the number of one value
	// after the other, each of which leads to another state.
	states    pairmap.Map       // by value and state
	terminals []sequitur.Symbol // by state, unknown where there is none
}

// unknown is no terminal.
const unknown = sequitur.MaxSymbol + 1

// An elasticCall is a signature of a shape with streams.
type elasticCall struct {
	streams []*streamReader
	places  []int   // of their values, in slots
	slots   []int64 // of the arguments that are not arrays
	args    []cst.Value
	group   Group
	grouped bool
}

// listFactor is how much longer the list of the calls of a rank may be than the
// grammar and the streams it is made from. A list takes less memory than a
// grammar unless that is some ten times shorter.
const listFactor = 16

// A rank with streams has at most so many signatures as these, its streams and its
// grammar may stand for: streams that vary with different periods could make many
// of a few values.
const (
	minSignaturesOf   = 1 << 16
	signaturesPerByte = 16
)

// expand sets the calls to those of a rank whose shape has streams.
func (c *Calls) expand(r *rankReader) error {
	g := r.template.grammar
	if g.Len() > maxElasticCalls {
		return &SectionError{KindGrammars, 0, -1, corrupt("%d calls of a rank with streams", g.Len())}
	}
	e := expander{
		rankReader: r, of: c, table: c.table,
		calls:   make([]elasticCall, len(r.shape.signatures)),
		streams: make(map[elastic]*streamReader),

		terminals: slices.Repeat([]sequitur.Symbol{unknown}, len(r.shape.signatures)),
	}
	size := g.Symbols()
	if err := e.open(); err != nil {
		return err
	}
	for _, s := range e.streams {
		size += s.size
	}
	e.most = max(minSignaturesOf, signaturesPerByte*size)
	if g.Len() <= listFactor*uint64(size) {
		c.list = g.AppendSymbols(nil)
		if err := e.replace(c.list); err != nil {
			return err
		}
		return e.end()
	}
	var b sequitur.Builder
	for _, run := range g.Runs() {
		if err := e.add(&b, run); err != nil {
			return err
		}
	}
	c.grammar = b.Finish()
	return e.end()
}

// end returns an error if a stream has more values than there are calls.
func (e *expander) end() error {
	for _, s := range e.streams {
		if err := s.end(); err != nil {
			return &SectionError{KindStreams, 0, -1, err}
		}
	}
	return nil
}

// open opens the streams.
func (e *expander) open() error {
	for i := range e.calls {
		s := e.signatureTemplate(i)
		if s.streams == 0 {
			continue
		}
		if err := e.readSlots(s); err != nil {
			return err
		}
		c := &e.calls[i]
		c.slots = slices.Clone(e.slots)
		for k, number := range c.slots {
			if s.streams>>k&1 == 0 {
				continue
			}
			at := elastic{s.function, k}
			if e.streams[at] == nil {
				var err error
				if e.streams[at], err = e.trace.stream(number, at); err != nil {
					return err
				}
			}
			c.streams, c.places = append(c.streams, e.streams[at]), append(c.places, k)
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
	for _, s := range e.calls[x].streams {
		n, err := s.next()
		if err != nil {
			return 0, &SectionError{KindStreams, 0, -1, err}
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
		if e.table.Len() > e.most {
			return 0, &SectionError{KindStreams, 0, -1, fmt.Errorf("merge: %w: a rank has more than %d signatures", ErrLimit, e.most)}
		}
		var err error
		if t, err = e.intern(x); err != nil {
			return 0, err
		}
		e.terminals[state] = t
	}
	return t, nil
}

// intern interns a signature of the shape with the values of streams that were
// read last.
func (e *expander) intern(x sequitur.Symbol) (sequitur.Symbol, error) {
	c := &e.calls[x]
	if c.args == nil {
		_, args, err := e.signature(int(x))
		if err != nil {
			return 0, err
		}
		if len(c.streams) == 0 { // it is not asked for again
			t := e.table.InternRun(int(e.trace.signatures.functions[e.shape.signatures[x]]), 0, args...)
			e.of.setGroup(e.rankReader, t)
			e.of.setSource(t, int(x))
			return t, nil
		}
		c.args, e.elements = slices.Clone(args), nil
		c.group, c.grouped = e.group, e.grouped
	}
	for i, s := range c.streams {
		c.slots[c.places[i]] = s.values[s.last]
	}
	fn := int(e.trace.signatures.functions[e.shape.signatures[x]])
	u := unflattener{slots: c.slots, texts: e.trace.texts}
	for i, p := range e.trace.Functions()[fn].Params {
		if p.Type.Kind == cst.KindArray || len(c.streams) == 0 {
			break // streams are before the first array
		}
		c.args[i] = u.value(p.Type)
	}
	t := e.table.InternRun(fn, 0, c.args...)
	e.group, e.grouped = c.group, c.grouped
	e.of.setGroup(e.rankReader, t)
	e.of.setSource(t, int(x))
	return t, nil
}
