package otf2

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/trace/meaning"
)

// Semantics are those of the calls of a trace that [Import] made. OTF2 says who sent a message where it has been
// received: there calls receive it, and nonblocking collective operations are where they end.
type Semantics struct {
	archive *archive
	comms   map[int64]*commOf // by number, as arguments have it
	groups  []meaning.Group

	once    sync.Once
	waiting map[string]bool // regions, by name
}

// A commOf is a communicator as calls use it.
type commOf struct {
	name    string
	members []int // ranks in the run
	remote  []int // that peers are numbers of, if it is an intercommunicator
	self    bool  // it is that of each rank alone
}

// SemanticsOf returns the semantics of a trace, nil if it was not made of an archive.
func SemanticsOf(tr *trace.Trace) (*Semantics, error) {
	need.That(tr != nil, "otf2: no trace")
	data, ok, err := tr.Kept(keptName)
	if err != nil || !ok {
		return nil, err
	}
	a, err := parseKept(data, nil)
	if err != nil {
		return nil, err
	}
	s := &Semantics{archive: a, comms: make(map[int64]*commOf)}
	s.addComms(tr.Ranks())
	return s, nil
}

// addComms adds the communicators whose members are known, each rank once.
func (s *Semantics) addComms(ranks int) {
	rankOf := make(map[uint64]int)
	for _, l := range s.archive.locations {
		rankOf[l.number] = l.rank
	}
	world := s.archive.worldLocations()
	known := make(map[uint64][]int)
	membersOf := func(number uint64) []int {
		members, ok := known[number]
		if !ok {
			i := slices.IndexFunc(s.archive.sets, func(g set) bool {
				return g.number == number && g.kind == setCommGroup
			})
			if i >= 0 {
				members = membersIn(s.archive.sets[i].members, world, rankOf, ranks)
			}
			known[number] = members
		}
		return members
	}
	named := make(map[string]bool)
	for _, c := range s.archive.comms {
		if slices.ContainsFunc(s.archive.sets, func(g set) bool { return g.number == c.groups[0] && g.kind == setCommSelf }) {
			s.comms[int64(int32(c.number))] = &commOf{self: true}
			continue
		}
		g := &commOf{members: membersOf(c.groups[0])}
		all := g.members
		if len(c.groups) > 1 {
			g.remote = membersOf(c.groups[1])
			all = slices.Concat(g.members, g.remote)
			if g.remote == nil {
				continue
			}
		}
		if len(all) == 0 || g.remote != nil && !areUnique(all) {
			continue // not each rank once
		}
		id := int64(int32(c.number))
		if s.comms[id] != nil {
			continue
		}
		s.comms[id] = g
		if len(all) == ranks && slices.IsSorted(all) {
			continue // that of all ranks
		}
		g.name = s.archive.strings[c.name]
		if g.name == "" || g.name == "world" || named[g.name] {
			g.name = fmt.Sprintf("%s#%d", g.name, c.number)
		}
		named[g.name] = true
		s.groups = append(s.groups, meaning.Group{Name: g.name, Ranks: all})
	}
}

// membersIn returns the ranks of the members of a group, which are numbers of locations of the world: nil if they are
// not known, or not each rank once.
func membersIn(numbers, world []uint64, rankOf map[uint64]int, ranks int) []int {
	var members []int
	for _, m := range numbers {
		if m >= uint64(len(world)) {
			return nil
		}
		rank, ok := rankOf[world[m]]
		if !ok || rank >= ranks {
			return nil
		}
		members = append(members, rank)
	}
	if !areUnique(members) {
		return nil
	}
	return members
}

func areUnique(ranks []int) bool {
	return len(slices.Compact(slices.Sorted(slices.Values(ranks)))) == len(ranks)
}

// Groups returns the communicators.
func (s *Semantics) Groups() []meaning.Group { return s.groups }

// The roles of regions in which threads wait for each other, and those of communication. The blocks that threads
// execute one after the other have roles of their own.
var (
	syncRoles = []string{"BARRIER", "IMPLICIT_BARRIER", "CRITICAL", "ORDERED", "FLUSH", "TASK_WAIT", "THREAD_WAIT"}
	commRoles = []string{"COLL_ONE2ALL", "COLL_ALL2ONE", "COLL_ALL2ALL", "COLL_OTHER", "POINT2POINT", "RMA"}
)

