package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/compress"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// TestProfileMany checks that the times of more calls than are read unasked are not, and
// that those of some ranks are.
func TestProfileMany(t *testing.T) {
	tier.Long(t, "reads 5,000,000 calls")
	t.Chdir(t.TempDir())
	const ranks = 50
	lossless := noError(timing.NewLossless(timing.LZ4))
	r, err := tracer.New(tracer.Options{Series: noError(timing.NewSeriesCodec(lossless, lossless, timing.Gaps))})
	if err != nil {
		t.Fatal(err)
	}
	put := r.Declare(cst.Function{Name: "put"})
	for i := range int64(query.MaxUnasked/ranks + 1) {
		r.CallAt(put, 10*i, 4)
	}
	part := r.Finish(0)
	var parts []merge.Part
	for part.Rank = range ranks {
		parts = append(parts, part)
	}
	var b bytes.Buffer
	if err := merge.Write(&b, merge.Run{Ranks: ranks}, parts); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "many.rpz", b.String())
	const why = "no times: 5,000,000 calls would have to be read; --series reads them\n"
	if got := must(t, "profile", "many.rpz", "--by", "signature", "--ranks", "0-48"); strings.Contains(got,
		why) || !strings.Contains(got, "from the times of every call, exact") {
		t.Error(got)
	}
	if got := must(t, "profile", "many.rpz", "--by", "rank"); !strings.Contains(got,
		"\nfrom the sums of each rank, together at most 0.0 % off\n") ||
		!strings.Contains(got, "    39  100,001    400 µs  40.0 %   600 µs  60.0 %   400 µs  40.0 %  put\n") {
		t.Error(got)
	}
	if got := must(t, "profile", "many.rpz", "--by", "rank", "--ranks", "7"); !strings.Contains(got,
		"\nfrom the times of every call, exact\n") ||
		!strings.Contains(got, "     7  100,001    400 µs  40.0 %   600 µs  60.0 %   400 µs  40.0 %  put\n") {
		t.Error(got)
	}
	if got := must(t, "profile", "many.rpz", "--by", "rank", "--series"); !strings.Contains(got,
		"\nfrom the times of every call, exact\n") ||
		!strings.Contains(got, "    39  100,001    400 µs  40.0 %   600 µs  60.0 %   400 µs  40.0 %  put\n") {
		t.Error(got)
	}
	if got := must(t, "waits", "many.rpz"); !strings.Contains(got, "the wait time is an upper bound") {
		t.Error(got)
	}
}

// TestProfileExact checks that the sums of a trace with exact times of every call are exact,
// which those of its statistics are not.
func TestProfileExact(t *testing.T) {
	t.Chdir(t.TempDir())
	lossless := noError(timing.NewLossless(timing.Zstd))
	for name, o := range map[string]tracer.Options{
		"exact.rpz": {Series: noError(timing.NewSeriesCodec(lossless, lossless, timing.Gaps))}, "rounded.rpz": {},
	} {
		r, err := tracer.New(o)
		if err != nil {
			t.Fatal(err)
		}
		put, sum := r.Declare(cst.Function{Name: "put"}), int64(0)
		for i := range int64(10_000) {
			d := i * i * i % 1_234_567
			sum += d
			r.CallAt(put, 2_000_000*i, d)
		}
		r.CallAt(put, 1<<60, 1<<60+1)
		sum += 1<<60 + 1 // which a float64 has not
		var b bytes.Buffer
		if err := merge.Write(&b, merge.Run{Ranks: 1}, []merge.Part{r.Finish(0)}); err != nil {
			t.Fatal(err)
		}
		writeFile(t, name, b.String())
		got := must(t, "profile", name, "--json")
		want := fmt.Sprintf("\"time_ns\": %d,\n        \"time_error_ns\": 0,", sum)
		if strings.Contains(got, want) != (name == "exact.rpz") {
			t.Errorf("%s, want %s\n%s", name, want, got)
		}
		if text := must(t, "profile", name); strings.Contains(text,
			"times of every call, exact") != (name == "exact.rpz") ||
			strings.Contains(text, "at most") == (name == "exact.rpz") {
			t.Error(text)
		}
	}
}

