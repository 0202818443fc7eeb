package proxy_test

import (
	"context"
	"fmt"
	"log"

	"github.com/reprise-trace/reprise/mpi/proxy"
	"github.com/reprise-trace/reprise/trace"
)

// The program of a trace: how long it is, and what its files are.
func Example() {
	tr, err := trace.Open("../../examples/notebook/heat.rpz", trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	p, err := proxy.Generate(context.Background(), tr, proxy.Options{Name: "heat.rpz", Compute: proxy.None})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Lines < 300, len(p.LeftOut))
	for _, f := range p.Files {
		fmt.Println(f.Name)
	}
	// Output:
	// true 0
	// main.c
	// proxy.h
	// proxy.c
	// Makefile
	// README
}
