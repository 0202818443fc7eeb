package query

import (
	"bufio"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

func openModel(t tester, tr *trace.Trace) *semantics.Model {
	t.Helper()
	m, err := semantics.Open(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func openMessages(t tester, model *semantics.Model, bins int, o Options) *Messages {
	t.Helper()
	all, err := OpenMessages(t.Context(), model, bins, o)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTrafficText compares the traffic of SimGrid traces with what their text says,
// line by line.
func TestTrafficText(t *testing.T) {
	for _, path := range realTraces(t, "ti/*.16.ti.zst") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			model := openModel(t, openTI(t, path))
			all := openMessages(t, model, 0, Options{})
			traffic, s := all.Traffic, all.Sizes
			pairs, sizes := textTraffic(t, path)
			found := 0
			for _, p := range traffic.Pairs {
				want := pairs[[2]int{p.Source, p.Destination}]
				if p.Flow != want {
					t.Errorf("%d to %d: %v, want %v", p.Source, p.Destination, p.Flow, want)
				}
				if want.Messages > 0 {
					found++
				}
			}
			if len(pairs) != found || len(pairs) == 0 {
				t.Fatalf("%d pairs of ranks, want %d", found, len(pairs))
			}
			if s.Flow != traffic.Flow || len(s.List) != len(sizes) {
				t.Errorf("%v of %d sizes, want %v of %d", s.Flow, len(s.List), traffic.Flow, len(sizes))
			}
			for _, c := range s.List {
				if want := sizes[c.Bytes]; c.Messages != want {
					t.Errorf("%d messages of %d bytes, want %d", c.Messages, c.Bytes, want)
				}
			}
		})
	}
}

// textTraffic counts the lines that send.
func textTraffic(t *testing.T, path string) (map[[2]int]Flow, map[uint64]uint64) {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := zstd.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	number := func(text string) int {
		v, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	pairs, sizes := make(map[[2]int]Flow), make(map[uint64]uint64)
	for lines := bufio.NewReader(z); ; {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return pairs, sizes
		}
		if err != nil {
			t.Fatal(err)
		}
		f := strings.Fields(line)
		if len(f) < 5 || f[1] != "send" && f[1] != "isend" {
			continue
		}
		size, ok := map[string]uint64{"0": 8, "1": 4, "2": 1}[f[5]]
		if !ok {
			t.Fatalf("the size of datatype %s is not known to the test", f[5])
		}
		bytes := uint64(number(f[4])) * size
		key := [2]int{number(f[0]), number(f[2])}
		p := pairs[key]
		p.Messages++
		p.Bytes += bytes
		pairs[key] = p
		sizes[bytes]++
	}
}

// TestMessages compares the queries about messages with what calls mean, one by one.
func TestMessages(t *testing.T) {
	for _, p := range tier.Some(programs.All(9), 3) {
		t.Run(p.Name, func(t *testing.T) { checkMessages(t, openProgram(t, p)) })
	}
	for _, path := range tier.Some(realTraces(t, "ti/*.16.ti.zst", "kinds/*.ti.txt"), 3) {
		t.Run(filepath.Base(path), func(t *testing.T) { checkMessages(t, openTI(t, path)) })
	}
}

// A slowCount is what is counted call by call.
type slowCount struct {
	pairs         map[[2]int]Flow // those of ranks that are not known have one that is negative
	sizes         map[int64]uint64
	calls         map[*semantics.Communicator]uint64
	messages      map[*semantics.Communicator]Flow
	collectives   map[*semantics.Communicator]CollectiveFlow
	communicators map[*semantics.Communicator]map[int]bool

	exchanged map[[2]int]Blocks
	uncounted uint64
}

func countSlowly(t testing.TB, m *semantics.Model, ranks []int) slowCount {
	s := slowCount{
		make(map[[2]int]Flow), make(map[int64]uint64), make(map[*semantics.Communicator]uint64),
		make(map[*semantics.Communicator]Flow), make(map[*semantics.Communicator]CollectiveFlow),
		make(map[*semantics.Communicator]map[int]bool),
		make(map[[2]int]Blocks), 0,
	}
	for _, rank := range ranks {
		r, err := m.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for call, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			position := call.Position
			if o := r.At(position, call.Terminal); o != nil {
				s.operation(rank, o)
				for _, p := range append([]*semantics.Operation{o}, o.More...) {
					s.exchange(rank, r.Exchange(p), p.Communicator)
				}
			}
		}
	}
	return s
}

