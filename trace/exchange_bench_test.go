package trace

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/merge"
)

// BenchmarkExchanges reads all ranks of a program whose calls have arrays with an element for
// each rank: their calls, their arguments as well, and all elements.
func BenchmarkExchanges(b *testing.B) {
	for _, p := range []programs.Program{programs.RandomAlltoallv(64, 10, 1), programs.IntegerSort(64, 1000, 10, 1)} {
		var file bytes.Buffer
		if err := merge.Write(&file, p.Run(), p.Parts()); err != nil {
			b.Fatal(err)
		}
		trace := openBytes(b, file.Bytes())
		for _, what := range []string{"calls", "arguments", "elements"} {
			b.Run(fmt.Sprintf("program=%s/read=%s", p.Name, what), func(b *testing.B) {
				b.ReportAllocs()
				calls, elements := 0, 0
				for b.Loop() {
					calls, elements = 0, 0
					for number := range p.Ranks {
						r := readRank(b, trace, number)
						c, e := readExchanges(r, what)
						calls, elements = calls+c, elements+e
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*calls), "ns/event")
				if elements > 0 {
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*elements), "ns/value")
				}
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// readExchanges reads what of the calls of a rank, and returns how many they are, and the
// elements of their arrays.
func readExchanges(r *Rank, what string) (calls, elements int) {
	if what == "calls" {
		w := r.Walk(0)
		for run := w.Next(); run.Count > 0; run = w.Next() {
			calls += int(run.Count)
		}
		return calls, 0
	}
	sum := int64(0)
	for call := range r.Calls(0) {
		calls++
		for i := range call.Args {
			if call.Args[i].Kind() != cst.KindArray {
				continue
			}
			elements += call.Args[i].Len()
			if what == "elements" {
				for k := range call.Args[i].Len() {
					sum += call.Args[i].Index(k).Int()
				}
			}
		}
	}
	return calls, elements
}
