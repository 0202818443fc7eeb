// Command reprise compresses traces of parallel programs, gives them back, and
// explains what is in them.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit statuses.
const (
	exitOK          = 0
	exitFailure     = 1 // bad input, a failed operation, or a difference found
	exitUsage       = 2
	exitInterrupted = 130 // 128 and the number of the signal, as shells report it
	exitBrokenPipe  = 141
)

func main() {
	os.Exit(run(interruptible(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// running is set while a command runs that signals are for.
var running atomic.Bool

// interruptible returns a context that the first signal cancels. A second one ends
// the program without waiting for what does not notice that, but takes away what
// is not finished, too.
func interruptible() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		signal.Notify(signals, syscall.SIGHUP)
	}
	next := func() {
		for <-signals; running.Load(); <-signals {
			continue // it is for the command that record runs
		}
	}
	go func() {
		next()
		cancel()
		next()
		unfinished.abandon()
		os.Exit(exitInterrupted)
	}()
	return ctx
}

// A usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// run executes the command and returns its exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &output{ctx: ctx, w: stdout}
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(&input{ctx: ctx, r: stdin})
	root.SetOut(out)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = out.err
	}
	var (
		usage  usageError
		status exitStatus
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &status):
		return int(status) // of the command that record ran
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		fmt.Fprintln(stderr, "reprise: interrupted")
		return exitInterrupted
	case errors.Is(out.err, syscall.EPIPE):
		return exitBrokenPipe // whoever read has read enough
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "reprise: %v\nRun '%s --help' for usage.\n", err, cmd.CommandPath())
		return exitUsage
	}
	fmt.Fprintf(stderr, "reprise: %v%s\n", err, hint(cmd.Name(), err))
	return exitFailure
}

// flagError returns an error about a flag as users put it.
func flagError(err error) error {
	var number *strconv.NumError
	if !errors.As(err, &number) {
		return err
	}
	what := "is no number"
	if errors.Is(err, strconv.ErrRange) {
		what = "is out of range"
	}
	text, _, _ := strings.Cut(err.Error(), ": strconv.")
	return fmt.Errorf("%s: %q %s", text, number.Num, what)
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "reprise",
		Short: "Keep the calls of every process of a parallel program in kilobytes",
		Long: `Reprise keeps what every process of a parallel program called, with all
arguments, in a file that is kilobytes where others need gigabytes: because a
program is loops.

Try "reprise demo" first.

Exit status:
  0    success
  1    bad input, failure, or a difference found by verify or diff
  2    wrong usage
  130  interrupted`,
		Example: `  reprise demo
  reprise record -o run.rpz -- mpirun -n 4 ./app
  reprise report run.rpz -o run.html
  reprise profile run.rpz
  reprise grammar run.rpz --rank 0
  reprise cat run.rpz --rank 0 --format text | head
  reprise compress lu.W.64.ti.zst -o lu.rpz`,
		Version:                    version(),
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noCommand(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if args := cmd.Flags().Args(); cmd == root && len(args) > 0 {
			return noCommand(root, args[0]) // whose flags they are
		}
		return usageError{flagError(err)}
	})
	addGroup(root, "record", "Record:", newRecord(), newCollect())
	addGroup(root, "look", "Look into a trace:", newReport(), newInfo(), newProfile(), newGrammar(), newCat(), newMessages(),
		newMatrix(), newMatch(), newImbalance(), newAt(), newDiff(), newCodecs())
	addGroup(root, "formats", "Other formats:", newCompress(), newExport())
	addGroup(root, "files", "Files:", newMerge(), newVerify(), newRepair())
	root.AddCommand(newDemo())
	root.SetHelpCommand(newHelp())
	return root
}

func init() { cobra.EnableCommandSorting = false } // the help has commands as newRoot does

// addGroup adds commands that the help has together, under a title.
func addGroup(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, c := range commands {
		c.GroupID = id
		root.AddCommand(c)
	}
}

// newHelp returns a command that, unlike cobra's, fails if there is nothing to
// help with.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Show how to use a command",
		Example: "  reprise help cat",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return noCommand(cmd.Root(), args[0])
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// version returns the version that the program was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// noCommand returns the error of a command that is not there.
func noCommand(root *cobra.Command, name string) error {
	text := fmt.Sprintf("there is no command %q", name)
	if near := root.SuggestionsFor(name); len(near) > 0 {
		text += fmt.Sprintf(": did you mean %s?", near[0])
	}
	return usageError{errors.New(text)}
}

// noArgs refuses arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s does not take %q", cmd.Name(), args[0])}
	}
	return nil
}

// oneTrace refuses all but one argument.
func oneTrace(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError{fmt.Errorf("%s takes one trace, not %d arguments", cmd.Name(), len(args))}
	}
	return nil
}
