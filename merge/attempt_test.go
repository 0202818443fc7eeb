package merge

import (
	"context"
	"testing"

	"pgregory.net/rapid"
)

// TestAttempt checks that the result of an attempt holds only while as much of the budget is left as it needed, and
// that what it spends counts then.
func TestAttempt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.Int64Range(1, 100).Draw(t, "budget")
		before, work := rapid.Int64Range(0, 120).Draw(t, "before"), rapid.Int64Range(0, 60).Draw(t, "work")
		do := func(s *search) inBlocksTrial {
			slack := s.budget - work
			if s.slack = min(s.slack, slack); slack < 0 {
				return inBlocksTrial{size: -1}
			}
			s.spend(work)
			return inBlocksTrial{size: int(work)}
		}
		one := &search{a: new(Accumulator), ctx: context.Background(), budget: budget}
		a := one.begin(do)
		defer a.end()
		one.spend(before)
		got := a.result(one)
		other := &search{a: new(Accumulator), ctx: context.Background(), budget: budget}
		other.spend(before)
		if want := do(other); got.size != want.size || one.budget != other.budget {
			t.Fatalf("size %d, budget %d, want %d and %d", got.size, one.budget, want.size, other.budget)
		}
	})
}
