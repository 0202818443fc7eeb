package cst

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"iter"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
)

// A Table numbers signatures in the order of their first use and counts their
// calls. The zero Table is empty and ready for use.
//
// One goroutine at a time may change a Table. While nobody changes it, several
// may read it.
type Table struct {
	functions []Function
	declared  *functionIndex // of functions; nil until Declare needs it

	// The signature of terminal i is arena[entries[i].start:], up to the start
	// of the next one or the end of arena. The bytes between the length and the
	// capacity of arena are scratch space for the signature being looked up.
	arena   []byte
	entries []entry

	// slots is a hash table with open addressing and linear probing. Its length
	// is zero or a power of two, and at most three of four slots are taken.
	slots []slot

	guesses *guesses // nil as long as no signature has come again
}

type entry struct {
	start uint64
	count uint64
}

type slot struct {
	hash uint32
	next uint32 // terminal + 1, or zero if the slot is free
}

const (
	minSlots = 16
	maxLen   = math.MaxUint32 // signatures in a table
)

// seed differs from one process to the next, as it does for Go's maps, so that
// nobody can prepare signatures that collide. It decides where a signature is
// looked for and never what it is numbered, so no output depends on it.
var seed = maphash.MakeSeed()

func hash(signature []byte) uint32 { return uint32(maphash.Bytes(seed, signature)) }

// Declare returns the number of f, which equal functions share. Functions are
// numbered 0, 1, 2, … as they are first declared. Declare copies f. It panics if
// f is not valid; see [Function.Validate].
func (t *Table) Declare(f Function) int {
	if err := f.Validate(); err != nil {
		panic(err.Error())
	}
	if t.declared == nil {
		t.declared = new(functionIndex)
		for i := range t.functions {
			t.declared.number(&t.functions[i])
		}
	}
	fn, known := t.declared.number(&f)
	if !known {
		f.Params = slices.Clone(f.Params)
		for i := range f.Params {
			f.Params[i].Type = f.Params[i].Type.clone()
		}
		t.functions = append(t.functions, f)
	}
	return fn
}

// Functions returns the functions of t, the position being the number. The
// result and what it refers to must not be changed.
func (t *Table) Functions() []Function { return slices.Clip(t.functions) }

// Intern counts a call of function fn and returns the terminal of its
// signature: 0 for the first signature of the table, and one more for each new
// one. It takes time in proportion to the size of the arguments, whatever the
// size of the table, and allocates only for a new signature; it does not keep
// args. It panics if fn is not a number Declare returned or if args are not
// arguments of that function in number and kind.
func (t *Table) Intern(fn int, args ...Value) uint32 { return t.InternRun(fn, 1, args...) }

// InternRun is Intern for n equal calls. If n is zero, the signature gets a
// terminal all the same. Counts stop at the largest uint64.
func (t *Table) InternRun(fn int, n uint64, args ...Value) uint32 {
	terminal, err := t.tryIntern(fn, n, args)
	if err != nil {
		panic(err.Error())
	}
	return terminal
}

// TryIntern is Intern for arguments that nobody vouches for: where Intern panics, it
// returns an error and changes nothing.
func (t *Table) TryIntern(fn int, args ...Value) (terminal uint32, err error) {
	return t.tryIntern(fn, 1, args)
}

func (t *Table) tryIntern(fn int, n uint64, args []Value) (uint32, error) {
	if uint(fn) >= uint(len(t.functions)) {
		return 0, fmt.Errorf("cst: function %d of %d", fn, len(t.functions))
	}
	g := t.guesses.next()
	if g.is(fn, args) {
		t.guesses.right(g.terminal)
		e := &t.entries[g.terminal]
		e.count = wire.AddSat(e.count, n)
		return g.terminal, nil
	}
	start := len(t.arena)
	arena, err := appendSignature(t.arena, fn, &t.functions[fn], args)
	t.arena = arena[:start]
	if err != nil {
		return 0, err
	}
	terminal, known := t.intern(arena[start:], n)
	if known {
		if t.guesses == nil {
			t.guesses = new(guesses)
		}
		t.guesses.learn(g, len(t.entries), fn, args, terminal)
	} else if t.guesses != nil {
		t.guesses.last = terminal
	}
	return terminal, nil
}

// intern returns the terminal of an encoded signature, counts n calls of it and
// reports whether it was in t before. It copies signature if it is new.
func (t *Table) intern(signature []byte, n uint64) (terminal uint32, known bool) {
	if len(t.entries)*4 >= len(t.slots)*3 {
		t.grow()
	}
	h := hash(signature)
	for i := int(h); ; i++ {
		s := &t.slots[i&(len(t.slots)-1)]
		if s.next == 0 {
			*s = slot{hash: h, next: t.add(signature, n)}
			return s.next - 1, false
		}
		if s.hash != h {
			continue
		}
		// A prefix is enough: no signature is a proper prefix of another.
		if e := &t.entries[s.next-1]; bytes.HasPrefix(t.arena[e.start:], signature) {
			e.count = wire.AddSat(e.count, n)
			return s.next - 1, true
		}
	}
}

