package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"fmt"
	"math"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/sequitur"
)

// An spmd is a program that every rank runs.
type spmd struct {
	ranks  int
	body   []statement
	groups map[GroupHandle]func(rank int) Group
}

// A statement is a call, a loop or a branch on the rank.
type statement struct {
	function cst.Function
	args     []argument
	body     []statement
	loops    func(rank int) int // nil if there is no body
}

// An argument is the value of one in the i-th call of a rank.
type argument func(rank, call int) cst.Value

// part returns what a rank records.
func (p spmd) part(rank int) Part {
	var (
		table   cst.Table
		grammar sequitur.Builder
		calls   int
		run     func([]statement)
	)
	run = func(body []statement) {
		for _, s := range body {
			if s.loops != nil {
				for range s.loops(rank) {
					run(s.body)
				}
				continue
			}
			var args []cst.Value
			for _, a := range s.args {
				args = append(args, a(rank, calls))
			}
			calls++
			grammar.Append(table.Intern(table.Declare(s.function), args...))
		}
	}
	run(p.body)
	part := Part{Rank: rank, Table: &table, Grammar: grammar.Finish()}
	for h, of := range p.groups {
		if part.Groups == nil {
			part.Groups = make(map[GroupHandle]Group)
		}
		part.Groups[h] = of(rank)
	}
	return part
}

func (p spmd) parts() []Part {
	var parts []Part
	for rank := range p.ranks {
		parts = append(parts, p.part(rank))
	}
	return parts
}

// genProgram draws programs with loops, branches on the rank, peers by
// expressions of the rank, counts that vary, and noise.
var genProgram = rapid.Custom(func(t *rapid.T) spmd {
	p := spmd{ranks: rapid.IntRange(1, 24).Draw(t, "ranks")}
	p.body = drawBody(t, p.ranks, 3)
	if rapid.Bool().Draw(t, "groups") {
		p.groups = make(map[GroupHandle]func(int) Group)
		for h := range int64(4) {
			p.groups[GroupHandle{Class: "comm", Value: h}] = drawGroup(t, p.ranks)
		}
	}
	return p
})

// drawGroup draws what ranks are in groups of which each rank is in one.
func drawGroup(t *rapid.T, ranks int) func(rank int) Group {
	number := drawNumber(t, ranks)
	colors := rapid.Uint64Range(1, 4).Draw(t, "colors")
	color := func(rank int) uint64 { return uint64(number(rank, 0)) % colors }
	backwards := rapid.Bool().Draw(t, "backwards")
	return func(rank int) Group {
		var g Group
		for r := range ranks {
			if color(r) == color(rank) {
				if g.Size++; (r < rank) != backwards && r != rank {
					g.Rank++
				}
			}
		}
		return g
	}
}

func drawBody(t *rapid.T, ranks, depth int) []statement {
	var body []statement
	for range rapid.IntRange(1, 4).Draw(t, "statements") {
		kind := rapid.IntRange(0, 6).Draw(t, "kind")
		if depth == 0 || kind < 3 {
			body = append(body, drawCall(t, ranks))
			continue
		}
		if kind == 6 {
			body = append(body, drawNoise(t))
			continue
		}
		s := statement{body: drawBody(t, ranks, depth-1)}
		n := rapid.IntRange(1, 5).Draw(t, "times")
		switch kind {
		case 3:
			s.loops = func(int) int { return n }
		case 4:
			s.loops = func(rank int) int { return min(1, rank%n) }
		case 5:
			s.loops = func(rank int) int { return rank % n }
		}
		body = append(body, s)
	}
	return body
}

// drawNoise draws a loop of calls with arguments that vary without a pattern: of
// these, an accumulator makes streams.
func drawNoise(t *rapid.T) statement {
	rounds := rapid.IntRange(20, 60).Draw(t, "rounds")
	seed := rapid.Uint64Range(1, 1000).Draw(t, "seed")
	perRank := rapid.IntRange(1, 3).Draw(t, "seeds")
	noise := func(rank, call int) uint64 {
		x := (uint64(call) + seed*uint64(1+rank%perRank)) * 0x9e3779b97f4a7c15
		return (x ^ x>>31) * 0xd6e8feb86659fd93 >> 40
	}
	f := cst.Function{Name: "compute", Params: []cst.Param{
		{Name: "amount", Type: cst.Type{Kind: cst.KindFloat}}, {Name: "tag", Type: cst.Type{Kind: cst.KindTag}},
		{Name: "file", Type: cst.Type{Kind: cst.KindString}},
	}}
	return statement{loops: func(int) int { return rounds }, body: []statement{{function: f, args: []argument{
		func(rank, call int) cst.Value { return cst.Float(float64(noise(rank, call)) / float64(1+seed%2)) },
		func(rank, call int) cst.Value { return cst.Tag(int64(noise(rank, call) % seed)) },
		func(int, int) cst.Value { return cst.String("a.c") },
	}}}}
}

