package trace

import (
	"bytes"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
)

// TestPlaces checks that the values that are shown of a signature are those of the ranks that make the call,
// also where its column is that of more ranks: the messages that a rank sends go where those came from that
// it received.
func TestPlaces(t *testing.T) {
	p := programs.Halo26(4, 10)
	var file bytes.Buffer
	if err := merge.Write(&file, p.Run(), p.Parts()); err != nil {
		t.Fatal(err)
	}
	tr, err := OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	shared := 0
	for i := range tr.Signatures() {
		s := tr.Signature(i)
		makers := rankenc.Set{}.Union(s.makers()...)
		for _, a := range s.Args {
			for _, v := range a.Values {
				if v.Form != Column {
					continue
				}
				places, err := s.places(v.column)
				if err != nil {
					t.Fatal(err)
				}
				var b rankenc.SetBuilder
				for _, x := range places {
					b.Add(int(x.rank))
				}
				if ranks := b.Finish(); !ranks.Equal(makers) {
					t.Errorf("signature %d, %s: values of ranks %v, want %v", i, s.Function.Name, ranks, makers)
				}
				if of := tr.signatures.Columns[v.column].Domain; tr.signatures.Domains[of].Len() > makers.Len() {
					shared++
				}
			}
		}
	}
	if shared == 0 {
		t.Error("no column is that of more ranks")
	}
}
