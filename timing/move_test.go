package timing

import (
	"math"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/must"
)

// TestSeriesMove checks that a series that is opened with what moves times has the starts and ends
// that it makes of those without.
func TestSeriesMove(t *testing.T) {
	codec := must.Get(NewSeriesCodec(must.Get(NewLossless(Zstd)), must.Get(NewLossless(Zstd)), Gaps))
	b := codec.NewBuilder(3)
	for i := range int64(10) {
		b.Append(0, 1_000_000*i, 600_000)
	}
	data := b.Finish(nil)
	testSeriesMove(t, codec, data, 600_000, func(time int64) int64 { return time + 5_000_000_000 })
	testSeriesMove(t, codec, data, 600_058, func(time int64) int64 { return time + (time-500_000)/10_000 })
	testSeriesMove(t, codec, data, 0, func(time int64) int64 { return max(time, 3_000_000) })
	testSeriesMove(t, codec, data, 600_000, func(time int64) int64 { return math.MinInt64 + time })
}

func testSeriesMove(t *testing.T, codec *SeriesCodec, data []byte, least int64, apply func(int64) int64) {
	t.Helper()
	plain, err := codec.Parse(data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	moved, err := codec.Parse(data, Options{Move: apply})
	if err != nil {
		t.Fatal(err)
	}
	zeros := func(dst []uint32, _ uint64) { clear(dst) }
	for i := range uint64(10) {
		p, err := plain.At(i, zeros)
		if err != nil {
			t.Fatal(err)
		}
		q, err := moved.At(i, zeros)
		if err != nil {
			t.Fatal(err)
		}
		if q.Start != apply(p.Start) || q.Start+q.Duration != apply(p.Start+p.Duration) || q.Duration < least {
			t.Errorf("call %d: %+v of %+v", i, q, p)
		}
	}
	for i := range 4 {
		p, _ := plain.Start(i)
		if q, err := moved.Start(i); err != nil || q != apply(p) {
			t.Errorf("block %d: %d of %d, %v", i, q, p, err)
		}
	}
}
