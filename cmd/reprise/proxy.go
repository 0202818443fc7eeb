package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/proxy"
)

func newProxy() *cobra.Command {
	var output string
	compute := newChoice(string(proxy.None), string(proxy.Spin), string(proxy.Sleep))
	check := func() error {
		if output == "" {
			return errors.New("-o DIR says where to write the program")
		}
		return nil
	}
	q := newQuestion("proxy", check, func(q *question) error {
		return writeProxy(q, output, proxy.Options{Name: filepath.Base(q.path), Compute: proxy.Compute(compute.String())})
	})
	q.Flags().StringVarP(&output, "output", "o", "", "the `directory` to write, which is made if need be")
	addChoice(q.Command, compute, "compute", "what is done for the time between calls")
	return q.Command
}

// writeProxy writes the program of a trace to a directory.
func writeProxy(q *question, directory string, o proxy.Options) error {
	q.wholeSet()
	p, err := proxy.Generate(q.Context(), q.trace, o)
	if err != nil {
		return fmt.Errorf("%s: %w", q.path, err)
	}
	if err := os.MkdirAll(directory, 0o777); err != nil {
		return err
	}
	for _, f := range p.Files {
		if err := os.WriteFile(filepath.Join(directory, f.Name), []byte(f.Text), 0o666); err != nil {
			return err
		}
	}
	q.printf("%s: %s of C for %s of %s\n", directory, text.Plural(uint64(p.Lines), "line"), text.Plural(p.Calls, "call"),
		text.Plural(uint64(q.trace.Ranks()), "rank"))
	for _, l := range p.LeftOut {
		q.printf("left out: %s of %s, which %s\n", text.Plural(l.Calls, "call"), l.Function, l.Reason)
	}
	q.printf("next: make -C %s && mpirun -n %d %s\n", directory, q.trace.Ranks(), filepath.Join(directory, "proxy"))
	return nil
}
