// Package condense makes the calls of a rank take less space, at the cost of arguments that vary and of the
// order of calls without a pattern: what a trace of a bounded size gives up. There are as many calls of each
// function as before, and as many with the same ranks, communicators and datatypes, and each integer has the
// same sum over all calls that have these in common. So messages and bytes between two ranks are those of the
// run.
//
// The distributions that stand in place of what does not repeat are due to X. Wu and F. Mueller, "Varying and
// Scalable Tracing and Accurate Replay of Non-Deterministic Events", ICS 2013, §3.4; sums that stay exact are
// not in it.
package condense

import (
	"math"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// A Rank is the calls of one rank: a grammar over forms, each with values in its slots.
type Rank struct {
	Grammar *sequitur.Grammar
	Forms   []Form
	Values  []int64 // of the slots of all forms, in order
}

// begins returns where the values of each form begin, and where those of the last one end.
func (r *Rank) begins() []int {
	begins := make([]int, len(r.Forms)+1)
	for t, f := range r.Forms {
		begins[t+1] = begins[t] + f.Slots
	}
	return begins
}

// A Form is what a signature has but the values in its slots.
type Form struct {
	Function int   // the number of
	Lengths  []int // of all arrays, in the order in which they begin
	Slots    int
	Grouped  bool  // the last two slots are the rank in a group, and its size
	Place    int64 // where calls are made, 0 if the function does not say it
}

// appendKey appends what tells a form from others.
func (f *Form) appendKey(key []byte) []byte {
	key = wire.AppendUvarint(key, uint64(f.Function))
	for _, n := range f.Lengths {
		key = wire.AppendUvarint(key, uint64(n))
	}
	if f.Grouped {
		return append(key, 1)
	}
	return append(key, 0)
}

// A Keep says what of the calls of a function stays as it is: place, where they are among others, as they
// decide what later calls mean; handles, their arguments that are handles, but requests.
type Keep = func(function string) (place, handles bool)

// A Degree says how much of the calls of a rank gives way.
type Degree struct {
	// Values is how many different calls of a group, see groups, stay as they are. Of more, the arguments
	// that vary become distributions of so many values, or a few more.
	Values int

	// InOrder is how many calls of a repeated pattern at least stay in order. What is between such patterns
	// is a stretch, whose calls stand by signature. 0 means that all calls stay in order, and only their
	// arguments give way.
	InOrder uint64

	// Names says that tags, texts and requests give way as well, and Sites that the places do where calls are
	// made.
	Names, Sites bool
}

// Ways are the degrees to try one after the other, each of any number of values.
var Ways = []Degree{
	{InOrder: 0},
	{InOrder: 1 << 8},
	{InOrder: 1 << 12},
	{InOrder: math.MaxUint64},
	{InOrder: math.MaxUint64, Names: true},
	{InOrder: math.MaxUint64, Names: true, Sites: true},
}

// What decides where calls give way: how long that may take, and how far a distribution may be from what it
// stands for.
const (
	fewestTerms   = 16      // terms in a row that are worth a stretch; two, if no pattern stays in order
	seldom        = 8       // times that a rule with anchors in it is repeated at most to be looked into
	fewCalls      = 1 << 16 // calls of a rule that are taken one by one
	finestOfBlock = 16      // an integer of a block is rounded by this part of a block's share of their range, at most

	// Calls with at most so many values of an integer stay apart, and with so many of several integers
	// together: flags, error codes and the like. The second ones hold where names give way.
	apart, apartTogether            = 4, 16
	apartNameless, togetherNameless = 2, 4
)
