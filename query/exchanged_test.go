package query

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/requestid"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
)

// An exchanging makes a program of collective operations, and adds up pair by pair what the
// standard says they exchange.
type exchanging struct {
	*rapid.T
	ranks   int
	calls   []*testtrace.Recording
	derived int64 // the size of the datatype that has the id 0 now
	want    map[[2]int]Blocks
}

// A team is a communicator of a program: its members in order, those of the second group of
// an intercommunicator, and in topologies to whom each sends.
type team struct {
	handle any
	groups [][]int
	sends  [][]int // by rank in the team, as ranks in it; −1 for nobody
}

// gives adds what one rank gives another.
func (e *exchanging) gives(from, to, times int, size int64) {
	if from == to || size == 0 {
		return
	}
	b := e.want[[2]int{from, to}]
	b.Blocks += uint64(times)
	if size < 0 {
		b.Unknown += uint64(times)
	} else {
		b.Bytes += uint64(times) * uint64(size)
	}
	e.want[[2]int{from, to}] = b
}

// datatype draws a datatype, and returns what so many of it take.
func (e *exchanging) datatype() (name any, sized func(count int) int64) {
	size := int64(-1)
	switch name = rapid.SampledFrom([]any{"MPI_INT", "MPI_CHAR", 0, 99}).Draw(e.T, "datatype"); name {
	case "MPI_INT":
		size = 4
	case "MPI_CHAR":
		size = 1
	case 0:
		size = e.derived
	}
	return name, func(count int) int64 {
		if count == 0 {
			return 0
		}
		return max(int64(count)*size, -1)
	}
}

func (e *exchanging) count() int { return rapid.IntRange(0, 3).Draw(e.T, "count") }

func (e *exchanging) counts(n int) (list []int) {
	for range n {
		list = append(list, e.count())
	}
	return list
}

func values(list []int) (all []any) {
	for _, n := range list {
		all = append(all, n)
	}
	return all
}

// datatypes draws as many datatypes.
func (e *exchanging) datatypes(n int) (names []any, sized []func(count int) int64) {
	for range n {
		name, size := e.datatype()
		names, sized = append(names, name), append(sized, size)
	}
	return names, sized
}

// makeTeams makes communicators on all ranks.
func (e *exchanging) makeTeams() []team {
	all := make([]int, e.ranks)
	for rank := range all {
		all[rank] = rank
	}
	colors := rapid.SliceOfN(rapid.IntRange(0, 1), e.ranks, e.ranks).Draw(e.T, "colors")
	keys := rapid.Permutation(all).Draw(e.T, "keys")
	split := make([][]int, 2)
	for rank, color := range colors {
		split[color] = append(split[color], rank)
		e.calls[rank].MPI(1, "MPI_Comm_split", "comm", "MPI_COMM_WORLD", "color", color, "key", keys[rank],
			"newcomm", 0)
	}
	teams := []team{{handle: "MPI_COMM_WORLD", groups: [][]int{all}}}
	for color, members := range split {
		slices.SortFunc(members, func(a, b int) int { return keys[a] - keys[b] })
		if split[color] = members; len(members) > 0 {
			teams = append(teams, team{handle: 0, groups: [][]int{members}})
		}
	}
	if len(split[0]) > 0 && len(split[1]) > 0 {
		for rank, color := range colors {
			e.calls[rank].MPI(1, "MPI_Intercomm_create", "local_comm", 0, "local_leader", 0, "peer_comm",
				"MPI_COMM_WORLD",
				"remote_leader", split[1-color][0], "tag", 1, "newintercomm", 1)
		}
		teams = append(teams, team{handle: 1, groups: split})
	}
	grid := team{handle: 2, groups: [][]int{all}}
	width, periodic := rapid.IntRange(1, e.ranks).Draw(e.T, "width"), rapid.Bool().Draw(e.T, "periodic")
	if e.ranks%width != 0 {
		width = 1
	}
	for rank := range e.ranks {
		periods := []any{0, 1}
		if !periodic {
			periods = []any{0, 0}
		}
		e.calls[rank].MPI(1, "MPI_Cart_create", "comm_old", "MPI_COMM_WORLD", "ndims", 2, "dims",
			[]any{e.ranks / width, width}, "periods", periods, "reorder", 0, "comm_cart", 2)
		x, y := rank%width, rank/width
		at := func(x, y int) int {
			if periodic {
				x = (x + width) % width
			}
			if x < 0 || x >= width || y < 0 || y >= e.ranks/width {
				return -1
			}
			return y*width + x
		}
		grid.sends = append(grid.sends, []int{at(x, y-1), at(x, y+1), at(x-1, y), at(x+1, y)})
	}
	graph := team{handle: 3, groups: [][]int{all}}
	for rank := range e.ranks {
		to := rapid.SliceOfN(rapid.IntRange(0, e.ranks-1), 0, 3).Draw(e.T, "destinations")
		graph.sends = append(graph.sends, to)
		e.calls[rank].MPI(1, "MPI_Dist_graph_create_adjacent", "comm_old", "MPI_COMM_WORLD", "indegree", 0,
			"sources", []any{},
			"outdegree", len(to), "destinations", values(to), "reorder", 0, "comm_dist_graph", 3)
	}
	return append(teams, grid, graph)
}

