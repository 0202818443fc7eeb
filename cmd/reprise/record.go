package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/reprise-trace/reprise/mpi"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
)

func newRecord() *cobra.Command {
	var o recordOptions
	cmd := &cobra.Command{
		Use:   "record -o OUT.rpz [flags] -- COMMAND [ARG]...",
		Short: "Run an MPI program and record its calls",
		Long: `Run a command that starts an MPI program, and write a trace of all calls of MPI
of all its processes, with all arguments. The program needs no change and need
not be linked again: a small library, built with the mpicc of its MPI on first
use, is loaded into the processes and writes down the calls, and this command
compresses them while the program runs. What the program reads and prints passes
through, and the exit status is that of the command.

If the program dies, the trace has all calls up to there, and the summary names
the ranks that did not come to MPI_Finalize.

The program can switch recording off and on for a process: MPI_Pcontrol(0) and
MPI_Pcontrol(1), or MPI_Info_set on any info object with the key reprise_record
and the value off or on. With --off it is off at first.

--times says what is kept of times: statistics of the durations of each call and
of the gaps before it, which is the default; histograms as well; all, the start
and the duration of every call, within --error of what they were; exact, to the
nanosecond; or none. Without times, a program that does the same twice has the
same trace, byte for byte.

For a run on several nodes, start one recorder for each process, and join their
parts:

  mpirun -n 512 reprise record --parts run.parts -- ./app
  reprise merge run.parts -o run.rpz

What the processes write passes through files in the --spool directory, or that
of temporary files: best one in memory or on a local disk, with space for what
is not read yet. The MPI is found by what the program is linked with, unless
--mpicc or $MPICC names its compiler command. Programs that are linked
statically cannot be recorded.`,
		Example: `  reprise record -o run.rpz -- mpirun -n 4 ./app
  reprise record --times all -o run.rpz -- srun ./app input
  reprise record --keep-raw raw -o run.rpz -- mpirun -n 4 ./app
  reprise verify run.rpz raw`,
		Args: func(_ *cobra.Command, args []string) error { return o.check(args) },
		RunE: func(cmd *cobra.Command, args []string) error { return record(cmd, args, &o) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "", "the `file` to write")
	f.StringVar(&o.parts, "parts", "", "write a part file to this `directory` instead")
	f.StringVar(&o.times, "times", "statistics", "none, statistics, histograms, all, exact")
	f.Float64Var(&o.epsilon, "error", 0.1, "the relative error of --times all")
	f.StringVar(&o.mpicc, "mpicc", "", "the compiler `command` of the program's MPI")
	f.StringVar(&o.spool, "spool", "", "make the spool in this `directory`")
	f.StringVar(&o.raw, "keep-raw", "", "keep the raw records in a new `directory`")
	f.BoolVar(&o.off, "off", false, "record only from where the program switches it on")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print no summary")
	f.BoolVar(&o.json, "json", false, "print the summary as JSON, on standard error")
	f.Lookup("times").DefValue = ""
	return cmd
}

type recordOptions struct {
	output, parts    string
	times            string
	epsilon          float64
	mpicc            string
	spool, raw       string
	off, quiet, json bool
	collect          collect.Options
}

func (o *recordOptions) check(args []string) (err error) {
	switch {
	case len(args) == 0:
		return usageError{errors.New("record takes the command to run, behind --")}
	case (o.output == "") == (o.parts == ""):
		return usageError{errors.New("record needs -o OUT.rpz, or --parts DIR")}
	case o.output == "-":
		return usageError{errors.New("standard output is that of the program: -o takes a file")}
	case o.raw != "" && o.spool != "":
		return usageError{errors.New("--keep-raw is the spool: it does not go with --spool")}
	}
	if o.collect, err = timesOptions(o.times, o.epsilon); err != nil {
		return usageError{err}
	}
	o.collect.Keep = o.raw != ""
	return nil
}

// A recordSummary is what record reports.
type recordSummary struct {
	Output     string   `json:"output"`
	Ranks      int      `json:"ranks"`
	Calls      uint64   `json:"calls"`
	Bytes      int64    `json:"trace_bytes"`
	Raw        int64    `json:"raw_bytes"`
	Seconds    float64  `json:"seconds"` // that the command ran
	Collector  float64  `json:"collector_cpu_seconds"`
	Overhead   float64  `json:"overhead"` // share of the processes' time, 0.01 being 1 %
	Unfinished []int    `json:"ranks_without_finalize"`
	Problems   []string `json:"problems"`
	Status     int      `json:"exit_status"`
}

// An exitStatus is an error that only says how a command ended.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func record(cmd *cobra.Command, args []string, o *recordOptions) (err error) {
	// What cannot be written is better known before the program runs.
	if err := o.checkOutput(); err != nil {
		return err
	}
	library, err := interposer(cmd.Context(), args, o)
	if err != nil {
		return err
	}
	var (
		spool  string
		remove func()
	)
	finish, err := unfinished.begin(func() (func(), error) {
		spool, remove, err = o.makeSpool()
		return remove, err
	})
	if err != nil {
		return err
	}
	defer finish()
	defer remove()
	collector, err := collect.New(spool, o.collect)
	if err != nil {
		return err
	}
	var s recordSummary
	begin := time.Now()
	if s.Status, err = runCommand(cmd, args, o.environment(library, spool), collector); err != nil {
		return err
	}
	s.Seconds = time.Since(begin).Seconds()
	// What was recorded is written even if the program was interrupted.
	cmd.SetContext(context.WithoutCancel(cmd.Context()))
	switch err := o.write(cmd, collector, &s); {
	case err == errNothing && s.Status != 0:
		fmt.Fprintf(cmd.ErrOrStderr(), "reprise: %v\n", err)
		return exitStatus(s.Status)
	case err != nil:
		return err
	}
	if err := s.print(cmd.ErrOrStderr(), o); err != nil {
		return err
	}
	if s.Status != 0 {
		return exitStatus(s.Status)
	}
	return nil
}

