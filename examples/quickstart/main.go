// Quickstart records the calls of four pretended ranks, writes them to the file
// that its argument names, and reads them back.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/tracer"
)

// The functions of the program that is traced.
var (
	send = cst.Function{Name: "MPI_Send", Params: []cst.Param{
		{Name: "count", Type: cst.Type{Kind: cst.KindInt}},
		{Name: "dest", Type: cst.Type{Kind: cst.KindRank}},
		{Name: "comm", Type: cst.HandleOf("comm")},
	}}
	allreduce = cst.Function{Name: "MPI_Allreduce", Params: []cst.Param{
		{Name: "count", Type: cst.Type{Kind: cst.KindInt}},
		{Name: "comm", Type: cst.HandleOf("comm")},
	}}
)

func main() {
	path := filepath.Join(os.TempDir(), "quickstart.rpz")
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	if err := run(os.Stdout, path); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer, path string) error {
	if err := record(path); err != nil {
		return err
	}
	return show(w, path)
}

// record writes the trace of a run of four ranks.
func record(path string) error {
	const ranks = 4
	var parts []merge.Part
	for rank := range ranks {
		var r tracer.Recorder
		send, allreduce := r.Declare(send), r.Declare(allreduce)
		for range 1000 {
			for range 20 {
				r.Call(send, cst.Int(512), cst.Rank(int64(rank+1)%ranks), cst.Handle(0))
				r.Call(send, cst.Int(512), cst.Rank(int64(rank+ranks-1)%ranks), cst.Handle(0))
			}
			r.Call(allreduce, cst.Int(1), cst.Handle(0))
		}
		parts = append(parts, r.Finish(rank))
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := merge.Write(f, merge.Run{Ranks: ranks, Source: "quickstart"}, parts); err != nil {
		return err
	}
	return f.Close()
}

// show prints the first calls of rank 1, and all of them as the loops they are.
func show(w io.Writer, path string) error {
	trace, err := reprise.Open(path)
	if err != nil {
		return err
	}
	defer trace.Close()
	rank, err := trace.Rank(1)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "rank 1 of %d: %d calls\n", trace.Ranks(), rank.Len())
	for position, call := range rank.Calls() {
		if position == 3 {
			break
		}
		fmt.Fprintln(w, position, call)
	}
	return rank.Grammar().WriteText(w, func(s sequitur.Symbol) string {
		return rank.Call(uint32(s)).String()
	})
}
