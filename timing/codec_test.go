package timing

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"pgregory.net/rapid"
)

// checkParseError checks that err is one of a decoder, for the cause want
// unless that is nil.
func checkParseError(t rapid.TB, err, want error) {
	t.Helper()
	var e *ParseError
	if !errors.As(err, &e) || e.Package != "timing" || e.Field == "" || want != nil && !errors.Is(err, want) {
		t.Fatalf("%v, want a ParseError: %v", err, want)
	}
}

// checkMemory checks that a decoder of data allocates at most a number of bytes.
func checkMemory(t *testing.T, c Codec, data []byte, most uint64) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if d, err := c.NewDecoder(data, Options{}); err == nil {
		_ = d.Decode(make([]int64, 1), make([]uint32, 1))
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > most {
		t.Errorf("decoding %d bytes allocated %d", len(data), got)
	}
}

// testRealColumns checks the guarantee of a codec for every value of the
// recorded runs, and logs the bits per value.
func testRealColumns(t *testing.T, c Codec, columns ...string) {
	for _, name := range columns {
		sizes := newSizes()
		for _, r := range realRanks(t) {
			values := r.column(name)
			e := c.NewEncoder()
			size := 0
			for i := 0; i < len(values); i += 1 << 16 {
				n := min(len(values)-i, 1<<16)
				want := make([]int64, n)
				for k := range want {
					want[k] = e.Append(r.terminals[i+k], values[i+k])
				}
				block := e.AppendBlock(nil)
				size += len(block)
				checkFast(t, c.Guarantee(), want, values[i:][:n])
				got := make([]int64, n)
				d, err := c.NewDecoder(block, Options{})
				if err == nil {
					err = d.Decode(got, r.terminals[i:][:n])
				}
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s %s: decoded differently", r.run, r.rank)
				}
			}
			sizes.add(r.run, len(values), size)
		}
		t.Logf("%s %s: %v bits per value", c.Name(), name, sizes)
	}
}

// checkFast is checkGuarantee in float64, with room for what that rounds.
func checkFast(t *testing.T, g Guarantee, got, values []int64) {
	t.Helper()
	for i, v := range values {
		if math.Abs(float64(got[i]-v)) > float64(g)*math.Abs(float64(v))*(1+1e-12) {
			t.Fatalf("value %d: %d became %d", i, v, got[i])
		}
	}
}

// sizes sums the sizes of columns by run.
type sizes struct {
	runs   []string
	values map[string]int
	bytes  map[string]int
}

func newSizes() *sizes { return &sizes{values: make(map[string]int), bytes: make(map[string]int)} }

func (s *sizes) add(run string, values, bytes int) {
	if s.values[run] == 0 {
		s.runs = append(s.runs, run)
	}
	s.values[run] += values
	s.bytes[run] += bytes
}

// bits returns the bits per value of a run.
func (s *sizes) bits(run string) float64 { return float64(8*s.bytes[run]) / float64(s.values[run]) }

func (s *sizes) String() string {
	var b bytes.Buffer
	for _, run := range s.runs {
		fmt.Fprintf(&b, "%s %.3f  ", run, s.bits(run))
	}
	return b.String()
}

// benchmarkCodec measures both directions on the durations of a rank of the
// recorded run lu.W.8, as far as the project has it itself.
func benchmarkCodec(b *testing.B, c Codec) {
	r := shippedRank(b, "lu.W.8.part")
	terminals, values := r.terminals, r.durations
	e := c.NewEncoder()
	var block []byte
	report := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(values)), "ns/value")
		b.ReportMetric(float64(8*len(block))/float64(len(values)), "bits/value")
		b.ReportMetric(0, "ns/op")
	}
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for i, v := range values {
				e.Append(terminals[i], v)
			}
			block = e.AppendBlock(block[:0])
		}
		report(b)
	})
	b.Run("decode", func(b *testing.B) {
		if len(block) == 0 { // the other benchmark was left out
			for i, v := range values {
				e.Append(terminals[i], v)
			}
			block = e.AppendBlock(nil)
		}
		got := make([]int64, len(values))
		b.ReportAllocs()
		for b.Loop() {
			d, err := c.NewDecoder(block, Options{})
			if err == nil {
				err = d.Decode(got, terminals)
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		report(b)
	})
}
