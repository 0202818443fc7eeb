package merge_test

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/tier"
	. "github.com/reprise-trace/reprise/merge"
)

// accumulated returns the accumulator of parts, in their order.
func accumulated(t testing.TB, parts []Part) *Accumulator {
	a := new(Accumulator)
	for _, p := range parts {
		if err := a.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// TestIrregularOrder merges the parts of a sort, in which ranks exchange other numbers each, in several
// orders and through part files, and compares the bytes and the calls.
func TestIrregularOrder(t *testing.T) {
	tier.SlowRace(t)
	parts := programs.IntegerSort(64, 1000, 10, 1).Parts()
	want := traceFile(t, accumulated(t, parts))
	checkCalls(t, open(t, want), parts)

	down := slices.Clone(parts)
	slices.Reverse(down)
	var mixed []Part
	for i := range parts {
		mixed = append(mixed, parts[i*27%len(parts)])
	}
	for _, order := range tier.Some([][]Part{mixed, down}, 2) {
		if got := traceFile(t, accumulated(t, order)); !bytes.Equal(got, want) {
			t.Errorf("%d bytes, %d in ascending order", len(got), len(want))
		}
		for _, file := range []bool{false, true} {
			const atOnce = 8
			a, err := Tree(context.Background(), len(order)/atOnce,
				func(_ context.Context, i int) (*Accumulator, error) {
					a := accumulated(t, order[i*atOnce:(i+1)*atOnce])
					if file && i%2 == 0 {
						a = throughFile(t, a)
					}
					return a, nil
				}, TreeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := traceFile(t, a); !bytes.Equal(got, want) {
				t.Errorf("%d bytes of a tree, with part files %v, %d in ascending order", len(got), file, len(want))
			}
		}
	}
}

// TestIrregularMemory checks how much memory the parts of a sort take in an accumulator.
func TestIrregularMemory(t *testing.T) {
	tier.SlowRace(t)
	const ranks, iterations, bytesOfValue = 512, 10, 4
	p := programs.IntegerSort(ranks, 1000, iterations, 1)
	before := inUse()
	a := new(Accumulator)
	for rank := range ranks {
		if err := a.Add(p.Part(rank)); err != nil {
			t.Fatal(err)
		}
	}
	n := inUse() - before
	if values := int64(ranks * ranks * 2 * iterations); n > bytesOfValue*values {
		t.Errorf("%d bytes for %d values, more than %d each", n, values, bytesOfValue)
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(p)
}

// TestDifferingMemory checks how much memory ranks take of which each is a shape of its own.
func TestDifferingMemory(t *testing.T) {
	const q, bytesOfRank = 24, 5000
	p := programs.Multipartition(q, 20)
	before := inUse()
	a := new(Accumulator)
	for rank := range p.Ranks {
		if err := a.Add(p.Part(rank)); err != nil {
			t.Fatal(err)
		}
	}
	if n := (inUse() - before) / q / q; a.Shapes() < q*q-q || n > bytesOfRank {
		t.Errorf("%d bytes for each rank, more than %d, in %d shapes", n, bytesOfRank, a.Shapes())
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(p)
}

// inUse returns how many bytes are in use.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
