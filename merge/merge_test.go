package merge

import (
	"bytes"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/sequitur"
)

var (
	send    = cst.Function{Name: "send", Params: []cst.Param{{Name: "dest", Type: cst.Type{Kind: cst.KindRank}}}}
	recv    = cst.Function{Name: "recv", Params: []cst.Param{{Name: "source", Type: cst.Type{Kind: cst.KindRank}}}}
	barrier = cst.Function{Name: "barrier"}
)

// A call is an element of the model of a part.
type call struct {
	f    cst.Function
	args []cst.Value
}

// part folds calls into the part of a rank, which declares functions first.
func part(rank int, functions []cst.Function, calls ...call) Part {
	var (
		table   cst.Table
		grammar sequitur.Builder
	)
	for _, f := range functions {
		table.Declare(f)
	}
	for _, c := range calls {
		grammar.Append(sequitur.Symbol(table.Intern(table.Declare(c.f), c.args...)))
	}
	return Part{Rank: rank, Table: &table, Grammar: grammar.Finish()}
}

// ring is what a rank calls that sends to the next rank of a number of ranks.
func ring(rank, ranks int) []call {
	var calls []call
	for range 20 {
		calls = append(calls, call{send, []cst.Value{cst.Rank(int64((rank + 1) % ranks))}})
		calls = append(calls, call{recv, []cst.Value{cst.Rank(int64((rank + ranks - 1) % ranks))}})
		calls = append(calls, call{f: barrier})
	}
	return calls
}

// order folds an interleaving into a grammar.
func order(ranks ...int) *sequitur.Grammar {
	var b sequitur.Builder
	for _, rank := range ranks {
		b.Append(sequitur.Symbol(rank))
	}
	return b.Finish()
}

