package forest

import (
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/streams"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// BenchmarkForest shows the cost of a forest for each symbol of its grammars:
// many small members that are much alike, and few large ones that are not.
func BenchmarkForest(b *testing.B) {
	random := func(name string) *sequitur.Grammar {
		at := slices.IndexFunc(streams.All, func(s streams.Stream) bool { return s.Name == name })
		return build(streams.All[at].Gen(1_000_000))
	}
	for _, bm := range []struct {
		name    string
		members []*sequitur.Grammar
	}{
		{"Alike", alike(1000)},
		{"Random", []*sequitur.Grammar{random("Random16"), random("Random100000")}},
	} {
		symbols := 0
		for _, g := range bm.members {
			symbols += g.Symbols()
		}
		perSymbol := func(b *testing.B, encoded int) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*symbols), "ns/symbol")
			b.ReportMetric(float64(encoded)/float64(symbols), "B/symbol")
			b.ReportMetric(0, "ns/op")
		}
		var enc []byte
		var shared int
		b.Run("encode/members="+bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f := New(bm.members)
				enc = f.AppendShared(enc[:0])
				shared = len(enc)
				for i := range f.Len() {
					enc = f.AppendMember(enc, i)
				}
			}
			perSymbol(b, len(enc))
		})
		b.Run("decode/members="+bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s, err := Parse(enc[:shared], Options{})
				if err != nil {
					b.Fatal(err)
				}
				d := wire.NewDecoder(pkg, enc[shared:])
				for i := range bm.members {
					s.decodeMember(&d, i)
				}
				if d.Err() != nil {
					b.Fatal(d.Err())
				}
			}
			perSymbol(b, len(enc))
		})
	}
}

// alike returns n grammars of a program with other peers in each.
func alike(n int) []*sequitur.Grammar {
	members := make([]*sequitur.Grammar, n)
	for i := range members {
		var b sequitur.Builder
		peer := sequitur.Symbol(100 + i)
		for s := range sequitur.Symbol(20) {
			b.Append(s)
		}
		for range 3 {
			b.AppendLoop([]sequitur.Run{{Symbol: 1, Count: 1}, {Symbol: peer, Count: 2},
				{Symbol: 3, Count: 1}, {Symbol: peer + 7, Count: 1}, {Symbol: 5, Count: 1}}, 100)
			b.AppendLoop([]sequitur.Run{{Symbol: 30, Count: 1}, {Symbol: 31, Count: 1}, {Symbol: peer, Count: 1}}, 10)
		}
		members[i] = b.Finish()
	}
	return members
}
