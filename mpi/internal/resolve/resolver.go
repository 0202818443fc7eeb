package resolve

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A Local names a group object, such as a communicator, as one process does: by
// its class, as in "comm" or "win", and its symbolic id among those.
type Local struct {
	Class string // not empty
	ID    int64
}

// A Creation is a call that creates a group object, as one process recorded it.
type Creation struct {
	Kind   spec.Creation
	Parent Local
	Result Local // zero if the process got none, as with an undefined color

	Color, Key int64 // Split, SplitType, Create without Members

	// Members are ranks in the parent, the local group if that is an
	// intercommunicator, in the order that they have in the result. They are kept,
	// not copied; processes may share them, which saves comparing them.
	Members []int
	Tag     int64 // CreateGroup, IntercommCreate

	Leader, RemoteLeader int    // IntercommCreate, Accept, Connect; the latter is a rank in Peer
	Peer                 Local  // IntercommCreate
	Port                 string // Accept, Connect; that of the leader counts

	High bool // IntercommMerge

	// Rank and Size are those of the process and its group in the result, if they
	// were recorded. Size is −1 if only the rank was, and 0 if neither was. What
	// follows from other arguments is checked against them.
	Rank, Size int

	// Always says that the result is meant by its name in all calls of the process, and
	// not from this one on: for a process whose calls are not in the order of time, such
	// as one with several threads, and that gives the name only once.
	Always bool
}

// A Group is a group object, which all members agree on: pointers to Groups are
// equal exactly if the objects are the same. It must not be changed.
type Group struct {
	Parent  *Group        // nil for one that was declared
	Kind    spec.Creation // of the creation; 0 if declared
	Class   string
	Ordinal int   // how many were created on the parent before; see [Group.Name]
	Color   int64 // Split, SplitType, Create: what the members have in common

	Members []int // ranks in the run, in the order of their ranks in the group
	Remote  []int // of the second group of an intercommunicator; nil for others

	declared string
}

// Name returns a name that is the same for all members and for no other group:
// that of the parent, a slash, and how many creations there were on the parent
// before. Color, or the rank in the parent of the first member where Members were
// given, follows a colon. Groups by [CreateGroup] are counted apart, by the first
// member: g3.0 is the first that rank 3 of the parent is first in.
func (g *Group) Name() string {
	var parts []string
	for ; g.Parent != nil; g = g.Parent {
		n := strconv.Itoa(g.Ordinal)
		switch g.Kind {
		case spec.Split, spec.SplitType, spec.Create:
			n += ":" + strconv.FormatInt(g.Color, 10)
		case spec.CreateGroup:
			n = "g" + strconv.FormatInt(g.Color, 10) + "." + n
		}
		parts = append(parts, n)
	}
	parts = append(parts, g.declared)
	slices.Reverse(parts)
	return strings.Join(parts, "/")
}

// A Member says what a process is in a group.
type Member struct {
	Group  *Group
	Rank   int  // in the group, or in its own of the two of an intercommunicator
	Remote bool // whether it is a member of Group.Remote
}

// Local returns the ranks in the run of the members of the process's group.
func (m Member) Local() []int {
	need.That(m.Group != nil, "resolve: a member of no group")
	if m.Remote {
		return m.Group.Remote
	}
	return m.Group.Members
}

// Peers returns the ranks in the run of those processes that ranks in the
// arguments of a call mean: of the remote group if m.Group is an
// intercommunicator, else of the group.
func (m Member) Peers() []int {
	need.That(m.Group != nil, "resolve: a member of no group")
	if m.Group.Remote == nil || m.Remote {
		return m.Group.Members
	}
	return m.Group.Remote
}

// A GroupError says what is inconsistent in what processes recorded.
type GroupError struct {
	Rank    int           // in the run, of the process whose record does not fit
	Kind    spec.Creation // of the creation; 0 if it is not about one
	Parent  *Group        // nil if it is not known
	Ordinal int           // as in the name that the group would have
	Reason  string
}

func (e *GroupError) Error() string {
	switch {
	case e.Kind == 0:
		return fmt.Sprintf("resolve: rank %d: %s", e.Rank, e.Reason)
	case e.Parent == nil:
		return fmt.Sprintf("resolve: rank %d: %v: %s", e.Rank, e.Kind, e.Reason)
	default:
		return fmt.Sprintf("resolve: rank %d: creation %d on %s, %v: %s", e.Rank, e.Ordinal, e.Parent.Name(),
			e.Kind, e.Reason)
	}
}

