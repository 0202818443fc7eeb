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
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/trace"
)

// A trace is a real trace as text.
type traceText struct {
	name string
	text []byte
}

// ErrNoTraces means that a directory holds no traces.
var ErrNoTraces = errors.New("no traces")

// readTraces reads the SimGrid traces in a directory, files named *.ti.zst.
func readTraces(dir string) ([]traceText, error) {
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
	var traces []traceText
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		text, err := dec.DecodeAll(data, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		traces = append(traces, traceText{strings.TrimSuffix(filepath.Base(path), ".ti.zst"), text})
	}
	return traces, nil
}

func (t traceText) record() (merge.Run, []merge.Part, error) {
	r := simgrid.NewReader(bytes.NewReader(t.text), simgrid.Options{})
	defer r.Close()
	return simgrid.Record(r, nil)
}

// reportSizes reports the sizes of the traces in a directory: as text, compressed by
// the programs that are installed, and as a trace file.
func reportSizes(w io.Writer, dir string) error {
	traces, err := readTraces(dir)
	if err != nil {
		return err
	}
	heads(w, "trace", "ranks", "calls", "text B", "gzip -9", "zstd -19 --long=27", "xz -9", "trace file",
		"signatures", "grammar symbols")
	for _, t := range traces {
		run, parts, err := t.record()
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		var file bytes.Buffer
		if err := merge.Write(&file, run, parts); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		var others []string
		for _, p := range compressors {
			n, err := compressedLen(p, t.text)
			switch {
			case errors.Is(err, exec.ErrNotFound):
				others = append(others, "–")
			case err != nil:
				return err
			default:
				others = append(others, fmt.Sprint(n))
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

// compressedLen returns what a program makes of data, in bytes. The error wraps
// [exec.ErrNotFound] if it is not installed.
func compressedLen(program []string, data []byte) (int, error) {
	cmd := exec.Command(program[0], append(program[1:len(program):len(program)], "-c")...)
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", program[0], err)
	}
	return len(out), nil
}

// compress makes a trace file of the text of a trace.
func (t traceText) compress() ([]byte, error) {
	run, parts, err := t.record()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	var file bytes.Buffer
	if err := merge.Write(&file, run, parts); err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	return file.Bytes(), nil
}

// open opens a trace file.
func open(file []byte) (*trace.Trace, error) {
	return trace.OpenReader(bytes.NewReader(file), int64(len(file)), trace.Options{})
}

// expand goes through the calls of all ranks of a trace file, one rank after the
// other, without making text of them, and returns their number.
func expand(file []byte) (uint64, error) {
	tr, err := open(file)
	if err != nil {
		return 0, err
	}
	calls := uint64(0)
	for _, rank := range tr.RankSet().All() {
		r, err := tr.Rank(rank)
		if err != nil {
			return 0, err
		}
		for range r.Calls(0) {
			calls++
		}
	}
	return calls, nil
}

// expandStructure goes through the calls of all ranks of a trace file as numbers of
// signatures, in which ranks and whatever differs between them are expressions and
// columns, and returns how many they are.
func expandStructure(file []byte) (uint64, error) {
	tr, err := open(file)
	if err != nil {
		return 0, err
	}
	calls := uint64(0)
	for number := range tr.Shapes() {
		s, err := tr.Shape(number)
		if err != nil {
			return 0, err
		}
		for range s.Ranks.Len() {
			for range s.Grammar.All() {
				calls++
			}
		}
	}
	return calls, nil
}

// reportWhole reports, for the traces in a directory, the cost per call of merging the
// parts into a file, of the whole way from text to file, and of the way back to
// calls with their arguments, and to the structure alone.
func reportWhole(w io.Writer, dir string) error {
	traces, err := readTraces(dir)
	if err != nil {
		return err
	}
	var (
		tasks  []task
		failed error
	)
	keep := func(err error) {
		if failed == nil {
			failed = err
		}
	}
	for _, t := range traces {
		run, parts, err := t.record()
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		file, err := t.compress()
		if err != nil {
			return err
		}
		calls := 0
		for _, p := range parts {
			calls += int(p.Grammar.Len())
		}
		tasks = append(tasks,
			task{t.name, calls, func() { keep(merge.Write(io.Discard, run, parts)) }},
			task{t.name, calls, func() { _, err := t.compress(); keep(err) }},
			task{t.name, calls, func() { _, err := expand(file); keep(err) }},
			task{t.name, calls, func() { _, err := expandStructure(file); keep(err) }})
	}
	results := measure(tasks)
	if failed != nil {
		return failed
	}
	heads(w, "trace", "parts to file, ms", "text to file, ns/call", "ms", "file to calls, ns/call", "range",
		"million calls/s", "structure alone, ns/call", "range", "million calls/s")
	for i := 0; i < len(results); i += 4 {
		merging, whole, back, structure := results[i], results[i+1], results[i+2], results[i+3]
		fmt.Fprintf(w, "| %s | %.1f | %s | %.0f | %s | %.0f | %s | %.0f |\n", merging.name, merging.milliseconds(),
			nanoseconds(whole.median), whole.milliseconds(), back.cells(), 1e3/back.median, structure.cells(),
			1e3/structure.median)
	}
	return nil
}

// milliseconds returns what one run of the task took.
func (r result) milliseconds() float64 { return r.median * float64(r.events) / 1e6 }
