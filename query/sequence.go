package query

import (
	"hash/fnv"
	"math/bits"
	"slices"
	"sort"
	"strings"

	"github.com/reprise-trace/reprise/semantics"
	"github.com/reprise-trace/reprise/sequitur"
)

// A digest stands for a sequence of collective operations: two with equal digests are
// equal, but by a chance of about one in 2⁶¹. Digests of parts make that of the whole.
type digest struct {
	count uint64
	power uint64 // base to the count
	hash  uint64 // the operations as digits to the base
}

// prime is what digests are computed modulo.
const prime = 1<<61 - 1

// base is a number without meaning.
const base = 0x12e1f3a5c7b94d86

var empty = digest{power: 1}

// operationDigest returns the digest of one operation.
func operationDigest(code uint64) digest { return digest{1, base, code % prime} }

func multiply(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	sum := low&prime + (low>>61 | high<<3)
	if sum >= prime {
		sum -= prime
	}
	if sum >= prime {
		sum -= prime
	}
	return sum
}

// then returns the digest of a and then b.
func (a digest) then(b digest) digest {
	return digest{a.count + b.count, multiply(a.power, b.power), (multiply(a.hash, b.power) + b.hash) % prime}
}

// times returns the digest of a, n times.
func (a digest) times(n uint64) digest {
	result := empty
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			result = result.then(a)
		}
		a = a.then(a)
	}
	return result
}

// A sequence is the collective operations of a rank on a communicator.
type sequence interface {
	// all returns the digest of the whole.
	all() digest

	// upTo returns the digest of the first n operations, n ≤ all().count.
	upTo(n uint64) digest

	// at returns where the n-th is called, n < all().count, from 0 on: the position of the
	// call, and which of its operations it is.
	at(n uint64) (position uint64, nth int)
}

// operationsOn returns the collective operations that a call begins on a communicator, or on
// any that is known if that is nil.
func operationsOn(o *semantics.Operation, c *semantics.Communicator) []*semantics.Operation {
	if o == nil {
		return nil
	}
	var list []*semantics.Operation
	add := func(o *semantics.Operation) {
		if o.IsCollective() && o.Communicator != nil && (c == nil || o.Communicator == c) {
			list = append(list, o)
		}
	}
	add(o)
	for _, p := range o.More {
		add(p)
	}
	return list
}

// collectiveName returns what must be equal for all members: the function, whatever type
// its counts have.
func collectiveName(function string) string {
	if strings.HasPrefix(function, "MPI") {
		return strings.TrimSuffix(function, "_c")
	}
	return function
}

// codeOf returns a number for a collective operation, equal for all members.
func codeOf(function string, o *semantics.Operation) uint64 {
	h := fnv.New64a()
	h.Write([]byte(collectiveName(function)))
	root := o.Root
	if o.Communicator != nil && o.Communicator.Remote() != nil {
		root = -1 // the members of the root's group do not say who it is
	}
	h.Write([]byte{0, byte(root), byte(root >> 8), byte(root >> 16), byte(root >> 24)})
	return h.Sum64()
}

// callDigests returns the digests of the operations that a call begins on a communicator.
func callDigests(r *semantics.Rank, terminal uint32, o *semantics.Operation, c *semantics.Communicator) []digest {
	var list []digest
	for _, p := range operationsOn(o, c) {
		list = append(list, operationDigest(codeOf(functionOf(r, terminal), p)))
	}
	return list
}

// joined returns the digest of several operations.
func joined(list []digest) digest {
	d := empty
	for _, one := range list {
		d = d.then(one)
	}
	return d
}

func functionOf(r *semantics.Rank, terminal uint32) string { return r.Call(terminal).Function.Name }

// A ruled sequence is one whose operations depend on the terminals of calls alone.
type ruled struct {
	rules [][]piece // by rule
	whole digest
}

// A piece is a symbol on the right-hand side of a rule.
type piece struct {
	before digest   // of the pieces before it
	offset uint64   // calls before it
	one    digest   // of what the symbol stands for once
	length uint64   // likewise, in calls
	rule   int      // −1 for a terminal
	parts  []digest // of a terminal: its operations
}

