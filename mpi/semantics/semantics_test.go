package semantics_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/trace"
)

// A tester is a test, or a property under test.
type tester interface {
	Helper()
	Fatal(...any)
	Errorf(string, ...any)
}

// written returns the trace of parts.
func written(t tester, run merge.Run, parts []merge.Part) *trace.Trace {
	t.Helper()
	return testtrace.Write(t, run, parts)
}

// tiModel returns the model of a time-independent trace.
func tiModel(t tester, text string) *semantics.Model {
	t.Helper()
	return modelOf(t, testtrace.TI(t, text))
}

func modelOf(t tester, tr *trace.Trace) *semantics.Model {
	t.Helper()
	m, err := semantics.Open(context.Background(), tr)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// each calls f with the operation of each call of a rank, and checks that All says the same.
func each(t tester, m *semantics.Model, rank int, f func(position uint64, c trace.Call, o *semantics.Operation)) {
	t.Helper()
	r, err := m.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	type key struct {
		terminal  uint32
		operation *semantics.Operation
	}
	counts := make(map[key]uint64)
	for c, err := range r.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		position := c.Position
		o := r.At(position, c.Terminal)
		if o != nil {
			counts[key{c.Terminal, o}]++
		}
		f(position, c, o)
	}
	for o := range r.All() {
		k := key{o.Terminal, o.Operation}
		if counts[k] != o.Count {
			t.Errorf("rank %d: All has %d × %s as %s, of which there are %d", rank, o.Count,
				r.Call(o.Terminal), text(o.Operation), counts[k])
		}
		delete(counts, k)
	}
	for k, n := range counts {
		t.Errorf("rank %d: All lacks %d × %s as %s", rank, n, r.Call(k.terminal), text(k.operation))
	}
}

// text writes an operation for comparison.
func text(o *semantics.Operation) string {
	if o == nil {
		return "nothing"
	}
	var b strings.Builder
	b.WriteString(o.Class.String())
	if o.Communicator != nil {
		fmt.Fprintf(&b, " on %s", o.Communicator.Name)
	}
	if o.Root >= 0 {
		fmt.Fprintf(&b, " root %d", o.Root)
	}
	if o.Sent != 0 || o.Received != 0 {
		fmt.Fprintf(&b, " %d→%d", o.Sent, o.Received)
	}
	for _, m := range o.Messages {
		fmt.Fprintf(&b, "; %s %d tag %d: %d elements, %d bytes", m.Direction, m.Peer, m.Tag, m.Elements, m.Bytes)
		if m.Blocking {
			b.WriteString(", blocking")
		}
		if m.Mode != "" {
			fmt.Fprintf(&b, ", %s", m.Mode)
		}
		if m.Cancelled {
			b.WriteString(", cancelled")
		}
		if m.Communicator != nil && m.Communicator != o.Communicator {
			fmt.Fprintf(&b, " on %s", m.Communicator.Name)
		}
	}
	for _, p := range o.More {
		b.WriteString(" and " + text(p))
	}
	return b.String()
}

func replaced(s, old, by string) string { return strings.ReplaceAll(s, old, by) }

// lines returns the operations of all calls of a rank, one a line.
func lines(t tester, m *semantics.Model, rank int) []string {
	t.Helper()
	var list []string
	each(t, m, rank, func(_ uint64, c trace.Call, o *semantics.Operation) {
		list = append(list, c.Function.Name+": "+text(o))
	})
	return list
}

// compare compares the operations of a rank with those expected.
func compare(t *testing.T, m *semantics.Model, rank int, want ...string) {
	t.Helper()
	got := lines(t, m, rank)
	for i := range max(len(got), len(want)) {
		var g, w string
		if i < len(got) {
			g = got[i]
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("rank %d, call %d\ngot  %s\nwant %s", rank, i, g, w)
		}
	}
}

func TestUnknownFunctions(t *testing.T) {
	m := modelOf(t, written(t, merge.Run{Ranks: 1}, nil))
	if m.Known() {
		t.Error("a trace without functions is known")
	}
	if lines := lines(t, m, 0); len(lines) != 0 {
		t.Error(lines)
	}
}
