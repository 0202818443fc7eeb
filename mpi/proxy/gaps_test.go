package proxy

import (
	"bytes"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// heatGaps is the sum of the gaps before all calls of all ranks but MPI_Finalize, in nanoseconds.
func heatGaps(t *testing.T, data []byte) (sum int64, most int64) {
	t.Helper()
	tr, err := trace.OpenReader(bytes.NewReader(data), int64(len(data)), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, rank := range tr.Content().Recorded.All() {
		r, err := tr.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for call, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, call.Function.Name)
		}
		i, end := 0, int64(0)
		for at, err := range r.Times(0) {
			if err != nil {
				t.Fatal(err)
			}
			if i > 0 && names[i] != "MPI_Finalize" {
				sum += max(at.Start-end, 0)
				most = max(most, at.Start-end)
			}
			end = at.Start + at.Duration
			i++
		}
	}
	return sum, most
}

// TestEvery checks that the tables of a program have all gaps, and that they are scaled.
func TestEvery(t *testing.T) {
	data, err := os.ReadFile(heat)
	if err != nil {
		t.Fatal(err)
	}
	want, most := heatGaps(t, data)
	for _, scale := range []float64{1, 0.5} {
		p, err := generate(t, data, Options{Compute: Spin, Gaps: Every, Scale: scale})
		if err != nil {
			t.Fatal(err)
		}
		program := p.OneFile()
		got, longest, numbers := 0.0, 0.0, 0
		for _, table := range regexp.MustCompile(
			`(?s)static (?:int|long long) gap_\d+\[\](?:\[\d+\])? = \{(.*?)\};`).FindAllStringSubmatch(program, -1) {
			for cell := range strings.SplitSeq(table[1], ",") {
				n, err := strconv.ParseFloat(strings.Trim(cell, "{} \n"), 64)
				if err != nil {
					t.Fatal(err)
				}
				got, longest = got+n, max(longest, n)
				numbers++
			}
		}
		// Those that are the same for all ranks and calls, which one call has here.
		for _, constant := range regexp.MustCompile(`compute\(1e-9 \* (\d+)\)`).FindAllStringSubmatch(program, -1) {
			n, err := strconv.ParseFloat(constant[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			got += n
		}
		if math.Abs(got-scale*float64(want)) > float64(numbers) || math.Abs(longest-scale*float64(most)) > 1 {
			t.Errorf("gaps of %v ns, the longest %v, want %v times %d and %d", got, longest, scale, want, most)
		}
		if p.Lines > 2000 {
			t.Errorf("%d lines", p.Lines)
		}
	}
	if _, err := generate(t, data, Options{Compute: Spin, Gaps: Drawn}); err == nil ||
		!strings.Contains(err.Error(), "no histograms") {
		t.Errorf("%v", err)
	}
}

// TestDraws checks that the mean of what is drawn is that of the gaps, and how it is spread.
func TestDraws(t *testing.T) {
	var b timing.HistogramsBuilder
	for i := range int64(1000) {
		b.Append(0, 1000+10*i)
	}
	for _, h := range b.Finish(0).All() {
		list := draws(h, h.Statistics().Mean()/1e9)
		sum := 0.0
		for i, d := range list {
			sum += float64(d)
			if i > 0 && d < list[i-1] {
				t.Errorf("%v", list)
			}
		}
		if mean := sum / shares; math.Abs(mean-5995) > 1 || list[0] > 1500 || list[shares-1] < 10_400 {
			t.Errorf("mean %v of %v", mean, list)
		}
	}
}
