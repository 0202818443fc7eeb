package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/text"
)

// Exit statuses.
const (
	ExitOK          = 0
	ExitFailure     = 1 // bad input, a failed operation, or a difference found
	ExitUsage       = 2
	ExitInterrupted = 130 // 128 and the number of the signal, as shells report it
	ExitBrokenPipe  = 141
)

// A usageError is a mistake in the command line.
type usageError struct{ error }

// BadUsage marks an error as a mistake in the command line.
func BadUsage(err error) error { return usageError{err} }

func (e usageError) Unwrap() error { return e.error }

// noCommand returns the error of a command that is not there.
func noCommand(root *cobra.Command, name string) error {
	text := fmt.Sprintf("there is no command %q", name)
	if near := root.SuggestionsFor(name); len(near) > 0 {
		text += fmt.Sprintf(": did you mean %s?", near[0])
	}
	return BadUsage(errors.New(text))
}

// NoArgs refuses arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return BadUsage(fmt.Errorf("%s does not take %q", cmd.Name(), args[0]))
	}
	return nil
}

// OneTrace refuses all but one argument.
func OneTrace(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return BadUsage(fmt.Errorf("%s takes one trace, not %d arguments", cmd.Name(), len(args)))
	}
	return nil
}

// An ExitStatus is an error that only says how a command ended.
type ExitStatus int

func (e ExitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

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

// Execute executes a command with arguments and returns its exit status.
func Execute(ctx context.Context, root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &Output{Ctx: ctx, W: stdout}
	root.SetArgs(args)
	root.SetIn(&Input{Ctx: ctx, R: stdin})
	root.SetOut(out)
	root.SetErr(stderr)
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) {
		out.Wide, _ = cmd.Flags().GetBool("wide")
		cmd.SetContext(withMemory(cmd))
	}
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = out.err
	}
	var (
		usage  usageError
		status ExitStatus
	)
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &status):
		return int(status) // of the command that record ran
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		toldOfInterrupt.Store(true)
		fmt.Fprintln(stderr, "reprise: interrupted")
		return ExitInterrupted
	case errors.Is(out.err, syscall.EPIPE):
		return ExitBrokenPipe // whoever read has read enough
	case errors.As(err, &usage):
		Notice(stderr, "reprise:", text.Failure, err.Error())
		fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
		return ExitUsage
	}
	message := err.Error()
	for _, name := range []string{"simgrid: ", "interpose: "} { // packages, which are nothing to users
		message = strings.TrimPrefix(message, name)
	}
	Notice(stderr, "reprise:", text.Failure, message+Hint(cmd.Name(), err))
	return ExitFailure
}

// NewProgram returns the command that all others are below, with the flags of all.
func NewProgram() *cobra.Command {
	root := NewCommand("reprise")
	root.Version = Version()
	root.PersistentFlags().Bool("wide", false, "print long texts whole, however wide the lines are")
	root.PersistentFlags().Var(new(memoryLimit), memoryFlag,
		"memory for an expanded trace, such as 2GiB\n(default 512MiB, or 512 times the file)")
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
		return BadUsage(flagError(err))
	})
	return root
}
