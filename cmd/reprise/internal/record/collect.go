package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/compress"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/merging"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/query/diagnosis"
	"github.com/reprise-trace/reprise/rankenc"
)

func NewCollect() *cobra.Command {
	o := collectOptions{polls: newPolls()}
	cmd := cli.NewCommand("collect")
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return cli.BadUsage(errors.New("collect takes a directory of raw records"))
		}
		if _, err := o.times.Options(); err != nil {
			return cli.BadUsage(err)
		}
		return o.output.named()
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return collectSpool(cmd, args[0], &o) }
	f := cmd.Flags()
	o.output.addTo(f)
	o.times.AddTo(cmd)
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print no summary")
	f.BoolVar(&o.json, "json", false, "print the summary as JSON, on standard error")
	addAllocations(f, &o.allocations)
	addPolls(cmd, o.polls)
	f.BoolVar(&o.live, "live", false, "collect for record, until standard input ends")
	f.BoolVar(&o.keep, "keep", false, "keep the records that are collected live")
	f.StringVar(&o.origin, "origin", "", "who records, as JSON")
	f.DurationVar(&o.timeout, "timeout", 0, "as for record")
	f.Var(&o.finalize, "finalize", "as for record")
	f.IntVar(&o.socket, "socket", 0, "the file that leads to the program that merges")
	f.StringVar(&o.ended, "ended", "{}", "how the command of record ended, as JSON")
	for _, name := range []string{"live", "keep", "origin", "timeout", "finalize", "socket", "ended"} {
		if err := f.MarkHidden(name); err != nil {
			panic(err)
		}
	}
	return cmd
}

type collectOptions struct {
	output      collectOutput
	times       cli.TimesFlag
	quiet, json bool
	live, keep  bool // as the helper of record
	allocations bool
	polls       *cli.Choice
	origin      string
	ended       string
	timeout     time.Duration
	finalize    Finalizing
	socket      int
}

func collectSpool(cmd *cobra.Command, spool string, o *collectOptions) error {
	var note spoolNote
	if o.origin == "" {
		var err error
		if note, err = spoolOrigin(spool); err == nil {
			err = note.apply(cmd.Flags())
		}
		if err != nil {
			cli.Warn(cmd.ErrOrStderr(),
				"the trace does not say who made it, or keeps other times than were asked for: %v",
				cli.FileError(filepath.Join(spool, originFile), err))
		}
	}
	options, err := o.times.Options()
	if err != nil {
		return cli.BadUsage(err)
	}
	options.Origin = note.Origin
	options.Keep, options.Allocations = o.keep || !o.live, o.allocations
	options.DropPolls = areDropped(o.polls)
	if o.origin != "" {
		if err := json.Unmarshal([]byte(o.origin), &options.Origin); err != nil {
			return cli.BadUsage(fmt.Errorf("--origin: %w", err))
		}
	}
	if !o.live {
		if cli.IsLeftover(spool) || !collect.IsSpool(spool) {
			return cli.NotSpool(spool)
		}
		if err := o.output.check(); err != nil {
			return err
		}
	}
	options.Times.Bounded, options.Machine = int64(o.output.bounded), machine()
	options.Measure, options.Recoverable = o.live, o.live && !o.keep
	if o.quiet {
		cmd.SetContext(cli.Together(cmd.Context(), true))
	}
	o.output.ending = ending{cmd: cmd, quiet: o.quiet}
	options.Progress = o.output.ending.show
	collector, err := collect.New(spool, options)
	if err != nil {
		return err
	}
	if o.live {
		return collectLive(cmd, collector, o, spool)
	}
	var e Ending
	if err := json.Unmarshal([]byte(o.ended), &e); err != nil {
		return cli.BadUsage(fmt.Errorf("--ended: %w", err))
	}
	s := Summary{Status: e.Status, Command: e.Ran}
	begin := time.Now()
	if err := o.output.write(cmd, collector, &s); err != nil {
		return err
	}
	s.After = time.Since(begin)
	return s.Print(cmd.ErrOrStderr(), o.json, o.quiet)
}

// machine returns what tells this machine, since it was started, from others, as the interposer does; nothing
// if that is not known.
func machine() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	h := fnv.New64a()
	h.Write(id)
	return fmt.Sprintf("%016x", h.Sum64())
}

// A collectOutput is where a trace goes.
type collectOutput struct {
	Path    string       // of the file
	Parts   string       // directory for a part file
	bounded cli.ByteFlag // the most that the trace may take; 0 if it is not bounded
	ending  ending
}

func (o *collectOutput) addTo(f *pflag.FlagSet) {
	f.StringVarP(&o.Path, "output", "o", "", "the `file` to write")
	f.StringVar(&o.Parts, "parts", "", "write a part file to this `directory` instead")
	compress.AddBounded(f, &o.bounded)
}

