package bench

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // for the program
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/mpi/interpose"
	"github.com/reprise-trace/reprise/trace"
)

// errNoMPI is returned by reportRecording if no MPI is installed.
var errNoMPI = errors.New("no MPI is installed")

//go:embed recording/patterns.c
var patternsSource []byte

// patternCalls is the number of calls of a run of a pattern.
const patternCalls = 1_000_000

// patterns are those of PEERS.md §3, with what a call costs in a program that Pilgrim
// records: as it is shipped, and optimized.
var patterns = []struct {
	name, about        string
	shipped, optimized string
}{
	{"rank", "MPI_Comm_rank", "325", "182"},
	{"one", "Irecv Isend Wait Wait, one tag", "1,617", "728"},
	{"random", "Irecv Send Wait, 16 random tags", "1,790", "936"},
	{"new", "Irecv Send Wait, every tag new", "2,141", "1,424"},
	{"thousand", "Irecv Send Wait, tags 0…999 in a loop", "401,373", "181,285"},
}

// reportRecording reports, for each MPI that is installed, what recording adds to a call of
// a program, and what collecting it takes, and the size of traces of hpcc.
func reportRecording(w io.Writer) error {
	directory, err := os.MkdirTemp("", "reprise-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)
	var installed []*implementation
	for _, name := range []string{"mpich", "openmpi"} {
		if m := findMPI(name); m != nil {
			if err := m.build(directory); err != nil {
				return err
			}
			installed = append(installed, m)
		}
	}
	if len(installed) == 0 {
		return errNoMPI
	}
	heads(w, "MPI", "calls", "ns a call, not recorded", "added by the interposer", "range", "the kernel's, for pages",
		"two reads of the clock", "added less pages and reads", "collector, ns a call", "million calls/s",
		"added by Pilgrim, as shipped", "optimized")
	for _, m := range installed {
		for _, p := range patterns {
			c, err := m.measure(p.name)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "| %s | %s | %.1f | %.0f | %.0f … %.0f | %.0f | %.0f | %.0f | %.0f | %.1f | %s | %s |\n",
				m.name, p.about, median(c.plain), median(c.added), slices.Min(c.added), slices.Max(c.added),
				median(c.kernel), median(c.reads), median(c.rest), median(c.collected), 1000/median(c.collected),
				p.shipped, p.optimized)
		}
	}
	if err := reportFixed(w, installed); err != nil {
		return err
	}
	for _, m := range installed {
		if m.name == "openmpi" {
			if err := m.hpcc(w, directory); err != nil {
				return err
			}
			if err := m.neighbours(w, directory); err != nil {
				return err
			}
			return m.advancing(w, directory)
		}
	}
	return nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// An implementation is an installed MPI.
type implementation struct {
	name, mpicc string
	mpirun      []string
	interposer  string
	program     string
	sites       string // as in record --sites; caller if empty
}

// withoutSites returns m, but that call sites are not recorded.
func (m *implementation) withoutSites() *implementation {
	without := *m
	without.sites = "none"
	return &without
}

// processorTime returns the time that all threads of the program took of processors:
// a clock that other programs do not disturb much.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// findMPI returns an implementation, or nil if it is not installed.
func findMPI(name string) *implementation {
	m := &implementation{name: name, mpicc: "mpicc." + name, mpirun: []string{"mpirun." + name}}
	for _, command := range []string{m.mpicc, m.mpirun[0]} {
		if _, err := exec.LookPath(command); err != nil {
			return nil
		}
	}
	if name == "openmpi" {
		m.mpirun = append(m.mpirun, "--oversubscribe", "--mca", "mpi_yield_when_idle", "1")
	}
	return m
}

func (m *implementation) build(directory string) error {
	library, err := interpose.Build(context.Background(), m.mpicc, directory, nil)
	if err != nil {
		return err
	}
	source := filepath.Join(directory, "patterns.c")
	if err := os.WriteFile(source, patternsSource, 0o600); err != nil {
		return err
	}
	m.interposer, m.program = library.Path, filepath.Join(directory, "patterns-"+m.name)
	if output, err := exec.Command(m.mpicc, "-O1", "-o", m.program, source).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", m.mpicc, err, output)
	}
	return nil
}

// run runs a program on some ranks, recorded if there is a spool, and returns what it
// prints.
func (m *implementation) run(ranks int, spool, directory, program string, arguments ...string) (string, error) {
	command := slices.Concat(m.mpirun, []string{"-n", strconv.Itoa(ranks), program}, arguments)
	c := exec.Command(command[0], command[1:]...)
	c.Dir = directory
	c.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	if spool != "" {
		c.Env = append(c.Env, "LD_PRELOAD="+m.interposer, "REPRISE_SPOOL="+spool,
			"REPRISE_SITES="+cmp.Or(m.sites, "caller"))
	}
	output, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", strings.Join(command, " "), err)
	}
	return string(output), nil
}

