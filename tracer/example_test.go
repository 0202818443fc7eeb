package tracer_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// Goroutines that work in equal loops: each is a thread, and its loop is one line however
// they interleave.
func Example() {
	dir, err := os.MkdirTemp("", "tracer")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "program.rpz")
	process, err := tracer.Open(tracer.Config{Path: path})
	if err != nil {
		log.Fatal(err)
	}

	get := tracer.Func2[string, int]("get", "key", "out bytes")
	var workers sync.WaitGroup
	for range 2 {
		thread := process.Thread()
		workers.Go(func() {
			for i := range 10_000 {
				begun := thread.Begin()
				// … the work itself
				get.End(thread, begun, []string{"a", "b"}[i%2], 512)
			}
		})
	}
	workers.Wait()
	if err := process.Close(); err != nil {
		log.Fatal(err)
	}

	tr, err := trace.Open(path, trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	rank, err := tr.Rank(0)
	if err != nil {
		log.Fatal(err)
	}
	rank.Grammar().WriteText(os.Stdout, func(terminal uint32) string { return rank.Call(terminal).String() })
	// Output:
	// S → (get(key="a", bytes=512) get(key="b", bytes=512))^5000 (get(thread=1, key="a", bytes=512) get(thread=1, key="b", bytes=512))^5000
}

// A tracer with files of its own. What is recorded wrongly is left out, and Err says so.
func ExampleRecorder() {
	var r tracer.Recorder
	read := r.Declare(cst.Function{Name: "read", Params: []cst.Param{
		{Name: "file", Type: cst.HandleOf("file")},
		{Name: "bytes", Type: cst.Type{Kind: cst.KindInt}, Direction: cst.Out},
	}})
	sync := r.Declare(cst.Function{Name: "sync"})
	for range 1_000_000 {
		for range 3 {
			r.Call(read, cst.Handle(3), cst.Int(4096))
		}
		r.Call(sync)
	}
	fmt.Print(r.Snapshot(0).Grammar) // what there is so far, in case the program is killed
	r.Call(read, cst.Handle(3), cst.Int(17))
	r.Call(read, cst.Handle(3))
	fmt.Println(r.Len(), "calls;", r.Err())

	part := r.Finish(0)
	fmt.Println(part.Table.Len(), "signatures:", part.Grammar)
	// Output:
	// S → (0^3 1)^1000000
	// 4000001 calls; tracer: 1 calls or declarations left out, the first: cst: 1 arguments for read, which takes 2
	// 3 signatures: S → (0^3 1)^1000000 2
}

// Functions that are known only when the program runs, such as those of a plug-in, come
// from Func. Call records a call whose time is known.
func ExampleFunc() {
	dir, err := os.MkdirTemp("", "tracer")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "program.rpz")
	process, err := tracer.Open(tracer.Config{Rank: 2, Ranks: 8, Path: path})
	if err != nil {
		log.Fatal(err)
	}

	type comm struct{} // the class of handles
	send := tracer.Func3[tracer.Rank, tracer.Tag, tracer.Handle[comm]]("send", "dest", "tag", "comm")
	process.SetGroup("comm", 0, merge.Group{Rank: 1, Size: 4}) // what communicator 0 is
	solvers := make(map[string]*tracer.Function)
	for _, name := range []string{"jacobi", "multigrid"} {
		solvers[name] = tracer.Func(cst.Function{Name: name,
			Params: []cst.Param{{Name: "levels", Type: cst.Type{Kind: cst.KindInt}}}})
	}
	thread := process.Thread()
	for step := range 12 {
		process.Record(step >= 2) // the first are not to be in the trace
		begun := thread.Begin()
		send.End(thread, begun, 3, 99, 0)
		thread.End(solvers["jacobi"], begun, cst.Int(1))
		thread.Call(solvers["multigrid"], int64(begun), 1000, cst.Int(7))
		if err := process.Checkpoint(); err != nil { // after what must not be lost
			log.Fatal(err)
		}
	}
	if err := process.Close(); err != nil {
		log.Fatal(err)
	}

	tr, err := trace.Open(path, trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	rank, err := tr.Rank(2)
	if err != nil {
		log.Fatal(err)
	}
	rank.Grammar().WriteText(os.Stdout, func(terminal uint32) string { return rank.Call(terminal).String() })
	// Output:
	// S → (send(dest=3, tag=99, comm=0) jacobi(levels=1) multigrid(levels=7))^10
}

// Processes that do not share memory each write a part file of their own rank.
func Example_processes() {
	const ranks = 100
	dir, err := os.MkdirTemp("", "tracer")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	send := tracer.Func1[tracer.Rank]("send", "dest")
	for rank := range ranks { // each runs in a process of its own
		process, err := tracer.Open(tracer.Config{Rank: rank, Ranks: ranks,
			Path: filepath.Join(dir, fmt.Sprint(rank, ".rpz"))})
		if err != nil {
			log.Fatal(err)
		}
		thread := process.Thread()
		for range 1000 {
			send.End(thread, thread.Begin(), tracer.Rank(rank+1)%ranks)
		}
		if err := process.Close(); err != nil {
			log.Fatal(err)
		}
	}

	path := filepath.Join(dir, "run.rpz")
	if err := merge.Files(path, 0, dir); err != nil {
		log.Fatal(err)
	}
	tr, err := trace.Open(path, trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	rank, err := tr.Rank(99)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tr.Ranks(), "ranks call", tr.Signature(0))
	fmt.Println("rank 99 called", rank.Call(0), rank.Len(), "times")
	// Output:
	// 100 ranks call send(dest=(rank+1) mod N)
	// rank 99 called send(dest=0) 1000 times
}
