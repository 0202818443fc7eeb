package bench

import (
	_ "embed" // for the program
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
)

//go:embed recording/kernels.c
var kernelsSource []byte

// kernels are those of kernels.c, with how many steps make a run of some seconds on two ranks.
var kernels = []struct{ name, about, steps string }{
	{"ep", "numbers, one MPI_Allreduce", "1200"},
	{"cg", "exchange of vectors, two MPI_Allreduce", "4000"},
	{"lu", "pipelines of small messages", "1500"},
	{"mg", "faces of grids of several sizes", "400"},
	{"ft", "MPI_Alltoall of 256 KiB", "4000"},
	{"is", "MPI_Allreduce, MPI_Alltoall, MPI_Alltoallv", "5000"},
}

const (
	predictedRuns = 5 // of each kernel
	// All ranks must have a processor of their own.
	predictedRanks = 2
)

// predictedTimes are what traces of one run keep of times.
var predictedTimes = []string{"exact", "paths", "histograms", "statistics"}

// reportPrediction reports, for each MPI that is installed, how far the time that predict tells of a run on the same machine is from
// the time that was recorded.
func reportPrediction(w io.Writer) error {
	c, err := newCommand()
	if err != nil {
		return err
	}
	defer c.remove()
	any := false
	for _, name := range []string{"mpich", "openmpi"} {
		m := findMPI(name)
		if m == nil {
			continue
		}
		if err := m.build(c.directory); err != nil {
			return err
		}
		p := &predictions{command: c, mpi: m, program: c.path("kernels-" + name), machine: c.path(name + ".toml")}
		if err := p.build(); err != nil {
			return err
		}
		if !any {
			heads(w, "MPI", "kernel", "recorded, s", "range", "exact times, %", "range", "paths, %", "range", "histograms, %", "range", "statistics, %", "range")
		}
		any = true
		if err := p.report(w); err != nil {
			return err
		}
	}
	if !any {
		return errNoMPI
	}
	return nil
}

// predictions are the runs with one MPI.
type predictions struct {
	command          *command
	mpi              *implementation
	program, machine string
}

// build builds the kernels.
func (p *predictions) build() error {
	source := p.command.path("kernels.c")
	if err := os.WriteFile(source, kernelsSource, 0o600); err != nil {
		return err
	}
	if output, err := exec.Command(p.mpi.mpicc, "-O2", "-w", "-o", p.program, source, "-lm").CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", p.mpi.mpicc, err, output)
	}
	return nil
}

// reprise runs the command and returns what it prints.
func (p *predictions) reprise(args ...string) ([]byte, error) {
	c := exec.Command(p.command.path("reprise"), args...)
	c.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	output, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("reprise %s: %w", strings.Join(args, " "), err)
	}
	return output, nil
}

// report calibrates and runs the kernels in turn, some times, and prints a row for each and the mean of all.
func (p *predictions) report(w io.Writer) error {
	calibrate := append([]string{"calibrate", "-o", p.machine, "--"}, append(slices.Clone(p.mpi.mpirun), "-n", fmt.Sprint(predictedRanks))...)
	recorded := make([][]float64, len(kernels))
	errors := make([][][]float64, len(kernels)) // by what is kept of times
	for range predictedRuns {
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
		fmt.Fprintf(w, "| %s | %s: %s | %.2f | %.2f–%.2f |", p.mpi.name, k.name, k.about, median(recorded[i]), slices.Min(recorded[i]), slices.Max(recorded[i]))
		for kept, list := range errors[i] {
			fmt.Fprintf(w, " %+.1f | %+.1f … %+.1f |", median(list), slices.Min(list), slices.Max(list))
			for _, e := range list {
				means[kept] += math.Abs(e) / float64(len(kernels)*predictedRuns)
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

// run records a run, and returns how long it took, in seconds, and by how many per cent predictions are longer. What it takes
// to make traces of it comes after the run.
func (p *predictions) run(kernel, steps string) (seconds float64, errors []float64, err error) {
	spool, err := os.MkdirTemp(p.command.directory, "spool-")
	if err != nil {
		return 0, nil, err
	}
	defer os.RemoveAll(spool)
	if _, err := p.mpi.run(predictedRanks, spool, p.command.directory, p.program, kernel, steps); err != nil {
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
