package slice_test

import (
	"fmt"
	"os"

	"github.com/reprise-trace/reprise/mpi/slice"
)

// Cut says what of a program its calls of MPI depend on.
func ExampleCut() {
	text, err := os.ReadFile("testdata/ring.ll")
	if err != nil {
		fmt.Println(err)
		return
	}
	module, err := slice.Read(text)
	if err != nil {
		fmt.Println(err)
		return
	}
	list, err := slice.Cut(module, slice.Options{Wildcards: true, AnySource: -2, AnyTag: -1})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, n := range list.Needed() {
		fmt.Printf("%s is executed: %v reads what is received at %v\n", n.Group, n.Reader, n.Call)
	}
	for _, step := range list.Explain(slice.Position{File: "ring.c", Line: 20}) {
		fmt.Println(step.Position, step.How)
	}
	// Output:
	// Allreduce is executed: ring.c:31 reads what is received at ring.c:30
	// ring.c:20 uses it
	// ring.c:33 is in a function that it calls
	// ring.c:19 ends the program
}
