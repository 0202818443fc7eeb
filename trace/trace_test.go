package trace

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/tracer"
)

// An event is a call in the model of a run.
type event struct {
	function cst.Function
	args     []cst.Value
}

// A model is what a trace must hold.
type model struct {
	ranks [][]event
	order []int // the rank of each call; nil: rank by rank
}

// record writes the trace of m. Every rank declares functions when it calls
// them, so that each numbers them in its own order.
func (m model) record(t rapid.TB) []byte {
	t.Helper()
	run := merge.Run{Ranks: len(m.ranks), Source: "test"}
	if m.order != nil {
		var b sequitur.Builder
		for _, rank := range m.order {
			b.Append(sequitur.Symbol(rank))
		}
		run.Interleaving = b.Finish()
	}
	var parts []merge.Part
	for rank, events := range m.ranks {
		var r tracer.Recorder
		for _, e := range events {
			r.Call(r.Declare(e.function), e.args...)
		}
		parts = append(parts, r.Finish(rank))
	}
	var file bytes.Buffer
	if err := merge.Write(&file, run, parts); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// A placed is an event of a rank.
type placed struct {
	rank int
	event
}

// all returns the events of m in its order.
func (m model) all() []placed {
	var all []placed
	order := m.order
	if order == nil {
		for rank, events := range m.ranks {
			order = append(order, slices.Repeat([]int{rank}, len(events))...)
		}
	}
	next := make([]int, len(m.ranks))
	for _, rank := range order {
		all = append(all, placed{rank, m.ranks[rank][next[rank]]})
		next[rank]++
	}
	return all
}

// check checks that c is the event e.
func (e placed) check(t rapid.TB, c Call) {
	t.Helper()
	if c.Rank != e.rank || !c.Function.Equal(e.function) || !slices.EqualFunc(c.Args, e.args, cst.Value.Equal) {
		t.Fatalf("call %v of rank %d, want %s of rank %d", c, c.Rank, cst.AppendCall(nil, e.function, e.args), e.rank)
	}
}

// openBytes opens a trace in memory.
func openBytes(t rapid.TB, file []byte) *Trace {
	t.Helper()
	trace, err := OpenReader(bytes.NewReader(file), int64(len(file)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// readRank reads a rank.
func readRank(t rapid.TB, trace *Trace, rank int) *Rank {
	t.Helper()
	r, err := trace.Rank(rank)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// checkRank checks the calls of a rank from a position on.
func checkRank(t rapid.TB, r *Rank, rank int, events []event, position uint64) {
	t.Helper()
	if r.Len() != uint64(len(events)) {
		t.Fatalf("rank %d has %d calls, want %d", rank, r.Len(), len(events))
	}
	at := position
	for c, err := range r.Calls(position) {
		if err != nil {
			t.Fatal(err)
		}
		i := c.Position
		if i != at {
			t.Fatalf("position %d, want %d", i, at)
		}
		placed{rank, events[i]}.check(t, c)
		if again := r.Call(c.Terminal); again.Terminal != c.Terminal || r.Grammar().At(i) != c.Terminal {
			t.Fatalf("call %d has terminal %d, Call gives %d, Grammar %d", i, c.Terminal, again.Terminal,
				r.Grammar().At(i))
		}
		at++
	}
	if at != max(position, r.Len()) {
		t.Fatalf("calls from %d end at %d of %d", position, at, r.Len())
	}
}

// checkOrder checks the calls of all ranks from a position on.
func checkOrder(t rapid.TB, trace *Trace, all []placed, position uint64) {
	t.Helper()
	r := readCalls(t, trace.Calls(position))
	for i := min(position, uint64(len(all))); i < uint64(len(all)); i++ {
		c, err := r.Read()
		if err != nil {
			t.Fatalf("call %d, from %d: %v", i, position, err)
		}
		all[i].check(t, c)
	}
	for range 2 {
		if c, err := r.Read(); err != io.EOF {
			t.Fatalf("after the last call: %v, %v", c, err)
		}
	}
}

func testRoundTrip(t *rapid.T) {
	m := modelGen.Draw(t, "model")
	file := m.record(t)
	if again := m.record(t); !bytes.Equal(again, file) {
		t.Fatalf("the same run gives\n%x, then\n%x", file, again)
	}
	trace := openBytes(t, file)
	if trace.Ranks() != len(m.ranks) || trace.Run().Source != "test" {
		t.Fatalf("Run = %+v", trace.Run())
	}
	var active []int
	for rank, events := range m.ranks {
		r := readRank(t, trace, rank)
		checkRank(t, r, rank, events, 0)
		checkRank(t, r, rank, events, rapid.Uint64Range(0, r.Len()+1).Draw(t, "position"))
		if len(events) > 0 {
			active = append(active, rank)
		}
	}
	if got := ranksOf(trace); !slices.Equal(got, active) {
		t.Fatalf("ranks %v, want %v", got, active)
	}
	all := m.all()
	checkOrder(t, trace, all, 0)
	checkOrder(t, trace, all, rapid.Uint64Range(0, uint64(len(all))+1).Draw(t, "position of all"))
}

func TestRoundTrip(t *testing.T) { rapid.Check(t, testRoundTrip) }

var (
	barrier = cst.Function{Name: "barrier"}
	send    = cst.Function{Name: "send", Params: []cst.Param{
		{Name: "dest", Type: cst.Type{Kind: cst.KindRank}},
		{Name: "count", Type: cst.Type{Kind: cst.KindInt}},
	}}
)

// ringModel is a loop in which every rank but the last, which is silent, sends
// to the next, and all wait for each other.
func ringModel(ranks, rounds int) model {
	m := model{ranks: make([][]event, ranks)}
	for rank := range ranks - 1 {
		to := event{send, []cst.Value{cst.Rank(int64((rank + 1) % ranks)), cst.Int(8)}}
		m.ranks[rank] = slices.Repeat([]event{to, {barrier, nil}}, rounds)
	}
	return m
}

// unevenModel is rounds of calls in which the odd ranks send to nobody knows whom:
// what that is needs a section of its own if there are some hundred ranks.
func unevenModel(ranks, rounds int) model {
	m := model{ranks: make([][]event, ranks)}
	for rank := range ranks {
		round := []event{{barrier, nil}}
		if rank%2 == 1 {
			irregular := uint64(rank*rank) * 0x9e3779b97f4a7c15
			round = append(round, event{send, []cst.Value{cst.Rank(int64(irregular >> 1)), cst.Int(8)}})
		}
		m.ranks[rank] = slices.Repeat(round, rounds)
	}
	return m
}

// roundRobin is m with the calls of its ranks in turn.
func (m model) roundRobin() model {
	for i := range slices.MaxFunc(m.ranks, func(a, b []event) int { return len(a) - len(b) }) {
		for rank, events := range m.ranks {
			if i < len(events) {
				m.order = append(m.order, rank)
			}
		}
	}
	return m
}

// TestPositions checks the calls from every position there is, in both orders.
func TestPositions(t *testing.T) {
	for _, m := range []model{ringModel(4, 6), ringModel(4, 6).roundRobin(), {}, ringModel(1, 1)} {
		trace := openBytes(t, m.record(t))
		for rank, events := range m.ranks {
			r := readRank(t, trace, rank)
			for position := range uint64(len(events) + 2) {
				checkRank(t, r, rank, events, position)
			}
		}
		all := m.all()
		for position := range uint64(len(all) + 2) {
			checkOrder(t, trace, all, position)
		}
		checkOrder(t, trace, all, 1<<63)
	}
}

// TestFarPosition checks that a position is found without walking there: each
// rank calls 2⁴⁰ times, in turn with the other or after it.
func TestFarPosition(t *testing.T) {
	const rounds = 1 << 40
	var order sequitur.Builder
	order.Append(0)
	order.Append(1)
	turns := order.Finish()
	for _, interleaved := range []bool{false, true} {
		run := merge.Run{Ranks: 2}
		var parts []merge.Part
		for rank := range run.Ranks {
			var (
				table   cst.Table
				grammar sequitur.Builder
			)
			table.Intern(table.Declare(send), cst.Rank(int64(1-rank)), cst.Int(1))
			grammar.AppendRun(0, rounds)
			parts = append(parts, merge.Part{Rank: rank, Table: &table, Grammar: grammar.Finish()})
		}
		if interleaved {
			run.Interleaving = repeat(t, turns, rounds)
		}
		var file bytes.Buffer
		if err := merge.Write(&file, run, parts); err != nil {
			t.Fatal(err)
		}
		trace := openBytes(t, file.Bytes())
		want := func(position uint64) int { // the rank
			if interleaved {
				return int(position % 2)
			}
			return int(position / rounds)
		}
		for _, position := range []uint64{0, rounds - 2, rounds - 1, rounds, rounds + 5, 2*rounds - 3} {
			r := readCalls(t, trace.Calls(position))
			for i := position; i < min(position+3, 2*rounds); i++ {
				if c, err := r.Read(); err != nil || c.Rank != want(i) {
					t.Fatalf("position %d: %v of rank %d, %v", i, c, c.Rank, err)
				}
			}
		}
		if _, err := readCalls(t, trace.Calls(2*rounds)).Read(); err != io.EOF {
			t.Errorf("at the end: err = %v", err)
		}
	}
}

// repeat returns the grammar of n repetitions of what g generates, with the loop
// written down: the encoding of a rule, and of the start rule that refers to it.
func repeat(t *testing.T, g *sequitur.Grammar, n uint64) *sequitur.Grammar {
	t.Helper()
	enc, _ := g.AppendBinary(nil)
	const lastRule, counted = 0<<2 | 2, 1
	enc[0]++
	enc = appendUvarint(append(enc, 1, lastRule|counted), n-2)
	loop, err := sequitur.Parse(enc, sequitur.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return loop
}

// TestLazy checks that iterators stop when they are told, and that Trace.Calls
// reads no rank before its turn.
func TestLazy(t *testing.T) {
	m := ringModel(4, 100).roundRobin()
	trace := openBytes(t, m.record(t))
	n := 0
	for range readRank(t, trace, 0).Calls(0) {
		if n++; n == 3 {
			break
		}
	}
	for range trace.RankSet().All() {
		n++
		break
	}
	if n != 4 {
		t.Errorf("%d steps, want 4", n)
	}
	r := readCalls(t, openBytes(t, flip(t, unevenModel(600, 2).roundRobin().record(t), layout.KindColumns, 0)).Calls(0))
	if c, err := r.Read(); err != nil || c.Rank != 0 {
		t.Errorf("%v, %v", c, err)
	}
	for range 2 {
		if c, err := r.Read(); err == nil {
			t.Errorf("read %v of a damaged rank", c)
		}
	}
}

// TestConcurrent reads one trace and its ranks from several goroutines.
func TestConcurrent(t *testing.T) {
	m := ringModel(5, 20).roundRobin()
	trace := openBytes(t, m.record(t))
	shared := readRank(t, trace, 2)
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			for _, rank := range trace.RankSet().All() {
				r, err := trace.Rank(rank)
				if err != nil {
					t.Error(err)
					return
				}
				for range r.Calls(0) {
				}
			}
			n := uint64(0)
			for range shared.Calls(0) {
				n++
			}
			if n != shared.Len() {
				t.Errorf("%d calls of %d", n, shared.Len())
			}
		})
	}
	done.Wait()
}

// TestTrace covers what only describes a trace.
func TestTrace(t *testing.T) {
	trace := openBytes(t, ringModel(3, 2).record(t))
	if f := trace.Functions(); len(f) != 2 || !f[0].Equal(barrier) || !f[1].Equal(send) {
		t.Errorf("Functions = %v", f)
	}
	kinds := make(map[format.Kind]int)
	for _, s := range trace.Sections() {
		kinds[s.Kind]++
	}
	if kinds[layout.KindRun] != 1 || kinds[layout.KindSignatures] != 1 || kinds[layout.KindGrammars] != 1 ||
		len(kinds) != 3 {
		t.Errorf("sections by kind: %v", kinds)
	}
	if n := trace.Shapes(); n != 1 {
		t.Errorf("%d shapes", n)
	}
	r := readRank(t, trace, 1)
	if r.Terminals() != 2 {
		t.Errorf("%d signatures", r.Terminals())
	}
	if text := r.Call(0).String(); text != "send(dest=2, count=8)" {
		t.Errorf("String = %s", text)
	}
	if err := trace.Close(); err != nil {
		t.Error(err)
	}
}
