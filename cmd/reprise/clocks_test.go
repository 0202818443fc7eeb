package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/show"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// moved writes the part of a rank of a trace as a machine would have recorded it whose clock is moved.
func moved(t *testing.T, tr *trace.Trace, rank int, machine string, clock func(int64) int64, path string,
	readings ...format.ClockReading) {
	t.Helper()
	exact := noError(timing.NewLossless(timing.Zstd))
	recorder, err := tracer.New(tracer.Options{Series: noError(timing.NewSeriesCodec(exact, exact, timing.Gaps))})
	if err != nil {
		t.Fatal(err)
	}
	r, err := tr.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	for call, err := range r.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		start := clock(call.Start)
		recorder.CallAt(recorder.Declare(*call.Function), start, clock(call.Start+call.Duration)-start, call.Args...)
	}
	var a merge.Accumulator
	run := merge.Run{Ranks: tr.Ranks(), Source: tr.Run().Source, Names: tr.Run().Names}
	if machine != "" {
		run.Clocks = []format.Clock{{Machine: machine, Ranks: rankenc.SetOf(rank), Error: -1, Readings: readings}}
	}
	if err := a.Describe(run); err != nil {
		t.Fatal(err)
	}
	if err := a.Add(recorder.Finish(rank)); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err == nil {
		err = a.WritePart(f)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// timesOf returns the times of the calls of a rank between the first and the last MPI_Barrier, and of these.
func timesOf(t *testing.T, tr *trace.Trace, rank int) (all, barriers []timing.Time) {
	t.Helper()
	r, err := tr.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	for call, err := range r.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		at := timing.Time{Start: call.Start, Duration: call.Duration}
		if call.Function.Name == "MPI_Barrier" {
			barriers = append(barriers, at)
		}
		if len(barriers) > 0 && call.Function.Name != "MPI_Finalize" {
			all = append(all, at)
		}
	}
	return all, barriers
}

