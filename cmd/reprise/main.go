// Command reprise compresses traces of parallel programs, gives them back, and
// explains what is in them.
package main

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
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

// run executes the command and returns its exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return execute(ctx, newRoot(), args, stdin, stdout, stderr)
}

func newRoot() *cobra.Command {
	root := newProgram()
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
