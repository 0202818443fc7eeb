package simgrid_test

import (
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/reprise-trace/reprise/mpi/simgrid"
)

func ExampleReader() {
	const trace = "0 init\n0 send 1 1000 12 1\n0 bcast 6 0 1 \n0 compute 8.33084e+06\n"
	functions := simgrid.Functions()
	r := simgrid.NewReader(strings.NewReader(trace), simgrid.Options{})
	for {
		c, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		f := functions[c.Function]
		fmt.Print(c.Rank, " ", f.Name)
		for _, p := range f.Params {
			fmt.Print(" ", p.Name, ":", p.Type)
		}
		fmt.Println()
	}
	for _, i := range r.Report(true).Incomplete {
		fmt.Println(i)
	}
	// Output:
	// 0 init
	// 0 send destination:rank tag:tag count:int type:handle(datatype)
	// 0 bcast count:int root:rank type:handle(datatype)
	// 0 compute flops:float
	// input: rank 0: no finalize after line 4
}

func ExampleWriter() {
	w := simgrid.NewWriter(os.Stdout)
	r := simgrid.NewReader(
		strings.NewReader("0 init\n1 init\n0 send 1 1000 12 1\n1 recv 0 1000 12 1\n0 finalize\n1 finalize\n"),
		simgrid.Options{})
	for {
		c, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		if c.Rank == 1 {
			if err := w.Write(c); err != nil {
				log.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 1 init
	// 1 recv 0 1000 12 1
	// 1 finalize
}
