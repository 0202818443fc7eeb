package record

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/launching"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/merging"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/atomicfile"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/interpose"
)

// recordExample is how most runs are recorded.
const recordExample = "reprise record -o run.rpz -- mpirun -n 4 ./app"

func NewRecord() *cobra.Command {
	o := Options{OnTimeout: cli.NewChoice("continue", "kill"),
		Sites: cli.NewChoice("caller", "stack", "none"), Polls: newPolls(), Merge: cli.NewChoice("", "mpi", "finalize")}
	cmd := cli.NewCommand("record")
	cmd.Args = func(_ *cobra.Command, args []string) error { return o.check(args) }
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return Run(cmd, args, &o) }
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) { // perhaps one of a launcher
			err = fmt.Errorf("%w; a launcher and its flags come after those of record: %s", err, recordExample)
		}
		return cmd.Root().FlagErrorFunc()(cmd, err)
	})
	f := cmd.Flags()
	o.Output.addTo(f)
	o.Times.AddTo(cmd)
	f.StringVar(&o.Mpicc, "mpicc", "", "the compiler `command` of the program's MPI")
	f.StringVar(&o.spool, "spool", "", "write raw records below this `directory`")
	f.Var(&o.processors, "cpu", "processors that collect calls, such as 31; best without a rank (default any)")
	f.StringVar(&o.raw, "keep-raw", "", "keep the raw records in a new `directory`")
	f.BoolVar(&o.anonymous, "anonymous", false, "leave out the origin of the trace: command, host, date, versions")
	f.Var((*cli.TimeFlag)(&o.timeout), "timeout",
		"write the trace, and show who waits for whom, if no call returns for this `time`")
	f.Lookup("timeout").DefValue = "" // none
	cli.AddChoice(cmd, o.OnTimeout, "on-timeout", "action after a timeout")
	cli.AddChoice(cmd, o.Sites, "sites", "call sites in the trace")
	addAllocations(f, &o.allocations)
	addPolls(cmd, o.Polls)
	cli.AddChoice(cmd, o.Merge, "merge", "merge the parts of all nodes")
	f.BoolVar(&o.Lock, "lock", false, "hold the lock of the directory of parts until the part is there")
	f.Var(&o.finalize, "finalize", "have the processes of the program merge their parts in MPI_Finalize, as JSON says")
	f.Var(&o.handed, "library", "take the library that another process has built, as JSON says")
	for _, name := range []string{"lock", "finalize", "library"} {
		if err := f.MarkHidden(name); err != nil {
			panic(err)
		}
	}
	f.BoolVar(&o.off, "off", false, "start with recording off, until the program switches it on")
	f.SetInterspersed(false) // what follows the command is its own
	f.BoolVarP(&o.Quiet, "quiet", "q", false, "print no summary")
	f.BoolVar(&o.json, "json", false, "print the summary as JSON, on standard error")
	return cmd
}

func addAllocations(f *pflag.FlagSet, to *bool) {
	f.BoolVar(to, "allocations", false, "record allocation, size and release of the memory that calls use")
}

// newPolls returns what becomes of polls in vain.
func newPolls() *cli.Choice { return cli.NewChoice("keep", dropPolls) }

const dropPolls = "drop"

// areDropped reports whether polls are; without a choice, they are not.
func areDropped(polls *cli.Choice) bool { return polls != nil && polls.Value == dropPolls }

func addPolls(cmd *cobra.Command, to *cli.Choice) {
	cli.AddChoice(cmd, to, "polls", "tests and probes that find nothing")
}

type Options struct {
	Output           collectOutput
	Times            cli.TimesFlag
	Mpicc            string
	spool, raw       string
	processors       processors // of the helper
	off, Quiet, json bool
	anonymous        bool
	allocations      bool
	timeout          time.Duration
	OnTimeout        *cli.Choice
	Sites, Polls     *cli.Choice
	Merge            *cli.Choice
	Lock             bool     // of the directory of parts
	place            *os.File // in the directory of parts, which says where the raw records are
	finalize         Finalizing
	handed           launching.Handed // the library
}

