package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/sequitur"
)

// A nearly is a program whose ranks have nearly the same control flow: in the loops of a rank,
// trip counts differ, some calls are left out and tests fail some times before one succeeds.
type nearly struct {
	seed  uint64
	steps []nearlyStep
}

// A nearlyStep is a call, or a loop with a body.
type nearlyStep struct {
	function int
	trips    int     // at rank 0, 0 for a call
	slope    int     // trips more at each rank
	spread   int     // trips at random besides, or failing tests before the call
	often    float64 // how likely the step is taken
	body     []nearlyStep
}

// drawNearly draws steps of a program.
func drawNearly(t *rapid.T, depth int) []nearlyStep {
	var steps []nearlyStep
	for range rapid.IntRange(1, 4).Draw(t, "steps") {
		s := nearlyStep{function: rapid.IntRange(0, 5).Draw(t, "function"), often: 1}
		if rapid.IntRange(0, 3).Draw(t, "optional") == 0 {
			s.often = rapid.Float64Range(0.1, 0.9).Draw(t, "often")
		}
		if rapid.Bool().Draw(t, "random") {
			s.spread = rapid.IntRange(1, 5).Draw(t, "spread")
		}
		if depth > 0 && rapid.Bool().Draw(t, "loop") {
			s.trips, s.slope = rapid.IntRange(1, 7).Draw(t, "trips"), rapid.IntRange(0, 2).Draw(t, "slope")
			s.body = drawNearly(t, depth-1)
		}
		steps = append(steps, s)
	}
	return steps
}

// part returns what a rank records: its calls have a peer and a count that varies.
func (p nearly) part(rank, ranks int) Part {
	var (
		table  cst.Table
		calls  sequitur.Builder
		random = rand.New(rand.NewPCG(p.seed, uint64(rank)))
		names  = []string{"send", "recv", "wait", "put", "get", "sync", "test"}
	)
	for _, name := range names {
		table.Declare(cst.Function{Name: name, Params: []cst.Param{
			{Name: "peer", Type: cst.Type{Kind: cst.KindRank}}, {Name: "request", Type: cst.HandleOf("request")}}})
	}
	call := func(function int) {
		calls.Append(sequitur.Symbol(table.Intern(function, cst.Rank(int64((rank+function)%ranks)), cst.Handle(int64(random.IntN(1+function))))))
	}
	var run func([]nearlyStep)
	run = func(steps []nearlyStep) {
		for _, s := range steps {
			if random.Float64() > s.often {
				continue
			}
			n := 0
			if s.spread > 0 {
				n = random.IntN(s.spread)
			}
			if s.trips == 0 {
				for range n {
					call(len(names) - 1) // a test that fails
				}
				call(s.function)
				continue
			}
			for range s.trips + s.slope*rank + n {
				run(s.body)
			}
		}
	}
	run(p.steps)
	call(0)
	return Part{Rank: rank, Table: &table, Grammar: calls.Finish()}
}

// nearlyPrograms draws programs whose ranks have nearly the same control flow.
var nearlyPrograms = rapid.Custom(func(t *rapid.T) nearly {
	return nearly{rapid.Uint64().Draw(t, "seed"), drawNearly(t, 1)}
})

// parts returns what the ranks of a run of the program record.
func (p nearly) parts(ranks int) []Part {
	var parts []Part
	for rank := range ranks {
		parts = append(parts, p.part(rank, ranks))
	}
	return parts
}

// TestNearlyEqual merges the parts of programs whose ranks nearly have the same control flow, in
// random order and grouping, and compares the bytes, and every call with what was recorded.
func TestNearlyEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(2, 24).Draw(t, "ranks")
		parts := nearlyPrograms.Draw(t, "program").parts(ranks)
		run := Run{Ranks: ranks}
		var alone []*Accumulator
		for _, part := range parts {
			alone = append(alone, accumulate(t, run, []Part{part}))
		}
		want := write(t, run, parts)
		if got := traceFile(t, mergeAll(t, alone)); !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, %d when all parts are added in order", len(got), len(want))
		}
		checkCalls(t, open(t, want), parts)
	})
}

// TestNearlyForms merges the same programs every time, until a trace had its grammars in blocks
// and another one its shapes as a column: TestNearlyEqual tests these forms too.
func TestNearlyForms(t *testing.T) {
	const ranks, programs = 20, 100
	blocks, columns := false, false
	for seed := range programs {
		parts := nearlyPrograms.Example(seed).parts(ranks)
		flags := accumulate(t, Run{Ranks: ranks}, parts).Flags()
		blocks = blocks || flags&layout.FlagBlocks != 0
		columns = columns || flags&layout.FlagShapes != 0
		if blocks && columns {
			return
		}
	}
	t.Errorf("of %d programs, none was written with blocks (%v) or a column of shapes (%v)", programs, !blocks, !columns)
}
