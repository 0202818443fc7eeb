package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/merge"
)

// reportColumns reports what it takes to merge part files of programs whose ranks do the same with other
// arguments, or nearly the same, and to write the trace.
func reportColumns(w io.Writer) error {
	var list []programs.Program
	for _, q := range []int{16, 32, 64} {
		list = append(list, programs.Multipartition(q, 200), programs.TaggedMultipartition(q, 200),
			programs.Pentadiagonal(q, 13*q-1, 200))
	}
	list = append(list, programs.Multipartition(128, 20), programs.TaggedMultipartition(128, 20),
		programs.Pentadiagonal(128, 13*128-1, 20), programs.Multipartition(256, 20))
	for _, ranks := range []int{1024, 4096} {
		list = append(list, programs.Refinement(ranks, 10, 1000, 1))
	}
	heads(w, "program", "ranks", "parts, kB", "file B", "reading and merging, µs/rank", "writing, µs/rank")
	for _, p := range list {
		if err := reportColumnsOf(w, p); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
	}
	return nil
}

func reportColumnsOf(w io.Writer, p programs.Program) error {
	parts, total := make([][]byte, p.Ranks), 0
	for rank := range parts {
		a, err := accumulate(p, rank, rank+1)
		if err != nil {
			return err
		}
		var file bytes.Buffer
		if err := a.WritePart(&file); err != nil {
			return err
		}
		parts[rank] = file.Bytes()
		total += file.Len()
	}
	begin := processorTime()
	all, err := merge.Tree(context.Background(), p.Ranks, func(_ context.Context, i int) (*merge.Accumulator, error) {
		file, err := format.NewReader(bytes.NewReader(parts[i]), int64(len(parts[i])), format.Options{})
		if err != nil {
			return nil, err
		}
		return merge.ReadPart(file)
	}, merge.TreeOptions{})
	if err != nil {
		return err
	}
	merged := processorTime()
	var file bytes.Buffer
	if err := all.Write(&file); err != nil {
		return err
	}
	perRank := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(p.Ranks) }
	fmt.Fprintf(w, "| %s | %d | %.0f | %d | %.0f | %.0f |\n", p.Name, p.Ranks, float64(total)/1e3, file.Len(),
		perRank(merged-begin), perRank(processorTime()-merged))
	return nil
}
