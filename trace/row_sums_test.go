package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/forged"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/trace"
)

// exchanges returns the lines of a SimGrid trace of exchanges between ranks, of counts that are random, and what
// each rank sends and receives in all.
func exchanges(random *rand.Rand, ranks, iterations, other int) string {
	var lines strings.Builder
	for range iterations {
		counts := make([][]int, ranks)
		for i := range counts {
			for range ranks {
				counts[i] = append(counts[i], random.IntN(1000))
			}
		}
		for i, row := range counts {
			sent, received, column := 0, 0, make([]int, ranks)
			for j := range row {
				column[j] = counts[j][i]
				sent, received = sent+row[j], received+column[j]
			}
			if i == other {
				sent++
			}
			list := func(values []int) string { return strings.Trim(fmt.Sprint(values), "[]") }
			fmt.Fprintf(&lines, "%d alltoallv %d %s %d %s 1 1\n", i, sent, list(row), received, list(column))
		}
	}
	return lines.String()
}

// calls returns the calls of all ranks as lines of SimGrid, one rank after the other.
func calls(t testtrace.TB, tr *trace.Trace) (lines []string) {
	for _, number := range tr.RankSet().All() {
		rank, err := tr.Rank(number)
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range rank.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			function, _ := simgrid.Lookup(*c.Function)
			line, err := simgrid.AppendCall(nil, simgrid.Call{Rank: number, Function: function, Args: c.Args})
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, string(line))
		}
	}
	return lines
}

// rowSums returns how many columns are the sums of rows.
func rowSums(tr *trace.Trace) int {
	_, columns, _ := tr.Forms()
	for _, f := range columns {
		if f.Name == "sums of rows" {
			return f.Count
		}
	}
	return 0
}

// TestRowSums writes exchanges with what each rank sends and receives in all: these columns refer to the arrays,
// but for one in which a rank has another number. All lines come back.
func TestRowSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks, iterations := rapid.IntRange(16, 40).Draw(t, "ranks"), rapid.IntRange(1, 3).Draw(t, "iterations")
		other := rapid.IntRange(-1, ranks-1).Draw(t, "other")
		text := exchanges(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), ranks, iterations, other)
		tr := testtrace.TI(t, text)
		got, want := calls(t, tr), strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
		want[len(want)-1] += "\n"
		slices.SortStableFunc(want, func(a, b string) int { return rankOf(a) - rankOf(b) })
		if !slices.Equal(got, want) {
			t.Fatalf("%d lines are not the %d that were written", len(got), len(want))
		}
		expected := 2 * iterations
		if other >= 0 {
			expected = iterations
		}
		if n := rowSums(tr); n != expected {
			t.Errorf("%d columns are sums of rows, not %d", n, expected)
		}
	})
}

func rankOf(line string) (rank int) {
	fmt.Sscan(line, &rank)
	return rank
}

// TestForgedRowSums reads traces in which a column claims to be the sums of the rows of another column, of any
// number: it is that of an array, or the error says where.
func TestForgedRowSums(t *testing.T) {
	const head = 0x26
	text := exchanges(rand.New(rand.NewPCG(1, 2)), 20, 2, -1)
	run, parts, err := simgrid.Record(simgrid.NewReader(strings.NewReader(text), simgrid.Options{}), nil)
	if err != nil {
		t.Fatal(err)
	}
	file := testtrace.Records(t, testtrace.File(t, run, parts))
	inline := 0 // bytes at the end of the signatures
	_, _, inline = testtrace.Open(t, file).Forms()
	sound, refused := 0, 0
	for number := range byte(12) {
		rewritten, err := forged.Rewritten(file, func(w *format.Writer, s format.Section, content []byte) {
			if s.Kind == layout.KindSignatures {
				if at := bytes.LastIndexByte(content, head); at >= len(content)-inline && at == len(content)-2 {
					content[at+1] = number
				}
			}
			w.Add(s.Kind, s.Key, content)
		})
		if err != nil {
			t.Fatal(err)
		}
		tr := testtrace.Open(t, rewritten)
		_, err = readFirst(tr)
		damaged := new(format.SectionError)
		switch {
		case err == nil:
			sound++
		case errors.As(err, &damaged):
			refused++
		default:
			t.Errorf("column %d: %v", number, err)
		}
	}
	if sound != 4 || refused != 8 { // two exchanges have two arrays each
		t.Errorf("%d of 12 are sound, and %d refused", sound, refused)
	}
}

// readFirst reads the calls of the first rank.
func readFirst(tr *trace.Trace) (calls int, err error) {
	rank, err := tr.Rank(0)
	if err != nil {
		return 0, err
	}
	for _, err := range rank.Calls(0) {
		if err != nil {
			return calls, err
		}
		calls++
	}
	return calls, nil
}