// newRuled returns the sequence of calls whose terminals have digests. What rules generate
// that have none of these is left out of pieces.
func newRuled(g *sequitur.Grammar, t terminals) *ruled {
	s := &ruled{rules: make([][]piece, g.Rules()), whole: empty}
	sums := make([]digest, g.Rules())
	for rule := range g.Rules() {
		sum, offset := empty, uint64(0)
		for term := range g.Body(rule) {
			p := piece{before: sum, offset: offset, length: 1, rule: term.Rule}
			if term.Rule >= 0 {
				p.one, p.length = sums[term.Rule], g.RuleLen(term.Rule)
			} else {
				p.parts = t[term.Symbol]
				p.one = joined(p.parts)
			}
			if p.one.count > 0 {
				s.rules[rule] = append(s.rules[rule], p)
				sum = sum.then(p.one.times(term.Count))
			}
			offset += term.Count * p.length
		}
		sums[rule], s.whole = sum, sum
	}
	return s
}

func (s *ruled) all() digest { return s.whole }

func (s *ruled) upTo(n uint64) digest {
	result := empty
	if n >= s.whole.count {
		return s.whole
	}
	for rule := len(s.rules) - 1; n > 0; {
		p := s.piece(rule, n)
		n -= p.before.count
		rounds := n / p.one.count
		result = result.then(p.before).then(p.one.times(rounds))
		n -= rounds * p.one.count
		if rule = p.rule; rule < 0 {
			return result.then(joined(p.parts[:n]))
		}
	}
	return result
}

// piece returns the last piece of a rule before which there are no more than n operations.
func (s *ruled) piece(rule int, n uint64) *piece {
	list := s.rules[rule]
	i := sort.Search(len(list), func(i int) bool { return list[i].before.count > n })
	return &list[i-1]
}

func (s *ruled) at(n uint64) (position uint64, nth int) {
	for rule := len(s.rules) - 1; ; {
		p := s.piece(rule, n)
		n -= p.before.count
		rounds := n / p.one.count
		position += p.offset + rounds*p.length
		n -= rounds * p.one.count
		if rule = p.rule; rule < 0 {
			return position, int(n)
		}
	}
}

// markEvery is how many calls a walked sequence has between two marks.
const markEvery = 256

// A walked sequence is one whose operations depend on the positions of calls. Every so
// many calls there is a mark, from which on they are gone through again.
type walked struct {
	rank         *semantics.Rank
	communicator *semantics.Communicator
	terminals    map[sequitur.Symbol]bool // that may be in it
	marks        []mark
	whole        digest
}

// A mark is a call, and the digest of the operations before it.
type mark struct {
	position uint64
	before   digest
}

func newWalked(r *semantics.Rank, c *semantics.Communicator, terminals map[sequitur.Symbol]bool) *walked {
	s := &walked{rank: r, communicator: c, terminals: terminals, whole: empty}
	n := 0
	s.each(0, func(position uint64, list []digest) bool {
		if n%markEvery == 0 {
			s.marks = append(s.marks, mark{position, s.whole})
		}
		n++
		s.whole = s.whole.then(joined(list))
		return true
	})
	return s
}

// each calls f with the calls from a position on, and the digests of what they begin.
func (s *walked) each(position uint64, f func(position uint64, list []digest) bool) {
	for position, t := range s.rank.Find(position, func(t sequitur.Symbol) bool { return s.terminals[t] }) {
		o := s.rank.At(position, uint32(t))
		if list := callDigests(s.rank, uint32(t), o, s.communicator); len(list) > 0 && !f(position, list) {
			return
		}
	}
}

func (s *walked) all() digest { return s.whole }

// mark returns the last mark before which there are no more than n operations.
func (s *walked) mark(n uint64) mark {
	i, _ := slices.BinarySearchFunc(s.marks, n+1, func(m mark, n uint64) int {
		if m.before.count < n {
			return -1
		}
		return 1
	})
	return s.marks[i-1]
}

func (s *walked) upTo(n uint64) digest {
	if n >= s.whole.count {
		return s.whole
	}
	if n == 0 {
		return empty
	}
	m := s.mark(n)
	sum := m.before
	s.each(m.position, func(_ uint64, list []digest) bool {
		sum = sum.then(joined(list[:min(uint64(len(list)), n-sum.count)]))
		return sum.count < n
	})
	return sum
}

func (s *walked) at(n uint64) (position uint64, nth int) {
	m := s.mark(n)
	count := m.before.count
	s.each(m.position, func(at uint64, list []digest) bool {
		position, nth = at, int(n-count)
		count += uint64(len(list))
		return count <= n
	})
	return position, nth
}