// isWaiting reports whether a thread does not compute in a region of a role and a paradigm.
func isWaiting(role, paradigm uint64) bool {
	name := strings.TrimPrefix(theTable().names["RegionRole"][role], "REGION_ROLE_")
	return paradigm == paradigmMPI || slices.Contains(syncRoles, name) || slices.Contains(commRoles, name)
}

// Waits reports whether threads do not compute in regions of a name, but in those within: they are MPI's, or others in
// which threads wait, by their roles.
func (s *Semantics) Waits(region string) bool {
	need.That(s != nil && s.archive != nil, "otf2: no semantics")
	s.once.Do(func() {
		s.waiting = make(map[string]bool)
		for number, name := range s.archive.regions {
			text := s.archive.strings[name]
			waits, known := s.waiting[text]
			s.waiting[text] = s.archive.waiting[number] && (waits || !known)
		}
	})
	return s.waiting[region]
}

// OnProcessor reports whether a thread of a rank is one of a processor, and no stream of an accelerator.
func (s *Semantics) OnProcessor(rank, thread int) bool {
	need.That(s != nil && s.archive != nil, "otf2: no semantics")
	i := slices.IndexFunc(s.archive.locations, func(l location) bool { return l.rank == rank && l.thread == thread })
	return i < 0 || s.archive.locations[i].processor
}

// Of returns what a call means.
func (s *Semantics) Of(rank int, call *trace.Call) (o meaning.Operation) {
	need.That(s != nil && s.archive != nil && call != nil, "otf2: no semantics, or no call")
	in, ok := parseCall(s.archive, call)
	if !ok {
		return o
	}
	for _, i := range inOrder(in.events) {
		s.add(&o, rank, &in.events[i], in.region)
	}
	return o
}

// inOrder returns the numbers of events: of nonblocking collective operations, which may complete in any order, in the
// order of their requests, which is that in which they began as long as the lowest is free.
func inOrder(events []Record) []int {
	order := make([]int, len(events))
	var collectives []int
	for i := range order {
		if order[i] = i; events[i].Kind.Name == "NonBlockingCollectiveComplete" {
			collectives = append(collectives, i)
		}
	}
	sorted := slices.Clone(collectives)
	slices.SortStableFunc(sorted, func(i, j int) int {
		return cmp.Compare(int64(events[i].Values[5]), int64(events[j].Values[5]))
	})
	for k, at := range collectives {
		order[at] = sorted[k]
	}
	return order
}

// add adds what an event means in a call of a region.
func (s *Semantics) add(o *meaning.Operation, rank int, r *Record, region string) {
	request := int64(0)
	if k := r.Kind; k.request > 0 {
		if n := int64(r.Values[k.request-1]); n >= 0 {
			request = n + 1
		}
	}
	switch v := r.Values; r.Kind.Name {
	case "MpiSend", "MpiIsend":
		m, ok := s.message(rank, r)
		if m.Waits = strings.Contains(strings.ToLower(region), "ssend"); r.Kind.Name == "MpiIsend" {
			m.Request = request
		}
		if ok {
			o.Sends = append(o.Sends, m)
		}
	case "MpiIrecvRequest":
		if request > 0 {
			o.Posts = append(o.Posts, request)
		}
	case "MpiRecv", "MpiIrecv":
		if m, ok := s.message(rank, r); ok {
			m.Posted = request // 0 of MpiRecv
			o.Receives = append(o.Receives, m)
		}
	case "MpiIsendComplete":
		o.Completes = append(o.Completes, request)
	case "MpiCollectiveEnd", "NonBlockingCollectiveComplete":
		if g := s.comms[int64(int32(v[1]))]; g == nil || !g.self {
			c := s.collective(v[0], int64(int32(v[1])), int64(int32(v[2])), v[3], v[4], rank)
			if s.share(c, g, v[0], rank, region); o.Collective == nil {
				o.Collective = c
			} else {
				o.More = append(o.More, c)
			}
		}
	case "RmaPut":
		o.Puts = s.access(o.Puts, v[0], v[1], v[2])
	case "RmaGet":
		o.Gets = s.access(o.Gets, v[0], v[1], v[2])
	case "RmaAtomic":
		o.Puts = s.access(o.Puts, v[0], v[1], v[3])
		if v[4] > 0 {
			o.Gets = s.access(o.Gets, v[0], v[1], v[4])
		}
	}
}

