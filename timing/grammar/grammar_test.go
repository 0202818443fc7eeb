package grammar

import (
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/bins"
	"github.com/reprise-trace/reprise/internal/test/codectest"
	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/internal/test/recorded"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/timing"
)

func newCodec(t rapid.TB, epsilon float64) *codec {
	c, err := New(epsilon)
	if err != nil {
		t.Fatal(err)
	}
	return c.(*codec)
}

// values returns the values of a loop that takes nearly the same time, and of
// some calls that do not.
func values(special ...int64) []int64 {
	var all []int64
	for i := range 40 {
		all = append(all, 100, int64(200+i%2), 300, 0, -5)
	}
	return append(all, special...)
}

var special = []int64{math.MinInt64, math.MaxInt64, -1}

func TestCodec(t *testing.T) {
	for _, epsilon := range []float64{0.001, 0.1, bins.MaxEpsilon} {
		c := newCodec(t, epsilon)
		t.Run(c.Name(), func(t *testing.T) { codectest.Test(t, c) })
	}
	if _, err := New(0); err == nil {
		t.Error("accepted epsilon 0")
	}
}

// TestLoop checks that a loop takes no more bytes if it runs longer.
func TestLoop(t *testing.T) {
	c := newCodec(t, 0.1)
	e := c.NewEncoder()
	for i := range 1_000_000 {
		e.Append(0, []int64{1000, 20, 1020, 0, 7}[i%5]+int64(i/5%2))
	}
	if block := e.AppendBlock(nil); len(block) > 40 {
		t.Errorf("a loop took %d bytes", len(block))
	}
}

func encode(c *codec, in []int64) []byte {
	e := c.NewEncoder()
	for _, v := range in {
		e.Append(0, v)
	}
	return e.AppendBlock(nil)
}

// decode decodes all values of a block, at most 1<<12 of them.
func decode(t *testing.T, c *codec, block []byte) ([]int64, error) {
	d, err := c.NewDecoder(block, timing.Options{MaxValues: 1 << 12})
	var all []int64
	for v := make([]int64, 1); err == nil; all = append(all, v[0]) {
		if err = d.Decode(v, make([]uint32, 1)); errors.Is(err, io.ErrUnexpectedEOF) {
			return all, nil
		}
		if len(all) > 1<<12 {
			t.Fatal("more values than the limit")
		}
	}
	var e *timing.ParseError
	if !errors.As(err, &e) || e.Package != "timing" || e.Offset < 0 || e.Offset > int64(len(block)) {
		t.Fatalf("error of %x is %v", block, err)
	}
	return nil, err
}

func TestErrors(t *testing.T) {
	c := newCodec(t, 0.1)
	for _, tt := range []struct {
		name  string
		err   error
		off   int64
		cause error
	}{
		{"Empty", second(decode(t, c, nil)), 0, io.ErrUnexpectedEOF},
		{"Grammar", second(decode(t, c, []byte{1, 1, 0, 9})), 3, ErrCorrupt},
		{"TerminalTooLarge", second(decode(t, c, []byte{1, 1, 0xc4, 0x0d})), 2, ErrCorrupt},
		{"TooMany", second(decode(t, c, encode(c, make([]int64, 1<<12+1)))), 2, ErrLimit},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var e *timing.ParseError
			if !errors.As(tt.err, &e) || e.Offset != tt.off || !errors.Is(e, tt.cause) {
				t.Errorf("%v, want %v at offset %d", tt.err, tt.cause, tt.off)
			}
		})
	}
}

var ErrCorrupt, ErrLimit = timing.ErrCorrupt, timing.ErrLimit

func second[T any](_ T, err error) error { return err }

// TestMemory checks that what a decoder allocates follows from the bytes it was
// given: here they stand for a million values.
func TestMemory(t *testing.T) {
	c := newCodec(t, 0.1)
	block := encode(c, make([]int64, 1<<20))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d, err := c.NewDecoder(block, timing.Options{})
	if err == nil {
		err = d.Decode(make([]int64, 1), make([]uint32, 1))
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; err != nil || got > 8<<10 {
		t.Errorf("decoding %d bytes allocated %d, %v", len(block), got, err)
	}
}

// TestReal checks the guarantee for the durations of the recorded runs.
func TestReal(t *testing.T) {
	if raceEnabled {
		t.Skip("one goroutine reads millions of values: there is nothing for the race detector to find")
	}
	c := newCodec(t, 0.1)
	sizes, calls := make(map[string]int), make(map[string]int)
	for _, r := range tier.Some(recorded.Ranks(t), 4) {
		block := encode(c, r.Durations)
		sizes[r.Run] += len(block)
		calls[r.Run] += len(r.Durations)
		d, err := c.NewDecoder(block, timing.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := make([]int64, len(r.Durations))
		if err := d.Decode(got, r.Terminals); err != nil {
			t.Fatal(err)
		}
		for i, v := range r.Durations {
			if math.Abs(float64(got[i]-v)) > 0.1*math.Abs(float64(v)) {
				t.Fatalf("%s %s: %d became %d", r.Run, r.Rank, v, got[i])
			}
		}
	}
	for run, n := range calls {
		t.Logf("%s: %.3f bits per duration", run, 8*float64(sizes[run])/float64(n))
	}
}

// FuzzDecoder checks that what is accepted can be encoded again to the same
// values.
func FuzzDecoder(f *testing.F) {
	c := newCodec(f, 0.1)
	f.Add(encode(c, values(special...)))
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		in, err := decode(t, c, data)
		if err != nil {
			return
		}
		if out, err := decode(t, c, encode(c, in)); err != nil || !slices.Equal(out, in) {
			t.Fatalf("%v became %v, %v when encoded again", in, out, err)
		}
	})
}

func BenchmarkCodec(b *testing.B) {
	c := newCodec(b, 0.1)
	in := make([]int64, 1<<16)
	state := uint64(1)
	for i := range in { // every tenth call takes another time
		in[i] = []int64{1000, 20, 300, 5000}[i%4]
		if state = state*6364136223846793005 + 1442695040888963407; state>>60 < 2 {
			in[i] += int64(state >> 54 & 63)
		}
	}
	report := func(b *testing.B, size int) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(in)), "ns/value")
		b.ReportMetric(float64(8*size)/float64(len(in)), "bits/value")
		b.ReportMetric(0, "ns/op")
	}
	block := encode(c, in)
	b.Run("encode", func(b *testing.B) {
		e := c.NewEncoder()
		for b.Loop() {
			for _, v := range in {
				e.Append(0, v)
			}
			block = e.AppendBlock(block[:0])
		}
		report(b, len(block))
	})
	b.Run("decode", func(b *testing.B) {
		out, terminals := make([]int64, len(in)), make([]uint32, len(in))
		for b.Loop() {
			d, err := c.NewDecoder(block, timing.Options{})
			if err == nil {
				err = d.Decode(out, terminals)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		report(b, len(block))
	})
}