func (s *slowCount) operation(rank int, o *semantics.Operation) {
	use := func(c *semantics.Communicator) {
		if s.communicators[c] == nil {
			s.communicators[c] = make(map[int]bool)
		}
		s.communicators[c][rank] = true
	}
	for _, m := range o.Messages {
		from, to := rank, m.Peer
		switch m.Direction {
		case semantics.Receive:
			continue
		case semantics.Get:
			from, to = to, from
		case semantics.Fetch:
			s.message(m.Peer, rank, m)
		}
		use(m.Communicator)
		s.message(from, to, m)
	}
	for i, c := range append([]*semantics.Operation{o}, o.More...) {
		if i > 0 || c.IsCollective() {
			use(c.Communicator)
			f := s.collectives[c.Communicator]
			f.Calls++
			f.Sent += uint64(max(c.Sent, 0))
			f.Received += uint64(max(c.Received, 0))
			if min(c.Sent, c.Received) < 0 {
				f.Unknown++
			}
			s.collectives[c.Communicator] = f
		}
	}
	c := o.Communicator
	if c == nil && len(o.Messages) > 0 {
		c = o.Messages[0].Communicator
	}
	if c != nil || o.Class == spec.PointToPoint || o.Class == spec.OneSided || o.Class == spec.Collective {
		use(c)
		s.calls[c]++
	}
}

// exchange adds what a call exchanges, pair by pair.
func (s *slowCount) exchange(rank int, x semantics.Exchange, c *semantics.Communicator) {
	peers, own := x.Peers, -1
	switch x.With {
	case semantics.SomeUnknown:
		s.uncounted++
	case semantics.EachOther, semantics.EachHigher:
		peers = c.Members(x.Group)
		if own = slices.Index(peers, rank); x.With == semantics.EachHigher {
			peers = peers[own+1:]
		}
	}
	for i, peer := range peers {
		size := x.Bytes
		if x.Blocks != nil {
			size = x.Blocks[i]
		}
		key := [2]int{rank, peer}
		if x.From {
			key = [2]int{peer, rank}
		}
		if size != 0 && peer != rank {
			b := s.exchanged[key]
			b.add(1, size)
			s.exchanged[key] = b
		}
	}
}

func (s *slowCount) message(from, to int, m semantics.Message) {
	s.sizes[m.Bytes]++
	f := s.pairs[[2]int{from, to}]
	addOne(&f, m.Bytes)
	s.pairs[[2]int{from, to}] = f
	f = s.messages[m.Communicator]
	addOne(&f, m.Bytes)
	s.messages[m.Communicator] = f
}

func addOne(f *Flow, bytes int64) {
	f.Messages++
	if bytes < 0 {
		f.Unknown++
	} else {
		f.Bytes += uint64(bytes)
	}
}

func checkMessages(t *testing.T, tr *trace.Trace) {
	some := rankenc.SetOf(1, 2, 5)
	model := openModel(t, tr)
	for _, o := range []Options{{}, {Ranks: &some, Workers: 1}} {
		want := countSlowly(t, model, ranksOf(t, tr, o))
		all := openMessages(t, model, 0, o)
		checkTraffic(t, all.Traffic, want)
		checkExchanged(t, all, want.exchanged, want.uncounted)
		checkMatrix(t, model, all, o)
		checkSizes(t, all.Sizes, want)
		checkCommunicators(t, all.Communicators, want)
	}
}

func checkTraffic(t *testing.T, traffic *Traffic, want slowCount) {
	t.Helper()
	var all, lost Flow
	n := 0
	for key, f := range want.pairs {
		all.plus(f)
		if key[0] < 0 || key[1] < 0 || max(key[0], key[1]) >= traffic.Ranks {
			lost.plus(f)
			continue
		}
		n++
		at, ok := slices.BinarySearchFunc(traffic.Pairs, Pair{Source: key[0], Destination: key[1]}, comparePairs)
		if !ok || traffic.Pairs[at].Flow != f {
			t.Errorf("%d to %d: %v is missing", key[0], key[1], f)
		}
	}
	sends := 0
	for _, p := range traffic.Pairs {
		if p.Messages > 0 {
			sends++
		}
	}
	if sends != n || traffic.Flow != all || traffic.Unplaced != lost {
		t.Errorf("%d pairs, %v, %v lost, want %d, %v, %v", len(traffic.Pairs), traffic.Flow, traffic.Unplaced,
			n, all, lost)
	}
}

