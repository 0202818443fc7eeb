package rankenc_test

import (
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/rankenc"
)

// The destinations of the processes in a grid of 1024 × 1024 that send to their
// right neighbour are one expression, for the last column as well.
func ExampleFit() {
	const k, n = 1024, 1024 * 1024
	ranks, values := make([]int64, n), make([]int64, n)
	for rank := range values {
		ranks[rank], values[rank] = int64(rank), int64(rank+1)
		if rank%k == k-1 {
			values[rank] = -1 // MPI_PROC_NULL
		}
	}
	expr, ok := rankenc.Fit(ranks, values, n, rankenc.Options{Ranks: true})
	if !ok {
		log.Fatal("no expression")
	}
	enc, err := expr.AppendBinary(nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(expr, "in", len(enc), "bytes")
	fmt.Println(expr.Eval(5, n), expr.Eval(1023, n))
	// Output:
	// grid 1024: column+1, row or -1 in 6 bytes
	// 6 -1
}

// The interior of a grid is one block of ranks, repeated.
func ExampleSet() {
	var b rankenc.SetBuilder
	for rank := range 64 {
		if x, y := rank%8, rank/8; x > 0 && x < 7 && y > 0 && y < 7 {
			b.Add(rank)
		}
	}
	s := b.Finish()
	enc, err := s.AppendBinary(nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Len(), "ranks in", len(enc), "bytes:", s)
	parsed, rest, err := rankenc.ParseSet(enc)
	fmt.Println(parsed.Contains(15), parsed.At(6), len(rest), err)
	// Output:
	// 36 ranks in 5 bytes: (9-14)+8×6
	// false 17 0 <nil>
}
