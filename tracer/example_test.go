package tracer_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"sync"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
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
				// … what is to be recorded
				get.End(thread, begun, []string{"a", "b"}[i%2], 512)
			}
		})
	}
	workers.Wait()
	if err := process.Close(); err != nil {
		log.Fatal(err)
	}

	trace, err := reprise.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()
	rank, err := trace.Rank(0)
	if err != nil {
		log.Fatal(err)
	}
	rank.Grammar().WriteText(os.Stdout, func(terminal uint32) string { return rank.Call(terminal).String() })
	// Output:
	// S → (get(key="a", bytes=512) get(key="b", bytes=512))^5000 (get(thread=1, key="a", bytes=512) get(thread=1, key="b", bytes=512))^5000
}

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
	r.Call(read, cst.Handle(3), cst.Int(17))

	part := r.Finish(0)
	fmt.Println(part.Grammar.Len(), "calls,", part.Table.Len(), "signatures")
	fmt.Println(part.Grammar)
	// Output:
	// 4000001 calls, 3 signatures
	// S → (0^3 1)^1000000 2
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
		process, err := tracer.Open(tracer.Config{Rank: rank, Ranks: ranks, Path: filepath.Join(dir, fmt.Sprint(rank, ".rpz"))})
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
	if err := reprise.Merge(path, dir); err != nil {
		log.Fatal(err)
	}
	trace, err := reprise.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer trace.Close()
	rank, err := trace.Rank(99)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(trace.Ranks(), "ranks call", trace.Signature(0))
	fmt.Println("rank 99 called", rank.Call(0), rank.Len(), "times")
	// Output:
	// 100 ranks call send(dest=(rank+1) mod N)
	// rank 99 called send(dest=0) 1000 times
}
