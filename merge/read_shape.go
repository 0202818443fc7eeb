package merge

import (
	"fmt"
	"sync"

	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// A Shape is ranks of the same control flow. It must not be changed.
type Shape struct {
	Ranks   rankenc.Set
	Grammar *sequitur.Grammar // over the signatures of the trace

	trace      *Trace
	number     int
	signatures []sequitur.Symbol // in the order of their first use
	template   func() *template
}

// Shapes returns the number of shapes. They are numbered in the order of their
// lowest ranks.
func (t *Trace) Shapes() int { return len(t.sets) }

// Shape reads a shape. An error about the file is a [*SectionError].
func (t *Trace) Shape(number int) (*Shape, error) {
	if number < 0 || number >= len(t.sets) {
		return nil, fmt.Errorf("merge: there is no shape %d of %d", number, len(t.sets))
	}
	t.mu.Lock()
	s := t.shapes[number]
	t.mu.Unlock()
	if s != nil {
		return s, nil
	}
	g, err := t.readGrammar(number)
	if err != nil {
		return nil, err
	}
	s = &Shape{Ranks: t.sets[number], Grammar: g, trace: t, number: number, signatures: g.FirstUse()}
	s.template = sync.OnceValue(s.newTemplate)
	if err := t.signatures.checkSlots(s.signatures); err != nil {
		return nil, &SectionError{KindSignatures, 0, -1, err}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if other := t.shapes[number]; other != nil { // which another goroutine read
		return other, nil
	}
	size := s.size()
	if t.size += size; len(t.shapes) >= maxShapes || t.size > t.most {
		clear(t.shapes)
		t.size = size
	}
	t.shapes[number] = s
	return s, nil
}

// size returns the number of symbols in the grammars of s and of what is in its
// template, each being some 24 bytes.
func (s *Shape) size() int {
	const signature = 6 // in these
	n := 2 * s.Grammar.Symbols()
	for _, x := range s.signatures {
		fn := s.trace.signatures.functions[x]
		n += signature + s.trace.signatures.groups[fn].scalars + len(s.trace.Functions()[fn].Params)
	}
	return n
}
