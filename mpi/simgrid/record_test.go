package simgrid

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

// TestRecord checks that the calls of every rank, and the order of the ranks,
// are in what Record returns.
func TestRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.SliceOf(rapid.IntRange(0, 5)).Draw(t, "ranks")
		var (
			text  strings.Builder
			order []sequitur.Symbol
			want  = make(map[int][]string)
		)
		for _, rank := range ranks {
			call := rapid.SampledFrom([]string{"init", "wait 1 0 5", "wait 2 0 5", "bcast 6 0 1 ",
				"nonsense"}).Draw(t, "call")
			fmt.Fprintf(&text, "%d %s\n", rank, call)
			order = append(order, sequitur.Symbol(rank))
			want[rank] = append(want[rank], fmt.Sprintf("%d %s\n", rank, call))
		}
		run, parts, err := Record(NewReader(strings.NewReader(text.String()), Options{}), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []sequitur.Symbol
		for _, s := range run.Interleaving.All() {
			got = append(got, s)
		}
		if !slices.Equal(got, order) || len(parts) != len(want) || run.Source != Source {
			t.Fatalf("recorded %d ranks in the order %v, want %d in %v", len(parts), got, len(want), order)
		}
		for i, p := range parts {
			if i > 0 && p.Rank <= parts[i-1].Rank || p.Rank >= run.Ranks {
				t.Fatalf("part %d of %d is of rank %d of %d", i, len(parts), p.Rank, run.Ranks)
			}
			var lines []string
			for _, s := range p.Grammar.All() {
				fn, args := p.Table.Signature(s)
				index, _ := Lookup(p.Table.Functions()[fn])
				line, err := AppendCall(nil, Call{Rank: p.Rank, Function: index, Args: args})
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, string(line))
			}
			if !slices.Equal(lines, want[p.Rank]) {
				t.Fatalf("rank %d: %q, want %q", p.Rank, lines, want[p.Rank])
			}
		}
	})
}

// TestRecordShards records lines of several batches with 1 to 5 processors: the trace has the same bytes.
func TestRecordShards(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for range 3*callsPerBatch + 17 {
		fmt.Fprintf(&text, "%d send 1 0 %d 6\n", random.IntN(7), random.IntN(50))
	}
	var first []byte
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for processors := range 5 {
		runtime.GOMAXPROCS(processors + 1)
		run, parts, err := Record(NewReader(strings.NewReader(text.String()), Options{}), nil)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := merge.Write(&file, run, parts); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = file.Bytes()
		}
		if calls := run.Interleaving.Len(); calls != 3*callsPerBatch+17 || !bytes.Equal(file.Bytes(), first) {
			t.Errorf("%d processors: %d calls in %d bytes, not in %d", processors+1, calls, file.Len(), len(first))
		}
	}
}

// TestRecordStops checks that errors of the input and of progress are returned.
func TestRecordStops(t *testing.T) {
	if _, _, err := Record(NewReader(strings.NewReader("0 init\n0 \x00\n"), Options{}), nil); !errors.Is(err,
		wire.ErrCorrupt) {
		t.Errorf("err = %v, want %v", err, wire.ErrCorrupt)
	}
	enough := errors.New("enough")
	steps := 0
	_, _, err := Record(NewReader(strings.NewReader(strings.Repeat("0 barrier\n", 100_000)), Options{}), func() error {
		if steps++; steps == 3 {
			return enough
		}
		return nil
	})
	if err != enough || steps != 3 {
		t.Errorf("err = %v after %d steps, want %v after 3", err, steps, enough)
	}
}

// TestRecordMemory checks what a rank of one call costs: a run may have many.
func TestRecordMemory(t *testing.T) {
	const ranks, limit = 1 << 16, 2800
	var text strings.Builder
	for rank := range ranks {
		fmt.Fprintf(&text, "%d init\n", rank)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, parts, err := Record(NewReader(strings.NewReader(text.String()), Options{}), nil)
	runtime.ReadMemStats(&after)
	if err != nil || len(parts) != ranks {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	got := (after.TotalAlloc - before.TotalAlloc) / ranks
	t.Logf("allocated %d bytes for each rank", got)
	if got > limit {
		t.Errorf("allocated %d bytes for each rank, at most %d", got, limit)
	}
}
