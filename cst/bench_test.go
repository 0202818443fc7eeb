package cst

import (
	"fmt"
	"testing"
)

// send is MPI_Send.
var send = Function{Name: "MPI_Send", Params: []Param{
	{Name: "buf", Type: Type{Kind: KindPointer}},
	{Name: "count", Type: Type{Kind: KindInt}},
	{Name: "datatype", Type: HandleOf("datatype")},
	{Name: "dest", Type: Type{Kind: KindRank}},
	{Name: "tag", Type: Type{Kind: KindTag}},
	{Name: "comm", Type: HandleOf("comm")},
}}

// internSend counts the i-th of many calls that differ in four arguments, the
// way a tracer would.
func internSend(t *Table, fn, i int) uint32 {
	return t.Intern(fn,
		PointerTo(Pointer{Segment: int64(i & 7), Displacement: int64(i>>3) * 64}),
		Int(int64(1000+i&1)),
		Handle(2),
		Rank(int64(i&63)),
		Tag(99),
		Handle(0))
}

// sends returns a table of n signatures.
func sends(n int) (*Table, int) {
	var t Table
	fn := t.Declare(send)
	for i := range n {
		internSend(&t, fn, i)
	}
	return &t, fn
}

// perEvent reports the time per event of the loop that just ended.
func perEvent(b *testing.B, events int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*events), "ns/event")
	b.ReportMetric(0, "ns/op")
}

var benchDistinct = []int{64, 10_000, 1_000_000}

// BenchmarkIntern looks up signatures that are all known, in an order that has
// no use for neighbours in memory.
func BenchmarkIntern(b *testing.B) {
	for _, distinct := range benchDistinct {
		t, fn := sends(distinct)
		b.Run(fmt.Sprintf("distinct=%d", distinct), func(b *testing.B) {
			const events = 1 << 12
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				for range events {
					if i += 7919; i >= distinct { // a prime
						i %= distinct
					}
					internSend(t, fn, i)
				}
			}
			perEvent(b, events)
		})
	}
}

// BenchmarkInternNew fills tables with signatures that are all new.
func BenchmarkInternNew(b *testing.B) {
	for _, distinct := range benchDistinct {
		b.Run(fmt.Sprintf("distinct=%d", distinct), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				sends(distinct)
			}
			perEvent(b, distinct)
		})
	}
}

// BenchmarkParse and BenchmarkMerge count a signature as an event.
func BenchmarkParse(b *testing.B) {
	for _, distinct := range benchDistinct {
		t, _ := sends(distinct)
		enc, _ := t.AppendBinary(nil)
		b.Run(fmt.Sprintf("distinct=%d", distinct), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(enc)))
			for b.Loop() {
				if _, err := Parse(enc); err != nil {
					b.Fatal(err)
				}
			}
			perEvent(b, distinct)
			b.ReportMetric(float64(len(enc))/float64(distinct), "B/event")
		})
	}
}

func BenchmarkMerge(b *testing.B) {
	for _, distinct := range benchDistinct {
		t, _ := sends(distinct)
		b.Run(fmt.Sprintf("distinct=%d", distinct), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Merge(t, t)
			}
			perEvent(b, distinct)
		})
	}
}

// BenchmarkAll decodes signatures.
func BenchmarkAll(b *testing.B) {
	for _, distinct := range benchDistinct {
		t, _ := sends(distinct)
		b.Run(fmt.Sprintf("distinct=%d", distinct), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for range t.All() {
				}
			}
			perEvent(b, distinct)
		})
	}
}
