package query

import (
	"context"
	"slices"

	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/sequitur"
)

// Firsts fills in the positions of the first calls of messages that are not matched, each on
// its rank: not of those that may be of several channels. Each rank is read once, and calls
// are gone through only where terminals do not tell of which channel they are.
func (m *Match) Firsts(ctx context.Context, list []Unmatched, o Options) error {
	byRank := make(map[int][]*first)
	var ranks []int
	for i := range list {
		u := &list[i]
		if len(u.Among) > 0 {
			continue
		}
		u.First = new(uint64)
		if byRank[u.Rank] == nil {
			ranks = append(ranks, u.Rank)
		}
		byRank[u.Rank] = append(byRank[u.Rank], &first{key: u.key(), number: u.Matched, to: u.First})
	}
	slices.Sort(ranks)
	return o.each(ctx, len(ranks), func(i int) error {
		r, err := m.read(ctx, ranks[i])
		if err != nil {
			return err
		}
		return r.firsts(ctx, byRank[ranks[i]])
	})
}

// A first is a message to find among the calls of a rank.
type first struct {
	key    messageKey
	number uint64 // from 0 on
	to     *uint64

	terminals terminals // of calls that are all alike
	alike     *ruled
	mixed     bool   // there are others
	seen      uint64 // messages of others so far
	found     bool
}

// put takes note of where the message is.
func (f *first) put(position uint64) { *f.to, f.found = position, true }

// before returns how many messages there are before a call that is not alike.
func (f *first) before(position uint64) uint64 { return f.seen + f.alike.before(position) }

// rest finds the message among calls that are alike, if it is in none of the others.
func (f *first) rest() {
	if n := f.number - f.seen; n < f.alike.all().Weight {
		position, _ := f.alike.at(n)
		f.put(position)
	}
}

// firsts finds messages, whose keys are different.
func (all *operations) firsts(ctx context.Context, list []*first) error {
	byKey := make(map[messageKey]*first, len(list))
	for _, f := range list {
		f.terminals = make(terminals)
		byKey[f.key] = f
	}
	keep := make(map[sequitur.Symbol]bool)
	for _, o := range all.list {
		t := o.Terminal
		for i := range o.Operation.Messages {
			f := byKey[keyOf(&o.Operation.Messages[i])]
			switch {
			case f == nil:
			case all.alike[o.Terminal]:
				f.terminals[t] = append(f.terminals[t], digestOf(0))
			default:
				keep[t], f.mixed = true, true
			}
		}
	}
	mixed := 0
	for i, f := range list {
		f.alike = newRuled(all, f.terminals)
		if f.mixed {
			mixed++
			continue
		}
		f.rest()
		f.alike, f.terminals = nil, nil
		if i%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if err := all.findMixed(ctx, byKey, keep, mixed); err != nil {
		return err
	}
	for _, f := range list {
		if f.mixed && !f.found {
			f.rest()
		}
	}
	return nil
}

// findMixed goes through calls until n messages are found.
func (all *operations) findMixed(ctx context.Context, byKey map[messageKey]*first,
	keep map[sequitur.Symbol]bool, n int) error {
	if n == 0 {
		return nil
	}
	steps := 0
	for position, t := range all.rank.Find(0, func(t sequitur.Symbol) bool { return keep[t] }) {
		if steps++; steps%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		o := all.rank.At(position, t)
		if o == nil {
			continue
		}
		for i := range o.Messages {
			f := byKey[keyOf(&o.Messages[i])]
			if f == nil || f.found {
				continue
			}
			switch before := f.before(position); {
			case before < f.number:
				f.seen++
				continue
			case before == f.number:
				f.put(position)
			default:
				f.rest()
			}
			if n--; n == 0 {
				return nil
			}
		}
	}
	return nil
}

// key returns what the messages of u are for the rank.
func (u *Unmatched) key() messageKey {
	k := messageKey{u.Communicator, u.Direction, u.Destination, u.Tag}
	if u.Direction == semantics.Receive {
		k.peer = u.Source
	}
	return k
}
