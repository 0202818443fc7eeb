package pprof_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/pprof"
	"github.com/reprise-trace/reprise/internal/test/e2e"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

func write(t testing.TB, tr *trace.Trace, o export.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := pprof.Write(t.Context(), &b, tr, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// parse returns a profile, which must be valid.
func parse(t testing.TB, data []byte) *profile.Profile {
	t.Helper()
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	return p
}

// A total is what samples have together.
type total struct{ calls, time int64 }

const outside = "(outside calls)"

// totals sums up the samples of a profile by rank, function and call.
func totals(p *profile.Profile) map[[3]string]total {
	sums := make(map[[3]string]total)
	for _, s := range p.Sample {
		k := [3]string{strings.Join(s.Label["rank"], ""), s.Location[0].Line[0].Function.Name,
			strings.Join(s.Label["call"], "")}
		sum := sums[k]
		sum.calls += s.Value[0]
		if len(s.Value) > 1 {
			sum.time += s.Value[1]
		}
		sums[k] = sum
	}
	return sums
}

// expected sums up the calls of a trace one by one.
func expected(t *testing.T, tr *trace.Trace, wanted func(rank int) bool, between *export.Interval) map[[3]string]total {
	t.Helper()
	sums := make(map[[3]string]total)
	add := func(k [3]string, calls, time int64) {
		s := sums[k]
		sums[k] = total{s.calls + calls, s.time + time}
	}
	times, err := query.OpenTimes(tr)
	if err != nil {
		t.Fatal(err)
	}
	begin, err := times.Begin()
	if err != nil {
		t.Fatal(err)
	}
	printer := tr.Printer(trace.PrintOptions{})
	for number := range tr.Ranks() {
		if !wanted(number) {
			continue
		}
		rank, err := tr.Rank(number)
		if err != nil {
			t.Fatal(err)
		}
		clock, err := times.Clock(rank)
		if err != nil {
			t.Fatal(err)
		}
		first, end := uint64(0), rank.Len()
		if between != nil {
			if first, end, err = clock.Positions(begin+between.From, begin+between.To); err != nil {
				t.Fatal(err)
			}
		}
		last := int64(0)
		for call, err := range clock.Calls(first) {
			if err != nil {
				t.Fatal(err)
			}
			position := call.Position
			if position == end {
				break
			}
			text, name := printer.Canonical(rank.Signature(call.Terminal)), call.Function.Name
			if strings.ContainsFunc(name, func(r rune) bool {
				return r == '\uFFFD' || !strconv.IsPrint(r)
			}) || name == "" {
				name = strconv.Quote(name)
			}
			add([3]string{strconv.Itoa(number), name, text}, 1, call.Duration)
			if call.Timed && position > first {
				if gap := max(0, call.Start-last); gap > 0 {
					add([3]string{strconv.Itoa(number), outside, text}, 0, gap)
				}
			}
			last = max(last, call.Start+call.Duration)
			if position == first {
				last = call.Start + call.Duration
			}
		}
	}
	return sums
}

func all(int) bool { return true }

func TestTotals(t *testing.T) {
	stencil := programs.Stencil2D(2, 3, 50)
	odd := rankenc.SetOf(1, 3)
	for name, tr := range map[string]*trace.Trace{
		"Recorded": testtrace.Stencil(t, "exact"), "Hostile": testtrace.HostileTable(t),
		"Timed":     testtrace.Timed(t, 4, 100, testtrace.Series),
		"Synthetic": testtrace.Write(t, stencil.Run(), stencil.Parts()),
		"Empty":     testtrace.Write(t, merge.Run{Source: "test"}, nil),
	} {
		t.Run(name, func(t *testing.T) {
			got := totals(parse(t, write(t, tr, export.Options{})))
			if want := expected(t, tr, all, nil); !maps.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
			got = totals(parse(t, write(t, tr, export.Options{Ranks: &odd})))
			if want := expected(t, tr, func(rank int) bool {
				return rank == 1 || rank == 3
			}, nil); !maps.Equal(got, want) {
				t.Errorf("ranks 1 and 3: %v, want %v", got, want)
			}
		})
	}
}

func TestBetween(t *testing.T) {
	tr := testtrace.Timed(t, 3, 100, testtrace.Series)
	for _, i := range []export.Interval{{To: 1e15}, {From: 100_000, To: 200_000}, {From: 4350, To: 4400}, {To: 1}} {
		p := parse(t, write(t, tr, export.Options{Between: &i}))
		got, want := totals(p), expected(t, tr, all, &i)
		if !maps.Equal(got, want) {
			t.Errorf("%v: %v, want %v", i, got, want)
		}
		if p.DurationNanos < 0 || p.DurationNanos > i.To-i.From {
			t.Errorf("%v: takes %d ns", i, p.DurationNanos)
		}
	}
}

// TestEstimates checks that the time of a rank is that of its clock, and that of a call
// the mean of its like.
func TestEstimates(t *testing.T) {
	for _, times := range []testtrace.Times{testtrace.Statistics, testtrace.Histograms, testtrace.Paths} {
		tr := testtrace.Timed(t, 3, 100, times)
		p := parse(t, write(t, tr, export.Options{}))
		if p.DefaultSampleType != "time" || len(p.SampleType) != 2 {
			t.Errorf("%s: samples of %v", times, p.SampleType)
		}
		for k, got := range totals(p) {
			if mean := got.time / 100; k[1] == "wait" && (got.calls != 100 || mean < 1000 || mean > 1018) {
				t.Errorf("%s: %v of %v", times, got, k)
			}
		}
		var sum int64
		for _, s := range totals(p) {
			sum += s.time
		}
		if least := 3 * (p.DurationNanos - 1000); sum < least || sum > 3*(p.DurationNanos+4000) {
			t.Errorf("%s: %d ns in all ranks, of which each takes %d", times, sum, p.DurationNanos)
		}
	}
}

// TestExtremeTimes checks that a gap that is longer than times go counts as such, not as none.
func TestExtremeTimes(t *testing.T) {
	f := testtrace.Function("f")
	tr := testtrace.Record(t, merge.Run{}, true, [][]testtrace.Call{{
		{Function: f, Start: math.MinInt64 + 10, Duration: 5}, {Function: f, Start: math.MaxInt64 - 10, Duration: 5},
	}})
	longest := int64(0)
	for _, s := range parse(t, write(t, tr, export.Options{})).Sample {
		if s.Value[1] < 0 {
			t.Errorf("%v takes %d ns", s, s.Value[1])
		}
		longest = max(longest, s.Value[1])
	}
	if longest != math.MaxInt64 {
		t.Errorf("the gap is %d ns, want 2⁶³−1", longest)
	}
}

// TestLoops checks the stack of a call in a loop.
func TestLoops(t *testing.T) {
	p := parse(t, write(t, testtrace.Timed(t, 1, 90, testtrace.Series), export.Options{}))
	found := false
	for _, s := range p.Sample {
		var stack []string
		for _, l := range s.Location {
			stack = append(stack, l.Line[0].Function.Name)
		}
		if text := strings.Join(stack, " < "); text == "wait < loop 30 × send wait" ||
			text == "wait < loop 29 × send wait" {
			found = true
		}
	}
	if !found {
		t.Errorf("no such loop in %v", p)
	}
}

// TestTool has the samples that go tool pprof finds added up.
func TestTool(t *testing.T) {
	e2e.Programs(t)
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go: ", err)
	}
	tr := testtrace.Stencil(t, "exact")
	path := filepath.Join(t.TempDir(), "profile.pb.gz")
	if err := os.WriteFile(path, write(t, tr, export.Options{}), 0o600); err != nil {
		t.Fatal(err)
	}
	want := make(map[string]int64)
	for k, s := range expected(t, tr, all, nil) {
		want[k[1]] += s.calls
	}
	delete(want, outside)
	run := func(args ...string) string {
		out, err := exec.Command(goTool, append([]string{"tool", "pprof"}, append(args, path)...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	got := make(map[string]int64)
	line := regexp.MustCompile(`(?m)^ +([0-9]+) +[0-9.]+% +[0-9.]+% +[0-9]+ +[0-9.]+% +(\w+)$`)
	for _, m := range line.FindAllStringSubmatch(run("-top", "-nodefraction=0", "-nodecount=100000",
		"-sample_index=calls"), -1) {
		if n, _ := strconv.ParseInt(m[1], 10, 64); n > 0 {
			got[m[2]] = n
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("-top: %v, want %v", got, want)
	}
	if raw := run("-raw"); !strings.Contains(raw, "calls/count time/nanoseconds[dflt]") ||
		!strings.Contains(raw, "call:[MPI_") || !strings.Contains(raw, "rank:[3]") {
		t.Errorf("-raw: %s", raw[:min(len(raw), 2000)])
	}
}

// TestManyRanks checks that ranks of the same control flow share samples if there are
// many.
func TestManyRanks(t *testing.T) {
	program := programs.Stencil2D(40, 40, 10)
	tr := testtrace.Write(t, program.Run(), program.Parts())
	p := parse(t, write(t, tr, export.Options{}))
	calls := make(map[string]int64)
	for _, s := range p.Sample {
		if len(s.Label["ranks"]) != 1 || len(s.NumLabel) > 0 {
			t.Fatalf("labels %v %v", s.Label, s.NumLabel)
		}
		calls[s.Label["ranks"][0]] += s.Value[0]
	}
	if n := tr.Shapes(); len(calls) != n {
		t.Errorf("samples of %d shapes, want %d", len(calls), n)
	}
	for number := range tr.Shapes() {
		shape, err := tr.Shape(number)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := calls[shape.Ranks.String()], int64(shape.Grammar.Len())*int64(shape.Ranks.Len()); got != want {
			t.Errorf("%d calls of shape %d, want %d", got, number, want)
		}
	}
	if len(p.Sample) > 1000 {
		t.Errorf("%d samples", len(p.Sample))
	}
}

// TestManyRanksChosen checks that of many ranks labels name those that are chosen and have
// calls in the profile.
func TestManyRanksChosen(t *testing.T) {
	program := programs.Stencil2D(40, 40, 10)
	tr := testtrace.Write(t, program.Run(), program.Parts())
	chosen, err := rankenc.SetOfText("100-1399", 1600)
	if err != nil {
		t.Fatal(err)
	}
	calls := make(map[string]int64)
	for _, s := range parse(t, write(t, tr, export.Options{Ranks: &chosen})).Sample {
		calls[s.Label["ranks"][0]] += s.Value[0]
	}
	ranks := 0
	for label, n := range calls {
		set, err := rankenc.SetOfText(label, 1600)
		if err != nil {
			t.Fatal(err)
		}
		want := int64(0)
		for _, rank := range set.All() {
			read, err := tr.Rank(int(rank))
			if err != nil {
				t.Fatal(err)
			}
			want += int64(read.Len())
			if ranks++; !chosen.Contains(int(rank)) {
				t.Fatalf("rank %d is in %s", rank, label)
			}
		}
		if n != want {
			t.Errorf("%d calls of ranks %s, want %d", n, label, want)
		}
	}
	if ranks != chosen.Len() {
		t.Errorf("%d ranks, want %d", ranks, chosen.Len())
	}
}

// A failing writes some bytes, and then fails.
type failing int

func (f *failing) Write(p []byte) (int, error) {
	if *f -= failing(len(p)); *f < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

func TestErrors(t *testing.T) {
	tr := testtrace.Timed(t, 2, 10, testtrace.Series)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrClosed)
	if err := pprof.Write(ctx, io.Discard, tr, export.Options{}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("cancelled: %v", err)
	}
	for _, n := range []int{0, 10, 200} {
		f := failing(n)
		if err := pprof.Write(t.Context(), &f, tr, export.Options{}); err != io.ErrShortWrite {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	if a, b := write(t, tr, export.Options{}), write(t, tr, export.Options{}); !bytes.Equal(a, b) {
		t.Error("two profiles of one trace differ")
	}
}

// BenchmarkWrite shows that the cost does not follow the calls.
func BenchmarkWrite(b *testing.B) {
	for _, n := range []uint64{1_000, 1_000_000} {
		b.Run("iterations="+strconv.FormatUint(n, 10), func(b *testing.B) {
			p := programs.Stencil2D(8, 8, n)
			tr := testtrace.Write(b, p.Run(), p.Parts())
			for b.Loop() {
				if err := pprof.Write(b.Context(), io.Discard, tr, export.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestOverlap checks that what is between calls is counted once if calls overlap.
func TestOverlap(t *testing.T) {
	lossless := must.Get(timing.NewLossless(timing.LZ4))
	r, err := tracer.New(tracer.Options{Series: must.Get(timing.NewSeriesCodec(lossless, lossless, timing.Gaps))})
	if err != nil {
		t.Fatal(err)
	}
	f := r.Declare(cst.Function{Name: "f"})
	for _, call := range [][2]int64{{1000, 500}, {1100, 100}, {1300, 50}, {1600, 10}} {
		r.CallAt(f, call[0], call[1])
	}
	tr := testtrace.Write(t, merge.Run{Ranks: 1, Source: "test"}, []merge.Part{r.Finish(0)})
	got := totals(parse(t, write(t, tr, export.Options{})))
	if in, out := got[[3]string{"0", "f", "f()"}], got[[3]string{"0", outside, "f()"}]; in != (total{4, 660}) || out != (total{0, 100}) {
		t.Errorf("%v in calls, %v outside", in, out)
	}
}