// A Resolver finds out which group objects of different processes are the same,
// and who their members are, from what each process recorded for itself. The zero
// Resolver knows no process. A Resolver must not be used by two goroutines at once.
//
// It is told what groups there are from the start, then of each process, in the
// order of its calls, what it creates and frees; processes may take turns in any
// way. That suffices because creations are collective: all members of the parent
// call them in one order.
type Resolver struct {
	calls []call // of all processes; those of one in their order
	ranks []view
	roots []work
	errs  []error
}

// A view is what one process sees.
type view struct {
	bound map[Local][]binding
	asked []int32 // calls of kind SpawnedBy that have objects of their own
	inter []int32 // calls of kind IntercommCreate
	front int     // index in inter of the first that is not decided
}

// A binding says which object a name stands for between two positions, both
// included. Those of one name are in order.
type binding struct {
	from, until uint64
	call        int32
}

// open is the end of a binding whose object was not freed.
const open = math.MaxUint64

// none stands for no call, and for no recorded rank.
const none = -1

// A call is a creation, or stands for a declared group with one process.
type call struct {
	position   uint64
	color, key int64
	more       *more
	group      *Group // once it is resolved
	class      string // of the result; empty if there is none
	rank       int32  // in the run
	groupRank  int32  // in group
	want, size int32  // recorded rank and size; none and 0 if they were not, and −1 if only the rank was
	child      int32  // creations on the result, by sibling: first and last
	last       int32
	sibling    int32
	kind       spec.Creation
	remote     bool // in the second group of an intercommunicator
	failed     bool
}

// more holds arguments that few kinds have.
type more struct {
	members              []int
	tag                  int64
	leader, remoteLeader int
	peer                 int32 // call
	port                 string
	high                 bool
}

// Declare says that a group exists from the start, and what its members call it.
// Members are ranks in the run, by rank in the group; they are kept. A group of
// each process alone, such as MPI_COMM_SELF, is declared for each, with its name.
// It panics if a rank is not one that a run may have.
func (r *Resolver) Declare(local Local, name string, members []int) {
	for _, rank := range members {
		checkRank(rank)
	}
	g := &Group{declared: name, Class: local.Class, Members: members}
	w := work{group: g}
	for i, rank := range members {
		n := r.add(call{rank: int32(rank), class: local.Class, group: g, groupRank: int32(i)})
		r.bind(rank, local, 0, n)
		w.calls = append(w.calls, n)
	}
	r.roots = append(r.roots, w)
}

// Create says that the call of a process at a position, its number among all
// calls of that process, created a group object. If the process knows another by
// the name of the result, that one ends. It panics if the rank is not one that a run may have.
func (r *Resolver) Create(rank int, position uint64, c Creation) {
	checkRank(rank)
	n := call{
		position: position, rank: int32(rank), kind: c.Kind, class: c.Result.Class,
		color: c.Color, key: c.Key, want: none,
	}
	if c.Size != 0 {
		n.want, n.size = int32(c.Rank), int32(c.Size)
	}
	switch c.Kind {
	case spec.Create, spec.CreateGroup, spec.IntercommCreate, spec.IntercommMerge, spec.Spawn, spec.Accept,
		spec.Connect:
		n.more = &more{c.Members, c.Tag, c.Leader, c.RemoteLeader, r.current(rank, c.Peer), c.Port, c.High}
	case spec.SpawnedBy:
		if known := r.current(rank, c.Result); known != none && r.calls[known].kind == spec.SpawnedBy {
			return
		}
	}
	i := r.add(n)
	if c.Kind == spec.IntercommCreate {
		r.ranks[rank].inter = append(r.ranks[rank].inter, i)
	}
	if c.Kind == spec.SpawnedBy {
		r.ranks[rank].asked = append(r.ranks[rank].asked, i)
	} else if parent := r.current(rank, c.Parent); parent == none {
		r.calls[i].failed = true
		r.errs = append(r.errs, &GroupError{
			Rank: rank, Kind: c.Kind,
			Reason: fmt.Sprintf("call %d: parent %s %d is not known", position, c.Parent.Class, c.Parent.ID),
		})
	} else {
		r.adopt(parent, i)
	}
	if c.Always {
		position = 0
	}
	if c.Result.Class != "" {
		r.bind(rank, c.Result, position, i)
	}
}

