package query

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/atomicfile"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/trace"
)

// AlignFile aligns the clocks in the trace at a path, as [AlignTrace] does, and replaces the file: what to do
// after merge.Files if parts are of several machines. If it fails, the file is as it was.
func AlignFile(ctx context.Context, path string) ([]format.Clock, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	aligned, clocks, err := AlignTrace(ctx, file)
	if err != nil || len(clocks) == 0 {
		return nil, err
	}
	return clocks, atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(aligned)
		return err
	})
}

// AlignTrace returns a trace with what turns the times of each of its clocks into those of the first, and
// these clocks, found from messages and collective operations between ranks of different clocks: no receive
// ends before its send has begun, and nobody leaves an operation before those have entered it from whom it
// gets data. It looks at messages of which the trace tells both ends, and at MPI_Barrier and collective
// operations of equal blocks, of ranks that have the times of every call: of as many as [Match.LateSenders]
// and [Match.Skew] look at, and costs what these do. The error of a clock is −1 if nothing tells. It holds
// between the first and the last message. A clock that does not run evenly is moved by several lines, one
// after the other. Alignments that the trace has already are found again.
//
// All else stays: the result is as [merge.Accumulator.Write] makes it, after [merge.Accumulator.Align],
// without encoding calls and times again. It is the file itself, without clocks, if the trace is of one
// machine or has no times of every call. AlignTrace takes the memory that it needs, whatever the file says.
func AlignTrace(ctx context.Context, file []byte) ([]byte, []format.Clock, error) {
	container, tr, err := openTrace(file)
	if err != nil || len(tr.Run().Clocks) == 0 {
		return file, nil, err
	}
	unaligned := tr.Run().Clocks
	if aligned, _ := tr.Run().Aligned(); aligned > 0 {
		for i := range unaligned {
			c := unaligned[i]
			unaligned[i] = format.Clock{Machine: c.Machine, Ranks: c.Ranks, Readings: c.Readings, Error: -1}
		}
		if file, err = withClocks(container, unaligned); err != nil {
			return nil, nil, err
		}
		if container, tr, err = openTrace(file); err != nil {
			return nil, nil, err
		}
	}
	model, err := semantics.Open(ctx, tr)
	if err != nil {
		return nil, nil, err
	}
	m, err := OpenMatch(ctx, model, Options{})
	if err != nil {
		return nil, nil, err
	}
	times, err := OpenTimes(tr)
	if err != nil {
		return nil, nil, err
	}
	clocks, err := m.align(ctx, times, Options{})
	if err != nil {
		return nil, nil, err
	}
	file, err = withClocks(container, clocks)
	return file, clocks, err
}

// openTrace opens a trace in memory.
func openTrace(file []byte) (*format.Reader, *trace.Trace, error) {
	n := int64(len(file))
	container, err := format.NewReader(bytes.NewReader(file), n, layout.FileOptions(n, math.MaxInt64))
	if err != nil {
		return nil, nil, err
	}
	tr, err := trace.OpenContainer(container, trace.Options{})
	return container, tr, err
}

// withClocks returns a trace with other clocks.
func withClocks(file *format.Reader, clocks []format.Clock) ([]byte, error) {
	var out bytes.Buffer
	w := format.NewWriter(&out, format.Options{Encoding: format.Primed})
	for _, s := range file.All() {
		content, err := file.Content(s)
		if err != nil {
			return nil, err
		}
		if s.Kind == layout.KindClocks {
			content = layout.AppendClocks(nil, clocks)
		}
		if err := w.Add(s.Kind, s.Key, content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
