package interpose

import (
	"context"
	"errors"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/header"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/tier"
	. "github.com/reprise-trace/reprise/mpi/internal/spool"
)

// An implementation is an installed implementation of MPI with the interposer
// built for it.
type implementation struct {
	name, mpicc, mpirun string
	flags               []string // of mpirun
	library             string
}

var interposers struct {
	sync.Once
	paths map[string]string
}

func TestMain(m *testing.M) { os.Exit(mpitest.Main(m)) }

// forEachMPI runs a test with each installed implementation, and skips it if
// there is none, and under the race detector.
func forEachMPI(t *testing.T, test func(*testing.T, *implementation)) {
	t.Helper()
	forMPIs(t, compilers(t), test)
}

// forOneMPI is forEachMPI in a nightly run, and runs a test with one that its name chooses in others.
func forOneMPI(t *testing.T, test func(*testing.T, *implementation)) {
	t.Helper()
	all := compilers(t)
	if h := fnv.New32a(); !tier.Nightly {
		h.Write([]byte(t.Name()))
		i := int(h.Sum32() % uint32(len(all)))
		all = all[i : i+1]
	}
	forMPIs(t, all, test)
}

func forMPIs(t *testing.T, compilers []string, test func(*testing.T, *implementation)) {
	t.Helper()
	mpitest.SkipUnderRace(t)
	for _, mpicc := range compilers {
		mpirun := strings.Replace(mpicc, "mpicc", "mpirun", 1)
		if _, err := exec.LookPath(mpirun); err != nil {
			t.Skip(err)
		}
		m := &implementation{name: strings.TrimPrefix(mpicc, "mpicc."), mpicc: mpicc, mpirun: mpirun}
		if version, err := exec.Command(mpirun, "--version").CombinedOutput(); err == nil &&
			strings.Contains(string(version), "Open") {
			m.flags = []string{"--oversubscribe", "--mca", "mpi_yield_when_idle", "1"}
		}
		t.Run(m.name, func(t *testing.T) {
			m.library = interposer(t, mpicc)
			test(t, m)
		})
	}
}

// interposer returns the interposer for a compiler. The first call builds those
// for all installed compilers at once.
func interposer(t testing.TB, mpicc string) string {
	t.Helper()
	interposers.Do(func() {
		list := compilers(t)
		libraries := make([]*Interposer, len(list))
		errs := make([]error, len(list))
		var building sync.WaitGroup
		for i, mpicc := range list {
			building.Go(func() {
				libraries[i], errs[i] = Build(context.Background(), mpicc, mpitest.Cache(), nil)
			})
		}
		building.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		interposers.paths = make(map[string]string)
		for i, library := range libraries {
			h, err := header.Read(t.Context(), list[i])
			if err != nil {
				t.Fatal(err)
			}
			if library.Functions != len(h.Functions) {
				t.Errorf("%s: %d of the %d functions of mpi.h are recorded", list[i], library.Functions,
					len(h.Functions))
			}
			interposers.paths[list[i]] = library.Path
		}
	})
	return interposers.paths[mpicc]
}

// build compiles a C program in testdata.
func (m *implementation) build(t testing.TB, name string, flags ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), strings.TrimSuffix(name, filepath.Ext(name)))
	flags = append(flags, "-O1", "-w", "-pthread", "-o", path, filepath.Join("testdata", name))
	command := exec.Command(m.mpicc, flags...)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, output)
	}
	return path
}

// command returns the command that runs a program on some ranks. If there is a
// spool directory, it is recorded.
func (m *implementation) command(ctx context.Context, t testing.TB, ranks, spool, program string,
	arguments ...string) *exec.Cmd {
	list := append([]string{}, m.flags...)
	list = append(append(list, "-n", ranks, program), arguments...)
	c := exec.CommandContext(ctx, m.mpirun, list...)
	c.WaitDelay = 5 * time.Second
	c.Env = mpitest.LaunchEnvironment(t)
	if spool != "" {
		c.Env = append(c.Env, "LD_PRELOAD="+m.library, "REPRISE_SPOOL="+spool)
	}
	return c
}

// run runs a program to its end.
func (m *implementation) run(t testing.TB, ranks, spool, program string, arguments ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	output, err := m.command(ctx, t, ranks, spool, program, arguments...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, output)
	}
	return string(output)
}

// threads returns the threads in a spool by rank.
func threads(t testing.TB, spool string) map[int][]Thread {
	t.Helper()
	list, err := List(spool)
	if err != nil {
		t.Fatal(err)
	}
	byRank := make(map[int][]Thread)
	for _, thread := range list {
		data, err := os.ReadFile(thread.Paths[len(thread.Paths)-1])
		if err != nil {
			t.Fatal(err)
		}
		h, err := ParseSegmentHeader(data)
		if err != nil {
			t.Fatal(err)
		}
		if h.Lost > 0 {
			t.Errorf("thread %v lost %d records", thread, h.Lost)
		}
		byRank[h.Rank] = append(byRank[h.Rank], thread)
	}
	return byRank
}

// readAll passes all records of a thread to a function and returns the reader.
func readAll(t testing.TB, thread Thread, each func(*Record)) *ThreadReader {
	t.Helper()
	r := thread.Open()
	for {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r
		} else if err != nil {
			t.Fatal(err)
		}
		each(record)
	}
}