// Free says that the call of a process at a position freed a group object. The
// call itself still means it. It panics if the rank is not one that a run may have.
func (r *Resolver) Free(rank int, position uint64, local Local) {
	checkRank(rank)
	if r.current(rank, local) == none {
		r.errs = append(r.errs, &GroupError{
			Rank: rank, Reason: fmt.Sprintf("call %d: frees %s %d, which is not known", position, local.Class,
				local.ID),
		})
		return
	}
	list := r.ranks[rank].bound[local]
	list[len(list)-1].until = position
}

func checkRank(rank int) {
	need.That(rank >= 0 && rank < layout.MaxRanks, "resolve: a rank that no run has")
}

// add adds a call and returns its number.
func (r *Resolver) add(c call) int32 {
	c.child, c.last, c.sibling = none, none, none
	for len(r.ranks) <= int(c.rank) {
		r.ranks = append(r.ranks, view{})
	}
	r.calls = append(r.calls, c)
	return int32(len(r.calls) - 1)
}

// adopt makes a call the last that creates something on the result of another.
func (r *Resolver) adopt(parent, child int32) {
	p := &r.calls[parent]
	if p.child == none {
		p.child = child
	} else {
		r.calls[p.last].sibling = child
	}
	p.last = child
}

// bind makes local stand for the result of a call, from a position on.
func (r *Resolver) bind(rank int, local Local, from uint64, n int32) {
	v := &r.ranks[rank]
	if v.bound == nil {
		v.bound = make(map[Local][]binding)
	}
	v.bound[local] = append(v.bound[local], binding{from, open, n})
}

// current returns the call whose result a process knows as local, or none.
func (r *Resolver) current(rank int, local Local) int32 {
	if rank >= len(r.ranks) {
		return none
	}
	list := r.ranks[rank].bound[local]
	if len(list) == 0 || list[len(list)-1].until != open {
		return none
	}
	return list[len(list)-1].call
}

// Resolve returns the groups, and leaves r empty. If what was recorded is
// inconsistent, as when a member's call is missing, the error says so, with a
// [*GroupError] for each creation; see [errors.Join]. What does not depend on
// these is resolved. A duplicate is resolved even if members' calls are missing,
// for its members are known. It takes O(n log n) time for n creations and the
// lengths of Members, where processes do not share those.
func (r *Resolver) Resolve() (*Groups, error) {
	s := resolution{
		calls:   r.calls,
		ranks:   r.ranks,
		errs:    r.errs,
		waiting: make(map[int32][]*half),
		ready:   make(map[int32]*half),
		open:    make(map[interKey]*half),
	}
	for _, w := range r.roots {
		s.add(w)
	}
	s.run()
	s.orphans()
	*r = Resolver{}
	return &Groups{calls: s.calls, ranks: s.ranks, list: s.groups}, errors.Join(s.errs...)
}

// Groups are the group objects of a run. Its methods may be called from several
// goroutines at once.
type Groups struct {
	calls []call
	ranks []view
	list  []*Group
}

// At returns which group the process of a rank means by a name, in its call at a
// position, and what it is in it. It reports false if it is not known to be any:
// not created yet, freed, or not resolved. It takes O(log n) time, n being the
// number of groups that had the name.
func (g *Groups) At(rank int, local Local, position uint64) (Member, bool) {
	m, ok, _, _ := g.Span(rank, local, position)
	return m, ok
}

// Span is like [Groups.At], and also returns the first and the last position for which it
// returns that.
func (g *Groups) Span(rank int, local Local, position uint64) (m Member, ok bool, first, last uint64) {
	last = open
	if rank < 0 || rank >= len(g.ranks) {
		return m, false, 0, last
	}
	list := g.ranks[rank].bound[local]
	i := sort.Search(len(list), func(i int) bool { return list[i].from > position })
	if i < len(list) {
		last = list[i].from - 1
	}
	if i == 0 {
		return m, false, 0, last
	}
	b := list[i-1]
	if position > b.until {
		return m, false, b.until + 1, last
	}
	if c := &g.calls[b.call]; c.group != nil {
		m, ok = Member{Group: c.group, Rank: int(c.groupRank), Remote: c.remote}, true
	}
	return m, ok, b.from, min(b.until, last)
}