// A collectiveCall makes the calls of an operation, in which the group gives, or if that is
// one group, all exchange with each other.
type collectiveCall struct {
	*exchanging
	team
	name  string
	times int // the calls are made
	form  string
}

// call makes the call of a rank: the blocking one, the nonblocking one, or one that is started
// as often as it would be called.
func (c *collectiveCall) call(rank int, pairs ...any) {
	r, pairs := c.calls[rank], append(pairs, "comm", c.handle)
	request := int(requestid.Join(0, 0))
	switch c.form {
	case "I":
		r.MPI(c.times, "MPI_I"+c.name, append(pairs, "request", request)...)
	case "_init":
		r.MPI(1, "MPI_"+string(c.name[0]-'a'+'A')+c.name[1:]+"_init", append(pairs, "request", request)...)
		r.MPI(c.times, "MPI_Start", "request", request)
	default:
		r.MPI(c.times, "MPI_"+string(c.name[0]-'a'+'A')+c.name[1:], pairs...)
	}
}

// operation makes an operation on a team.
func (e *exchanging) operation(t team) {
	c := &collectiveCall{exchanging: e, team: t, times: rapid.IntRange(1, 3).Draw(e.T, "times"),
		form: rapid.SampledFrom([]string{"", "I", "_init"}).Draw(e.T, "form")}
	if t.sends != nil {
		c.neighbours()
		return
	}
	names := []string{"barrier", "bcast", "reduce", "gather", "gatherv", "scatter", "scatterv", "allreduce",
		"allgather", "allgatherv", "alltoall", "alltoallv",
		"alltoallw", "reduce_scatter", "reduce_scatter_block"}
	if len(t.groups) == 1 {
		names = append(names, "scan", "exscan")
	}
	switch c.name = rapid.SampledFrom(names).Draw(e.T, "operation"); c.name {
	case "barrier":
		for _, g := range t.groups {
			for _, rank := range g {
				c.call(rank)
			}
		}
	case "bcast", "reduce", "gather", "gatherv", "scatter", "scatterv":
		c.rooted()
	default:
		c.everyone()
	}
}

