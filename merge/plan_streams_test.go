package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/sequitur"
)

// pollingFunctions are those of a program that polls: test has a slot after an array, and place
// two pointers of which only both together vary.
var pollingFunctions = []cst.Function{
	{Name: "test", Params: []cst.Param{
		{Name: "requests", Type: cst.ArrayOf(cst.Type{Kind: cst.KindInt})},
		{Name: "index", Type: cst.Type{Kind: cst.KindInt}},
		{Name: "status", Type: cst.Type{Kind: cst.KindStatus}},
	}},
	{Name: "send", Params: []cst.Param{
		{Name: "count", Type: cst.Type{Kind: cst.KindInt}},
		{Name: "dest", Type: cst.Type{Kind: cst.KindRank}},
	}},
	{Name: "place", Params: []cst.Param{
		{Name: "location", Type: cst.Type{Kind: cst.KindPointer}},
		{Name: "address", Type: cst.Type{Kind: cst.KindPointer}},
	}},
	{Name: "step", Params: []cst.Param{{Name: "x", Type: cst.Type{Kind: cst.KindInt}}}},
}

// polling returns the part of a rank that polls, sends what is ready, and notes places of memory.
func polling(rank, rounds int) Part { return waiting(rank, rounds, 0) }

// waiting is polling of a rank that makes a call up to seven times as often before each round.
func waiting(rank, rounds, polls int) Part {
	var table cst.Table
	var b sequitur.Builder
	call := func(f int, values ...cst.Value) {
		b.Append(table.Intern(table.Declare(pollingFunctions[f]), values...))
	}
	requests := func(n int) cst.Value {
		return cst.Array(slices.Repeat([]cst.Value{cst.Int(3)}, n)...)
	}
	for i := range rounds {
		noise := int64(irregular(rank, i))
		b.AppendRun(table.Intern(table.Declare(pollingFunctions[3]), cst.Int(2)), uint64(polls*(1+i*i%7)))
		call(0, requests(2+i%2), cst.Int(int64(i%4)), cst.StatusOf(cst.Status{Source: noise % 15, Tag: 1}))
		call(1, cst.Int(noise/16%200), cst.Rank(int64(rank^1)))
		if i%5 == 0 {
			p := cst.PointerTo(cst.Pointer{Segment: 2, Displacement: int64(i) * 192})
			call(2, p, p)
		}
		call(3, cst.Int(noise/4096%2))
	}
	return Part{Rank: rank, Table: &table, Grammar: b.Finish()}
}

// TestStretchInBlocks checks which arguments have streams in blocks, and that the calls are the same in
// whatever order the parts come.
func TestStretchInBlocks(t *testing.T) {
	tier.SlowRace(t)
	const ranks = 4
	var parts []Part
	for rank := range ranks {
		parts = append(parts, polling(rank, 600))
	}
	file := write(t, Run{Ranks: ranks}, parts)
	checkCalls(t, open(t, file), parts)
	table := tableOf(t, file)
	if table.Streams == nil || !table.Streams.InBlocks {
		t.Fatal("no streams in blocks")
	}
	for _, want := range []struct {
		name     string
		function int
		slot     int
	}{{"a slot after an array", 0, 1}, {"a count", 1, 0}, {"one of two pointers", 2, 1}, {"the other", 2, 4}} {
		name := pollingFunctions[want.function].Name
		found := slices.ContainsFunc(table.Streams.Arguments, func(e layout.StreamArgument) bool {
			return open(t, file).Functions()[e.Function].Name == name && e.Slot == want.slot
		})
		if !found {
			t.Errorf("%s has no streams: %v", want.name, table.Streams.Arguments)
		}
	}
	slices.Reverse(parts)
	if again := write(t, Run{Ranks: ranks}, parts); !bytes.Equal(again, file) {
		t.Error("other bytes of parts in another order")
	}
}

// TestStretchInBlocksSmaller checks that streams in blocks make a trace that polls much smaller: what
// its arguments say is 15 sources, 200 counts and a bit for each round.
func TestStretchInBlocksSmaller(t *testing.T) {
	const ranks, rounds = 4, 2000
	var parts []Part
	for rank := range ranks {
		parts = append(parts, polling(rank, rounds))
	}
	file := write(t, Run{Ranks: ranks}, parts)
	const bits = 3.91 + 7.65 + 1
	if most := 1.05*bits*ranks*rounds/8 + 1000; float64(len(file)) > most {
		t.Errorf("%d bytes, more than %.0f", len(file), most)
	}
}

// TestLongPolls checks that what varies is as small where a program polls long, and its calls are many more than
// the symbols of its grammar.
func TestLongPolls(t *testing.T) {
	const ranks, rounds = 2, 600
	var last int
	for _, polls := range []int{1, 100} {
		var parts []Part
		for rank := range ranks {
			parts = append(parts, waiting(rank, rounds, polls))
		}
		file := write(t, Run{Ranks: ranks}, parts)
		checkCalls(t, open(t, file), parts)
		if s := tableOf(t, file).Streams; s == nil || !s.InBlocks {
			t.Errorf("%d polls: no streams in blocks", polls)
		}
		if last > 0 && len(file) > last+last/50 {
			t.Errorf("%d polls: %d bytes, %d if there are fewer", polls, len(file), last)
		}
		last = len(file)
	}
}

