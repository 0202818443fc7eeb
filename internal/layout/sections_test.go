package layout

import (
	"bytes"
	"testing"

	"github.com/reprise-trace/reprise/format"
)

// TestKeptSections reads sections in turns, as who reads call by call does: as many as are kept stay, and more
// of them are read again.
func TestKeptSections(t *testing.T) {
	const sections = keptSections + 1
	var file bytes.Buffer
	w := format.NewWriter(&file, format.Options{})
	for i := range sections {
		if err := w.Add(KindColumns, uint64(i), []byte{byte(i), 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := format.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := NewSections(r)
	for range 3 {
		for i := range sections {
			var got []byte
			err := s.ReadShared(KindColumns, uint64(i), func(data []byte) error { got = data; return nil })
			if err != nil || !bytes.Equal(got, []byte{byte(i), 1}) {
				t.Fatalf("section %d is %v, %v", i, got, err)
			}
			if n := len(s.last[KindColumns]); n > keptSections {
				t.Fatalf("%d sections are kept", n)
			}
		}
	}
	few := sections - 2
	for i := range few {
		s.ReadShared(KindColumns, uint64(i), func([]byte) error { return nil })
	}
	for i := range few {
		if s.kept(KindColumns, uint64(i)) == nil {
			t.Errorf("section %d of %d is not kept", i, few)
		}
	}
}