// rooted makes an operation with a root.
func (c *collectiveCall) rooted() {
	ofRoot := c.groups[rapid.IntRange(0, len(c.groups)-1).Draw(c.T, "group of the root")]
	others := ofRoot
	if len(c.groups) == 2 {
		if others = c.groups[0]; &others[0] == &ofRoot[0] {
			others = c.groups[1]
		}
	}
	at := rapid.IntRange(0, len(ofRoot)-1).Draw(c.T, "root")
	root := ofRoot[at]
	datatype, sized := c.datatype()
	counts := c.counts(len(others))
	if c.name[len(c.name)-1] != 'v' {
		counts = slices.Repeat(counts[:1], len(counts))
	}
	inPlace := len(c.groups) == 1 && rapid.Bool().Draw(c.T, "in place")
	make1 := func(rank int, number any, n int) {
		place := any(0)
		if inPlace && rank == root {
			place = "MPI_IN_PLACE"
		}
		switch c.name {
		case "bcast":
			c.call(rank, "buffer", 0, "count", n, "datatype", datatype, "root", number)
		case "reduce":
			c.call(rank, "sendbuf", place, "recvbuf", 0, "count", n, "datatype", datatype, "root", number)
		case "gather":
			c.call(rank, "sendbuf", place, "sendcount", n, "sendtype", datatype, "recvcount", counts[0],
				"recvtype", datatype, "root", number)
		case "gatherv":
			c.call(rank, "sendbuf", place, "sendcount", n, "sendtype", datatype, "recvcounts", values(counts),
				"recvtype", datatype, "root", number)
		case "scatter":
			c.call(rank, "sendcount", counts[0], "sendtype", datatype, "recvbuf", place, "recvcount", n,
				"recvtype", datatype, "root", number)
		case "scatterv":
			c.call(rank, "sendcounts", values(counts), "sendtype", datatype, "recvbuf", place, "recvcount", n,
				"recvtype", datatype, "root", number)
		}
	}
	for i, rank := range others {
		make1(rank, at, counts[i])
		if c.name == "bcast" || c.name == "scatter" || c.name == "scatterv" {
			c.gives(root, rank, c.times, sized(counts[i]))
		} else {
			c.gives(rank, root, c.times, sized(counts[i]))
		}
	}
	if len(c.groups) == 2 {
		for _, rank := range ofRoot {
			if rank == root {
				make1(rank, "MPI_ROOT", counts[0])
			} else {
				make1(rank, "MPI_PROC_NULL", 7)
			}
		}
	}
}

// everyone makes an operation without a root.
func (c *collectiveCall) everyone() {
	for k, givers := range c.groups {
		getters := c.groups[len(c.groups)-1-k]
		inter := len(c.groups) == 2
		datatype, sized := c.datatype()
		n := c.count()
		blocks := c.counts(len(getters)) // of reduce_scatter
		own := c.counts(len(givers))
		table := make([][]int, len(givers)) // of alltoall
		for i := range givers {
			table[i] = c.counts(len(getters))
			for j := range getters {
				if !inter && j < i {
					table[i][j] = table[j][i]
				}
				if c.name == "alltoall" {
					table[i][j] = n
				}
			}
		}
		inPlace := !inter && rapid.Bool().Draw(c.T, "in place")
		place := any(0)
		if inPlace {
			place = "MPI_IN_PLACE"
		}
		// send are the parameters for sending, or of what is sent if that is in place.
		send := func(parameters ...any) []any {
			for i := 0; inPlace && i < len(parameters); i += 2 {
				parameters[i] = "recv" + parameters[i].(string)[4:]
			}
			return append(parameters, "sendbuf", place)
		}
		for i, rank := range givers {
			types, sizedBy := c.datatypes(len(getters))
			switch c.name {
			case "allreduce", "scan", "exscan":
				c.call(rank, "sendbuf", place, "count", n, "datatype", datatype)
			case "allgather":
				c.call(rank, send("sendcount", n, "sendtype", datatype)...)
			case "allgatherv":
				if inPlace {
					c.call(rank, "sendbuf", place, "sendcount", 9, "sendtype", datatype, "recvcounts",
						values(own), "recvtype", datatype)
				} else {
					c.call(rank, "sendbuf", place, "sendcount", own[i], "sendtype", datatype, "recvtype", datatype)
				}
			case "alltoall":
				c.call(rank, send("sendcount", n, "sendtype", datatype)...)
			case "alltoallv":
				c.call(rank, send("sendcounts", values(table[i]), "sendtype", datatype)...)
			case "alltoallw":
				c.call(rank, send("sendcounts", values(table[i]), "sendtypes", types)...)
			case "reduce_scatter":
				if inter {
					c.call(rank, "recvcounts", values(own), "datatype", datatype)
				} else {
					c.call(rank, "sendbuf", place, "recvcounts", values(blocks), "datatype", datatype)
				}
			case "reduce_scatter_block":
				c.call(rank, "sendbuf", place, "recvcount", n, "datatype", datatype)
			}
			for j, to := range getters {
				switch c.name {
				case "scan", "exscan":
					if j > i {
						c.gives(rank, to, c.times, sized(n))
					}
				case "allgatherv":
					c.gives(rank, to, c.times, sized(own[i]))
				case "alltoall", "alltoallv":
					c.gives(rank, to, c.times, sized(table[i][j]))
				case "alltoallw":
					c.gives(rank, to, c.times, sizedBy[j](table[i][j]))
				case "reduce_scatter":
					if inter { // each group says what it gets
						c.gives(to, rank, c.times, sized(own[i]))
					} else {
						c.gives(rank, to, c.times, sized(blocks[j]))
					}
				case "reduce_scatter_block":
					if inter {
						c.gives(to, rank, c.times, sized(n))
					} else {
						c.gives(rank, to, c.times, sized(n))
					}
				default:
					c.gives(rank, to, c.times, sized(n))
				}
			}
		}
	}
}