func (o *Options) check(args []string) error {
	switch {
	case len(args) == 0:
		return cli.BadUsage(errors.New("record takes the command to run after --"))
	case o.Output.Path == "-":
		return cli.BadUsage(errors.New("standard output is that of the program: -o takes a file"))
	case o.timeout < 0:
		return cli.BadUsage(errors.New("--timeout is a time, such as 60s"))
	case o.timeout == 0 && o.OnTimeout.Value != "continue":
		return cli.BadUsage(errors.New("--on-timeout needs --timeout, such as --timeout 60s"))
	case o.timeout > 0 && o.Output.Parts != "":
		return cli.BadUsage(
			errors.New("--timeout does not go with --parts: one process cannot tell whether the run hangs"))
	case o.raw != "" && o.spool != "":
		return cli.BadUsage(errors.New("--keep-raw is the spool: it does not go with --spool"))
	case o.Merge.Value != "" && (o.Output.Parts != "" || o.timeout > 0 || o.raw != ""):
		return cli.BadUsage(errors.New("--merge goes with -o OUT.rpz, and not with --parts, --timeout or --keep-raw"))
	}
	if o.Output.Path == "" && o.Output.Parts == "" {
		return cli.BadUsage(errors.New("the output is -o OUT.rpz, or --parts DIR: " + recordExample))
	}
	if err := o.Output.named(); err != nil {
		return err
	}
	if _, err := o.Times.Options(); err != nil {
		return cli.BadUsage(err)
	}
	return nil
}

func Run(cmd *cobra.Command, args []string, o *Options) error {
	// What cannot be written is better known before the program runs.
	if err := o.Output.check(); err != nil {
		return err
	}
	if n := recordersOfLauncher(); n > 1 && o.Output.Parts == "" {
		return fmt.Errorf(
			"a launcher has started %d recorders, which would all write %s: put record in front of the launcher, as in reprise record -o %[2]s -- mpirun -n %[1]d %s, or write parts: --parts DIR",
			n, cli.Quoted(o.Output.Path), cli.Quoted(args[0]))
	}
	if rank, ok := rankOfLauncher(); ok && o.Output.Parts != "" {
		if err := partIsFree(merging.PartName(o.Output.Parts, rank)); err != nil {
			return err
		}
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return launching.NotStarted(cmd, args[0], err)
	}
	inspected, err := interpose.Inspect(cmd.Context(), args)
	if err != nil {
		return err
	}
	if o.Merge.Value != "" {
		return recordAndMerge(cmd, inspected, args, o)
	}
	library, shared, err := o.library(cmd, inspected)
	defer shared()
	if err != nil {
		if cmd.Context().Err() != nil || !underLauncher() {
			return err
		}
		if o.finalize.wanted() { // the others would wait for it in MPI_Finalize
			return fmt.Errorf("%s: %w; --merge mpi would run the program, and not record it here",
				launching.Host(), err)
		}
		return runUnrecorded(cmd, args, err)
	}
	if !o.handed.Wanted() { // who hands it has said it
		warnOfUnrecorded(cmd, library, inspected)
	}
	o.handed.MarkStarted()
	var (
		spool  string
		remove func()
	)
	finish, err := cli.Unfinished.Begin(func() (func(), error) {
		spool, remove, err = o.makeSpool()
		return remove, err
	})
	if err != nil {
		return err
	}
	defer finish()
	left := false
	defer func() {
		if !left {
			remove()
		}
	}()
	helper, err := StartHelper(spool, o, o.origin(args, library))
	if err != nil {
		return err
	}
	debug.FreeOSMemory() // ranks may need it that looking at the program took
	begin := time.Now()
	status, err := runCommand(cmd.Context(), inspected.Line(cmd.Context(), preload(library.Path)),
		o.environment(library.Path, spool), o.finalize.files(), helper.hangs)
	if err != nil {
		helper.abandon()
		return launching.NotStarted(cmd, args[0], err)
	}
	failure := helper.Finish(Ending{Status: status, Ran: time.Since(begin), Nothing: inspected.Nothing(status)})
	left = helper.left
	if errors.Is(failure, ErrNothing) {
		cli.Notice(cmd.ErrOrStderr(), "reprise:", text.Failure, failure.Error())
		failure = cli.ExitStatus(cli.ExitFailure)
	}
	var told cli.ExitStatus
	if errors.As(failure, &told) && told == exitNothing {
		failure = cli.ExitStatus(cli.ExitFailure)
	}
	return cmp.Or(statusError(status), failure)
}

