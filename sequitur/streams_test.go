package sequitur

import (
	"bufio"
	"bytes"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// A stream is a named input of the benchmarks. All have a fixed seed.
type stream struct {
	name string
	gen  func(n int) []Symbol // about n symbols
}

var streams = []stream{
	{"Constant", func(n int) []Symbol { return cycle(n, 7) }},
	{"NestedLoop", func(n int) []Symbol { // ((1 2 3)^100 4)^k
		return cycle(max(1, n/301), append(cycle(100, 1, 2, 3), 4)...)
	}},
	{"Loop10", func(n int) []Symbol { return loop(n, 10) }},
	{"Loop100", func(n int) []Symbol { return loop(n, 100) }},
	{"Loop1000", func(n int) []Symbol { return loop(n, 1000) }},
	{"Loop10000", func(n int) []Symbol { return loop(n, 10_000) }},
	{"Random16", func(n int) []Symbol { return random(n, 16) }},
	{"Random100000", func(n int) []Symbol { return random(n, 100_000) }},
	{"NearMissStart", func(n int) []Symbol { return nearMissLoop(n, 1000, 0) }},
	{"NearMissMiddle", func(n int) []Symbol { return nearMissLoop(n, 1000, 500) }},
	{"NearMissEnd", func(n int) []Symbol { return nearMissLoop(n, 1000, 999) }},
	{"RandomBranch", func(n int) []Symbol { // if (random) {3 4 5} else {6 7}
		r := rand.New(rand.NewPCG(1, 2))
		return rounds(n, func(s []Symbol) []Symbol {
			if r.IntN(2) == 0 {
				return append(s, 1, 2, 3, 4, 5)
			}
			return append(s, 1, 2, 6, 7)
		})
	}},
	{"Stencil", func(n int) []Symbol { return stencil(n, false) }},
	{"StencilWaitany", func(n int) []Symbol { return stencil(n, true) }},
	{"Fibonacci", func(n int) []Symbol {
		a, b := []Symbol{0}, []Symbol{0, 1}
		for len(b) < n {
			a, b = b, append(b[:len(b):len(b)], a...)
		}
		return b[:n]
	}},
	{"ThueMorse", func(n int) []Symbol {
		s := make([]Symbol, n)
		for i := range s {
			s[i] = Symbol(bits.OnesCount(uint(i)) % 2)
		}
		return s
	}},
}

// loop is a loop whose body is so many distinct symbols.
func loop(n, body int) []Symbol {
	s := make([]Symbol, n)
	for i := range s {
		s[i] = Symbol(i % body)
	}
	return s
}

func random(n, alphabet int) []Symbol {
	r := rand.New(rand.NewPCG(1, 2))
	s := make([]Symbol, n)
	for i := range s {
		s[i] = Symbol(r.IntN(alphabet))
	}
	return s
}

// nearMissLoop is a loop in which the symbol at one place of the body is
// another in each round.
func nearMissLoop(n, body, place int) []Symbol {
	r := rand.New(rand.NewPCG(1, 2))
	s := loop(n, body)
	for i := place; i < len(s); i += body {
		s[i] = Symbol(body + r.IntN(1000))
	}
	return s
}

func rounds(n int, round func([]Symbol) []Symbol) []Symbol {
	var s []Symbol
	for len(s) < n {
		s = round(s)
	}
	return s
}

// stencil is eight messages and a Waitall a step, or a Waitany for each in
// random order; an Allreduce each 10, a Gather and a Bcast each 100 steps.
func stencil(n int, waitany bool) []Symbol {
	r := rand.New(rand.NewPCG(1, 2))
	step := 0
	return rounds(n, func(s []Symbol) []Symbol {
		step++
		s = append(s, 0, 1, 2, 3, 4, 5, 6, 7)
		if !waitany {
			s = append(s, 8)
		} else {
			for _, i := range r.Perm(8) {
				s = append(s, Symbol(20+i))
			}
		}
		if step%10 == 0 {
			s = append(s, 9)
		}
		if step%100 == 0 {
			s = append(s, 10, 11)
		}
		return s
	})
}

// A trace is the calls of every rank of a real run, numbered by first use.
type trace struct {
	name   string
	ranks  [][]Symbol
	events int
}

// readTraces reads the SimGrid traces that lie beside the project, or skips.
func readTraces(t testing.TB) []trace {
	paths, _ := filepath.Glob("../../shared/traces/ti/*.ti.zst")
	if len(paths) == 0 {
		t.Skip("no traces in ../shared/traces/ti")
	}
	var traces []trace
	for _, path := range paths {
		compressed, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		dec, err := zstd.NewReader(bytes.NewReader(compressed), zstd.WithDecoderMaxWindow(1<<27))
		if err != nil {
			t.Fatal(err)
		}
		tr := trace{name: strings.TrimSuffix(filepath.Base(path), ".ti.zst")}
		var (
			terminals map[string]Symbol
			last      string
			lines     = bufio.NewScanner(dec)
		)
		for lines.Scan() {
			rank, call, _ := strings.Cut(lines.Text(), " ")
			if rank != last || len(tr.ranks) == 0 {
				tr.ranks, terminals, last = append(tr.ranks, nil), make(map[string]Symbol), rank
			}
			s, ok := terminals[call]
			if !ok {
				s = Symbol(len(terminals))
				terminals[call] = s
			}
			k := len(tr.ranks) - 1
			tr.ranks[k] = append(tr.ranks[k], s)
			tr.events++
		}
		if lines.Err() != nil {
			t.Fatal(path, lines.Err())
		}
		dec.Close()
		traces = append(traces, tr)
	}
	return traces
}

// TestTraces checks the grammars of real runs: invariants, and every call.
func TestTraces(t *testing.T) {
	for _, tr := range readTraces(t) {
		var b Builder
		for rank, in := range tr.ranks {
			for _, s := range in {
				b.Append(s)
			}
			g := b.Finish()
			checkInvariants(t, g)
			i := 0
			for _, s := range g.All() {
				if s != in[i] {
					t.Fatalf("%s, rank %d: call %d is %d, want %d", tr.name, rank, i, s, in[i])
				}
				i++
			}
			if i != len(in) {
				t.Fatalf("%s, rank %d: %d calls, want %d", tr.name, rank, i, len(in))
			}
		}
	}
}

// TestSizes holds the grammars against those of Pilgrim's Sequitur on the same
// inputs of a million symbols: no more than 3 % larger.
func TestSizes(t *testing.T) {
	pilgrim := map[string]int{
		"Constant": 1, "NestedLoop": 6, "Random16": 370_444, "Stencil": 19, "Fibonacci": 63, "ThueMorse": 112,
	}
	for _, st := range streams {
		want, ok := pilgrim[st.name]
		if !ok {
			continue
		}
		if got := build(st.gen(1_000_000)).Symbols(); got > want+want*3/100 {
			t.Errorf("%s: %d symbols, want at most %d + 3 %%", st.name, got, want)
		}
	}
}

// liveBytes is the memory that b holds.
func (b *Builder) liveBytes() int {
	return 16*cap(b.nodes) + 12*cap(b.rules) + 8*cap(b.table.slots) + 4*cap(b.changed) + 16*cap(b.cursor) +
		16*cap(b.rests) + 16*cap(b.pending) + 8*cap(b.big) + 40*len(b.bigIndex)
}

// TestMemory checks that a Builder holds at most 48 bytes for each symbol of
// its grammar while it grows, and no more in a steady loop however long it is.
func TestMemory(t *testing.T) {
	for _, st := range streams {
		var b Builder
		peak := 0.0
		for i, s := range st.gen(1_000_000) {
			b.Append(s)
			if i%100_000 == 99_999 {
				if n := b.Snapshot().Symbols(); n >= 1000 {
					peak = max(peak, float64(b.liveBytes())/float64(n))
				}
			}
		}
		if peak > 48 {
			t.Errorf("%s: %.1f bytes per symbol of the grammar", st.name, peak)
		}
	}
	var b Builder
	for _, s := range loop(100_000, 1000) {
		b.Append(s)
	}
	before := b.liveBytes()
	for _, s := range loop(1_000_000, 1000) {
		b.Append(s)
	}
	if after := b.liveBytes(); after != before {
		t.Errorf("a steady loop grew from %d to %d bytes", before, after)
	}
}
