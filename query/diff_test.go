package query

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// diffCall is a call of the runs of TestDiff: a letter and a number.
type diffCall struct {
	name   string
	number int64
}

// diffTrace writes a trace of what ranks call. Functions are declared in an order, and
// numbers from 100 on have names.
func diffTrace(t testing.TB, ranks [][]diffCall, order []string, shift int64) *trace.Trace {
	t.Helper()
	run := merge.Run{Ranks: len(ranks),
		Names: []format.Name{{Kind: cst.KindInt, Value: 100 + shift, Name: "WORLD"},
			{Kind: cst.KindInt, Value: 200 + shift, Name: "SELF"}}}
	var parts []merge.Part
	for rank, calls := range ranks {
		if len(calls) == 0 {
			continue
		}
		r := new(tracer.Recorder)
		functions := make(map[string]int)
		for _, name := range order {
			functions[name] = r.Declare(cst.Function{Name: name,
				Params: []cst.Param{{Name: "n", Type: cst.Type{Kind: cst.KindInt}}}})
		}
		for _, c := range calls {
			number := c.number
			if number >= 100 {
				number += shift
			}
			r.Call(functions[c.name], cst.Int(number))
		}
		parts = append(parts, r.Finish(rank))
	}
	return openParts(t, run, parts)
}

func rapidTrace(t *rapid.T, ranks [][]diffCall, order []string, shift int64) *trace.Trace {
	var tr *trace.Trace
	if err := func() (err error) {
		tr = diffTrace(&quiet{fail: func(e error) { err = e }}, ranks, order, shift)
		return err
	}(); err != nil {
		t.Fatal(err)
	}
	return tr
}

// quiet is a testing.TB for what cannot fail.
type quiet struct {
	testing.TB
	fail func(error)
}

func (q *quiet) Helper() {}

func (q *quiet) Fatal(args ...any) { q.fail(errors.New(fmt.Sprint(args...))) }

// TestDiff compares runs with copies that are changed, if at all, in some calls, and
// whose functions, signatures and names are numbered otherwise.
func TestDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		callGen := rapid.Custom(func(t *rapid.T) diffCall {
			return diffCall{rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name"),
				rapid.SampledFrom([]int64{0, 1, 100, 200}).Draw(t, "number")}
		})
		a := make([][]diffCall, rapid.IntRange(1, 5).Draw(t, "ranks"))
		phrases := rapid.SliceOfN(rapid.SliceOfN(callGen, 1, 4), 0, 3).Draw(t, "phrases")
		for rank := range a {
			if rapid.IntRange(0, 9).Draw(t, "silent") == 0 {
				continue
			}
			for _, p := range phrases {
				for range rapid.IntRange(1, 3).Draw(t, "rounds") {
					a[rank] = append(a[rank], p...)
				}
			}
		}
		b := make([][]diffCall, len(a)+rapid.IntRange(0, 1).Draw(t, "more"))
		for rank := range b {
			if rank < len(a) {
				b[rank] = slices.Clone(a[rank])
			}
			switch n := len(b[rank]); rapid.SampledFrom([]string{"", "", "change", "cut", "add"}).Draw(t, "edit") {
			case "change":
				if n > 0 {
					b[rank][rapid.IntRange(0, n-1).Draw(t, "at")] = callGen.Draw(t, "call")
				}
			case "cut":
				b[rank] = b[rank][:rapid.IntRange(0, n).Draw(t, "length")]
			case "add":
				b[rank] = append(b[rank], callGen.Draw(t, "call"))
			}
		}
		x := rapidTrace(t, a, []string{"a", "b", "c"}, 0)
		y := rapidTrace(t, b, rapid.Permutation([]string{"a", "b", "c", "d"}).Draw(t, "order"), 7)
		d, err := OpenDiff(t.Context(), x, y, DiffOptions{})
		if err != nil {
			t.Fatal(err)
		}
		checkDiff(t, d, a, b)
	})
}

func checkDiff(t *rapid.T, d *Diff, a, b [][]diffCall) {
	var onlyA, onlyB, different []int
	compared := 0
	for rank := range b {
		var x []diffCall
		if rank < len(a) {
			x = a[rank]
		}
		switch y := b[rank]; {
		case len(x) == 0 && len(y) > 0:
			onlyB = append(onlyB, rank)
		case len(y) == 0 && len(x) > 0:
			onlyA = append(onlyA, rank)
		case len(x) > 0:
			compared++
			if slices.Equal(x, y) {
				continue
			}
			different = append(different, rank)
			if len(different) > 1 {
				continue
			}
			at := 0
			for at < min(len(x), len(y)) && x[at] == y[at] {
				at++
			}
			f := d.First
			if f == nil || f.Rank != rank || f.Position != uint64(at) {
				t.Fatalf("the first difference is %v, want rank %d, call %d", f, rank, at)
			}
			checkDiffCall(t, f.A, x, at)
			checkDiffCall(t, f.B, y, at)
		}
	}
	equal := len(onlyA)+len(onlyB)+len(different) == 0
	if d.Compared != compared || !d.A.Only.Equal(rankenc.SetOf(onlyA...)) ||
		!d.B.Only.Equal(rankenc.SetOf(onlyB...)) || !d.Different.Equal(rankenc.SetOf(different...)) {
		t.Fatalf("%d ranks, only %v and only %v, %v differ, want %d, %v, %v and %v", d.Compared, d.A.Only,
			d.B.Only, d.Different, compared, onlyA, onlyB, different)
	}
	counted := d.A.Calls > 0 || d.B.Calls > 0 || d.Functions != nil || d.Calls != nil || d.Messages != nil
	if d.Equal() != (equal && len(a) == len(b)) || counted && d.Equal() || (d.First == nil) != (len(different) == 0) {
		t.Fatalf("equal %v, want %v", d.Equal(), equal)
	}
	if !d.Equal() {
		checkDiffCounts(t, d, a, b)
	}
}