// neighbours makes an operation with those that a topology says.
func (c *collectiveCall) neighbours() {
	c.name = rapid.SampledFrom([]string{"neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall",
		"neighbor_alltoallv", "neighbor_alltoallw"}).Draw(c.T, "operation")
	datatype, sized := c.datatype()
	for rank, to := range c.sends {
		counts := c.counts(len(to))
		n := c.count()
		types, sizedBy := c.datatypes(len(to))
		switch c.name {
		case "neighbor_alltoallv":
			c.call(rank, "sendcounts", values(counts), "sendtype", datatype)
		case "neighbor_alltoallw":
			c.call(rank, "sendcounts", values(counts), "sendtypes", types)
		default:
			c.call(rank, "sendcount", n, "sendtype", datatype)
		}
		for k, peer := range to {
			if peer < 0 {
				continue
			}
			switch c.name {
			case "neighbor_alltoallv":
				c.gives(rank, peer, c.times, sized(counts[k]))
			case "neighbor_alltoallw":
				c.gives(rank, peer, c.times, sizedBy[k](counts[k]))
			default:
				c.gives(rank, peer, c.times, sized(n))
			}
		}
	}
}

func testExchanged(t *rapid.T) {
	e := &exchanging{T: t, ranks: rapid.IntRange(1, 7).Draw(t, "ranks"), want: make(map[[2]int]Blocks)}
	for range e.ranks {
		e.calls = append(e.calls, new(testtrace.Recording))
	}
	teams := e.makeTeams()
	define := func() {
		n := rapid.IntRange(1, 3).Draw(t, "elements")
		e.derived = int64(4 * n)
		for _, r := range e.calls {
			r.MPI(1, "MPI_Type_contiguous", "count", n, "oldtype", "MPI_INT", "newtype", 0)
		}
	}
	define()
	for range rapid.IntRange(1, 12).Draw(t, "operations") {
		if rapid.IntRange(0, 5).Draw(t, "redefine") == 0 {
			define()
		}
		e.operation(rapid.SampledFrom(teams).Draw(t, "team"))
	}
	var parts []merge.Part
	for rank, r := range e.calls {
		parts = append(parts, r.Finish(rank))
	}
	model := openModel(t, openParts(t, merge.Run{Ranks: e.ranks}, parts))
	if err := model.Unresolved(); err != nil {
		t.Fatal(err)
	}
	all := openMessages(t, model, 0, Options{})
	checkExchanged(t, all, e.want, 0)
	for _, bins := range []int{1, 2, 3, 100} {
		checkBins(t, openMessages(t, model, bins, Options{}).Matrix, all.Traffic)
		m, err := all.Traffic.Matrix(bins)
		if err != nil {
			t.Fatal(err)
		}
		checkBins(t, m, all.Traffic)
	}
}

