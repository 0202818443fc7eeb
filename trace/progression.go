package trace

import (
	"slices"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/progression"
)

// A Progression is how a number goes on from one call of a signature to the next, in the order in which a rank
// makes them: as a nest of loops, in which each iteration of a loop adds to it.
type Progression struct {
	First int64     // value
	Loops []Advance // the outermost first; the product of their iterations is the number of calls

	nested bool // the loops are those in which the first of the calls is
}

// An Advance is a loop of a [Progression].
type Advance struct {
	Iterations uint64 // ≥ 2
	Step       int64  // from each to the next, which begins again what is inside
}

// At returns the value in the i-th call, from 0 on.
func (p Progression) At(i uint64) int64 {
	v := p.First
	for k := len(p.Loops) - 1; k >= 0; k-- {
		l := p.Loops[k]
		v += l.Step * int64(i%l.Iterations)
		i /= l.Iterations
	}
	return v
}

// Limits of what is looked at for progressions.
const (
	maxAdvancing = 1 << 20 // calls of a rank with signatures that take values of one stream in turn
	maxLevels    = 4       // loops
	maxRuns      = 1 << 12 // runs of values of one argument of a signature
)

// Progression returns how the k-th number of an argument that is no array, see [Argument.Values], goes on from
// call to call of the signature in a rank that makes it, if it is a Stream that has a nest of few loops. It looks
// at the runs that the trace has, whatever the number of calls; where signatures take the values of one stream
// in turn, the calls of a rank are gone through once, if they are at most 2²⁰.
func (a Argument) Progression(k, rank int) (p Progression, ok bool) {
	a.check()
	need.Index(k, len(a.Values), "trace: number of an argument")
	t := a.of.trace
	number, found := t.index.find(rank)
	if a.Values[k].Form != Stream || !found || a.of.shape != nil && a.of.shape.number != number {
		return p, false
	}
	s, err := t.shape(number)
	if err != nil || s.index == nil {
		return p, false
	}
	p, ok = s.progressions(rank)[signatureSlot{a.of.Number, a.first + k}]
	return p, ok
}

// progressions returns those of a rank.
func (s *Shape) progressions(rank int) map[signatureSlot]Progression {
	s.advancing.Lock()
	defer s.advancing.Unlock()
	if known, ok := s.advancing.byRank[rank]; ok {
		return known
	}
	found := s.findProgressions(rank)
	if s.advancing.byRank == nil || len(s.advancing.byRank) > maxMakers {
		s.advancing.byRank = make(map[int]map[signatureSlot]Progression)
	}
	s.advancing.byRank[rank] = found
	return found
}

// findProgressions finds those of a rank.
func (s *Shape) findProgressions(rank int) map[signatureSlot]Progression {
	r, x, err := s.trace.readRank(rank)
	if err != nil || x == nil {
		return nil
	}
	takes := make([][]take, len(x.takes)) // by signature, of those that terminals stand for
	for t := range uint32(r.terminalsOf(r.recorded)) {
		i := r.recorded.signatureOf(t)
		takes[i] = x.takes[i]
	}
	users := make([]int, len(x.before)) // signatures
	for _, list := range takes {
		for _, k := range list {
			users[k.stream]++
		}
	}
	writers, shared := make(map[signatureSlot]*valueRuns), make([][]take, len(x.takes))
	for i, list := range takes {
		for _, k := range list {
			v := new(valueRuns)
			if users[k.stream] == 1 {
				v.addStream(x, k.stream)
			} else {
				shared[i] = append(shared[i], k)
			}
			writers[signatureSlot{int(s.signatures[i]), k.slot}] = v
		}
	}
	if slices.ContainsFunc(shared, func(list []take) bool { return len(list) > 0 }) {
		r.addShared(writers, shared, x)
	}
	found := make(map[signatureSlot]Progression)
	nests := s.nests(r)
	for at, w := range writers {
		if p, ok := w.progression(); ok {
			p.nested = p.isNested(nests[at.signature])
			found[at] = p
		}
	}
	return found
}