// callCosts are what calls take in nanoseconds, by round: without recording; what recording adds, what of that is the
// kernel's, which makes pages of the spool, two reads of the clock, and the rest; and what collecting takes.
type callCosts struct{ plain, added, kernel, reads, rest, collected []float64 }

// measure measures a pattern ten times, without and with recording in turn.
func (m *implementation) measure(pattern string) (c callCosts, err error) {
	call := func(spool string) (taken, kernel, reads float64, err error) {
		output, err := m.run(1, spool, "", m.program, pattern, strconv.Itoa(patternCalls))
		if err == nil {
			_, err = fmt.Sscan(output, &taken, &kernel, &reads)
		}
		return taken, kernel, reads, err
	}
	for range rounds {
		plain, system, reads, err := call("")
		if err != nil {
			return c, err
		}
		spool, err := os.MkdirTemp("", "reprise-bench-")
		if err != nil {
			return c, err
		}
		with, kernel, _, err := call(spool)
		if err != nil {
			return c, err
		}
		begin := processorTime()
		collector, err := collect.New(spool, collect.Options{})
		if err != nil {
			return c, err
		}
		_, s, err := collector.Finish(context.Background())
		if err != nil {
			return c, err
		}
		took := processorTime() - begin
		os.RemoveAll(spool)
		c.plain = append(c.plain, plain)
		c.added = append(c.added, with-plain)
		c.kernel = append(c.kernel, kernel-system)
		c.reads = append(c.reads, reads)
		c.rest = append(c.rest, with-plain-(kernel-system)-reads)
		c.collected = append(c.collected, float64(took.Nanoseconds())/float64(s.Calls))
	}
	return c, nil
}

// hpccInput is what hpcc reads: its example, but for the size of the problem, which
// makes a run of about as many calls as that of PEERS.md §1, which does not say it.
func hpccInput() []byte {
	lines := []string{"HPLinpack benchmark input file", "", "HPL.out", "8", "1", "200", "1", "80", "0", "1",
		"2", "2", "16.0",
		"1", "2", "1", "4", "1", "2", "1", "1", "1", "1", "1", "0", "2", "64", "0", "0", "1", "8", "", "0",
		"1200 10000 30000", "0", "40 9 8 13 13 20 16 32 64"}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// hpccPeers are the figures of PEERS.md §1.
var hpccPeers = []struct {
	ranks             int
	calls, signatures string
	bytes             int
}{
	{4, "323,827", "1,638", 174_077},
	{8, "420,446", "4,076", 455_821},
}

// hpcc reports the size of traces of hpcc.
func (m *implementation) hpcc(w io.Writer, directory string) error {
	program, err := exec.LookPath("hpcc")
	if err != nil {
		fmt.Fprintf(w, "\nhpcc is not installed.\n")
		return nil
	}
	fmt.Fprintf(w, "\nhpcc with problems of size 200. It polls: the number of calls differs from run to run. No call sites.\n\n")
	heads(w, "ranks", "calls", "signatures", "trace without times, bytes", "of Pilgrim's",
		"statistics of times, bytes a signature", "raw records, bytes", "Pilgrim: calls", "signatures", "bytes")
	for _, peer := range hpccPeers {
		spool, err := os.MkdirTemp(directory, "spool-")
		if err != nil {
			return err
		}
		work, err := os.MkdirTemp(directory, "hpcc-")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(work, "hpccinf.txt"), hpccInput(), 0o600); err != nil {
			return err
		}
		if _, err := m.withoutSites().run(peer.ranks, spool, work, program); err != nil {
			return err
		}
		size, _, _, err := collectSpool(spool, collect.Options{Keep: true, Untimed: true})
		if err != nil {
			return err
		}
		timed, signatures, s, err := collectSpool(spool, collect.Options{})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %d | %d | %d | %d | %.3f | %.1f | %d | %s | %s | %d |\n", peer.ranks, s.Calls, signatures,
			size, float64(size)/float64(peer.bytes), float64(timed-size)/float64(signatures), s.Bytes,
			peer.calls, peer.signatures, peer.bytes)
	}
	return nil
}

// collectSpool makes a trace of a spool and returns its size and the number of
// signatures in it.
func collectSpool(spool string, o collect.Options) (size, signatures int, s collect.Summary, err error) {
	t, s, err := collectTrace(spool, o)
	if err != nil {
		return 0, 0, s, err
	}
	return t.size, t.trace.Signatures(), s, nil
}

// A collectedTrace has been made of a spool.
type collectedTrace struct {
	trace *trace.Trace
	size  int // in bytes
}

// collectTrace makes a trace of a spool.
func collectTrace(spool string, o collect.Options) (t collectedTrace, s collect.Summary, err error) {
	c, err := collect.New(spool, o)
	if err != nil {
		return t, s, err
	}
	a, s, err := c.Finish(context.Background())
	if err != nil {
		return t, s, err
	}
	var file bytes.Buffer
	if err := a.Write(&file); err != nil {
		return t, s, err
	}
	t.size = file.Len()
	t.trace, err = open(file.Bytes())
	return t, s, err
}