func drawCall(t *rapid.T, ranks int) statement {
	types := []cst.Type{
		{Kind: cst.KindInt}, {Kind: cst.KindRank}, {Kind: cst.KindTag}, {Kind: cst.KindFloat},
		{Kind: cst.KindString}, {Kind: cst.KindBytes},
		{Kind: cst.KindPointer}, {Kind: cst.KindStatus}, cst.HandleOf("comm"), cst.ArrayOf(cst.Type{Kind: cst.KindInt}),
		cst.ArrayOf(cst.Type{Kind: cst.KindStatus}), cst.ArrayOf(cst.ArrayOf(cst.Type{Kind: cst.KindString})),
	}
	s := statement{function: cst.Function{Name: rapid.SampledFrom([]string{"send", "recv", "wait"}).Draw(t, "name")}}
	for i := range rapid.IntRange(0, 3).Draw(t, "params") {
		typ := rapid.SampledFrom(types).Draw(t, "type")
		s.function.Params = append(s.function.Params, cst.Param{Name: fmt.Sprint("p", i), Type: typ})
		number := drawNumber(t, ranks)
		s.args = append(s.args, func(rank, call int) cst.Value { return valueOf(typ, number(rank, call)) })
	}
	if rapid.IntRange(0, 2).Draw(t, "site") == 0 {
		s.function.Params = append(s.function.Params, layout.Site)
		s.args = append(s.args, drawSite(t, ranks))
	}
	return s
}

// drawSite draws sites of several places, or of one with what leads there.
func drawSite(t *rapid.T, ranks int) argument {
	number := drawNumber(t, ranks)
	if rapid.Bool().Draw(t, "places") {
		return func(rank, call int) cst.Value { return cst.Handle(number(rank, call)) }
	}
	place := rapid.Int64Range(0, 3).Draw(t, "place")
	return func(rank, call int) cst.Value {
		return cst.Handle(layout.PathBit | place<<layout.PathBits | number(rank, call)&(1<<layout.PathBits-1))
	}
}

// drawNumber draws a number that depends on the rank, and on how many calls it
// made before.
func drawNumber(t *rapid.T, ranks int) func(rank, call int) int64 {
	c := rapid.Int64Range(-3, 300).Draw(t, "c")
	m := rapid.IntRange(1, 4).Draw(t, "m")
	return []func(rank, call int) int64{
		func(int, int) int64 { return c },
		func(rank, _ int) int64 { return int64(rank) + c },
		func(rank, _ int) int64 { return (int64(rank) + c) % int64(ranks) },
		func(rank, _ int) int64 { return int64(rank) ^ 1 },
		func(rank, _ int) int64 { return int64(rank*7919%101) * c },
		func(_, call int) int64 { return int64(call % m) },
		func(rank, call int) int64 { return int64((rank + call) % m) },
		func(rank, call int) int64 { return int64(rank*31+call*17) * 2654435761 % 97 },
		func(rank, call int) int64 { return math.MaxInt64 - int64(rank)*math.MaxInt64/2 + int64(call/5) },
		func(rank, call int) int64 { return []int64{math.MinInt64, -1, 0, math.MaxInt64}[(rank+call)%4] },
	}[rapid.IntRange(0, 9).Draw(t, "number")]
}

// valueOf returns a value of a type that goes with a number.
func valueOf(t cst.Type, v int64) cst.Value {
	switch t.Kind {
	case cst.KindRank:
		return cst.Rank(v)
	case cst.KindTag:
		return cst.Tag(v)
	case cst.KindHandle:
		if v > -1<<20 && v < 1<<20 {
			v %= 6 // of which there are groups
		}
		return cst.Handle(v)
	case cst.KindFloat:
		return cst.Float(floatOf(v))
	case cst.KindString:
		return cst.String(fmt.Sprint("file.", v))
	case cst.KindBytes:
		return cst.Bytes([]byte{byte(v), byte(v >> 8)})
	case cst.KindPointer:
		return cst.PointerTo(cst.Pointer{Segment: v, Displacement: 8 * v})
	case cst.KindStatus:
		return cst.StatusOf(cst.Status{Source: v, Tag: -v})
	case cst.KindArray:
		elems := make([]cst.Value, uint64(v)%5)
		for i := range elems {
			elems[i] = valueOf(*t.Elem, v+int64(i))
		}
		return cst.Array(elems...)
	}
	return cst.Int(v)
}

// floatOf returns a number that goes with another, now and then one of those
// that are easy to lose.
func floatOf(v int64) float64 {
	switch v % 7 {
	case 3:
		return float64(v)
	case 4:
		return math.Float64frombits(0x7ff8_0000_0000_0000 | uint64(v)) // NaNs that differ
	case 5:
		return math.Inf(1)
	case 6:
		return math.Copysign(0, -1)
	}
	return float64(v) / 3
}
