package main

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/text"
)

// A textSizes is the size of a trace as text, and of the text compressed.
type textSizes struct {
	Plain uint64 `json:"plain_bytes"`
	Gzip  uint64 `json:"gzip_bytes,omitempty"`
	Zstd  uint64 `json:"zstd_bytes,omitempty"`
}

// compress writes the trace as text through gzip and zstd and counts what comes
// out. Each runs in a goroutine of its own.
func (t *textSizes) compress(ctx context.Context, trace *reprise.Trace, path string, bar *progress) error {
	var gz, zs, plain counter
	gzipped, err := gzip.NewWriterLevel(&gz, gzip.BestCompression)
	if err != nil {
		return err
	}
	zstded, err := zstd.NewWriter(&zs, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return err
	}
	zstdIn, stop := inBackground(zstded)
	out := bufio.NewWriterSize(io.MultiWriter(gzipped, zstdIn, &plain), 64<<10)
	write, flush, err := newLineWriter(catOptions{format: "ti"}, trace, out)
	if err != nil {
		return err
	}
	err = copyCalls(ctx, trace, path, allCalls, func(position uint64, c reprise.Call) error {
		if err := write(position, c); err != nil {
			return err
		}
		return bar.step(uint64(plain))
	})
	for _, end := range []func() error{flush, out.Flush, gzipped.Close, stop, zstded.Close} {
		if e := end(); err == nil {
			err = e
		}
	}
	t.Gzip, t.Zstd = uint64(gz), uint64(zs)
	return err
}

// inBackground returns a writer to w that does not wait for it, and a function
// that does.
func inBackground(w io.Writer) (io.Writer, func() error) {
	r, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(w, r)
		r.CloseWithError(err)
		done <- err
	}()
	return in, func() error {
		in.Close()
		return <-done
	}
}

// smaller returns how many times smaller than the text a size is.
func (t *textSizes) smaller(size uint64) string {
	if text.Saturated(t.Plain) {
		return "-"
	}
	return text.Ratio(t.Plain, size)
}

// printSizes prints the sizes of a trace beside those of its text, if that is
// known.
func printSizes(out io.Writer, t *textSizes, bytes uint64) {
	fmt.Fprintf(out, "size\tbytes\t\t\n")
	if t != nil {
		fmt.Fprintf(out, "text\t%s\t\t\n", text.Count(t.Plain))
		if t.Gzip > 0 {
			fmt.Fprintf(out, "gzip -9 (this library)\t%s\t%s\t\n", text.Count(t.Gzip), t.smaller(t.Gzip))
			fmt.Fprintf(out, "zstd best (this library)\t%s\t%s\t\n", text.Count(t.Zstd), t.smaller(t.Zstd))
		}
		fmt.Fprintf(out, "this trace\t%s\t%s\t\n", text.Count(bytes), t.smaller(bytes))
		return
	}
	fmt.Fprintf(out, "this trace\t%s\t\n", text.Count(bytes))
}
