package main

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/compress"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// TestVerify checks that a difference is found, and named by rank and call.
func TestVerify(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	const (
		init     = "init()"
		barrier  = "barrier()"
		finalize = "finalize()"
	)
	turn := func(rank int) *int { return &rank }
	for _, tt := range []struct {
		trace, input string
		want         compress.Difference // the zero value: none
	}{
		{"ring.rpz", "ring.txt", compress.Difference{}},
		{"mixed.rpz", "mixed.txt", compress.Difference{}},
		{"sparse.rpz", "sparse.txt", compress.Difference{}},
		{"foreign.rpz", "foreign.txt", compress.Difference{}},
		{"empty.rpz", "empty.txt", compress.Difference{}},
		{"empty.rpz", "one.txt", compress.Difference{Rank: 0, Call: 0, File: "one.txt", Line: 1, Input: init}},
		{"one.rpz", "empty.txt", compress.Difference{Rank: 0, Call: 0, Trace: init, Missing: rankenc.SetOf(0)}},
		{"ring.rpz", "changed.txt", compress.Difference{Rank: 2, Call: 7, File: "changed.txt", Line: 432,
			Trace: "send(destination=3, tag=0, count=8, type=1)",
			Input: "send(destination=3, tag=0, count=9, type=1)"}},
		{"ring.rpz", "last-missing.txt", compress.Difference{Rank: 1, Call: 211, Trace: finalize}},
		{"ring.rpz", "extra.txt", compress.Difference{Rank: 0, Call: 212, File: "extra.txt", Line: 213,
			Input: barrier}},
		{"ring.rpz", "extra-last.txt", compress.Difference{Rank: 3, Call: 212, File: "extra-last.txt",
			Line: 849, Input: barrier}},
		{"ring.rpz", "rank-missing.txt", compress.Difference{Rank: 3, Call: 0, Trace: init, Missing: rankenc.SetOf(3)}},
		{"ring.rpz", "rank-extra.txt", compress.Difference{Rank: 4, Call: 0, File: "rank-extra.txt",
			Line: 849, Input: init}},
		{"sparse.rpz", "one.txt", compress.Difference{Rank: 0, Call: 0, File: "one.txt", Line: 1, Input: init}},

		// The order alone.
		{"ring.rpz", "swapped.txt", compress.Difference{Rank: 1, Call: 0, File: "swapped.txt", Line: 212,
			Trace: init, Input: init, Turn: turn(0)}},
		{"ring.rpz", "mixed.txt", compress.Difference{Rank: 1, Call: 0, File: "mixed.txt", Line: 2,
			Trace: init, Input: init, Turn: turn(0)}},
		{"mixed.rpz", "ring.txt", compress.Difference{Rank: 0, Call: 1, File: "ring.txt", Line: 2, Turn: turn(1),
			Trace: "send(destination=1, tag=0, count=8, type=1)",
			Input: "send(destination=1, tag=0, count=8, type=1)"}},
		{"mixed.rpz", "mixed-swapped.txt", compress.Difference{Rank: 3, Call: 24, File: "mixed-swapped.txt",
			Line: 99, Turn: turn(2),
			Trace: "send(destination=0, tag=0, count=8, type=1)",
			Input: "send(destination=0, tag=0, count=8, type=1)"}},

		// A call that is missing changes the order, too, but that is not the difference.
		{"mixed.rpz", "mixed-missing.txt", compress.Difference{Rank: 2, Call: 24, File: "mixed-missing.txt", Line: 102,
			Trace: "send(destination=3, tag=0, count=8, type=1)", Input: "recv(source=1, tag=0, count=8, type=1)"}},
	} {
		t.Run(tt.trace+" "+tt.input, func(t *testing.T) {
			r := invoke(t, "", "verify", "--json", tt.trace, tt.input)
			var got struct {
				Equal      bool
				Difference *compress.Difference
			}
			if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
				t.Fatal(err, r.stderr)
			}
			if tt.want.Trace+tt.want.Input == "" {
				if r.status != cli.ExitOK || r.stderr != "" || !got.Equal || got.Difference != nil {
					t.Fatalf("status %d, %+v, %s", r.status, got.Difference, r.stderr)
				}
				return
			}
			if got.Equal || got.Difference == nil || r.status != cli.ExitFailure {
				t.Fatalf("status %d, no difference", r.status)
			}
			if want := "reprise: " + tt.trace + " differs: " + tt.want.Error() + "\n"; r.stderr != want {
				t.Errorf("standard error is %q, want %q", r.stderr, want)
			}
			have, _ := json.Marshal(got.Difference)
			if want, _ := json.Marshal(tt.want); string(have) != string(want) {
				t.Errorf("difference is %s, want %s", have, want)
			}
		})
	}
}

