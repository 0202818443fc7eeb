package timing

import (
	"math"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/bins"
)

// conditionalEntropy returns the bits that the symbols of a column take at least
// if each depends on the terminal, and on nothing else.
func conditionalEntropy(b *bins.Bins, terminals []uint32, values []int64) float64 {
	type event struct {
		terminal uint32
		symbol   int32
	}
	all, each := make(map[uint32]int), make(map[event]int)
	for i, v := range values {
		all[terminals[i]]++
		each[event{terminals[i], b.Symbol(v)}]++
	}
	var sum []float64
	for e, n := range each {
		sum = append(sum, float64(n)*math.Log2(float64(all[e.terminal])/float64(n)))
	}
	slices.Sort(sum) // the order of a map is none
	total := 0.0
	for _, s := range sum {
		total += s
	}
	return total
}

// encodedBits encodes a column in blocks, checks that it decodes, and returns
// the bits it takes.
func encodedBits(t *testing.T, c Codec, terminals []uint32, values []int64) int {
	t.Helper()
	e := c.NewEncoder()
	size := 0
	for len(values) > 0 {
		n := min(len(values), 1<<17)
		want, got := make([]int64, n), make([]int64, n)
		for i := range want {
			want[i] = e.Append(terminals[i], values[i])
		}
		block := e.AppendBlock(nil)
		d, err := c.NewDecoder(block, Options{})
		if err == nil {
			err = d.Decode(got, terminals[:n])
		}
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("decoded differently: %v", err)
		}
		checkFast(t, c.Guarantee(), got, values[:n])
		size += len(block)
		values, terminals = values[n:], terminals[n:]
	}
	return 8 * size
}

// peers holds the bits per value that others take for the columns of a run, as
// measured once on these files: SZ3, of which the better of two orders counts,
// and HIST as published.
type peers struct{ sz3, hist float64 }

var measuredPeers = map[string]map[string]peers{
	"duration": {"lu.W.8": {4.25, 13.94}, "cg.W.8": {5.74, 12.07}, "mg.W.8": {6.21, 23.07}},
	"gap":      {"lu.W.8": {3.22, 7.81}, "cg.W.8": {4.30, 8.63}, "mg.W.8": {4.80, 20.75}},
	"interval": {"lu.W.8": {1.30, 8.37}, "cg.W.8": {5.46, 15.68}, "mg.W.8": {3.84, 30.09}},
}

// TestEntropyReal compares the bits per value of the recorded runs with those of
// peers, and with the entropy of the bins given the terminal.
func TestEntropyReal(t *testing.T) {
	c := newEntropy(t, 0.1)
	columns := []string{"duration", "gap", "interval"}
	bits := make(map[string]map[string]float64)
	for _, column := range columns {
		bits[column] = make(map[string]float64)
		var runs []string
		values, least := make(map[string]float64), make(map[string]float64)
		for _, r := range realRanks(t) {
			if values[r.run] == 0 {
				runs = append(runs, r.run)
			}
			v := r.column(column)
			values[r.run] += float64(len(v))
			bits[column][r.run] += float64(encodedBits(t, c, r.terminals, v))
			least[r.run] += conditionalEntropy(c.bins, r.terminals, v)
		}
		for _, run := range runs {
			n, p := values[run], measuredPeers[column][run]
			bits[column][run] /= n
			got := bits[column][run]
			t.Logf("%s %s: %.3f bits per value, entropy given the terminal %.3f, SZ3 %.2f, HIST %.2f", run,
				column, got, least[run]/n, p.sz3, p.hist)
			if n >= 50_000 && got > 1.05*least[run]/n {
				t.Errorf("%s %s: more than 5 %% above the entropy", run, column)
			}
			if column == "duration" && p.hist > 0 && got > 0.35*p.hist {
				t.Errorf("%s %s: more than 0.35 of HIST", run, column)
			}
		}
	}
	for _, second := range columns[1:] {
		var ratios []float64
		for run, p := range measuredPeers["duration"] {
			ratio := (bits["duration"][run] + bits[second][run]) / (p.sz3 + measuredPeers[second][run].sz3)
			t.Logf("%s duration and %s: %.3f of SZ3", run, second, ratio)
			ratios = append(ratios, ratio)
		}
		slices.Sort(ratios)
		if median := ratios[len(ratios)/2]; median > 0.72 || ratios[len(ratios)-1] > 0.85 {
			t.Errorf("duration and %s: %.3f of SZ3 in the median, and %.3f at most", second, median,
				ratios[len(ratios)-1])
		}
	}
}

// TestEntropyFastReal holds what the fast level takes more than the other, of runs with 50,000 calls and more.
func TestEntropyFastReal(t *testing.T) {
	codecs := []Codec{newEntropy(t, 0.1), newEntropyFast(t, 0.1)}
	for _, column := range []string{"duration", "gap", "interval"} {
		var bits [2]map[string]int
		bits[0], bits[1] = make(map[string]int), make(map[string]int)
		values := make(map[string]int)
		for _, r := range realRanks(t) {
			values[r.run] += len(r.terminals)
			for i, c := range codecs {
				bits[i][r.run] += encodedBits(t, c, r.terminals, r.column(column))
			}
		}
		for run, n := range values {
			slow, fast := float64(bits[0][run])/float64(n), float64(bits[1][run])/float64(n)
			t.Logf("%s %s: %.3f bits per value, fast %.3f: %+.1f %%", run, column, slow, fast, 100*(fast/slow-1))
			most := map[bool]float64{false: 1.09, true: 1.18}[column == "interval"]
			if n >= 50_000 && fast > most*slow {
				t.Errorf("%s %s: more than %.2f times as large", run, column, most)
			}
		}
	}
}

// BenchmarkEntropyColumns measures both directions on columns of a rank of the
// long runs, as far as the project has it itself.
func BenchmarkEntropyColumns(b *testing.B) {
	benchmarkColumns(b, newEntropy(b, 0.1))
}

func BenchmarkEntropyFastColumns(b *testing.B) { benchmarkColumns(b, newEntropyFast(b, 0.1)) }

func benchmarkColumns(b *testing.B, c Codec) {
	for _, run := range []string{"lu.W.8.part", "hpcc.4.part"} {
		r := shippedRank(b, run)
		for _, column := range []string{"duration", "gap", "interval"} {
			values := r.column(column)[:min(len(r.terminals), 1<<16)]
			terminals := r.terminals[:len(values)]
			e := c.NewEncoder()
			var block []byte
			encode := func() {
				for i, v := range values {
					e.Append(terminals[i], v)
				}
				block = e.AppendBlock(block[:0])
			}
			report := func(b *testing.B) {
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(values)), "ns/value")
				b.ReportMetric(float64(8*len(block))/float64(len(values)), "bits/value")
				b.ReportMetric(0, "ns/op")
			}
			name := "run=" + r.run + "/column=" + column
			b.Run(name+"/encode", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					encode()
				}
				report(b)
			})
			b.Run(name+"/decode", func(b *testing.B) {
				encode()
				got := make([]int64, len(values))
				b.ReportAllocs()
				for b.Loop() {
					d, err := c.NewDecoder(block, Options{})
					if err == nil {
						err = d.Decode(got, terminals)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				report(b)
			})
		}
	}
}
