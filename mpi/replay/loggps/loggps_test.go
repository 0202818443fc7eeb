package loggps

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/rankenc"
)

// world returns the communicator of so many ranks.
func world(t testtrace.TB, ranks int) *semantics.Communicator {
	t.Helper()
	var lines strings.Builder
	for rank := range ranks {
		fmt.Fprintf(&lines, "%d init\n", rank)
	}
	m, err := semantics.Open(context.Background(), testtrace.TI(t, lines.String()))
	if err != nil {
		t.Fatal(err)
	}
	return m.World()
}

// inters are intercommunicators, by the sizes of their groups.
var inters = make(map[[2]int]*semantics.Communicator)

// inter returns an intercommunicator of two groups, of which the first has the ranks below that of the
// second.
func inter(t testtrace.TB, first, second int) *semantics.Communicator {
	t.Helper()
	if c := inters[[2]int{first, second}]; c != nil {
		return c
	}
	var parts []merge.Part
	for rank := range first + second {
		var r testtrace.Recording
		side, leader := 0, first
		if rank >= first {
			side, leader = 1, 0
		}
		r.MPI(1, "MPI_Comm_split", "comm", "MPI_COMM_WORLD", "color", side, "key", 0, "newcomm", 0)
		r.MPI(1, "MPI_Intercomm_create", "local_comm", 0, "local_leader", 0, "peer_comm", "MPI_COMM_WORLD",
			"remote_leader", leader, "tag", 1, "newintercomm", 1)
		r.MPI(1, "MPI_Barrier", "comm", 1)
		parts = append(parts, r.Finish(rank))
	}
	model, err := semantics.Open(context.Background(), testtrace.Write(t, merge.Run{Ranks: first + second}, parts))
	if err != nil {
		t.Fatal(err)
	}
	calls, err := model.Rank(0)
	if err != nil {
		t.Fatal(err)
	}
	for o := range calls.All() {
		if c := o.Operation.Communicator; c != nil && c.IsInter() && len(c.Members(0)) == first &&
			len(c.Members(1)) == second {
			inters[[2]int{first, second}] = c
			return c
		}
	}
	t.Fatal("no intercommunicator")
	return nil
}

// names are those of collective operations of all kinds.
var names = []string{
	"MPI_Barrier", "MPI_Bcast", "MPI_Scatter", "MPI_Scatterv", "MPI_Gather", "MPI_Gatherv", "MPI_Reduce",
	"MPI_Allreduce", "MPI_Allgather",
	"MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw", "MPI_Reduce_scatter",
	"MPI_Reduce_scatter_block", "MPI_Scan", "MPI_Exscan",
	"MPI_Neighbor_allgather", "MPI_Comm_dup", "MPI_Win_fence", "MPI_Comm_free", "MPI_File_write_all",
}

var linkGen = rapid.Custom(func(t *rapid.T) Link {
	return Link{
		Latency:    replay.Time(rapid.IntRange(0, 5000).Draw(t, "latency")),
		Overhead:   replay.Time(rapid.IntRange(0, 500).Draw(t, "overhead")),
		Gap:        replay.Time(rapid.IntRange(0, 1000).Draw(t, "gap")),
		Bandwidth:  rapid.SampledFrom([]int64{0, 1e9, 1e10, 3e11}).Draw(t, "bandwidth"),
		EagerLimit: int64(rapid.SampledFrom([]int{-1, 0, 100, 100000}).Draw(t, "eager limit")),
		Larger:     largerGen.Draw(t, "larger"), Copied: rapid.Bool().Draw(t, "copied"),
	}
})

var largerGen = rapid.Custom(func(t *rapid.T) (list []Larger) {
	for _, than := range []int64{0, 100, 4096, 1 << 20} {
		if rapid.IntRange(0, 3).Draw(t, "larger") == 0 {
			list = append(list, Larger{than, replay.Time(rapid.IntRange(0, 9000).Draw(t, "latency")),
				rapid.SampledFrom([]int64{0, 1e9, 2e10}).Draw(t, "bandwidth")})
		}
	}
	return list
})

