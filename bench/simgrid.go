package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/reprise-trace/reprise/internal/test/foreign"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/replay/loggps"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// simGridRounds is how often SimGrid and package replay run a trace, in turn.
const simGridRounds = 3

// reportSimGrid reports what SimGrid's replay of the traces in a directory says, and what package loggps
// does, and how long they take.
func reportSimGrid(w io.Writer, dir string) error {
	traces, err := readTraces(dir)
	if err != nil {
		return err
	}
	heads(w, "trace", "calls", "SimGrid: run, ms", "predicted, ms", "difference, %", "SimGrid: processor, s",
		"million calls/s", "ours: processor, s", "million calls/s", "loops skipped, s")
	for _, t := range traces {
		row, err := simGridRow(&t)
		if errors.Is(err, exec.ErrNotFound) {
			fmt.Fprintf(w, "\n%v\n", err)
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		fmt.Fprintf(w, "| %s |%s\n", t.name, row)
	}
	return nil
}

// simGridRow returns the cells of a trace: the medians of rounds.
func simGridRow(t *traceText) (string, error) {
	dir, err := os.MkdirTemp("", "reprise-simgrid-*")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "trace.txt")
	if err := os.WriteFile(path, t.text, 0o666); err != nil {
		return "", err
	}
	file, err := t.compress()
	if err != nil {
		return "", err
	}
	opened, err := open(file)
	if err != nil {
		return "", err
	}
	var (
		theirs foreign.Simulated
		ours   *replay.Result
		busy   [3][]float64 // SimGrid, every call, loops skipped
	)
	for range simGridRounds {
		if theirs, err = foreign.Switch.Simulate(dir, path, opened.Ranks()); err != nil {
			return "", err
		}
		busy[0] = append(busy[0], theirs.Processor.Seconds())
		for i, skip := range []bool{false, true} {
			result, seconds, err := onSwitch(file, skip)
			if err != nil {
				return "", err
			}
			busy[i+1] = append(busy[i+1], seconds)
			if skip && result.End != ours.End {
				return "", fmt.Errorf("skipping loops came to %v, not %v", result.End, ours.End)
			}
			ours = result
		}
	}
	for i := range busy {
		slices.Sort(busy[i])
	}
	median := func(i int) float64 { return busy[i][simGridRounds/2] }
	calls, predicted := float64(ours.Calls), float64(ours.End)/float64(replay.Second)
	return fmt.Sprintf(" %d | %.3f | %.3f | %+.2f | %.2f | %.2f | %.3f | %.1f | %.3f |", ours.Calls,
		theirs.Seconds*1000, predicted*1000, 100*(predicted/theirs.Seconds-1),
		median(0), calls/median(0)/1e6, median(1), calls/median(1)/1e6, median(2)), nil
}

// onSwitch replays a trace on SimGrid's switch, and returns the processor time it took in seconds, opening
// included.
func onSwitch(file []byte, skip bool) (*replay.Result, float64, error) {
	runtime.GC()
	before := processorTime()
	opened, err := open(file)
	if err != nil {
		return nil, 0, err
	}
	model, err := semantics.Open(context.Background(), opened)
	if err != nil {
		return nil, 0, err
	}
	recorded, err := replay.NewRecorded(opened)
	if err != nil {
		return nil, 0, err
	}
	parameters := foreign.SwitchParameters()
	recorded.Speed(parameters.Speed)
	machine, err := loggps.New(parameters, opened.Ranks(), recorded)
	if err != nil {
		return nil, 0, err
	}
	var on replay.Machine = machine
	if !skip {
		on = everyCall{machine}
	}
	result, err := replay.Run(context.Background(), model, on)
	return result, (processorTime() - before).Seconds(), err
}
