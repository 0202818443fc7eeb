package sequitur

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/klauspost/compress/zstd"

	"github.com/reprise-trace/reprise/internal/test/streams"
)

// A trace is the calls of every rank of a real run, numbered by first use.
type trace struct {
	name   string
	ranks  [][]Symbol
	events int
}

// readTraces reads the SimGrid traces that lie beside the project, or those in it.
func readTraces(t testing.TB) []trace {
	paths, _ := filepath.Glob("../../shared/traces/ti/*.ti.zst")
	if len(paths) == 0 { // the project has some itself
		paths, _ = filepath.Glob("../bench/testdata/ti/*.ti.zst")
	}
	if len(paths) == 0 {
		t.Fatal("no traces in bench/testdata/ti")
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
	for _, tr := range tier.Some(readTraces(t), 3) {
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
	for _, st := range streams.All {
		want, ok := pilgrim[st.Name]
		if !ok {
			continue
		}
		if got := build(st.Gen(1_000_000)).Symbols(); got > want+want*3/100 {
			t.Errorf("%s: %d symbols, want at most %d + 3 %%", st.Name, got, want)
		}
	}
}

func (f *flat) bytes() int {
	if f == nil {
		return 0
	}
	return 8*cap(f.runs) + 32
}

// liveBytes is the memory that b holds.
func (b *Builder) liveBytes() int {
	return 16*cap(b.nodes) + 12*cap(b.rules) + 8*cap(b.table.slots) + 4*cap(b.changed) + 16*cap(b.cursor) +
		b.flat.bytes() +
		16*cap(b.rests) + 16*cap(b.pending) + 8*cap(b.big) + 40*len(b.bigIndex)
}

// suffixes lists the suffixes of 0 … m−1, the shortest first. Its grammar
// shrinks while it is built.
func suffixes(m int) []Symbol {
	var in []Symbol
	for k := range m {
		for s := m - 1 - k; s < m; s++ {
			in = append(in, Symbol(s))
		}
	}
	return in
}

// TestMemory checks that a Builder holds at most 48 bytes for each symbol of
// its grammar, while it grows and when it has shrunk, and no more in a steady
// loop however long it is.
func TestMemory(t *testing.T) {
	tier.Long(t, "measures memory")
	inputs := map[string][]Symbol{"Suffixes": suffixes(1500)}
	for _, st := range streams.All {
		inputs[st.Name] = st.Gen(1_000_000)
	}
	for name, in := range inputs {
		var b Builder
		peak := 0.0
		for i, s := range in {
			b.Append(s)
			if i%(len(in)/12) == 0 || i == len(in)-1 {
				if n := b.Snapshot().Symbols(); n >= 1000 {
					peak = max(peak, float64(b.liveBytes())/float64(n))
				}
			}
		}
		if peak > 48 {
			t.Errorf("%s: %.1f bytes per symbol of the grammar", name, peak)
		}
	}
	var b Builder
	for _, s := range streams.Loop(100_000, 1000) {
		b.Append(s)
	}
	before := b.liveBytes()
	for _, s := range streams.Loop(1_000_000, 1000) {
		b.Append(s)
	}
	if after := b.liveBytes(); after != before {
		t.Errorf("a steady loop grew from %d to %d bytes", before, after)
	}
}
