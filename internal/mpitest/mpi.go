package mpitest

import (
	"cmp"
	"os/exec"
	"sync"
	"testing"
)

// An MPI is an installed implementation of MPI.
type MPI struct {
	Name    string // "mpich" or "openmpi"
	CC      string // the compiler command for C
	Fortran string // that for Fortran, empty if it is not installed
	launch  []string
	builds  builds
}

// installed are the implementations that are installed, and those that are not
// with the reason.
var installed = sync.OnceValues(func() (found []*MPI, missing error) {
	for _, m := range []*MPI{
		{Name: "mpich", launch: []string{"mpiexec.mpich"}},
		{Name: "openmpi", launch: []string{"mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"}},
	} {
		_, missing1 := exec.LookPath("mpicc." + m.Name)
		_, missing2 := exec.LookPath(m.launch[0])
		if err := cmp.Or(missing1, missing2); err != nil {
			missing = err
			continue
		}
		m.CC = "mpicc." + m.Name
		if _, err := exec.LookPath("mpifort." + m.Name); err == nil {
			m.Fortran = "mpifort." + m.Name
		}
		found = append(found, m)
	}
	return found, missing
})

// Installed returns the implementations that are installed. It skips the test if
// there is none.
func Installed(t testing.TB) []*MPI {
	t.Helper()
	found, missing := installed()
	if len(found) == 0 {
		t.Skip("no MPI: ", missing)
	}
	return found
}

// ForEach runs a test with each implementation that is installed. It skips the
// test if there is none.
func ForEach(t *testing.T, test func(*testing.T, *MPI)) {
	t.Helper()
	for _, m := range Installed(t) {
		t.Run(m.Name, func(t *testing.T) { test(t, m) })
	}
}

// Ranks returns the number of ranks to run a program on that is meant for n. It is
// smaller where processes that wait keep a processor busy.
func (m *MPI) Ranks(n int) int {
	if m.Name == "mpich" {
		return min(n, 1+n/2)
	}
	return n
}
