package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/merge"
)

// stencils are the programs whose traces must not grow with the number of ranks
// or iterations, and whose parts must not cost more the more there are.
func stencils() []programs.Program {
	var list []programs.Program
	for _, iterations := range []uint64{10, 1e9} {
		for _, side := range []int{3, 10, 32, 128, 1024} {
			list = append(list, programs.Stencil2D(side, side, iterations))
		}
		for _, side := range []int{3, 10, 32} {
			list = append(list, programs.Stencil3D(side, side, side, iterations))
		}
	}
	list = append(list, programs.Stencil3D(128, 128, 64, 1e9))
	for _, side := range []int{3, 4, 5, 10, 20} {
		list = append(list, programs.Halo26(side, 1000))
	}
	return list
}

// reportScale reports the size of the traces of stencils over the number of ranks and
// of iterations, and the time and memory that merging them takes.
func reportScale(w io.Writer) error {
	heads(w, "program", "ranks", "calls", "file B", "shapes, not factored", "in the file", "merging, ns/part",
		"peak MiB")
	for _, p := range stencils() {
		var (
			f   folded
			err error
		)
		most := peak(func() { f, err = fold(p) })
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		fmt.Fprintf(w, "| %s | %d | %d | %d | %d | %d | %.0f | %.1f |\n", p.Name, p.Ranks, f.calls, f.size,
			f.kinds, f.shapes,
			float64(f.took.Nanoseconds())/float64(p.Ranks), float64(most)/(1<<20))
	}
	return nil
}

// gatherRanks are the numbers of ranks of the programs that gather.
var gatherRanks = []int{128, 256, 512, 1024, 2048, 4096, 8192, 16_384}

// trees are the trees on which they do.
var trees = []programs.Tree{programs.Binomial, programs.Halving, programs.Heap}

// reportGather reports the size of traces of programs in which all ranks send to rank 0
// and gather on a tree.
func reportGather(w io.Writer) error {
	fmt.Fprintf(w, "| ranks ")
	for _, t := range trees {
		fmt.Fprintf(w, "| %v, file B | shapes ", t)
	}
	fmt.Fprintf(w, "|\n|---|---|---|---|---|---|---|\n")
	for _, ranks := range gatherRanks {
		fmt.Fprintf(w, "| %d ", ranks)
		for _, t := range trees {
			f, err := fold(programs.Gather(t, ranks, 1000))
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "| %d | %d ", f.size, f.shapes)
		}
		fmt.Fprintln(w, "|")
	}
	return nil
}

// irregular are programs that draw something at random, or differ from rank to rank, so that
// their traces grow.
func irregular() []programs.Program {
	list := []programs.Program{programs.PermutationSend(65_536, 1000, 1), programs.Permutation(65_536, 1000, 1)}
	for _, ranks := range []int{16, 64, 256} {
		list = append(list, programs.RandomPartners(ranks, 100, 1))
	}
	for _, ranks := range []int{16, 64, 256} {
		list = append(list, programs.RandomCounts(ranks, 100, 1))
	}
	list = append(list, programs.RandomCounts(64, 1000, 1))
	for _, ranks := range []int{16, 64, 256} {
		list = append(list, programs.RandomAlltoallv(ranks, 10, 1))
	}
	for _, ranks := range []int{16, 64, 256} {
		list = append(list, programs.IntegerSort(ranks, 1000, 10, 1))
	}
	for _, ranks := range []int{16, 64, 256} {
		list = append(list, programs.Refinement(ranks, 20, 50, 1))
	}
	list = append(list, programs.Refinement(64, 200, 50, 1))
	for _, ranks := range []int{16, 1024} {
		list = append(list, programs.RandomTrips(ranks, 1))
	}
	for _, ranks := range []int{16, 1024} {
		list = append(list, programs.TripCounts(ranks, 50))
	}
	for _, exchanges := range []int{100, 1000} {
		list = append(list, programs.Polling(8, exchanges, 1))
	}
	return list
}

// reportGrowth reports the size of traces of programs that draw something at random,
// against the information in that.
func reportGrowth(w io.Writer) error {
	heads(w, "program", "ranks", "calls", "random B", "file B", "file / random", "shapes")
	for _, p := range irregular() {
		f, err := fold(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		random, times := p.Entropy/8, "–"
		if random > 0 {
			times = fmt.Sprintf("%.2f", float64(f.size)/random)
		}
		fmt.Fprintf(w, "| %s | %d | %d | %.0f | %d | %s | %d |\n", p.Name, p.Ranks, f.calls, random, f.size,
			times, f.shapes)
	}
	return nil
}

// A folded is what became of the parts of a run.
type folded struct {
	size   int    // of the trace file, in bytes
	kinds  int    // of ranks: those of different control flow
	shapes int    // in the file, after factoring
	calls  uint64 // of all ranks
	took   time.Duration
}

// fold makes the parts of a program, merges them as they come, on all cores, and
// writes and opens the trace.
func fold(p programs.Program) (folded, error) {
	var f folded
	var calls atomic.Uint64
	begin := time.Now()
	ranks := min(4096, max(64, p.Ranks/16)) // of a leaf
	leaf := func(_ context.Context, i int) (*merge.Accumulator, error) {
		a := new(merge.Accumulator)
		for rank := i * ranks; rank < min((i+1)*ranks, p.Ranks); rank++ {
			part := p.Part(rank)
			calls.Add(part.Grammar.Len())
			if err := a.Add(part); err != nil {
				return nil, err
			}
		}
		return a, nil
	}
	a, err := merge.Tree(context.Background(), (p.Ranks+ranks-1)/ranks, leaf, merge.TreeOptions{})
	if err != nil {
		return f, err
	}
	if err := f.write(a, p.Run()); err != nil {
		return f, err
	}
	f.took = time.Since(begin)
	f.calls = calls.Load()
	return f, nil
}

func (f *folded) write(a *merge.Accumulator, run merge.Run) error {
	if err := a.Describe(run); err != nil {
		return err
	}
	f.kinds = a.Shapes()
	var file bytes.Buffer
	if err := a.Write(&file); err != nil {
		return err
	}
	f.size = file.Len()
	trace, err := open(file.Bytes())
	if err != nil {
		return err
	}
	f.shapes = trace.Shapes()
	return nil
}

// peak returns the largest amount of memory that the program holds while f runs,
// in bytes, looked at every few milliseconds.
func peak(f func()) uint64 {
	debug.FreeOSMemory()
	done, most := make(chan struct{}), make(chan uint64)
	go func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		var top uint64
		for {
			top = max(top, held())
			select {
			case <-tick.C:
			case <-done:
				most <- top
				return
			}
		}
	}()
	f()
	close(done)
	return <-most
}

// held returns the memory that the program holds, in bytes.
func held() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}
