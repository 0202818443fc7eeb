package main

import (
	"encoding/json"
	"testing"

	"github.com/reprise-trace/reprise"
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
		want         difference // the zero value: none
	}{
		{"ring.rpz", "ring.txt", difference{}},
		{"mixed.rpz", "mixed.txt", difference{}},
		{"sparse.rpz", "sparse.txt", difference{}},
		{"foreign.rpz", "foreign.txt", difference{}},
		{"empty.rpz", "empty.txt", difference{}},
		{"empty.rpz", "one.txt", difference{Rank: 0, Call: 0, File: "one.txt", Line: 1, Input: init}},
		{"one.rpz", "empty.txt", difference{Rank: 0, Call: 0, Trace: init, Missing: "0", missing: "rank 0"}},
		{"ring.rpz", "changed.txt", difference{Rank: 2, Call: 7, File: "changed.txt", Line: 432,
			Trace: "send(destination=3, tag=0, count=8, type=1)", Input: "send(destination=3, tag=0, count=9, type=1)"}},
		{"ring.rpz", "last-missing.txt", difference{Rank: 1, Call: 211, Trace: finalize}},
		{"ring.rpz", "extra.txt", difference{Rank: 0, Call: 212, File: "extra.txt", Line: 213, Input: barrier}},
		{"ring.rpz", "extra-last.txt", difference{Rank: 3, Call: 212, File: "extra-last.txt", Line: 849, Input: barrier}},
		{"ring.rpz", "rank-missing.txt", difference{Rank: 3, Call: 0, Trace: init, Missing: "3", missing: "rank 3"}},
		{"ring.rpz", "rank-extra.txt", difference{Rank: 4, Call: 0, File: "rank-extra.txt", Line: 849, Input: init}},
		{"sparse.rpz", "one.txt", difference{Rank: 0, Call: 0, File: "one.txt", Line: 1, Input: init}},

		// The order alone.
		{"ring.rpz", "swapped.txt", difference{Rank: 1, Call: 0, File: "swapped.txt", Line: 212, Trace: init, Input: init, Turn: turn(0)}},
		{"ring.rpz", "mixed.txt", difference{Rank: 1, Call: 0, File: "mixed.txt", Line: 2, Trace: init, Input: init, Turn: turn(0)}},
		{"mixed.rpz", "ring.txt", difference{Rank: 0, Call: 1, File: "ring.txt", Line: 2, Turn: turn(1),
			Trace: "send(destination=1, tag=0, count=8, type=1)", Input: "send(destination=1, tag=0, count=8, type=1)"}},
		{"mixed.rpz", "mixed-swapped.txt", difference{Rank: 3, Call: 24, File: "mixed-swapped.txt", Line: 99, Turn: turn(2),
			Trace: "send(destination=0, tag=0, count=8, type=1)", Input: "send(destination=0, tag=0, count=8, type=1)"}},

		// A call that is missing changes the order, too, but that is not the difference.
		{"mixed.rpz", "mixed-missing.txt", difference{Rank: 2, Call: 24, File: "mixed-missing.txt", Line: 102,
			Trace: "send(destination=3, tag=0, count=8, type=1)", Input: "recv(source=1, tag=0, count=8, type=1)"}},
	} {
		t.Run(tt.trace+" "+tt.input, func(t *testing.T) {
			r := invoke(t, "", "verify", "--json", tt.trace, tt.input)
			var got verifyResult
			if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
				t.Fatal(err, r.stderr)
			}
			if tt.want == (difference{}) {
				if r.status != exitOK || r.stderr != "" || !got.Equal || got.Difference != nil {
					t.Fatalf("status %d, %+v, %s", r.status, got.Difference, r.stderr)
				}
				return
			}
			if got.Equal || got.Difference == nil || r.status != exitFailure {
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

// TestInWords checks what becomes of the reason of a difference from raw records.
func TestInWords(t *testing.T) {
	t.Chdir(t.TempDir())
	writeNamed(t)
	trace, err := reprise.Open("named.rpz")
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	r, err := trace.Rank(1)
	if err != nil {
		t.Fatal(err)
	}
	const (
		raw   = "MPI_Send(buf=seg-16+8, datatypes=[-20 1], dest=0, comm=-3)"
		words = "MPI_Send(buf=stack+8, datatypes=[MPI_DOUBLE datatype#1], dest=0, comm=MPI_COMM_WORLD)"
	)
	for _, tt := range []struct{ reason, want string }{
		{raw + ": comm=0 was recorded", words + ": comm=comm#0 was recorded"},
		{raw + ": datatypes=[-20 2] was recorded; so", words + ": datatypes=[MPI_DOUBLE datatype#2] was recorded; so"},
		{raw + ": buf=seg3+0 was recorded", words + ": buf=heap#3+0 was recorded"},
		{raw + " has the argument comm, which was not recorded", words + " has the argument comm, which was not recorded"},
		{"MPI_Recv was recorded, not " + raw, "MPI_Recv was recorded, not " + words},
		{"the trace ends before a call of MPI_Send", "the trace ends before a call of MPI_Send"},
	} {
		if got := inWords(trace, r.Call(0), tt.reason); got != tt.want {
			t.Errorf("%s becomes\n%s, want\n%s", tt.reason, got, tt.want)
		}
	}
}
