package query

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-trace/reprise/internal/fingerprint"
	"github.com/reprise-trace/reprise/internal/sums"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/sequitur"
)

// A digest stands for a sequence of collective operations, or of messages: its weight is
// their number, and equal ones have equal digests. Digests of parts make that of the whole.
type digest = sums.Weighed[fingerprint.Print]

var empty = digest{Value: fingerprint.Empty}

// digestOf returns the digest of one operation with a code, below 2⁶⁰.
func digestOf(code uint64) digest { return digest{Value: fingerprint.Of(code), Weight: 1} }

// then returns the digest of a and then b.
func then(a, b digest) digest {
	return digest{Value: a.Value.Then(b.Value), Weight: a.Weight + b.Weight}
}

// A sequence is the collective operations of a rank on a communicator.
type sequence interface {
	// all returns the digest of the whole.
	all() digest

	// upTo returns the digest of the first n operations, n ≤ all().Weight.
	upTo(n uint64) digest

	// at returns where the n-th is called, n < all().Weight, from 0 on: the position of the
	// call, and which of its operations it is.
	at(n uint64) (position uint64, nth int)

	// before returns how many there are in the calls before a position.
	before(position uint64) uint64
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
	if spec.Base(function) != function {
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
		d = then(d, one)
	}
	return d
}

func functionOf(r *semantics.Rank, terminal uint32) string { return r.Call(terminal).Function.Name }

// Terminals say what calls with them begin on a communicator, operation by operation.
type terminals map[sequitur.Symbol][]digest

// A ruled sequence is one whose operations depend on the terminals of calls alone.
type ruled struct {
	terminals terminals
	sum       *sums.Sum[fingerprint.Print]
	counts    *sums.Measure // the weights of sum
}

// newRuled returns the sequence of calls whose terminals have digests.
func newRuled(all *operations, t terminals) *ruled {
	digests := make(map[sequitur.Symbol]digest, len(t))
	for s, list := range t {
		digests[s] = joined(list)
	}
	sum := sums.NewAt(all.index(), fingerprint.Monoid{}, digests)
	return &ruled{t, sum, sum.Weights()}
}

func (s *ruled) all() digest { return s.sum.Total() }

func (s *ruled) upTo(n uint64) digest {
	if n >= s.all().Weight {
		return s.all()
	}
	_, symbol, before := s.sum.Find(n)
	return then(before, joined(s.terminals[symbol][:n-before.Weight]))
}

func (s *ruled) at(n uint64) (position uint64, nth int) {
	position, _, before := s.counts.Find(n)
	return position, int(n - before.Weight)
}

// before returns how many operations there are in the calls before a position.
func (s *ruled) before(position uint64) uint64 { return s.counts.Before(position).Weight }

// markEvery is how many calls a walked sequence has between two marks.
const markEvery = 256

// checkEvery is how many steps are taken before it is looked whether the context is done.
const checkEvery = 4096

// A walked sequence is one whose operations depend on the positions of calls. Every so many
// calls there is a mark, from which on they are gone through again.
type walked struct {
	operations   *operations
	communicator *semantics.Communicator
	marks        []mark
	calls        int
	whole        digest
}

// A mark is a call, and the digest of the operations before it.
type mark struct {
	position uint64
	before   digest
}

// walk goes once through the calls on all communicators of which some depend on their
// positions, and returns the sequences of these.
func (all *operations) walk(ctx context.Context) (map[*semantics.Communicator]*walked, error) {
	found := make(map[*semantics.Communicator]*walked)
	keep := make(map[sequitur.Symbol]bool)
	for c, calls := range all.collectives {
		if calls.alike {
			continue
		}
		found[c] = &walked{operations: all, communicator: c, whole: empty}
		for _, call := range calls.list {
			keep[call.Terminal] = true
		}
	}
	if len(found) == 0 {
		return found, context.Cause(ctx)
	}
	steps := 0
	for position, t := range all.rank.Find(0, func(t sequitur.Symbol) bool { return keep[t] }) {
		if steps++; steps%checkEvery == 0 && ctx.Err() != nil {
			break
		}
		all.walkCall(found, position, t)
	}
	return found, context.Cause(ctx)
}

// walkCall adds the operations of a call to the sequences that they are of.
func (all *operations) walkCall(found map[*semantics.Communicator]*walked, position uint64, t sequitur.Symbol) {
	list := operationsOn(all.rank.At(position, t), nil)
	for len(list) > 0 {
		c := list[0].Communicator
		own, others := list, []*semantics.Operation(nil)
		if len(list) > 1 {
			own = nil
			for _, o := range list {
				if o.Communicator == c {
					own = append(own, o)
				} else {
					others = append(others, o)
				}
			}
		}
		if s := found[c]; s != nil {
			s.add(position, all.digests(t, own))
		}
		list = others
	}
}

// add adds the operations of a call.
func (s *walked) add(position uint64, list []digest) {
	if s.calls%markEvery == 0 {
		s.marks = append(s.marks, mark{position, s.whole})
	}
	s.calls++
	s.whole = then(s.whole, joined(list))
}

// each calls f with the calls from a position on, and the digests of what they begin.
func (s *walked) each(position uint64, f func(position uint64, list []digest) bool) {
	all := s.operations
	keep := make(map[sequitur.Symbol]bool)
	for _, call := range all.collectives[s.communicator].list {
		keep[call.Terminal] = true
	}
	for position, t := range all.rank.Find(position, func(t sequitur.Symbol) bool { return keep[t] }) {
		list := operationsOn(all.rank.At(position, t), s.communicator)
		if len(list) > 0 && !f(position, all.digests(t, list)) {
			return
		}
	}
}

func (s *walked) all() digest { return s.whole }

// mark returns the last mark before which there are no more than n operations.
func (s *walked) mark(n uint64) mark {
	i, _ := slices.BinarySearchFunc(s.marks, n+1, func(m mark, n uint64) int {
		if m.before.Weight < n {
			return -1
		}
		return 1
	})
	return s.marks[i-1]
}

func (s *walked) upTo(n uint64) digest {
	if n >= s.whole.Weight {
		return s.whole
	}
	m := s.mark(n)
	sum := m.before
	if sum.Weight == n {
		return sum
	}
	s.each(m.position, func(_ uint64, list []digest) bool {
		sum = then(sum, joined(list[:min(uint64(len(list)), n-sum.Weight)]))
		return sum.Weight < n
	})
	return sum
}

func (s *walked) before(position uint64) uint64 {
	i, ok := slices.BinarySearchFunc(s.marks, position, func(m mark, position uint64) int {
		return cmp.Compare(m.position, position)
	})
	if ok {
		return s.marks[i].before.Weight
	}
	if i == 0 {
		return 0
	}
	m := s.marks[i-1]
	count := m.before.Weight
	s.each(m.position, func(at uint64, list []digest) bool {
		if at < position {
			count += uint64(len(list))
		}
		return at < position
	})
	return count
}

func (s *walked) at(n uint64) (position uint64, nth int) {
	m := s.mark(n)
	count := m.before.Weight
	s.each(m.position, func(at uint64, list []digest) bool {
		position, nth = at, int(n-count)
		count += uint64(len(list))
		return count <= n
	})
	return position, nth
}
