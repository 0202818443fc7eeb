package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/rankenc"
)

// A Hang says what the ranks of a run did when its recording ended early: which were in
// which calls, for whom these wait, and who waits for each other.
//
// A rank goes on if one of its threads does: one that is in no call, or in one whose wait
// can end, because the ranks that it waits for go on. The others are deadlocked, see
// T. Hilbrich et al., "MPI runtime error detection with MUST: advances in deadlock
// detection", Scientific Programming 21(3–4), 2013. Of a nonblocking send that nobody
// receives it is not known whether MPI has sent it on: a call waits for the receiver only if
// it waits for nothing else. The same goes for the send of MPI_Sendrecv. A blocking send that
// has not returned waits, as if MPI stored no messages: in a run that was killed while it went
// well, it may have been about to return.
type Hang struct {
	InCall  rankenc.Set `json:"in_call_rank_set"`   // with a call that has not returned
	Outside rankenc.Set `json:"outside_rank_set"`   // others, which have not returned from MPI_Finalize
	Ended   rankenc.Set `json:"finalized_rank_set"` // which have

	Deadlocked rankenc.Set `json:"deadlocked_rank_set"`
	Unrecorded rankenc.Set `json:"unrecorded_rank_set,omitzero"` // see [trace.Content]

	// Cycles are ranks of which each waits for the next, and the last for the first: of each
	// set of ranks that wait for each other, directly or not, a shortest one from the lowest
	// on.
	Cycles [][]int `json:"cycles"`

	// Groups are what ranks have in common: those that are deadlocked first, then in calls,
	// those that have been in them for longest first.
	Groups []HangGroup `json:"by_call"`
}

// A HangGroup is ranks that were in calls of one signature and wait alike, or that were in no
// call and made a last one of one signature.
type HangGroup struct {
	Ranks      rankenc.Set `json:"rank_set"`
	Thread     int         `json:"thread"`
	State      HangState   `json:"state"`
	Deadlocked bool        `json:"deadlocked"`

	Signature int    `json:"signature"`      // of the call, or of the last one, in the trace
	Call      string `json:"call,omitempty"` // in words, which who prints it has to set
	Position  uint64 `json:"position"`       // of that of the lowest of the ranks

	// How long the calls had lasted, at least and at most, as far as it is known: nothing of those
	// outside, where the trace has no times, and of calls that began after all that was recorded
	// of a run that was killed. They are means where it has statistics alone.
	Least  Nanoseconds `json:"least_ns,omitzero"`
	Most   Nanoseconds `json:"most_ns,omitzero"`
	Source Source      `json:"source"`

	Waits []HangWait `json:"waits"` // for all of them, or for any if Any is set
	Any   bool       `json:"any"`
}

// A HangState is where ranks were.
type HangState uint8

// The states.
const (
	InCall  HangState = iota
	Outside           // of MPI: computing, waiting for something else, or gone
	Ended             // returned from MPI_Finalize
)

var hangStates = [...]string{InCall: "in call", Outside: "outside", Ended: "finalized"}

func (s HangState) String() string { return nameOf(hangStates[:], s) }

