package merging

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/launching"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/interpose"
)

// A TreeOptions is how processes that a launcher starts merge parts along a tree.
type TreeOptions struct {
	Radix  int
	Mpicc  string
	member bool             // this is one of the processes
	Remove bool             // the directory of the parts, once the trace is written
	raw    bool             // collect the raw records of killed recorders
	effort int              // of writing the trace
	handed launching.Handed // to a member: the program that exchanges parts
}

// DefaultRadix is the radix of a tree unless another is named.
const DefaultRadix = 4

func (o *TreeOptions) addTo(f *pflag.FlagSet) {
	f.IntVar(&o.Radix, "radix", DefaultRadix,
		"with a launcher after --, `number` of processes that merge into one at each level")
	f.StringVar(&o.Mpicc, "mpicc", "", "the compiler `command` of the launcher's MPI")
	f.BoolVar(&o.member, "member", false, "merge as a process that the launcher started")
	f.BoolVar(&o.Remove, "remove", false,
		"remove the parts when the trace is written; with a launcher, their directory on each node")
	f.BoolVar(&o.raw, "collect", false,
		"first collect the raw records of killed recorders, on this machine or, with a launcher, on each node")
	f.IntVar(&o.effort, "effort", 1,
		fmt.Sprintf("search longer for what makes the trace smaller, up to a `number` of %d: each more takes up to twice the time", merge.MaxEffort))
	f.Var(&o.handed, "program", "use a program that another process has built, as JSON")
	for _, name := range []string{"member", "program"} {
		if err := f.MarkHidden(name); err != nil {
			panic(err)
		}
	}
}

// check returns an error unless a tree can merge what is to be merged.
func (o *TreeOptions) check(s *Summary) error {
	switch {
	case len(s.Input) != 1:
		return cli.BadUsage(errors.New("with a launcher, merge takes a single directory from record --parts"))
	case s.Output == "-" || s.Part:
		return cli.BadUsage(errors.New("with a launcher, merge writes a trace to a file: -o OUT.rpz"))
	case o.Radix < 2:
		return cli.BadUsage(fmt.Errorf("--radix is 2 or more, not %d", o.Radix))
	}
	if err := RefuseInside(s.Output, s.Input); err != nil {
		return err
	}
	entries, err := os.ReadDir(s.Input[0]) // on another node, it may not be there
	for _, e := range entries {
		if name := e.Name(); err == nil && isPartName(name) && !ofRecord.MatchString(name) {
			return fmt.Errorf("%s: is not named as parts of record --parts: merge it without a launcher",
				filepath.Join(s.Input[0], name))
		}
	}
	return nil
}

// ofRecord matches the names of files that record --parts writes.
var ofRecord = regexp.MustCompile(`^rank\d{7,}\.part\.rpz$`)

// WithMPI has the processes that a launcher starts merge the parts in a directory, which may be another one
// on each node, and fills in the rest of s.
func WithMPI(cmd *cobra.Command, launcher []string, s *Summary, o *TreeOptions) error {
	beside, finish, err := launching.Handing(s.Output)
	if err != nil {
		return err
	}
	defer finish()
	args, err := o.commandLine(cmd, launcher, s, beside)
	if err != nil {
		return err
	}
	s.bar = cli.NewProgress(cmd.Context(), cmd.ErrOrStderr(), "merge", -1)
	defer s.bar.Done()
	before, _ := os.Stat(s.Output)
	s.Parts = -1 // nothing is said
	if err := s.Launch(cmd, args); err != nil {
		var late LateError
		if errors.As(err, &late) && s.Parts > 0 {
			cli.Warn(cmd.ErrOrStderr(),
				"%s %v; the trace is complete, and parts may be left in %s of the nodes: rm -r %[3]s",
				cli.Quoted(launcher[0]), err, cli.Quoted(s.Input[0]))
			return s.DescribeFile()
		}
		if s.Parts == 0 {
			return cli.ExitStatus(cli.ExitFailure) // the root has said that there are no parts
		}
		again := s.again(launcher)
		if e := cmd.Context().Err(); e != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "reprise: %s\n", again)
			return e
		}
		var told cli.ExitStatus
		if errors.As(err, &told) {
			return err
		}
		if e := contradictionsIn(cmd.Context(), s.Input[0]); e != nil {
			return fmt.Errorf("merging with MPI: %w", e)
		}
		return fmt.Errorf("merging with MPI: %w; %s", err, again)
	}
	if after, err := os.Stat(s.Output); err != nil || after.Mode().IsRegular() && os.SameFile(before, after) {
		return fmt.Errorf(
			"merging with MPI: %s has ended, and there is no trace: it must start the program after it; %s",
			cli.Quoted(launcher[0]), s.again(launcher))
	}
	s.Parts = max(s.Parts, 0)
	return s.DescribeFile()
}

// How long a launcher may take to merge parts, and to end when the trace is there: one of which a process
// hangs, as in MPI_Init or in MPI_Finalize, would keep its job for ever.
var (
	MergeTime = 30 * time.Minute
	EndTime   = time.Minute
)

// A LateError is that of a launcher that was ended because it took too long.
type LateError struct{ after time.Duration }

