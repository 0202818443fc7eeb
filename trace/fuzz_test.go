package trace

import (
	"bytes"
	"io"
	"testing"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/tracer"
)

const maxFuzzCalls = 500 // to read from one place

// FuzzOpen opens whatever it is given, past the checksums, and checks that the
// ways to read what is accepted agree: rank by rank and all ranks together, from
// the beginning and from a position.
func FuzzOpen(f *testing.F) {
	f.Add(smallTrace(f), uint64(7))
	f.Add(ringModel(3, 4).record(f), uint64(3))
	f.Add(unevenModel(40, 2).record(f), uint64(5))
	f.Add(model{}.record(f), uint64(0))
	f.Add(uncompressed(f, smallTrace(f)), uint64(11))
	f.Add(uncompressed(f, advancingTrace(f)), uint64(90))
	mutate.Fuzz(f, func(t *testing.T, file []byte, position uint64) {
		o := format.Options{SkipChecksum: true, MaxIndex: 1 << 12, MaxContent: 1 << 14}
		container, err := format.NewReader(bytes.NewReader(file), int64(len(file)), o)
		if err != nil {
			return
		}
		trace, err := OpenContainer(container, Options{})
		if err != nil {
			return
		}
		calls := readSome(t, trace, 0)
		if position < uint64(len(calls)) {
			again := readSome(t, trace, position)
			for i, c := range calls[position:] {
				if i >= len(again) || again[i].Rank != c.Rank || again[i].Terminal != c.Terminal {
					t.Fatalf("from %d: %v, from 0: %v", position, again, calls[position:])
				}
			}
		}
		readSome(t, trace, position)
		describeMerged(trace)
	})
}

// advancingTrace returns a trace of two ranks in which arguments advance in loops.
func advancingTrace(t testing.TB) []byte {
	var parts []merge.Part
	for rank := range 2 {
		var r tracer.Recorder
		f := r.Declare(cst.Function{Name: "f", Params: []cst.Param{
			{Name: "p", Type: cst.Type{Kind: cst.KindPointer}}, {Name: "n", Type: cst.Type{Kind: cst.KindInt}},
		}})
		for i := range 80 {
			r.Call(f, cst.PointerTo(cst.Pointer{Displacement: int64(8 * i % 320)}), cst.Int(int64(16*rank+i*i/2)))
		}
		parts = append(parts, r.Finish(rank))
	}
	return writeTrace(t, 2, parts...)
}

// describeMerged asks for all that is known of what the ranks have in common.
func describeMerged(trace *Trace) {
	for n := range min(trace.Signatures(), maxFuzzCalls) {
		_ = trace.Signature(n).String()
	}
	for n := range min(trace.Shapes(), maxFuzzCalls) {
		s, err := trace.Shape(n)
		if err != nil {
			continue
		}
		rank := int(s.Ranks.At(0))
		for _, n := range s.signatures[:min(len(s.signatures), maxFuzzCalls)] {
			signature := s.Signature(int(n))
			_ = signature.String()
			for _, a := range signature.Args {
				_, _ = a.At(rank) // an error is as good as a value
			}
		}
	}
	trace.Forms()
}

// uncompressed returns a file with its sections stored as they are, so that a
// change of a byte changes little.
func uncompressed(t rapid.TB, file []byte) []byte {
	var out bytes.Buffer
	w := format.NewWriter(&out, format.Options{Encoding: format.None})
	trace := openBytes(t, file)
	for _, s := range trace.Sections() {
		content, err := trace.file.Content(s)
		if err != nil {
			t.Fatal(err)
		}
		w.Add(s.Kind, s.Key, content)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// readSome returns calls of all ranks from a position on, until there are no
// more, one cannot be read, or there are enough. If they begin at 0, it checks
// them against those of every rank.
func readSome(t *testing.T, trace *Trace, position uint64) []Call {
	var calls []Call
	next := make(map[int]uint64)
	ranks := make(map[int]*Rank)
	for r := readCalls(t, trace.Calls(position)); len(calls) < maxFuzzCalls; {
		c, err := r.Read()
		if err != nil {
			if err == io.EOF && position == 0 {
				checkComplete(t, trace, next)
			}
			break
		}
		calls = append(calls, c)
		if position > 0 {
			continue
		}
		if ranks[c.Rank] == nil {
			ranks[c.Rank] = readRank(t, trace, c.Rank)
		}
		if got := ranks[c.Rank].CallAt(next[c.Rank]).String(); got != c.String() {
			t.Fatalf("call %d of rank %d is %s, in the order of all %s", next[c.Rank], c.Rank, got, c)
		}
		next[c.Rank]++
	}
	return calls
}

// checkComplete checks that so many calls of each rank are all there are.
func checkComplete(t *testing.T, trace *Trace, calls map[int]uint64) {
	for _, rank := range trace.RankSet().All() {
		if n := readRank(t, trace, rank).Len(); n != calls[rank] {
			t.Fatalf("rank %d has %d calls, in the order of all %d", rank, n, calls[rank])
		}
	}
}

// FuzzRoundTrip gives the property in trace_test.go to the coverage-guided fuzzer.
func FuzzRoundTrip(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testRoundTrip)) }