// TestSeriesAndRanks checks that --ranks with all ranks goes with statistics, as all does, and
// that --series reads the times of every call or says that there are none.
func TestSeriesAndRanks(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	for _, command := range []string{"waits", "profile"} {
		if got, want := must(t, command, "summed.rpz", "--ranks", "0-3"), must(t, command, "summed.rpz"); got != want {
			t.Errorf("%s of all ranks\n%s, want\n%s", command, got, want)
		}
		r := invoke(t, "", command, "summed.rpz", "--series")
		if want := "reprise: summed.rpz: the trace does not have the times of every call: reprise record --times all keeps them\n"; r.status != cli.ExitFailure || r.stderr != want {
			t.Errorf("%s --series: %+v, want %s", command, r, want)
		}
	}
	if got := must(t, "profile", "timed.rpz", "--series"); !strings.Contains(got,
		", from the times of every call, at most 10 % off\n") {
		t.Error(got)
	}
	if got := must(t, "profile", "timed.rpz"); strings.Contains(got, "of every call") {
		t.Error(got)
	}
}

// TestImbalanceOfPage checks that the command and the page mean the same by the time that
// is lost, by whatever is known of times.
func TestImbalanceOfPage(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	for name, want := range map[string]string{
		"timed.rpz":  "the time beyond the mean of the fastest rank",
		"summed.rpz": "an upper bound: the time of all calls beyond the shortest",
	} {
		if got := must(t, "waits", name); !strings.Contains(got, "wait time is "+want+"\n") {
			t.Error(got)
		}
		must(t, "report", name, "-o", "page.html")
		if !strings.Contains(readFile(t, "page.html"), "wait time is "+want) {
			t.Errorf("the page of %s does not say %q", name, want)
		}
	}
}

// TestLostSeriesTable checks that commands tell what statistics do of a trace whose times
// of every call cannot be found, say so, and fail.
func TestLostSeriesTable(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	writeFile(t, "damaged.rpz", flip(t, readFile(t, "codecs.rpz"), layout.KindSeries, 0))
	for command, want := range map[string]string{
		"grammar":           "from histograms, scaled to the sums of the rank",
		"grammar --json":    `"iteration_ns"`,
		"grammar --dot":     "digraph",
		"waits":             "the wait time is an upper bound",
		"profile --by rank": "calls per rank",
		"profile --from 1h": "estimated from histograms",
	} {
		args := append(strings.Fields(command), "damaged.rpz")
		if r := invoke(t, "", args...); r.status != cli.ExitFailure || !strings.Contains(r.stdout, want) ||
			!strings.Contains(r.stderr, "cannot be read") {
			t.Errorf("%s: status %d\n%s%s", command, r.status, r.stdout, r.stderr)
		}
	}
	if r := invoke(t, "", "at", "damaged.rpz", "1h"); r.status != cli.ExitFailure ||
		!strings.Contains(r.stdout, "estimated from histograms") {
		t.Errorf("at: status %d\n%s%s", r.status, r.stdout, r.stderr)
	}
}

// TestImbalanceLate checks what is told of receives that wait for a late sender.
func TestImbalanceLate(t *testing.T) {
	t.Chdir(t.TempDir())
	lossless := noError(timing.NewLossless(timing.LZ4))
	var parts []merge.Part
	for rank, name := range []string{"send", "recv"} {
		r, err := tracer.New(tracer.Options{Series: noError(timing.NewSeriesCodec(lossless, lossless, timing.Gaps))})
		if err != nil {
			t.Fatal(err)
		}
		in := simgrid.NewReader(strings.NewReader(fmt.Sprintf("%d %s %d 0 10 1\n", rank, name, 1-rank)),
			simgrid.Options{})
		call, err := in.Read()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range simgrid.Functions() {
			r.Declare(f)
		}
		for i := range int64(10) {
			start, duration := 1000*i, int64(500)
			if rank == 0 {
				start, duration = start+400, 50
			}
			r.CallAt(call.Function, start, duration, call.Args...)
		}
		parts = append(parts, r.Finish(rank))
	}
	var b bytes.Buffer
	if err := merge.Write(&b, merge.Run{Ranks: 2, Source: simgrid.Source}, parts); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "late.rpz", b.String())
	const want = "  late sender, recv     1    4.00 µs  21.1 %   400 ns     10         0\n"
	if got := must(t, "waits", "late.rpz"); !strings.Contains(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
	var i answer.Waits
	if err := json.Unmarshal([]byte(must(t, "waits", "late.rpz", "--json")), &i); err != nil {
		t.Fatal(err)
	}
	if s := i.States; s == nil || len(s.Victims) != 1 || s.Wait != 4000 || s.Victims[0].For != 0 || len(i.Late) > 0 {
		t.Errorf("%+v", i.States)
	}
	if got := must(t, "imbalance", "late.rpz", "--ranks", "1"); !strings.Contains(got, want) { // as it was called
		t.Error(got)
	}
	if got := must(t, "waits", "late.rpz", "--ranks", "0"); strings.Contains(got, "late sender") {
		t.Error(got)
	}
}

