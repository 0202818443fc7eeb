package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/spec"

	"testing"

	"pgregory.net/rapid"
)

// testCondense condenses parts of programs, each two times, with its own calls once more between and
// condensed ones after that: their traces have the totals of all calls, and are exact where they say so.
func testCondense(t *rapid.T) {
	parts := genProgram.Draw(t, "program").parts()
	parts = parts[:min(3, len(parts))]
	var condensed, whole []Part
	join := func(a, b Part) Part {
		joined, err := Join(a.Rank, nil, a, b)
		if err != nil {
			t.Fatal(err)
		}
		return joined
	}
	for _, p := range parts {
		most := rapid.IntRange(0, p.Held()).Draw(t, "most")
		once := mustCondense(t, p, most)
		condensed = append(condensed, join(mustCondense(t, join(once, p), 2*most), once))
		whole = append(whole, join(join(p, p), p))
	}
	run := Run{Ranks: 24}
	trace := open(t, traceFile(t, accumulate(t, run, condensed)))
	checkTotals(t, trace, whole)
	checkExact(t, trace, whole)
	small := accumulate(t, run, condensed)
	trace = open(t, bounded(t, small, least(t, accumulate(t, run, condensed))))
	checkTotals(t, trace, whole)
	checkExact(t, trace, whole)
}

func mustCondense(t *rapid.T, p Part, most int) Part {
	condensed, err := (&Condenser{Keep: spec.Keep}).Condense(p, most)
	if err != nil {
		t.Fatal(err)
	}
	return condensed
}

func TestCondense(t *testing.T) { rapid.Check(t, testCondense) }

// TestCondenseTrace condenses a part that a trace may have.
func TestCondenseTrace(t *testing.T) {
	p := Part{CallGroups: map[uint32]Group{}}
	if _, err := (&Condenser{Keep: spec.Keep}).Condense(p, 1); err == nil {
		t.Error("a part of a trace was condensed")
	}
}
