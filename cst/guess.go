package cst

import "math/bits"

// A guess is which call follows one with a certain terminal: the one that did so last. Loops make most guesses
// right, and then no signature has to be encoded and looked for.
type guess struct {
	function int
	terminal uint32
	args     []words // nil for those that refer to memory
}

// Words are those of a Value that refers to nothing, apart so that what other Values refer to stays where it is.
type words struct {
	kind Kind
	c    int32
	a, b int64
}

// maxGuesses is how many calls are guessed after: those whose terminals differ in their lowest bits.
const maxGuesses = 1 << 10

// Where guesses are wrong more often than right, as in loops of more calls than there are guesses, only few calls
// are guessed, one of so many.
const fewGuessed = 16

// guessed returns the guess of the next call, nil if there is none.
func (t *Table) guessed() *guess {
	if t.luck < 0 {
		if t.skipped++; t.skipped%fewGuessed != 0 {
			return nil
		}
	}
	if len(t.guesses) == 0 {
		return nil
	}
	return &t.guesses[int(t.last)&(len(t.guesses)-1)]
}

// right counts a guess that was right, and wrong one that was not or was not made.
func (t *Table) right() { t.luck = min(max(t.luck, 0)+1, fewGuessed) }
func (t *Table) wrong() { t.luck = max(t.luck-1, -1) }

// is reports whether a call is as guessed.
func (g *guess) is(fn int, args []Value) bool {
	if g == nil || g.function != fn || len(g.args) != len(args) || len(args) == 0 {
		return false
	}
	for i := range args {
		if v := &args[i]; v.ref != nil || g.args[i] != (words{v.head.kind, v.head.c, v.a, v.b}) {
			return false
		}
	}
	return true
}

// learn takes note of the terminal of the next call, which was there before, in place of a guess that was wrong.
func (t *Table) learn(g *guess, fn int, args []Value, terminal uint32) {
	t.wrong()
	if n := min(len(t.entries), maxGuesses); n > len(t.guesses) {
		t.guesses = make([]guess, 1<<bits.Len(uint(n-1)))
		g = &t.guesses[int(t.last)&(len(t.guesses)-1)]
	}
	if g == nil {
		return
	}
	g.function, g.terminal, g.args = fn, terminal, g.args[:0]
	for i := range args {
		v := &args[i]
		if v.ref != nil {
			g.args = g.args[:0]
			return
		}
		g.args = append(g.args, words{v.head.kind, v.head.c, v.a, v.b})
	}
}
