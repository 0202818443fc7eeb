package main

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

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/interpose"
)

// A treeOptions is how processes that a launcher starts merge parts along a tree.
type treeOptions struct {
	radix  int
	mpicc  string
	member bool   // this is one of the processes
	remove bool   // the directory of the parts, once the trace is written
	raw    bool   // collect the raw records of killed recorders
	handed handed // to a member: the program that exchanges parts
}

// defaultRadix is the radix of a tree unless another is named.
const defaultRadix = 4

func (o *treeOptions) addTo(f *pflag.FlagSet) {
	f.IntVar(&o.radix, "radix", defaultRadix, "with a launcher after --, `number` of processes that merge into one at each level")
	f.StringVar(&o.mpicc, "mpicc", "", "the compiler `command` of the launcher's MPI")
	f.BoolVar(&o.member, "member", false, "merge as a process that the launcher started")
	f.BoolVar(&o.remove, "remove", false, "remove the parts when the trace is written; with a launcher, their directory on each node")
	f.BoolVar(&o.raw, "collect", false, "first collect the raw records of killed recorders, on this machine or, with a launcher, on each node")
	f.Var(&o.handed, "program", "use a program that another process has built, as JSON")
	for _, name := range []string{"member", "program"} {
		if err := f.MarkHidden(name); err != nil {
			panic(err)
		}
	}
}

// check returns an error unless a tree can merge what is to be merged.
func (o *treeOptions) check(s *mergeSummary) error {
	switch {
	case len(s.Input) != 1:
		return badUsage(errors.New("with a launcher, merge takes a single directory from record --parts"))
	case s.Output == "-" || s.Part:
		return badUsage(errors.New("with a launcher, merge writes a trace to a file: -o OUT.rpz"))
	case o.radix < 2:
		return badUsage(fmt.Errorf("--radix is 2 or more, not %d", o.radix))
	}
	if err := refuseInside(s.Output, s.Input); err != nil {
		return err
	}
	entries, err := os.ReadDir(s.Input[0]) // on another node, it may not be there
	for _, e := range entries {
		if name := e.Name(); err == nil && isPartName(name) && !ofRecord.MatchString(name) {
			return fmt.Errorf("%s: is not named as parts of record --parts: merge it without a launcher", filepath.Join(s.Input[0], name))
		}
	}
	return nil
}

// ofRecord matches the names of files that record --parts writes.
var ofRecord = regexp.MustCompile(`^rank\d{7,}\.part\.rpz$`)

// mergeWithMPI has the processes that a launcher starts merge the parts in a directory, which may be another one on each
// node, and fills in the rest of s.
func mergeWithMPI(cmd *cobra.Command, launcher []string, s *mergeSummary, o *treeOptions) error {
	beside, finish, err := handing(s.Output)
	if err != nil {
		return err
	}
	defer finish()
	args, err := o.commandLine(cmd, launcher, s, beside)
	if err != nil {
		return err
	}
	p := newProgress(cmd.Context(), cmd.ErrOrStderr(), "merge", -1)
	defer p.done()
	before, _ := os.Stat(s.Output)
	s.Parts = -1 // nothing is said
	if err := s.launch(cmd, args); err != nil {
		var late lateError
		if errors.As(err, &late) && s.Parts > 0 {
			warn(cmd.ErrOrStderr(), "%s %v; the trace is complete, and parts may be left in %s of the nodes: rm -r %[3]s", quoted(launcher[0]), err, quoted(s.Input[0]))
			return s.describeFile()
		}
		if s.Parts == 0 {
			return exitStatus(exitFailure) // the root has said that there are no parts
		}
		again := s.again(launcher)
		if e := cmd.Context().Err(); e != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "reprise: %s\n", again)
			return e
		}
		var told exitStatus
		if errors.As(err, &told) {
			return err
		}
		if e := contradictionsIn(cmd.Context(), s.Input[0]); e != nil {
			return fmt.Errorf("merging with MPI: %w", e)
		}
		return fmt.Errorf("merging with MPI: %w; %s", err, again)
	}
	if after, err := os.Stat(s.Output); err != nil || after.Mode().IsRegular() && os.SameFile(before, after) {
		return fmt.Errorf("merging with MPI: %s has ended, and there is no trace: it must start the program after it; %s", quoted(launcher[0]), s.again(launcher))
	}
	s.Parts = max(s.Parts, 0)
	return s.describeFile()
}

