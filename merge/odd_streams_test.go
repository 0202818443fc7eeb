package merge_test

import (
	"github.com/reprise-trace/reprise/internal/test/tier"
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/sequitur"
)

// oddValues has numbers of values of streams whose differences overflow, floats whose bits do not
// ascend as they do, and texts.
var oddValues = []struct {
	name   string
	t      cst.Type
	values []cst.Value
	more   func(i int) cst.Value
}{
	{"Int", cst.Type{Kind: cst.KindInt}, []cst.Value{
		cst.Int(math.MinInt64), cst.Int(math.MaxInt64), cst.Int(-1), cst.Int(0), cst.Int(1),
		cst.Int(math.MinInt64 + 1), cst.Int(1 << 62), cst.Int(-1 << 62),
	}, func(i int) cst.Value { return cst.Int(int64(i) << 58) }},
	{"Float", cst.Type{Kind: cst.KindFloat}, []cst.Value{
		cst.Float(math.NaN()), cst.Float(math.Float64frombits(0xfff8_0000_0000_0001)), cst.Float(math.Inf(1)),
		cst.Float(math.Inf(-1)),
		cst.Float(math.Copysign(0, -1)), cst.Float(0), cst.Float(-1.5), cst.Float(1 << 60),
	}, func(i int) cst.Value { return cst.Float(math.Exp(float64(20*i - 300))) }},
	{"Integers", cst.Type{Kind: cst.KindFloat}, []cst.Value{
		cst.Float(1<<53 - 1), cst.Float(-(1<<53 - 1)), cst.Float(0), cst.Float(-3), cst.Float(5),
		cst.Float(1e6), cst.Float(7), cst.Float(-2),
	}, func(i int) cst.Value { return cst.Float(float64(i * 1000)) }},
	{"NegativeZero", cst.Type{Kind: cst.KindFloat}, []cst.Value{
		cst.Float(math.Copysign(0, -1)), cst.Float(0), cst.Float(1), cst.Float(2), cst.Float(3), cst.Float(4),
		cst.Float(5), cst.Float(6),
	}, func(i int) cst.Value { return cst.Float(float64(i * 1000)) }},
	{"Text", cst.Type{Kind: cst.KindString}, []cst.Value{
		cst.String("z"), cst.String("a"), cst.String(""), cst.String("m"), cst.String("b\x00"),
		cst.String("é"), cst.String("y"), cst.String("c"),
	}, func(i int) cst.Value { return cst.String(fmt.Sprint("t", i*7%32)) }},
	{"Handle", cst.Type{Kind: cst.KindHandle, Class: "request"}, []cst.Value{
		cst.Handle(9), cst.Handle(-3), cst.Handle(0), cst.Handle(1 << 40), cst.Handle(4), cst.Handle(77),
		cst.Handle(8), cst.Handle(2),
	}, func(i int) cst.Value { return cst.Handle(int64(i) * 100) }},
}

// TestOddStreams checks every call of programs with streams in blocks of values such as these, which
// follow each other at random, after an array of arrays and more slots than may have streams.
func TestOddStreams(t *testing.T) {
	tier.SlowRace(t)
	const ranks, rounds = 3, 900
	number := cst.Type{Kind: cst.KindInt}
	for _, odd := range tier.Some(oddValues, 6) {
		t.Run(odd.name, func(t *testing.T) {
			f := cst.Function{Name: "odd", Params: []cst.Param{
				{Name: "lists", Type: cst.ArrayOf(cst.ArrayOf(number))},
				{Name: "x", Type: odd.t}, {Name: "y", Type: odd.t},
			}}
			for i := range 70 {
				f.Params = append(f.Params, cst.Param{Name: fmt.Sprintf("p%d", i), Type: number})
			}
			f.Params = append(f.Params, cst.Param{Name: "last", Type: odd.t})
			values := odd.values
			for i := range 32 {
				values = append(values, odd.more(i+1))
			}
			var parts []Part
			for rank := range ranks {
				var table cst.Table
				var b sequitur.Builder
				for i := range rounds {
					noise := irregular(rank, i)
					list := cst.Array(slices.Repeat([]cst.Value{cst.Int(1)}, int(noise/8192%2))...)
					args := []cst.Value{cst.Array(list, cst.Array()), values[noise%40], values[noise/64%40]}
					for k := range 70 {
						args = append(args, cst.Int(int64(k)))
					}
					b.Append(table.Intern(table.Declare(f), append(args, values[noise/4096%2])...))
				}
				parts = append(parts, Part{Rank: rank, Table: &table, Grammar: b.Finish()})
			}
			file := write(t, Run{Ranks: ranks}, parts)
			checkCalls(t, open(t, file), parts)
			if table := tableOf(t, file); table.Streams == nil || !table.Streams.InBlocks {
				t.Error("no streams in blocks")
			}
			again, err := readAll(open(t, file))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(write(t, Run{Ranks: ranks}, again), file) {
				t.Error("other bytes of what was read")
			}
		})
	}
}
