package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"fmt"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/sequitur"
)

// uniqueCalls says what tells each message of a rank from all others.
var uniqueCalls = []struct {
	name      string
	arguments func(rank, i int) (tag, count int64)
}{
	{"Counted", func(_, i int) (tag, count int64) { return int64(i), 4 }},
	{"Drawn", func(rank, i int) (tag, count int64) { return int64(irregular(rank, i)), 4 }},
	{"DrawnTwice", func(rank, i int) (tag, count int64) {
		return int64(irregular(rank, i)), int64(irregular(i, rank))
	}},
}

// uniquePart returns the part of a rank that makes n calls, which receive messages,
// send these, and wait for them.
func uniquePart(rank, n int, arguments func(rank, i int) (tag, count int64)) Part {
	param := func(name string, kind cst.Kind, class string) cst.Param {
		return cst.Param{Name: name, Type: cst.Type{Kind: kind, Class: class}}
	}
	var (
		message = []cst.Param{
			param("buffer", cst.KindPointer, ""), param("count", cst.KindInt, ""),
			param("datatype", cst.KindHandle, "datatype"),
			param("peer", cst.KindRank, ""), param("tag", cst.KindTag, ""), param("comm", cst.KindHandle, "comm"),
		}
		request = param("request", cst.KindHandle, "request")
		table   cst.Table
		b       sequitur.Builder
		irecv   = table.Declare(cst.Function{Name: "irecv",
			Params: append(message[:len(message):len(message)], request)})
		send = table.Declare(cst.Function{Name: "send", Params: message})
		wait = table.Declare(cst.Function{Name: "wait",
			Params: []cst.Param{request, param("status", cst.KindHandle, "constant")}})
		args = make([]cst.Value, 7)
	)
	for i := range n {
		tag, count := arguments(rank, i/3)
		args = append(args[:0], cst.PointerTo(cst.Pointer{Segment: -16, Displacement: 8}), cst.Int(count),
			cst.Handle(-7),
			cst.Rank(int64(rank)), cst.Tag(tag), cst.Handle(-3), cst.Handle(int64(i/3)))
		var t uint32
		switch i % 3 {
		case 0:
			t = table.Intern(irecv, args...)
		case 1:
			t = table.Intern(send, args[:6]...)
		case 2:
			t = table.Intern(wait, args[6], cst.Handle(-2))
		}
		b.Append(t)
	}
	groups := map[GroupHandle]Group{{Class: "comm", Value: -3}: {Rank: rank, Size: 2}}
	return Part{Rank: rank, Table: &table, Grammar: b.Finish(), Groups: groups}
}

// heap returns the bytes that are allocated and not free yet.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// peakHeap returns the most bytes of the heap that are taken while f runs, as far as
// looking at it now and then can tell.
func peakHeap(f func()) uint64 {
	var (
		most = heap()
		done = make(chan struct{})
		last = make(chan uint64)
	)
	go func() {
		ticks := time.NewTicker(2 * time.Millisecond)
		defer ticks.Stop()
		most := most
		for {
			select {
			case <-ticks.C:
				most = max(most, heap())
			case <-done:
				last <- max(most, heap())
				return
			}
		}
	}()
	f()
	close(done)
	return <-last
}

// BenchmarkWriteUnique adds and writes ranks no two calls of which have the same
// arguments, so that there are as many signatures as calls: what that takes for a
// call, and the most memory besides the parts.
func BenchmarkWriteUnique(b *testing.B) {
	for _, unique := range uniqueCalls {
		for _, n := range []int{1e5, 1e6} {
			for _, ranks := range []int{1, 2} {
				b.Run(fmt.Sprintf("program=%s/ranks=%d/calls=%d", unique.name, ranks, n), func(b *testing.B) {
					parts := make([]Part, ranks)
					for rank := range parts {
						parts[rank] = uniquePart(rank, n/ranks, unique.arguments)
					}
					benchWriteUnique(b, parts, n)
				})
			}
		}
	}
}

func benchWriteUnique(b *testing.B, parts []Part, calls int) {
	b.ReportAllocs()
	var size layout.Counter
	most := uint64(0)
	for b.Loop() {
		runtime.GC()
		before := heap()
		most = max(most, peakHeap(func() {
			size = 0
			if err := Write(&size, Run{Ranks: len(parts)}, parts); err != nil {
				b.Fatal(err)
			}
		})-before)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*calls), "ns/event")
	b.ReportMetric(float64(most)/float64(calls), "peak-B/event")
	b.ReportMetric(float64(size), "B/file")
	b.ReportMetric(0, "ns/op")
}