// named returns an error unless the output has one name.
func (o *collectOutput) named() error {
	switch {
	case o.Path == "" && o.Parts == "":
		return cli.BadUsage(errors.New("the output is -o OUT.rpz, or --parts DIR"))
	case o.Path != "" && o.Parts != "":
		return cli.BadUsage(errors.New("the output is -o OUT.rpz or --parts DIR, not both"))
	case o.bounded > 0 && o.Parts != "":
		return cli.BadUsage(
			errors.New("--bounded does not go with --parts: a trace is made to fit when its parts are merged"))
	}
	return nil
}

// check returns an error if it can be seen that the output cannot be written.
func (o *collectOutput) check() error {
	name, directory := o.Parts, o.Parts
	if o.Parts == "" {
		name = o.Path
		if info, err := os.Stat(o.Path); err == nil && info.IsDir() {
			return fmt.Errorf("%s: is a directory", o.Path)
		} else if err == nil && !info.Mode().IsRegular() {
			return nil
		}
		directory = filepath.Dir(o.Path)
	} else if err := os.MkdirAll(directory, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(directory, ".reprise-*")
	if err != nil {
		return cli.FileError(name, err)
	}
	f.Close()
	return os.Remove(f.Name())
}

// partIsFree returns an error if there is a part file with a name: it may be of another run, and
// parts of two runs must not be mixed.
func partIsFree(name string) error {
	if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("%s: is there already: take a new directory, or remove it", name)
	}
	return nil
}

var ErrNothing = errors.New("no call of MPI was recorded")

// write takes what is left of a spool and writes the trace. If that cannot go where it
// should, it goes among temporary files.
func (o *collectOutput) write(cmd *cobra.Command, collector *collect.Collector, s *Summary) error {
	a, collected, err := collector.Finish(cmd.Context())
	o.ending.done()
	if err != nil {
		return err
	}
	s.Fill(collected)
	if collected.Calls == 0 && collected.Problems != nil {
		return fmt.Errorf("%w: %s", ErrNothing, strings.Join(s.Problems, "\n"))
	} else if collected.Calls == 0 {
		return ErrNothing
	}
	s.Output = o.Path
	if o.Parts == "" && collected.Unrecorded.Len() > 0 {
		s.Problems = append(s.Problems,
			fmt.Sprintf("nothing was recorded of %s: is there space for the spool, and did they load the library?", text.Ranks(collected.Unrecorded)))
	}
	alone := ""
	if o.Parts != "" {
		s.Output = merging.PartName(o.Parts, collected.First)
		if n := recordersOfLauncher(); n > 1 && collected.Ranks == 1 {
			alone = fmt.Sprintf(
				"the launcher has started %d processes, and each is alone in MPI_COMM_WORLD, as rank 0: the launcher may be that of another MPI", n)
			s.Problems = append(s.Problems, alone)
		}
	}
	file, err := merging.EncodeAligned(cmd, a, o.Parts != "", int64(o.bounded))
	if large := new(merge.BoundError); errors.As(err, &large) {
		whole, e := compress.EncodeTrace(cmd, a, false, 0)
		if e != nil {
			return e
		}
		return saveElsewhere(whole, err)
	}
	if err != nil {
		return err
	}
	s.Bytes = int64(len(file))
	written := false
	if o.Parts != "" {
		switch err = partIsFree(s.Output); {
		case err != nil && alone != "":
			err = errors.New(alone)
		case err != nil && hasWritten(s.Output, file):
			written, err = true, nil
		}
	}
	if err == nil && !written {
		err = cli.WriteOutput(cmd, s.Output, nil, func(w io.Writer) error {
			_, err := w.Write(file)
			return err
		})
	}
	if err != nil {
		return saveElsewhere(file, err)
	}
	if o.Parts == "" {
		s.diagnose(cmd.Context(), file)
	}
	used := ProcessorTime()
	s.Collector = &used
	return nil
}

// saveElsewhere writes a trace that could not be written among temporary files, and
// returns the error with the name of the file.
func saveElsewhere(file []byte, cause error) error {
	f, err := os.CreateTemp("", "reprise-*.rpz")
	if err != nil {
		return cause
	}
	_, err = f.Write(file)
	if e := f.Close(); err != nil || e != nil {
		os.Remove(f.Name())
		return cause
	}
	return fmt.Errorf("%w; the trace is in %s", cause, f.Name())
}

// A Summary is what record and collect report.
type Summary struct {
	Schema     int                  `json:"schema"`
	Output     string               `json:"output"`
	Ranks      int                  `json:"run_ranks"` // as far as it is known
	Processes  int                  `json:"ranks"`     // with calls
	Calls      uint64               `json:"calls"`
	Bytes      int64                `json:"trace_bytes"`
	Command    time.Duration        `json:"command_ns"` // that the command ran
	After      time.Duration        `json:"after_ns"`   // from its end until the trace was there
	Unfinished rankenc.Set          `json:"unfinished_rank_set"`
	Problems   []string             `json:"problems"`
	Parts      int                  `json:"parts,omitempty"` // that were merged, with record --merge
	Status     int                  `json:"exit_status"`
	Wrapping   []string             `json:"wrapping_functions,omitempty"` // whose calls have the sites of their callers
	Series     int64                `json:"exact_times_bytes,omitempty"`  // of the times of every call, if exact
	Run        *diagnosis.Diagnosis `json:"diagnosis,omitempty"`          // left out of a part file, and without times

	timed bool // the trace has the times of every call

	// Not known with record --merge, and left out.
	Raw       *int64         `json:"raw_bytes,omitempty"`
	Collector *time.Duration `json:"collector_cpu_ns,omitempty"`
	Overhead  *float64       `json:"overhead,omitempty"` // share of the processes' time, 0.01 being 1 %
}

