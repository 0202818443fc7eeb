package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/sequitur"
)

// write returns the trace of a run.
func write(t rapid.TB, run Run, parts []Part) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, run, parts); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// container opens a container.
func container(t rapid.TB, data []byte) *format.Reader {
	t.Helper()
	f, err := format.NewReader(bytes.NewReader(data), int64(len(data)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// open opens a trace.
func open(t rapid.TB, data []byte) *Trace {
	t.Helper()
	trace, err := Open(container(t, data))
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// readPart reads the part of a rank.
func readPart(t rapid.TB, trace *Trace, rank int) Part {
	t.Helper()
	p, err := trace.Part(rank)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// readAll reads the parts of all ranks that made calls.
func readAll(trace *Trace) ([]Part, error) {
	var parts []Part
	for _, rank := range trace.RankSet().All() {
		p, err := trace.Part(rank)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// checkCalls checks that a trace holds the calls of parts, and of no other rank.
func checkCalls(t rapid.TB, trace *Trace, parts []Part) {
	t.Helper()
	active := make(map[int]bool)
	for _, p := range parts {
		got := readPart(t, trace, p.Rank)
		if err := sameCalls(got, p); err != nil {
			t.Fatalf("rank %d: %v", p.Rank, err)
		}
		if !slices.EqualFunc(got.Table.Functions(), trace.Functions(), cst.Function.Equal) {
			t.Fatalf("rank %d has functions %v, want %v", p.Rank, got.Table.Functions(), trace.Functions())
		}
		active[p.Rank] = p.Grammar.Len() > 0
	}
	made := trace.RankSet()
	for rank := range trace.Run().Ranks {
		if got := made.Contains(rank); got != active[rank] {
			t.Fatalf("rank %d is active: %v, want %v", rank, got, active[rank])
		}
	}
}

// sameCalls compares the calls of two parts.
func sameCalls(p, q Part) error {
	if p.Rank != q.Rank || p.Grammar.Len() != q.Grammar.Len() {
		return fmt.Errorf("%d calls of rank %d, want %d of rank %d", p.Grammar.Len(), p.Rank, q.Grammar.Len(), q.Rank)
	}
	type pair struct{ p, q sequitur.Symbol }
	equal := make(map[pair]bool)
	v, w := p.Grammar.Walk(0), q.Grammar.Walk(0)
	x, y := v.Next(), w.Next()
	for x.Count > 0 && y.Count > 0 {
		k := pair{x.Symbol, y.Symbol}
		if !equal[k] {
			if err := sameCall(p.Table, q.Table, x.Symbol, y.Symbol); err != nil {
				return err
			}
			equal[k] = true
		}
		n := min(x.Count, y.Count)
		if x.Count -= n; x.Count == 0 {
			x = v.Next()
		}
		if y.Count -= n; y.Count == 0 {
			y = w.Next()
		}
	}
	return nil
}

// sameCall compares a signature of one table with one of another, declarations
// included.
func sameCall(t, u *cst.Table, x, y sequitur.Symbol) error {
	m, args := t.Signature(x)
	n, want := u.Signature(y)
	f, g := t.Functions()[m], u.Functions()[n]
	if !f.Equal(g) || !slices.EqualFunc(args, want, cst.Value.Equal) {
		return fmt.Errorf("call %s of %v, want %s of %v", cst.AppendCall(nil, f, args), f,
			cst.AppendCall(nil, g, want), g)
	}
	return nil
}
