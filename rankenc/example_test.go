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
	values := make([]int64, n)
	for rank := range values {
		values[rank] = int64(rank + 1)
		if rank%k == k-1 {
			values[rank] = -1 // MPI_PROC_NULL
		}
	}
	world := rankenc.Over(rankenc.World(n), n)
	expr, ok := rankenc.Fit(world, values, rankenc.Options{Ranks: true})
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
	parsed, err := rankenc.ParseSet(enc)
	fmt.Println(parsed.Contains(15), parsed.At(6), err)
	// Output:
	// 36 ranks in 5 bytes: (9-14)+8×6
	// false 17 <nil>
}

// Two processes that differ from the others do not spoil the expression.
func ExampleNewColumn() {
	values := make([]int64, 64)
	for rank := range values {
		values[rank] = int64(rank ^ 4)
	}
	values[10], values[20] = 77, 99
	world := rankenc.Over(rankenc.World(64), 64)
	c := rankenc.NewColumn(world, values, rankenc.Options{})
	enc, err := c.AppendBinary(nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(enc), "bytes:", c)

	parsed, err := rankenc.ParseColumn(enc, world)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(parsed.At(20), parsed.At(21))
	// Output:
	// 16 bytes: rank xor 4 at 0-9, 11-19, 21-63; 22·(rank div 8)+55 elsewhere
	// 99 17
}

// Displacements follow from counts, and what is received from what is sent.
func ExampleNewMatrix() {
	world := rankenc.Over(rankenc.World(4), 4)
	send := [][]int64{{3, 1, 4, 1}, {5, 9, 2, 6}, {5, 3, 5, 8}, {9, 7, 9, 3}}
	receive, displacements := make([][]int64, 4), make([][]int64, 4)
	for i := range 4 {
		sum := int64(0)
		for j := range 4 {
			receive[i] = append(receive[i], send[j][i])
			displacements[i] = append(displacements[i], sum)
			sum += send[j][i]
		}
	}
	var list []rankenc.Matrix
	for _, rows := range [][][]int64{send, receive, displacements} {
		m := rankenc.NewMatrix(world, rows, list, rankenc.Options{})
		list = append(list, m)
		enc, err := m.AppendBinary(nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(rankenc.MatrixForm(enc), "in", len(enc), "bytes")
	}
	// Output:
	// flat in 13 bytes
	// transposed in 2 bytes
	// sums of another in 4 bytes
}
