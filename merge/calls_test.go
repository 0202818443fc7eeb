package merge

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/sequitur"
)

// TestCalls checks the calls of a rank from every position, where they are a list
// and where they are a grammar. Their terminals are numbered as a rank that
// records calls numbers them.
func TestCalls(t *testing.T) {
	amount := numbered("compute", cst.Type{Kind: cst.KindFloat})
	step := numbered("step", cst.Type{Kind: cst.KindInt})
	noisy := func(round int) Part { // calls in a loop of so many, of which one varies
		return recorded(0, 300*round, func(i int) (cst.Function, cst.Value) {
			if i%round == round-1 {
				return amount, cst.Float(float64(irregular(i, 0) % 30))
			}
			return step, cst.Int(int64(i % round % 3))
		})
	}
	tests := []struct {
		name          string
		part          Part
		elastic, list bool
	}{
		{"NoStreams", recorded(0, 100, func(i int) (cst.Function, cst.Value) { return step, cst.Int(int64(i % 3)) }), false, false},
		{"List", noisy(4), true, true},
		{"Grammar", noisy(40), true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := write(t, Run{Ranks: 1}, []Part{tt.part})
			trace := open(t, file)
			c, err := trace.Calls(0)
			if err != nil {
				t.Fatal(err)
			}
			withoutTemplate := open(t, file)
			withoutTemplate.most = 0
			checkCalls(t, withoutTemplate, []Part{tt.part})
			if elastic := trace.signatures.streams != nil; elastic != tt.elastic || (c.list != nil) != tt.list {
				t.Errorf("elastic: %v, a list: %v, want %v, %v", elastic, c.list != nil, tt.elastic, tt.list)
			}
			want := tt.part.Grammar.AppendSymbols(nil)
			if c.Len() != uint64(len(want)) || !c.Grammar().Equal(tt.part.Grammar) {
				t.Fatalf("%d calls, %v, want %d, %v", c.Len(), c.Grammar(), len(want), tt.part.Grammar)
			}
			if got, want := maps.Collect(c.Occurrences()), maps.Collect(tt.part.Grammar.Occurrences()); !maps.Equal(got, want) {
				t.Errorf("occurrences %v, want %v", got, want)
			}
			for position := 0; position < len(want)+2; position += 1 + position/9 {
				var got []sequitur.Symbol
				w := c.Walk(uint64(position))
				for r := w.Next(); r.Count > 0; r = w.Next() {
					got = append(got, slices.Repeat([]sequitur.Symbol{r.Symbol}, int(r.Count))...)
				}
				if !slices.Equal(got, want[min(position, len(want)):]) {
					t.Fatalf("calls %v from %d on", got, position)
				}
			}
			for i := range c.Table().Len() {
				_, args := c.Table().Signature(uint32(i))
				if _, recorded := tt.part.Table.Signature(uint32(i)); fmt.Sprint(args) != fmt.Sprint(recorded) {
					t.Errorf("signature %d: %v, want %v", i, args, recorded)
				}
			}
		})
	}
}
