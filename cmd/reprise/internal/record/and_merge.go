package record

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/launching"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/merging"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/interpose"
	"github.com/reprise-trace/reprise/query"
)

// recordAndMerge records a run on any number of nodes, in two steps with one launcher: each process has a
// recorder that writes a part to a directory of its node, then as many processes merge the parts. If those of
// the program are to merge them, the second step is only for what they could not.
func recordAndMerge(cmd *cobra.Command, command *interpose.Command, args []string, o *Options) error {
	launcher, program, err := splitLauncher(command, args)
	if err != nil {
		return err
	}
	if info, err := os.Stat(o.Output.Path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file, which --merge needs", o.Output.Path)
	}
	// Built here, the library and the program are there for all nodes.
	library, err := interposer(cmd, command, o)
	if err != nil {
		return err
	}
	warnOfUnrecorded(cmd, library, command)
	mpicc, err := launching.CompilerOf(cmd.Context(), command, o.Mpicc)
	if err != nil {
		return err
	}
	if _, err := interpose.BuildReducer(cmd.Context(), mpicc, launching.CacheDirectory(), nil); err != nil {
		return err
	}
	beside, finish, err := launching.Handing(o.Output.Path)
	if err != nil {
		return err
	}
	defer finish()
	handed, err := launching.Hand(library.Path, library.MPI, beside)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	spool := o.spool
	if spool == "" {
		spool = os.TempDir()
	}
	if spool, err = filepath.Abs(spool); err != nil {
		return err
	}
	parts := filepath.Join(spool, "reprise-parts-"+rand.Text())
	if o.Merge.Value == "finalize" {
		if o.finalize.Output, err = filepath.Abs(o.Output.Path); err != nil {
			return err
		}
		o.finalize.Bounded, o.finalize.Remove = int64(o.Output.bounded), true
	}
	before, _ := os.Stat(o.Output.Path) // if there is none, none is the same
	recorders := slices.Concat(launcher, []string{self, "record", "--quiet", "--lock", "--parts", parts,
		"--spool", spool, "--library", handed.String()},
		o.passedOn(), []string{"--"}, program)
	begin := time.Now()
	status, err := runCommand(cmd.Context(), recorders, os.Environ(), nil, nil)
	if err != nil {
		return launching.NotStarted(cmd, args[0], err)
	}
	ran, begin := time.Since(begin), time.Now()
	if !Exists(filepath.Join(beside, launching.StartedFile)) && status != 0 && !Exists(parts) {
		cli.Notice(cmd.ErrOrStderr(), "reprise:", text.Failure,
			fmt.Sprintf("%s ended with status %d before a recorder had started the program: there are no parts", cli.Quoted(args[0]), status))
		return cli.ExitStatus(status)
	}
	m := merging.Summary{Input: []string{parts}, Output: o.Output.Path, Bound: int64(o.Output.bounded)}
	said := Summary{Status: status, Command: ran}
	var failure error
	if after, err := os.Stat(o.Output.Path); o.finalize.wanted() && err == nil && !os.SameFile(before, after) {
		failure = m.DescribeFile()
		os.RemoveAll(parts) // if the program was ended before the processes could
		m.Parts = m.Active  // one of each process
	} else {
		failure = merging.WithMPI(cmd, launcher, &m, &merging.TreeOptions{Radix: merging.DefaultRadix,
			Mpicc: mpicc, Remove: true})
		said.After = time.Since(begin)
	}
	if failure == nil {
		failure = o.summarizeMerged(cmd, &m, said)
	}
	var told cli.ExitStatus
	if status != 0 && failure != nil && !errors.As(failure, &told) {
		cli.Notice(cmd.ErrOrStderr(), "reprise:", text.Failure, failure.Error())
	}
	if status != 0 {
		return cli.ExitStatus(status)
	}
	return failure
}

// Exists reports whether anything is at a path.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// splitLauncher returns the launcher of a command line, and the program with its arguments.
func splitLauncher(command *interpose.Command, args []string) (launcher, program []string, err error) {
	i := slices.Index(args, command.Program)
	switch {
	case i < 0 || i > 0 && args[i-1] == "-c": // of a shell
		return nil, nil,
			errors.New("--merge starts two programs with one launcher: name the MPI program after it, not a script. Or: " + byHand)
	case slices.Contains(args[i:], ":"):
		return nil, nil, errors.New("--merge takes one program, not several with : between. Or: " + byHand)
	case i == 0 && underLauncher():
		return nil, nil,
			fmt.Errorf("--merge starts the launcher: reprise record --merge mpi -o OUT.rpz -- LAUNCHER %s",
				cli.Quoted(args[0]))
	}
	return args[:i:i], args[i:], nil
}

// byHand is how to merge with a launcher where record cannot.
const byHand = "LAUNCHER reprise record --parts DIR -- PROGRAM, then reprise merge DIR -o OUT.rpz -- LAUNCHER"

// underLauncher reports whether a launcher of MPI has started this process as one of several.
func underLauncher() bool {
	return slices.ContainsFunc([]string{"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
		"SLURM_STEP_NUM_TASKS", "FLUX_TASK_RANK"}, func(name string) bool { return os.Getenv(name) != "" })
}

// passedOn returns the options for the recorders of all processes.
func (o *Options) passedOn() []string {
	args := append(o.Times.Args(), "--sites", o.Sites.Value, "--polls", o.Polls.Value)
	if o.finalize.wanted() {
		args = append(args, "--finalize", o.finalize.String())
	}
	if on := o.processors.String(); on != "" {
		args = append(args, "--cpu", on)
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{{"--anonymous", o.anonymous}, {"--allocations", o.allocations}, {"--off", o.off}} {
		if flag.set {
			args = append(args, flag.name)
		}
	}
	return args
}

// summarizeMerged prints the summary of a trace that was merged.
func (o *Options) summarizeMerged(cmd *cobra.Command, m *merging.Summary, s Summary) error {
	file, err := os.ReadFile(m.Output)
	if err != nil {
		return err
	}
	trace, err := cli.Reopen(file)
	if err != nil {
		return err
	}
	s.Schema, s.Output, s.Parts = cli.Schema, m.Output, m.Parts
	s.Ranks, s.Processes, s.Calls, s.Bytes = m.Ranks, m.Active, m.Calls, m.Bytes
	s.Problems = []string{}
	if m.Missing.Len() > 0 {
		s.Problems = append(s.Problems, "in no part: "+text.Ranks(m.Missing))
	}
	if s.Unfinished, err = query.RanksWithout(cmd.Context(), trace, "MPI_Finalize", query.Options{}); err != nil {
		return err
	}
	s.diagnose(cmd.Context(), file)
	return s.Print(cmd.ErrOrStderr(), o.json, o.Quiet)
}
