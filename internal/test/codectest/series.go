package codectest

import (
	"bytes"
	"io"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/drawn"
	"github.com/reprise-trace/reprise/timing"
)

// TestSeries checks a codec of series: durations and deltas come back within the guarantee, and starts within
// the bound, whatever the lengths of blocks and of what is decoded at once; a call alone has the times that
// it has in its block; a snapshot is what Finish makes of the same calls, byte for byte if alone says that
// blocks do not depend on those before; and a series that is cut off or changed gives a [*timing.ParseError],
// or times.
func TestSeries(t *testing.T, c *timing.SeriesCodec, alone bool) {
	t.Run("Times", rapid.MakeCheck(func(t *rapid.T) {
		calls, blockLen := drawn.TimedCalls().Draw(t, "calls"), rapid.IntRange(1, 200).Draw(t, "blockLen")
		prefix := rapid.SliceOf(rapid.Byte()).Draw(t, "prefix")
		b := builder(c, blockLen, calls)
		data, ok := bytes.CutPrefix(b.Finish(bytes.Clone(prefix)), prefix)
		if !ok || !bytes.Equal(data, builder(c, blockLen, calls).Finish(nil)) {
			t.Fatalf("%x after %x is not what it is alone", data, prefix)
		}
		testTimes(t, c, data, blockLen, calls)
	}))
	t.Run("Snapshot", rapid.MakeCheck(func(t *rapid.T) { testSnapshot(t, c, alone) }))
	t.Run("Damaged", func(t *testing.T) { testDamagedSeries(t, c) })
}

// builder returns a builder of a series of calls.
func builder(c *timing.SeriesCodec, blockLen int, calls []drawn.TimedCall) *timing.SeriesBuilder {
	b := c.NewBuilder(blockLen)
	for _, call := range calls {
		b.Append(call.Terminal, call.Start, call.Duration)
	}
	return b
}

