//go:build linux

package slicing

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/mpi/slice"
)

var (
	programs = flag.Int("programs", 1, "how many random programs to slice")
	ranks    = flag.Int("ranks", 4, "of the programs that are no random ones")
	first    = flag.Uint64("first", 1, "the number of the first of them")
)

func TestMain(m *testing.M) { os.Exit(mpitest.Main(m)) }

// A bench builds and runs slices for one MPI.
type bench struct {
	mpi       *mpitest.MPI
	directory string
	calls     string // the library that writes calls
	standin   string
	options   slice.Options
	limit     time.Duration // of a run

	keepErrors bool
}

func newBench(t *testing.T) *bench {
	t.Helper()
	if err := Missing(); err != nil {
		t.Skip(err)
	}
	mpitest.SkipUnderRace(t)
	b := &bench{mpi: mpitest.Installed(t)[0], directory: t.TempDir(), limit: 2 * time.Minute}
	b.calls, b.standin = filepath.Join(b.directory, "calls.so"), filepath.Join(b.directory, "standin.so")
	build := b.builder(t, "")
	if err := build.run("building", b.mpi.CC, "-shared", "-fPIC", "-O1", "-w", "-o", b.calls,
		filepath.Join("testdata", "calls.c")); err != nil {
		t.Fatal(err)
	}
	if err := build.library(b.standin, filepath.Base(b.standin)); err != nil {
		t.Fatal(err)
	}
	var err error
	build.known = nil
	if b.options, err = build.wildcards(); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) builder(t *testing.T, source string) *builder {
	return &builder{
		Program: &Program{Sources: []string{source}, Output: filepath.Join(b.directory, "app"),
			Linker: []string{"-lm"}},
		ctx:       t.Context(),
		directory: b.directory,
		mpicc:     b.mpi.CC,
		known:     &b.options,
	}
}

// run links what is in slice.ll, runs it, and returns the calls of all ranks. A run that hangs or fails
// returns what there was.
func (b *bench) run(t *testing.T, build *builder, ranks int) (string, error) {
	t.Helper()
	if err := build.link(b.standin, build.Output); err != nil {
		t.Fatal(err)
	}
	return b.calling(t, build, ranks)
}

// calling runs a program and returns the calls of all ranks.
func (b *bench) calling(t *testing.T, build *builder, ranks int) (string, error) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(b.directory, "out")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(b.directory, "out"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), b.limit)
	defer cancel()
	line := b.mpi.Command(ranks, b.directory, "env", "LD_PRELOAD="+b.calls, build.Output)
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	c.Env = append(mpitest.Environment(t), "CALLS="+filepath.Join(b.directory, "out", "calls"))
	c.Dir = filepath.Join(b.directory, "out") // for what it writes
	c.WaitDelay = time.Second
	message, err := c.CombinedOutput()
	var all strings.Builder
	for rank := range ranks {
		text, _ := os.ReadFile(filepath.Join(b.directory, "out", fmt.Sprint("calls.", rank)))
		fmt.Fprintf(&all, "rank %d\n%s", rank, text)
	}
	if err != nil {
		return all.String(), fmt.Errorf("%w\n%s", err, message)
	}
	return all.String(), nil
}

