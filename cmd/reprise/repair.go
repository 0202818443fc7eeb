package main

import (
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/format"
)

func newRepair() *cobra.Command {
	var (
		output string
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "repair DAMAGED.rpz -o OUT.rpz",
		Short: "Save what is intact of a damaged trace",
		Long: `Walk through a damaged or truncated trace and write every section whose checksum
holds to a new file, and say what was lost. Ranks that lost nothing can be read
from it. The sections run and functions concern all ranks: if one of these is
lost, no call can be read; exit status 1, and no output.`,
		Example: "  reprise repair damaged.rpz -o saved.rpz && reprise info saved.rpz",
		Args: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return usageError{errors.New("repair needs -o OUT.rpz")}
			}
			return oneTrace(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := repair(cmd, args[0], output)
			if err != nil {
				return err
			}
			report := cmd.OutOrStdout()
			if output == "-" {
				report = cmd.ErrOrStderr()
			}
			if asJSON {
				return printJSON(report, r)
			}
			r.print(report)
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "the `file` to write")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

// repair writes what is intact of the trace at path to output.
func repair(cmd *cobra.Command, path, output string) (*repairResult, error) {
	if err := checkSeekable(path); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, losses, err := format.Salvage(f, stat.Size(), format.Options{})
	if errors.Is(err, format.ErrFormat) {
		err = errNoTrace
	}
	if err != nil {
		return nil, fileError(path, err)
	}
	whole, _ := format.NewReader(f, stat.Size(), format.Options{}) // nil if the index is lost
	r := newRepairResult(path, output, losses)
	r.Order = savedOrder(file, whole, losses)
	if err := r.check(cmd.Context(), file); err != nil {
		return nil, err
	}
	err = writeOutput(cmd, output, []string{path}, func(w io.Writer) error { return r.copy(cmd, file, w) })
	if err != nil {
		return nil, err
	}
	return r, nil
}