func checkMatrix(t *testing.T, model *semantics.Model, all *Messages, o Options) {
	t.Helper()
	traffic := all.Traffic
	for _, bins := range []int{1, 2, 7, 100} {
		binned := openMessages(t, model, bins, o)
		m := binned.Matrix
		if binned.Traffic != nil || !reflect.DeepEqual(binned.Sizes, all.Sizes) ||
			!reflect.DeepEqual(binned.Communicators, all.Communicators) {
			t.Errorf("%d bins: %v, %v, want %v, %v", bins, binned.Sizes, binned.Communicators, all.Sizes,
				all.Communicators)
		}
		if m.Volume != traffic.Volume || m.Uncounted != traffic.Uncounted || m.Unplaced != traffic.Unplaced ||
			m.Bins != min(bins, traffic.Ranks) {
			t.Errorf("%d bins: %v, %v lost, in %d bins, want %v, %v", bins, m.Flow, m.Unplaced, m.Bins,
				traffic.Flow, traffic.Unplaced)
		}
		cells := make(map[[2]int]Volume)
		for p := range traffic.All() {
			var bin [2]int
			for i, rank := range []int{p.Source, p.Destination} {
				for b := range m.Bins {
					if first, last := m.Range(b); first <= rank && rank <= last {
						bin[i] = b
					}
				}
			}
			f := cells[bin]
			f.Add(p.Volume)
			cells[bin] = f
		}
		for from := range m.Bins {
			for to := range m.Bins {
				if m.At(from, to) != cells[[2]int{from, to}] {
					t.Errorf("%d bins: %v from %d to %d, want %v", bins, m.At(from, to), from, to,
						cells[[2]int{from, to}])
				}
			}
		}
	}
}

func checkSizes(t *testing.T, s *Sizes, want slowCount) {
	t.Helper()
	unknown := want.sizes[semantics.Unknown]
	delete(want.sizes, semantics.Unknown)
	if len(s.List) != len(want.sizes) || s.Unknown != unknown {
		t.Errorf("%d sizes and %d unknown, want %d and %d", len(s.List), s.Unknown, len(want.sizes), unknown)
	}
	var sum Flow
	for i, c := range s.List {
		if c.Messages != want.sizes[int64(c.Bytes)] || i > 0 && s.List[i-1].Bytes >= c.Bytes {
			t.Errorf("%d messages of %d bytes, want %d", c.Messages, c.Bytes, want.sizes[int64(c.Bytes)])
		}
		sum.add(c.Messages, int64(c.Bytes))
	}
	var classes Flow
	for i, c := range s.Classes() {
		classes.plus(c.Flow)
		if c.To < c.From || i > 0 && s.Classes()[i-1].To+1 != c.From {
			t.Errorf("class %d is from %d to %d", i, c.From, c.To)
		}
	}
	if sum.Unknown = unknown; classes.Bytes != sum.Bytes || classes.Messages+unknown != s.Messages {
		t.Errorf("classes of %v, all %v", classes, s.Flow)
	}
}

func checkCommunicators(t *testing.T, list []CommunicatorUse, want slowCount) {
	t.Helper()
	if len(list) != len(want.communicators) {
		t.Errorf("%d communicators, want %d", len(list), len(want.communicators))
	}
	for _, u := range list {
		c := u.Communicator
		if u.Calls != want.calls[c] || u.Ranks != len(want.communicators[c]) || u.Flow != want.messages[c] ||
			u.Collectives != want.collectives[c] {
			t.Errorf("%v: %+v, want %d calls of %d ranks, %v, %v", c, u, want.calls[c],
				len(want.communicators[c]), want.messages[c], want.collectives[c])
		}
	}
}

