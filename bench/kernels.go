package bench

import (
	_ "embed" // for the program
	"fmt"
	"os"
	"os/exec"
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
	kernelTimes = 5 // each runs
	// All ranks must have a processor of their own.
	kernelRanks = 2
)

// kernelRuns are the runs of kernels with one MPI.
type kernelRuns struct {
	command *command
	mpi     *implementation
	program string
}

// forKernels calls report for each MPI that is installed.
func forKernels(report func(k *kernelRuns) error) error {
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
		k := &kernelRuns{command: c, mpi: m, program: c.path("kernels-" + name)}
		if err := k.build(); err != nil {
			return err
		}
		any = true
		if err := report(k); err != nil {
			return err
		}
	}
	if !any {
		return errNoMPI
	}
	return nil
}

// build builds the kernels.
func (k *kernelRuns) build() error {
	source := k.command.path("kernels.c")
	if err := os.WriteFile(source, kernelsSource, 0o600); err != nil {
		return err
	}
	if output, err := exec.Command(k.mpi.mpicc, "-O2", "-w", "-o", k.program, source,
		"-lm").CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", k.mpi.mpicc, err, output)
	}
	return nil
}

// launcher returns the command line that starts kernels.
func (k *kernelRuns) launcher() []string {
	return append(append([]string{}, k.mpi.mpirun...), "-n", fmt.Sprint(kernelRanks))
}

// reprise runs the command and returns what it prints.
func (k *kernelRuns) reprise(args ...string) ([]byte, error) {
	c := exec.Command(k.command.path("reprise"), args...)
	c.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "MPICC="+k.mpi.mpicc)
	output, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("reprise %s: %w", strings.Join(args, " "), err)
	}
	return output, nil
}
