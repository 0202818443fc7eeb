package merge

import (
	"bytes"
	"fmt"

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

// open opens a trace.
func open(t rapid.TB, data []byte) *Trace {
	t.Helper()
	f, err := format.NewReader(bytes.NewReader(data), int64(len(data)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	trace, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// checkCalls checks that a trace holds the calls of parts, and of no other rank.
func checkCalls(t rapid.TB, trace *Trace, parts []Part) {
	t.Helper()
	active := make(map[int]bool)
	for _, p := range parts {
		got, err := trace.Part(p.Rank)
		if err != nil {
			t.Fatal(err)
		}
		if err := sameCalls(got, p); err != nil {
			t.Fatalf("rank %d: %v", p.Rank, err)
		}
		active[p.Rank] = p.Grammar.Len() > 0
	}
	for rank := range trace.Run().Ranks {
		next, ok := trace.Active(rank)
		if got := ok && next == rank; got != active[rank] {
			t.Fatalf("rank %d is active: %v, want %v", rank, got, active[rank])
		}
	}
}

// sameCalls compares the calls of two parts.
func sameCalls(p, q Part) error {
	if p.Grammar.Len() != q.Grammar.Len() {
		return fmt.Errorf("%d calls, want %d", p.Grammar.Len(), q.Grammar.Len())
	}
	type pair struct{ p, q sequitur.Symbol }
	equal := make(map[pair]bool)
	v, w := p.Grammar.Walk(0), q.Grammar.Walk(0)
	x, y := v.Next(), w.Next()
	for x.Count > 0 && y.Count > 0 {
		k := pair{x.Symbol, y.Symbol}
		if !equal[k] {
			a, b := call(p.Table, x.Symbol), call(q.Table, y.Symbol)
			if a != b {
				return fmt.Errorf("call %s, want %s", a, b)
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

// call returns a signature as text, with its declaration.
func call(t *cst.Table, s sequitur.Symbol) string {
	fn, args := t.Signature(uint32(s))
	f := t.Functions()[fn]
	return string(cst.AppendCall(nil, f, args)) + fmt.Sprint(f.Params)
}
