package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
)

// predictedTimes are what traces of one run keep of times.
var predictedTimes = []string{"exact", "paths", "histograms", "statistics"}

// reportPrediction reports, for each MPI that is installed, how far the time that predict tells of a run on
// the same machine is from the time that was recorded.
func reportPrediction(w io.Writer) error {
	heads(w, "MPI", "kernel", "recorded, s", "range", "exact times, %", "range", "paths, %", "range",
		"histograms, %", "range", "statistics, %", "range")
	return forKernels(func(k *kernelRuns) error {
		return (&predictions{k, k.command.path(k.mpi.name + ".toml")}).report(w)
	})
}

// predictions are the runs of kernels with one MPI.
type predictions struct {
	*kernelRuns
	machine string
}

// report calibrates and runs the kernels in turn, some times, and prints a row for each and the mean of all.
func (p *predictions) report(w io.Writer) error {
	calibrate := append([]string{"calibrate", "-o", p.machine, "--"}, p.launcher()...)
	recorded := make([][]float64, len(kernels))
	errors := make([][][]float64, len(kernels)) // by what is kept of times
	for range kernelTimes {
		if _, err := p.reprise(calibrate...); err != nil {
			return err
		}
		for i, k := range kernels {
			seconds, list, err := p.run(k.name, k.steps)
			if err != nil {
				return fmt.Errorf("%s: %w", k.name, err)
			}
			recorded[i] = append(recorded[i], seconds)
			if errors[i] == nil {
				errors[i] = make([][]float64, len(list))
			}
			for kept, e := range list {
				errors[i][kept] = append(errors[i][kept], e)
			}
		}
	}
	means := make([]float64, len(predictedTimes)) // of absolute errors
	for i, k := range kernels {
		fmt.Fprintf(w, "| %s | %s: %s | %.2f | %.2f–%.2f |", p.mpi.name, k.name, k.about, median(recorded[i]),
			slices.Min(recorded[i]), slices.Max(recorded[i]))
		for kept, list := range errors[i] {
			fmt.Fprintf(w, " %+.1f | %+.1f … %+.1f |", median(list), slices.Min(list), slices.Max(list))
			for _, e := range list {
				means[kept] += math.Abs(e) / float64(len(kernels)*kernelTimes)
			}
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "| %s | mean of absolute errors | | |", p.mpi.name)
	for _, mean := range means {
		fmt.Fprintf(w, " %.1f | |", mean)
	}
	fmt.Fprintln(w)
	return nil
}

// run records a run, and returns how long it took, in seconds, and by how many per cent predictions are
// longer. What it takes to make traces of it comes after the run.
func (p *predictions) run(kernel, steps string) (seconds float64, errors []float64, err error) {
	spool, err := os.MkdirTemp(p.command.directory, "spool-")
	if err != nil {
		return 0, nil, err
	}
	defer os.RemoveAll(spool)
	if _, err := p.mpi.run(kernelRanks, spool, p.command.directory, p.program, kernel, steps); err != nil {
		return 0, nil, err
	}
	for _, kept := range predictedTimes {
		trace := p.command.path("run.rpz")
		if _, err := p.reprise("collect", "--quiet", "--times", kept, "-o", trace, "--", spool); err != nil {
			return 0, nil, err
		}
		output, err := p.reprise("predict", trace, "-m", p.machine, "--json")
		if err != nil {
			return 0, nil, err
		}
		var a struct {
			Run      float64 `json:"run_ns"`
			Recorded float64 `json:"recorded_ns"`
		}
		if err := json.Unmarshal(output, &a); err != nil {
			return 0, nil, err
		}
		seconds = a.Recorded / 1e9
		errors = append(errors, 100*(a.Run/a.Recorded-1))
		if err := os.Remove(trace); err != nil {
			return 0, nil, err
		}
	}
	return seconds, errors, nil
}
