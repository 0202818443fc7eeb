package otf2_test

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/mpi/otf2"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/efficiency"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/trace/meaning"
)

// The regions of a hybridProgram, with their roles and paradigms.
var hybridRegions = []struct {
	name, role, paradigm string
	waits                bool
}{
	{"main", "FUNCTION", "COMPILER", false},
	{"MPI_Init", "FUNCTION", "MPI", true},
	{"MPI_Finalize", "FUNCTION", "MPI", true},
	{"MPI_Allreduce", "COLL_ALL2ALL", "MPI", true},
	{"parallel", "PARALLEL", "OPENMP", false},
	{"barrier", "IMPLICIT_BARRIER", "OPENMP", true},
	{"critical", "CRITICAL", "OPENMP", true},
	{"block", "CRITICAL_SBLOCK", "OPENMP", false},
	{"kernel", "FUNCTION", "USER", false},
}

// The numbers of these.
const (
	inMain = iota
	inInit
	inFinalize
	inAllreduce
	inParallel
	inBarrier
	inCritical
	inBlock
	inKernel
)

// A hybridThread is a thread of a program, and when it computes.
type hybridThread struct {
	location       uint64
	rank, number   int
	now, begin     uint64
	stack          []int
	nests          bool
	computing      uint64
	outside        uint64 // of all regions, after the first event and before the last
	events         []*otf2.Record
	acceleratorOne bool
}

// pass lets time pass.
func (p *hybridThread) pass(d uint64) {
	switch n := len(p.stack); {
	case n == 0:
		p.outside += d
	case !hybridRegions[p.stack[n-1]].waits:
		p.computing += d
	}
	p.now += d
}

func (p *hybridThread) event(kind string, values ...uint64) {
	p.events = append(p.events, &otf2.Record{Kind: otf2.LookupKind(kind), Location: p.location, Time: p.now,
		Values: values})
}

func (p *hybridThread) enter(region int) {
	if len(p.events) == 0 {
		p.begin, p.outside = p.now, 0
	}
	p.nests = p.nests || len(p.stack) > 0
	p.stack = append(p.stack, region)
	p.event("Enter", uint64(region))
}

func (p *hybridThread) leave() {
	region := p.stack[len(p.stack)-1]
	p.event("Leave", uint64(region))
	p.stack = p.stack[:len(p.stack)-1]
}

// work draws what a thread does in a parallel region.
func (p *hybridThread) work(t *rapid.T) {
	p.enter(inParallel)
	for range rapid.IntRange(0, 3).Draw(t, "blocks") {
		p.pass(rapid.Uint64Range(0, 40).Draw(t, "gap"))
		if rapid.Bool().Draw(t, "kernel") {
			p.enter(inKernel)
			p.pass(rapid.Uint64Range(0, 40).Draw(t, "kernel"))
			p.leave()
			continue
		}
		p.enter(inCritical)
		p.pass(rapid.Uint64Range(0, 40).Draw(t, "wait"))
		p.enter(inBlock)
		p.pass(rapid.Uint64Range(0, 40).Draw(t, "block"))
		p.leave()
		p.leave()
	}
}

