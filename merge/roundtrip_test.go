package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/sequitur"
)

// testRoundTrip writes the parts of a program as a trace and as a part file, and
// compares what is read, in any order, with what was written.
func testRoundTrip(t *rapid.T) {
	p := genProgram.Draw(t, "program")
	run := Run{Ranks: p.ranks + rapid.IntRange(0, 3).Draw(t, "ranks beyond"),
		Source: rapid.String().Draw(t, "source"), Names: drawNames(t)}
	var parts []Part
	for _, part := range p.parts() {
		switch rapid.IntRange(0, 9).Draw(t, "silent") {
		case 0: // no part
			continue
		case 1: // a part without calls
			part.Grammar = new(sequitur.Grammar)
		}
		parts = append(parts, disguise(t, part, rapid.Bool().Draw(t, "unused functions")))
	}
	if rapid.Bool().Draw(t, "interleaved") {
		run.Interleaving = drawOrder(t, parts)
	}
	if rapid.Bool().Draw(t, "places of handles") {
		run.Names = namesOfHandles(parts)
	}
	file := write(t, run, parts)
	trace := open(t, file)
	checkRun(t, trace.Run(), run)
	shuffled := rapid.Permutation(slices.Clone(parts)).Draw(t, "order")
	checkCalls(t, trace, shuffled)

	read, err := readAll(trace)
	if err != nil {
		t.Fatal(err)
	}
	checkCalls(t, open(t, write(t, trace.Run(), read)), parts)

	a := accumulate(t, run, shuffled)
	trace = open(t, partFile(t, a))
	checkRun(t, trace.Run(), run)
	checkCalls(t, trace, parts)
}

func TestRoundTrip(t *testing.T) { rapid.Check(t, testRoundTrip) }

// accumulate adds parts to an accumulator.
func accumulate(t rapid.TB, run Run, parts []Part) *Accumulator {
	t.Helper()
	a := new(Accumulator)
	if err := a.Describe(run); err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if err := a.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// checkRun compares runs. One that has an interleaving that says the order of the
// ranks has none.
func checkRun(t rapid.TB, got, want Run) {
	t.Helper()
	if g := want.Interleaving; g != nil && IsRankByRank(g) {
		want.Interleaving = nil
	}
	same := (got.Interleaving == nil) == (want.Interleaving == nil)
	if same && want.Interleaving != nil {
		same = got.Interleaving.Equal(want.Interleaving)
	}
	if same = same && slices.Equal(got.Names, written(want.Names)); !same || got.Ranks != want.Ranks ||
		got.Source != want.Source {
		t.Fatalf("run %+v, want %+v", got, want)
	}
}

// disguise returns a part of the same calls with another table: of functions and
// signatures in another order, and maybe of some that no call has.
func disguise(t *rapid.T, p Part, unused bool) Part {
	var table cst.Table
	declared := slices.Clone(p.Table.Functions())
	if unused {
		declared = append(declared, cst.Function{Name: "send"},
			cst.Function{Name: "unused", Params: []cst.Param{{Name: "x", Type: cst.Type{Kind: cst.KindInt}}}})
	}
	declared = rapid.Permutation(declared).Draw(t, "functions")
	for _, f := range declared {
		n := table.Declare(f)
		if f.Name == "unused" {
			table.Intern(n, cst.Int(7))
		}
	}
	terminals := make([]uint32, p.Table.Len())
	for i := range terminals {
		terminals[i] = uint32(i)
	}
	to := make([]sequitur.Symbol, len(terminals))
	for _, s := range rapid.Permutation(terminals).Draw(t, "signatures") {
		fn, args := p.Table.Signature(s)
		to[s] = table.Intern(table.Declare(p.Table.Functions()[fn]), args...)
	}
	p.Table = &table
	p.Grammar = p.Grammar.Rewrite(func(s sequitur.Symbol) sequitur.Symbol { return to[s] })
	return p
}

// drawOrder draws an interleaving of the calls of parts: in blocks, which ranks
// take in turn.
func drawOrder(t *rapid.T, parts []Part) *sequitur.Grammar {
	block := rapid.SampledFrom([]uint64{1, 2, 7, 1 << 40}).Draw(t, "block")
	list := rapid.Permutation(slices.Clone(parts)).Draw(t, "turns")
	left := make([]uint64, len(list))
	most := uint64(0)
	for i, p := range list {
		left[i] = p.Grammar.Len()
		most = max(most, left[i])
	}
	var b sequitur.Builder
	for n := uint64(0); n < most; n += block {
		for i, p := range list {
			k := min(block, left[i])
			b.AppendRun(sequitur.Symbol(p.Rank), k)
			left[i] -= k
		}
	}
	return b.Finish()
}

// TestTables checks that a trace depends on what ranks called, not on the order
// in which they declared it.
func TestTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProgram.Draw(t, "program")
		var disguised []Part
		for _, p := range p.parts() {
			disguised = append(disguised, disguise(t, p, false))
		}
		run := Run{Ranks: p.ranks}
		if want, got := write(t, run, p.parts()), write(t, run, disguised); !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, %d without a disguise", len(got), len(want))
		}
	})
}

// TestFunctionsOfOneName checks that functions of one name are told apart.
func TestFunctionsOfOneName(t *testing.T) {
	var parts []Part
	for rank := range 6 {
		var table cst.Table
		var g sequitur.Builder
		for i := range 3 {
			f := cst.Function{Name: "f",
				Params: []cst.Param{{Name: fmt.Sprint("p", (i+rank)%3), Type: cst.Type{Kind: cst.KindInt}}}}
			g.Append(table.Intern(table.Declare(f), cst.Int(1)))
		}
		parts = append(parts, Part{Rank: rank, Table: &table, Grammar: g.Finish()})
	}
	trace := open(t, write(t, Run{Ranks: 6}, parts))
	checkCalls(t, trace, parts)
	if trace.Shapes() != 3 || len(trace.Functions()) != 3 {
		t.Errorf("%d shapes of %d functions, want 3 of 3", trace.Shapes(), len(trace.Functions()))
	}
}
