package bench

import (
	"bytes"
	"fmt"
	"io"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/merge"
)

// compress makes a trace file of the text of a trace.
func (t trace) compress() ([]byte, error) {
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

// expand goes through the calls of all ranks of a trace file, one rank after the
// other, without making text of them, and returns their number.
func expand(file []byte) (uint64, error) {
	trace, err := reprise.OpenReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return 0, err
	}
	calls := uint64(0)
	for rank := range trace.Active() {
		r, err := trace.Rank(rank)
		if err != nil {
			return 0, err
		}
		for range r.Calls() {
			calls++
		}
	}
	return calls, nil
}

// expandStructure goes through the calls of all ranks of a trace file as numbers of
// signatures, in which ranks and whatever differs between them are expressions and
// columns, and returns how many they are.
func expandStructure(file []byte) (uint64, error) {
	trace, err := reprise.OpenReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return 0, err
	}
	calls := uint64(0)
	for number := range trace.Shapes() {
		s, err := trace.Shape(number)
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

// Whole reports, for the traces in a directory, the cost per call of merging the
// parts into a file, of the whole way from text to file, and of the way back to
// calls with their arguments, and to the structure alone.
func Whole(w io.Writer, dir string) error {
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
			task{t.name, calls, func() { _, err := foldParts(run, parts); keep(err) }},
			task{t.name, calls, func() { _, err := t.compress(); keep(err) }},
			task{t.name, calls, func() { _, err := expand(file); keep(err) }},
			task{t.name, calls, func() { _, err := expandStructure(file); keep(err) }})
	}
	results := measure(tasks)
	if failed != nil {
		return failed
	}
	fmt.Fprintf(w, "| trace | parts to file, ms | text to file, ns/call | ms | file to calls, ns/call | range | million calls/s | structure alone, ns/call | range | million calls/s |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for i := 0; i < len(results); i += 4 {
		merging, whole, back, structure := results[i], results[i+1], results[i+2], results[i+3]
		fmt.Fprintf(w, "| %s | %.1f | %s | %.0f | %s | %.0f | %s | %.0f |\n", merging.name, merging.milliseconds(),
			nanoseconds(whole.median), whole.milliseconds(), back.cells(), 1e3/back.median, structure.cells(), 1e3/structure.median)
	}
	return nil
}

// milliseconds returns what one run of the task took.
func (r result) milliseconds() float64 { return r.median * float64(r.events) / 1e6 }