// TestEfficiencyOfThreads compares the efficiencies of archives of ranks with several threads with when these compute.
func TestEfficiencyOfThreads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks, number := rapid.IntRange(1, 3).Draw(t, "ranks"), rapid.IntRange(2, 4).Draw(t, "threads")
		inMainRegion := rapid.Bool().Draw(t, "main")
		var threads []*hybridThread
		byRank := make([][]*hybridThread, ranks)
		for rank := range ranks {
			for i := range number {
				p := &hybridThread{location: uint64(len(threads)), rank: rank, number: i,
					acceleratorOne: i == 3 && rapid.Bool().Draw(t, "accelerator")}
				threads, byRank[rank] = append(threads, p), append(byRank[rank], p)
			}
		}
		const began = 100 // when the last rank has left MPI_Init
		for rank, of := range byRank {
			p := of[0]
			p.now = uint64(rank)
			if inMainRegion {
				p.enter(inMain)
			}
			p.enter(inInit)
			p.now = began - 10*uint64(ranks-1-rank)
			p.leave()
			p.now, p.computing, p.outside = began, 0, 0
		}
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			arrived := uint64(0)
			for _, of := range byRank {
				of[0].pass(rapid.Uint64Range(0, 40).Draw(t, "serial"))
				end := uint64(0)
				for _, p := range of {
					p.pass(of[0].now - min(p.now, of[0].now)) // idle
					p.work(t)
					end = max(end, p.now)
				}
				for _, p := range of {
					p.enter(inBarrier)
					p.pass(end - p.now)
					p.leave()
					p.leave()
				}
				of[0].pass(rapid.Uint64Range(0, 40).Draw(t, "serial"))
				of[0].enter(inAllreduce)
				of[0].event("MpiCollectiveBegin")
				arrived = max(arrived, of[0].now)
			}
			for _, of := range byRank {
				of[0].pass(arrived + rapid.Uint64Range(0, 9).Draw(t, "network") - of[0].now)
				of[0].event("MpiCollectiveEnd", 5, 0, 0, 8, 8)
				of[0].leave()
			}
		}
		ended := uint64(0)
		for _, of := range byRank {
			of[0].pass(rapid.Uint64Range(0, 40).Draw(t, "serial"))
			of[0].enter(inFinalize)
			ended = max(ended, of[0].now)
			of[0].now += 5
			of[0].leave()
			if inMainRegion {
				of[0].leave()
			}
		}
		checkThreads(t, threads, ranks, float64(ended-began))
	})
}

