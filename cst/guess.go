package cst

import "math/bits"

// A guess is which call follows one with a certain terminal: the one that did so last. Loops make most guesses
// right, and then no signature has to be encoded and looked for.
type guess struct {
	function int
	terminal uint32
	args     []words // none if one of them refers to memory
}

// Words are those of a Value that refers to nothing, apart so that what other Values refer to stays where it is.
type words struct {
	kind Kind
	c    int32
	a, b int64
}

// Guesses are those of a table.
type guesses struct {
	list    []guess // by terminals: what follows
	last    uint32  // the latest terminal
	luck    int     // by how much more often they were right than wrong lately
	skipped uint    // calls that were not guessed
}

// maxGuesses is how many calls are guessed after: those whose terminals differ in their lowest bits.
const maxGuesses = 1 << 10

// Where guesses are wrong more often than right, as in loops of more calls than there are guesses, only few calls
// are guessed, one of so many.
const fewGuessed = 16

// next returns the guess of the next call, nil if there is none.
func (s *guesses) next() *guess {
	if s == nil || len(s.list) == 0 {
		return nil
	}
	if s.luck < 0 {
		if s.skipped++; s.skipped%fewGuessed != 0 {
			return nil
		}
	}
	return &s.list[int(s.last)&(len(s.list)-1)]
}

// right takes note of a call that was guessed.
func (s *guesses) right(terminal uint32) {
	s.luck = min(max(s.luck, 0)+1, fewGuessed)
	s.last = terminal
}

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

// learn takes note of the terminal of the next call, in a table of n signatures, in place of a guess that was wrong
// or not made.
func (s *guesses) learn(g *guess, n, fn int, args []Value, terminal uint32) {
	s.luck = max(s.luck-1, -1)
	if n = min(n, maxGuesses); n > len(s.list) {
		s.list = make([]guess, 1<<bits.Len(uint(n-1)))
		g = &s.list[int(s.last)&(len(s.list)-1)]
	}
	s.last = terminal
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