func (s *Summary) Fill(c collect.Summary) {
	s.Schema, s.Processes, s.Unfinished = cli.Schema, c.Processes, rankenc.SetOf(c.Unfinished...)
	s.Ranks, s.Calls, s.Raw, s.Overhead = c.Ranks, c.Calls, &c.Bytes, &c.Overhead
	s.Problems, s.Wrapping = []string{}, c.Wrapping
	if c.Problems != nil {
		s.Problems = problemsOf(c.Problems)
	}
	if c.Alone > 0 {
		s.Problems = append(s.Problems,
			fmt.Sprintf("%d processes of one launcher were each alone in MPI_COMM_WORLD: the launcher may be that of another MPI", c.Alone))
	}
	if len(c.Uncalled) > 0 {
		s.Problems = append(s.Problems, fmt.Sprintf("--error of functions that were not called: %s",
			strings.Join(c.Uncalled, ", ")))
	}
}

// problemsOf returns what errors say that were joined, and what is in the place of raw records that
// cannot be read.
func problemsOf(err error) (list []string) {
	for _, e := range leavesOf(err) {
		if of := new(collect.RecordsError); errors.As(e, &of) {
			if said := cli.InPlaceOfRecords(of.Path); said != nil {
				e = &collect.RecordsError{Of: of.Of, Path: of.Path, Err: said}
			}
		}
		list = append(list, e.Error())
	}
	return list
}

// leavesOf returns the errors that were joined.
func leavesOf(err error) (list []error) {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	for _, e := range joined.Unwrap() {
		list = append(list, leavesOf(e)...)
	}
	if errors.Join(list...).Error() != err.Error() { // it says more than they
		return []error{err}
	}
	return list
}

func (s *Summary) Print(w io.Writer, asJSON, quiet bool) error {
	if asJSON {
		return cli.PrintJSON(w, s)
	}
	for _, p := range s.Problems {
		cli.Warn(w, "%s", p)
	}
	if quiet {
		return nil
	}
	early := s.Unfinished.Len() > 0
	if early {
		ranks := s.Unfinished
		if s.Run != nil && s.Run.Early.Len() > 0 { // others wait in MPI_Finalize for these
			ranks = s.Run.Early
		}
		fmt.Fprintf(w, "reprise: the trace ends early: %s did not reach MPI_Finalize\n", text.Ranks(ranks))
	}
	fmt.Fprintf(w, "reprise: %s: %s calls of %s in %s bytes", text.Printable(s.Output), text.Count(s.Calls),
		text.Plural(s.Processes, "rank"), text.Count(s.Bytes))
	switch {
	case s.Parts > 0 && s.After == 0:
		fmt.Fprintf(w, ", merged of %s in MPI_Finalize\n", text.Plural(s.Parts, "part"))
	case s.Parts > 0:
		fmt.Fprintf(w, ", merged of %s in %.1f s\n", text.Plural(s.Parts, "part"), s.After.Seconds())
	default:
		fmt.Fprintf(w, " (%s raw)\n", text.Bytes(*s.Raw))
		fmt.Fprintf(w, "reprise: cost: %.2f %% of the time, %.1f s of collecting, %.1f s at the end\n",
			100**s.Overhead, s.Collector.Seconds(), s.After.Seconds())
	}
	if len(s.Wrapping) > 0 {
		fmt.Fprintf(w, "reprise: calls in functions that wrap MPI, such as %s, have the call sites of their callers\n", text.Printable(s.Wrapping[0]))
	}
	if s.Series > 0 {
		fmt.Fprintf(w, "reprise: the times of every call are exact, in %s bytes\n", text.Count(s.Series))
	}
	if s.Run != nil {
		printDiagnosis(w, s.Run, early)
	}
	if s.Status != 0 {
		words := StatusWords(s.Status)
		if s.Run != nil && s.Run.Aborted.Len() > 0 { // its error code, whatever signal has this number
			words = fmt.Sprintf("status %d, after %s", s.Status, answers.Aborted(s.Run.Aborted))
		}
		fmt.Fprintf(w, "reprise: the command ended with %s\n", words)
	}
	switch {
	case early:
		fmt.Fprintf(w, "reprise: next: reprise hang %s\n", cli.Quoted(s.Output))
	case s.Run != nil:
		fmt.Fprintf(w, "reprise: next: %s\n", s.nextCommand())
	}
	return nil
}