// TestLostRankTimes checks that what tells of ranks does without the times of each if these cannot be
// read, that it is said, and that repair leaves them out and keeps all else.
func TestLostRankTimes(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	writeFile(t, "damaged.rpz", flip(t, readFile(t, "summed.rpz"), layout.KindRankTimes, 0))
	for command, want := range map[string]string{
		"waits":             "the wait time is an upper bound",
		"profile --by rank": "calls per rank",
		"profile --from 0":  "estimated from statistics",
	} {
		args := append(strings.Fields(command), "damaged.rpz")
		if r := invoke(t, "", args...); r.status != cli.ExitFailure || !strings.Contains(r.stdout, want) ||
			strings.Contains(r.stdout, "each rank") ||
			!strings.Contains(r.stderr, "the times of each rank cannot be read") {
			t.Errorf("%s: status %d\n%s%s", command, r.status, r.stdout, r.stderr)
		}
	}
	var result compress.RepairResult
	if err := json.Unmarshal([]byte(must(t, "repair", "damaged.rpz", "-o", "saved.rpz", "--json")),
		&result); err != nil {
		t.Fatal(err)
	}
	if result.RankTimes != compress.Lost || result.Summaries != compress.Kept || result.Readable != 4 {
		t.Errorf("%+v", result)
	}
	if got := must(t, "waits", "saved.rpz"); strings.Contains(got, "each rank") ||
		!strings.Contains(got, "upper bound") {
		t.Error(got)
	}
}

// TestRankTimesLeftOut makes a trace of which the times of each rank are too many to be kept,
// and checks that this is said when it is written and read.
func TestRankTimesLeftOut(t *testing.T) {
	tier.Long(t, "merges 2,800 ranks")
	t.Chdir(t.TempDir())
	const functions, first, all = 3000, 100, 2800
	name := func(f int) string { return fmt.Sprintf("f%d", f) }
	for i, ranks := range [][2]int{{0, first}, {first, all}} {
		a := new(merge.Accumulator)
		for rank := ranks[0]; rank < ranks[1]; rank++ {
			var r tracer.Recorder
			for f := range functions {
				r.Declare(cst.Function{Name: name(f)})
			}
			last := 1
			if rank == 0 {
				last = functions
			}
			for f := range last {
				r.CallAt(f, int64(10*f), 5)
			}
			if err := a.Add(r.Finish(rank)); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Describe(merge.Run{Ranks: all, Source: "test"}); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := a.WritePart(&b); err != nil {
			t.Fatal(err)
		}
		writeFile(t, fmt.Sprintf("%d.part.rpz", i), b.String())
	}
	r := invoke(t, "", "merge", "0.part.rpz", "1.part.rpz", "-o", "many.rpz")
	if r.status != cli.ExitOK ||
		!strings.Contains(r.stderr,
			"reprise: warning: the trace leaves out the times of each rank, which would be too many: its statistics are of all ranks together\n") {
		t.Errorf("merge: status %d, %s", r.status, r.stderr)
	}
	for args, want := range map[string]string{
		"info":              "times of each rank: none, as those of each of 2,800 ranks would be too many\n",
		"info --json":       `"rank_times_left_out": true`,
		"profile --by rank": "no times: the trace has them of all ranks together, as those of each of 2,800 ranks would be too many\n",
		"waits --ranks 0-9": "the trace has only statistics of all ranks, as those of each of 2,800 ranks would be too many: ",
	} {
		if r := invoke(t, "", append(strings.Fields(args), "many.rpz")...); !strings.Contains(r.stdout+r.stderr, want) {
			t.Errorf("%s: %.2000s%s", args, r.stdout, r.stderr)
		}
	}
	if r := invoke(t, "", "merge", "1.part.rpz", "-o", "few.rpz"); r.status != cli.ExitOK ||
		strings.Contains(r.stderr, "left out") {
		t.Errorf("merge of few: status %d, %s", r.status, r.stderr)
	}
}
