// Package skeleton finds what nearly equal programs have in common. It takes the
// grammars of ranks that call much the same, with other trip counts, or with calls that
// some iterations or ranks leave out, and returns one program: loops with their trip
// counts, and calls and loops that are optional.
//
// Of each program alone, the loops are those of its grammar, whatever their trip counts. Then it looks for
// calls that come the same number of times, one after the other: iterations of a loop with something optional
// between them. As what is optional hides loops of the grammar and makes others, it tries several ways, and
// takes the one with the fewest differences. Programs are put together by a longest common subsequence of
// their calls and loops, as are iterations, and loops if they have half of their calls in common. Calls that
// the caller says are of one kind count as the same call, and so are a run where they follow each other,
// which makes programs short that differ in the arguments of most calls.
//
// # Limits
//
// It takes time in proportion to the symbols of the grammars with the rules that are no
// loops written out, times a band in which programs are aligned. The loops of several programs are found at
// the same time, one on each processor. What takes more than [Options] allow is [ErrLimit], also if the first
// programs say so by what they take for each symbol.
//
// # Source
//
// Loops that match in part are those of ScalaTrace: X. Wu and F. Mueller, "Varying and
// Scalable Tracing and Accurate Replay of Non-Deterministic Events", ICS 2013. This
// package departs from it in aligning grammars after the run, not events during it.
package skeleton

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// ErrLimit is the error of programs that differ too much for their size.
var ErrLimit = errors.New("skeleton: the programs are too long to be compared")

// A Program is what some ranks call.
type Program struct {
	Ranks   rankenc.Set
	Grammar *sequitur.Grammar
}

// A Likeness is how much two calls are alike.
type Likeness int

const (
	Different Likeness = iota
	OneValue           // one argument differs, which is no rank
	Peers              // only ranks among the arguments differ: the same call, if of different programs
	Same               // the same call
)

// Options say what calls are alike, and how much is done.
type Options struct {
	// Kind returns a call that stands for all of its kind: calls of one kind are the same call
	// to whoever looks for loops. Nil means that each is of its own kind.
	// It is called for each call before anything else is.
	Kind func(sequitur.Symbol) sequitur.Symbol

	// Compare tells how much two calls are alike that are not of one kind. Nil means that none are. Several
	// goroutines may call it at once.
	Compare func(a, b sequitur.Symbol) Likeness

	// MaxNodes is how many calls and loops a program may have with rules written out, and
	// MaxWork how many pairs of these are compared altogether. Zero means 1<<16 and 1<<26.
	MaxNodes, MaxWork int

	Progress func(programs int) // is called with how many are done, unless it is nil
}

// A Skeleton is one program with differences.
type Skeleton struct{ Body []*Node }

// A Node is a call or a loop, which may be optional.
type Node struct {
	Body  []*Node // of a loop; nil for a call
	Times []Times // of the programs that have the node, in ascending order
	Calls []Calls // by program and call, unless it is a loop

	kind   sequitur.Symbol // of calls
	steady int             // of a call, how much use it is to align others by
	class  int             // of nodes of one program that are equal but for optional parts and trip counts
}

// Times say how often a rank of a program comes to a node.
type Times struct {
	Program  int
	In       uint64 // iterations of the loop around it, 1 if there is none, that have it
	Total    uint64 // trip counts of all these, or how often the call is made in them
	Min, Max uint64 // of them
}

// Calls are the calls that a rank of a program makes at a node.
type Calls struct {
	Program int
	Call    sequitur.Symbol
	Count   uint64
}

// IsLoop reports whether n is a loop.
func (n *Node) IsLoop() bool { return n.Calls == nil }

// of returns the times of a program, with In being 0 if it does not have n.
func (n *Node) of(program int) Times {
	i, ok := findProgram(n.Times, program)
	if !ok {
		return Times{Program: program}
	}
	return n.Times[i]
}

func findProgram(list []Times, program int) (int, bool) {
	return slices.BinarySearchFunc(list, program, func(t Times, p int) int { return cmp.Compare(t.Program, p) })
}

// fewWork is how much is done at most to find loops in another way than the first.
const fewWork = 1 << 23