// checkThreads compares the efficiency of an archive with what its threads do.
func checkThreads(t *rapid.T, threads []*hybridThread, ranks int, time float64) {
	file := otf2.Fed(t, hybridRecords(threads, ranks))
	tr, err := trace.OpenReader(bytes.NewReader(file), int64(len(file)), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	model, err := semantics.Open(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	run, err := efficiency.Open(t.Context(), model, efficiency.Options{})
	if err != nil {
		t.Fatal(err)
	}
	total, most, n := 0.0, 0.0, 0.0
	for _, p := range threads {
		if p.acceleratorOne {
			continue
		}
		computing := float64(p.computing)
		if p.number == 0 {
			computing += float64(p.outside)
		}
		total, most, n = total+computing, max(most, computing), n+1
	}
	near := func(a query.Nanoseconds, b float64) bool { return math.Abs(float64(a)-b) < 1e-6 }
	if run.Threads != int(n) || !near(run.Total, total) || !near(run.Mean, total/n) || !near(run.Max, most) ||
		!near(run.Time, time) {
		t.Fatalf("%+v, want %v of %v threads, at most %v, in %v", run.Part, total, n, most, time)
	}
	parts := []efficiency.Part{run.Part}
	for _, p := range run.Phases {
		parts = append(parts, p.Part)
	}
	for _, p := range parts {
		if p.Factors == nil {
			continue
		}
		for _, f := range []float64{p.Factors.Parallel, p.Factors.LoadBalance, p.Factors.Communication,
			*p.Factors.Serialization, *p.Factors.Transfer} {
			if f < 0 || f > 1+1e-12 {
				t.Fatalf("an efficiency of %v: %+v", f, p)
			}
		}
	}
	if f := run.Factors; f != nil && math.Abs(f.Parallel-total/n/max(time, most)) > 1e-9 {
		t.Fatalf("a parallel efficiency of %v, not %v", f.Parallel, total/n/time)
	}
}

// hybridRecords returns the archive of threads.
func hybridRecords(threads []*hybridThread, ranks int) (records []*otf2.Record) {
	add := func(kind string, values ...uint64) {
		records = append(records, &otf2.Record{Kind: otf2.LookupKind(kind), Values: values})
	}
	texts := uint64(0)
	text := func(s string) uint64 {
		add("String", texts)
		records[len(records)-1].Texts = []string{s}
		texts++
		return texts - 1
	}
	constant := func(name string) uint64 {
		v, ok := otf2.Constant(name)
		if !ok {
			panic(name)
		}
		return v
	}
	const none = 1<<32 - 1
	add("ClockProperties", 1e9, 0, 1<<20, 1<<64-1)
	add("SystemTreeNode", 0, text("node"), text("node"), none)
	for i, g := range hybridRegions {
		name := text(g.name)
		add("Region", uint64(i), name, name, name, constant("REGION_ROLE_"+g.role), constant("PARADIGM_"+g.paradigm), 0,
			name, 0, 0)
	}
	var first, members []uint64
	for rank := range ranks {
		add("LocationGroup", uint64(rank), text(fmt.Sprint("rank ", rank)), constant("LOCATION_GROUP_TYPE_PROCESS"), 0,
			none)
		members = append(members, uint64(rank))
	}
	for _, p := range threads {
		kind := constant("LOCATION_TYPE_CPU_THREAD")
		if p.acceleratorOne {
			kind = constant("LOCATION_TYPE_ACCELERATOR_STREAM")
		}
		if p.number == 0 {
			first = append(first, p.location)
		}
		add("Location", p.location, text(fmt.Sprint("thread ", p.number)), kind, uint64(len(p.events)), uint64(p.rank))
	}
	group := func(number uint64, name, kind string, members []uint64) {
		add("Group", append([]uint64{number, text(name), constant(kind), constant("PARADIGM_MPI"), 0}, members...)...)
	}
	group(0, "locations", "GROUP_TYPE_COMM_LOCATIONS", first)
	group(1, "world", "GROUP_TYPE_COMM_GROUP", members)
	add("Comm", 0, text("MPI_COMM_WORLD"), 1, none, 0)
	for _, p := range threads {
		records = append(records, p.events...)
	}
	return records
}

// TestNonblockingCollectives has a call complete several nonblocking collective operations, in another order on each
// rank: all count, in the order in which they began.
func TestNonblockingCollectives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks, n := rapid.IntRange(1, 4).Draw(t, "ranks"), rapid.IntRange(1, 4).Draw(t, "operations")
		bytes := rapid.SliceOfN(rapid.Uint64Range(1, 99), n, n).Draw(t, "bytes")
		var numbers []int
		for i := range n {
			numbers = append(numbers, i)
		}
		var threads []*hybridThread
		for rank := range ranks {
			p := &hybridThread{location: uint64(rank), rank: rank}
			for i := range bytes {
				p.enter(inAllreduce)
				p.event("NonBlockingCollectiveRequest", uint64(10+i))
				p.leave()
			}
			p.enter(inAllreduce)
			for _, i := range rapid.Permutation(numbers).Draw(t, "order") {
				p.event("NonBlockingCollectiveComplete", 5, 0, 0, bytes[i], bytes[i], uint64(10+i))
			}
			p.leave()
			threads = append(threads, p)
		}
		file := otf2.Fed(t, hybridRecords(threads, ranks))
		tr, err := trace.OpenReader(strings.NewReader(string(file)), int64(len(file)), trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := otf2.SemanticsOf(tr)
		if err != nil {
			t.Fatal(err)
		}
		for rank := range ranks {
			r, err := tr.Rank(rank)
			if err != nil {
				t.Fatal(err)
			}
			var got []uint64
			for call := range r.Calls(0) {
				o := s.Of(rank, &call)
				for _, c := range append([]*meaning.Collective{o.Collective}, o.More...) {
					if c != nil {
						got = append(got, uint64(c.Totals.Sent))
					}
				}
			}
			if !slices.Equal(got, bytes) {
				t.Fatalf("rank %d: operations of %v bytes, want %v", rank, got, bytes)
			}
		}
	})
}
