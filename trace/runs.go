package trace

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/progression"
	"github.com/reprise-trace/reprise/internal/sums"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// Runs are the streams of what advances in the calls of a rank.
type runs struct {
	grammar *sequitur.Grammar // of the streams of the shape, over its signatures
	begins  []uint64          // of each stream, and one more than where the last ends
	of      []progression.Run // by signature of the shape; of length 0 where it is no run
	before  []int64           // what comes before each stream
	takes   [][]take          // by signature of the shape, slot by slot: what calls take of streams
	sums    func() *sums.Sum[int64]
}

// A take is that each call of a signature takes the next value of a stream, as what advances in it.
type take struct{ slot, stream int }

// cutStreams takes the streams of what advances from the calls of s.
func (s *Shape) cutStreams() error {
	role := func(n sequitur.Symbol) layout.StreamRole {
		return layout.StreamRoleOf(&s.trace.Functions()[s.trace.FunctionOf(int(n))])
	}
	s.own = 0
	for s.own < len(s.signatures) && role(s.signatures[s.own]) == layout.NoStream {
		s.own++
	}
	advances := slices.ContainsFunc(s.signatures[:s.own], func(n sequitur.Symbol) bool {
		return s.trace.signatures.Mask(int(n))&^s.trace.varies[s.trace.FunctionOf(int(n))] != 0
	})
	if s.own == len(s.signatures) && !advances {
		return nil
	}
	index, err := layout.IndexStreams(s.Grammar, role)
	if err == nil && index.Calls == 0 {
		err = errors.New("streams without calls")
	}
	if err != nil {
		return layout.Corrupt("%v", err)
	}
	s.index = index
	s.Grammar, s.runs, err = cut(s.Grammar, index.Calls)
	return err
}

// readRuns returns the runs of r, of whose shape some arguments advance. It checks that they are as many
// values as calls take.
func (r *Rank) readRuns() (*runs, error) {
	t := r.shape.template()
	x := &runs{grammar: t.runs, of: make([]progression.Run, len(r.shape.signatures))}
	befores := make(map[sequitur.Symbol]int64)
	var e evaluation
	for i := r.shape.own; i < len(x.of); i++ {
		s := r.shape.signature(i, &e.scratch)
		f := &r.trace.Functions()[s.Function]
		e.rank, e.size = r.number, r.trace.run.Ranks
		e.evaluate(s, r.stored().scalars[t.scalars[i]:])
		var ok bool
		if layout.StreamRoleOf(f) == layout.StreamBegin {
			befores[sequitur.Symbol(i)], ok = layout.StreamOf(f, e.slots)
		} else {
			x.of[i], ok = layout.RunOf(f, e.slots)
		}
		if !ok {
			return nil, layout.Damaged(layout.KindSignatures, 0,
				layout.Corrupt("a run of rank %d that is none", r.number))
		}
	}
	index := r.shape.index
	for i := range index.Begins {
		begin, _ := index.Stream(i)
		x.begins = append(x.begins, begin-index.Calls)
		x.before = append(x.before, befores[t.runs.At(begin-index.Calls-1)])
	}
	x.begins = append(x.begins, index.End-index.Calls+1)
	x.sums = sync.OnceValue(x.newSums)
	values, err := r.taken(x)
	if err == nil {
		lengths := make(map[sequitur.Symbol]uint64)
		for i, run := range x.of {
			lengths[r.shape.signatures[i]] = run.Length
		}
		err = index.Check(values, func(n sequitur.Symbol) uint64 { return lengths[n] })
	}
	if err != nil {
		return nil, layout.Damaged(layout.KindGrammars, 0, layout.Corrupt("%v", err))
	}
	return x, nil
}

// taken finds what calls take of streams, and returns how many values of each.
func (r *Rank) taken(x *runs) ([]uint64, error) {
	n := len(x.before)
	counts, values := make([]uint64, len(r.shape.signatures)), make([]uint64, n)
	for i, count := range r.shape.template().flow.calls.Occurrences() {
		counts[i] = count
	}
	x.takes = make([][]take, len(r.shape.signatures))
	order := make(layout.StreamOrder) // signatures are in the order of their first use
	err := r.shape.eachMasked(r.number, *r.stored(), r.trace.advancing, func(i, slot int, number int64) error {
		function := r.trace.FunctionOf(int(r.shape.signatures[i]))
		stream := order.Index(layout.StreamKey{Function: function, Slot: slot, Number: number})
		if stream >= n {
			return fmt.Errorf("stream %d of %d", stream, n)
		}
		x.takes[i] = append(x.takes[i], take{slot, stream})
		values[stream] = wire.AddSat(values[stream], counts[i])
		return nil
	})
	return values, err
}

