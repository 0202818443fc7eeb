package timing_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/reprise-trace/reprise/timing"
)

func ExampleSeriesCodec() {
	bins, err := timing.NewExponential(0.1)
	if err != nil {
		panic(err)
	}
	codec, err := timing.NewSeriesCodec(bins, bins, timing.Gaps)
	if err != nil {
		panic(err)
	}

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

// The two levels of entropy coding: what a program measures whose messages are larger in every third call.
func ExampleNewEntropyFast() {
	for _, level := range []func(epsilon float64) (timing.Codec, error){timing.NewEntropy, timing.NewEntropyFast} {
		codec, err := level(0.01)
		if err != nil {
			panic(err)
		}
		e := codec.NewEncoder()
		for i := range int64(10_000) {
			took := 20*time.Microsecond + time.Duration(i*i%977)
			if i%3 == 2 {
				took *= 4
			}
			e.Append(uint32(i%3/2), int64(took)) // which of two calls, and how long it took
		}
		fmt.Println(codec.Name(), len(e.AppendBlock(nil)), "bytes")
	}
	// Output:
	// entropy,epsilon=0.01 1969 bytes
	// entropy-fast,epsilon=0.01 1981 bytes
}

func ExampleNewWriter() {
	exact, err := timing.NewCodec("lossless,compressor=zstd")
	if err != nil {
		panic(err)
	}
	var file bytes.Buffer // os.Create in a program
	w, err := timing.NewWriter(&file, exact, 0)
	if err != nil {
		panic(err)
	}
	for i := range int64(1_000_000) { // as they are measured
		latency := 20*time.Microsecond + time.Duration(i*i%977)
		if err := w.Append(0, int64(latency)); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}

	r, err := timing.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()), nil, timing.Options{})
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Len(), "values,", r.Codec().Name())
	last, err := r.At(r.Len() - 1)
	fmt.Println(time.Duration(last), err)
	for v, err := range r.From(500_000) {
		fmt.Println(time.Duration(v), err)
		if v%2 == 1 {
			break
		}
	}
	// Output:
	// 1000000 values, lossless,compressor=zstd
	// 20.339µs <nil>
	// 20.349µs <nil>
}
