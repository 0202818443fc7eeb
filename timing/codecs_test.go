package timing_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/bins"
	"github.com/reprise-trace/reprise/internal/test/codectest"
	"github.com/reprise-trace/reprise/internal/test/drawn"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/timing"
)

// splitCodecs are those of terminal 0, which is kept exactly, of the odd ones, and of the others.
var splitCodecs = []timing.Codec{
	must.Get(timing.NewLossless(timing.LZ4)), must.Get(timing.NewExponential(0.01)),
	must.Get(timing.NewExponential(bins.MaxEpsilon)),
}

func splitOf(terminal uint32) int {
	if terminal == 0 {
		return 0
	}
	return 2 - int(terminal&1)
}

func newSplit() timing.Codec { return must.Get(timing.NewSplit(splitCodecs, splitOf)) }

func TestCodecs(t *testing.T) {
	var codecs []timing.Codec
	for _, epsilon := range []float64{bins.MinEpsilon, 0.001, 0.1, bins.MaxEpsilon} {
		codecs = append(codecs, must.Get(timing.NewEntropy(epsilon)), must.Get(timing.NewEntropyFast(epsilon)))
	}
	for _, epsilon := range []float64{0.001, 0.1, bins.MaxEpsilon} {
		codecs = append(codecs, must.Get(timing.NewExponential(epsilon)))
	}
	for _, name := range []string{"hist,epsilon=0.1,samples=100,bits=5",
		"hist,epsilon=0.001,samples=1,bits=1", "hist,epsilon=0.3,samples=10,bits=12"} {
		codecs = append(codecs, must.Get(timing.NewCodec(name)))
	}
	for _, kind := range timing.Codecs() {
		c := must.Get(kind.New(0.01))
		if name, _, _ := strings.Cut(c.Name(), ","); name != kind.Kind ||
			kind.Exact != (c.Guarantee() == timing.Exact) || kind.About == "" {
			t.Errorf("%+v is %s, %v", kind, c.Name(), c.Guarantee())
		}
		codecs = append(codecs, c)
	}
	codecs = append(codecs, newSplit(), plain{exact, "plain", 3})
	for _, c := range codecs {
		t.Run(c.Name(), func(t *testing.T) { codectest.Test(t, c) })
	}
	t.Run("whole", func(t *testing.T) { codectest.Test(t, wholeCodec{}) })
	for _, c := range timing.SeriesCodecs(t) {
		t.Run(c.Name(), func(t *testing.T) { codectest.TestSeries(t, c, !strings.Contains(c.Name(), "hist")) })
	}
	entropy, fast := must.Get(timing.NewEntropy(0.1)), must.Get(timing.NewEntropyFast(0.1))
	for _, durations := range []timing.Codec{entropy, fast} {
		c := must.Get(timing.NewSeriesCodec(durations, fast, timing.Gaps))
		t.Run(c.Name(), func(t *testing.T) { codectest.TestSeries(t, c, true) })
	}
}

// TestSeriesBlocks checks blocks of a series that have different lengths, none too.
func TestSeriesBlocks(t *testing.T) {
	for _, c := range timing.SeriesCodecs(t) {
		t.Run(c.Name(), rapid.MakeCheck(func(t *rapid.T) {
			calls := drawn.TimedCalls().Draw(t, "calls")
			e, decoder := timing.SeriesBlocks(c)
			last := int64(0) // end of the call before
			for begun := false; !begun || len(calls) > 0; begun = true {
				n := rapid.IntRange(min(1, len(calls)), len(calls)).Draw(t, "block")
				block := calls[:n]
				calls = calls[n:]
				for _, call := range block {
					e.Append(call.Terminal, call.Start, call.Duration)
				}
				if e.Len() != n {
					t.Fatalf("%d calls in a block of %d", e.Len(), n)
				}
				if !begun && n > 0 {
					last = block[0].Start
				}
				d, err := decoder(e.AppendBlock(nil), timing.Options{})
				if err != nil {
					t.Fatal(err)
				}
				codectest.CheckBlock(t, c, d, block, last)
				if n > 0 {
					last = block[n-1].Start + block[n-1].Duration
				}
			}
		}))
	}
}

// TestSplitGuarantees checks that each terminal has the guarantee of its codec.
func TestSplitGuarantees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := newSplit().NewEncoder()
		for _, call := range drawn.Calls(drawn.Values()).Draw(t, "calls") {
			got := e.Append(call.Terminal, call.Value)
			codectest.Guaranteed(t, splitCodecs[splitOf(call.Terminal)].Guarantee(), []int64{got}, []int64{call.Value})
		}
	})
}

// fuzz has blocks of codecs decoded, by all of them: unique says that each has one encoding of values.
func fuzz(f *testing.F, unique bool, codecs ...timing.Codec) {
	for _, c := range codecs {
		e := c.NewEncoder()
		for range 2 { // the second may depend on the first
			block, _ := codectest.Block(e, codectest.Hard())
			f.Add(block)
		}
	}
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		for _, c := range codecs {
			codectest.Fuzz(t, c, data, unique)
		}
	})
}

// FuzzEntropy is of bins in phases, which a writer chooses by the values that were: FuzzEntropyPhases has the same.
func FuzzEntropy(f *testing.F) { fuzz(f, false, must.Get(timing.NewEntropy(0.1))) }

func FuzzEntropyFine(f *testing.F) { fuzz(f, true, must.Get(timing.NewEntropy(0.01))) }

// FuzzEntropyFast is of bins in phases: FuzzEntropyFastPhases has the same.
func FuzzEntropyFast(f *testing.F) { fuzz(f, false, must.Get(timing.NewEntropyFast(0.1))) }

func FuzzEntropyFastFine(f *testing.F) {
	fuzz(f, true, must.Get(timing.NewEntropyFast(0.01)), must.Get(timing.NewEntropyFast(0.0001)))
}

// FuzzExponential is of bins in phases: FuzzExponentialPhases has the same.
func FuzzExponential(f *testing.F) { fuzz(f, false, must.Get(timing.NewExponential(0.1))) }

func FuzzExponentialFine(f *testing.F) { fuzz(f, true, must.Get(timing.NewExponential(0.01))) }

func FuzzHIST(f *testing.F) {
	fuzz(f, false, must.Get(timing.NewCodec("hist,epsilon=0.1,samples=10,bits=5")))
}

func FuzzLossless(f *testing.F) {
	fuzz(f, false, must.Get(timing.NewLossless(timing.Zstd)), must.Get(timing.NewLossless(timing.LZ4)))
}

func FuzzSplit(f *testing.F) { fuzz(f, false, newSplit()) }
