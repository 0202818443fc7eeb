package mpitest

import (
	"os/exec"
	"strings"
	"sync"
	"testing"
)

// An MPI is an installed implementation of MPI.
type MPI struct {
	Name    string // "mpich" or "openmpi"
	CC      string // the compiler command for C
	Fortran string // that for Fortran, empty if it is not installed
	launch  []string
	version string
	builds  builds
}

// installed are the implementations that are installed, and why others are missing.
// On Debian, each has its own names of commands; elsewhere there is one in general.
var installed = sync.OnceValues(func() (found []*MPI, missing error) {
	for _, suffix := range []string{".mpich", ".openmpi", ""} {
		if suffix == "" && found != nil {
			break
		}
		if m, err := find(suffix); err == nil {
			found = append(found, m)
		} else if missing == nil {
			missing = err
		}
	}
	return found, missing
})

func find(suffix string) (*MPI, error) {
	m := &MPI{CC: "mpicc" + suffix, Fortran: "mpifort" + suffix, launch: []string{"mpirun" + suffix}}
	if _, err := exec.LookPath(m.CC); err != nil {
		return nil, err
	}
	if _, err := exec.LookPath(m.Fortran); err != nil {
		m.Fortran = ""
	}
	version, err := exec.Command(m.launch[0], "--version").Output()
	if err != nil {
		return nil, err
	}
	m.Name, m.version = "mpich", string(version)
	if strings.Contains(string(version), "Open") {
		m.Name = "openmpi"
		m.launch = append(m.launch, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
	}
	return m, nil
}

// Installed returns the implementations that are installed. It skips the test if
// there is none, and in short runs: to compile and run programs takes minutes.
func Installed(t testing.TB) []*MPI {
	t.Helper()
	if testing.Short() {
		t.Skip("short: compiles and runs MPI programs")
	}
	found, missing := installed()
	if len(found) == 0 {
		t.Skip("no MPI:", missing)
	}
	return found
}

// ForEach runs a test with each implementation that is installed. It skips the
// test if there is none, and under the race detector; see [SkipUnderRace].
func ForEach(t *testing.T, test func(*testing.T, *MPI)) {
	t.Helper()
	SkipUnderRace(t)
	for _, m := range Installed(t) {
		t.Run(m.Name, func(t *testing.T) { test(t, m) })
	}
}

// SkipUnderRace skips a test of which the race detector sees nothing that it does
// not see in others: it does not look into programs in C.
func SkipUnderRace(t testing.TB) {
	t.Helper()
	if underRace {
		t.Skip("the race detector does not look into programs in C")
	}
}

// Parallel lets a test run beside others if processes that wait leave the processors
// to them.
func (m *MPI) Parallel(t *testing.T) {
	t.Helper()
	if m.Name == "openmpi" {
		t.Parallel()
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