// real returns the calls of a program that a compiler makes of a source in C++ without slicing.
func (b *bench) real(t *testing.T, source string, ranks int) string {
	t.Helper()
	build := b.builder(t, source)
	if err := build.run("compiling", b.mpi.CC, "-w", "-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX", "-o", build.Output,
		source, "-lstdc++", "-lm"); err != nil {
		t.Fatal(err)
	}
	calls, err := b.calling(t, build, ranks)
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

// compare slices a source, and returns the calls of the whole program and of the slice. Change may change the
// slice.
func (b *bench) compare(t *testing.T, source string, ranks int, change func([]byte) []byte) (whole,
	sliced string, s *slice.Slice, err error) {
	t.Helper()
	build := b.builder(t, source)
	build.KeepErrors = b.keepErrors
	text, err := build.module()
	if err != nil {
		t.Fatal(err)
	}
	all := text
	if assumed := build.Assumed; assumed != nil { // the whole program decides it
		build.KeepErrors = true
		if all, err = build.module(); err != nil {
			t.Fatal(err)
		}
		build.Assumed = assumed
	}
	build.Whole = true
	if _, err := build.slice(all, b.options); err != nil {
		t.Fatal(err)
	}
	if whole, err = b.run(t, build, ranks); err != nil {
		t.Fatalf("the whole program: %v", err)
	}
	build.Whole = false
	if s, err = build.slice(text, b.options); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		text, err := os.ReadFile(build.file("slice.ll"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(build.file("slice.ll"), change(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sliced, err = b.run(t, build, ranks)
	return whole, sliced, s, err
}

// TestRandom checks that random programs and their slices make the same calls.
func TestRandom(t *testing.T) {
	b := newBench(t)
	for k := range *programs {
		number := *first + uint64(k)
		source := filepath.Join(b.directory, fmt.Sprint("random", number, ".c"))
		if err := os.WriteFile(source, []byte(generate(number)), 0o600); err != nil {
			t.Fatal(err)
		}
		whole, sliced, s, err := b.compare(t, source, 2+int(number%3), nil)
		if err != nil || whole != sliced {
			t.Errorf("program %d: %v: %s", number, err, difference(whole, sliced))
			continue
		}
		count := s.Counts()[0]
		t.Logf("program %d: %d calls, %d of %d instructions kept", number, strings.Count(whole, "\n"),
			count.Kept, count.All)
	}
}

// TestRandomClasses checks that random programs in C++, their slices, and what a compiler makes of them make the
// same calls.
func TestRandomClasses(t *testing.T) {
	b := newBench(t)
	for k := range *programs {
		number := *first + uint64(k)
		source := filepath.Join(b.directory, fmt.Sprint("classes", number, ".cc"))
		if err := os.WriteFile(source, []byte(generateClasses(number)), 0o600); err != nil {
			t.Fatal(err)
		}
		ranks := 2 + int(number%3)
		whole, sliced, s, err := b.compare(t, source, ranks, nil)
		if err != nil || whole != sliced {
			t.Errorf("program %d: %v: %s", number, err, difference(whole, sliced))
			continue
		}
		if real := b.real(t, source, ranks); real != sliced {
			t.Errorf("program %d, as a compiler makes it: %s", number, difference(real, sliced))
		}
		kept, all := 0, 0
		for _, c := range s.Counts() {
			kept, all = kept+c.Kept, all+c.All
		}
		t.Logf("program %d: %d calls, %d of %d instructions kept", number, strings.Count(whole, "\n"), kept, all)
	}
}

// TestRandomFortran checks that random programs in Fortran and their slices make the same calls.
func TestRandomFortran(t *testing.T) {
	b := newBench(t)
	if _, err := exec.LookPath(flang); err != nil || b.mpi.Name != "mpich" {
		t.Skip("Fortran takes Flang and MPICH")
	}
	for k := range *programs {
		number := *first + uint64(k)
		source := filepath.Join(b.directory, fmt.Sprint("modules", number, ".f90"))
		if err := os.WriteFile(source, []byte(generateFortran(number)), 0o600); err != nil {
			t.Fatal(err)
		}
		whole, sliced, s, err := b.compare(t, source, 2+int(number%3), nil)
		if err != nil || whole != sliced {
			t.Errorf("program %d: %v: %s", number, err, difference(whole, sliced))
			continue
		}
		count := s.Counts()[0]
		t.Logf("program %d: %d calls, %d of %d instructions kept", number, strings.Count(whole, "\n"),
			count.Kept, count.All)
	}
}

// TestPrograms checks that programs with the patterns of benchmarks and their slices make the same calls,
// which groups of operations have data that is needed, whether all are executed (open), and how much is kept.
func TestPrograms(t *testing.T) {
	b := newBench(t)
	for _, tt := range tier.Some([]struct {
		program, needed string
		most            int // percent of the instructions are kept
	}{
		{"lulesh.cc", "", 10},
		{"lulesh.cc --keep-errors", "Allreduce messages", 100},
		{"particles.cc", "messages", 78},
		{"halo.cc", "", 46},
		{"operators.cc", "", 47},
		{"exceptions.cc", "Allreduce open", 100},
		{"shared.cc", "", 100},
		{"minife.cc", "Bcast messages", 53},
		{"amg.c", "Allgather Allreduce Scan", 50},
		{"luany.c", "Bcast", 100},
		{"is.c", "Allreduce Alltoall", 100},
		{"pi.c", "Bcast", 100},
		{"ep.c", "", 100},
		{"worker.c", "messages open", 100},
		{"ft.c", "Bcast", 100},
		{"mg.c", "", 100},
		{"sweep.F", "", 100},
		{"bt.c", "Bcast", 100},
		{"sp.c", "Bcast", 100},
		{"exchange.c", "Allgather Bcast messages open", 100},
		{"cg.F", "Bcast", 100},
		{"lu.f", "Allreduce Bcast messages", 100},
		{"storage.f90", "open", 100},
		{"sweep.c", "", 100},
		{"converge.c", "Allreduce messages", 100},
		{"aliases.cc", "", 100},
		{"memory.c", "open", 100},
		{"strides.c", "", 100},
		{"wildcards.c", "messages open", 100},
		{"files.f90", "open", 100},
		{"results.f90", "", 100},
		{"arrays.f90", "", 30},
		{"poisson.f90", "Bcast", 35},
		{"common.f", "", 50},
		{"heat.cc", "", 45},
		{"migrate.cc", "Alltoall Alltoallv", 75},
		{"spmv.cc", "Alltoall", 75},
		{"machine.c", "Bcast", 55},
		{"anysource.f90", "Bcast messages open", 65},
		{"addresses.c", "Bcast", 100},
		{"text.c", "", 100},
		{"implicit.c", "", 100},
	}, 3) {
		t.Run(tt.program, func(t *testing.T) {
			if isFortran(tt.program) {
				if _, err := exec.LookPath(flang); err != nil || b.mpi.Name != "mpich" {
					t.Skip("Fortran takes Flang and MPICH")
				}
			}
			ranks, program := *ranks, ""
			program, _, b.keepErrors = strings.Cut(tt.program, " ")
			if program == "lulesh.cc" { // on a cube of ranks
				ranks = 8
			}
			source := filepath.Join("testdata", "programs", program)
			whole, sliced, s, err := b.compare(t, source, ranks, nil)
			if err != nil || whole != sliced {
				t.Errorf("%v: %s", err, difference(whole, sliced))
			}
			if isCPlusPlus(program) {
				if real := b.real(t, source, ranks); real != sliced {
					t.Errorf("the program of a compiler: %s", difference(real, sliced))
				}
			}
			var needed []string
			for _, n := range s.Needed() {
				needed = append(needed, n.Group)
			}
			if _, open := s.Open(); open {
				needed = append(needed, "open")
			}
			if got := strings.Join(needed, " "); got != tt.needed {
				t.Errorf("the data of %q is needed, want %q", got, tt.needed)
			}
			kept, all := 0, 0
			for _, c := range s.Counts() {
				kept, all = kept+c.Kept, all+c.All
			}
			if 100*kept > tt.most*all {
				t.Errorf("%d of %d instructions are kept, more than %d %%", kept, all, tt.most)
			}
			t.Logf("%d of %d instructions kept, %d calls", kept, all, strings.Count(whole, "\n"))
		})
	}
}

// difference says where two texts differ first.
func difference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for k := range min(len(x), len(y)) {
		if x[k] != y[k] {
			return fmt.Sprintf("line %d: whole %q, sliced %q", k, x[k], y[k])
		}
	}
	return fmt.Sprintf("%d lines and %d", len(x), len(y))
}