// access adds an access of some bytes to the memory of another rank in a window.
func (s *Semantics) access(to []meaning.Message, window, remote, bytes uint64) []meaning.Message {
	comm, ok := s.archive.windows[window]
	g := s.comms[int64(int32(comm))]
	if !ok || g == nil {
		return to
	}
	m := meaning.Message{Group: g.name, Peer: meaning.Unknown, Bytes: max(int64(bytes), meaning.Unknown)}
	if remote < uint64(len(g.members)) {
		m.Peer = g.members[remote]
	}
	return append(to, m)
}

// message returns a message, and whether there is one.
func (s *Semantics) message(rank int, r *Record) (m meaning.Message, ok bool) {
	peer, comm := int64(int32(r.Values[0])), int64(int32(r.Values[1]))
	m = meaning.Message{Peer: meaning.Unknown, Tag: meaning.Unknown, Bytes: int64(r.Values[3])}
	if tag := int32(r.Values[2]); tag >= 0 {
		m.Tag = int64(tag)
	}
	if m.Bytes < 0 {
		m.Bytes = meaning.Unknown
	}
	g := s.comms[comm]
	if g == nil {
		return m, peer >= 0
	}
	if g.self {
		m.Peer = rank
		return m, true
	}
	m.Group = g.name
	peers := g.members
	if g.remote != nil && slices.Contains(g.members, rank) {
		peers = g.remote
	}
	if peer >= 0 && peer < int64(len(peers)) {
		m.Peer = peers[peer]
	}
	return m, true
}

// The operations of OTF2 by who waits for whom.
var (
	fromRoot = []string{"COLLECTIVE_OP_BCAST", "COLLECTIVE_OP_SCATTER", "COLLECTIVE_OP_SCATTERV"}
	toRoot   = []string{"COLLECTIVE_OP_GATHER", "COLLECTIVE_OP_GATHERV", "COLLECTIVE_OP_REDUCE"}
)

// collective returns a collective operation.
func (s *Semantics) collective(op uint64, comm, root int64, sent, received uint64, rank int) *meaning.Collective {
	c := &meaning.Collective{Kind: meaning.Together, Bytes: meaning.Unknown,
		Totals: &meaning.Totals{Sent: int64(sent), Received: int64(received)}}
	name := theTable().names["CollectiveOp"][op]
	if name == "COLLECTIVE_OP_BARRIER" || sent == 0 && received == 0 {
		c.Bytes, c.Totals = 0, nil
	}
	g := s.comms[comm]
	if g == nil {
		c.Group = unknownGroup
		return c
	}
	c.Group = g.name
	isFrom := slices.Contains(fromRoot, name)
	if g.remote != nil || !isFrom && !slices.Contains(toRoot, name) {
		return c
	}
	switch {
	case root >= 0 && root < int64(len(g.members)):
		c.Root = g.members[root]
	case root == rootSelf:
		c.Root = rank
	default:
		return c
	}
	if c.Kind = meaning.ToRoot; isFrom {
		c.Kind = meaning.FromRoot
	}
	return c
}

// share sets how many bytes the caller of a collective operation gives to each other, in an archive that Reprise
// exported. What others count as sent and received does not tell it.
func (s *Semantics) share(c *meaning.Collective, g *commOf, op uint64, rank int, region string) {
	if c.Totals == nil || g == nil || g.remote != nil || !s.archive.exported() || strings.Contains(region, "eighbor") {
		return
	}
	size := int64(len(g.members))
	isRoot := c.Kind != meaning.Together && c.Root == rank
	switch name := strings.TrimPrefix(theTable().names["CollectiveOp"][op], "COLLECTIVE_OP_"); {
	case c.Kind == meaning.FromRoot && name != "BCAST" && name != "SCATTER":
	case c.Kind == meaning.FromRoot && !isRoot:
		c.Bytes = c.Totals.Received
	case name == "BCAST", name == "GATHER", name == "GATHERV", name == "REDUCE", name == "ALLGATHER",
		name == "ALLGATHERV", name == "ALLREDUCE":
		c.Bytes = c.Totals.Sent
	case name == "SCATTER", name == "ALLTOALL" && c.Totals.Sent == c.Totals.Received:
		if c.Totals.Sent%size == 0 {
			c.Bytes = c.Totals.Sent / size
		}
	}
}

// rootSelf is COLLECTIVE_ROOT_SELF as arguments have it, and unknownGroup the name of no group.
const (
	rootSelf     = -2
	unknownGroup = "?"
)