// callText returns a call as a Printer writes it.
func callText(c diffCall) string {
	number, ok := map[int64]string{100: "WORLD", 200: "SELF"}[c.number]
	if !ok {
		number = fmt.Sprint(c.number)
	}
	return c.name + "(n=" + number + ")"
}

func checkDiffCall(t *rapid.T, got string, calls []diffCall, at int) {
	if at == len(calls) {
		if got != "" {
			t.Fatalf("there is a call %v behind the last", got)
		}
		return
	}
	if want := callText(calls[at]); got != want {
		t.Fatalf("the call that differs is %s, want %s", got, want)
	}
}

func sameCount(x, y CountDifference) bool { return x.Name == y.Name && x.A == y.A && x.B == y.B }

func checkDiffCounts(t *rapid.T, s *Diff, a, b [][]diffCall) {
	count := func(ranks [][]diffCall, key func(diffCall) string) (map[string]uint64, uint64) {
		counts, n := make(map[string]uint64), uint64(0)
		for _, calls := range ranks {
			for _, c := range calls {
				counts[key(c)]++
				n++
			}
		}
		return counts, n
	}
	name := func(c diffCall) string { return c.name }
	x, n := count(a, name)
	y, m := count(b, name)
	if want := countDifferences(x, y); s.A.Calls != n || s.B.Calls != m ||
		!slices.EqualFunc(s.Functions, want, sameCount) {
		t.Fatalf("%d and %d calls, %v, want %d and %d, %v", s.A.Calls, s.B.Calls, s.Functions, n, m, want)
	}
	x, y = make(map[string]uint64), make(map[string]uint64)
	ranks := make(map[string][]int) // that call something another number of times
	for rank := range b {
		var of [][]diffCall
		if rank < len(a) {
			of = a[rank : rank+1]
		}
		own, _ := count(of, callText)
		other, _ := count(b[rank:rank+1], callText)
		for _, c := range countDifferences(own, other) {
			x[c.Name] += c.A
			y[c.Name] += c.B
			ranks[c.Name] = append(ranks[c.Name], rank)
		}
		own, _ = count(of, name)
		other, _ = count(b[rank:rank+1], name)
		for _, c := range countDifferences(own, other) {
			ranks[c.Name] = append(ranks[c.Name], rank)
		}
	}
	// ranks that make up for each other
	got := slices.DeleteFunc(slices.Clone(s.Calls), func(c CountDifference) bool { return c.A == c.B })
	if want := countDifferences(x, y); !slices.EqualFunc(got, want, sameCount) {
		t.Fatalf("calls %v, want %v", s.Calls, want)
	}
	for _, c := range slices.Concat(s.Calls, s.Functions) {
		if !c.Ranks.Equal(rankenc.SetOf(ranks[c.Name]...)) {
			t.Fatalf("%s differs of ranks %v, want %v", c.Name, c.Ranks, ranks[c.Name])
		}
	}
	if s.Messages != nil {
		t.Fatalf("messages of functions that nobody knows: %v", s.Messages)
	}
}

