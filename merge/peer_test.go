package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/sequitur"
)

// TestHighestPeer checks which peer counts, among values on lines that ascend and
// descend, in arrays, and of different shapes.
func TestHighestPeer(t *testing.T) {
	rank := cst.Type{Kind: cst.KindRank}
	send := cst.Function{Name: "send", Params: []cst.Param{{Name: "count", Type: cst.Type{Kind: cst.KindInt}},
		{Name: "dest", Type: rank}}}
	graph := cst.Function{Name: "graph",
		Params: []cst.Param{{Name: "peers", Type: cst.Type{Kind: cst.KindArray, Elem: &rank}}}}
	for _, tt := range []struct {
		name  string
		peers func(rank int) []int64 // of three ranks
		want  Peer
	}{
		{"Ascending", func(r int) []int64 { return []int64{int64(r) + 1} }, Peer{Rank: 3, Caller: 2, Function: "send"}},
		{"Descending", func(r int) []int64 {
			return []int64{7 - int64(r)}
		}, Peer{Rank: 7, Caller: 0, Function: "send"}},
		{"Constant", func(r int) []int64 { return []int64{9} }, Peer{Rank: 9, Caller: 0, Function: "send"}},
		{"Middle", func(r int) []int64 {
			return []int64{[]int64{2, 6, 1}[r]}
		}, Peer{Rank: 6, Caller: 1, Function: "send"}},
		{"Special", func(r int) []int64 { return []int64{-333} }, Peer{Rank: -333, Caller: 0, Function: "send"}},
		{"Array", func(r int) []int64 {
			return []int64{0, 4, int64(r), 1}
		}, Peer{Rank: 4, Caller: 0, Function: "graph"}},
		{"Shapes", func(r int) []int64 { return make([]int64, r+1) }, Peer{Rank: 0, Caller: 0, Function: "send"}},
	} {
		var a Accumulator
		for r := range 3 {
			var values []cst.Value
			for _, p := range tt.peers(r) {
				values = append(values, cst.Rank(p))
			}
			table, b := new(cst.Table), new(sequitur.Builder)
			if len(values) == 1 {
				b.Append(table.Intern(table.Declare(send), cst.Int(1000), values[0]))
			} else {
				b.Append(table.Intern(table.Declare(graph), cst.Array(values...)))
			}
			if err := a.Add(Part{Rank: r, Table: table, Grammar: b.Finish()}); err != nil {
				t.Fatal(err)
			}
		}
		if got, ok := a.HighestPeer(); !ok || got != tt.want {
			t.Errorf("%s: %v, %v, want %v", tt.name, got, ok, tt.want)
		}
	}
	// Behind the arguments of a call that names a group is what the caller is in it.
	var a Accumulator
	table, b := new(cst.Table), new(sequitur.Builder)
	comm := cst.Function{Name: "comm", Params: []cst.Param{{Name: "comm", Type: cst.HandleOf("comm")},
		{Name: "n", Type: cst.Type{Kind: cst.KindInt}}}}
	b.Append(table.Intern(table.Declare(comm), cst.Handle(0), cst.Int(1000)))
	b.Append(table.Intern(table.Declare(send), cst.Int(1000), cst.Rank(1)))
	groups := map[GroupHandle]Group{{Class: "comm", Value: 0}: {Rank: 1, Size: 2000}}
	if err := a.Add(Part{Table: table, Grammar: b.Finish(), Groups: groups}); err != nil {
		t.Fatal(err)
	}
	if got, ok := a.HighestPeer(); !ok || got != (Peer{Rank: 1, Caller: 0, Function: "send"}) {
		t.Errorf("behind a group: %v, %v", got, ok)
	}
	if got, ok := new(Accumulator).HighestPeer(); ok {
		t.Errorf("an empty accumulator names %v", got)
	}
}
