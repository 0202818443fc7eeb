package timing_test

import (
	"fmt"

	"github.com/reprise-trace/reprise/timing"
)

func ExampleSeriesCodec() {
	bins, err := timing.NewExponential(0.1)
	if err != nil {
		panic(err)
	}
	codec := timing.NewSeriesCodec(bins, bins, timing.Gaps)

	// A rank makes a call, its terminal 7, every 1,000 ns. It takes 250 ns.
	b := codec.NewBuilder(0)
	for i := range int64(1_000_000) {
		b.Append(7, 1_000*i, 250)
	}
	data := b.Finish(nil)

	series, err := codec.Parse(data, timing.Options{})
	if err != nil {
		panic(err)
	}
	t, err := series.At(999_999, func(dst []uint32, first uint64) {
		for i := range dst {
			dst[i] = 7
		}
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(series.Len(), "calls,", codec.Guarantee())
	fmt.Println("error of the start:", t.Start-999_999_000, "ns")
	fmt.Println("duration:", t.Duration, "ns")
	// Output:
	// 1000000 calls, relative error 0.1
	// error of the start: -49 ns
	// duration: 252 ns
}

func ExampleStatistics() {
	var rank0, rank1 timing.Statistics
	for _, d := range []int64{10, 20, 30} {
		rank0.Add(0, d)
	}
	rank1.Add(1, 60)
	rank0.Merge(&rank1)
	fmt.Println(rank0.Count, "values, mean", rank0.Mean(), "variance", rank0.Variance())
	fmt.Println("largest:", rank0.Max, "in rank", rank0.MaxRank)
	// Output:
	// 4 values, mean 30 variance 350
	// largest: 60 in rank 1
}
