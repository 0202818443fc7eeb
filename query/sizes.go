package query

import (
	"context"
	"maps"
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/semantics"
)

// Sizes are the sizes of the messages of a [Traffic].
type Sizes struct {
	Flow             // of all of them
	List []SizeCount `json:"sizes"` // by size, without those of unknown size
}

// A SizeCount is how many messages have a size.
type SizeCount struct {
	Bytes    uint64 `json:"message_bytes"` // of each
	Messages uint64 `json:"messages"`
}

// All returns the bytes of all messages of that size, or 2⁶⁴−1 if they are more.
func (c SizeCount) All() uint64 { return wire.MulSat(c.Bytes, c.Messages) }

// OpenSizes counts the messages that ranks send by their sizes, and what they access in
// the memory of others.
func OpenSizes(ctx context.Context, m *semantics.Model, o Options) (*Sizes, error) {
	ranks := o.ranks(m.Trace())
	s := new(Sizes)
	if err := o.ask(ctx, m, ranks, s.question(ranks)); err != nil {
		return nil, err
	}
	return s, nil
}

// question fills in s.
func (s *Sizes) question(ranks []int) question {
	found := make([]map[int64]uint64, len(ranks))
	read := func(i int, r *semantics.Rank) { found[i] = sizesOf(r) }
	return question{read, func() {
		all := make(map[int64]uint64)
		for _, messages := range found {
			for size, n := range messages {
				all[size] = wire.AddSat(all[size], n)
			}
		}
		for _, size := range slices.Sorted(maps.Keys(all)) {
			s.add(all[size], size)
			if size >= 0 {
				s.List = append(s.List, SizeCount{uint64(size), all[size]})
			}
		}
	}}
}

// sizesOf counts the messages of a rank by their sizes.
func sizesOf(r *semantics.Rank) map[int64]uint64 {
	messages := make(map[int64]uint64)
	for o := range r.All() {
		for i := range o.Operation.Messages {
			m := &o.Operation.Messages[i]
			size := max(m.Bytes, semantics.Unknown)
			if sends(m.Direction) {
				messages[size] = wire.AddSat(messages[size], o.Count)
			}
			if fetches(m.Direction) {
				messages[size] = wire.AddSat(messages[size], o.Count)
			}
		}
	}
	return messages
}

// A SizeClass is the messages from one size to another.
type SizeClass struct {
	From, To uint64 // 0 and 0, 1 and 1, 2 and 3, 4 and 7, …
	Flow
}

// Classes returns the messages by powers of two, from the smallest to the largest that
// there are, those without messages too.
func (s *Sizes) Classes() []SizeClass {
	if len(s.List) == 0 {
		return nil
	}
	first, last := bits.Len64(s.List[0].Bytes), bits.Len64(s.List[len(s.List)-1].Bytes)
	classes := make([]SizeClass, last-first+1)
	for i := range classes {
		if n := first + i; n > 0 {
			classes[i].From, classes[i].To = 1<<(n-1), 1<<n-1
		}
	}
	for _, c := range s.List {
		classes[bits.Len64(c.Bytes)-first].add(c.Messages, int64(c.Bytes))
	}
	return classes
}

// Quantile returns the size that a share q, 0 ≤ q ≤ 1, of the messages of known size is
// not larger than: the median for 0.5. It is 0 if there are none. Where a size has
// 2⁶⁴−1 messages or more, it is an estimate.
func (s *Sizes) Quantile(q float64) uint64 {
	total, before := 0.0, 0.0
	for _, c := range s.List {
		total += float64(c.Messages)
	}
	for _, c := range s.List {
		if before += float64(c.Messages); before >= q*total {
			return c.Bytes
		}
	}
	return 0
}
