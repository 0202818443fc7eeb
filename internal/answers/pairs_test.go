package answers_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
)

// TestPairRows checks that the first rows are those of all, sorted.
func TestPairRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		small := rapid.Uint64Range(0, 3)
		var pairs []query.Pair
		for i := range rapid.IntRange(0, 12).Draw(t, "pairs") {
			p := query.Pair{Source: i}
			p.Bytes, p.Messages, p.Exchanged.Bytes, p.Exchanged.Blocks = small.Draw(t, "n"),
				small.Draw(t, "n"), small.Draw(t, "n"), small.Draw(t, "n")
			pairs = append(pairs, p)
		}
		uniform := []query.UniformPairs{{From: rankenc.SetOf(0, 1), To: rankenc.World(3),
			Blocks: query.Blocks{Blocks: 1, Bytes: small.Draw(t, "n")}}}
		write := func(rows []answers.PairRow) (list []string) {
			for i := range rows {
				list = append(list, fmt.Sprint(rows[i].From(), " ", rows[i].To(), " ", rows[i].Volume))
			}
			return list
		}
		sorted, n := answers.PairRows(pairs, uniform, text.All)
		if n != len(pairs)+1 || n != len(sorted) ||
			!slices.IsSortedFunc(sorted, func(a, b answers.PairRow) int {
				return int(b.AllBytes()) - int(a.AllBytes())
			}) {
			t.Fatalf("%d rows of %d: %v", len(sorted), n, write(sorted))
		}
		most := rapid.IntRange(1, 15).Draw(t, "most")
		first, n := answers.PairRows(pairs, uniform, most)
		if want := sorted[:min(most, len(sorted))]; n != len(sorted) || !slices.Equal(write(first), write(want)) {
			t.Fatalf("the first %d of %d: %v\nwant %v", most, n, write(first), write(want))
		}
	})
}

// TestPairRowsTogether checks that uniform pairs of the same ranks are one row.
func TestPairRowsTogether(t *testing.T) {
	even, odd := rankenc.SetOf(0, 2, 4), rankenc.SetOf(1, 3, 5)
	of := func(from, to rankenc.Set, higher bool, bytes uint64) query.UniformPairs {
		return query.UniformPairs{From: from, To: to, Higher: higher, Blocks: query.Blocks{Blocks: 1, Bytes: bytes}}
	}
	rows, n := answers.PairRows(nil, []query.UniformPairs{
		of(even, even, false, 4), of(odd, odd, false, 8), of(even, even, false, 16),
		of(rankenc.World(3), rankenc.World(3), true, 1), of(even, odd, false, 2), of(odd, odd, false, 8),
	}, text.All)
	var got []string
	for i := range rows {
		got = append(got, fmt.Sprint(rows[i].From(), " ", rows[i].To(), " ", rows[i].Exchanged.Blocks, " ",
			rows[i].Exchanged.Bytes))
	}
	want := []string{"0-4:2 each other 12 120", "1-5:2 each other 12 96", "0-4:2 1-5:2 9 18", "0-2 each higher 3 3"}
	if n != len(want) || !slices.Equal(got, want) {
		t.Errorf("%d rows: %q, want %q", n, got, want)
	}
}

func TestPairRowNames(t *testing.T) {
	all, some := rankenc.World(4), rankenc.SetOf(1, 2)
	for _, tt := range []struct {
		u        query.UniformPairs
		from, to string
	}{
		{query.UniformPairs{From: all, To: all}, "0-3", "each other"},
		{query.UniformPairs{From: some, To: all}, "1-2", "others of 0-3"},
		{query.UniformPairs{From: rankenc.SetOf(0, 3), To: some}, "0-3:3", "1-2"},
		{query.UniformPairs{From: all, To: all, Higher: true}, "0-3", "each higher"},
	} {
		rows, _ := answers.PairRows(nil, []query.UniformPairs{tt.u}, text.All)
		if rows[0].From() != tt.from || rows[0].To() != tt.to {
			t.Errorf("%s to %s, want %s to %s", rows[0].From(), rows[0].To(), tt.from, tt.to)
		}
	}
}
