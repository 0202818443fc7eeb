package trace

import (
	"fmt"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/pairmap"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// A Shape is ranks of the same control flow. It must not be changed.
//
// The terminals of its grammar are numbers of signatures of the trace.
// [Shape.Signature] tells for each of them the function and, for each argument,
// whether it is a constant, an expression of the rank, a column over the ranks of the
// shape, or a stream of values that vary from call to call.
type Shape struct {
	Ranks   rankenc.Set
	Grammar *sequitur.Grammar

	trace      *Trace
	number     int
	signatures []sequitur.Symbol   // in the order of their first use, those of streams after those of calls
	own        int                 // how many are of calls
	index      *layout.StreamIndex // nil if nothing advances
	runs       *sequitur.Grammar   // the streams of what does, over numbers of signatures
	streams    [][]uint32          // the values of each argument, by their numbers, if they are in blocks
	template   func() *template
	alike      func() []lookalike
	unions     unions
	advancing  struct {
		sync.Mutex
		byRank map[int]map[signatureSlot]Progression
	}
	kept atomic.Pointer[keptColumns] // nil before a rank was read
}

// A template is what the ranks of a shape have in common, for making the calls of
// each from it.
type template struct {
	flow       *flow             // over the signatures in the order of their first use
	signatures []layout.Template // nil if they are too large to be kept
	scalars    []int             // where the values of each signature in columns begin, and the end
	rows       []int             // the same, the rows in matrices
	varying    bool              // some of the signatures have streams of varying arguments
	runs       *sequitur.Grammar // the streams of what advances, over the signatures; nil if nothing does
}

// Shapes returns the number of shapes. They are numbered in the order of their
// lowest ranks.
func (t *Trace) Shapes() int { return len(t.sets) }

// ShapeRanks returns the ranks of a shape, number < t.Shapes(), none if all were left
// out by [Options.LeaveOutDamage], without reading the shape.
func (t *Trace) ShapeRanks(number int) rankenc.Set {
	need.Index(number, len(t.sets), "trace: shape")
	return t.sets[number]
}

// ShapeOf returns the number of the shape of a rank, and whether it has one:
// whether it made calls.
func (t *Trace) ShapeOf(rank int) (number int, ok bool) { return t.index.find(rank) }

// Shape reads a shape.
func (t *Trace) Shape(number int) (*Shape, error) {
	s, err := t.shape(number)
	if err != nil {
		return nil, t.named(err)
	}
	return s, nil
}

// shape is Shape without the name of the file in its errors.
func (t *Trace) shape(number int) (*Shape, error) {
	if number < 0 || number >= len(t.sets) {
		return nil, fmt.Errorf("trace: there is no shape %d of %d", number, len(t.sets))
	}
	if t.sets[number].Len() == 0 {
		return nil, fmt.Errorf("trace: the ranks of shape %d are left out", number)
	}
	if s := t.shapes[number].get(); s != nil {
		return s, nil
	}
	g, err := t.readGrammar(number)
	if err != nil {
		return nil, err
	}
	s := &Shape{Ranks: t.sets[number], Grammar: g.Grammar, trace: t, number: number,
		signatures: g.Grammar.FirstUse(), streams: g.Streams}
	s.own = len(s.signatures)
	if err := s.cutStreams(); err != nil {
		return nil, layout.Damaged(layout.KindGrammars, 0, err)
	}
	s.template = sync.OnceValue(s.newTemplate)
	s.alike = sync.OnceValue(s.lookalikes)
	if err := t.signatures.CheckSlots(s.signatures); err != nil {
		return nil, layout.Damaged(layout.KindSignatures, 0, err)
	}
	most := t.caches.shapes.most // one that is too large leaves room for what is found out about it
	return keep(t.caches.shapes, &t.shapes[number], s, min(s.size(), most-most/4+1)), nil
}

// symbolSize is how many bytes are counted for a symbol of a grammar, in any of its forms, and for what is
// like it in size.
const symbolSize = 24

// size returns how many bytes the grammars of s and what is in its template take.
func (s *Shape) size() int {
	const (
		signature = 6 // in symbols
		perValue  = 6 // values of streams in one
	)
	n := 2 * s.Grammar.Symbols()
	if s.runs != nil {
		n += 2 * s.runs.Symbols()
	}
	for _, values := range s.streams {
		n += len(values) / perValue
	}
	for _, x := range s.signatures {
		fn := s.trace.signatures.Functions[x]
		n += signature + s.trace.signatures.Groups[fn].Scalars + len(s.trace.Functions()[fn].Params)
	}
	return symbolSize * n
}

// hasRoom counts so many bytes more that are kept of s, if s is kept and they fit.
func (s *Shape) hasRoom(size int) bool {
	return more(s.trace.caches.shapes, &s.trace.shapes[s.number], s, size)
}

// newTemplate returns the template of s.
func (s *Shape) newTemplate() *template {
	t := &template{scalars: make([]int, len(s.signatures)+1), rows: make([]int, len(s.signatures)+1)}
	if s.size() <= s.trace.caches.shapes.most {
		t.signatures = make([]layout.Template, len(s.signatures))
	}
	var numbers pairmap.Map
	var scratch layout.Template
	for i, n := range s.signatures {
		numbers.Put(uint64(n), 0, uint32(i))
		of := &scratch
		if t.signatures != nil {
			of = &t.signatures[i]
		}
		s.trace.signatures.Template(of, int(n))
		t.varying = t.varying || of.Streams&^s.trace.advancing(of) != 0
		scalars, rows := of.Stored()
		t.scalars[i+1], t.rows[i+1] = t.scalars[i]+scalars, t.rows[i]+rows
	}
	number := func(n sequitur.Symbol) sequitur.Symbol {
		i, _ := numbers.Get(uint64(n), 0)
		return i
	}
	t.flow = &flow{calls: grammarCalls{s.Grammar.Rewrite(number)}}
	if s.runs != nil {
		t.runs = s.runs.Rewrite(number)
	}
	return t
}

// signature returns the i-th signature of s, in scratch if s does not keep it.
func (s *Shape) signature(i int, scratch *layout.Template) *layout.Template {
	if t := s.template(); t.signatures != nil {
		return &t.signatures[i]
	}
	s.trace.signatures.Template(scratch, int(s.signatures[i]))
	return scratch
}

// A rankIndex finds the shape of a rank.
type rankIndex struct {
	sets      []rankenc.Set
	intervals []interval // the sets that are consecutive ranks, in ascending order
	others    []int      // the numbers of the other sets
}

// An interval is the ranks of a shape.
type interval struct{ first, last, shape int }

func newRankIndex(sets []rankenc.Set) rankIndex {
	x := rankIndex{sets: sets}
	for i, s := range sets {
		if s.Len() == 0 {
			continue
		}
		first, last := int(s.At(0)), int(s.At(s.Len()-1))
		if last-first+1 == s.Len() {
			x.intervals = append(x.intervals, interval{first, last, i})
		} else {
			x.others = append(x.others, i)
		}
	}
	return x
}

// find returns the number of the shape of a rank, and whether it has one. Where
// sets have ranks in common, which takes a file that contradicts itself, it is
// one of them.
func (x *rankIndex) find(rank int) (shape int, ok bool) {
	i := sort.Search(len(x.intervals), func(i int) bool { return x.intervals[i].first > rank }) - 1
	if i >= 0 && rank <= x.intervals[i].last {
		return x.intervals[i].shape, true
	}
	for _, i := range x.others {
		if x.sets[i].Contains(rank) {
			return i, true
		}
	}
	return 0, false
}

// next returns the first rank of any shape from the given one on.
func (x *rankIndex) next(from int) (rank int, ok bool) {
	if _, ok := x.find(from); ok {
		return from, true
	}
	i := sort.Search(len(x.intervals), func(i int) bool { return x.intervals[i].first > from })
	if i < len(x.intervals) {
		rank, ok = x.intervals[i].first, true
	}
	for _, i := range x.others {
		s := x.sets[i]
		if k, _ := s.Index(from); k < s.Len() {
			if r := int(s.At(k)); !ok || r < rank {
				rank, ok = r, true
			}
		}
	}
	return rank, ok
}
