package slice

import (
	"fmt"
	"slices"
)

// Independent returns which of the places where exceptions are thrown, as Sites numbers them, depend on no
// message, in a module made of the text that AppendText writes with probes. The module must not be used for
// anything else.
func Independent(m *Module, o Options, sites []int) ([]int, error) {
	s, err := newSlicer(m, o)
	if err != nil {
		return nil, err
	}
	s.probing = true
	s.note()
	var independent []int
	for _, k := range sites {
		s.clear()
		for _, i := range s.probes[fmt.Sprint(k)] {
			s.need(i, nil, "")
			s.needCalls(i.block.of, i)
		}
		s.drain()
		if !s.dependsOnMessages() {
			independent = append(independent, k)
		}
	}
	return independent, nil
}

// dependsOnMessages reports whether what is needed is in messages, or depends on which come first.
func (s *slicer) dependsOnMessages() bool {
	return len(s.got) > 0 || slices.ContainsFunc(s.calls, func(i *instruction) bool {
		return i.kept && slices.ContainsFunc(i.effects, func(e *effect) bool { return e.open })
	})
}

// clear notes that nothing is needed.
func (s *slicer) clear() {
	for _, f := range s.memory.reached {
		f.needed, f.resultUsed, f.restNeeded = false, false, false
		for _, p := range f.params {
			p.needed = false
		}
		for _, b := range f.blocks {
			for _, i := range b.instructions {
				i.kept, i.why = false, nil
			}
		}
	}
	for _, w := range s.written {
		w.read = 0
	}
	clear(s.got)
	clear(s.sent)
	clear(s.read)
	clear(s.readers)
}
