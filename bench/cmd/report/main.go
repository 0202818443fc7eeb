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
	"runtime"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/reprise-trace/reprise/bench"
)

func main() {
	traces := flag.String("traces", "../shared/traces/ti", "directory of SimGrid traces, *.ti.zst")
	times := flag.String("timing", "../shared/traces/timing", "directory of recorded runs with times, *.tar.zst")
	only := flag.String("only", "", "report sections only whose title contains this `text`")
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
	err := write(*output, input{*traces, *times, *only})
	if err == nil && *svg != "" {
		err = drawCodecs(*svg, *times)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

// input is what a report is made of.
type input struct {
	traces, times string // directories
	only          string // part of the titles of sections
}

// write writes the report to the file of that name, which keeps what it has if
// that fails, or to standard output if the name is empty.
func write(name string, in input) error {
	if name == "" {
		return report(os.Stdout, in)
	}
	var text bytes.Buffer
	if err := report(&text, in); err != nil {
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
	return renameio.WriteFile(name, data, 0o666, renameio.WithTempDir(filepath.Dir(name)), renameio.WithExistingPermissions())
}

func report(w io.Writer, in input) error {
	fmt.Fprintf(w, "# Results\n\nPrinted by `go run ./bench/cmd/report`. Machine: %s, %d processors, %s/%s, %s.\n", processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	fmt.Fprintf(w, "Times are medians of ten rounds in which the rows take turns, with their range; one goroutine.\n")
	for _, s := range []struct {
		title, text string
		print       func(io.Writer) error
	}{
		{"Size of traces", "Bytes, everything in the file included. The others are the programs, where installed, on the text. Signatures and symbols are those of the parts, before these are merged.",
			func(w io.Writer) error { return bench.Sizes(w, in.traces) }},
		{"Cost of traces", "Each rank has a Builder that begins empty.",
			func(w io.Writer) error { return bench.Traces(w, in.traces) }},
		{"From text to file and back", "Back to calls, rank by rank, without making text of them.",
			func(w io.Writer) error { return bench.Whole(w, in.traces) }},
		{"Size and cost over the number of ranks", "Stencils without wrap-around, an exchange with each neighbour and an MPI_Allreduce in each of 10 or 10⁹ iterations. Every part is made when it is merged; each row is one run on all cores. Memory is the most that the program held, the report included.", bench.Scale},
		{"Gathering on trees, and to rank 0 directly", "The pattern of Nek5000 for which neither ranks as they are nor ranks relative to the caller do.", bench.Gather},
		{"Ranks relative to the caller", "Each rank argument is written relative to the caller when the call is made, as Pilgrim does, and merged then; or as it is, so that the merge chooses. Pilgrim has a grammar for each of the ranks that are different; here, those of a shape have one.",
			func(w io.Writer) error { return bench.Relative(w, in.traces) }},
		{"When the size grows", "Programs that draw something at random. The information in that, in bytes, is what no file can be smaller than.", bench.Growth},
		{"Sequitur: appending a million symbols", "From an empty Builder, growth included. Pilgrim's sizes are those of its Sequitur on a million symbols of the same description; random ones have another seed. For its stencil with Waitany (88,790) the description does not tell enough to make the same input.", bench.Append},
		{"Sequitur: over the length of the input", "ns/event. The steps per event do not grow; what the random streams show from 10⁶ on is the processor's caches.", bench.AppendLength},
		{"Sequitur: over the length of a loop's body",
			"ns/event; a million symbols or 20 rounds. A body of 10⁴ or more does not repeat often: the first rounds, which build the grammar, weigh in.", bench.AppendBody},
		{"Times", "Durations and gaps of the calls of recorded runs, as nanoseconds of 8 bytes, with codecs that have a relative error of at most 10 %, or none.",
			func(w io.Writer) error { return bench.Times(w, in.times) }},
		{"Looking into a trace", "Whole commands, with what they write; the most memory that was resident. The second trace is of a stencil, with statistics of times. OTHER is a run of one more iteration, of LU the same run.",
			func(w io.Writer) error { return bench.Questions(w, in.traces) }},
		{"Exporting", "LU, class W, on 64 ranks, as whole commands.",
			func(w io.Writer) error { return bench.Exports(w, in.traces) }},
		{"Recording MPI programs", "What a call of MPI takes in the program, of its processor time, without and with the interposer in turn, on one rank that sends to itself; and what the collector takes for it afterwards, statistics of times included. Pilgrim compresses in the program.", bench.Recording},
		{"Recording a call", "Every signature is known already.", bench.Record},
	} {
		if !strings.Contains(s.title, in.only) {
			continue
		}
		fmt.Fprintf(w, "\n## %s\n\n%s\n\n", s.title, s.text)
		switch err := s.print(w); {
		case errors.Is(err, bench.ErrNoTraces), errors.Is(err, bench.ErrNoMPI):
			fmt.Fprintf(w, "Not measured: %v.\n", err)
		case err != nil:
			return err
		}
	}
	return nil
}

// processor returns the name of the processor, as far as the system tells.
func processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.Lines(string(info)) {
		if name, ok := strings.CutPrefix(line, "model name"); ok {
			return strings.TrimSpace(strings.TrimLeft(name, "\t :"))
		}
	}
	return "unknown processor"
}
