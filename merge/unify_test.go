package merge_test

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	. "github.com/reprise-trace/reprise/merge"

	"testing"
)

// TestFactor checks which ranks become one shape: those that differ in values
// alone, if it makes the trace smaller.
func TestFactor(t *testing.T) {
	f, g := numbered("f", cst.Type{Kind: cst.KindInt}), cst.Function{Name: "g"}
	shapes := func(call func(rank, i int) (cst.Function, cst.Value)) int {
		var parts []Part
		for rank := range 32 {
			parts = append(parts, recorded(rank, 24, func(i int) (cst.Function, cst.Value) { return call(rank, i) }))
		}
		trace := open(t, write(t, Run{Ranks: 32}, parts))
		checkCalls(t, trace, parts)
		return trace.Shapes()
	}
	tests := []struct {
		name string
		want int
		call func(rank, i int) (cst.Function, cst.Value)
	}{
		{"Equal", 1, func(_, i int) (cst.Function, cst.Value) { return f, cst.Int(int64(i % 3)) }},
		{"Values", 1, func(rank, i int) (cst.Function, cst.Value) { return f, cst.Int(int64(i%3 + rank)) }},
		// The pattern within the loop differs.
		{"Patterns", 1, func(rank, i int) (cst.Function, cst.Value) {
			return f, cst.Int(int64(irregular(rank, i%6) % 3))
		}},
		{"Functions", 2, func(rank, i int) (cst.Function, cst.Value) {
			return numbered(fmt.Sprint("f", (rank+i)%2), cst.Type{Kind: cst.KindInt}), cst.Int(1)
		}},
		{"Lengths", 3, func(rank, i int) (cst.Function, cst.Value) {
			return numbered("f", cst.ArrayOf(cst.Type{Kind: cst.KindInt})),
				cst.Array(slices.Repeat([]cst.Value{cst.Int(1)}, rank%3)...)
		}},
	}
	for _, tt := range tests {
		if got := shapes(tt.call); got != tt.want {
			t.Errorf("%s: %d shapes, want %d", tt.name, got, tt.want)
		}
	}
	// Two ranks that tell calls apart in ways that have nothing in common are smaller
	// as they are.
	odd := func(rank int) Part {
		return recorded(rank, 200, func(i int) (cst.Function, cst.Value) {
			return f, cst.Int(int64(irregular(rank, i) % 32))
		})
	}
	parts := []Part{odd(0), odd(1), oneCall(2, g)}
	trace := open(t, write(t, Run{Ranks: 3}, parts))
	checkCalls(t, trace, parts)
	if trace.Shapes() != 3 {
		t.Errorf("%d shapes, want 3", trace.Shapes())
	}
}

// TestUnify checks which calls of different shapes become one signature.
func TestUnify(t *testing.T) {
	f := numbered("f", cst.Type{Kind: cst.KindRank})
	g := numbered("g", cst.ArrayOf(cst.Type{Kind: cst.KindInt}))
	tests := []struct {
		name string
		want int // signatures
		call func(rank int) (cst.Function, cst.Value)
	}{
		{"SameConstant", 1, func(rank int) (cst.Function, cst.Value) { return f, cst.Rank(4) }},
		{"SameShift", 1, func(rank int) (cst.Function, cst.Value) { return f, cst.Rank(int64(rank) + 1) }},
		{"SameRing", 1, func(rank int) (cst.Function, cst.Value) { return f, cst.Rank(int64(rank+2) % 12) }},
		{"OtherConstant", 2, func(rank int) (cst.Function, cst.Value) { return f, cst.Rank(int64(4 + rank%2)) }},
		{"Irregular", 1, func(rank int) (cst.Function, cst.Value) {
			return f, cst.Rank(int64(irregular(rank, 1) % 12))
		}},
		{"Arrays", 1, func(rank int) (cst.Function, cst.Value) {
			return g, cst.Array(cst.Int(int64(irregular(rank, 1)%100)), cst.Int(int64(irregular(rank, 2)%100)))
		}},
		{"Lengths", 2, func(rank int) (cst.Function, cst.Value) {
			return g, cst.Array(slices.Repeat([]cst.Value{cst.Int(7)}, 1+rank%2)...)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var parts []Part
			for rank := range 12 { // two shapes: the odd ranks call twice
				n := 1 + rank%2
				parts = append(parts, recorded(rank, n, func(int) (cst.Function, cst.Value) { return tt.call(rank) }))
			}
			trace := open(t, write(t, Run{Ranks: 12}, parts))
			checkCalls(t, trace, parts)
			if trace.Shapes() != 2 || trace.Signatures() != tt.want {
				t.Errorf("%d signatures of %d shapes, want %d of 2", trace.Signatures(), trace.Shapes(), tt.want)
			}
		})
	}
}