// write returns the trace of run and parts.
func write(t rapid.TB, run Run, parts ...Part) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := Write(&file, run, parts); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// reader returns a Reader of a container.
func reader(t rapid.TB, file []byte) *format.Reader {
	t.Helper()
	r, err := format.NewReader(bytes.NewReader(file), int64(len(file)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// openFile opens a trace.
func openFile(t rapid.TB, file []byte) *Trace {
	t.Helper()
	trace, err := Open(reader(t, file))
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// readPart reads the part of a rank.
func readPart(t rapid.TB, trace *Trace, rank int) Part {
	t.Helper()
	p, err := trace.Part(rank)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// expand lists the calls of a part.
func expand(p Part) []call {
	var calls []call
	functions := p.Table.Functions()
	for _, s := range p.Grammar.All() {
		fn, args := p.Table.Signature(uint32(s))
		calls = append(calls, call{functions[fn], args})
	}
	return calls
}

func equalCalls(a, b []call) bool {
	return slices.EqualFunc(a, b, func(c, d call) bool {
		return c.f.Equal(d.f) && slices.EqualFunc(c.args, d.args, cst.Value.Equal)
	})
}

func equalOrders(g, h *sequitur.Grammar) bool {
	if g == nil || h == nil {
		return g == h
	}
	return g.Equal(h)
}

// A model is what a trace must hold.
type model struct {
	run       Run
	calls     map[int][]call         // of the ranks that have a part
	functions map[int][]cst.Function // that the part declares first
	order     *sequitur.Grammar      // that must come back
}

func (m model) parts() []Part {
	var parts []Part
	for rank := range m.run.Ranks {
		if calls, ok := m.calls[rank]; ok {
			parts = append(parts, part(rank, m.functions[rank], calls...))
		}
	}
	return parts
}

// modelGen draws runs in which ranks repeat a phrase of their own, one they
// share, or nothing.
var modelGen = rapid.Custom(func(t *rapid.T) model {
	m := model{calls: make(map[int][]call), functions: make(map[int][]cst.Function)}
	m.run.Ranks = rapid.IntRange(0, 9).Draw(t, "ranks")
	m.run.Source = rapid.String().Draw(t, "source")
	value := rapid.Map(rapid.Int64Range(-1, 5), cst.Rank)
	callGen := rapid.Custom(func(t *rapid.T) call {
		f := rapid.SampledFrom([]cst.Function{send, recv, barrier}).Draw(t, "function")
		return call{f, rapid.SliceOfN(value, len(f.Params), len(f.Params)).Draw(t, "args")}
	})
	phrase := rapid.SliceOfN(callGen, 1, 4)
	shared := phrase.Draw(t, "shared")
	for rank := range m.run.Ranks {
		m.functions[rank] = rapid.Permutation([]cst.Function{send, recv, barrier}).Draw(t, "declared")
		repeats := rapid.IntRange(1, 5).Draw(t, "repeats")
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0: // no part
		case 1:
			m.calls[rank] = nil
		case 2:
			m.calls[rank] = slices.Repeat(shared, repeats)
		case 3:
			m.calls[rank] = slices.Repeat(phrase.Draw(t, "own"), repeats)
		}
	}
	if rapid.Bool().Draw(t, "interleaved") {
		m.interleave(t)
	}
	return m
})

// interleave draws an order of the calls.
func (m *model) interleave(t *rapid.T) {
	var ranks []int
	for rank := range m.run.Ranks {
		ranks = append(ranks, slices.Repeat([]int{rank}, len(m.calls[rank]))...)
	}
	if rapid.Bool().Draw(t, "mixed") {
		ranks = rapid.Permutation(ranks).Draw(t, "order")
	}
	m.run.Interleaving = order(ranks...)
	if !slices.IsSorted(ranks) {
		m.order = m.run.Interleaving
	}
}

func testRoundTrip(t *rapid.T) {
	m := modelGen.Draw(t, "model")
	file := write(t, m.run, m.parts()...)
	if again := write(t, m.run, m.parts()...); !bytes.Equal(again, file) {
		t.Fatalf("the same run gives\n%x, then\n%x", file, again)
	}
	trace := openFile(t, file)
	if run := trace.Run(); run.Ranks != m.run.Ranks || run.Source != m.run.Source || !equalOrders(run.Interleaving, m.order) {
		t.Fatalf("Run = %+v, want %+v", run, m.run)
	}
	var active []int
	for rank, ok := trace.Active(-1); ok; rank, ok = trace.Active(rank + 1) {
		active = append(active, rank)
	}
	var read []Part
	for rank := range m.run.Ranks {
		p := readPart(t, trace, rank)
		if got := expand(p); p.Rank != rank || !equalCalls(got, m.calls[rank]) {
			t.Fatalf("rank %d called %v, want %v", rank, got, m.calls[rank])
		}
		if !slices.EqualFunc(p.Table.Functions(), trace.Functions(), cst.Function.Equal) {
			t.Fatalf("rank %d has functions %v, want %v", rank, p.Table.Functions(), trace.Functions())
		}
		if (len(m.calls[rank]) > 0) != slices.Contains(active, rank) {
			t.Fatalf("active ranks %v, rank %d has %d calls", active, rank, len(m.calls[rank]))
		}
		read = append(read, p)
	}
	// Declarations of ranks without calls order the functions of m.
	if again := write(t, trace.Run(), read...); len(m.calls) > 0 && !bytes.Equal(again, file) {
		t.Fatalf("what was read gives\n%x, want\n%x", again, file)
	}
}

func TestRoundTrip(t *testing.T) { rapid.Check(t, testRoundTrip) }

func TestWriteErrors(t *testing.T) {
	one := call{f: barrier}
	alien := part(1, nil, one)
	alien.Table = &cst.Table{}
	tests := []struct {
		name  string
		run   Run
		parts []Part
		want  string
	}{
		{"NegativeRanks", Run{Ranks: -1}, nil, "a run of -1 ranks"},
		{"NegativeRank", Run{Ranks: 1}, []Part{part(-1, nil)}, "a part of rank -1 in a run of 1"},
		{"RankTooLarge", Run{Ranks: 1}, []Part{part(1, nil)}, "a part of rank 1 in a run of 1"},
		{"Order", Run{Ranks: 2}, []Part{part(1, nil), part(0, nil)}, "rank 0 follows one of rank 1"},
		{"Twice", Run{Ranks: 2}, []Part{part(1, nil), part(1, nil)}, "rank 1 follows one of rank 1"},
		{"NoTable", Run{Ranks: 2}, []Part{{Rank: 1, Grammar: &sequitur.Grammar{}}}, "rank 1: the part has no table"},
		{"NoGrammar", Run{Ranks: 2}, []Part{{Rank: 1, Table: &cst.Table{}}}, "rank 1: the part has no table or no grammar"},
		{"NoSignature", Run{Ranks: 2}, []Part{alien}, "rank 1: the grammar has terminal 0 of 0"},
		{"OrderTooShort", Run{Ranks: 2, Interleaving: order(0)}, []Part{part(0, nil, one), part(1, nil, one)}, "rank 1 has 1 calls, 0 in the"},
		{"OrderTooLong", Run{Ranks: 2, Interleaving: order(0, 1, 0)}, []Part{part(0, nil, one), part(1, nil, one)}, "rank 0 has 1 calls, 2 in the"},
		{"OrderAlien", Run{Ranks: 2, Interleaving: order(7, 0, 5)}, []Part{part(0, nil, one)}, "has rank 5, which has no part"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var file bytes.Buffer
			err := Write(&file, tt.run, tt.parts)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "merge: ") {
				t.Errorf("err = %v, want %q", err, tt.want)
			}
			if file.Len() > 0 {
				t.Errorf("wrote %d bytes", file.Len())
			}
		})
	}
}

// A failingWriter fails after some writes.
type failingWriter struct{ left int }

var errWrite = errors.New("no space left")

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, errWrite
	}
	return len(p), nil
}