// checkExchanged compares what ranks exchange with what is wanted by pair, and the calls that
// exchange something with unknown ranks.
func checkExchanged(t tester, all *Messages, want map[[2]int]Blocks, uncounted uint64) {
	t.Helper()
	traffic := all.Traffic
	got := make(map[[2]int]Blocks)
	before := Pair{Source: -1}
	var sum, communicators Blocks
	for p := range traffic.All() {
		if comparePairs(before, p) >= 0 {
			t.Errorf("%d to %d follows %d to %d", p.Source, p.Destination, before.Source, before.Destination)
		}
		if before = p; p.Exchanged.Blocks > 0 {
			got[[2]int{p.Source, p.Destination}] = p.Exchanged
			sum.plus(p.Exchanged)
		}
	}
	for _, c := range all.Communicators {
		communicators.plus(c.Exchanged)
	}
	for k, b := range want {
		if got[k] != b {
			t.Errorf("%d to %d: %+v, want %+v", k[0], k[1], got[k], b)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d pairs, want %d", len(got), len(want))
	}
	if traffic.Exchanged != sum || communicators != sum || traffic.Uncounted != uncounted {
		t.Errorf("%+v in all and %+v by communicator, want %+v; %d calls with unknown ranks",
			traffic.Exchanged, communicators, sum, traffic.Uncounted)
	}
}

// checkBins compares a matrix with the pairs.
func checkBins(t tester, m *Matrix, traffic *Traffic) {
	t.Helper()
	want := make(map[[2]int]Volume)
	for p := range traffic.All() {
		k := [2]int{m.bin(p.Source), m.bin(p.Destination)}
		v := want[k]
		v.Add(p.Volume)
		want[k] = v
	}
	for source := range m.Bins {
		for destination := range m.Bins {
			if got := m.At(source, destination); got != want[[2]int{source, destination}] {
				t.Errorf("%d bins: %+v from %d to %d, want %+v", m.Bins, got, source, destination,
					want[[2]int{source, destination}])
			}
		}
	}
	if m.Volume != traffic.Volume || m.Uncounted != traffic.Uncounted || m.Unplaced != traffic.Unplaced {
		t.Errorf("%d bins: %+v in all, want %+v", m.Bins, m.Volume, traffic.Volume)
	}
}

// TestExchanged compares what ranks exchange in collective operations with a sum over all
// calls and pairs.
func TestExchanged(t *testing.T) { rapid.Check(t, testExchanged) }

// TestTooManyPairs counts messages between more pairs than may be held: not by pair, but by
// bins. Uniform pairs do not count.
func TestTooManyPairs(t *testing.T) {
	model := openModel(t, openProgram(t, programs.RandomAlltoallv(20, 2, 1)))
	if _, err := messagesWithin(t.Context(), model, 0, 300, Options{}); !errors.Is(err, ErrTooManyPairs) {
		t.Errorf("380 pairs: %v", err)
	}
	if all, err := messagesWithin(t.Context(), model, 7, 300, Options{}); err != nil ||
		all.Matrix.Exchanged.Blocks == 0 {
		t.Errorf("7 bins: %v", err)
	}
	model = openModel(t, openProgram(t, programs.Stencil2D(5, 4, 3)))
	if all, err := messagesWithin(t.Context(), model, 0, 62, Options{}); err != nil ||
		all.Traffic.Exchanged.Blocks != 3*20*19 {
		t.Errorf("62 pairs: %v", err)
	}
}
