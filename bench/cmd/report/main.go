// Command report measures this module and prints a report in Markdown. It takes
// some minutes.
//
//	go run ./bench/cmd/report -o bench/RESULTS.md
//
// With -o it also draws what codecs of times take over the error they guarantee, as
// codecs.svg in the directory of that file.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/reprise-trace/reprise/bench"
	"github.com/reprise-trace/reprise/internal/atomicfile"
)

func main() {
	traces := flag.String("traces", "../shared/traces/ti", "directory of SimGrid traces, *.ti.zst")
	times := flag.String("timing", "../shared/traces/timing", "directory of recorded runs with times, *.tar.zst")
	only := flag.String("only", "",
		"report sections only whose title contains this `text`; Slicing/mg.c reports one program of Slicing")
	output := flag.String("o", "", "the `file` to write, once the report is complete; standard output if empty")
	svg := flag.String("svg", "", "the `file` to draw; codecs.svg beside that of -o if empty, and none without -o")
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if *svg == "" && *output != "" {
		*svg = filepath.Join(filepath.Dir(*output), "codecs.svg")
	}
	err := write(*output, bench.Input{Traces: *traces, Times: *times, Only: *only})
	if err == nil && *svg != "" {
		err = drawCodecs(*svg, *times)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// write writes the report to the file of that name, which keeps what it has if
// that fails, or to standard output if the name is empty.
func write(name string, in bench.Input) error {
	if name == "" {
		return bench.Report(os.Stdout, in)
	}
	var text bytes.Buffer
	if err := bench.Report(&text, in); err != nil {
		return err
	}
	return writeFile(name, text.Bytes())
}

// drawCodecs draws the codecs of times to the file of that name, if there are
// recorded runs.
func drawCodecs(name, times string) error {
	sizes, err := bench.MeasureSizesAndErrors(times)
	if errors.Is(err, bench.ErrNoTraces) {
		fmt.Fprintf(os.Stderr, "report: %s not drawn: %v\n", name, err)
		return nil
	}
	if err != nil {
		return err
	}
	svg, err := picture(sizes)
	if err != nil {
		return err
	}
	return writeFile(name, svg)
}

func writeFile(name string, data []byte) error {
	return atomicfile.Write(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
