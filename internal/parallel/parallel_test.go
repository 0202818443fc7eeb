package parallel_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/reprise-trace/reprise/internal/parallel"
)

// TestEach does something for a thousand numbers, once each, by some goroutines or as many as there are
// processors, and gets the error of the lowest number that fails.
func TestEach(t *testing.T) {
	for _, workers := range []int{-1, 0, 1, 3, 5000} {
		done := make([]atomic.Int32, 1000)
		if err := parallel.Each(t.Context(), workers, len(done), func(i int) error {
			done[i].Add(1)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for i := range done {
			if n := done[i].Load(); n != 1 {
				t.Errorf("%d workers: %d is done %d times", workers, i, n)
			}
		}
		err := parallel.Each(t.Context(), workers, len(done), func(i int) error {
			if i >= 300 && i%7 == 0 {
				return fmt.Errorf("number %d", i)
			}
			return nil
		})
		if err == nil || err.Error() != "number 301" {
			t.Errorf("%d workers: %v", workers, err)
		}
	}
}

// TestEachStops stops after some numbers: the cause of the context is the error.
func TestEachStops(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	n := atomic.Int32{}
	err := parallel.Each(ctx, 2, 1000, func(int) error {
		if n.Add(1) == 10 {
			stop(enough)
		}
		return nil
	})
	if !errors.Is(err, enough) || n.Load() > 12 {
		t.Errorf("%v after %d", err, n.Load())
	}
}