// checkOutput makes the directory of parts, and returns an error if a file cannot be
// written where the trace is to be.
func (o *recordOptions) checkOutput() error {
	path := o.output
	if o.parts != "" {
		if err := os.MkdirAll(o.parts, 0o777); err != nil {
			return err
		}
		path = filepath.Join(o.parts, "part")
	}
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s: is a directory", path)
	case err == nil && !info.Mode().IsRegular():
		return nil
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".reprise-")
	if err != nil {
		return fileError(path, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// interposer builds the library that records, or finds it.
func interposer(ctx context.Context, args []string, o *recordOptions) (string, error) {
	mpicc := o.mpicc
	if mpicc == "" {
		mpicc = os.Getenv("MPICC")
	}
	if mpicc == "" {
		var err error
		if mpicc, err = mpi.FindCompiler(ctx, args); err != nil {
			return "", fmt.Errorf("%w; name it with --mpicc", err)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = filepath.Join(os.TempDir(), fmt.Sprintf("reprise-%d", os.Getuid()))
	} else {
		cache = filepath.Join(cache, "reprise")
	}
	i, err := mpi.BuildInterposer(ctx, mpicc, cache)
	if err != nil {
		return "", err
	}
	return i.Path, nil
}

// makeSpool makes the directory that the processes write to.
func (o *recordOptions) makeSpool() (path string, remove func(), err error) {
	if o.raw == "" {
		path, err = os.MkdirTemp(o.spool, "reprise-spool-")
		return path, func() { os.RemoveAll(path) }, err
	}
	if err := os.MkdirAll(o.raw, 0o777); err != nil {
		return "", nil, err
	}
	entries, err := os.ReadDir(o.raw)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s: is not empty", o.raw)
	}
	if err == nil {
		path, err = filepath.Abs(o.raw)
	}
	return path, func() {}, err
}

// environment returns the environment of the command.
func (o *recordOptions) environment(library, spool string) []string {
	preload := library
	if old := os.Getenv("LD_PRELOAD"); old != "" {
		preload += ":" + old
	}
	env := append(os.Environ(), "LD_PRELOAD="+preload, "REPRISE_SPOOL="+spool)
	if o.off {
		env = append(env, "REPRISE_RECORD=off")
	}
	return env
}

// commandRuns is set while the command that record has started runs: signals are its
// business.
var commandRuns atomic.Bool

// runCommand runs the command and collects what it records. It returns its exit status.
func runCommand(cmd *cobra.Command, args, env []string, collector *collect.Collector) (int, error) {
	c := exec.Command(args[0], args[1:]...)
	c.Env = env
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	commandRuns.Store(true)
	defer commandRuns.Store(false)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(signals, syscall.SIGHUP)
	}
	defer signal.Stop(signals)
	if err := cmd.Context().Err(); err != nil {
		return 0, err
	}
	if err := c.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	wait := idle
	for {
		select {
		case err := <-ended:
			return statusOf(c, err)
		case s := <-signals:
			// What is typed goes to the command as well.
			if s != os.Interrupt || !term.IsTerminal(int(os.Stdin.Fd())) {
				_ = c.Process.Signal(s)
			}
		case <-time.After(wait):
			// An error comes again when all is collected. The program goes on.
			if calls, err := collector.Poll(); err != nil || calls == 0 {
				wait = idle
			} else {
				wait = busy
			}
		}
	}
}

// How long the collector waits before it looks for more.
const (
	idle = 50 * time.Millisecond
	busy = 5 * time.Millisecond
)

// statusOf returns the exit status of a command as a shell would tell it.
func statusOf(c *exec.Cmd, err error) (int, error) {
	if c.ProcessState == nil {
		return 0, err
	}
	if w, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal()), nil
	}
	return c.ProcessState.ExitCode(), nil
}

