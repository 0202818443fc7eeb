// Replay runs a trace again on a machine with a latency and a bandwidth, where ranks compute as
// long as they did, and prints how long each computes, sends and waits.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"text/tabwriter"
	"time"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/replay"
	"github.com/reprise-trace/reprise/semantics"
)

type network struct {
	*replay.Recorded
	latency, perByte replay.Time
}

// Steady has loops be skipped where computing is always the same.
func (n network) Steady() bool { return n.Recorded.Means() }

func (n network) Message(m *replay.Message) replay.Cost {
	return replay.Cost{Transfer: n.latency + n.perByte*replay.Time(max(m.Bytes, 0)), Rendezvous: m.Bytes > 1<<16}
}

func main() {
	latency := flag.Duration("latency", time.Microsecond, "`time` of a message of no bytes, 0s or more")
	bandwidth := flag.Float64("bandwidth", 10, "in `GB/s`, above 0")
	if flag.Parse(); flag.NArg() != 1 || *latency < 0 || !(*bandwidth > 0) {
		log.Fatal("usage: replay [-latency 1us] [-bandwidth 10] TRACE.rpz")
	}
	run(os.Stdout, flag.Arg(0), replay.Time(*latency)*replay.Nanosecond, replay.Time(1000 / *bandwidth))
}

// run replays the trace in a file.
func run(out io.Writer, path string, latency, perByte replay.Time) {
	trace, err := reprise.Open(path)
	check(err)
	defer trace.Close()
	model, err := semantics.Open(context.Background(), trace)
	check(err)
	recorded, err := replay.NewRecorded(trace)
	check(err)
	result, err := replay.Run(context.Background(), model, network{recorded, latency, perByte})
	check(err)
	check(recorded.Close())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "rank\tends\tcomputes\tsends\twaits\t")
	for _, r := range result.Ranks {
		fmt.Fprintf(w, "%d\t%v\t%v\t%v\t%v\t\n", r.Rank, r.End, r.Computing, r.Sending, r.Waiting)
	}
	check(w.Flush())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
