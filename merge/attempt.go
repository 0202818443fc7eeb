package merge

import (
	"context"
	"math"
	"sync"
)

// An attempt is a trial that a search makes in another goroutine, ahead of what comes before it. Its result holds if the
// budget that is left then would give the same.
type attempt struct {
	of     search
	began  int64 // budget
	do     func(*search) inBlocksTrial
	cancel context.CancelFunc
	wait   sync.WaitGroup
	trial  inBlocksTrial
}

// begin begins an attempt, which must be ended.
func (s *search) begin(do func(*search) inBlocksTrial) *attempt {
	a := &attempt{of: *s, do: do}
	a.of.ctx, a.cancel = context.WithCancel(s.ctx)
	a.of.ahead, a.of.slack = true, math.MaxInt64
	a.began = s.budget
	a.wait.Go(func() { a.trial = do(&a.of) })
	return a
}

// end ends an attempt, whose result need not be known.
func (a *attempt) end() {
	a.cancel()
	a.wait.Wait()
}

// result returns what s finds now.
func (a *attempt) result(s *search) inBlocksTrial {
	a.wait.Wait()
	if s.ctx.Err() == nil && a.began-s.budget > a.of.slack {
		return a.do(s)
	}
	s.spend(a.began - a.of.budget)
	return a.trial
}
