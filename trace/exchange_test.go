package trace

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
)

// TestExchanges reads calls with arrays, of which some are equal in some ranks, with the rows
// of matrices decoded when they are asked for, and when the rank is read.
func TestExchanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawExchanges(t)
		file := m.record(t)
		for _, held := range []int{maxHeld, 600, 0} {
			trace := openBytes(t, file)
			trace.held = held
			for _, c := range []*cache{trace.caches.shapes, trace.caches.columns} {
				c.most = rapid.SampledFrom([]int{c.most, 8 << 10, 2 << 10, 0}).Draw(t, "room")
			}
			for at := range 2 * len(m.ranks) { // each of them twice
				rank := at % len(m.ranks)
				events := m.ranks[rank]
				r := readRank(t, trace, rank)
				if held == 0 {
					for _, row := range r.stored().rows {
						if row.column != nil {
							t.Fatal("a row is not decoded")
						}
					}
				}
				checkRank(t, r, rank, events, 0)
				checkTerminals(t, r, events)
			}
		}
	})
}

// drawExchanges draws a run in which each rank passes two arrays to each call, of numbers or of
// strings.
func drawExchanges(t *rapid.T) model {
	f := cst.Function{Name: "exchange", Params: []cst.Param{
		{Name: "sent", Type: cst.ArrayOf(cst.Type{Kind: cst.KindInt})},
		{Name: "received", Type: cst.ArrayOf(cst.Type{Kind: cst.KindRank})},
		{Name: "names", Type: cst.ArrayOf(cst.Type{Kind: cst.KindString})},
		{Name: "n", Type: cst.Type{Kind: cst.KindInt}},
	}}
	n := rapid.IntRange(2, 9).Draw(t, "ranks")
	sent := make([][]int64, n) // by rank
	for rank := range sent {
		sent[rank] = rapid.SliceOfN(rapid.Int64Range(0, 3), n, n).Draw(t, "row")
	}
	m := model{ranks: make([][]event, n)}
	for range rapid.IntRange(1, 6).Draw(t, "calls") {
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			sent[rapid.IntRange(0, n-1).Draw(t, "from")][rapid.IntRange(0, n-1).Draw(t, "to")]++
		}
		named := rapid.Bool().Draw(t, "named")
		for rank := range n {
			var received, names []cst.Value
			for from := range n {
				received = append(received, cst.Rank(sent[from][rank]))
				if named && from < 2 {
					names = append(names, cst.String(string(rune('a'+sent[rank][from]))))
				}
			}
			var out []cst.Value
			for _, v := range sent[rank] {
				out = append(out, cst.Int(v))
			}
			m.ranks[rank] = append(m.ranks[rank], event{f,
				[]cst.Value{cst.Array(out...), cst.Array(received...), cst.Array(names...), cst.Int(7)}})
		}
	}
	return m
}

// checkTerminals checks that calls of a rank have one terminal exactly if they are equal.
func checkTerminals(t rapid.TB, r *Rank, events []event) {
	t.Helper()
	terminals := make(map[string]uint32)
	used := make(map[uint32]bool)
	for i, e := range events {
		key := string(cst.AppendCall(nil, e.function, e.args))
		x := uint32(r.Grammar().At(uint64(i)))
		known, ok := terminals[key]
		if ok && known != x || !ok && used[x] {
			t.Fatalf("rank %d: call %d, %s, has terminal %d, others %v", r.Number(), i, key, x, terminals)
		}
		terminals[key], used[x] = x, true
	}
}
