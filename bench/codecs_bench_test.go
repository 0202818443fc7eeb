package bench

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/recorded"
)

// BenchmarkCodecs measures both directions of every codec on every column of the
// ranks in testdata; codecs that cluster by signature also without signatures.
// With -benchtime 1x it takes a second, otherwise minutes.
func BenchmarkCodecs(b *testing.B) {
	list, err := contenders()
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range list {
		for _, o := range orders {
			name := c.name
			if o == byCall && c.clusters {
				name += "-unclustered"
			} else if o == bySignature && !c.clusters {
				continue
			}
			b.Run("codec="+name, func(b *testing.B) {
				for _, run := range byRun(recorded.Shipped(b)) {
					for kind, k := range kinds {
						b.Run("run="+run[0].Run+"/column="+k.name, func(b *testing.B) { benchmarkCodec(b, c, columns(run, kind), o) })
					}
				}
			})
		}
	}
}

func benchmarkCodec(b *testing.B, c contender, in []column, o order) {
	k, err := c.keep(in, o)
	if err != nil {
		b.Fatal(err)
	}
	arranged, blocks := make([]column, len(in)), make([][][]byte, len(in))
	for i, column := range in {
		arranged[i] = column.arranged(o, c.clusters)
		blocks[i] = c.encode(arranged[i])
	}
	got := make([]int64, k.values)
	report := func(b *testing.B) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*k.values), "ns/value")
		b.ReportMetric(k.bytesPerValue(), "bytes/value")
		b.ReportMetric(k.ratio(), "ratio")
		b.ReportMetric(k.worst, "worst-error")
		b.ReportMetric(k.mean(), "mean-error")
		if k.squares > 0 {
			b.ReportMetric(k.psnr(), "dB-PSNR")
		}
		b.ReportMetric(0, "ns/op")
	}
	b.Run("encode", func(b *testing.B) {
		for b.Loop() {
			for _, column := range arranged {
				c.encode(column)
			}
		}
		report(b)
	})
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			for i, column := range arranged {
				if err := c.decode(got[:len(column.values)], blocks[i], column.terminals); err != nil {
					b.Fatal(err)
				}
			}
		}
		report(b)
	})
}

// BenchmarkSummaries measures what is kept of the values of each signature.
func BenchmarkSummaries(b *testing.B) {
	for _, s := range summaries {
		for kind, k := range kinds[:2] {
			b.Run("summary="+s.name+"/column="+k.name, func(b *testing.B) {
				long, _ := longAndShort(recorded.Shipped(b))
				benchmarkSummary(b, s, long, kind)
			})
		}
	}
}

func benchmarkSummary(b *testing.B, s summary, ranks []*recorded.Rank, kind int) {
	in := columns(ranks, kind)
	for b.Loop() {
		for _, c := range in {
			s.add(c)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*calls(ranks)), "ns/value")
	b.ReportMetric(0, "ns/op")
}
