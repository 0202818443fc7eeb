package trace

import (
	"context"
	"math"
	"runtime"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/timing"
)

// TestDecodedBlock packs times of any size, in portions, and gives them back.
func TestDecodedBlock(t *testing.T) {
	value := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, 1000),
		rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64}))
	rapid.Check(t, func(t *rapid.T) {
		var b decodedBlock
		var want []timing.Time
		for range rapid.IntRange(1, 5).Draw(t, "portions") {
			portion := make([]timing.Time, rapid.IntRange(1, 20).Draw(t, "calls"))
			for i := range portion {
				portion[i] = timing.Time{Start: value.Draw(t, "start"), Duration: value.Draw(t, "duration"),
					Delta: value.Draw(t, "delta")}
			}
			b.add(portion, uint64(len(want)))
			b.add(portion, uint64(len(want))) // as another reader does
			want = append(want, portion...)
		}
		if _, whole := b.whole(uint64(len(want)) + 1); whole {
			t.Fatal("a block without its last call is whole")
		}
		packed, whole := b.whole(uint64(len(want)))
		got := make([]timing.Time, len(want))
		u := blockUnpacker{packed: packed}
		for at := 0; at < len(got); {
			n := rapid.IntRange(1, len(got)-at).Draw(t, "read")
			u.next(got[at : at+n])
			at += n
		}
		for i := range want {
			if !whole || got[i] != want[i] {
				t.Fatalf("call %d: %+v, want %+v", i, got[i], want[i])
			}
		}
	})
}

// TestDecodedTimes reads times again, also by several readers at once, and after some that did not go on to the
// end: they are those that are read without room to keep any.
func TestDecodedTimes(t *testing.T) {
	const calls = 2*blockLen + 700
	codec := must.Get(timing.NewSeriesCodec(must.Get(timing.NewExponential(0.1)),
		must.Get(timing.NewExponential(0.1)), timing.Intervals))
	file, _ := timed(t, codec, 1, calls)
	read := func(trace *Trace, from, most uint64) (list []timing.Time) {
		for at, err := range readRank(t, trace, 0).Times(from) {
			if err != nil {
				t.Fatal(err)
			}
			if list = append(list, at); uint64(len(list)) == most {
				break
			}
		}
		return list
	}
	bare := openBytes(t, file)
	bare.caches.times.most = 0
	want := read(bare, 0, calls)
	if bare.caches.times.size > decodedOverhead {
		t.Errorf("%d bytes are kept without room", bare.caches.times.size)
	}
	trace := openBytes(t, file)
	check := func(from, most uint64) {
		for i, at := range read(trace, from, most) {
			if at != want[from+uint64(i)] {
				t.Errorf("call %d is %+v, want %+v", from+uint64(i), at, want[from+uint64(i)])
				return
			}
		}
	}
	check(0, 1000)
	check(blockLen/2, blockLen)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() { check(0, calls) })
	}
	readers.Wait()
	for block := range 3 {
		b := trace.decoded.of(blockOf{0, block}, maxDecodedBlocks).get()
		if _, whole := b.whole(min(blockLen, calls-uint64(block)*blockLen)); !whole {
			t.Errorf("block %d is not kept", block)
		}
	}
	if size := trace.caches.times.size; size > 16*calls || size < 2*calls {
		t.Errorf("%d bytes are counted for %d calls", size, calls)
	}
	for _, from := range []uint64{0, 1, 300, blockLen - 1, blockLen, calls - 1} {
		check(from, calls)
	}
}

// TestDecodedRoom reads more times than may be kept: what is kept stays within the budget.
func TestDecodedRoom(t *testing.T) {
	const ranks = 6
	file, want := timed(t, exactTimes(), ranks, blockLen)
	trace := openBytes(t, file)
	c := trace.caches.times
	c.most = 16 * blockLen
	for range 2 {
		for rank := range ranks {
			n := 0
			for at, err := range readRank(t, trace, rank).Times(0) {
				if w := want[rank][n]; err != nil || at.Start != w.Start || at.Duration != w.Duration {
					t.Fatalf("call %d of rank %d: %+v, %v, want %+v", n, rank, at, err, w)
				}
				n++
			}
			kept := 0
			for x := range c.kept {
				if b := x.(*cached[decodedBlock]).get(); b != nil {
					kept += cap(b.packed) + decodedOverhead
				}
			}
			if kept > c.size || c.size > c.most {
				t.Fatalf("%d bytes are kept, %d counted, of at most %d", kept, c.size, c.most)
			}
		}
	}
	if len(c.kept) == 0 {
		t.Error("nothing is kept")
	}
}

// TestDecodeTimes decodes the times of all ranks beforehand, where there is room for those of all, and as long as
// nobody cancels it.
func TestDecodeTimes(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	const ranks, calls = 5, 1000
	file, want := timed(t, exactTimes(), ranks, calls)
	kept := func(ctx context.Context, most int) (blocks int) {
		trace := openBytes(t, file)
		trace.caches.times.most = most
		if err := trace.DecodeTimes(ctx); err != context.Cause(ctx) {
			t.Error(err)
		}
		for rank := range ranks {
			if _, whole := trace.decoded.of(blockOf{rank, 0}, maxDecodedBlocks).get().whole(calls); whole {
				blocks++
			}
			n := 0
			for at, err := range readRank(t, trace, rank).Times(0) {
				if w := want[rank][n]; err != nil || at.Start != w.Start || at.Duration != w.Duration {
					t.Fatalf("call %d of rank %d: %+v, %v, want %+v", n, rank, at, err, w)
				}
				n++
			}
		}
		return blocks
	}
	if n := kept(t.Context(), 1<<20); n != ranks {
		t.Errorf("the times of %d ranks are kept", n)
	}
	if n := kept(t.Context(), 8*ranks*calls-1); n != 0 {
		t.Errorf("the times of %d ranks are kept, without room for all", n)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if n := kept(ended, 1<<20); n != 0 {
		t.Errorf("the times of %d ranks are kept after it was cancelled", n)
	}
}