// MarshalText returns what String does.
func (s HangState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A HangWait is what ranks of a group wait for.
type HangWait struct {
	For   HangReason  `json:"for"`
	Ranks rankenc.Set `json:"rank_set"` // for each of these; each rank of the group for some of them
	Any   bool        `json:"any"`      // any of these is enough

	// Perhaps is set if the calls may end without: those of members of a communicator from
	// which the operation needs nothing of the missing ones, as a broadcast from others than
	// the root. Nobody is deadlocked by such a wait.
	Perhaps bool `json:"perhaps"`

	Ended rankenc.Set `json:"finalized_rank_set"` // of these, have returned from MPI_Finalize

	Communicator *semantics.Communicator `json:"communicator"`
	// of a message; [semantics.AnyTag] if that is left open, [semantics.NoTag] of what is none
	Tag      int64  `json:"tag"`
	Instance uint64 `json:"instance"` // of a collective operation, from 0 on; 0 of MPI_Finalize

	// Sent are messages that the ranks have sent to the lowest rank of the group, and that it
	// does not receive: with another tag or on another communicator, perhaps by mistake.
	Sent []Channel `json:"sent,omitzero"`
}

// A HangReason is what somebody waits for.
type HangReason uint8

// The reasons.
const (
	ForMessage  HangReason = iota // that somebody sends
	ForReceiver                   // who receives what it sends
	ForMembers                    // that make the call of a collective operation
	ForEnd                        // of the run, by MPI_Abort; Ranks is empty
)

var hangReasons = [...]string{ForMessage: "message", ForReceiver: "receiver", ForMembers: "members",
	ForEnd: "end"}

func (r HangReason) String() string { return nameOf(hangReasons[:], r) }

// abort is the function that ends the run: a call of it does not return.
const abort = "MPI_Abort"

// nameOf returns the name of a number, or invalid.
func nameOf[N ~uint8](names []string, n N) string {
	if int(n) >= len(names) {
		return "invalid"
	}
	return names[n]
}

// MarshalText returns what String does.
func (r HangReason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// OpenHang finds out what the ranks of a trace did when its recording ended. It looks at all
// ranks, whatever the options say, which choose those in Groups. It costs what [OpenMatch]
// does, and something for each call that has not returned; nothing if there are none, and
// then no ranks are said to be anywhere.
func OpenHang(ctx context.Context, model *semantics.Model, o Options) (*Hang, error) {
	need.That(model != nil, "query: no model")
	if !model.InFlight() {
		return noHang(model), nil
	}
	all := o
	all.Ranks = nil
	m, err := OpenMatch(ctx, model, all)
	if err != nil {
		return nil, err
	}
	o.Progress = nil
	return m.Hang(ctx, o)
}

func noHang(m *semantics.Model) *Hang {
	return &Hang{Unrecorded: m.Trace().Content().Unrecorded, Cycles: [][]int{}, Groups: []HangGroup{}}
}

// Hang is [OpenHang] for who has matched all ranks of a trace.
func (m *Match) Hang(ctx context.Context, o Options) (*Hang, error) {
	trace := m.model.Trace()
	if !m.model.InFlight() {
		return noHang(m.model), nil
	}
	times, err := OpenTimes(trace)
	if err != nil {
		return nil, err
	}
	ranks, err := (&Options{}).ranks(trace, rankMemory)
	if err != nil {
		return nil, err
	}
	s := newStop(m, times, ranks)
	err = o.each(ctx, len(s.ranks), func(i int) error { return s.read(ctx, i) })
	if err != nil {
		return nil, err
	}
	if err := s.find(ctx); err != nil {
		return nil, err
	}
	if err := s.release(ctx); err != nil {
		return nil, err
	}
	return s.answer(ctx, &o)
}

// answer returns what was found, with groups of the chosen ranks.
func (s *stop) answer(ctx context.Context, o *Options) (*Hang, error) {
	h := noHang(s.match.model)
	h.Cycles = s.cycles()
	var in, outside, ended, deadlocked []int
	groups := make(map[string]*hangGroup)
	for i, rank := range s.ranks {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		at := &s.of[i]
		switch {
		case len(at.flights) > 0:
			in = append(in, rank)
		case at.ended:
			ended = append(ended, rank)
		default:
			outside = append(outside, rank)
		}
		if s.isDeadlocked(i) {
			deadlocked = append(deadlocked, rank)
		}
		if !o.chosen(rank) {
			continue
		}
		for j := range at.flights {
			s.group(groups, rank, !at.released, &at.flights[j])
		}
		if len(at.flights) == 0 {
			s.group(groups, rank, false, nil)
		}
	}
	h.InCall, h.Outside, h.Ended, h.Deadlocked = rankenc.SetOf(in...), rankenc.SetOf(outside...),
		rankenc.SetOf(ended...), rankenc.SetOf(deadlocked...)
	for _, g := range groups {
		finished := g.finish(h.Ended)
		if g.State == InCall && s.match.model.Trace().Signature(g.Signature).Function.Name == abort {
			finished.Waits = []HangWait{{For: ForEnd, Tag: semantics.NoTag}}
		}
		h.Groups = append(h.Groups, finished)
	}
	slices.SortFunc(h.Groups, compareGroups)
	return h, nil
}

// compareGroups orders groups as a [Hang] has them.
func compareGroups(a, b HangGroup) int {
	if a.Deadlocked != b.Deadlocked {
		if a.Deadlocked {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(b.Most, a.Most), cmp.Compare(a.Ranks.At(0), b.Ranks.At(0)),
		cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Signature, b.Signature), cmp.Compare(len(a.Waits), len(b.Waits)))
}

// A hangGroup is a HangGroup while ranks are added.
type hangGroup struct {
	HangGroup
	ranks []int
	waits []rankenc.SetBuilder
}

// group adds a rank to the group of its call, or of its last if there is none.
func (s *stop) group(groups map[string]*hangGroup, rank int, deadlocked bool, f *flight) {
	at := &s.of[s.index[rank]]
	g := HangGroup{Deadlocked: deadlocked, State: Outside, Signature: at.last, Position: at.length - 1,
		Waits: []HangWait{}}
	var waits []stopWait
	switch {
	case f != nil:
		g.State, g.Signature, g.Position, g.Thread = InCall, f.signature, f.Position, f.Thread
		g.Least, g.Most, g.Source, g.Any = Nanoseconds(f.duration), Nanoseconds(f.duration), f.source,
			f.Any && len(f.waits) > 1
		waits = f.waits
	case at.ended:
		g.State = Ended
	}
	var k strings.Builder
	fmt.Fprint(&k, g.State, " ", g.Signature, " ", g.Thread, " ", g.Deadlocked)
	for _, w := range waits {
		fmt.Fprint(&k, " ", w.For, " ", w.Any, " ", w.Perhaps, " ", w.Communicator.Name, " ", w.Tag, " ", w.Instance)
	}
	known := groups[k.String()]
	if known == nil {
		known = &hangGroup{HangGroup: g, waits: make([]rankenc.SetBuilder, len(waits))}
		for _, w := range waits {
			known.Waits = append(known.Waits, w.HangWait)
		}
		groups[k.String()] = known
	}
	known.ranks = append(known.ranks, rank)
	if known.Least == 0 || g.Least > 0 && g.Least < known.Least {
		known.Least = g.Least
	}
	known.Most = max(known.Most, g.Most)
	for i, w := range waits {
		if len(known.ranks) > 1 && (w.For == ForMembers && w.needed == everybody || w.Any) {
			continue // the same for all
		}
		for lo, hi := range w.ranks.ranks.Ranges() {
			known.waits[i].AddRange(lo, hi)
		}
	}
}

// finish returns the group with what its ranks wait for.
func (g *hangGroup) finish(ended rankenc.Set) HangGroup {
	g.Ranks = rankenc.SetOf(g.ranks...)
	for i := range g.Waits {
		w := &g.Waits[i]
		if w.Instance == atEnd {
			w.Instance = 0
		}
		w.Ranks = g.waits[i].Finish()
		if len(g.ranks) == 1 && w.Any {
			w.Ranks = w.Ranks.Difference(g.Ranks)
		}
		w.Ended = w.Ranks.Intersection(ended)
	}
	return g.HangGroup
}
