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
// loops written out, times a band in which programs are aligned. What would take more
// than [Options] allow is [ErrLimit].
//
// # Source
//
// Loops that match in part are those of ScalaTrace: X. Wu and F. Mueller, "Elastic and
// Scalable Tracing and Accurate Replay of Non-Deterministic Events", ICS 2013. This
// package departs from it in aligning grammars after the run, not events during it.
package skeleton

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

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
	Kind func(sequitur.Symbol) sequitur.Symbol

	// Compare tells how much two calls are alike that are not of one kind. Nil means that none are.
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

// Make returns what programs have in common. Of several ways to find the loops, it takes the one
// with fewer calls, loops and differences.
func Make(ctx context.Context, programs []Program, o Options) (*Skeleton, error) {
	if o.MaxNodes == 0 {
		o.MaxNodes = 1 << 16
	}
	if o.MaxWork == 0 {
		o.MaxWork = 1 << 26
	}
	if o.Kind == nil {
		o.Kind = func(s sequitur.Symbol) sequitur.Symbol { return s }
	}
	var best *Skeleton
	var failed error
	least := math.MaxInt
	ways := []how{mostly, evenly, inner}
	for i, how := range ways {
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
	work := &work{ctx: ctx, left: o.MaxWork}
	across := aligner{work: work, compare: o.Compare}
	var s Skeleton
	for number, p := range programs {
		f := folder{program: number, how: how, nodes: o.MaxNodes, kind: o.Kind, align: aligner{work: work, compare: o.Compare, within: true}, classes: make(map[string]int)}
		body := f.whole(p.Grammar)
		if number > 0 && work.err == nil {
			loops := across.loopsOf(s.Body, body)
			s.Body, body = across.wrapped(s.Body, loops), across.wrapped(body, loops)
			body = across.merge(s.Body, body, across.align(s.Body, body))
		}
		if s.Body = body; work.err != nil {
			return nil, work.err
		}
		if o.Progress != nil {
			o.Progress(done(number + 1))
		}
	}
	s.Body = splice(s.Body, once(len(programs)))
	return &s, nil
}

// work is what is left to do.
type work struct {
	ctx  context.Context
	left int
	err  error
}

// do takes n steps off, and reports whether that is possible.
func (w *work) do(n int) bool {
	if w.err != nil {
		return false
	}
	if w.left -= n; w.left < 0 {
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
