package columns_test

import (
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/rankenc"
)

// Two processes that differ from the others do not spoil the expression.
func ExampleNewColumn() {
	values := make([]int64, 64)
	for rank := range values {
		values[rank] = int64(rank ^ 4)
	}
	values[10], values[20] = 77, 99
	world := columns.Over(rankenc.World(64), 64)
	c := columns.NewColumn(world, values, columns.Options{})
	enc, err := c.AppendBinary(nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(enc), "bytes:", c)

	parsed, err := columns.ParseColumn(enc, world)
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
	world := columns.Over(rankenc.World(4), 4)
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
	var list []columns.Matrix
	for _, rows := range [][][]int64{send, receive, displacements} {
		m := columns.NewMatrix(world, rows, list, columns.Options{})
		list = append(list, m)
		enc, err := m.AppendBinary(nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(columns.MatrixForm(enc), "in", len(enc), "bytes")
	}
	// Output:
	// flat in 13 bytes
	// transposed in 2 bytes
	// sums of another in 4 bytes
}
