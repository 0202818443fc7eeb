package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/ti"
)

// A trace is a real trace as text.
type trace struct {
	name string
	text []byte
}

// ErrNoTraces means that a directory holds no traces.
var ErrNoTraces = errors.New("no traces")

// readTraces reads the SimGrid traces in a directory, files named *.ti.zst.
func readTraces(dir string) ([]trace, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.ti.zst"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%w in %s", ErrNoTraces, dir)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderMaxWindow(1<<27))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	var traces []trace
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		text, err := dec.DecodeAll(data, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		traces = append(traces, trace{strings.TrimSuffix(filepath.Base(path), ".ti.zst"), text})
	}
	return traces, nil
}

func (t trace) record() (merge.Run, []merge.Part, error) {
	r := ti.NewReader(bytes.NewReader(t.text), ti.Options{})
	defer r.Close()
	return ti.Record(r, nil)
}

// Sizes reports the sizes of the traces in a directory: as text, compressed by
// the programs that are installed, and as a trace file.
func Sizes(w io.Writer, dir string) error {
	traces, err := readTraces(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "| trace | ranks | calls | text B | gzip -9 | zstd -19 --long=27 | xz -9 | trace file | signatures | grammar symbols |\n")
	fmt.Fprintf(w, "|---|---|---|---|---|---|---|---|---|---|\n")
	for _, t := range traces {
		run, parts, err := t.record()
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		var file bytes.Buffer
		if err := merge.Write(&file, run, parts); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		others := make([]string, len(compressors))
		for i, p := range compressors {
			if others[i], err = compressed(p, t.text); err != nil {
				return err
			}
		}
		var calls uint64
		signatures, symbols := 0, 0
		for _, p := range parts {
			calls += p.Grammar.Len()
			signatures += p.Table.Len()
			symbols += p.Grammar.Symbols()
		}
		fmt.Fprintf(w, "| %s | %d | %d | %d | %s | %d | %d | %d |\n",
			t.name, run.Ranks, calls, len(t.text), strings.Join(others, " | "), file.Len(), signatures, symbols)
	}
	return nil
}

// compressors are the programs that one would use on the text.
var compressors = [][]string{{"gzip", "-9"}, {"zstd", "-19", "--long=27"}, {"xz", "-9"}}

// compressed returns what a program makes of text, in bytes, or a dash if it is
// not installed.
func compressed(program []string, text []byte) (string, error) {
	n, err := compressedLen(program, text)
	if errors.Is(err, exec.ErrNotFound) {
		return "–", nil
	}
	return fmt.Sprint(n), err
}

// compressedLen returns what a program makes of data, in bytes. The error wraps
// [exec.ErrNotFound] if it is not installed.
func compressedLen(program []string, data []byte) (int, error) {
	var size counter
	cmd := exec.Command(program[0], append(program[1:len(program):len(program)], "-c")...)
	cmd.Stdin = bytes.NewReader(data)
	cmd.Stdout = &size
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%s: %w", program[0], err)
	}
	return int(size), nil
}

// A counter counts the bytes written to it.
type counter int

// Write counts p.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// Traces reports, for the traces in a directory, the cost per call of appending
// the terminals to Builders, one for each rank, and of the whole way from text
// to parts.
func Traces(w io.Writer, dir string) error {
	traces, err := readTraces(dir)
	if err != nil {
		return err
	}
	var tasks []task
	for _, t := range traces {
		_, parts, err := t.record()
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		ranks, calls := terminals(parts)
		tasks = append(tasks,
			task{t.name, calls, func() { appendAll(ranks) }},
			task{t.name, calls, func() { t.record() }})
	}
	fmt.Fprintf(w, "| trace | Append and Finish, ns/call | range | text to parts, ns/call | range |\n|---|---|---|---|---|\n")
	results := measure(tasks)
	for i := 0; i < len(results); i += 2 {
		fmt.Fprintf(w, "| %s | %s | %s |\n", results[i].name, results[i].cells(), results[i+1].cells())
	}
	return nil
}

// terminals expands the grammars of parts.
func terminals(parts []merge.Part) (ranks [][]sequitur.Symbol, calls int) {
	for _, p := range parts {
		var in []sequitur.Symbol
		for _, s := range p.Grammar.All() {
			in = append(in, s)
		}
		ranks = append(ranks, in)
		calls += len(in)
	}
	return ranks, calls
}

func appendAll(ranks [][]sequitur.Symbol) {
	for _, in := range ranks {
		var b sequitur.Builder
		for _, s := range in {
			b.Append(s)
		}
		b.Finish()
	}
}
