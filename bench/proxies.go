package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/reprise-trace/reprise/internal/programs"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/proxy"
)

// reportProxies reports how long the sources of proxies are: of traces in a directory, of stencils, and of kernels if
// an MPI is installed.
func reportProxies(w io.Writer, dir string) error {
	traces, err := readTraces(dir)
	if err != nil {
		return err
	}
	heads(w, "program", "ranks", "calls", "trace B", "lines of C", "of tables", "left out, calls", "seconds")
	for _, t := range traces {
		file, err := t.compress()
		if err != nil {
			return err
		}
		if err := proxyRow(w, t.name, file); err != nil {
			return err
		}
	}
	for _, p := range []programs.Program{programs.Stencil2D(8, 8, 1e6), programs.Stencil2D(32, 32, 1e6), programs.Stencil3D(10, 10, 10, 1e6)} {
		var file bytes.Buffer
		if err := merge.Write(&file, p.Run(), p.Parts()); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		if err := proxyRow(w, p.Name, file.Bytes()); err != nil {
			return err
		}
	}
	return forKernels(func(k *kernelRuns) error {
		for _, kernel := range kernels {
			path := k.command.path("run.rpz")
			if _, err := k.reprise(append(append([]string{"record", "--quiet", "-o", path, "--"}, k.launcher()...), k.program, kernel.name, kernel.steps)...); err != nil {
				return fmt.Errorf("%s: %w", kernel.name, err)
			}
			file, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if err := proxyRow(w, k.mpi.name+": "+kernel.name, file); err != nil {
				return err
			}
		}
		return nil
	})
}

// proxyRow reports the proxy of a trace.
func proxyRow(w io.Writer, name string, file []byte) error {
	begun := time.Now()
	trace, err := open(file)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p, err := proxy.Generate(context.Background(), trace, proxy.Options{Name: "run.rpz"})
	if err != nil {
		fmt.Fprintf(w, "| %s | %d | | %d | none: %v | | | |\n", name, trace.Ranks(), len(file), err)
		return nil
	}
	took, left := time.Since(begun), uint64(0)
	for _, l := range p.LeftOut {
		left += l.Calls
	}
	fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %d | %.2f |\n", name, trace.Ranks(), p.Calls, len(file), p.Lines, p.Tables, left, took.Seconds())
	return nil
}
