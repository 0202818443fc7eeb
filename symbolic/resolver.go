package symbolic

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"sort"
)

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
	kind       Kind
	remote     bool // in the second group of an intercommunicator
	failed     bool
}

// more holds arguments that few kinds have.
type more struct {
	members              []int
	tag                  int64
	leader, remoteLeader int
	peer                 int32 // call
	high                 bool
}

// Declare says that a group exists from the start, and what its members call it.
// Members are ranks in the run, by rank in the group; they are kept. A group of
// each process alone, such as MPI_COMM_SELF, is declared for each, with its name.
func (r *Resolver) Declare(local Local, name string, members []int) {
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
// the name of the result, that one ends.
func (r *Resolver) Create(rank int, position uint64, c Creation) {
	n := call{
		position: position, rank: int32(rank), kind: c.Kind, class: c.Result.Class,
		color: c.Color, key: c.Key, want: none,
	}
	if c.Size != 0 {
		n.want, n.size = int32(c.Rank), int32(c.Size)
	}
	switch c.Kind {
	case Create, CreateGroup, IntercommCreate, IntercommMerge:
		n.more = &more{c.Members, c.Tag, c.Leader, c.RemoteLeader, r.current(rank, c.Peer), c.High}
	}
	i := r.add(n)
	if c.Kind == IntercommCreate {
		r.ranks[rank].inter = append(r.ranks[rank].inter, i)
	}
	if parent := r.current(rank, c.Parent); parent == none {
		r.calls[i].failed = true
		r.errs = append(r.errs, &GroupError{
			Rank: rank, Kind: c.Kind,
			Reason: fmt.Sprintf("call %d: parent %s %d is not known", position, c.Parent.Class, c.Parent.ID),
		})
	} else {
		r.adopt(parent, i)
	}
	if c.Result.Class != "" {
		r.bind(rank, c.Result, position, i)
	}
}

// Free says that the call of a process at a position freed a group object. The
// call itself still means it.
func (r *Resolver) Free(rank int, position uint64, local Local) {
	if r.current(rank, local) == none {
		r.errs = append(r.errs, &GroupError{
			Rank: rank, Reason: fmt.Sprintf("call %d: frees %s %d, which is not known", position, local.Class, local.ID),
		})
		return
	}
	list := r.ranks[rank].bound[local]
	list[len(list)-1].until = position
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

// Len returns the number of groups.
func (g *Groups) Len() int { return len(g.list) }

// All returns an iterator over the groups: those that were declared, then the
// others, each behind its parent. The order depends on nothing but what the
// processes recorded.
func (g *Groups) All() iter.Seq[*Group] { return slices.Values(g.list) }

// At returns which group the process of a rank means by a name, in its call at a
// position, and what it is in it. It reports false if it is not known to be any:
// not created yet, freed, or not resolved. It takes O(log n) time, n being the
// number of groups that had the name.
func (g *Groups) At(rank int, local Local, position uint64) (Member, bool) {
	if rank < 0 || rank >= len(g.ranks) {
		return Member{}, false
	}
	list := g.ranks[rank].bound[local]
	i := sort.Search(len(list), func(i int) bool { return list[i].from > position })
	if i == 0 || position > list[i-1].until {
		return Member{}, false
	}
	c := &g.calls[list[i-1].call]
	if c.group == nil {
		return Member{}, false
	}
	return Member{Group: c.group, Rank: int(c.groupRank), Remote: c.remote}, true
}

// Span is like [Groups.At], and also returns the first and the last position for which it
// returns that.
func (g *Groups) Span(rank int, local Local, position uint64) (m Member, ok bool, first, last uint64) {
	last = open
	if rank < 0 || rank >= len(g.ranks) {
		return Member{}, false, 0, last
	}
	list := g.ranks[rank].bound[local]
	i := sort.Search(len(list), func(i int) bool { return list[i].from > position })
	if i < len(list) {
		last = list[i].from - 1
	}
	if i == 0 {
		return Member{}, false, 0, last
	}
	if b := list[i-1]; position > b.until {
		return Member{}, false, b.until + 1, last
	} else {
		m, ok = g.At(rank, local, position)
		return m, ok, b.from, min(b.until, last)
	}
}