// TestOtherArgument checks what is said of a call that is not as it was recorded, in the
// words of cat.
func TestOtherArgument(t *testing.T) {
	t.Chdir(t.TempDir())
	writeNamed(t)
	tr, err := trace.Open("named.rpz", trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	r, err := tr.Rank(1)
	if err != nil {
		t.Fatal(err)
	}
	have := r.Call(0)
	const words = "MPI_Send(buf=stack+8, datatypes=[MPI_DOUBLE datatype#1], dest=0, comm=MPI_COMM_WORLD)"
	for _, tt := range []struct {
		change func(f *cst.Function, args []cst.Value)
		want   string
	}{
		{func(*cst.Function, []cst.Value) {}, ""},
		{func(_ *cst.Function, args []cst.Value) { args[3] = cst.Handle(0) }, words + ": comm=comm#0 was recorded"},
		{func(_ *cst.Function, args []cst.Value) { args[1] = cst.Array(cst.Handle(-20), cst.Handle(2)) },
			words + ": datatypes=[MPI_DOUBLE datatype#2] was recorded"},
		{func(_ *cst.Function, args []cst.Value) {
			args[0] = cst.PointerTo(cst.Pointer{Segment: 3})
		}, words + ": buf=heap#3+0 was recorded"},
		{func(f *cst.Function, _ []cst.Value) {
			f.Params[2].Name = "source"
		}, words + " lacks the argument source=0 in its place"},
		{func(f *cst.Function, _ []cst.Value) { f.Params[2].Direction = cst.Out },
			words + ": dest is of another type or direction than was recorded"},
	} {
		want := have
		f := *have.Function
		f.Params = slices.Clone(f.Params)
		want.Function, want.Args = &f, slices.Clone(have.Args)
		tt.change(&f, want.Args)
		p := tr.Printer(trace.PrintOptions{Absolute: true})
		if got := compress.OtherArgument(p, p, have, want); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	f := *have.Function
	f.Params = f.Params[:3]
	fewer := trace.Call{Function: &f, Args: have.Args[:3]}
	p := tr.Printer(trace.PrintOptions{Absolute: true})
	if got, want := compress.OtherArgument(p, p, have, fewer),
		words+" has the argument comm, which was not recorded"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestCompareRecorded compares traces, one of which has calls that the other lacks.
func TestCompareRecorded(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	if r := invoke(t, "", "compress", "last-missing.txt", "-o", "last-missing.rpz"); r.status != cli.ExitOK {
		t.Fatal(r.stderr)
	}
	compare := func(tr, recorded string, rank int) (uint64, *compress.SpoolDifference) {
		t.Helper()
		a, err := trace.Open(tr, trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		b, err := trace.Open(recorded, trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		n, d, err := compress.CompareRecorded(t.Context(), a, b, rank)
		if err != nil {
			t.Fatal(err)
		}
		return n, d
	}
	if n, d := compare("ring.rpz", "ring.rpz", 2); n != 212 || d != nil {
		t.Errorf("%d calls are equal: %v", n, d)
	}
	for _, tt := range []struct {
		trace, recorded string
		want            compress.SpoolDifference
	}{
		{"one.rpz", "ring.rpz", compress.SpoolDifference{Rank: 0, Call: 1,
			Reason: "send(destination=0, tag=0, count=8, type=datatype#1): destination=1 was recorded"}},
		{"last-missing.rpz", "ring.rpz", compress.SpoolDifference{Rank: 1, Call: 211,
			Reason: "the trace ends before a call of finalize"}},
		{"ring.rpz", "last-missing.rpz", compress.SpoolDifference{Rank: 1, Call: 211,
			Reason: "the trace has a call that was not recorded: finalize()"}},
		{"empty.rpz", "one.rpz", compress.SpoolDifference{Rank: 0, Call: 0,
			Reason: "the trace ends before a call of init"}},
	} {
		if n, d := compare(tt.trace, tt.recorded, tt.want.Rank); d == nil || *d != tt.want || n != tt.want.Call {
			t.Errorf("%s and %s: %d calls, %v, want %v", tt.trace, tt.recorded, n, d, &tt.want)
		}
	}
}
