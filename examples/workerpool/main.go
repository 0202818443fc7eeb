// Workerpool records a pool of goroutines that hand jobs to each other through channels, and finds out from
// the trace who waits for whom, and what would be gained if the dispatcher or the workers were faster.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

func main() {
	dir, err := os.MkdirTemp("", "workerpool")
	check(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "pool.rpz")
	save(path, dir, run(dir))
	show(os.Stdout, path)
}

// show prints what the trace in a file tells.
func show(w io.Writer, path string) {
	tr, err := trace.Open(path, trace.Options{})
	check(err)
	defer tr.Close()
	model, err := semantics.OpenWith(tr, pool{}) // what its calls mean: see pool.go
	check(err)
	waits(w, model)
	fmt.Fprintln(w)
	for _, p := range []struct {
		what  string
		times machine
	}{
		{"as it was", machine{dispatcher: 1, workers: 1}},
		{"workers twice as fast", machine{dispatcher: 1, workers: 2}},
		{"dispatcher twice as fast", machine{dispatcher: 2, workers: 1}},
	} {
		predict(w, model, p.what, p.times)
	}
}

// waits prints which receives wait for messages that are sent late, and by whom.
func waits(w io.Writer, model *semantics.Model) {
	ctx := context.Background()
	match, err := query.OpenMatch(ctx, model, query.Options{})
	check(err)
	fmt.Fprintf(w, "%d messages on %d channels, %d of them only sent or only received\n",
		match.Messages, match.Channels, len(match.Unmatched))
	times, err := query.OpenTimes(model.Trace())
	check(err)
	late, err := match.LateSenders(ctx, times, query.Options{})
	check(err)
	names := model.Trace().Printer(trace.PrintOptions{})
	for _, l := range late {
		if l.Late == 0 {
			continue
		}
		call, err := names.Signature(nil, model.Trace().Signature(l.Signature))
		check(err)
		fmt.Fprintf(w, "%s: %d of %d wait, %.1f ms in all, %.0f %% of that for rank %d\n",
			call, l.Late, l.Receives, float64(l.Wait)/1e6, 100*l.SenderShare, l.Sender)
	}
}

// A machine has the dispatcher and the workers compute so many times as fast as they did.
type machine struct {
	*replay.Recorded
	dispatcher, workers replay.Time
}

func (m machine) Compute(c *replay.Call) (before, within replay.Time) {
	before, within = m.Recorded.Compute(c)
	if c.Rank.Number() == 0 {
		return before / m.dispatcher, within / m.dispatcher
	}
	return before / m.workers, within / m.workers
}

// predict replays the run with other speeds, and prints how long it takes.
func predict(w io.Writer, model *semantics.Model, what string, m machine) {
	var err error
	m.Recorded, err = replay.NewRecorded(model.Trace())
	check(err)
	result, err := replay.Run(context.Background(), model, m)
	check(err)
	check(m.Err())
	fmt.Fprintf(w, "%s: %v\n", what, result.End)
	for _, r := range result.Ranks {
		fmt.Fprintf(w, "  rank %d computes %v, waits %v\n", r.Rank, r.Computing, r.Waiting)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
