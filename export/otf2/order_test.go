package otf2

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	archive "github.com/reprise-trace/reprise/mpi/otf2"
)

var _ = tier.Nightly

// An interval is a call of a thread.
type interval struct {
	thread     int64
	name       string
	start, end int64
}

// drawCalls draws calls of a thread between two times, each with calls in it.
func drawCalls(t *rapid.T, calls []interval, thread, from, to int64, depth int) []interval {
	for at := from; ; {
		start := at + rapid.Int64Range(1, 20).Draw(t, "gap")
		end := start + rapid.Int64Range(1, 1+(to-from)/2).Draw(t, "duration")
		if end >= to {
			return calls
		}
		if depth > 0 {
			calls = drawCalls(t, calls, thread, start, end, depth-1)
		}
		calls = append(calls, interval{thread, fmt.Sprint("f", rapid.IntRange(0, 3).Draw(t, "function")), start, end})
		at = end
	}
}

// TestOrder checks that calls of threads that are in others come out with their times, nested as they were, whether
// many are in one or few, and whether or not a file is needed.
func TestOrder(t *testing.T) {
	defer func(a, b int) { mostLook, mostBuffer = a, b }(mostLook, mostBuffer)
	rapid.Check(t, func(r *rapid.T) {
		mostLook = 2 * rapid.IntRange(1, 20).Draw(r, "look")
		mostBuffer = rapid.SampledFrom([]int{1, 100, 1 << 16}).Draw(r, "buffer")
		var all []interval
		for thread := range rapid.Int64Range(1, 3).Draw(r, "threads") {
			all = drawCalls(r, all, thread, 0, rapid.Int64Range(10, 3000).Draw(r, "length"),
				rapid.IntRange(0, 4).Draw(r, "depth"))
		}
		if len(all) == 0 {
			return
		}
		slices.SortStableFunc(all, func(a, b interval) int { return cmp.Compare(a.end, b.end) })
		var calls []testtrace.Call
		begin := all[0].start
		for _, c := range all {
			begin = min(begin, c.start)
			calls = append(calls,
				testtrace.Call{Function: testtrace.Function(c.name, testtrace.Param("thread", cst.KindInt)),
					Args: []cst.Value{cst.Int(c.thread)}, Start: c.start, Duration: c.end - c.start})
		}
		tr := testtrace.Record(t, merge.Run{}, true, [][]testtrace.Call{calls})
		records, _ := collect(t, tr, export.Options{})
		read(t, records, false)
		got := intervals(records)
		for i := range got {
			got[i].start, got[i].end = got[i].start+begin, got[i].end+begin
		}
		order := func(a, b interval) int {
			return cmp.Or(cmp.Compare(a.thread, b.thread), cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
		}
		slices.SortFunc(got, order)
		slices.SortFunc(all, order)
		if !slices.Equal(got, all) {
			r.Fatalf("%v, want %v", got, all)
		}
	})
}

// intervals returns the calls that events tell of.
func intervals(records []archive.Record) (list []interval) {
	var texts, regions []string
	threads := make(map[uint64]int64)
	for _, k := range records {
		switch k.Kind.Name {
		case "String":
			texts = append(texts, k.Texts[0])
		case "Region":
			regions = append(regions, texts[k.Values[1]])
		case "Location":
			n := int64(0) // of the master thread
			fmt.Sscanf(texts[k.Values[1]], "Thread %d", &n)
			threads[k.Values[0]] = n
		}
	}
	stacks := make(map[uint64][]interval)
	for _, k := range records {
		stack := stacks[k.Location]
		switch k.Kind.Name {
		case "Enter":
			stacks[k.Location] = append(stack, interval{threads[k.Location], regions[k.Values[0]], int64(k.Time), 0})
		case "Leave":
			top := stack[len(stack)-1]
			top.end = int64(k.Time)
			list, stacks[k.Location] = append(list, top), stack[:len(stack)-1]
		}
	}
	return list
}

// TestRegions checks that regions that a program marks nest with its calls, also where they overlap.
func TestRegions(t *testing.T) {
	mark := func(level int64, name string, start int64) testtrace.Call {
		return testtrace.Call{Function: testtrace.Function("MPI_Pcontrol", testtrace.Param("level", cst.KindInt),
			testtrace.Param("name", cst.KindString)), Args: []cst.Value{cst.Int(level), cst.String(name)},
			Start: start, Duration: 1}
	}
	work := func(start int64) testtrace.Call {
		return testtrace.Call{Function: testtrace.Function("work"), Start: start, Duration: 5}
	}
	tr := testtrace.Record(t, merge.Run{}, true, [][]testtrace.Call{{
		mark(1, "a", 0), work(10), mark(1, "b", 20), work(30), mark(0, "a", 40), work(50), mark(0, "b", 60),
		mark(0, "never begun", 70), mark(1, "never ended", 80), work(90),
	}})
	records, _ := collect(t, tr, export.Options{})
	read(t, records, false)
	var got []string
	for _, c := range intervals(records) {
		if c.name != "work" && c.name != "MPI_Pcontrol" {
			got = append(got, fmt.Sprintf("%s %d-%d", c.name, c.start, c.end))
		}
	}
	want := []string{"b 21-40", "a 1-40", "b 40-60", "never ended 81-95"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