// length returns how many values a stream has.
func (x *runs) length(stream int) uint64 {
	return x.sums().Before(x.begins[stream+1]-1).Weight - x.sums().Before(x.begins[stream]).Weight
}

// newSums returns the sums of the lengths of runs, and of their jumps.
func (x *runs) newSums() *sums.Sum[int64] {
	return sums.New(sums.Of(x.grammar), jumps{}, func(s sequitur.Symbol) sums.Weighed[int64] {
		return sums.Weighed[int64]{Value: x.of[s].Jump, Weight: x.of[s].Length}
	})
}

// Jumps are a monoid of numbers modulo 2⁶⁴.
type jumps struct{}

func (jumps) Unit() int64                             { return 0 }
func (jumps) Then(a, b int64) (ab int64, seam uint64) { return a + b, 0 }
func (jumps) Times(a int64, n uint64) int64           { return a * int64(n) }

// A runReader reads the values of a stream.
type runReader struct {
	runs *runs
	end  uint64 // of the stream in the grammar
	at   runPlace
	run  progression.Run // at that place, once it is known
	step int64           // from the value before to the next, the same
	next int64           // value
	walk *sequitur.Walker
	left sequitur.Run // of the walk
}

// A runPlace is before a value of a stream.
type runPlace struct {
	run    uint64 // in the grammar
	offset uint64 // values of it before
	before int64  // the first of the run before
	values uint64 // before, in all
}

// reader returns a reader of the stream with a number, from a value on. There must be one if that is not the
// first. It takes as many steps as the grammar of the streams is deep, but for the first.
func (x *runs) reader(number int, value uint64) *runReader {
	r := &runReader{runs: x, end: x.begins[number+1] - 1}
	at := runPlace{run: x.begins[number], before: x.before[number], values: value}
	if value > 0 {
		begin := x.sums().Before(at.run)
		run, _, sum := x.sums().Find(begin.Weight + value)
		at.run, at.offset = run, begin.Weight+value-sum.Weight
		at.before += sum.Value - begin.Value
	}
	r.seek(at)
	return r
}

// seek goes to a place.
func (r *runReader) seek(p runPlace) {
	r.at, r.walk, r.left = p, r.runs.grammar.Walk(p.run), sequitur.Run{}
	r.load()
}

// load reads the run at the place, if there is one.
func (r *runReader) load() {
	if r.run = (progression.Run{}); r.at.run >= r.end {
		return
	}
	if r.left.Count == 0 {
		r.left = r.walk.Next()
	}
	r.run = r.runs.of[r.left.Symbol]
	r.next = r.run.At(r.at.before, r.at.offset)
	r.step = r.run.Step + r.run.Acceleration*int64(r.at.offset)
}

// begins reports whether the next value is the first of a run, or there is none.
func (r *runReader) begins() bool { return r.at.offset == 0 }

// take returns the next value. There must be one.
func (r *runReader) take() int64 {
	v := r.next
	r.advance(1)
	return v
}

// advance goes on by n values of the run.
func (r *runReader) advance(n uint64) {
	r.at.offset += n
	r.at.values += n
	if r.at.offset < r.run.Length {
		if n == 1 {
			r.next += r.step
			r.step += r.run.Acceleration
			return
		}
		r.next = r.run.At(r.at.before, r.at.offset)
		r.step = r.run.Step + r.run.Acceleration*int64(r.at.offset)
		return
	}
	r.at.before += r.run.Jump
	r.at.run++
	r.at.offset = 0
	r.left.Count--
	r.load()
}

// skip goes on by n values.
func (r *runReader) skip(n uint64) {
	for n > 0 {
		some := min(n, r.run.Length-r.at.offset)
		r.advance(some)
		n -= some
	}
}

// same returns how many of the values from a place on, at most n, are those from here on. There must be n.
func (r *runReader) same(p runPlace, n uint64) uint64 {
	from, to := *r, *r
	from.seek(p)
	to.seek(r.at)
	return from.common(&to, n)
}

// common returns how many of the next values of two streams are the same, at most n. There must be n.
func (r *runReader) common(to *runReader, n uint64) uint64 {
	from := r
	done := uint64(0)
	for done < n {
		some := min(from.run.Length-from.at.offset, to.run.Length-to.at.offset, n-done)
		switch {
		case from.next != to.next:
			return done
		case some > 1 && from.step != to.step:
			return done + 1
		case some > 2 && from.run.Acceleration != to.run.Acceleration:
			return done + 2
		}
		from.advance(some)
		to.advance(some)
		done += some
	}
	return done
}
