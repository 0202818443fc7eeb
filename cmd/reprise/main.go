// Command reprise compresses traces of parallel programs, gives them back, and
// explains what is in them.
package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/compress"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/merging"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/predict"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/programs"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/record"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/show"
)

func main() {
	cli.LimitHeap(cli.HeapLimit)
	args := arguments(os.Args)
	if len(args) > 0 && slices.Contains([]string{"compress", "merge"}, args[0]) {
		cli.LargePages(cli.HeapLimit * 5 / 8)
	}
	status := run(cli.Interruptible(), args, os.Stdin, os.Stdout, os.Stderr)
	cli.Unfinished.End()
	os.Exit(status)
}

// arguments returns the arguments of the command. If its own name is that of a compiler, it slices what that
// links.
func arguments(args []string) []string {
	if name := filepath.Base(args[0]); name == "reprise-cc" || name == "reprise-fc" {
		return append([]string{"slice", "--as-compiler", "--"}, args[1:]...)
	}
	return args[1:]
}

// run executes the command and returns its exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cli.Execute(ctx, newRoot(), args, stdin, stdout, stderr)
}

func newRoot() *cobra.Command {
	root := cli.NewProgram()
	addGroup(root, "record", "Record:", record.NewRecord(), record.NewCollect())
	addGroup(root, "look", "Look into a trace:", show.NewReport(), show.NewView(), show.NewInfo(),
		answer.NewWhy(), answer.NewProfile(), show.NewGrammar(), show.NewCat(), answer.NewMessages(),
		answer.NewMatrix(), answer.NewMatch(), answer.NewHang(), answer.NewWaits(),
		answer.NewEfficiency(), predict.NewPredict(), predict.NewCalibrate(), programs.NewSlice(),
		programs.NewProxy(), programs.NewReplay(), answer.NewAt(), answer.NewDiff(), compress.NewCodecs())
	addGroup(root, "formats", "Other formats:", compress.NewCompress(), show.NewExport())
	addGroup(root, "files", "Files:", merging.NewMerge(), programs.NewExtrapolate(), compress.NewVerify(),
		compress.NewRepair())
	root.AddCommand(newDemo())
	cli.AddHelp(root)
	cli.AddCompletion(root)
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
