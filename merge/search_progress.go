package merge

import (
	"fmt"
	"time"
)

// OnProgress has [Accumulator.Write] and [Accumulator.WriteBounded] call f with the step that they are at, and
// how long all that is left may take at most: what is left of their budget of work, which is counted in
// microseconds of a processor of 2022, not by the clock. Left is negative where nothing bounds it, as where
// traces are tried until one fits a size. They call f at each step, and whenever they take work from the
// budget, in their own goroutine.
func (a *Accumulator) OnProgress(f func(step string, left time.Duration)) { a.progress = f }

// The steps of writing a trace, in their order: arguments that vary are looked for in a sample, grammars are
// written as a forest, and then in blocks where that may be smaller; at last come times and names.
const (
	inSample = iota + 1
	inForest
	inBlocks
	atTimes
	stepsOfWriting = atTimes
)

var stepNames = [...]string{inSample: "varying arguments", inForest: "order of calls",
	inBlocks: "order of calls in blocks",
	atTimes:  "times and names"}

// at takes note that the search is at a step, or at a later one.
func (s *search) at(step int) {
	if s.ahead {
		return
	}
	s.step = max(s.step, step)
	s.a.tell(s.step, max(s.budget, 0)+s.times)
}

// tell tells of a step, and how many microseconds are left.
func (a *Accumulator) tell(step int, left int64) {
	if a.progress != nil {
		a.progress(fmt.Sprintf("step %d of %d, %s", step, stepsOfWriting, stepNames[step]),
			time.Duration(left)*time.Microsecond)
	}
}
