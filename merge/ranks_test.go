package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"testing"

	"github.com/reprise-trace/reprise/format"
)

// TestReadPartRanks checks that the ranks of a part file are those that ReadPart
// finds, and that it is damaged where ReadPart says so.
func TestReadPartRanks(t *testing.T) {
	var a Accumulator
	for _, p := range []Part{forgedPart(3), forgedPart(4), forgedPart(9)} {
		if err := a.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Describe(Run{Ranks: 30}); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := a.WritePart(&b); err != nil {
		t.Fatal(err)
	}
	open := func(data []byte) *format.Reader {
		file, err := format.NewReader(bytes.NewReader(data), int64(len(data)), format.Options{})
		if err != nil {
			return nil
		}
		return file
	}
	size, ranks, err := ReadPartRanks(open(b.Bytes()))
	if err != nil || size != 30 || ranks.String() != a.RankSet().String() || ranks.Len() != 3 {
		t.Errorf("%d, %v, %v", size, ranks, err)
	}
	for i := range b.Len() {
		data := bytes.Clone(b.Bytes())
		data[i] ^= 1
		file := open(data)
		if file == nil {
			continue
		}
		_, _, err := ReadPartRanks(file)
		if _, want := ReadPart(file); (err == nil) != (want == nil) {
			t.Errorf("byte %d: %v, ReadPart: %v", i, err, want)
		}
	}
}