// testTimes checks a series against its calls.
func testTimes(t *rapid.T, c *timing.SeriesCodec, data []byte, blockLen int, calls []drawn.TimedCall) {
	s, err := c.Parse(data, timing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Len() != uint64(len(calls)) || s.Blocks() != (len(calls)+blockLen-1)/blockLen {
		t.Fatalf("%d calls in %d blocks", s.Len(), s.Blocks())
	}
	var got []timing.Time
	last := int64(0) // end of the call before
	for i := range s.Blocks() {
		block := calls[i*blockLen : min((i+1)*blockLen, len(calls))]
		if i == 0 {
			last = block[0].Start
		}
		if start, err := s.Start(i); err != nil || start != block[0].Start {
			t.Fatalf("block %d starts at %v, %v, want %v", i, start, err, block[0].Start)
		}
		d, err := s.Block(i)
		if err != nil {
			t.Fatal(err)
		}
		times := CheckBlock(t, c, d, block, last)
		last = block[len(block)-1].Start + block[len(block)-1].Duration
		got = append(got, times...)
	}
	for range min(len(calls), 5) {
		i := rapid.IntRange(0, len(calls)-1).Draw(t, "call")
		at, err := s.At(uint64(i), func(dst []uint32, first uint64) {
			for k := range dst {
				dst[k] = calls[int(first)+k].Terminal
			}
		})
		if err != nil || at != got[i] {
			t.Fatalf("call %d is %+v, %v, want %+v", i, at, err, got[i])
		}
	}
}

// CheckBlock decodes a block of a series, after a call that ended at last, in portions, and checks that it has
// the times of its calls within the guarantee, and starts within the bound.
func CheckBlock(t *rapid.T, c *timing.SeriesCodec, d *timing.SeriesDecoder, block []drawn.TimedCall,
	last int64) []timing.Time {
	if d.Len() != len(block) {
		t.Fatalf("%d calls in a block of %d", d.Len(), len(block))
	}
	times, terminals := make([]timing.Time, len(block)), make([]uint32, len(block))
	for k, call := range block {
		terminals[k] = call.Terminal
	}
	for n := 0; n < len(times); {
		portion := rapid.IntRange(1, len(times)-n).Draw(t, "portion")
		if err := d.Decode(times[n:n+portion], terminals[n:n+portion]); err != nil {
			t.Fatal(err)
		}
		n += portion
	}
	isParseError(t, c, d.Decode(make([]timing.Time, 1), []uint32{0}), io.ErrUnexpectedEOF)
	deltas, longest := drawn.Deltas(block, last, c.Form == timing.Intervals), 0.0
	for _, gap := range drawn.Deltas(block, last, false) {
		longest = max(longest, math.Abs(float64(gap)))
	}
	bound := longest * float64(c.Guarantee())
	if c.Starts > 0 {
		bound = min(bound, float64(c.Starts))
	}
	for k, call := range block {
		Guaranteed(t, c.Guarantee(), []int64{times[k].Duration, times[k].Delta}, []int64{call.Duration, deltas[k]})
		if off := distance(times[k].Start, call.Start); off > bound {
			t.Fatalf("call %d starts at %v, not %v: %v off, the bound is %v", k, times[k].Start, call.Start, off, bound)
		}
	}
	return times
}

// distance returns how far v is from w.
func distance(v, w int64) float64 {
	if (v < 0) != (w < 0) {
		return math.Abs(float64(v)) + math.Abs(float64(w))
	}
	return math.Abs(float64(v - w))
}

// testSnapshot checks two snapshots of a series, and that it is what it would have been without them.
func testSnapshot(t *rapid.T, c *timing.SeriesCodec, alone bool) {
	calls, blockLen := drawn.TimedCalls().Draw(t, "calls"), rapid.IntRange(1, 200).Draw(t, "blockLen")
	b := c.NewBuilder(blockLen)
	if rapid.Bool().Draw(t, "concurrent") {
		b.Concurrent()
	}
	n := 0
	for _, length := range []int{rapid.IntRange(0, len(calls)).Draw(t, "length"), len(calls)} {
		for ; n < length; n++ {
			b.Append(calls[n].Terminal, calls[n].Start, calls[n].Duration)
		}
		if r := b.Recorded(); (r != nil) != (n > 0 && n < blockLen) || r != nil && r.Len() != n {
			t.Fatalf("recorded of %d calls in blocks of %d: %v", n, blockLen, r != nil)
		}
		got := b.Snapshot(nil)
		if alone && !bytes.Equal(got, builder(c, blockLen, calls[:length]).Finish(nil)) {
			t.Fatalf("the snapshot after %d calls is not what Finish returns", length)
		}
		testTimes(t, c, got, blockLen, calls[:length])
	}
	if !bytes.Equal(b.Finish(nil), builder(c, blockLen, calls).Finish(nil)) {
		t.Fatal("a snapshot changes what Finish returns")
	}
}

// testDamagedSeries checks that all of a series that is cut off cannot be read, and that no change of one bit
// is a panic.
func testDamagedSeries(t *testing.T, c *timing.SeriesCodec) {
	var calls []drawn.TimedCall
	now := int64(1000)
	for i := range int64(70) {
		now += i * i % 397
		calls = append(calls, drawn.TimedCall{Terminal: uint32(i % 4), Start: now, Duration: i * i % 101})
	}
	read := func(data []byte) error {
		s, err := c.Parse(data, timing.Options{MaxValues: 1000})
		for i := 0; err == nil && i < s.Blocks(); i++ {
			var d *timing.SeriesDecoder
			if d, err = s.Block(i); err == nil {
				terminals := make([]uint32, d.Len())
				for k := range terminals {
					terminals[k] = uint32((i*30 + k) % 4)
				}
				err = d.Decode(make([]timing.Time, d.Len()), terminals)
			}
		}
		if err != nil {
			isParseError(t, c, err, nil)
		}
		return err
	}
	data := builder(c, 30, calls).Finish(nil)
	if err := read(data); err != nil {
		t.Fatal(err)
	}
	damage(data, 8, func(bad []byte, cut bool) {
		if err := read(bad); err == nil && cut {
			t.Errorf("accepted the first %d of %d bytes", len(bad), len(data))
		}
	})
}