// drawn returns a machine and an operation on it, in which all members have entered.
func drawn(t *rapid.T, links *rapid.Generator[Link]) (*Machine, *replay.Collective) {
	n := rapid.IntRange(1, 20).Draw(t, "members")
	p := Parameters{Between: links.Draw(t, "between"), Within: links.Draw(t, "within"),
		RanksPerNode: rapid.IntRange(0, 6).Draw(t, "ranks per node"), Cyclic: rapid.Bool().Draw(t, "cyclic")}
	c := &replay.Collective{Role: spec.RoleOf(rapid.SampledFrom(names).Draw(t, "operation")), Root: -1,
		Leave: make([]replay.Time, n)}
	if name := strings.ToLower(c.Role.Data); len(algorithms[name]) > 0 && rapid.Bool().Draw(t, "other algorithm") {
		p.Collectives = map[string]Algorithm{name: rapid.SampledFrom(algorithms[name]).Draw(t, "algorithm")}
	}
	if c.Role.Gives.Of == "root" || c.Role.Gets.Of == "root" {
		c.Root = rapid.IntRange(0, n-1).Draw(t, "root")
	}
	c.Communicator = world(t, n)
	if n > 1 && rapid.Bool().Draw(t, "intercommunicator") {
		first := rapid.IntRange(1, n-1).Draw(t, "first group")
		c.Communicator = inter(t, first, n-first)
	}
	size := int64(rapid.SampledFrom([]int{-1, 0, 8, 1000, 50000, 1000000}).Draw(t, "size"))
	for i := range n {
		c.Enter = append(c.Enter, replay.Time(rapid.IntRange(0, 20000).Draw(t, "enter")))
		c.Sent, c.Received = append(c.Sent, size), append(c.Received, size)
		if c.Root < 0 || i == c.Root || !c.Communicator.IsInter() || inSecond(c, i) != inSecond(c, c.Root) {
			c.Leaving = append(c.Leaving, i)
		}
	}
	m, err := New(p, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m, c
}

// inSecond reports whether a member is in the second group of an intercommunicator.
func inSecond(c *replay.Collective, member int) bool {
	return c.Communicator.IsInter() && member >= len(c.Communicator.Members(0))
}

// earliest returns when members leave if nothing takes any time.
func earliest(c *replay.Collective) []replay.Time {
	c.Earliest()
	for _, i := range c.Leaving {
		switch name := c.Role.Data; {
		case c.Role.Gives.Of == "root", c.Role.Frees, strings.HasSuffix(name, "can"),
			strings.HasPrefix(name, "Neighbor"):
		case c.Role.Gets.Of == "root" && i != c.Root:
		default:
			c.Leave[i] = c.Enter[i]
			for k, at := range c.Enter { // those of the other group, if that gives data
				if !c.Communicator.IsInter() || c.Role.Data == "" || inSecond(c, k) != inSecond(c, i) {
					c.Leave[i] = max(c.Leave[i], at)
				}
			}
		}
	}
	return c.Leave
}

// TestCollective checks that nobody leaves an operation before the members have entered that it needs, that
// nobody leaves earlier if somebody enters later, and that members leave at the same times if they are asked
// for one by one.
func TestCollective(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, c := drawn(t, linkGen)
		m.Collective(c)
		leave, leaving := slices.Clone(c.Leave), slices.Clone(c.Leaving)
		first := earliest(c)
		for _, i := range leaving {
			if leave[i] < first[i] {
				t.Fatalf("member %d leaves at %d, before %d", i, leave[i], first[i])
			}
		}
		again, _ := New(m.Parameters, len(c.Enter), nil)
		for _, i := range leaving {
			c.Leaving = []int{i}
			if again.Collective(c); c.Leave[i] != leave[i] {
				t.Fatalf("member %d alone leaves at %d, with others at %d", i, c.Leave[i], leave[i])
			}
		}
		c.Leaving = leaving
		c.Enter[rapid.IntRange(0, len(leave)-1).Draw(t, "later")] += replay.Time(rapid.IntRange(1, 30000).Draw(t, "by"))
		m.Collective(c)
		for _, i := range leaving {
			if c.Leave[i] < leave[i] {
				t.Fatalf("member %d leaves at %d, and if one enters later at %d", i, leave[i], c.Leave[i])
			}
		}
	})
}

