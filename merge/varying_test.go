package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/sequitur"
)

// streamsOf returns the trace of ranks that make calls, its streams, and the number of
// sections of these.
func streamsOf(t *testing.T, parts ...Part) (*Trace, *layout.StreamTable, int) {
	t.Helper()
	file := write(t, Run{Ranks: len(parts)}, parts)
	n := 0
	for _, s := range container(t, file).All() {
		if s.Kind == layout.KindStreams {
			n++
		}
	}
	trace := open(t, file)
	checkCalls(t, trace, parts)
	return trace, tableOf(t, file).Streams, n
}

// inLoop returns the calls of a loop of several, of which some are what call
// returns: without their arguments, they are all the same rounds.
func inLoop(call func(i int) (cst.Function, cst.Value)) func(i int) (cst.Function, cst.Value) {
	return func(i int) (cst.Function, cst.Value) {
		if i%8 < 2 {
			return call(i)
		}
		return numbered("step", cst.Type{Kind: cst.KindInt}), cst.Int(int64(i % 8))
	}
}

// TestVarying checks which arguments become streams: those that vary without a
// pattern in many calls, where it makes the trace smaller.
func TestVarying(t *testing.T) {
	amount := numbered("compute", cst.Type{Kind: cst.KindFloat})
	tag := numbered("tag", cst.Type{Kind: cst.KindTag})
	text := numbered("text", cst.Type{Kind: cst.KindString})
	array := numbered("array", cst.ArrayOf(cst.Type{Kind: cst.KindInt}))
	noise := func(i int) int64 { return int64(irregular(i, 0) % 40) }
	tests := []struct {
		name string
		n    int
		want int // arguments
		call func(i int) (cst.Function, cst.Value)
	}{
		{"Noise", 4000, 1, func(i int) (cst.Function, cst.Value) { return amount, cst.Float(float64(noise(i)) / 8) }},
		{"Integers", 4000, 1, func(i int) (cst.Function, cst.Value) { return tag, cst.Tag(noise(i)) }},
		{"Texts", 4000, 1, func(i int) (cst.Function, cst.Value) {
			return text, cst.String(string(rune('a' + noise(i))))
		}},
		{"Loop", 4000, 0, func(i int) (cst.Function, cst.Value) { return tag, cst.Tag(noise(i % 80)) }},
		{"Few", 40, 0, func(i int) (cst.Function, cst.Value) { return tag, cst.Tag(noise(i)) }},
		{"Array", 4000, 0, func(i int) (cst.Function, cst.Value) { return array, cst.Array(cst.Int(noise(i))) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			part := recorded(0, tt.n, inLoop(tt.call))
			trace, streams, n := streamsOf(t, part)
			arguments := 0
			if streams != nil {
				arguments = len(streams.Arguments)
			}
			if arguments != tt.want || (n > 0) != (tt.want > 0) {
				t.Errorf("%d varying arguments in %d sections, want %d", arguments, n, tt.want)
			}
			if tt.want > 0 && trace.Signatures() != 6+tt.want {
				t.Errorf("%d signatures", trace.Signatures())
			}
		})
	}
}

// TestStreamsShared checks that ranks with equal values share a stream, and that
// it takes the place of its column.
func TestStreamsShared(t *testing.T) {
	call := inLoop(func(i int) (cst.Function, cst.Value) {
		return numbered("compute", cst.Type{Kind: cst.KindFloat}), cst.Float(float64(irregular(i, 0) % 40))
	})
	var parts []Part
	for rank := range 6 { // in two shapes
		parts = append(parts, recorded(rank, 2000+7*(rank%2), call))
	}
	trace, streams, _ := streamsOf(t, parts...)
	if got := len(streams.Streams); got != 2 || trace.Shapes() != 2 {
		t.Errorf("%d streams of %d shapes, want 2 of 2", got, trace.Signatures())
	}
}

// TestVaryingHandles checks that handles that are streams are not taken for places of a list, as
// those of other calls are.
func TestVaryingHandles(t *testing.T) {
	site := cst.Type{Kind: cst.KindHandle, Class: "site"}
	part := recorded(0, 4000, func(i int) (cst.Function, cst.Value) {
		if i%8 < 2 {
			return numbered("send", site), cst.Handle(1<<50 + int64(irregular(i, 0)%40))
		}
		return numbered("step", site), cst.Handle(1<<50 + int64(i%8))
	})
	parts := []Part{part}
	file := write(t, Run{Ranks: 1, Names: namesOfHandles(parts)}, parts)
	checkCalls(t, open(t, file), parts)
	if _, lists, err := layout.ReadNames(container(t, file)); err != nil || len(lists["site"]) != 41 ||
		tableOf(t, file).Streams == nil {
		t.Errorf("%d handles listed, %v, streams %v", len(lists["site"]), err, tableOf(t, file).Streams)
	}
}

// TestVaryingCalls checks that a loop too long to be expanded has no streams.
func TestVaryingCalls(t *testing.T) {
	const calls = 4000
	p := recorded(0, calls, inLoop(func(i int) (cst.Function, cst.Value) {
		return numbered("compute", cst.Type{Kind: cst.KindInt}), cst.Int(int64(irregular(i, 0) % 40))
	}))
	if _, _, n := streamsOf(t, p); n == 0 {
		t.Error("the loop has no streams")
	}
	p.Grammar = repeatGrammar(p, layout.MaxStreamCalls/calls+1)
	file := write(t, Run{Ranks: 1}, []Part{p})
	trace := open(t, file)
	if tableOf(t, file).Streams != nil {
		t.Error("a rank of 2²⁶ calls and more has streams")
	}
	if got := readPart(t, trace, 0); got.Grammar.Len() != p.Grammar.Len() {
		t.Errorf("%d calls, want %d", got.Grammar.Len(), p.Grammar.Len())
	}
	parts := []Part{p}
	for rank := 1; rank < 6; rank++ { // others that are not too long
		parts = append(parts, recorded(rank, calls+7*rank, inLoop(func(i int) (cst.Function, cst.Value) {
			return numbered("compute", cst.Type{Kind: cst.KindInt}), cst.Int(int64(irregular(i, rank) % 40))
		})))
	}
	file = write(t, Run{Ranks: len(parts)}, parts)
	trace = open(t, file)
	if tableOf(t, file).Streams == nil {
		t.Error("the others have no streams")
	}
	for _, p := range parts {
		if got := readPart(t, trace, p.Rank); got.Grammar.Len() != p.Grammar.Len() {
			t.Errorf("%d calls of rank %d, want %d", got.Grammar.Len(), p.Rank, p.Grammar.Len())
		}
	}
}

// repeatGrammar returns the grammar of the calls of p, n times.
func repeatGrammar(p Part, n uint64) *sequitur.Grammar {
	var body []sequitur.Run
	for _, r := range p.Grammar.Runs() {
		body = append(body, r)
	}
	var b sequitur.Builder
	b.AppendLoop(body, n)
	return b.Finish()
}
