package main

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/compress"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/show"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// untimed returns the ranks of a trace of which some times cannot be read, as a list,
// by reading all.
func untimed(t testing.TB, path string) string {
	t.Helper()
	tr, err := cli.OpenTrace(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	var list []int
	for _, number := range tr.RankSet().All() {
		rank, err := tr.Rank(number)
		if err == nil {
			for _, err = range rank.Times(0) {
				if err != nil {
					break
				}
			}
		}
		if err != nil {
			list = append(list, number)
		}
	}
	return rankenc.SetOf(list...).String()
}

// timeInfoOf returns what info --json says of times.
func timeInfoOf(t testing.TB, path string, status int) (source string, times *show.TimeInfo) {
	t.Helper()
	r := invoke(t, "", "info", "--json", path)
	var i show.Info
	if err := json.Unmarshal([]byte(r.stdout), &i); err != nil || r.status != status {
		t.Fatalf("status %d, %v, %s", r.status, err, r.stderr)
	}
	return i.Source, i.Times
}

// TestDamagedTimes damages one section of series after the other, and checks that
// info and repair name the ranks whose times cannot be read, and keep the others.
func TestDamagedTimes(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	data := readFile(t, "codecs.rpz")
	_, whole := timeInfoOf(t, "codecs.rpz", cli.ExitOK)
	if whole.Ranks.String() != "0-5" || whole.Unreadable.Len() > 0 ||
		*whole.Histograms != (show.HistogramInfo{Durations: 3, Gaps: 2, ByPair: true}) {
		t.Errorf("%+v", whole)
	}
	for key := uint64(1); key <= 3; key++ {
		writeFile(t, "damaged.rpz", flip(t, data, layout.KindSeries, key))
		want := untimed(t, "damaged.rpz")
		if want == "" {
			t.Fatalf("section %d has no times", key)
		}
		_, got := timeInfoOf(t, "damaged.rpz", cli.ExitFailure)
		if got.Unreadable.String() != want {
			t.Errorf("section %d: info names ranks %s, want %s", key, got.Unreadable, want)
		}
		var result compress.RepairResult
		if err := json.Unmarshal([]byte(must(t, "repair", "--json", "damaged.rpz", "-o", "saved.rpz")),
			&result); err != nil {
			t.Fatal(err)
		}
		if result.Untimed.String() != want || result.Summaries != compress.Kept || result.Readable != 6 {
			t.Errorf("section %d: repair says %+v, want that ranks %s are lost", key, result, want)
		}
		source, saved := timeInfoOf(t, "saved.rpz", cli.ExitOK)
		note := "a clock, repaired without the times of rank"
		if !strings.HasPrefix(source, note) ||
			!strings.HasSuffix(source, " "+strings.ReplaceAll(want, ", ", " ")) || !saved.Ranks.Equal(got.Ranks) {
			t.Errorf("section %d: after repair, source %q and times of ranks %s, want %s", key, source,
				saved.Ranks, got.Ranks)
		}
		if !reflect.DeepEqual(saved.Codecs, got.Codecs) || !slices.Equal(saved.Gaps, whole.Gaps) {
			t.Errorf("section %d: after repair, codecs %+v, want %+v", key, saved.Codecs, got.Codecs)
		}
		lines := must(t, "cat", "saved.rpz")
		timed := strings.Count(lines, "\n") - strings.Count(lines, "\t-\t-\t")
		calls := uint64(0)
		for _, c := range saved.Codecs {
			calls += c.Calls
		}
		if uint64(timed) != calls {
			t.Errorf("section %d: after repair, %d calls have times, info says %d", key, timed, calls)
		}
	}
}

// TestLostTables checks what is said if all times are lost, of either kind.
func TestLostTables(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	data := readFile(t, "codecs.rpz")
	noSeries := flip(t, data, layout.KindSeries, 0)
	const (
		statistics = "the statistics and histograms of times"
		series     = "the times of every call"
		warning    = "reprise: warning: damaged.rpz: "
		failure    = "reprise: damaged.rpz: "
		cure       = " cannot be read; reprise repair may save the rest"
	)
	for _, tt := range []struct {
		name, data string
		info       []string // of standard error
		lost       []string
	}{
		{"series", noSeries, []string{warning + series + " cannot be read: time series, number 0",
			failure + series + cure}, []string{series}},
		{"summaries", flip(t, data, layout.KindSummaries, 0), []string{
			warning + statistics + " cannot be read: time summaries", failure + statistics + cure,
		}, []string{statistics}},
		{"both", flip(t, noSeries, layout.KindSummaries, 0), []string{
			warning + statistics + " cannot be read: time summaries",
			warning + series + " cannot be read: time series, number 0",
			failure + statistics + ", and " + series + cure,
		}, []string{series, statistics}},
		{"rank and summaries", flip(t, flip(t, data, layout.KindSeries, 2), layout.KindSummaries, 0), []string{
			warning + statistics + " cannot be read: time summaries",
			warning + series + " of ranks 3-5 cannot be read: time series, number 2",
			failure + statistics + ", and " + series + " of ranks 3-5" + cure,
		}, []string{"the times of ranks 3-5", statistics}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			writeFile(t, "damaged.rpz", tt.data)
			r := invoke(t, "", "info", "damaged.rpz")
			lines := strings.SplitAfter(strings.TrimSuffix(r.stderr, "\n"), "\n")
			if r.status != cli.ExitFailure || !slices.EqualFunc(lines, tt.info, strings.HasPrefix) {
				t.Errorf("info: status %d, %s", r.status, r.stderr)
			}
			removeSaved(t)
			out := must(t, "repair", "damaged.rpz", "-o", "saved.rpz")
			var lost []string
			for line := range strings.Lines(out) {
				if what, ok := strings.CutPrefix(line, "unreadable: "); ok {
					lost = append(lost, strings.TrimSuffix(what, "\n"))
				}
			}
			if !slices.Equal(lost, tt.lost) {
				t.Errorf("repair: lost are %q, want %q", lost, tt.lost)
			}
			if source, _ := timeInfoOf(t, "saved.rpz", cli.ExitOK); source != "a clock, repaired without "+
				strings.Join(tt.lost, " and ") {
				t.Errorf("source %q", source)
			}
			var result compress.RepairResult
			if err := json.Unmarshal([]byte(must(t, "repair", "--json", "damaged.rpz", "-o", "saved.rpz")),
				&result); err != nil {
				t.Fatal(err)
			}
			if result.All != slices.Contains(tt.lost, series) ||
				(result.Summaries != compress.Kept) != slices.Contains(tt.lost, statistics) {
				t.Errorf("repair: %+v", result.TimesSaved)
			}
		})
	}
}