// TestSizesQuantile checks quantiles and classes of sizes that are given.
func TestSizesQuantile(t *testing.T) {
	s := Sizes{List: []SizeCount{{0, 1}, {1, 1}, {5, 4}, {1 << 20, 2}}}
	for _, tt := range []struct {
		q    float64
		want uint64
	}{{0, 0}, {0.25, 1}, {0.26, 5}, {0.5, 5}, {0.75, 5}, {0.76, 1 << 20}, {1, 1 << 20}} {
		if got := s.Quantile(tt.q); got != tt.want {
			t.Errorf("Quantile(%v) = %d, want %d", tt.q, got, tt.want)
		}
	}
	if got := s.Classes(); len(got) != 22 || got[0] != (SizeClass{0, 0, Flow{Messages: 1}}) ||
		got[3] != (SizeClass{4, 7, Flow{4, 20, 0}}) {
		t.Errorf("%d classes: %v", len(got), got)
	}
	many := Sizes{List: []SizeCount{{1, 1 << 63}, {2, 1 << 63}, {3, 1 << 62}}}
	if got := many.Quantile(0.5); got != 2 {
		t.Errorf("the median of more than 2⁶⁴ messages is %d, want 2", got)
	}
	if (&Sizes{}).Quantile(0.5) != 0 || (&Sizes{}).Classes() != nil {
		t.Error("there are sizes of no messages")
	}
}

// TestMatrixBins checks that every rank is in the bin that has it.
func TestMatrixBins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(1, 1<<31-1).Draw(t, "ranks")
		m, err := newMatrix(ranks, rapid.IntRange(1, 64).Draw(t, "bins"))
		if err != nil {
			t.Fatal(err)
		}
		rank := rapid.IntRange(0, ranks-1).Draw(t, "rank")
		first, last := m.Range(m.bin(rank))
		if rank < first || rank > last {
			t.Fatalf("rank %d of %d is in bin %d, from %d to %d", rank, ranks, m.bin(rank), first, last)
		}
		if shortest := ranks / m.Bins; last-first+1 < shortest || last-first > shortest {
			t.Fatalf("a bin from %d to %d, of %d ranks in %d bins", first, last, ranks, m.Bins)
		}
	})
	for _, bins := range []int{-1, 0, maxBins + 1} {
		if _, err := newMatrix(10, bins); err == nil {
			t.Errorf("there is a matrix of %d bins", bins)
		}
	}
}

// TestTrafficOfMany goes through pairs of ranks that are far apart, and of more than a window: each is there
// once, in their order, and what is held does not follow the number of ranks.
func TestTrafficOfMany(t *testing.T) {
	const many = 2*rowWindow + 5
	last := math.MaxInt32 - 1
	traffic := &Traffic{Ranks: math.MaxInt32, Pairs: []Pair{
		{0, last, Volume{Flow: Flow{Messages: 1}}}, {2, rowWindow, Volume{Flow: Flow{Messages: 2}}},
		{last, 0, Volume{Flow: Flow{Messages: 3}}},
	}}
	traffic.Uniform = []UniformPairs{
		{From: rankenc.SetOf(1, 2, last), To: rankenc.World(many), Blocks: Blocks{Blocks: 1}},
		{From: rankenc.SetOf(2), To: rankenc.SetOf(0, many, last), Blocks: Blocks{Blocks: 1}},
	}
	traffic.sum()
	var sum Volume
	pairs := 0
	before := Pair{Source: -1}
	for p := range traffic.All() {
		if comparePairs(before, p) >= 0 {
			t.Fatalf("%+v behind %+v", p, before)
		}
		if p.Source == 2 && p.Destination == rowWindow && (p.Messages != 2 || p.Exchanged.Blocks != 1) {
			t.Errorf("%+v", p)
		}
		sum.Add(p.Volume)
		before = p
		pairs++
	}
	if want := 1 + (many - 1) + (many - 1) + 2 + many; sum != traffic.Volume || pairs != want {
		t.Errorf("%d pairs, %+v, want %d, %+v", pairs, sum, want, traffic.Volume)
	}
	if from, to := traffic.occurring(); from.Len() != 4 || to.Len() != many+2 {
		t.Errorf("%d sources, %d destinations", from.Len(), to.Len())
	}
}