// TestInstant checks that a machine on which nothing takes time is what package replay calls so.
func TestInstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, c := drawn(t, rapid.Just(Link{}))
		m.Collective(c)
		leave := slices.Clone(c.Leave)
		if want := earliest(c); !slices.Equal(leave, want) {
			t.Fatalf("leave %v, want %v", leave, want)
		}
		if cost := m.Message(&replay.Message{To: 1, Bytes: 1 << 40}); cost != (replay.Cost{}) {
			t.Fatalf("cost %+v", cost)
		}
	})
}

// TestClosed checks closed forms against the steps that they stand for.
func TestClosed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 20).Draw(t, "members")
		m, _ := New(Parameters{Between: linkGen.Draw(t, "link")}, n, nil)
		a, b := m.group(world(t, n)), m.group(world(t, n))
		for i := range a.t {
			a.t[i] = replay.Time(rapid.IntRange(0, 20000).Draw(t, "enter"))
		}
		copy(b.t, a.t)
		form := rapid.SampledFrom([]string{"ring", "pairwise"}).Draw(t, "form")
		for k := 1; k < n; k++ {
			by := 1
			if form == "pairwise" {
				by = k
			}
			b.shift(b.hop(1000), by)
		}
		if form == "pairwise" {
			a.pairwise(1000)
		} else {
			a.ring(1000)
		}
		if !slices.Equal(a.t, b.t) {
			t.Fatalf("%s: %v, step by step %v", form, a.t, b.t)
		}
	})
}

// TestSteps checks how long operations take whose members enter at once.
func TestSteps(t *testing.T) {
	link := Link{Latency: 1000, Overhead: 10, Bandwidth: 1e12} // a picosecond for each byte
	const step = 10 + 1000 + 10
	for _, tt := range []struct {
		operation string
		algorithm Algorithm
		members   int
		sent      int64
		received  int64
		want      replay.Time // when the last member leaves
	}{
		{"MPI_Barrier", dissemination, 8, 0, 0, 3 * step},
		{"MPI_Barrier", dissemination, 9, 0, 0, 4 * step},
		{"MPI_Bcast", binomial, 2, 100, 100, step + 100},
		{"MPI_Bcast", binomial, 8, 100, 100, 3 * (step + 100)},
		{"MPI_Bcast", binomial, 1024, 100, 100, 10 * (step + 100)},
		{"MPI_Bcast", linear, 8, 0, 0, 7*10 + 1000 + 10},
		{"MPI_Bcast", scatterRing, 4, 400, 400, (step + 200) + (step + 100) + 3*(step+100)},
		{"MPI_Bcast", scatterDoubling, 4, 400, 400, 2 * (step + 200 + step + 100)},
		{"MPI_Scatter", binomial, 8, 800, 100, 3*step + 400 + 200 + 100},
		{"MPI_Gather", binomial, 8, 100, 800, 3*step + 100 + 200 + 400},
		{"MPI_Reduce", binomial, 8, 100, 100, 3 * (step + 100)},
		{"MPI_Reduce", rabenseifner, 4, 400, 400, step + 200 + step + 100 + step + 100 + step + 200},
		{"MPI_Allreduce", recursiveDoubling, 8, 100, 100, 3 * (step + 100)},
		{"MPI_Allreduce", recursiveDoubling, 9, 100, 100, 4 * (step + 100)}, // the member that stands back gives or gets: none does both
		{"MPI_Allreduce", rabenseifner, 8, 800, 800, 2 * (3*step + 400 + 200 + 100)},
		{"MPI_Allreduce", ring, 8, 800, 800, 14 * (step + 100)},
		{"MPI_Allgather", ring, 8, 100, 800, 7 * (step + 100)},
		{"MPI_Allgather", recursiveDoubling, 8, 100, 800, 3*step + 100 + 200 + 400},
		{"MPI_Allgather", bruck, 5, 100, 500, 3*step + 100 + 200 + 100},
		{"MPI_Alltoall", pairwise, 8, 800, 800, 7 * (step + 100)},
		{"MPI_Alltoall", bruck, 8, 800, 800, 3 * (step + 400)},
		{"MPI_Alltoall", linear, 8, 0, 0, 7*10 + 1000 + 10},
		{"MPI_Reduce_scatter", recursiveHalving, 8, 800, 100, 3*step + 400 + 200 + 100},
	} {
		t.Run(tt.operation+"/"+string(tt.algorithm), func(t *testing.T) {
			role := spec.RoleOf(tt.operation)
			p := Parameters{Between: link, Collectives: map[string]Algorithm{strings.ToLower(role.Data): tt.algorithm}}
			m, err := New(p, tt.members, nil)
			if err != nil {
				t.Fatal(err)
			}
			c := &replay.Collective{Role: role, Communicator: world(t, tt.members),
				Enter: make([]replay.Time, tt.members), Leave: make([]replay.Time, tt.members)}
			for i := range tt.members {
				c.Leaving, c.Sent, c.Received = append(c.Leaving, i), append(c.Sent, tt.sent),
					append(c.Received, tt.received)
			}
			if m.Collective(c); slices.Max(c.Leave) != tt.want {
				t.Errorf("takes %d, want %d (%d steps, %d more)", slices.Max(c.Leave), tt.want,
					slices.Max(c.Leave)/step, slices.Max(c.Leave)%step)
			}
		})
	}
}

