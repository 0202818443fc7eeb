// Package parallel does the same for many numbers, several at once.
package parallel

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Each calls do for the numbers below n, by some goroutines, of which 0 means runtime.GOMAXPROCS(0), and returns
// the first error by number, or the cause of the context when that is done. After an error, do is called for lower
// numbers only.
func Each(ctx context.Context, workers, n int, do func(i int) error) error {
	var (
		next   atomic.Int64
		wait   sync.WaitGroup
		failed failures
	)
	for range min(cmp.Or(max(workers, 0), runtime.GOMAXPROCS(0)), n) {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || ctx.Err() != nil || failed.before(i) {
					return
				}
				if err := do(i); err != nil {
					failed.add(i, err)
				}
			}
		})
	}
	wait.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return failed.first()
}

// failures are errors by number.
type failures struct {
	mu   sync.Mutex
	list []failure
}

type failure struct {
	number int
	err    error
}

func (f *failures) add(number int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, failure{number, err})
}

// before reports whether there is one of a lower number.
func (f *failures) before(number int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.list, func(x failure) bool { return x.number < number })
}

// first returns the error of the lowest number, nil if there is none.
func (f *failures) first() error {
	if len(f.list) == 0 {
		return nil
	}
	return slices.MinFunc(f.list, func(a, b failure) int { return a.number - b.number }).err
}
