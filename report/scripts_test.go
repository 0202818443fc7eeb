package report_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/sequitur"
)

// flat returns the rules of a grammar as grammar.js reads them.
func flat(g *sequitur.Grammar) [][]int64 {
	all := make([][]int64, g.Rules())
	for r := range all {
		for t := range g.Body(r) {
			s := 2 * int64(t.Symbol)
			if t.Rule >= 0 {
				s = 2*int64(t.Rule) + 1
			}
			if all[r] = append(all[r], s); t.Count > 1 {
				all[r] = append(all[r], -int64(t.Count))
			}
		}
	}
	return all
}

func js(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestProgram compares what grammar.js finds in grammars, and what it draws of them, with
// their calls, one by one.
func TestProgram(t *testing.T) {
	b := open(t, file(t, program(t, programs.Stencil2D(2, 2, 3)), report.Options{}), desktop)
	random := rand.New(rand.NewPCG(7, 7))
	for round := range 12 {
		var builder sequitur.Builder
		var calls []int
		for range 1 + random.IntN(6) {
			body := make([]int, 1+random.IntN(5))
			for i := range body {
				body[i] = random.IntN(4)
			}
			for range 1 + random.IntN(40) {
				for _, s := range body {
					builder.Append(sequitur.Symbol(s))
					calls = append(calls, s)
				}
			}
		}
		durations, gaps := make([]float64, 4), make([]float64, 4)
		for i := range 4 {
			durations[i], gaps[i] = float64(random.IntN(50)), float64(random.IntN(20))
		}
		durations[0]++ // so that some time passes
		got := eval[struct {
			At, Find [][]float64
			All      []int
			Next     [][]float64
			Area     []float64
			Calls    [][]float64
		}](b, `(() => {
			const p = new Program(new Grammar(%s), { functions: [0, 1, 2, 3], durations: %s, gaps: %s, classOf: [0, 1, 2, 3], classes: 4 });
			const out = { At: [], Find: [], Area: [0, 0, 0, 0], Calls: [], All: [...p.grammar.expand()], Next: [] };
			for (let i = 0; i <= p.calls; i++) out.Next.push([p.next(i, 1, (t) => t === 2), p.next(i, -1, (t) => t === 2)]);
			for (let i = 0; i < p.calls; i++) {
				const c = p.at(i);
				out.At.push([c.position, c.terminal, c.before]);
			}
			for (let t = 0; t < p.total; t += p.total / 97) {
				const c = p.find(t);
				out.Find.push([t, c.position]);
			}
			const rects = [[], [], [], []], row = new Row(4, 0, 100, 10, 500, rects);
			new Estimate(p, [], []).draw(0, p.total, row);
			row.finish();
			rects.forEach((list, k) => { for (let i = 0; i < list.length; i += 4) out.Area[k] += list[i + 2] * list[i + 3]; });
			const from = p.total / 3, to = p.total / 2;
			p.draw(from, to, 1e9, { narrow: 1, block() { throw new Error('a block'); }, call(a, b, kind, terminal) { out.Calls.push([a, b, terminal]); } });
			return out;
		})()`, js(flat(builder.Finish())), js(durations), js(gaps))
		name := fmt.Sprintf("round %d", round)
		before, total := 0.0, 0.0
		var starts []float64
		for i, s := range calls {
			if at := got.At[i]; at[0] != float64(i) || at[1] != float64(s) || at[2] != before {
				t.Fatalf("%s: call %d is %v, not %d after %g", name, i, at, s, before)
			}
			starts = append(starts, before)
			before += gaps[s] + durations[s]
		}
		total = before
		if len(got.At) != len(calls) {
			t.Fatalf("%s: %d calls, not %d", name, len(got.At), len(calls))
		}
		if !slices.Equal(got.All, calls) {
			t.Fatalf("%s: expands to %v, not %v", name, got.All, calls)
		}
		for i, n := range got.Next {
			after, before := slices.Index(calls[i:], 2), -1
			if after >= 0 {
				after += i
			}
			for k, s := range calls[:i] {
				if s == 2 {
					before = k
				}
			}
			if n[0] != float64(after) || n[1] != float64(before) {
				t.Fatalf("%s: from %d on, the next is %v, not %d and %d", name, i, n, after, before)
			}
		}
		for _, f := range got.Find {
			i := int(f[1])
			if end := starts[i] + gaps[calls[i]] + durations[calls[i]]; f[0] < starts[i]-1e-6 || f[0] > end+1e-6 {
				t.Fatalf("%s: at %g is call %d, from %g to %g", name, f[0], i, starts[i], end)
			}
		}
		checkArea(t, name, got.Area, calls, durations, total)
		checkCalls(t, name, got.Calls, calls, starts, durations, gaps, total)
	}
}

// checkArea compares how much is filled in each colour with the time of the calls. Short
// calls are drawn wider than they are.
func checkArea(t *testing.T, name string, area []float64, calls []int, durations []float64, total float64) {
	t.Helper()
	const whole = 500 * 100
	for k := range durations {
		sum := 0.0
		for _, s := range calls {
			if s == k {
				sum += durations[k]
			}
		}
		if want := whole * sum / total; area[k] < 0.75*want-whole/50 || area[k] > 1.1*want+whole/10 {
			t.Errorf("%s: %.0f of class %d is filled, not %.0f", name, area[k], k, want)
		}
	}
}

// checkCalls compares the single calls that are drawn of a part with those there are.
func checkCalls(t *testing.T, name string, drawn [][]float64, calls []int, starts, durations, gaps []float64,
	total float64) {
	t.Helper()
	from, to := total/3, total/2
	n := 0
	for i, s := range calls {
		begin := starts[i] + gaps[s]
		end := begin + durations[s]
		if end <= from+1e-6 || begin >= to-1e-6 || gaps[s]+durations[s] == 0 {
			continue
		}
		for n < len(drawn) && drawn[n][1] <= max(begin, from)-1e-6 {
			n++ // it only touches the part
		}
		if n == len(drawn) || drawn[n][2] != float64(s) || drawn[n][0] < begin-1e-6 || drawn[n][1] > end+1e-6 {
			t.Fatalf("%s: call %d of %d from %g to %g is not drawn", name, i, s, begin, end)
		}
		n++
	}
}

// TestFormatSame compares numbers as the scripts write them with those in the page.
func TestFormatSame(t *testing.T) {
	b := open(t, file(t, program(t, programs.Stencil2D(2, 2, 3)), report.Options{}), desktop)
	for _, c := range []struct{ call, want string }{
		{"formatTime(0)", "0 ns"}, {"formatTime(7.25)", "7.25 ns"}, {"formatTime(1250000)", "1.25 ms"},
		{"formatTime(-12500)", "-12.5 µs"},
		{"formatTime(999999)", "1.00 ms"}, {"formatTime(3.6e12)", "3,600 s"}, {"formatTime(12.34e9)", "12.3 s"},
		{"formatBytes(0)", "0 B"}, {"formatBytes(999)", "999 B"}, {"formatBytes(1200)", "1.20 kB"},
		{"formatBytes(5.51e6)", "5.51 MB"}, {"formatBytes(1.8e19)", "18.0 EB"},
		{"formatCount(1234567)", "1,234,567"}, {"formatBrief(2500000)", "2.5 M"}, {"formatBrief(0)", "0"},
		{"formatBrief(100)", "100"},
		{"formatPower(1)", "1 B"}, {"formatPower(8192)", "8 KiB"}, {"trimmed('2.00 ms')", "2 ms"},
		{"trimmed('20 ms')", "20 ms"}, {"trimmed('1.50 s')", "1.5 s"},
		{"timeAt(330018900, 100)", "330.0189 ms"}, {"timeAt(0, 1)", "0 ns"}, {"timeAt(1500, 0.1)", "1.500 µs"},
		{"axisFrom(0, 4e9).label(1.5e9)", "1.5 s"}, {"axisFrom(0, 1.4e9).label(1.2e9)", "1,200 ms"},
		{"axisFrom(0, 1.4e9).base", ""}, {"axisFrom(600, 50).label(612)", "612 ns"},
		{"axisFrom(1886e6 - 10, 50).label(1886e6 + 12)", "+112 ns"},
		{"axisFrom(1886e6 - 10, 50).base", "+ counts from 1.8859999 s"},
		{"axisFrom(1886e6, 20e3).label(1886004e3)", "+4 µs"}, {"axisFrom(1886e6, 20e3).base", "+ counts from 1.8860 s"},
	} {
		if got := eval[string](b, "%s", c.call); got != c.want {
			t.Errorf("%s is %q, not %q", c.call, got, c.want)
		}
	}
}