// TestOrphanSeries checks that series of which nothing tells the ranks are lost.
func TestOrphanSeries(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	data := records(t, readFile(t, "timed.rpz"))
	s := section(t, data, layout.KindSeries, 0)
	writeFile(t, "damaged.rpz", data[:s.Offset]+strings.Repeat("\xff", int(s.Size))+data[s.Offset+s.Size:])
	if out := must(t, "repair", "damaged.rpz", "-o", "saved.rpz"); !strings.Contains(out,
		"unreadable: the times of every call\n") {
		t.Error(out)
	}
	must(t, "info", "saved.rpz")
}

// TestMissingSeries takes the section away that says whose the times of every call are,
// of a trace and of a part file: merge fails, and repair saves the calls.
func TestMissingSeries(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	for _, tt := range []struct{ name, stderr string }{
		{"timed.rpz", "reprise: damaged.rpz: time series, number 0: merge: corrupt input: the file has no such section; reprise repair may save the rest\n"},
		{"timed-0.part.rpz",
			"reprise: damaged.rpz: time series, number 0: merge: corrupt input: the series of ranks 0-2:2 are not all in the file; reprise repair may save the rest\n"},
	} {
		writeFile(t, "damaged.rpz", without(t, readFile(t, tt.name), func(s format.Section) bool {
			return s.Kind == layout.KindSeries && s.Key == 0
		}))
		if r := invoke(t, "", "merge", "damaged.rpz", "-o", "out.rpz"); r.status != cli.ExitFailure ||
			r.stderr != tt.stderr {
			t.Errorf("%s: status %d, %s", tt.name, r.status, r.stderr)
		}
		if r := invoke(t, "", "info", "damaged.rpz"); r.status != cli.ExitFailure ||
			!strings.Contains(r.stderr, "time series, number 0") {
			t.Errorf("%s: status %d, %s", tt.name, r.status, r.stderr)
		}
		out := must(t, "repair", "damaged.rpz", "-o", "saved.rpz")
		if !strings.Contains(out, "unreadable: the times of every call\n") {
			t.Errorf("%s: %s", tt.name, out)
		}
		must(t, "merge", "--part", "saved.rpz", "-o", "out.rpz")
	}
}