// TestMergeClocks merges what two machines have recorded whose clocks are three seconds and 100 ppm apart:
// the times are as those of one clock, within the error that the trace tells. Parts of one machine make the
// trace that they made before.
func TestMergeClocks(t *testing.T) {
	m := theMPI(t)
	t.Chdir(t.TempDir())
	if got := outcome(t, recorder(t, m, []string{"--times", "exact", "-q", "-o", "one.rpz"},
		m.Launch(4, m.Build(t, "clocks.c"), "200")...)); got.status != 0 {
		t.Fatal(got.stderr)
	}
	one, err := trace.Open("one.rpz", trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	begin, _ := timesOf(t, one, 0)
	same := func(at int64) int64 { return at }
	far := func(at int64) int64 { return at + 3_000_000_000 + (at-begin[0].Start)/10_000 }
	for _, name := range []string{"parts", "alone", "unknown", "read", "wrong"} {
		if err := os.Mkdir(name, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for rank := range 4 {
		name := fmt.Sprintf("rank%07d.part.rpz", rank)
		moved(t, one, rank, "a", same, filepath.Join("alone", name))
		moved(t, one, rank, "", same, filepath.Join("unknown", name))
		if rank < 2 {
			moved(t, one, rank, "a", same, filepath.Join("parts", name))
		} else {
			moved(t, one, rank, "b", far, filepath.Join("parts", name))
		}
		// Real time is that of the first, within a millisecond, or it is said to be what it is not.
		at, offset := begin[0].Start, int64(0)
		if rank >= 2 {
			at, offset = far(at), at-far(at)
		}
		reading := format.ClockReading{Time: at, Offset: offset, Error: 1e6}
		moved(t, one, rank, string(rune('a'+rank/2)), map[bool]func(int64) int64{
			true: same, false: far}[rank < 2], filepath.Join("read", name), reading)
		if rank >= 2 {
			reading.Offset += 10e6
		}
		moved(t, one, rank, string(rune('a'+rank/2)), map[bool]func(int64) int64{
			true: same, false: far}[rank < 2], filepath.Join("wrong", name), reading)
	}
	if got := must(t, "merge", "parts", "-o", "run.rpz"); !strings.Contains(got, "clocks: of 2 machines, aligned to ") {
		t.Error(got)
	}
	must(t, "merge", "--part", "parts/rank0000001.part.rpz", "parts/rank0000003.part.rpz", "-o", "odd.part.rpz")
	must(t, "merge", "odd.part.rpz", "parts/rank0000002.part.rpz", "parts/rank0000000.part.rpz", "-o", "tree.rpz")
	must(t, "merge", "alone", "-o", "alone.rpz")
	must(t, "merge", "unknown", "-o", "unknown.rpz")
	must(t, "merge", "run.rpz", "-o", "again.rpz")
	if readFile(t, "run.rpz") != readFile(t, "tree.rpz") || readFile(t, "run.rpz") != readFile(t, "again.rpz") {
		t.Error("the order of merging makes another trace")
	}
	if readFile(t, "alone.rpz") != readFile(t, "unknown.rpz") {
		t.Error("the trace of one machine has what tells it from others")
	}
	if got := must(t, "merge", "parts", "-o", "all.rpz", "--bounded", "1MB"); !strings.Contains(got,
		"clocks: of 2 machines, aligned to ") || readFile(t, "all.rpz") != readFile(t, "run.rpz") {
		t.Errorf("with space for all it is another trace:\n%s", got)
	}
	checkClocksBounded(t, "parts", readFile(t, "run.rpz"))
	for _, tree := range []struct{ ranks, radix int }{{2, 2}, {3, 2}, {4, 4}} {
		got := outcome(t, mergeTree(t, m, tree.ranks, "parts", "-o", "out.rpz", "--radix", fmt.Sprint(tree.radix)))
		if got.status != 0 || !strings.Contains(got.stdout, "clocks: of 2 machines, aligned to ") ||
			readFile(t, "out.rpz") != readFile(t, "run.rpz") {
			t.Errorf("processes of MPI make another trace: %+v", got)
		}
	}
	checkReadings(t)
	checkAligned(t, one, "run.rpz")
	checkAligned(t, one, "read.rpz")
	if got := must(t, "match", "run.rpz"); strings.Contains(got, "exact") ||
		!strings.Contains(got, "Starts are at most ") &&
			!strings.Contains(got, "no skew of collective operations is larger than the clocks") {
		t.Errorf("match does not say how far clocks are off:\n%s", got)
	}
	if got := must(t, "info", "run.rpz"); !strings.Contains(got, "clocks: of 2 machines, aligned to ") {
		t.Error(got)
	}
}

// checkReadings merges parts that tell real time: messages count more, and if they contradict it, there is a
// warning.
func checkReadings(t *testing.T) {
	t.Helper()
	must(t, "merge", "read", "-o", "read.rpz")
	got := outcome(t, process(t, "merge", "wrong", "-o", "wrong.rpz"))
	if got.status != 0 || !strings.Contains(got.stdout, "messages contradict the real time of 1 machine") ||
		!strings.Contains(got.stderr, "the clock of the machine of rank 2 is not as synchronised as its readings say") {
		t.Errorf("%+v", got)
	}
	if got := must(t, "info", "wrong.rpz"); !strings.Contains(got,
		"; messages contradict the real time of 1 machine\n") {
		t.Error(got)
	}
	clocks := func(name string) []format.Clock {
		tr, err := trace.Open(name, trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close()
		return tr.Run().Clocks
	}
	want := clocks("run.rpz")[1]
	for _, name := range []string{"read.rpz", "wrong.rpz"} {
		if c := clocks(name)[1]; c.Alignment != want.Alignment || c.Error != want.Error ||
			len(c.Readings) != 1 || c.Contradicted != (name == "wrong.rpz") {
			t.Errorf("%s: %+v, want %+v", name, c, want)
		}
	}
}

// checkClocksBounded merges parts of machines to traces of fewer bytes than all has, of one byte less as
// well, which is what alignments need: they have no times of every call, so no clocks.
func checkClocksBounded(t *testing.T, parts, all string) {
	t.Helper()
	for _, size := range []int{len(all) - 1, len(all) / 2} {
		got := must(t, "merge", parts, "-o", "bounded.rpz", "--bounded", fmt.Sprint(size))
		if n := len(readFile(t, "bounded.rpz")); n > size || strings.Contains(got, "clocks") {
			t.Errorf("in %d bytes: %d bytes\n%s", size, n, got)
		}
	}
	if got := outcome(t, process(t, "merge", parts, "-o", "whole.rpz", "--bounded",
		fmt.Sprint(len(all)))); got.status != 0 || readFile(t, "whole.rpz") != all {
		t.Errorf("in %d bytes, which all takes: %+v", len(all), got)
	}
}

// checkAligned checks that a trace, of which ranks 2 and 3 have another clock, has the times of another
// within the error that it tells, and that nobody leaves a barrier before all have entered.
func checkAligned(t *testing.T, one *trace.Trace, name string) {
	t.Helper()
	var info show.Info
	if err := json.Unmarshal([]byte(must(t, "info", "--json", name)), &info); err != nil {
		t.Fatal(err)
	}
	if len(info.Clocks) != 2 || info.Clocks[0].Error != 0 || info.Clocks[1].Error <= 0 ||
		info.Clocks[1].Error > 1_000_000_000 {
		t.Fatalf("clocks %+v", info.Clocks)
	}
	run, err := trace.Open(name, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	var entered, left [2]int64
	worst := int64(0)
	for rank := range 4 {
		want, _ := timesOf(t, one, rank)
		got, barriers := timesOf(t, run, rank)
		for i, at := range got {
			off := max(at.Start-want[i].Start, want[i].Start-at.Start)
			if worst = max(worst, off); off > info.Clocks[rank/2].Error+2 {
				t.Fatalf("%s: call %d of rank %d is off by %d ns, more than %d", name, i, rank, off,
					info.Clocks[rank/2].Error)
			}
		}
		for i, b := range barriers {
			if rank == 0 {
				left[i] = b.Start + b.Duration
			}
			entered[i], left[i] = max(entered[i], b.Start), min(left[i], b.Start+b.Duration)
		}
	}
	for i := range entered {
		if entered[i] > left[i]+1 {
			t.Errorf("barrier %d is left %d ns before all have entered", i, entered[i]-left[i])
		}
	}
	t.Logf("%s: off by at most %d ns, %d told", name, worst, info.Clocks[1].Error)
}

// onMachines writes a trace as if its even ranks had been recorded on one machine and others on another,
// whose clock is three seconds and 100 ppm off.
func onMachines(t *testing.T, name, to string) {
	t.Helper()
	tr, err := trace.Open(name, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	run := tr.Run()
	var ranks [2][]int
	for rank := range tr.Ranks() {
		ranks[rank%2] = append(ranks[rank%2], rank)
	}
	run.Clocks = []format.Clock{
		{Machine: "a", Ranks: rankenc.SetOf(ranks[0]...)},
		{Machine: "b", Ranks: rankenc.SetOf(ranks[1]...),
			Alignment: format.Alignment{Offset: 3e9, Rate: 112_589_990_684}, Error: 1000},
	}
	writeFile(t, to, describedAs(t, tr, run))
	aligned, err := trace.Open(to, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer aligned.Close()
	if len(aligned.Run().Clocks) != 2 {
		t.Fatalf("%s has the clocks %+v", to, aligned.Run().Clocks)
	}
}
