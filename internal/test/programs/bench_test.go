package programs

import "testing"

// BenchmarkPart makes the parts of one program after the other, as a merge of
// parts made on the fly does.
func BenchmarkPart(b *testing.B) {
	for _, p := range append([]Program{Stencil2D(1024, 1024, 1e9), Stencil3D(128, 128, 64, 1e9),
		PermutationSend(65_536, 1000, 1)}, All(64)...) {
		b.Run("program="+p.Name, func(b *testing.B) {
			b.ReportAllocs()
			rank := p.Ranks / 2
			for b.Loop() {
				p.Part(rank)
				if rank++; rank == p.Ranks {
					rank = 0
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/part")
			b.ReportMetric(0, "ns/op")
		})
	}
}
