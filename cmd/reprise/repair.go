package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
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
holds to a new file. Says what was lost. Exit status 1 if nothing could be saved.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if output == "" {
				return usageError{errors.New("repair needs -o OUT.rpz")}
			}
			return exactArgs(1, "one trace")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := repair(cmd, args[0], output)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), r)
			}
			r.print(cmd.OutOrStdout())
			return nil
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

type repairResult struct {
	Output   string   `json:"output"`
	Sections int      `json:"sections"`
	Lost     []string `json:"lost"`
	Ranks    int      `json:"ranks"`
	Readable int      `json:"readable_ranks"`
	Unusable string   `json:"unusable,omitempty"` // why no call can be read
}

func repair(cmd *cobra.Command, path, output string) (*repairResult, error) {
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
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r := &repairResult{Output: output, Sections: file.Len(), Lost: []string{}}
	for _, l := range losses {
		r.Lost = append(r.Lost, describeLoss(l))
	}
	err = writeOutput(cmd, output, func(w io.Writer) error { return copySections(cmd, file, w) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r.check(output)
	return r, nil
}

// copySections writes every section of a file to a new one.
func copySections(cmd *cobra.Command, file *format.Reader, w io.Writer) error {
	out := format.NewWriter(w, format.Options{})
	var buf []byte
	for _, s := range file.All() {
		if err := cmd.Context().Err(); err != nil {
			return err
		}
		var err error
		if buf, err = file.AppendContent(buf[:0], s); err != nil {
			return err
		}
		if err := out.Add(s.Kind, s.Key, buf); err != nil {
			return err
		}
	}
	return out.Close()
}

func describeLoss(l format.Loss) string {
	text := l.String()
	if l.Known {
		text += fmt.Sprintf(" (%s, key %d)", merge.KindName(l.Kind), l.Key)
	}
	return text
}

// check counts the ranks that can be read.
func (r *repairResult) check(path string) {
	trace, err := reprise.Open(path)
	if err != nil {
		r.Unusable = err.Error()
		return
	}
	defer trace.Close()
	for rank := range trace.Active() {
		r.Ranks++
		if _, err := trace.Rank(rank); err == nil {
			r.Readable++
		}
	}
}

func (r *repairResult) print(w io.Writer) {
	for _, l := range r.Lost {
		fmt.Fprintf(w, "lost: %s\n", l)
	}
	if len(r.Lost) == 0 {
		fmt.Fprintln(w, "nothing was damaged")
	}
	fmt.Fprintf(w, "%s: %d sections saved", r.Output, r.Sections)
	if r.Unusable != "" {
		fmt.Fprintf(w, ", but no calls: %s\n", r.Unusable)
		return
	}
	fmt.Fprintf(w, "; %d of %d ranks can be read\n", r.Readable, r.Ranks)
}
