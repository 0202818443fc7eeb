package query

import (
	"sort"
	"strings"
	"sync"

	"github.com/reprise-trace/reprise/internal/fingerprint"
	"github.com/reprise-trace/reprise/semantics"
)

// A digest stands for a sequence of collective operations, or of messages: equal ones have
// equal digests. Digests of parts make that of the whole.
type digest struct {
	count uint64
	print fingerprint.Print
}

var empty = digest{print: fingerprint.Empty}

// digestOf returns the digest of one operation with a code, below 2⁶⁰.
func digestOf(code uint64) digest { return digest{1, fingerprint.Of(code)} }

// then returns the digest of a and then b.
func (a digest) then(b digest) digest { return digest{a.count + b.count, a.print.Then(b.print)} }

// times returns the digest of a, n times.
func (a digest) times(n uint64) digest { return digest{a.count * n, a.print.Times(n)} }

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

// An operationKey says what of a collective operation must be equal for all members.
type operationKey struct {
	function string
	root     int
}

// Codes number operations.
type codes struct {
	mutex sync.Mutex
	known map[operationKey]uint64
}

// of returns the number of an operation.
func (c *codes) of(function string, o *semantics.Operation) uint64 {
	k := operationKey{collectiveName(function), o.Root}
	if o.Communicator != nil && o.Communicator.IsInter() {
		k.root = -1 // the members of the root's group do not say who it is
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	n, ok := c.known[k]
	if !ok {
		if c.known == nil {
			c.known = make(map[operationKey]uint64)
		}
		n = uint64(len(c.known))
		c.known[k] = n
	}
	return n
}

// digests returns those of collective operations that a call begins.
func (all *operations) digests(terminal uint32, list []*semantics.Operation) []digest {
	digests := make([]digest, len(list))
	for i, o := range list {
		digests[i] = digestOf(all.codes.of(functionOf(all.rank, terminal), o))
	}
	return digests
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
	rules map[int][]piece // by rule, of those that have any
	last  int             // rule
	whole digest
}

// A piece is a symbol on the right-hand side of a rule.
type piece struct {
	before digest   // of the pieces before it
	offset uint64   // calls before it
	one    digest   // of what the symbol stands for once
	length uint64   // likewise, in calls
	rounds uint64   // how often it stands there
	rule   int      // −1 for a terminal
	parts  []digest // of a terminal: its operations
}

// newRuled returns the sequence of calls whose terminals have digests. What rules generate
// that have none of these is left out: it costs what the rules do that have some.
func newRuled(l *layout, t terminals) *ruled {
	s := &ruled{rules: make(map[int][]piece), last: l.rules - 1}
	sums := make(map[int]digest)
	for _, n := range l.above(t) {
		u := &l.uses[n]
		p := piece{before: empty, offset: u.offset, length: u.length, rounds: u.rounds, rule: u.rule}
		if sum, ok := sums[u.in]; ok {
			p.before = sum
		}
		if u.rule >= 0 {
			p.one = sums[u.rule]
		} else {
			p.parts = t[u.symbol]
			p.one = joined(p.parts)
		}
		s.rules[u.in] = append(s.rules[u.in], p)
		sums[u.in] = p.before.then(p.one.times(u.rounds))
	}
	if s.whole = empty; len(s.rules[s.last]) > 0 {
		s.whole = sums[s.last]
	}
	return s
}

func (s *ruled) all() digest { return s.whole }

func (s *ruled) upTo(n uint64) digest {
	result := empty
	if n >= s.whole.count {
		return s.whole
	}
	for rule := s.last; n > 0; {
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
	for rule := s.last; ; {
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

// before returns how many operations there are in the calls before a position.
func (s *ruled) before(position uint64) uint64 {
	sum := uint64(0)
	for rule := s.last; position > 0; {
		list := s.rules[rule]
		i := sort.Search(len(list), func(i int) bool { return list[i].offset >= position })
		if i == 0 {
			break
		}
		p := &list[i-1]
		rounds := min((position-p.offset)/p.length, p.rounds)
		sum += p.before.count + rounds*p.one.count
		if rounds == p.rounds {
			break
		}
		position -= p.offset + rounds*p.length
		rule = p.rule
	}
	return sum
}