// TestManyVaryingCalls checks that arguments of a function are not varying where its calls are many more than the
// symbols of the grammar, as each of the calls would have a value.
func TestManyVaryingCalls(t *testing.T) {
	number := cst.Type{Kind: cst.KindInt}
	for _, test := range []struct {
		calls      uint64
		candidates int
	}{{1, 1}, {50, 1}, {100, 0}} {
		var table cst.Table
		var b sequitur.Builder
		for i := range 2000 {
			value := cst.Int(int64(irregular(i, 0) % 40))
			b.AppendRun(table.Intern(table.Declare(numbered("send", number)), value), test.calls)
			b.Append(table.Intern(table.Declare(numbered("step", number)), cst.Int(1)))
		}
		var a Accumulator
		if err := a.Add(Part{Table: &table, Grammar: b.Finish()}); err != nil {
			t.Fatal(err)
		}
		if n := a.Candidates(); n != test.candidates {
			t.Errorf("%d calls at a time: %d arguments may be varying, want %d", test.calls, n, test.candidates)
		}
	}
}

// TestTrialsLeaveBudget checks that trials of streams with a sample leave to the budget what writing all shapes
// with them takes.
func TestTrialsLeaveBudget(t *testing.T) {
	tier.SlowRace(t)
	var a Accumulator
	for rank := range 6 {
		if err := a.Add(polling(rank, 600)); err != nil {
			t.Fatal(err)
		}
	}
	found := 0
	for budget := 80_000; budget < 480_000; budget += 20_000 {
		chosen, made := a.StreamsWithin(budget)
		if chosen && !made {
			t.Errorf("a budget of %d is gone when it is known which arguments have streams", budget)
		}
		if chosen {
			found++
		}
	}
	if found == 0 {
		t.Error("no budget is enough for streams")
	}
}

// TestTrialsLeaveBlocks checks that trials of streams leave what the blocks of the best plan known need where that
// is enough for these, and that they go on where that can be made as well, or cannot be made in any case.
func TestTrialsLeaveBlocks(t *testing.T) {
	tier.SlowRace(t)
	for _, test := range []struct{ polls, budget, most int }{
		{0, 80_000, 8_000},  // 8,998 bytes without blocks
		{8, 240_000, 8_000}, // 9,492 if trials leave nothing
		{8, 320_000, 8_000},
		{0, 360_000, 6_500}, // 7,664 with fewer streams, as what is kept for the plan known is too much
		{0, 400_000, 6_500},
	} {
		var a Accumulator
		for rank := range 6 {
			if err := a.Add(waiting(rank, 600, test.polls)); err != nil {
				t.Fatal(err)
			}
		}
		var file bytes.Buffer
		if err := a.WriteWithin(&file, test.budget); err != nil {
			t.Fatal(err)
		}
		if file.Len() > test.most {
			t.Errorf("a budget of %d: %d bytes, want at most %d", test.budget, file.Len(), test.most)
		}
	}
}

// TestClearlyStreams checks that a trace takes hardly more where it is clear that streams in blocks make it
// smaller, and nothing else is tried, and that this is not clear of calls that need none.
func TestClearlyStreams(t *testing.T) {
	tier.SlowRace(t)
	for _, test := range []struct {
		name    string
		part    func(rank int) Part
		clearly bool
	}{
		{"polling", func(rank int) Part { return polling(rank, 600) }, true},
		{"steps", func(rank int) Part {
			return uniquePart(rank, 600, func(_, i int) (tag, count int64) { return int64(i % 2), 4 })
		}, false},
	} {
		var a Accumulator
		for rank := range 4 {
			if err := a.Add(test.part(rank)); err != nil {
				t.Fatal(err)
			}
		}
		all, clearly := a.SizeOfAll()
		if clearly != test.clearly {
			t.Errorf("%s: clear: %v", test.name, clearly)
		}
		if n := a.SizeWithoutSlices(); n > all+all/100 {
			t.Errorf("%s: %d bytes, %d where all is tried", test.name, n, all)
		}
	}
}

// TestPollingPrograms checks every call of programs with some of these functions in any order, and that they are
// written alike on all numbers of processors.
func TestPollingPrograms(t *testing.T) {
	tier.SlowRace(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(1, 3).Draw(t, "ranks")
		var parts []Part
		for rank := range ranks {
			p := polling(rank, rapid.IntRange(20, 300).Draw(t, "rounds"))
			parts = append(parts, p)
		}
		var a, b Accumulator
		for i, p := range parts {
			if err := a.Add(p); err != nil {
				t.Fatal(err)
			}
			if err := b.Add(parts[ranks-1-i]); err != nil {
				t.Fatal(err)
			}
		}
		var x, y bytes.Buffer
		if err := a.Write(&x); err != nil {
			t.Fatal(err)
		}
		runtime.GOMAXPROCS(rapid.IntRange(1, 5).Draw(t, "processors"))
		if err := b.Write(&y); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(x.Bytes(), y.Bytes()) {
			t.Fatal("other bytes of parts in another order, or on other processors")
		}
		checkCalls(t, open(t, x.Bytes()), parts)
	})
}