// TestMessage checks what messages cost.
func TestMessage(t *testing.T) {
	p := Parameters{
		Between:      Link{Latency: 1000, Overhead: 10, Gap: 30, Bandwidth: 1e12, EagerLimit: 500},
		Within:       Link{Latency: 100, Overhead: 5},
		RanksPerNode: 2,
	}
	for _, tt := range []struct {
		from, to int
		size     int64
		cyclic   bool
		want     replay.Cost
	}{
		{0, 2, 0, false, replay.Cost{Send: 30, Transfer: 980, Receive: 10}},
		{0, 2, semantics.Unknown, false, replay.Cost{Send: 30, Transfer: 980, Receive: 10}},
		{3, 0, 500, false, replay.Cost{Send: 30, Transfer: 1480, Receive: 10}},
		{3, 0, 501, false, replay.Cost{Send: 30, Transfer: 1501 + 2020, Receive: 10, Rendezvous: true}},
		{0, 1, 1 << 40, false, replay.Cost{Send: 5, Transfer: 100, Receive: 5}},
		{0, 2, 0, true, replay.Cost{Send: 5, Transfer: 100, Receive: 5}},
		{0, 1, 0, true, replay.Cost{Send: 30, Transfer: 980, Receive: 10}},
	} {
		p.Cyclic = tt.cyclic
		m, err := New(p, 4, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Message(&replay.Message{From: tt.from, To: tt.to, Bytes: tt.size}); got != tt.want {
			t.Errorf("%d bytes from %d to %d, cyclic %v: %+v, want %+v", tt.size, tt.from, tt.to, tt.cyclic,
				got, tt.want)
		}
	}
}

// TestFactors checks factors on computing.
func TestFactors(t *testing.T) {
	model, err := semantics.Open(context.Background(), testtrace.TI(t, "0 init\n0 barrier\n1 init\n1 barrier\n"))
	if err != nil {
		t.Fatal(err)
	}
	factor := func(text string) Factor {
		f, err := ParseFactor(text)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	m, err := New(Parameters{
		Compute: factor("1.5x"), OfRanks: []RankFactor{{rankenc.SetOf(1), factor("2")}},
		OfFunction: map[string]Factor{"barrier": factor("0.1")},
	}, 2, fixed{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := replay.Run(context.Background(), model, m)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := []replay.Time{res.Ranks[0].Computing, res.Ranks[1].Computing},
		[]replay.Time{1650, 3300}; !slices.Equal(got, want) {
		t.Errorf("computing %d, want %d", got, want)
	}
	for _, text := range []string{"", "x", "-1", "nan", "inf", "1e10", "0x10", "2y", "1_0"} {
		if f, err := ParseFactor(text); err == nil {
			t.Errorf("factor %q is %v", text, f)
		}
	}
	for _, text := range []string{"0x", "0.5x", "2x", "0.001x", "1x"} {
		if got := factor(text).String(); got != text {
			t.Errorf("factor %s, want %s", got, text)
		}
	}
}

type fixed struct{}

func (fixed) Compute(*replay.Call) (before, within replay.Time) { return 1000, 0 }

// constant computes for times that depend on the rank and the call.
type constant struct{ steady bool }

func (constant) Compute(c *replay.Call) (before, within replay.Time) {
	return replay.Time(c.Rank.Number()*77+int(c.Terminal)*13) % 1000 * replay.Nanosecond, 0
}

func (c constant) Means() bool { return c.steady }

// TestSkipped checks that a replay that skips iterations of loops comes to what one does that executes all,
// with all algorithms.
func TestSkipped(t *testing.T) {
	operations := []string{
		"barrier", "bcast 1000 0 6", "reduce 5000 0 1 6", "allreduce 100 0 6", "allreduce 100000 0 6",
		"alltoall 10 10 6 6", "alltoall 100000 100000 6 6",
		"allgather 100 100 6 6", "allgather 1000000 1000000 6 6", "gather 100 100 0 6 6",
		"scatter 100 100 0 6 6", "bcast 1000000 2 6",
	}
	const ranks = 9
	var lines strings.Builder
	for rank := range ranks {
		fmt.Fprintf(&lines, "%d init\n", rank)
		for range 300 {
			for i, operation := range operations {
				fmt.Fprintf(&lines, "%d %s\n%d send %d 0 %d 6\n%d recv %d 0 %d 6\n", rank, operation, rank,
					(rank+i+1)%ranks, i*3000, rank, (rank+ranks-i%ranks-1)%ranks, i*3000)
			}
		}
		fmt.Fprintf(&lines, "%d finalize\n", rank)
	}
	model, err := semantics.Open(context.Background(), testtrace.TI(t, lines.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, together := range []int{1, 4, ranks} {
		p := Default()
		p.RanksPerNode = together
		p.Between.EagerLimit, p.Within.EagerLimit = 1<<20, 0
		var ends [2]*replay.Result
		for i, steady := range []bool{true, false} {
			m, err := New(p, ranks, constant{steady})
			if err != nil {
				t.Fatal(err)
			}
			if ends[i], err = replay.Run(context.Background(), model, m); err != nil {
				t.Fatal(err)
			}
		}
		if ends[0].End != ends[1].End || !slices.Equal(ends[0].Ranks, ends[1].Ranks) ||
			ends[0].Collectives != 300*uint64(len(operations)) {
			t.Errorf("%d ranks per node: skipped %+v, all executed %+v", together, *ends[0], *ends[1])
		}
	}
}

func TestErrors(t *testing.T) {
	for _, p := range []Parameters{
		{Between: Link{Latency: -1}}, {Within: Link{Bandwidth: -1}}, {RanksPerNode: -1},
		{Collectives: map[string]Algorithm{"barrier": ring}}, {Collectives: map[string]Algorithm{"send": ring}},
		{Besides: map[string]Besides{"allredcue": nil}}, {Besides: map[string]Besides{"bcast": {{Bytes: 8, Time: 1}}}},
	} {
		if _, err := New(p, 1, nil); err == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
}

// TestChoose checks that each choice is one that can be made.
func TestChoose(t *testing.T) {
	for operation := range algorithms {
		for _, n := range []int{2, 7, 8, 9, 1024} {
			for shift := range 40 {
				if err := checkAlgorithm(operation, choose(operation, n, 1<<shift)); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if got := scale(1<<62, 1<<20, 1); got != endOfTime {
		t.Errorf("scale is %d", got)
	}
	if n := bits.Len(uint(powerBelow(1023))); n != 10 {
		t.Errorf("%d bits", n)
	}
}

// BenchmarkCollective says how long an operation of 1,024 members takes.
func BenchmarkCollective(b *testing.B) {
	const members = 1024
	comm := world(b, members)
	for _, name := range names {
		for _, size := range []int64{8, 1 << 20} {
			b.Run(fmt.Sprintf("operation=%s/size=%d", name, size), func(b *testing.B) {
				p := Default()
				p.RanksPerNode = 16
				m, err := New(p, members, nil)
				if err != nil {
					b.Fatal(err)
				}
				c := &replay.Collective{Role: spec.RoleOf(name), Communicator: comm, Root: 0,
					Enter: make([]replay.Time, members), Leave: make([]replay.Time, members),
					Sent: make([]int64, members), Received: make([]int64, members)}
				for i := range members {
					c.Sent[i], c.Received[i], c.Leaving = size, size, append(c.Leaving, i)
				}
				for b.Loop() {
					m.Collective(c)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*members), "ns/member")
			})
		}
	}
}

// TestBesides checks the times of sizes that a table has, of those between them, and of those beyond.
func TestBesides(t *testing.T) {
	for _, tt := range []struct {
		size int64
		want replay.Time
	}{{0, 100}, {8, 100}, {9, 102}, {10, 104}, {58, 200}, {83, 175}, {108, 150}, {208, 50}, {258, 0}, {1 << 62, 0}} {
		if got := (Besides{{8, 100}, {58, 200}, {108, 150}}).of(tt.size); got != tt.want {
			t.Errorf("%d bytes take %v, want %v", tt.size, got, tt.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var b Besides
		for size := int64(0); len(b) < 4; {
			size += rapid.Int64Range(1, 1<<40).Draw(t, "size")
			b = append(b, OfSize{size, replay.Time(rapid.Int64Range(0, math.MaxInt64).Draw(t, "time"))})
		}
		b = b[:rapid.IntRange(0, len(b)).Draw(t, "sizes")]
		if _, err := New(Parameters{Besides: map[string]Besides{"allreduce": b}}, 2, nil); err != nil {
			t.Fatal(err)
		}
		size := rapid.Int64Range(0, math.MaxInt64).Draw(t, "size")
		least, most := replay.Time(math.MaxInt64), replay.Time(0)
		for i, o := range b {
			if got := b.of(o.Bytes); got != o.Time {
				t.Errorf("%d bytes take %v, not %v", o.Bytes, got, o.Time)
			}
			if i > 0 && size >= b[i-1].Bytes && size <= o.Bytes {
				least, most = min(o.Time, b[i-1].Time), max(o.Time, b[i-1].Time)
			}
		}
		if got := b.of(size); got < 0 || least <= most && (got < least || got > most) {
			t.Errorf("%d bytes take %v of %v", size, got, b)
		}
	})
	for _, b := range []Besides{{{8, 1}, {8, 2}}, {{-1, 1}}, {{1, -1}}} {
		if _, err := New(Parameters{Besides: map[string]Besides{"allreduce": b}}, 2, nil); err == nil {
			t.Errorf("%v is no error", b)
		}
	}
}

// TestBlocks checks that the last member of five, below which there are none, gives or gets the block of one
// member, not of four.
func TestBlocks(t *testing.T) {
	const size = 1000000
	for _, name := range []string{"MPI_Gather", "MPI_Scatter"} {
		m, err := New(Parameters{Between: Link{Latency: 7, Bandwidth: 1e12},
			Collectives: map[string]Algorithm{strings.ToLower(name[4:]): binomial}}, 5, nil)
		if err != nil {
			t.Fatal(err)
		}
		c := &replay.Collective{Role: spec.RoleOf(name), Communicator: world(t, 5),
			Leave: make([]replay.Time, 5), Enter: make([]replay.Time, 5)}
		want := replay.Time(7 + size) // when the last member has its block
		for i := range 5 {
			c.Leaving, c.Sent, c.Received = append(c.Leaving, i), append(c.Sent, size), append(c.Received, size)
		}
		member := 4
		if name == "MPI_Gather" {
			c.Enter[4], member = 10*size, 0
			want += c.Enter[4]
		} else {
			c.Sent[0] = 5 * size
		}
		if m.Collective(c); c.Leave[member] != want {
			t.Errorf("%s: member %d leaves at %d, want %d", name, member, c.Leave[member], want)
		}
	}
}
