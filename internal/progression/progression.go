// Package progression writes sequences of integers as runs: arithmetic progressions, of which the step may
// grow by an acceleration. What advances with the index of a loop is few runs, whatever its length, and what
// advances with several indices is runs that repeat.
//
// All arithmetic is modulo 2⁶⁴, so that every sequence can be written, and is read as it was.
package progression

import "fmt"

// A Run is values one after the other. The first is Jump more than the first of the run before, or Jump itself
// if there is none. The second is Step more than the first, and each further one as much more than the one
// before it as that was, and Acceleration besides.
type Run struct {
	Jump, Step, Acceleration int64
	Length                   uint64 // ≥ 1
}

// Check returns an error if a Writer writes no such run.
func (r Run) Check() error {
	switch {
	case r.Length == 0:
		return fmt.Errorf("a run of no values")
	case r.Length < 2 && r.Step != 0 || r.Length < 3 && r.Acceleration != 0:
		return fmt.Errorf("a run of %d values with step %d and acceleration %d", r.Length, r.Step, r.Acceleration)
	}
	return nil
}

// At returns the i-th value of a run, from 0 on. Before is the first value of the run before.
func (r Run) At(before int64, i uint64) int64 {
	pairs := i / 2 * (i - 1) // i·(i−1)/2, where i is even
	if i%2 == 1 {
		pairs = (i - 1) / 2 * i
	}
	return before + r.Jump + r.Step*int64(i) + r.Acceleration*int64(pairs)
}

// Has reports whether a value is among those of a run, of which the first is given and which do not wrap. It
// takes time in proportion to them if there is an acceleration.
func (r Run) Has(first, v int64) bool {
	switch {
	case r.Acceleration != 0:
		for i := range r.Length {
			if r.At(first-r.Jump, i) == v {
				return true
			}
		}
		return false
	case r.Step == 0:
		return v == first
	}
	i := (v - first) / r.Step
	return i >= 0 && uint64(i) < r.Length && first+i*r.Step == v
}

// A Writer finds runs of values, from the first on, each as long as it can be. The zero Writer is ready for
// use. A copy goes on from where the Writer is.
type Writer struct {
	base  int64 // the first of the run before
	first int64
	step  int64 // from the first to the second
	more  int64 // the acceleration
	value int64 // the last
	next  int64 // step
	n     uint64
}

// Repeat begins with n times a value, in place of n calls of Append. The Writer must be new.
func (w *Writer) Repeat(v int64, n uint64) { w.first, w.value, w.n = v, v, n }

// Append adds a value. It returns the run that ends before it, and whether one does.
func (w *Writer) Append(v int64) (ended Run, ok bool) {
	if w.n >= 2 && v == w.value+w.next {
		w.value, w.next = v, w.next+w.more
		w.n++
		return ended, false
	}
	switch {
	case w.n == 0:
		w.first = v
	case w.n == 1:
		w.step, w.next = v-w.value, v-w.value
	case w.n == 2:
		w.more = v - w.value - w.step
		w.next = w.step + 2*w.more
	case w.n == 3 && w.more != 0: // the third began another run
		ended, ok = Run{w.first - w.base, w.step, 0, 2}, true
		third := w.value
		*w = Writer{base: w.first, first: third, step: v - third, next: v - third, n: 1}
	default:
		ended, ok = w.run(), true
		*w = Writer{base: w.first, first: v}
	}
	w.value = v
	w.n++
	return ended, ok
}

// run returns the run in hand.
func (w *Writer) run() Run { return Run{w.first - w.base, w.step, w.more, w.n} }

// Last returns the last run, and whether there is one: the one in hand, which values that are appended go on.
func (w *Writer) Last() (Run, bool) { return w.run(), w.n > 0 }

// Value returns the last value that was appended.
func (w *Writer) Value() int64 { return w.value }
