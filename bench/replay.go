package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/reprise-trace/reprise/replay"
	"github.com/reprise-trace/reprise/semantics"
)

// A simpleNetwork is a machine on which ranks compute for some microseconds between calls, and
// messages have a latency and a bandwidth.
type simpleNetwork struct{ replay.Instant }

func (simpleNetwork) Compute(c *replay.Call) (before, within replay.Time) {
	return replay.Time(c.Terminal%7+1) * replay.Microsecond, 0
}

func (simpleNetwork) Message(m *replay.Message) replay.Cost {
	return replay.Cost{
		Send: 500 * replay.Nanosecond, Transfer: replay.Microsecond + 100*replay.Time(max(m.Bytes, 0)), Receive: 500 * replay.Nanosecond,
		Rendezvous: m.Bytes > 1<<16,
	}
}

// minReplayed is how many calls a trace must have to be replayed: others take no time.
const minReplayed = 100_000

// reportReplay reports how fast the traces in a directory are replayed.
func reportReplay(w io.Writer, dir string) error {
	traces, err := readTraces(dir)
	if err != nil {
		return err
	}
	heads(w, "trace", "calls", "without costs, million calls/s", "range", "a network", "range", "in order of time, with events", "range")
	for _, t := range traces {
		file, err := t.compress()
		if err != nil {
			return err
		}
		opened, err := open(file)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		model, err := semantics.Open(context.Background(), opened)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		result, err := replay.Run(context.Background(), model, replay.Instant{})
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		if result.Calls < minReplayed {
			continue
		}
		row, err := replayRow(model, result.Calls)
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		fmt.Fprintf(w, "| %s | %d |%s\n", t.name, result.Calls, row)
	}
	return nil
}

// replayRow returns the cells of a trace of so many calls.
func replayRow(model *semantics.Model, calls uint64) (string, error) {
	var failed error
	run := func(m replay.Machine) func() {
		return func() {
			if _, err := replay.Run(context.Background(), model, m); err != nil {
				failed = err
			}
		}
	}
	runs := []func(){run(replay.Instant{}), run(simpleNetwork{}), func() {
		for _, err := range replay.Events(context.Background(), model, simpleNetwork{}) {
			if err != nil {
				failed = err
			}
		}
	}}
	rates := make([][]float64, len(runs)) // million calls a second of processor time
	for range rounds {
		for i, r := range runs {
			runtime.GC()
			before := processorTime()
			r()
			rates[i] = append(rates[i], float64(calls)/float64((processorTime()-before).Microseconds()))
		}
	}
	var row bytes.Buffer
	for _, list := range rates {
		slices.Sort(list)
		fmt.Fprintf(&row, " %.1f | %.1f–%.1f |", (list[rounds/2-1]+list[rounds/2])/2, list[0], list[rounds-1])
	}
	return row.String(), failed
}