// TestWriteFails checks that Write reports a failure of each of its writes: the
// header, six sections and the index.
func TestWriteFails(t *testing.T) {
	run := Run{Ranks: 2, Interleaving: order(1, 0)}
	parts := []Part{part(0, nil, call{f: barrier}), part(1, nil, call{send, []cst.Value{cst.Rank(0)}})}
	writes := 0
	for ; writes < 100; writes++ {
		err := Write(&failingWriter{left: writes}, run, parts)
		if err == nil {
			break
		}
		if !errors.Is(err, errWrite) {
			t.Errorf("after %d writes: err = %v", writes, err)
		}
	}
	if writes != 9 {
		t.Errorf("%d writes, want 9", writes)
	}
}

// TestEqualRanks checks that what ranks have in common is stored once, however
// many they are: grammars where peers differ, all where they do not.
func TestEqualRanks(t *testing.T) {
	const ranks = 64
	sections := func(calls func(rank int) []call) (shared, size int) {
		var parts []Part
		for rank := range ranks {
			parts = append(parts, part(rank, nil, calls(rank)...))
		}
		file := write(t, Run{Ranks: ranks}, parts...)
		for _, s := range reader(t, file).All() {
			if s.Shared() {
				shared++
			}
		}
		return shared, len(file)
	}
	if shared, size := sections(func(int) []call { return ring(0, ranks) }); shared != 2*(ranks-1) || size > 2*ranks*14+250 {
		t.Errorf("equal ranks: %d shared sections, %d bytes", shared, size)
	}
	if shared, _ := sections(func(rank int) []call { return ring(rank, ranks) }); shared != ranks-1 {
		t.Errorf("equal grammars: %d shared sections, want %d", shared, ranks-1)
	}
}

// TestOpenMemory checks that opening a trace allocates nothing by the number of
// ranks it claims.
func TestOpenMemory(t *testing.T) {
	file := write(t, Run{Ranks: maxRanks}, part(maxRanks-1, nil, call{f: barrier}))
	openFile(t, file)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	trace := openFile(t, file)
	rank, ok := trace.Active(0)
	readPart(t, trace, rank-1)
	readPart(t, trace, rank)
	runtime.ReadMemStats(&after)
	if rank != maxRanks-1 || !ok {
		t.Errorf("Active(0) = %d, %v", rank, ok)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 64<<10 {
		t.Errorf("%d bytes of file allocated %d bytes", len(file), got)
	}
}

func TestPartRange(t *testing.T) {
	trace := openFile(t, write(t, Run{Ranks: 2}, part(0, nil, call{f: barrier})))
	for _, rank := range []int{-1, 2, 1 << 30} {
		if _, err := trace.Part(rank); err == nil {
			t.Errorf("rank %d: no error", rank)
		}
	}
	if p := readPart(t, trace, 1); p.Grammar.Len() != 0 || p.Table.Len() != 0 {
		t.Errorf("silent rank has %d calls", p.Grammar.Len())
	}
}

func TestKindName(t *testing.T) {
	var names []string
	for k := KindRun; k <= KindInterleaving+1; k++ {
		names = append(names, KindName(k))
	}
	if got := strings.Join(names, ", "); got != "run, functions, signatures, grammar, interleaving, kind 6" {
		t.Error(got)
	}
}

// A badReader is a file with a bad spot.
type badReader struct {
	*bytes.Reader
	spot int64 // −1: none
}

var errRead = errors.New("input/output error")

func (r *badReader) ReadAt(p []byte, off int64) (int, error) {
	if off <= r.spot && r.spot < off+int64(len(p)) {
		return 0, errRead
	}
	return r.Reader.ReadAt(p, off)
}

// TestReadFails checks that failures of the file are handed on with the name of
// the section, not taken for damage.
func TestReadFails(t *testing.T) {
	file := write(t, Run{Ranks: 1}, part(0, nil, call{f: barrier}))
	for _, kind := range []format.Kind{KindRun, KindFunctions, KindSignatures, KindGrammar} {
		bad := &badReader{bytes.NewReader(file), -1}
		fr, err := format.NewReader(bad, int64(len(file)), format.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, _ := fr.Lookup(kind, 0)
		bad.spot = s.Offset
		trace, err := Open(fr)
		if err == nil {
			_, err = trace.Part(0)
		}
		var se *SectionError
		if !errors.As(err, &se) || se.Kind != kind || !errors.Is(err, errRead) || errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: err = %v", KindName(kind), err)
		}
	}
}
