package timing_test

import (
	"errors"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/timing"
)

// TestMisuse calls the package as it must not be called.
func TestMisuse(t *testing.T) {
	exact := must.Get(timing.NewLossless(timing.Zstd))
	all := []timing.Codec{exact}
	for _, kind := range timing.Codecs() {
		all = append(all, must.Get(kind.New(0.1)))
	}
	few := timing.Column[int64]{Values: make([]int64, 3), Terminals: []uint32{1}}
	three := timing.Column[int64]{Values: make([]int64, 3)}
	series := must.Get(timing.NewSeriesCodec(exact, exact, timing.Gaps))
	builder := series.NewBuilder(0)
	builder.Append(1, 2, 3)
	data := builder.Finish(nil)
	parsed, err := series.Parse(data, timing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	misuse.Refused(t, "timing", map[string]func() error{
		"split of nothing": func() error { _, err := timing.NewSplit(nil, func(uint32) int { return 0 }); return err },
		"split of nil": func() error {
			_, err := timing.NewSplit([]timing.Codec{nil}, func(uint32) int { return 0 })
			return err
		},
		"split by nothing":  func() error { _, err := timing.NewSplit(all, nil); return err },
		"series of nothing": func() error { _, err := timing.NewSeriesCodec(nil, nil, 9); return err },
		"series without durations": func() error {
			_, err := timing.NewSeriesCodec(nil, exact, timing.Gaps)
			return err
		},
		"series without deltas": func() error {
			_, err := timing.NewSeriesCodec(exact, nil, timing.Gaps)
			return err
		},
		"series of another form":   func() error { _, err := timing.NewSeriesCodec(exact, exact, 9); return err },
		"lossless by what is none": func() error { _, err := timing.NewLossless(99); return err },
	})
	calls := map[string]func(){
		"comparing few terminals": func() {
			timing.Compare([]timing.Column[int64]{few}, timing.CompareOptions{})
		},
		"summarizing few terminals": func() {
			timing.Summarize([]timing.Column[int64]{few}, timing.CompareOptions{})
		},
		"encoding without a codec": func() { three.Encode(nil) },
		"decoding without a codec": func() { three.Decode(nil, [][]byte{{}}) },
		"reader of no file":        func() { must.Get(timing.NewReader(nil, 0, nil, timing.Options{})) },
		"split beyond the codecs": func() {
			must.Get(timing.NewSplit(all, func(uint32) int {
				return len(all)
			})).NewEncoder().Append(1, 1)
		},
		"split before the codecs": func() {
			must.Get(timing.NewSplit(all, func(uint32) int {
				return -1
			})).NewEncoder().Append(1, 1)
		},
		"builder of an empty series codec": func() { new(timing.SeriesCodec).NewBuilder(0) },
		"block before":                     func() { parsed.Block(-1) },
		"block after":                      func() { parsed.Block(1) },
		"start of a block after":           func() { parsed.Start(1) },
		"call after the end":               func() { parsed.At(1, func(dst []uint32, _ uint64) {}) },
		"first of a block after":           func() { parsed.First(5) },
		"call beyond the index":            func() { parsed.Find(1) },
		"statistics without classes": func() {
			timing.AppendStatisticsTable(nil, 1, nil, make([]timing.Statistics, 1))
		},
		"statistics of two lengths": func() {
			timing.AppendStatisticsTable(nil, 1, func(int) uint32 { return 0 }, make([]timing.Statistics, 2))
		},
		"reducing to -1": func() { new(timing.Histogram).Reduce(-1) },
	}
	for _, codec := range append(all, must.Get(timing.NewSplit(all, func(uint32) int { return 0 }))) {
		calls["encoding few terminals, "+codec.Name()] = func() { few.Encode(codec) }
		calls["decoding few terminals, "+codec.Name()] = func() { few.Decode(codec, three.Encode(codec)) }
		calls["summing up few terminals, "+codec.Name()] = func() {
			timing.Compare([]timing.Column[int64]{few}, timing.CompareOptions{Codecs: []timing.Codec{codec}})
		}
		calls["decoding without terminals, "+codec.Name()] = func() {
			d, err := codec.NewDecoder(three.Encode(codec)[0], timing.Options{})
			if err != nil {
				t.Fatal(err)
			}
			d.Decode(make([]int64, 3), nil)
		}
	}
	misuse.Panic(t, "timing", calls)
	for _, codec := range append(all, must.Get(timing.NewSplit(all, func(uint32) int { return 0 }))) {
		t.Run("other lengths, "+codec.Name(), func(t *testing.T) {
			for _, length := range []int{0, 1, 2, 4, 1<<16 + 1} {
				var wrong *timing.ParseError
				if err := (timing.Column[int64]{Values: make([]int64, length)}).Decode(codec,
					three.Encode(codec)); !errors.As(err, &wrong) {
					t.Errorf("3 values into %d: %v", length, err)
				}
			}
			d, err := codec.NewDecoder(three.Encode(codec)[0], timing.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := d.Decode(make([]int64, 4), make([]uint32, 4)); err == nil {
				t.Error("3 values as 4")
			}
		})
	}
	misuse.Harmless(t, map[string]func(){
		"zero values": func() {
			var (
				h timing.Histograms
				s timing.Statistics
			)
			s.Merge(&timing.Statistics{})
			s.Mean()
			s.Variance()
			h.Find(timing.Path{})
			h.Len()
			h.Reduce(4)
			_ = timing.Form(9).String() + timing.Compressor(99).String()
		},
		"parsing nothing": func() {
			timing.ParseHistograms(nil)
			timing.ReadStatistics(nil)
			timing.NewCodec("")
			timing.NewEntropy(-1)
			timing.ParseStatisticsTable(nil, -1, func(int) uint32 { return 0 }, -1)
			series.Parse(nil, timing.Options{})
			series.Open(nil, nil, nil, timing.Options{})
		},
	})
}