// write takes the rest and writes the trace.
func (o *recordOptions) write(cmd *cobra.Command, collector *collect.Collector, s *recordSummary) error {
	a, collected, err := collector.Finish(cmd.Context())
	if err != nil {
		return err
	}
	s.Ranks, s.Calls, s.Raw, s.Unfinished = collected.Ranks, collected.Calls, collected.Bytes, collected.Unfinished
	if collected.Problems != nil {
		s.Problems = strings.Split(collected.Problems.Error(), "\n")
	}
	if collected.Calls == 0 {
		return errNothing
	}
	s.Output = o.output
	if o.parts != "" {
		s.Output = filepath.Join(o.parts, fmt.Sprintf("rank%07d.part.rpz", collected.First))
	}
	file, err := encodeTrace(cmd, a, o.parts != "")
	if err != nil {
		return err
	}
	s.Bytes = int64(len(file))
	write := func(w io.Writer) error {
		_, err := w.Write(file)
		return err
	}
	if err := writeOutput(cmd, s.Output, nil, write); err != nil {
		return saveElsewhere(file, err)
	}
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) == nil {
		s.Collector = time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
	}
	s.Overhead = collected.Overhead
	return nil
}

// saveElsewhere writes a trace that could not be written where it was to be into the
// directory of temporary files, and returns the error with its path.
func saveElsewhere(file []byte, cause error) error {
	f, err := os.CreateTemp("", "reprise-*.rpz")
	if err != nil {
		return cause
	}
	_, err = f.Write(file)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return cause
	}
	return fmt.Errorf("%w; the trace is in %s", cause, f.Name())
}

var errNothing = errors.New(`no call of MPI was recorded. Is the program linked with MPI, and dynamically? Do the
processes run on this node, and has the launcher passed on LD_PRELOAD and
REPRISE_SPOOL? (To other nodes: mpirun reprise record --parts DIR -- ./app)`)

func (s *recordSummary) print(w io.Writer, o *recordOptions) error {
	if o.json {
		return printJSON(w, s)
	}
	for _, p := range s.Problems {
		fmt.Fprintf(w, "reprise: warning: %s\n", p)
	}
	if o.quiet {
		return nil
	}
	fmt.Fprintf(w, "reprise: %s: %s calls of %s in %s bytes (%s raw, %s)\n", s.Output, comma(s.Calls),
		plural(uint64(s.Ranks), "rank"), comma(uint64(s.Bytes)), humanize.Bytes(uint64(s.Raw)), ratio(uint64(s.Raw), uint64(s.Bytes)))
	fmt.Fprintf(w, "reprise: recording took %.2f %% of the processes' time, and %.1f s of a processor to compress, in %.1f s\n",
		100*s.Overhead, s.Collector, s.Seconds)
	if len(s.Unfinished) > 0 {
		fmt.Fprintf(w, "reprise: the trace ends early: %s did not come to MPI_Finalize\n", rankList(s.Unfinished))
	}
	if s.Status != 0 {
		fmt.Fprintf(w, "reprise: the command ended with status %d\n", s.Status)
	}
	return nil
}

// rankList returns ranks as a list with ranges.
func rankList(ranks []int) string {
	set, err := rankenc.SetOf(ranks...)
	if err != nil {
		return fmt.Sprint(ranks)
	}
	return setText(set)
}

// timesOptions returns what to keep of times.
func timesOptions(times string, epsilon float64) (o collect.Options, err error) {
	switch times {
	case "none":
		o.Untimed = true
	case "statistics":
	case "histograms":
		o.Times.Histograms = new(timing.HistogramOptions)
	case "all":
		codec, err := timing.NewEntropy[int64](epsilon)
		if err != nil {
			return o, err
		}
		o.Times.Series = timing.NewSeriesCodec[int64](codec, codec, timing.Gaps)
	case "exact":
		codec := timing.NewLossless[int64](timing.Zstd)
		o.Times.Series = timing.NewSeriesCodec[int64](codec, codec, timing.Gaps)
	default:
		err = fmt.Errorf("--times is none, statistics, histograms, all or exact, not %q", times)
	}
	return o, err
}