// add appends a signature and returns the new length of t.
func (t *Table) add(signature []byte, n uint64) uint32 {
	if uint64(len(t.entries)) == maxLen {
		panic("cst: no terminal left for a new signature")
	}
	t.entries = append(t.entries, entry{start: uint64(len(t.arena)), count: n})
	t.arena = append(t.arena, signature...)
	return uint32(len(t.entries))
}

// grow doubles the number of slots.
func (t *Table) grow() {
	old := t.slots
	t.slots = make([]slot, max(minSlots, 2*len(old)))
	for _, s := range old {
		if s.next == 0 {
			continue
		}
		i := int(s.hash)
		for t.slots[i&(len(t.slots)-1)].next != 0 {
			i++
		}
		t.slots[i&(len(t.slots)-1)] = s
	}
}

// Size returns how many bytes the signatures take in memory, without what finds them.
func (t *Table) Size() int { return len(t.arena) }

// Len returns the number of signatures in t. Their terminals are the numbers
// below it.
func (t *Table) Len() int { return len(t.entries) }

// Count returns the number of calls of a terminal.
func (t *Table) Count(terminal uint32) uint64 {
	t.check(terminal)
	return t.entries[terminal].count
}

// check panics if there is no such terminal.
func (t *Table) check(terminal uint32) {
	if int64(terminal) >= int64(len(t.entries)) {
		panic(fmt.Sprintf("cst: terminal %d of %d", terminal, len(t.entries)))
	}
}

// encoded returns the encoded signature of a terminal. The result must not be
// changed, and stays valid whatever is added to t.
func (t *Table) encoded(terminal uint32) []byte {
	start, end := t.entries[terminal].start, uint64(len(t.arena))
	if int(terminal)+1 < len(t.entries) {
		end = t.entries[terminal+1].start
	}
	return t.arena[start:end:end]
}

// Signature returns the function number and the arguments of a terminal. It
// decodes them anew each time, into at most 32 bytes of memory for each byte of
// its encoding. It panics if there is no such terminal, as Count does.
func (t *Table) Signature(terminal uint32) (fn int, args []Value) {
	return t.AppendSignature(nil, terminal)
}

// AppendSignature is Signature with the arguments appended to dst.
func (t *Table) AppendSignature(dst []Value, terminal uint32) (fn int, args []Value) {
	t.check(terminal)
	d := wire.NewDecoder(packageName, t.encoded(terminal))
	fn = int(d.Uvarint("function"))
	params := t.functions[fn].Params
	dst = slices.Grow(dst, len(params))
	for i := range params {
		dst = append(dst, decodeValue(&d, &params[i].Type))
	}
	if d.Err() != nil {
		panic("cst: table was changed from outside: " + d.Err().Error())
	}
	return fn, dst
}

// All returns an iterator over the function numbers and arguments of all
// signatures, from terminal 0 on. The arguments are valid until the next step,
// their elements for good. It decodes lazily and holds one signature at a time.
func (t *Table) All() iter.Seq2[int, []Value] {
	return func(yield func(int, []Value) bool) {
		var args []Value
		for terminal := range t.entries {
			var fn int
			if fn, args = t.AppendSignature(args[:0], uint32(terminal)); !yield(fn, args) {
				return
			}
		}
	}
}

// Merge returns a table with the functions and signatures of a and b, each once,
// and the sums of their counts. Terminals and functions are numbered in a's
// order, followed by what only b has in b's order. Terminal i of a is terminal
// fromA[i] of merged, and of b, fromB[i]; fromA is the identity, so that callers
// can treat both alike. Merge changes neither a nor b. It panics if one of them is nil.
func Merge(a, b *Table) (merged *Table, fromA, fromB []uint32) {
	if a == nil || b == nil {
		panic("cst: merging no table")
	}
	merged = &Table{
		functions: slices.Clip(a.functions),
		arena:     slices.Clone(a.arena),
		entries:   slices.Clone(a.entries),
		slots:     slices.Clone(a.slots),
	}
	fromA = make([]uint32, len(a.entries))
	for i := range fromA {
		fromA[i] = uint32(i)
	}
	functions := merged.declareAll(b.functions)
	fromB = make([]uint32, len(b.entries))
	var signature []byte
	for i, e := range b.entries {
		// The function number is all that differs between the two tables.
		encoded := b.encoded(uint32(i))
		d := wire.NewDecoder(packageName, encoded)
		fn := d.Uvarint("function")
		signature = wire.AppendUvarint(signature[:0], uint64(functions[fn]))
		signature = append(signature, encoded[d.Offset():]...)
		fromB[i], _ = merged.intern(signature, e.count)
	}
	return merged, fromA, fromB
}

// declareAll declares functions and returns their numbers.
func (t *Table) declareAll(functions []Function) []int {
	numbers := make([]int, len(functions))
	for i, f := range functions {
		if i < len(t.functions) && f.Equal(t.functions[i]) {
			numbers[i] = i // saves the index where all ranks have one list
			continue
		}
		numbers[i] = t.Declare(f)
	}
	return numbers
}
