package main

import (
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/trace/meaning"
	"github.com/reprise-trace/reprise/tracer"
)

// What is recorded. A channel is the tag of a message.
var (
	send    = tracer.Func3[tracer.Rank, tracer.Tag, int]("send", "to", "channel", "bytes")
	receive = tracer.Func2[tracer.Rank, tracer.Tag]("receive", "from", "channel")
	prepare = tracer.Func1[int]("prepare", "bytes")
	work    = tracer.Func1[int]("work", "bytes")
)

// The channels: workers say on idle that they want a job, and get it on a channel of their own.
const (
	idle tracer.Tag = iota
	jobs
)

// A pool says what these calls mean to other ranks: rank 0 is the dispatcher, the others are workers.
type pool struct{}

func (pool) Groups() []meaning.Group { return nil }

func (pool) Of(_ int, call *trace.Call) meaning.Operation {
	number := func(name string) int64 {
		v, _ := call.Arg(name)
		return v.Int()
	}
	switch call.Function.Name {
	case "send":
		return meaning.Operation{Sends: []meaning.Message{{
			Peer: int(number("to")), Tag: number("channel"), Bytes: number("bytes"),
			Waits: number("channel") == int64(jobs), // it has no buffer
		}}}
	case "receive":
		return meaning.Operation{Receives: []meaning.Message{{
			Peer: int(number("from")), Tag: number("channel"), Bytes: meaning.Unknown,
		}}}
	}
	return meaning.Operation{} // prepare and work compute
}

const workers, size = 4, 4096

// run runs the pool, of which each goroutine is a rank, and returns what has recorded them.
func run(dir string) (recorded []*tracer.Process) {
	exact, err := timing.NewLossless(timing.Zstd)
	check(err)
	series, err := timing.NewSeriesCodec(exact, exact, timing.Gaps)
	check(err)
	wanted, given := make(chan int, workers), make([]chan []byte, workers+1)
	var ranks sync.WaitGroup
	for rank := range workers + 1 {
		process, err := tracer.Open(tracer.Config{
			Rank: rank, Ranks: workers + 1, Source: "workerpool",
			Path:    filepath.Join(dir, fmt.Sprint(rank, ".rpz")),
			Options: tracer.Options{Series: series},
		})
		check(err)
		recorded = append(recorded, process)
		given[rank] = make(chan []byte)
		ranks.Go(func() {
			if thread := process.Thread(); rank == 0 {
				dispatch(thread, wanted, given)
			} else {
				time.Sleep(time.Duration(rank) * time.Microsecond) // so that they do not begin in any order
				serve(thread, rank, wanted, given[rank])
			}
		})
	}
	ranks.Wait()
	return recorded
}

// save writes the parts of all ranks, and makes one trace of them.
func save(path, dir string, recorded []*tracer.Process) {
	for _, process := range recorded {
		check(process.Close())
	}
	check(merge.Files(path, 0, dir))
}

// dispatch prepares jobs, and gives each to a worker that wants one, and then nothing to each.
func dispatch(t *tracer.Thread, wanted <-chan int, given []chan []byte) {
	for number := range 20 + workers {
		var job []byte
		if number < 20 {
			begun := t.Begin()
			job = make([]byte, size)
			time.Sleep(3 * time.Millisecond)
			prepare.End(t, begun, size)
		}
		begun := t.Begin()
		worker := <-wanted
		receive.End(t, begun, tracer.Rank(worker), idle)
		begun = t.Begin()
		given[worker] <- job
		send.End(t, begun, tracer.Rank(worker), jobs, len(job))
	}
}

// serve works until there is no job any more.
func serve(t *tracer.Thread, rank int, wanted chan<- int, given <-chan []byte) {
	for {
		begun := t.Begin()
		wanted <- rank
		send.End(t, begun, 0, idle, 0)
		begun = t.Begin()
		job := <-given
		receive.End(t, begun, 0, jobs)
		if job == nil {
			return
		}
		begun = t.Begin()
		time.Sleep(10 * time.Millisecond)
		work.End(t, begun, len(job))
	}
}
