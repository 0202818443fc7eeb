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
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/text"
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
	status := run(interruptible(), arguments(os.Args), os.Stdin, os.Stdout, os.Stderr)
	unfinished.end()
	os.Exit(status)
}

// arguments returns the arguments of the command. If its own name is that of a compiler, it slices what that links.
func arguments(args []string) []string {
	if name := filepath.Base(args[0]); name == "reprise-cc" || name == "reprise-fc" {
		return append([]string{"slice", "--as-compiler", "--"}, args[1:]...)
	}
	return args[1:]
}

// running is set while a command runs that signals are for.
var running atomic.Bool

// impatient is set once a command reads a trace or a part: then nothing is lost if the program ends in the midst of it, as
// what it writes is not in its place until it is whole.
var impatient atomic.Bool

// toldOfInterrupt is set when the command says itself that it was interrupted.
var toldOfInterrupt atomic.Bool

// lateEnd is how long such a command may take to notice that it is cancelled.
const lateEnd = 150 * time.Millisecond

// interruptible returns a context that the first signal cancels. A second one, and the end of
// lateEnd, ends the program without waiting for what does not notice that, but takes away
// what is not finished, too.
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
		ended := make(chan bool)
		go func() {
			next()
			close(ended)
		}()
		late := make(chan bool)
		go func() {
			for time.Sleep(lateEnd); !impatient.Load(); time.Sleep(lateEnd) {
				continue // it may read a trace a moment after the signal
			}
			close(late)
		}()
		said := ""
		select {
		case <-ended:
		case <-late:
			said = "reprise: interrupted\n"
		}
		unfinished.abandon() // the line of progress, too
		if !toldOfInterrupt.Load() {
			fmt.Fprint(os.Stderr, said)
		}
		os.Exit(exitInterrupted)
	}()
	return ctx
}

// unfinished is the files that are being written.
var unfinished works

// Works are what must be undone if the program ends in the midst of it.
type works struct {
	mu        sync.Mutex
	list      []*func() // what undoes each
	abandoned bool
}

// begin calls start, which begins a work and returns what undoes it, and returns
// a function to be called when the work is finished or undone. Once works are
// abandoned, none begins.
func (w *works) begin(start func() (undo func(), err error)) (finish func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.abandoned {
		return nil, context.Canceled
	}
	undo, err := start()
	if err != nil {
		return nil, err
	}
	w.list = append(w.list, &undo)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.list = slices.DeleteFunc(w.list, func(u *func()) bool { return u == &undo })
	}, nil
}

// abandon undoes all works, the last first.
func (w *works) abandon() {
	w.mu.Lock()
	list := slices.Clone(w.list)
	w.abandoned = true
	w.mu.Unlock()
	for _, undo := range slices.Backward(list) {
		(*undo)()
	}
}

// end waits for the end of the program if works are abandoned: they are being undone.
func (w *works) end() {
	w.mu.Lock()
	abandoned := w.abandoned
	w.mu.Unlock()
	if abandoned {
		select {}
	}
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
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		out.wide, _ = cmd.Flags().GetBool("wide")
		cmd.SetContext(withMemory(cmd))
	}
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
		toldOfInterrupt.Store(true)
		fmt.Fprintln(stderr, "reprise: interrupted")
		return exitInterrupted
	case errors.Is(out.err, syscall.EPIPE):
		return exitBrokenPipe // whoever read has read enough
	case errors.As(err, &usage):
		notice(stderr, "reprise:", text.Failure, err.Error())
		fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
		return exitUsage
	}
	message := err.Error()
	for _, name := range []string{"simgrid: ", "interpose: "} { // packages, which are nothing to users
		message = strings.TrimPrefix(message, name)
	}
	notice(stderr, "reprise:", text.Failure, message+hint(cmd.Name(), err))
	return exitFailure
}

// flagError returns an error about a flag as users put it.
func flagError(err error) error {
	var number *strconv.NumError
	if !errors.As(err, &number) {
		return err
	}
	what := "is not a number"
	if errors.Is(err, strconv.ErrRange) {
		what = "is out of range"
	}
	text, _, _ := strings.Cut(err.Error(), ": strconv.")
	return fmt.Errorf("%s: %q %s", text, number.Num, what)
}

func newRoot() *cobra.Command {
	root := newCommand("reprise")
	root.Version = version()
	root.PersistentFlags().Bool("wide", false, "print long texts whole, however wide the lines are")
	root.PersistentFlags().Var(new(memoryLimit), memoryFlag, "memory for an expanded trace, such as 2GiB\n(default 512MiB, or 512 times the file)")
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SuggestionsMinimumDistance = 2
	root.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return noCommand(cmd, args[0])
		}
		return nil
	}
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if args := cmd.Flags().Args(); cmd == root && len(args) > 0 {
			return noCommand(root, args[0]) // whose flags they are
		}
		return usageError{flagError(err)}
	})
	addGroup(root, "record", "Record:", newRecord(), newCollect())
	addGroup(root, "look", "Look into a trace:", newReport(), newView(), newInfo(), newProfile(), newGrammar(), newCat(), newMessages(),
		newMatrix(), newMatch(), newHang(), newImbalance(), newEfficiency(), newPredict(), newCalibrate(), newSlice(), newProxy(), newReplay(), newAt(), newDiff(), newCodecs())
	addGroup(root, "formats", "Other formats:", newCompress(), newExport())
	addGroup(root, "files", "Files:", newMerge(), newExtrapolate(), newVerify(), newRepair())
	root.AddCommand(newDemo())
	addHelp(root)
	addCompletion(root)
	return root
}

func init() { cobra.EnableCommandSorting = false } // the help lists commands as newRoot does

// addGroup adds commands that the help has together, under a title.
func addGroup(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, c := range commands {
		c.GroupID = id
		root.AddCommand(c)
	}
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
