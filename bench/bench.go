// Package bench measures the packages of the module reprise and writes what it finds as
// Markdown.
//
//	err := bench.Report(os.Stdout, bench.Input{Traces: "traces/ti", Only: "Size of traces"})
//
// The command in bench/cmd/report prints all of it; its output is kept in RESULTS.md.
// go test -bench measures single packages: those of codecs, of merging and of reading
// are here, on the data in testdata, and the others beside their package.
//
// Times come from ten rounds in which the measured things take turns, so that a
// slow moment of the machine does not fall on one of them. A report gives the
// median and the range. Sizes and counts are exact and the same everywhere.
package bench

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/reprise-trace/reprise/internal/need"
)

// Input is what a report is made of.
type Input struct {
	Traces string // directory of SimGrid traces, *.ti.zst
	Times  string // directory of recorded runs with times, *.tar.zst
	Only   string // report sections only whose title contains it; behind a slash, rows of Slicing only whose program contains it
}

// Report measures, and writes the report to w. It says so where there is nothing to
// measure.
func Report(w io.Writer, in Input) error {
	need.That(w != nil, "bench: nothing to write to")
	fmt.Fprintf(w, "# Results\n\nPrinted by `go run ./bench/cmd/report`. Machine: %s, %d processors, %s/%s, %s.\n", processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())
	section, row, _ := strings.Cut(in.Only, "/")
	fmt.Fprintf(w, "Times are medians of ten rounds in which the rows take turns, with their range; one goroutine.\n")
	for _, s := range []struct {
		title, text string
		print       func(io.Writer) error
	}{
		{"Size of traces",
			"Bytes, everything in the file included. The others are the programs, where installed, on the text. Signatures and symbols are those of the parts, before these are merged.",
			func(w io.Writer) error { return reportSizes(w, in.Traces) }},
		{"Irregular sequences: grammars against xz, brotli, zpaq",
			"Bytes. The calls of programs that are at random, and traces with amounts of computation. The others are the programs, where installed, on the calls as numbers, in the order of their functions and arguments, in 1 to 4 bytes each: what calls these are is in the whole file only.",
			func(w io.Writer) error { return reportIrregular(w, in.Traces) }},
		{"From text to file and back", "Back to calls, rank by rank, without making text of them.",
			func(w io.Writer) error { return reportWhole(w, in.Traces) }},
		{"Size and cost over the number of ranks",
			"Stencils without wrap-around, an exchange with each neighbour and an MPI_Allreduce in each of 10 or 10⁹ iterations; and exchanges with up to 26 neighbours (Halo26), in 1,000. Every part is made when it is merged; each row is one run on all cores. Memory is the most that the program held, the report included.", reportScale},
		{"Merging part files",
			"A stencil of 2²⁰ ranks in 4,096 part files: `reprise merge`, and `reprise merge -- mpirun -n 64` with Open MPI, all on this machine, once each. Then the levels of a tree of two: what half of the ranks made is written, read and merged.", reportClusters},
		{"Merging ranks that differ in arguments",
			"Multipartitions, in which each rank has other sizes in another order, and other tags if they say which cell a message is for; and a refinement, in which ranks do nearly the same. Part files in memory, one for each rank; time of processors.", reportColumns},
		{"Gathering on trees, and to rank 0 directly",
			"The pattern of Nek5000 for which neither ranks as they are nor ranks relative to the caller do.",
			reportGather},
		{"When the size grows",
			"Programs that draw something at random. The information in that, in bytes, is what no file can be smaller than.", reportGrowth},
		{"Bounded traces",
			"Runs that do not repeat, in at most 16 kB. hpcc has problems of size 200, and no call sites; random messages go from each of 16 ranks to another one, in 1,000 iterations; in MPI_Alltoallv on 16 ranks, all lengths are random, in 100 iterations. Sizes are bytes of messages that are sent, and of blocks of MPI_Alltoallv; their distributions are compared with those of the run.", reportBounded},
		{"Sequitur: appending a million symbols",
			"From an empty Builder, growth included. Pilgrim's sizes are those of its Sequitur on a million symbols of the same description; random ones have another seed. For its stencil with Waitany (88,790) the description does not tell enough to make the same input.", reportStreams},
		{"Times", "Durations and gaps of the calls of recorded runs, as nanoseconds of 8 bytes, with codecs that have a relative error of at most 10 %, or none.",
			func(w io.Writer) error { return reportTimes(w, in.Times) }},
		{"Looking into a trace",
			"Whole commands, with what they write; the most memory that was resident. The second trace is of a stencil, with statistics of times. OTHER is a run of one more iteration, of LU the same run.",
			func(w io.Writer) error { return reportQuestions(w, in.Traces) }},
		{"A million ranks",
			"Whole commands, with what they write, on traces of 2²⁰ ranks with some 10⁹ calls each, and " +
				"the most memory that was resident: a stencil in three dimensions, without times and with statistics. " +
				"Times are processor time, medians of three.", reportMillion},
		{"Replaying", "Opening the ranks included, of the processor time that the program took, in million calls a second; traces of 100,000 calls and more. On the network, ranks compute for some microseconds before each call, and messages have a latency and a bandwidth. Every call is executed, but in the last columns, where iterations of loops are skipped that are periodic.",
			func(w io.Writer) error { return reportReplay(w, in.Traces) }},
		{"Efficiency and waits", "Whole commands: their processor time, and the most memory that was resident. Statistics of times are made up, and iterations of loops are skipped; times of every call are those that `reprise predict --times exact` makes of the same trace, and every call is executed.",
			func(w io.Writer) error { return reportEfficiency(w, in.Traces) }},
		{"Prediction", "How far the time that `reprise predict` tells of a run on the machine that `reprise calibrate` has measured is from the time that was recorded, from the first call of MPI to the end of the last: kernels in the patterns of the NAS Parallel Benchmarks on two ranks, five times calibrated and run in turn. Traces with exact times, histograms by path and by signature, and statistics are made of the same runs.", reportPrediction},
		{"Replayed runs",
			"What kernels in the patterns of the NAS Parallel Benchmarks on two ranks take, and what `reprise replay` of their traces with statistics takes: five times recorded and replayed in turn, both as `reprise record` records them. The time outside MPI is that of both ranks together.", reportReplayed},
		{"Proxies", "The programs that `reprise proxy` writes of the traces. Lines are those of main.c, and of tables of numbers that differ from rank to rank or from call to call; seconds are those of opening the trace and of writing the program, once. The amounts of computing in the traces named compute are gaps before calls.",
			func(w io.Writer) error { return reportProxies(w, in.Traces) }},
		{"Slicing", "What `reprise slice` keeps of programs in the patterns of benchmarks, instructions of LLVM and calls of MPI that are executed, and what it takes: with MPICH, once; slicing is processor time, compilers included. Whole and sliced program are recorded without times in turn, in elapsed time, and compared but for addresses and call sites, which optimizers name; memory is what the machine uses more at most. The last rows are of arrays that would take so much on all ranks, and of many ranks; beside them is what FACT took where its authors say so, with 32 processors, of the programs that have given these their pattern. Much of the time of many ranks is that of MPI_Init.",
			func(w io.Writer) error { return reportSlicing(w, row) }},
		{"Against SimGrid",
			"SimGrid 3.32 (smpirun -replay) and package loggps with the parameters of the same cluster: one switch without contention, 1.5 µs, 10 GB/s, 10⁹ flops a second, all messages eager, and the same algorithms of collective operations. SimGrid says times to the microsecond. Processor time of the whole program, of ours with opening the trace; medians of three.",
			func(w io.Writer) error { return reportSimGrid(w, in.Traces) }},
		{"Exporting", "LU, class W, on 64 ranks, as whole commands.",
			func(w io.Writer) error { return reportExports(w, in.Traces) }},
		{"Archives of OTF2",
			"What EZTrace records of programs with Open MPI: enter, leave, messages and times. `reprise compress` makes a trace of it, with exact times one of which `reprise export` makes the archive again. Rates are of the processor time of the whole commands, libotf2's included, once each.", reportArchives},
		{"Forged traces",
			"Small files with right checksums that claim much, and whole commands on them, each once: those that ended by themselves, with an answer or an error, and those that were interrupted after 2 s, as what they would write does not end.", reportForged},
		{"Recording MPI programs",
			"What a call of MPI takes in the program, of its processor time, without and with the interposer in turn, on one rank that sends to itself; and what the collector takes for it afterwards, statistics of times included. Pilgrim compresses in the program.", reportRecording},
	} {
		if !strings.Contains(s.title, section) {
			continue
		}
		if section != "" {
			s.text += fmt.Sprintf(" Machine: %s.", processor()) // it may be another than that of the rest
		}
		fmt.Fprintf(w, "\n## %s\n\n%s\n\n", s.title, s.text)
		switch err := s.print(w); {
		case errors.Is(err, ErrNoTraces), errors.Is(err, errNoMPI), errors.Is(err, errNoLLVM),
			errors.Is(err, errNoEZTrace):
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

// rounds is how often everything is measured.
const rounds = 10

// A task is something to measure.
type task struct {
	name   string
	events int    // done by one call of run
	run    func() // must take long enough for the clock, a millisecond or more
}

// A result is what was measured of a task, per event.
type result struct {
	task
	median, least, most float64 // nanoseconds
	allocs              float64
}

// measure runs every task once a round and returns the results in order.
func measure(tasks []task) []result {
	times := make([][]float64, len(tasks))
	allocs := make([]float64, len(tasks))
	var before, after runtime.MemStats
	for range rounds {
		for i, t := range tasks {
			runtime.GC()
			runtime.ReadMemStats(&before)
			begin := time.Now()
			t.run()
			took := time.Since(begin)
			runtime.ReadMemStats(&after)
			times[i] = append(times[i], float64(took.Nanoseconds())/float64(t.events))
			allocs[i] = float64(after.Mallocs-before.Mallocs) / float64(t.events)
		}
	}
	var results []result
	for i, t := range tasks {
		slices.Sort(times[i])
		median := (times[i][rounds/2-1] + times[i][rounds/2]) / 2
		results = append(results, result{t, median, times[i][0], times[i][rounds-1], allocs[i]})
	}
	return results
}

// cells returns the time of a result as columns of a table: median and range.
func (r result) cells() string {
	return fmt.Sprintf("%s | %s–%s", nanoseconds(r.median), nanoseconds(r.least), nanoseconds(r.most))
}

func nanoseconds(t float64) string {
	if t < 100 {
		return fmt.Sprintf("%.1f", t)
	}
	return fmt.Sprintf("%.0f", t)
}

// heads writes the titles of a table in Markdown.
func heads(w io.Writer, titles ...string) {
	fmt.Fprintf(w, "| %s |\n%s|\n", strings.Join(titles, " | "), strings.Repeat("|---", len(titles)))
}
