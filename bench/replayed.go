package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
)

// reportReplayed reports, for each MPI that is installed, what kernels take beside what the replay of their
// traces takes.
func reportReplayed(w io.Writer) error {
	heads(w, "MPI", "kernel", "recorded, s", "range", "replayed, s", "range", "error, %", "range",
		"outside MPI, %", "range")
	return forKernels(func(k *kernelRuns) error { return k.reportReplayed(w) })
}

// A replayed is what runs of a kernel and of their replays took, in seconds, and by how many per cent that is
// more.
type replayed struct{ recorded, replayed, error, outside []float64 }

// reportReplayed runs the kernels and their replays in turn, and prints a row for each and the mean of all.
func (k *kernelRuns) reportReplayed(w io.Writer) error {
	list := make([]replayed, len(kernels))
	for range kernelTimes {
		for i, kernel := range kernels {
			if err := k.replay(&list[i], kernel.name, kernel.steps); err != nil {
				return fmt.Errorf("%s: %w", kernel.name, err)
			}
		}
	}
	mean := 0.0 // of absolute errors
	for i, kernel := range kernels {
		r := &list[i]
		fmt.Fprintf(w, "| %s | %s: %s |", k.mpi.name, kernel.name, kernel.about)
		for _, seconds := range [][]float64{r.recorded, r.replayed} {
			fmt.Fprintf(w, " %.2f | %.2f–%.2f |", median(seconds), slices.Min(seconds), slices.Max(seconds))
		}
		for _, change := range [][]float64{r.error, r.outside} {
			fmt.Fprintf(w, " %+.1f | %+.1f … %+.1f |", median(change), slices.Min(change), slices.Max(change))
		}
		fmt.Fprintln(w)
		for _, e := range r.error {
			mean += math.Abs(e) / float64(len(kernels)*kernelTimes)
		}
	}
	fmt.Fprintf(w, "| %s | mean of absolute errors | | | | | %.1f | | | |\n", k.mpi.name, mean)
	return nil
}

// replay records a run of a kernel, and replays it.
func (k *kernelRuns) replay(r *replayed, kernel, steps string) error {
	trace := k.command.path("run.rpz")
	if _, err := k.reprise(append(append([]string{"record", "--quiet", "-o", trace, "--"}, k.launcher()...),
		k.program, kernel, steps)...); err != nil {
		return err
	}
	output, err := k.reprise(append([]string{"replay", trace, "--json", "--"}, k.launcher()...)...)
	if err != nil {
		return err
	}
	type times struct {
		Run     float64 `json:"run_ns"`
		Outside float64 `json:"outside_ns"`
	}
	var a struct{ Recorded, Replayed times }
	if err := json.Unmarshal(output, &a); err != nil {
		return err
	}
	r.recorded, r.replayed = append(r.recorded, a.Recorded.Run/1e9), append(r.replayed, a.Replayed.Run/1e9)
	r.error, r.outside = append(r.error, 100*(a.Replayed.Run/a.Recorded.Run-1)),
		append(r.outside, 100*(a.Replayed.Outside/a.Recorded.Outside-1))
	return os.Remove(trace)
}
