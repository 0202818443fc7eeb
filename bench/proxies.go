package bench

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/reprise-trace/reprise/mpi/proxy"
)

// reportProxies reports how long the sources of proxies are, of the traces in a directory.
func reportProxies(w io.Writer, dir string) error {
	traces, err := readTraces(dir)
	if err != nil {
		return err
	}
	heads(w, "trace", "ranks", "calls", "trace file", "lines of C", "of tables", "left out, calls", "seconds")
	for _, t := range traces {
		file, err := t.compress()
		if err != nil {
			return err
		}
		if err := proxyRow(w, t.name, file); err != nil {
			return err
		}
	}
	return nil
}

// proxyRow reports the proxy of a trace.
func proxyRow(w io.Writer, name string, file []byte) error {
	begun := time.Now()
	opened, err := open(file)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p, err := proxy.Generate(context.Background(), opened, proxy.Options{Name: "run.rpz"})
	if err != nil {
		fmt.Fprintf(w, "| %s | %d | | %d | none: %v | | | |\n", name, opened.Ranks(), len(file), err)
		return nil
	}
	took, left := time.Since(begun), uint64(0)
	for _, l := range p.LeftOut {
		left += l.Calls
	}
	fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %d | %.2f |\n", name, opened.Ranks(), p.Calls, len(file),
		p.Lines, p.Tables, left, took.Seconds())
	return nil
}
