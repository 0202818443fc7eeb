// Quickstart records the calls of four pretended ranks, writes them to the file
// that its argument names, and reads them back.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

func main() {
	flag.Parse()
	path := cmp.Or(flag.Arg(0), filepath.Join(os.TempDir(), "quickstart.rpz"))
	record(path)
	show(os.Stdout, path)
}

// record writes the trace of a run of four ranks.
func record(path string) {
	integer, rank, comm := cst.Type{Kind: cst.KindInt}, cst.Type{Kind: cst.KindRank}, cst.HandleOf("comm")
	var parts []merge.Part
	for me := range 4 { // each would be a process of its own
		var r tracer.Recorder
		send := r.Declare(cst.Function{Name: "MPI_Send", Params: []cst.Param{
			{Name: "count", Type: integer}, {Name: "dest", Type: rank}, {Name: "comm", Type: comm}}})
		allreduce := r.Declare(cst.Function{Name: "MPI_Allreduce", Params: []cst.Param{
			{Name: "count", Type: integer}, {Name: "comm", Type: comm}}})
		for range 1000 {
			for range 20 {
				r.Call(send, cst.Int(512), cst.Rank(int64(me+1)%4), cst.Handle(0))
				r.Call(send, cst.Int(512), cst.Rank(int64(me+3)%4), cst.Handle(0))
			}
			r.Call(allreduce, cst.Int(1), cst.Handle(0))
		}
		parts = append(parts, r.Finish(me))
	}
	f, err := os.Create(path)
	check(err)
	check(merge.Write(f, merge.Run{Ranks: 4, Source: "quickstart"}, parts))
	check(f.Close())
}

// show prints the first calls of rank 1, and all of them as the loops they are.
func show(w io.Writer, path string) {
	tr, err := trace.Open(path, trace.Options{})
	check(err)
	defer tr.Close()
	rank, err := tr.Rank(1)
	check(err)
	fmt.Fprintf(w, "rank 1 of %d: %d calls\n", tr.Ranks(), rank.Len())
	for call, err := range rank.Calls(0) {
		check(err)
		if call.Position == 3 {
			break
		}
		fmt.Fprintln(w, call.Position, call)
	}
	check(rank.Grammar().WriteText(w, func(terminal uint32) string { return rank.Call(terminal).String() }))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