// Make returns what programs have in common. Of several ways to find the loops, it takes the one
// with fewer calls, loops and differences.
func Make(ctx context.Context, programs []Program, o Options) (*Skeleton, error) {
	if o.MaxNodes == 0 {
		o.MaxNodes = 1 << 16
	}
	if o.MaxWork == 0 {
		o.MaxWork = 1 << 26
	}
	kinds := make(map[sequitur.Symbol]sequitur.Symbol)
	for _, p := range programs {
		for s := range p.Grammar.Occurrences() {
			if _, known := kinds[s]; !known {
				if kinds[s] = s; o.Kind != nil {
					kinds[s] = o.Kind(s)
				}
			}
		}
	}
	o.Kind = func(s sequitur.Symbol) sequitur.Symbol { return kinds[s] }
	var best *Skeleton
	var failed error
	least := math.MaxInt
	ways := []how{mostly, evenly, inner}
	for i, how := range ways {
		if best != nil { // others are for short programs: in long ones, the first is the shortest
			o.MaxWork = min(o.MaxWork, fewWork)
		}
		s, err := o.make(ctx, programs, how, func(n int) int { return (i*len(programs) + n) / len(ways) })
		if err != nil {
			failed = err
			continue
		}
		if sum := cost(s.Body, once(len(programs))); sum < least {
			best, least = s, sum
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if best == nil {
		return nil, failed
	}
	return best, nil
}

// once says that each of n programs runs once.
func once(n int) map[int]uint64 {
	of := make(map[int]uint64, n)
	for p := range n {
		of[p] = 1
	}
	return of
}

// trips returns the trip counts of all iterations of n, by program.
func (n *Node) trips() map[int]uint64 {
	trips := make(map[int]uint64, len(n.Times))
	for _, t := range n.Times {
		trips[t.Program] = t.Total
	}
	return trips
}

// cost returns how much there is to read in a body that each program comes to so often. It
// costs most not to know in which iterations something is.
func cost(body []*Node, of map[int]uint64) int {
	const unknown = 4
	sum := 0
	for _, n := range body {
		optional, differ := false, len(n.Times) < len(of)
		for _, t := range n.Times {
			optional = optional || t.In < of[t.Program]
			differ = differ || t.Min != n.Times[0].Max || t.Max != n.Times[0].Max
		}
		sum++
		if optional {
			sum += unknown
		}
		if differ {
			sum++
		}
		if n.IsLoop() {
			sum += cost(n.Body, n.trips())
		}
	}
	return sum
}

// make makes a skeleton of programs whose loops are found in one way.
func (o *Options) make(ctx context.Context, programs []Program, how how, done func(int) int) (*Skeleton, error) {
	for _, p := range programs {
		if writtenLen(p.Grammar, how) > uint64(o.MaxNodes) {
			return nil, ErrLimit
		}
	}
	left := new(atomic.Int64)
	left.Store(int64(o.MaxWork))
	across := aligner{work: &work{ctx: ctx, left: left, most: o.MaxWork}, compare: o.Compare}
	expected := o.expectation(programs)
	var s Skeleton
	var bodies []wholeProgram // of some programs, whose loops are found at the same time
	for number := range programs {
		if len(bodies) == 0 {
			bodies = o.wholes(ctx, programs[number:], number, expected.first(), how, left)
		}
		p := bodies[0]
		bodies = bodies[1:]
		if err := cmp.Or(p.err, expected.add(p.done)); err != nil {
			return nil, err
		}
		body := p.body
		if number > 0 {
			loops := across.loopsOf(s.Body, body)
			s.Body, body = across.wrapped(s.Body, loops), across.wrapped(body, loops)
			body = across.merge(s.Body, body, across.align(s.Body, body))
		}
		if s.Body = body; across.err != nil {
			return nil, across.err
		}
		if o.Progress != nil {
			o.Progress(done(number + 1))
		}
	}
	s.Body = splice(s.Body, once(len(programs)))
	return &s, nil
}

// A wholeProgram is a program with the loops that were found in it, and how much was done for that.
type wholeProgram struct {
	body []*Node
	done int
	err  error
}

// wholes finds the loops of the first programs, one of them on each processor. Number is that of
// the first, and what may be done for the first of all is limited.
func (o *Options) wholes(ctx context.Context, programs []Program, number, first int, how how,
	left *atomic.Int64) []wholeProgram {
	found := make([]wholeProgram, min(len(programs), runtime.GOMAXPROCS(0)))
	var all sync.WaitGroup
	for i := range found {
		all.Go(func() {
			w := &work{ctx: ctx, left: left, most: o.MaxWork}
			if number+i == 0 {
				w.most = first
			}
			f := folder{program: number + i, how: how, nodes: o.MaxNodes, kind: o.Kind,
				align: aligner{work: w, compare: o.Compare, within: true}, classes: make(map[string]int)}
			found[i].body = f.whole(programs[i].Grammar)
			found[i].done, found[i].err = w.done, w.err
		})
	}
	all.Wait()
	return found
}

// An expectation is how much is to be done for all programs, by what was done for the first ones.
type expectation struct {
	most    float64 // what may be done for a symbol of the grammars of programs
	symbols []int   // of programs
	seen    int     // symbols of those that are done
	done    int
}

// beyond is how many times as much as may be done is to be done, for all that is known, if programs are not
// looked at any further.
const beyond = 1.0625

func (o *Options) expectation(programs []Program) *expectation {
	e, sum := new(expectation), 0
	for _, p := range programs {
		e.symbols = append(e.symbols, p.Grammar.Symbols())
		sum += p.Grammar.Symbols()
	}
	e.most = beyond * float64(o.MaxWork) / float64(max(sum, 1))
	return e
}

// first returns how much may be done for the first program.
func (e *expectation) first() int { return int(e.most * float64(e.symbols[0])) }

// add adds what was done for the next program, and returns [ErrLimit] if all will take too much.
func (e *expectation) add(done int) error {
	e.seen, e.done, e.symbols = e.seen+e.symbols[0], e.done+done, e.symbols[1:]
	if float64(e.done) > e.most*float64(e.seen) {
		return ErrLimit
	}
	return nil
}

// work is what is done, and what all may do yet.
type work struct {
	ctx  context.Context
	left *atomic.Int64
	done int
	most int // that may be done
	err  error
}

// do takes n steps off, and reports whether that is possible.
func (w *work) do(n int) bool {
	if w.err != nil {
		return false
	}
	w.done += n
	if w.left.Add(int64(-n)) < 0 || w.done > w.most {
		w.err = ErrLimit
	} else {
		w.err = w.ctx.Err()
	}
	return w.err == nil
}

// add adds what ranks do at another node in other iterations, or in other programs.
func (n *Node) add(m *Node) {
	for _, t := range m.Times {
		i, ok := findProgram(n.Times, t.Program)
		if !ok {
			n.Times = slices.Insert(n.Times, i, t)
			continue
		}
		of := &n.Times[i]
		of.In, of.Total = wire.AddSat(of.In, t.In), wire.AddSat(of.Total, t.Total)
		of.Min, of.Max = min(of.Min, t.Min), max(of.Max, t.Max)
	}
	n.addCalls(m.Calls)
}

func (n *Node) addCalls(calls []Calls) {
	for _, c := range calls {
		i, ok := slices.BinarySearchFunc(n.Calls, c, func(a, b Calls) int {
			return cmp.Or(cmp.Compare(a.Program, b.Program), cmp.Compare(a.Call, b.Call))
		})
		if ok {
			n.Calls[i].Count = wire.AddSat(n.Calls[i].Count, c.Count)
		} else {
			n.Calls = slices.Insert(n.Calls, i, c)
		}
	}
}

// splice replaces loops that always go round once by what is in them. Of says how often
// the body as a whole comes.
func splice(body []*Node, of map[int]uint64) []*Node {
	var list []*Node
	for _, n := range body {
		if !n.IsLoop() {
			list = append(list, n)
			continue
		}
		once := len(n.Times) == len(of)
		for _, t := range n.Times {
			once = once && t.Max == 1 && t.In == of[t.Program]
		}
		if n.Body = splice(n.Body, n.trips()); once {
			list = append(list, n.Body...)
		} else {
			list = append(list, n)
		}
	}
	return list
}