// TestRepairTimedPart checks that a part file stays one if its summaries are lost.
func TestRepairTimedPart(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	writeFile(t, "damaged.part.rpz", flip(t, readFile(t, "timed-0.part.rpz"), layout.KindSummaries, 0))
	must(t, "repair", "damaged.part.rpz", "-o", "saved.part.rpz")
	if out := must(t, "info", "saved.part.rpz"); !strings.Contains(out, ": part file, ") ||
		!strings.Contains(out, "at most 10 % off") {
		t.Error(out)
	}
	must(t, "merge", "saved.part.rpz", "timed-1.part.rpz", "-o", "out.rpz")
	if _, times := timeInfoOf(t, "out.rpz", cli.ExitOK); times.Ranks.String() != "0-3" {
		t.Errorf("%+v", times)
	}
	writeFile(t, "damaged.part.rpz", flip(t, readFile(t, "timed-0.part.rpz"), layout.KindSeries, 1))
	if out := must(t, "repair", "damaged.part.rpz", "-o", "saved.part.rpz"); !strings.Contains(out,
		"unreadable: the times of ranks 0-2:2\n") {
		t.Error(out)
	}
	must(t, "merge", "saved.part.rpz", "timed-1.part.rpz", "-o", "out.rpz")
	if source, times := timeInfoOf(t, "out.rpz", cli.ExitOK); times.Ranks.String() != "1-3:2" ||
		source != "a clock, repaired without the times of ranks 0-2:2" {
		t.Errorf("%q, %+v", source, times)
	}
}

// TestSomeSummaries checks a part file of two shapes, one of which loses its summaries.
func TestSomeSummaries(t *testing.T) {
	t.Chdir(t.TempDir())
	var a merge.Accumulator
	for rank, name := range []string{"wait", "send"} {
		var r tracer.Recorder
		r.CallAt(r.Declare(cst.Function{Name: name}), 100, 50)
		if err := a.Add(r.Finish(rank)); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := a.WritePart(&b); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "damaged.rpz", flip(t, b.String(), layout.KindSummaries, 0))
	var result compress.RepairResult
	if err := json.Unmarshal([]byte(must(t, "repair", "--json", "damaged.rpz", "-o", "saved.rpz")),
		&result); err != nil {
		t.Fatal(err)
	}
	if result.Summaries != compress.Partly || result.Untimed.Len() > 0 {
		t.Errorf("%+v", result.TimesSaved)
	}
	source, times := timeInfoOf(t, "saved.rpz", cli.ExitOK)
	if !strings.HasSuffix(source, "repaired without some statistics and histograms of times") ||
		len(times.Functions) != 1 || times.Functions[0].Function != "send" {
		t.Errorf("%q, %+v", source, times)
	}
}

// TestExactTimes checks that the digits of times beyond 2⁵³ are all there, in text and
// in JSON.
func TestExactTimes(t *testing.T) {
	t.Chdir(t.TempDir())
	lossless := noError(timing.NewLossless(timing.Zstd))
	r, err := tracer.New(tracer.Options{Series: noError(timing.NewSeriesCodec(lossless, lossless, timing.Gaps))})
	if err != nil {
		t.Fatal(err)
	}
	r.CallAt(r.Declare(cst.Function{Name: "wait"}), 1_763_662_847_123_456_789, 1)
	var b bytes.Buffer
	if err := merge.Write(&b, merge.Run{Ranks: 1, Source: "a clock"}, []merge.Part{r.Finish(0)}); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "late.rpz", b.String())
	if got, want := must(t, "cat", "late.rpz", "--clock", "--format", "text"),
		"0\t0\t1763662847.123456789\t0.000000001\twait()\n"; got != want {
		t.Errorf("text is %q, want %q", got, want)
	}
	if got := must(t, "cat", "late.rpz", "--clock", "--json"); !strings.Contains(got,
		`"start_ns":1763662847123456789,`) {
		t.Error(got)
	}
}

