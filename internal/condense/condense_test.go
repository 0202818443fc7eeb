package condense

import (
	"fmt"
	"maps"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/sequitur"
)

// TestCondense condenses ranks to all degrees: there are as many calls of each function and each rank that
// they name as before, and their integers add up to the same; no call in a stretch is to stay where it is.
func TestCondense(t *testing.T) {
	functions := []cst.Function{
		{Name: "send", Params: []cst.Param{
			{Name: "dest", Type: cst.Type{Kind: cst.KindRank}},
			{Name: "bytes", Type: cst.Type{Kind: cst.KindInt}},
			{Name: "tag", Type: cst.Type{Kind: cst.KindTag}},
		}},
		{Name: "work", Params: []cst.Param{{Name: "steps", Type: cst.Type{Kind: cst.KindInt}}}},
		{Name: "split", Params: []cst.Param{{Name: "color", Type: cst.Type{Kind: cst.KindInt}}}},
	}
	slots := []int{3, 1, 1}
	keep := func(function string) (place, handles bool) { return function == "split", false }
	rapid.Check(t, func(t *rapid.T) {
		r := Rank{}
		for range rapid.IntRange(1, 60).Draw(t, "signatures") {
			f := rapid.IntRange(0, 2).Draw(t, "function")
			r.Forms = append(r.Forms, Form{Function: f, Slots: slots[f]})
			for range slots[f] {
				scale := rapid.SampledFrom([]int64{1, 1000, -7}).Draw(t, "scale")
				r.Values = append(r.Values, rapid.Int64Range(0, 5).Draw(t, "value")*scale)
			}
		}
		var b sequitur.Builder
		for range rapid.IntRange(1, 80).Draw(t, "runs") {
			symbol := sequitur.Symbol(rapid.IntRange(0, len(r.Forms)-1).Draw(t, "terminal"))
			loop := []sequitur.Run{{Symbol: symbol, Count: rapid.Uint64Range(1, 5).Draw(t, "count")}}
			b.AppendLoop(loop, rapid.SampledFrom([]uint64{1, 1, 3, 1000}).Draw(t, "times"))
		}
		r.Grammar = b.Finish()
		d := rapid.SampledFrom(Ways).Draw(t, "way")
		d.Values = rapid.IntRange(2, 8).Draw(t, "values")
		c := New(d, functions, keep)
		made, stretches := c.Condense(r, nil)
		if want, got := totals(r), totals(made); !maps.Equal(want, got) {
			t.Fatalf("to %+v: %v, not %v", d, got, want)
		}
		at := uint64(0)
		for w := made.Grammar.Walk(0); at < made.Grammar.Len(); {
			run := w.Next()
			for _, s := range stretches {
				if made.Forms[run.Symbol].Function == 2 && at < layout.EndOf(s) && s.First < at+run.Count {
					t.Fatalf("a call of split at %d is in %+v", at, s)
				}
			}
			at += run.Count
		}
	})
}

// totals returns how many calls have a function and rank, and what each of their integers adds up to.
func totals(r Rank) map[string]string {
	sums := make(map[string]*big.Int)
	add := func(key string, value int64, n uint64) {
		if sums[key] == nil {
			sums[key] = new(big.Int)
		}
		sums[key].Add(sums[key], new(big.Int).Mul(big.NewInt(value), new(big.Int).SetUint64(n)))
	}
	begins := r.begins()
	for s, n := range r.Grammar.Occurrences() {
		values := r.Values[begins[s]:begins[s+1]]
		key := fmt.Sprint(r.Forms[s].Function)
		if len(values) > 1 {
			key += fmt.Sprint(" to ", values[0])
			values = values[1:2]
		}
		add(key+" calls", 1, n)
		add(key+" sum", values[0], n)
	}
	list := make(map[string]string)
	for key, sum := range sums {
		list[key] = sum.String()
	}
	return list
}
