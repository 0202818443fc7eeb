package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// A simpleNetwork is a machine on which ranks compute for some microseconds between calls, and
// messages have a latency and a bandwidth.
type simpleNetwork struct{ replay.Instant }

func (simpleNetwork) Compute(c *replay.Call) (before, within replay.Time) {
	return replay.Time(c.Terminal%7+1) * replay.Microsecond, 0
}

func (simpleNetwork) Steady() bool { return true }

func (simpleNetwork) Message(m *replay.Message) replay.Cost {
	return replay.Cost{
		Send: 500 * replay.Nanosecond, Transfer: replay.Microsecond + 100*replay.Time(max(m.Bytes, 0)),
		Receive:    500 * replay.Nanosecond,
		Rendezvous: m.Bytes > 1<<16,
	}
}

// everyCall is a machine of which it is not known that its costs are always the same, so that no loops are
// skipped.
type everyCall struct{ replay.Machine }

// minReplayed is how many calls a trace must have to be replayed: others take no time.
const minReplayed = 100_000

// reportReplay reports how fast the traces in a directory are replayed.
func reportReplay(w io.Writer, dir string) error {
	traces, err := readTraces(dir)
	if err != nil {
		return err
	}
	heads(w, "trace", "calls", "without costs, million calls/s", "range", "a network", "range",
		"in order of time, with events", "range", "loops of the network skipped, ms", "range")
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
	return replayStencil(w)
}

// replayStencil reports how fast a stencil is replayed of which every call would take minutes.
func replayStencil(w io.Writer) error {
	p := programs.Stencil2D(32, 32, 120_000)
	var file bytes.Buffer
	if err := merge.Write(&file, p.Run(), p.Parts()); err != nil {
		return err
	}
	trace, err := open(file.Bytes())
	if err != nil {
		return err
	}
	model, err := semantics.Open(context.Background(), trace)
	if err != nil {
		return err
	}
	result, err := replay.Run(context.Background(), model, simpleNetwork{})
	if err != nil {
		return err
	}
	list, err := replayTimes(model, simpleNetwork{})
	fmt.Fprintf(w, "| %s | %d | – | – | – | – | – | – |%s\n", p.Name, result.Calls,
		cells(list[0], func(t float64) float64 { return t / 1000 }))
	return err
}

// replayRow returns the cells of a trace of so many calls.
func replayRow(model *semantics.Model, calls uint64) (string, error) {
	times, err := replayTimes(model, everyCall{replay.Instant{}}, everyCall{simpleNetwork{}}, nil, simpleNetwork{})
	var row strings.Builder
	for _, list := range times[:3] {
		row.WriteString(cells(list, func(t float64) float64 { return float64(calls) / t }))
	}
	row.WriteString(cells(times[3], func(t float64) float64 { return t / 1000 }))
	return row.String(), err
}

// replayTimes returns how long replays on some machines take, in microseconds of processor time; for nil,
// one with events.
func replayTimes(model *semantics.Model, machines ...replay.Machine) ([][]float64, error) {
	times := make([][]float64, len(machines))
	for range rounds {
		for i, m := range machines {
			runtime.GC()
			before := processorTime()
			if m != nil {
				if _, err := replay.Run(context.Background(), model, m); err != nil {
					return times, err
				}
			} else {
				for _, err := range replay.Events(context.Background(), model, simpleNetwork{}) {
					if err != nil {
						return times, err
					}
				}
			}
			times[i] = append(times[i], float64((processorTime() - before).Microseconds()))
		}
	}
	return times, nil
}

// cells returns the median and the range of figures made of times.
func cells(times []float64, figure func(time float64) float64) string {
	var list []float64
	for _, t := range times {
		list = append(list, figure(t))
	}
	slices.Sort(list)
	if len(list) < rounds {
		return ""
	}
	return fmt.Sprintf(" %.1f | %.1f–%.1f |", (list[rounds/2-1]+list[rounds/2])/2, list[0], list[rounds-1])
}
