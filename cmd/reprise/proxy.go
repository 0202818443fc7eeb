package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/proxy"
)

func newProxy() *cobra.Command {
	var output, scale string
	compute := newChoice(string(proxy.None), string(proxy.Spin), string(proxy.Sleep))
	gaps := newGaps()
	check := func() error {
		if output == "" {
			return errors.New("-o DIR says where to write the program")
		}
		_, err := scaleOf(scale)
		return err
	}
	q := newQuestion("proxy", check, func(q *question) error {
		factor, _ := scaleOf(scale) // it was checked
		return writeProxy(q, output, proxy.Options{Name: filepath.Base(q.path), Compute: proxy.Compute(compute.String()), Gaps: proxy.Gaps(gaps.String()), Scale: factor})
	}, optJSON)
	q.Flags().StringVarP(&output, "output", "o", "", "the `directory` to write, which is made if need be")
	addChoice(q.Command, compute, "compute", "what is done for the time between calls")
	addChoice(q.Command, gaps, "gaps", aboutGaps)
	addScale(q.Command, &scale)
	return q.Command
}

// writeProxy writes the program of a trace to a directory.
func writeProxy(q *question, directory string, o proxy.Options) error {
	q.wholeSet()
	p, err := proxy.Generate(q.Context(), q.trace, o)
	if err != nil {
		return fmt.Errorf("%s: %w", q.path, err)
	}
	if err := writeProgram(directory, p.Files); err != nil {
		return err
	}
	answer := proxyAnswer{q.header(), directory, q.trace.Ranks(), p.Calls, p.Lines, p.Tables, leftOutOf(p)}
	return q.answer(answer, func() {
		tables := ""
		if p.Tables > 0 {
			tables = fmt.Sprintf(" and %s of tables", text.Count(uint64(p.Tables)))
		}
		q.printf("%s: %s of C%s for %s of %s\n", directory, text.Plural(uint64(p.Lines), "line"), tables, text.Plural(p.Calls, "call"),
			text.Plural(uint64(q.trace.Ranks()), "rank"))
		for _, l := range p.LeftOut {
			q.printf("left out: %s of %s, which %s\n", text.Plural(l.Calls, "call"), l.Function, l.Reason)
		}
		q.printf("next: make -C %s && mpirun -n %d %s\n", directory, q.trace.Ranks(), filepath.Join(directory, "proxy"))
	})
}

// A proxyAnswer is what was written.
type proxyAnswer struct {
	header
	Output  string    `json:"output"`
	Ranks   int       `json:"ranks"`
	Calls   uint64    `json:"calls"`
	Lines   int       `json:"lines"`
	Tables  int       `json:"table_lines"`
	LeftOut []leftOut `json:"left_out"`
}

// writeProgram writes files to a directory. Those that are there already are not replaced: they may be somebody's
// own work. What was written is removed if the rest cannot be.
func writeProgram(directory string, files []proxy.File) (err error) {
	if err := os.MkdirAll(directory, 0o777); err != nil {
		return err
	}
	var written []string
	defer func() {
		for _, name := range written {
			if err != nil {
				os.Remove(name)
			}
		}
	}()
	for _, file := range files {
		name := filepath.Join(directory, file.Name)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("%s: is there already: take a new directory, or remove it", name)
		}
		if err != nil {
			return fileError(name, err)
		}
		written = append(written, name)
		_, err = f.WriteString(file.Text)
		if err = errors.Join(err, f.Close()); err != nil {
			return fileError(name, err)
		}
	}
	return nil
}