// addShared goes through the calls of a rank, and adds the values that those of several signatures take of one
// stream.
func (r *Rank) addShared(writers map[signatureSlot]*valueRuns, shared [][]take, x *runs) {
	if r.Len() > maxAdvancing {
		return
	}
	readers := make([]*runReader, len(x.before))
	for w := r.recorded.calls.Walk(0); ; {
		run := w.Next()
		if run.Count == 0 {
			return
		}
		i := r.recorded.signatureOf(run.Symbol)
		for _, k := range shared[i] {
			if readers[k.stream] == nil {
				readers[k.stream] = x.reader(k.stream, 0)
			}
			for range run.Count {
				writers[signatureSlot{int(r.shape.signatures[i]), k.slot}].add(readers[k.stream].take())
			}
		}
	}
}

// nests returns the iterations of the loops in which the first call of each signature is that has streams, the
// outermost first.
func (s *Shape) nests(r *Rank) map[int][]uint64 {
	nests := make(map[int][]uint64)
	for position, x := range r.recorded.calls.FirstUses() {
		n := int(s.signatures[r.recorded.signatureOf(x)])
		if _, ok := nests[n]; ok || s.trace.signatures.Mask(n) == 0 {
			continue
		}
		w := r.recorded.calls.Walk(position)
		var counts []uint64
		for _, l := range w.AppendLoops(nil) {
			counts = append(counts, (l.Length+l.Period-1)/l.Period) // those before it in the body are not in it
		}
		if run := w.Next(); run.Count > 1 {
			counts = append(counts, run.Count)
		}
		nests[n] = counts
	}
	return nests
}

// isNested reports whether the loops of p are the innermost of a nest with so many iterations each, from the
// outermost on in which p advances.
func (p *Progression) isNested(nest []uint64) bool {
	advances := false
	for k, l := range p.Loops {
		if advances = advances || l.Step != 0; !advances {
			continue
		}
		if at := len(nest) - len(p.Loops) + k; at < 0 || nest[at] != l.Iterations {
			return false
		}
	}
	return true
}

// ValueRuns are the runs of successive values.
type valueRuns struct {
	writer progression.Writer
	runs   []progression.Run
	many   bool
}

func (v *valueRuns) add(value int64) {
	if r, ok := v.writer.Append(value); ok && !v.many {
		v.runs = append(v.runs, r)
		v.many = len(v.runs) > maxRuns
	}
}

// addStream adds all values of a stream, whose runs are those that a writer writes.
func (v *valueRuns) addStream(x *runs, stream int) {
	for r := x.reader(stream, 0); r.at.run < r.end && !v.many; r.advance(r.run.Length) {
		run := r.run
		if len(v.runs) == 0 {
			run.Jump = r.next // which is what comes before the stream, and the jump
		}
		v.runs = append(v.runs, run)
		v.many = len(v.runs) > maxRuns
	}
}

// progression returns the nest of loops that the runs are, if they are one.
func (v *valueRuns) progression() (p Progression, ok bool) {
	runs := v.runs
	if last, ok := v.writer.Last(); ok {
		runs = append(slices.Clip(runs), last)
	}
	if v.many || len(runs) == 0 || runs[0].Acceleration != 0 {
		return p, false
	}
	p.First = runs[0].Jump
	inner := Advance{runs[0].Length, runs[0].Step}
	firsts := make([]int64, len(runs))
	before := int64(0)
	for i, r := range runs {
		if r.Length != inner.Iterations || r.Step != inner.Step || r.Acceleration != 0 {
			return p, false
		}
		before += r.Jump
		firsts[i] = before
	}
	loops, ok := nest(firsts)
	if !ok {
		return p, false
	}
	if inner.Iterations > 1 {
		loops = append(loops, inner)
	}
	p.Loops = loops
	return p, len(loops) <= maxLevels
}

// nest returns the loops whose iterations have these values, if there are some few.
func nest(values []int64) (loops []Advance, ok bool) {
	for level := 0; len(values) > 1; level++ {
		if level == maxLevels {
			return nil, false
		}
		step, n := values[1]-values[0], 2
		for n < len(values) && values[n]-values[n-1] == step {
			n++
		}
		if len(values)%n != 0 {
			return nil, false
		}
		var outer []int64
		for i := 0; i < len(values); i += n {
			for k := 1; k < n; k++ {
				if values[i+k]-values[i+k-1] != step {
					return nil, false
				}
			}
			outer = append(outer, values[i])
		}
		loops = append([]Advance{{uint64(n), step}}, loops...)
		values = outer
	}
	return loops, true
}