// How long a launcher may take to merge parts, and to end when the trace is there: one of which a process hangs, as in MPI_Init or in
// MPI_Finalize, would keep its job for ever.
var (
	mergeTime = 30 * time.Minute
	endTime   = time.Minute
)

// A lateError is that of a launcher that was ended because it took too long.
type lateError struct{ after time.Duration }

func (e lateError) Error() string {
	return fmt.Sprintf("had not ended after %v, and was ended", e.after)
}

// launch runs a launcher of members, passes on what it prints, and takes from it how many parts the root says that it has merged. A launcher that
// takes too long is ended with its group of processes.
func (s *mergeSummary) launch(cmd *cobra.Command, args []string) error {
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
		kill = time.AfterFunc(patience, func() {
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
			stdout.Close() // which others may have open
		})
		return c.Process.Signal(syscall.SIGTERM)
	}
	if err := c.Start(); err != nil {
		return notStarted(cmd, args[0], err)
	}
	endAfter := func(d time.Duration) *time.Timer {
		return time.AfterFunc(d, func() { cancel(lateError{d}) })
	}
	late := endAfter(mergeTime)
	defer func() { late.Stop() }()
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		// A launcher may write something in front of each line.
		if _, parts, ok := strings.Cut(lines.Text(), mergedParts); ok {
			s.Parts, _ = strconv.Atoi(strings.TrimSpace(parts))
			late.Stop()
			late = endAfter(endTime)
		} else {
			fmt.Fprintln(cmd.ErrOrStderr(), lines.Text())
		}
	}
	_, _ = io.Copy(io.Discard, stdout)
	err = c.Wait()
	if kill != nil {
		kill.Stop()
	}
	if e := (lateError{}); err != nil && errors.As(context.Cause(ctx), &e) {
		return e
	}
	return err
}

// contradictionsIn returns an error if parts in a directory are of several runs, or two of them have a rank, as far as this machine has them.
func contradictionsIn(ctx context.Context, directory string) error {
	paths, wrong := partFiles([]string{directory})
	if len(wrong) > 0 {
		return nil // it may be on other nodes only
	}
	_, contradictions, err := lookAtParts(ctx, paths, 0, func(int) {})
	if err != nil {
		return err
	}
	return problems(contradictions).err()
}

// again says how parts are merged that are still there.
func (s *mergeSummary) again(launcher []string) string {
	bounded := ""
	if s.bound > 0 {
		bounded = fmt.Sprintf(" --bounded %d", s.bound)
	}
	return fmt.Sprintf("the parts are still in %s, and this merges them, if no host is gone that the launcher names: reprise merge %[1]s -o %s%s -- %s", quoted(s.Input[0]), quoted(s.Output), bounded, text.ShellLine(launcher))
}

// commandLine returns the command line that starts the processes. Their program lies in a directory as well.
func (o *treeOptions) commandLine(cmd *cobra.Command, launcher []string, s *mergeSummary, beside string) ([]string, error) {
	ctx := cmd.Context()
	command, err := interpose.Inspect(ctx, launcher)
	if err != nil {
		return nil, err
	}
	mpicc, err := compilerOf(ctx, command, o.mpicc)
	if err != nil {
		return nil, err
	}
	program, err := interpose.BuildReducer(ctx, mpicc, cacheDirectory(), nil)
	if err != nil {
		return nil, err
	}
	if _, err := interpose.Inspect(ctx, append(launcher[:len(launcher):len(launcher)], program.Path)); err != nil { // as the launcher may be of another MPI
		return nil, err
	}
	handed, err := hand(program.Path, program.MPI, beside)
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
	args := append(launcher[:len(launcher):len(launcher)], self, "merge", "--member", "--program", handed.String(), "--radix", strconv.Itoa(o.radix), "-o", output)
	if o.remove {
		args = append(args, "--remove")
	}
	if o.raw {
		args = append(args, "--collect")
	}
	if s.size > 0 {
		args = append(args, "--size", strconv.Itoa(s.size))
	}
	if s.bound > 0 {
		args = append(args, "--bounded", strconv.FormatInt(s.bound, 10))
	}
	return append(args, "--", s.Input[0]), nil
}

// describeFile fills in what is known of the trace that was made.
func (s *mergeSummary) describeFile() error {
	file, err := os.ReadFile(s.Output)
	if err != nil {
		return err
	}
	trace, err := reopen(file)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Output, err)
	}
	return s.describe(file, trace.RankSet())
}