// TestDiffPrograms compares programs with themselves and with others.
func TestDiffPrograms(t *testing.T) {
	diff := func(t *testing.T, a, b *trace.Trace) *Diff {
		t.Helper()
		d, err := OpenDiff(t.Context(), a, b, DiffOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, p := range tier.Some(programs.All(9), 4) {
		if d := diff(t, openProgram(t, p), openProgram(t, p)); !d.Equal() || d.Compared != p.Ranks || d.First != nil {
			t.Errorf("%s differs from itself: %v", p.Name, d.First)
		}
	}
	// The last call, MPI_Finalize, comes one round later.
	a, b := openProgram(t, programs.Stencil2D(4, 4, 1e12)), openProgram(t, programs.Stencil2D(4, 4, 1e12+1))
	d := diff(t, a, b)
	if d.Equal() || d.Different.Len() != 16 || d.First.Rank != 0 || d.First.Position != 6e12+3 ||
		d.First.A != "MPI_Finalize()" {
		t.Errorf("%v, %v", d.Different, d.First)
	}
	m := d.Messages
	if m == nil || m.B.Messages-m.A.Messages != 48 || len(m.Pairs) != 48 ||
		m.Pairs[0].B.Messages-m.Pairs[0].A.Messages != 1 {
		t.Fatalf("messages: %+v", m)
	}
	for _, s := range m.Sizes {
		if s.B <= s.A {
			t.Errorf("%d messages of %d bytes, and then %d", s.A, s.Bytes, s.B)
		}
	}
	// A program that draws something else at random, call by call.
	d = diff(t, openProgram(t, programs.RandomCounts(4, 50, 1)), openProgram(t, programs.RandomCounts(4, 50, 2)))
	if d.Equal() || d.First == nil || functionName(d.First.A) != functionName(d.First.B) ||
		len(d.Functions) != 0 || len(d.Messages.Sizes) == 0 {
		t.Errorf("random counts: %+v", d)
	}
	only := rankenc.SetOf(2)
	d, err := OpenDiff(t.Context(), a, b, DiffOptions{Options: Options{Ranks: &only}})
	if err != nil || d.Compared != 1 || d.First.Rank != 2 || d.A.Calls != 7*1e12+4 && d.A.Calls != 8*1e12+4 {
		t.Errorf("of rank 2: %+v, %v", d, err)
	}
}

// TestDiffReal compares traces of real runs.
func TestDiffReal(t *testing.T) {
	for _, path := range tier.Some(realTraces(t, "kinds/*.ti.txt", "ti/cg.S.16.ti.zst",
		"ti/mg.S.16.compute.ti.zst"), 3) {
		a, b := openTI(t, path), openTI(t, path)
		if d, err := OpenDiff(t.Context(), a, b, DiffOptions{}); err != nil || !d.Equal() {
			t.Errorf("%s differs from itself: %v", path, err)
		}
		other := "../../shared/traces/ti/mg.S.16.ti.zst"
		if d, err := OpenDiff(t.Context(), a, openTI(t, other), DiffOptions{}); err != nil || d.Equal() ||
			d.First == nil {
			t.Errorf("%s is equal to %s: %v", path, other, err)
		}
	}
}

// TestDiffFrame finds the first difference behind those of the calls that begin and end MPI.
func TestDiffFrame(t *testing.T) {
	const begin, end = "MPI_Init", "MPI_Finalize"
	tests := []struct {
		name            string
		a, b            [][]diffCall
		rank            int
		first, other    uint64
		noFirst, noMore bool
	}{
		{"Equal", [][]diffCall{{{begin, 1}, {end, 0}}}, [][]diffCall{{{begin, 1}, {end, 0}}}, 0, 0, 0, true, true},
		{"Init", [][]diffCall{{{begin, 1}, {"a", 1}, {end, 0}}},
			[][]diffCall{{{begin, 2}, {"a", 1}, {end, 0}}}, 0, 0, 0, false, true},
		{"InitThread", [][]diffCall{{{begin, 1}, {"a", 1}, {"a", 2}}},
			[][]diffCall{{{"MPI_Init_thread", 1}, {"a", 1}, {"a", 3}}}, 0, 0, 2, false, false},
		{"Longer", [][]diffCall{{{begin, 1}, {"a", 1}, {end, 0}}},
			[][]diffCall{{{begin, 2}, {"a", 1}, {"a", 1}, {end, 0}}}, 0, 0, 2, false, false},
		{"OtherRank", [][]diffCall{{{begin, 1}}, {{begin, 1}, {"a", 1}}, {{begin, 1}, {"a", 1}}},
			[][]diffCall{{{begin, 2}}, {{begin, 2}, {"a", 2}}, {{"a", 1}}}, 1, 0, 1, false, false},
		{"NoInit", [][]diffCall{{{begin, 1}, {"a", 1}}}, [][]diffCall{{{"a", 1}}}, 0, 0, 0, false, true},
		{"End", [][]diffCall{{{"a", 1}, {end, 1}}}, [][]diffCall{{{"a", 1}, {"a", 1}, {end, 1}}}, 0, 1, 0, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			order := []string{"a", begin, "MPI_Init_thread", end}
			d, err := OpenDiff(t.Context(), diffTrace(t, tt.a, order, 0), diffTrace(t, tt.b, order, 0), DiffOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if f := d.First; (f == nil) != tt.noFirst || f != nil && (f.Rank != 0 || f.Position != tt.first) {
				t.Errorf("first %+v", f)
			}
			if f := d.FirstOther; (f == nil) != tt.noMore || f != nil && (f.Rank != tt.rank || f.Position != tt.other) {
				t.Errorf("first other %+v", f)
			}
		})
	}
}

// functionName returns the name before the arguments of a call.
func functionName(call string) string {
	name, _, _ := strings.Cut(call, "(")
	return name
}
