// Replay runs a trace again on a network of 1 µs and 10 GB/s, where ranks compute as long as they
// did, and prints how long each computes, sends and waits.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/trace"
)

type network struct{ *replay.Recorded }

// Steady has loops be skipped where computing is always the same.
func (n network) Steady() bool { return n.Means() }

func (network) Message(m *replay.Message) replay.Cost {
	return replay.Cost{Transfer: replay.Microsecond + 100*replay.Time(max(m.Bytes, 0)), Rendezvous: m.Bytes > 1<<16}
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: replay TRACE.rpz")
	}
	run(os.Stdout, os.Args[1])
}

// run replays the trace in a file.
func run(out io.Writer, path string) {
	tr, err := trace.Open(path, trace.Options{})
	check(err)
	defer tr.Close()
	model, err := semantics.Open(context.Background(), tr)
	check(err)
	recorded, err := replay.NewRecorded(tr)
	check(err)
	result, err := replay.Run(context.Background(), model, network{recorded})
	check(err)
	check(recorded.Err())
	fmt.Fprintf(out, "%4s  %14v  %14v  %14v  %14v\n", "rank", "ends", "computes", "sends", "waits")
	for _, r := range result.Ranks {
		fmt.Fprintf(out, "%4d  %14v  %14v  %14v  %14v\n", r.Rank, r.End, r.Computing, r.Sending, r.Waiting)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
