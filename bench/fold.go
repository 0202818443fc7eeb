package bench

import (
	"bytes"
	"context"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/programs"
	"github.com/reprise-trace/reprise/merge"
)

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

// foldParts merges the parts of a run one after the other.
func foldParts(run merge.Run, parts []merge.Part) (folded, error) {
	var (
		f folded
		a merge.Accumulator
	)
	begin := time.Now()
	for _, p := range parts {
		f.calls += p.Grammar.Len()
		if err := a.Add(p); err != nil {
			return f, err
		}
	}
	err := f.write(&a, run)
	f.took = time.Since(begin)
	return f, err
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
	trace, err := reprise.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
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