// TestFarTimes checks times that are farther apart than an int64 tells: text has them all,
// and JSON the int64 that is nearest.
func TestFarTimes(t *testing.T) {
	t.Chdir(t.TempDir())
	lossless := noError(timing.NewLossless(timing.Zstd))
	r, err := tracer.New(tracer.Options{Series: noError(timing.NewSeriesCodec(lossless, lossless, timing.Gaps))})
	if err != nil {
		t.Fatal(err)
	}
	wait := r.Declare(cst.Function{Name: "wait"})
	r.CallAt(wait, math.MinInt64, 0)
	r.CallAt(wait, -1, 0)
	r.CallAt(wait, math.MaxInt64, 0)
	writeTrace(t, "far.rpz", merge.Run{Ranks: 1, Source: "a clock"}, r.Finish(0))
	for _, tt := range []struct{ clock, text, json string }{
		{"--clock=false", "0.000000000 9223372036.854775807 18446744073.709551615",
			"0 9223372036854775807 9223372036854775807"},
		{"--clock", "-9223372036.854775808 -0.000000001 9223372036.854775807",
			"-9223372036854775808 -1 9223372036854775807"},
	} {
		var text, json []string
		for line := range strings.Lines(must(t, "cat", "far.rpz", tt.clock, "--format", "text")) {
			text = append(text, strings.Split(line, "\t")[2])
		}
		for line := range strings.Lines(must(t, "cat", "far.rpz", tt.clock, "--json")) {
			_, rest, _ := strings.Cut(line, `"start_ns":`)
			start, _, _ := strings.Cut(rest, ",")
			json = append(json, start)
		}
		if strings.Join(text, " ") != tt.text || strings.Join(json, " ") != tt.json {
			t.Errorf("%s: text has %v, JSON %v", tt.clock, text, json)
		}
	}
	for _, tt := range []struct{ begin, time, want int64 }{
		{math.MaxInt64, math.MinInt64, math.MinInt64}, {1, math.MinInt64, math.MinInt64},
		{0, math.MinInt64, math.MinInt64},
		{-1, math.MaxInt64, math.MaxInt64}, {5, 3, -2}, {math.MinInt64, math.MinInt64, 0},
	} {
		if got := show.Since(tt.begin, tt.time); got != tt.want {
			t.Errorf("since(%d, %d) is %d, want %d", tt.begin, tt.time, got, tt.want)
		}
	}
}

// TestRepairTimed damages traces with times at every byte, and checks that what is
// saved can be read, and has the times that repair does not call lost. Of a section
// whose head is damaged, repair cannot know what it was.
func TestRepairTimed(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	step := slow
	if !tier.Nightly {
		step *= 7
	}
	for _, name := range []string{"timed.rpz", "timed-0.part.rpz"} {
		data := readFile(t, name)
		_, whole := timeInfoOf(t, name, cli.ExitOK)
		for at := 0; at < len(data); at += step {
			writeFile(t, "damaged.rpz", data[:at]+string([]byte{data[at] ^ 0x10})+data[at+1:])
			removeSaved(t)
			r := invoke(t, "", "repair", "--json", "damaged.rpz", "-o", "saved.rpz")
			if r.status != cli.ExitOK {
				continue
			}
			var result compress.RepairResult
			if err := json.Unmarshal([]byte(r.stdout), &result); err != nil {
				t.Fatal(err)
			}
			_, times := timeInfoOf(t, "saved.rpz", cli.ExitOK)
			known := !slices.ContainsFunc(result.Lost, func(l compress.Loss) bool { return l.Section == "" })
			if times == nil {
				times = new(show.TimeInfo)
			}
			if known && times.Ranks.Equal(whole.Ranks) != (result.Untimed.Len() == 0 && !result.All) {
				t.Errorf("%s, byte %d: times of ranks %q, lost are %q", name, at, times.Ranks, result.Untimed)
			}
			if known && slices.Equal(times.Functions, whole.Functions) != (result.Summaries == compress.Kept) {
				t.Errorf("%s, byte %d: summaries are said to be %s", name, at, result.Summaries)
			}
		}
	}
}

// TestThreadsNote looks for what is told of estimates in a trace with calls of several threads.
func TestThreadsNote(t *testing.T) {
	number := cst.Type{Kind: cst.KindInt}
	var r tracer.Recorder
	first := r.Declare(cst.Function{Name: "work"})
	other := r.Declare(cst.Function{Name: "work", Params: []cst.Param{{Name: trace.ThreadParam, Type: number}}})
	r.CallAt(first, 0, 1000)
	r.CallAt(other, 500, 1000, cst.Int(1))
	path := filepath.Join(t.TempDir(), "threads.rpz")
	writeTrace(t, path, merge.Run{Ranks: 1, Source: "test"}, r.Finish(0))
	for _, args := range [][]string{
		{"at", path, "0.5us"}, {"profile", path, "--from", "0"},
		{"export", path, "-o", filepath.Join(t.TempDir(), "x.csv"), "--from", "0"},
	} {
		if out := must(t, args...); !strings.Contains(out, cli.ThreadsNote) {
			t.Errorf("%v tells nothing of threads:\n%s", args, out)
		}
	}
}
