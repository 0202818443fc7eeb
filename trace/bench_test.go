package trace

import (
	"bytes"
	"testing"

	"github.com/reprise-trace/reprise/cst"
)

// BenchmarkCalls goes through ten million calls of a nested loop.
func BenchmarkCalls(b *testing.B) {
	const inner, outer = 1000, 10_000
	var events []event
	for i := range int64(10) {
		events = append(events, event{send, []cst.Value{cst.Rank(i), cst.Int(8)}})
	}
	r := nestedLoop(b, events, inner/len(events), outer)
	want := r.Len()
	b.ReportAllocs()
	for b.Loop() {
		n := uint64(0)
		for range r.Calls(0) {
			n++
		}
		if n != want {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(uint64(b.N)*want), "ns/event")
	b.ReportMetric(0, "ns/op")
}

// nestedLoop returns a rank that calls (body^inner barrier)^outer.
func nestedLoop(b *testing.B, body []event, inner, outer int) *Rank {
	var round []event
	for range inner {
		round = append(round, body...)
	}
	m := model{ranks: make([][]event, 1)}
	for range outer {
		m.ranks[0] = append(append(m.ranks[0], round...), event{function: barrier})
	}
	return readRank(b, openBytes(b, m.record(b)), 0)
}

// BenchmarkOpen opens a trace of 64 ranks, and reads one of them or all.
func BenchmarkOpen(b *testing.B) {
	const ranks = 64
	file := ringModel(ranks+1, 1000).record(b)
	for _, bb := range []struct {
		name string
		read int
	}{{"ranks=0", 0}, {"ranks=1", 1}, {"ranks=64", ranks}} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(file)))
			for b.Loop() {
				trace, err := OpenReader(bytes.NewReader(file), int64(len(file)), Options{})
				if err != nil {
					b.Fatal(err)
				}
				for rank := range bb.read {
					readRank(b, trace, rank)
				}
			}
		})
	}
}
