package merge

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// TreeOptions configures [Tree]. The zero TreeOptions is the default
// configuration.
type TreeOptions struct {
	// Workers is the number of goroutines. Zero means runtime.GOMAXPROCS(0).
	Workers int

	// Progress, unless it is nil, is called after each leaf with the number of
	// leaves that are done, by one goroutine at a time.
	Progress func(done int)
}

// Tree merges the accumulators that leaf returns for 0 to n−1, on all cores, in
// pairs: leaves in their order, and what has been merged as soon as its
// neighbour is there, so that at most about Workers + log₂ n accumulators are in
// memory. Leaf is called by several goroutines at once; it reads a part file, say,
// or records some ranks. Tree returns the first error, that of a context
// that is done included, after all calls of leaf have returned; it looks at the
// context before each leaf, and before each shape that it merges. Leaves whose
// ranks ascend with their numbers are merged fastest. The result is nil only if
// there is an error.
func Tree(ctx context.Context, n int, leaf func(ctx context.Context, i int) (*Accumulator, error),
	o TreeOptions) (*Accumulator, error) {
	if leaf == nil {
		panic("merge: a tree without leaves")
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t := tree{leaf: leaf, n: n, options: o, cancel: cancel, waiting: make(map[node]*Accumulator)}
	var workers sync.WaitGroup
	for range min(o.Workers, n) {
		workers.Add(1)
		go func() {
			defer workers.Done()
			t.work(ctx)
		}()
	}
	workers.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return t.root(ctx)
}

// A node of a tree covers 2^level leaves from number·2^level on.
type node struct{ level, number int }

type tree struct {
	leaf    func(ctx context.Context, i int) (*Accumulator, error)
	n       int // leaves
	options TreeOptions
	cancel  context.CancelCauseFunc

	mu      sync.Mutex
	next    int // the first leaf that nobody works on
	done    int
	waiting map[node]*Accumulator // for their neighbours
}

// work takes leaves and merges until there are none left.
func (t *tree) work(ctx context.Context) {
	for ctx.Err() == nil {
		t.mu.Lock()
		i := t.next
		t.next++
		t.mu.Unlock()
		if i >= t.n {
			return
		}
		a, err := t.leaf(ctx, i)
		if err == nil && a == nil {
			err = fmt.Errorf("merge: leaf %d returned no accumulator", i)
		}
		if err == nil {
			t.report()
			err = t.put(ctx, node{0, i}, a)
		}
		if err != nil {
			t.cancel(err)
			return
		}
	}
}

func (t *tree) report() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done++; t.options.Progress != nil {
		t.options.Progress(t.done)
	}
}

// put merges a with its neighbours as long as they wait for it, and leaves it to
// wait for the first that is not there yet.
func (t *tree) put(ctx context.Context, at node, a *Accumulator) error {
	for {
		neighbour := node{at.level, at.number ^ 1}
		t.mu.Lock()
		b := t.waiting[neighbour]
		if b == nil {
			t.waiting[at] = a
			t.mu.Unlock()
			return nil
		}
		delete(t.waiting, neighbour)
		t.mu.Unlock()
		if neighbour.number < at.number {
			a, b = b, a
		}
		at = node{at.level + 1, at.number >> 1}
		if err := a.merge(ctx, b); err != nil {
			return fmt.Errorf("%w, in leaves %d to %d", err, at.number<<at.level, min(t.n, (at.number+1)<<at.level)-1)
		}
	}
}

// root merges what waits for a neighbour that does not exist: one node of each
// level at most, of which the higher ones cover lower leaves.
func (t *tree) root(ctx context.Context) (*Accumulator, error) {
	root := new(Accumulator)
	for level := 63; level >= 0; level-- {
		for at, a := range t.waiting {
			if at.level != level {
				continue
			}
			if err := root.merge(ctx, a); err != nil {
				return nil, err
			}
		}
	}
	return root, nil
}

// Ranks whose parts come in no order would each cost time in proportion to the
// ranks of their shape. So those that come after a higher one are kept apart, and
// merged with their like as digits are carried in a binary counter.

// reserve takes note of a rank, and returns an error if a has it already.
func (a *Accumulator) reserve(rank int) error {
	switch {
	case rank > a.ranks.last():
		a.ranks = a.ranks.add(rank, rank)
		return nil
	case a.late == nil:
		a.late = roaring.New()
	}
	if a.ranks.contains(rank) || !a.late.CheckedAdd(uint32(rank)) {
		return fmt.Errorf("merge: two parts of rank %d", rank)
	}
	return nil
}

// addLate adds the shape of a rank that is below others of s.
func (s *shape) addLate(t *shape) {
	for k := len(s.late) - 1; k >= 0 && s.late[k].ranks.len() <= t.ranks.len(); k-- {
		t = s.late[k].merge(t)
		s.late = s.late[:k]
	}
	s.late = append(s.late, t)
}

// settle merges what came late. Every method of Accumulator that looks at ranks
// or columns calls it first, but for Add.
func (a *Accumulator) settle() {
	if a.late == nil {
		return
	}
	var late spans
	for i := a.late.Iterator(); i.HasNext(); {
		rank := int(i.Next())
		late = late.add(rank, rank)
	}
	a.ranks, _ = a.ranks.union(late)
	a.late = nil
	for key, s := range a.shapes {
		if len(s.late) == 0 {
			continue
		}
		late := s.late
		s.late = nil
		for k := len(late) - 1; k > 0; k-- {
			late[k-1] = late[k-1].merge(late[k])
		}
		a.shapes[key] = s.merge(late[0])
	}
}