// statusError returns the error of a command that ended with a status, nil if that is 0.
func statusError(status int) error {
	if status == 0 {
		return nil
	}
	return cli.ExitStatus(status)
}

// rankOfLauncher returns the rank that a launcher has given this process, if it says so: it is
// also that of the program.
func rankOfLauncher() (int, bool) {
	for _, name := range []string{"PMIX_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"} {
		if rank, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return rank, true
		}
	}
	return 0, false
}

// recordersOfLauncher returns how many processes like this one a launcher has started, 0 if that is not
// known.
func recordersOfLauncher() int {
	names := []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}
	if os.Getenv("PMIX_RANK") != "" { // srun, and not the script of the job
		names = append(names, "SLURM_STEP_NUM_TASKS")
	}
	for _, name := range names {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
	}
	return 0
}

// schedulers have the id of the job in the environment.
var schedulers = [...]struct{ name, variable string }{
	{"Slurm", "SLURM_JOB_ID"}, {"PBS", "PBS_JOBID"}, {"LSF", "LSB_JOBID"}, {"Flux", "FLUX_JOB_ID"},
	{"Grid Engine", "JOB_ID"},
}

// origin returns what the trace says of who made it.
func (o *Options) origin(args []string, library *interpose.Interposer) (made format.Origin) {
	if o.anonymous {
		return made
	}
	made = format.Origin{
		Commands: []string{text.ShellLine(args)},
		Versions: []string{"reprise " + cli.Version(), library.MPI},
		Began:    time.Now().Truncate(time.Second),
	}
	if host, err := os.Hostname(); err == nil {
		made.Hosts = []string{host}
	}
	for _, s := range schedulers {
		if id := os.Getenv(s.variable); id != "" {
			made.Jobs = append(made.Jobs, s.name+" "+id)
		}
	}
	return made
}

// makeSpool makes the directory that the processes write to.
func (o *Options) makeSpool() (path string, remove func(), err error) {
	if o.raw == "" {
		atomicfile.RemoveDiscarded(cmp.Or(o.spool, os.TempDir()), cli.SpoolPrefix)
		if path, err = os.MkdirTemp(o.spool, cli.SpoolPrefix); err != nil {
			return "", nil, fmt.Errorf("raw records: %w: --spool names another directory", err)
		}
		if path, err = filepath.Abs(path); err == nil && o.Output.Parts != "" {
			o.place, _ = merging.KeepPlace(o.Output.Parts, path) // without it, merge does not know of the records
		}
		return path, func() { o.discard(path) }, err
	}
	if err := os.MkdirAll(o.raw, 0o700); err != nil {
		return "", nil, err
	}
	entries, err := os.ReadDir(o.raw)
	if err == nil && len(entries) > 0 {
		err = fmt.Errorf("%s: is not empty", o.raw)
	}
	if err == nil {
		err = os.Chmod(o.raw, 0o700) // it may have been there: nobody else may write records
	}
	if err == nil {
		path, err = filepath.Abs(o.raw)
	}
	return path, func() {}, err
}

// discard removes a spool.
func (o *Options) discard(path string) {
	atomicfile.Discard(path)
	if o.place != nil {
		os.Remove(o.place.Name())
		o.place.Close()
	}
}

// preload returns the libraries that are loaded into the processes of the command.
func preload(library string) string {
	if old := os.Getenv("LD_PRELOAD"); old != "" {
		return library + ":" + old
	}
	return library
}

// environment returns the environment of the command.
func (o *Options) environment(library, spool string) []string {
	env := append(os.Environ(), "LD_PRELOAD="+preload(library), "REPRISE_SPOOL="+spool)
	if _, set := os.LookupEnv("NVTX_INJECTION64_PATH"); !set { // of a profiler of the user's
		env = append(env, "NVTX_INJECTION64_PATH="+library)
	}
	env = append(env, "REPRISE_SITES="+o.Sites.Value)
	if o.off {
		env = append(env, "REPRISE_RECORD=off")
	}
	if o.finalize.wanted() {
		env = append(env, "REPRISE_MERGE="+o.finalize.environment())
	}
	return env
}