func (e LateError) Error() string {
	return fmt.Sprintf("had not ended after %v, and was ended", e.after)
}

// Launch runs a launcher of members, passes on what it prints, and takes from it how many parts the root says
// that it has merged. A launcher that takes too long is ended with its group of processes.
func (s *Summary) Launch(cmd *cobra.Command, args []string) error {
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Stderr, c.SysProcAttr = cmd.ErrOrStderr(), &syscall.SysProcAttr{Setpgid: true}
	stdout, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	var kill *time.Timer // set while c waits for what ctx asks for
	c.Cancel = func() error {
		kill = time.AfterFunc(launching.Patience, func() {
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
			stdout.Close() // which others may have open
		})
		return c.Process.Signal(syscall.SIGTERM)
	}
	if err := c.Start(); err != nil {
		return launching.NotStarted(cmd, args[0], err)
	}
	endAfter := func(d time.Duration) *time.Timer {
		return time.AfterFunc(d, func() { cancel(LateError{d}) })
	}
	late := endAfter(MergeTime)
	defer func() { late.Stop() }()
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		// A launcher may write something in front of each line.
		if _, parts, ok := strings.Cut(lines.Text(), MergedParts); ok {
			s.Parts, _ = strconv.Atoi(strings.TrimSpace(parts))
			late.Stop()
			late = endAfter(EndTime)
		} else if s.bar == nil || !s.bar.Hear(lines.Text()) {
			fmt.Fprintln(cmd.ErrOrStderr(), lines.Text())
		}
	}
	_, _ = io.Copy(io.Discard, stdout)
	err = c.Wait()
	if kill != nil {
		kill.Stop()
	}
	if e := (LateError{}); err != nil && errors.As(context.Cause(ctx), &e) {
		return e
	}
	return err
}

// contradictionsIn returns an error if parts in a directory are of several runs, or two of them have a rank,
// as far as this machine has them.
func contradictionsIn(ctx context.Context, directory string) error {
	paths, wrong := PartFiles([]string{directory})
	if len(wrong) > 0 {
		return nil // it may be on other nodes only
	}
	_, contradictions, err := lookAtParts(ctx, paths, 0, func(int) {})
	if err != nil {
		return err
	}
	return Problems(contradictions).err()
}

// again says how parts are merged that are still there.
func (s *Summary) again(launcher []string) string {
	options := ""
	if s.Bound > 0 {
		options = fmt.Sprintf(" --bounded %d", s.Bound)
	}
	if s.effort > 1 {
		options += fmt.Sprintf(" --effort %d", s.effort)
	}
	return fmt.Sprintf(
		"the parts are still in %s, and this merges them, if no host is gone that the launcher names: reprise merge %[1]s -o %s%s -- %s", cli.Quoted(s.Input[0]), cli.Quoted(s.Output), options, text.ShellLine(launcher))
}

// commandLine returns the command line that starts the processes. Their program lies in a directory as well.
func (o *TreeOptions) commandLine(cmd *cobra.Command, launcher []string, s *Summary, beside string) ([]string, error) {
	ctx := cmd.Context()
	command, err := interpose.Inspect(ctx, launcher)
	if err != nil {
		return nil, err
	}
	mpicc, err := launching.CompilerOf(ctx, command, o.Mpicc)
	if err != nil {
		return nil, err
	}
	program, err := interpose.BuildReducer(ctx, mpicc, launching.CacheDirectory(), nil)
	if err != nil {
		return nil, err
	}
	if _, err := interpose.Inspect(ctx, append(launcher[:len(launcher):len(launcher)], program.Path)); err != nil { // as the launcher may be of another MPI
		return nil, err
	}
	handed, err := launching.Hand(program.Path, program.MPI, beside)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	output, err := filepath.Abs(s.Output)
	if err != nil {
		return nil, err
	}
	args := append(launcher[:len(launcher):len(launcher)], self, "merge", "--member", "--program",
		handed.String(), "--radix", strconv.Itoa(o.Radix), "-o", output)
	if o.Remove {
		args = append(args, "--remove")
	}
	if o.raw {
		args = append(args, "--collect")
	}
	if s.size > 0 {
		args = append(args, "--size", strconv.Itoa(s.size))
	}
	if s.Bound > 0 {
		args = append(args, "--bounded", strconv.FormatInt(s.Bound, 10))
	}
	if s.effort > 1 {
		args = append(args, "--effort", strconv.Itoa(s.effort))
	}
	return append(args, "--", s.Input[0]), nil
}

// DescribeFile fills in the facts about the new trace.
func (s *Summary) DescribeFile() error {
	file, err := os.ReadFile(s.Output)
	if err != nil {
		return err
	}
	trace, err := cli.Reopen(file)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Output, err)
	}
	s.Calls = 0
	for i := range trace.Shapes() {
		shape, err := trace.Shape(i)
		if err != nil {
			return fmt.Errorf("%s: %w", s.Output, err)
		}
		s.Calls = wire.AddSat(s.Calls, wire.MulSat(uint64(shape.Ranks.Len()), shape.Grammar.Len()))
	}
	return s.describe(file, trace.RankSet())
}
