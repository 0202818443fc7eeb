package spool

import (
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mutate"
)

// FuzzDecoder decodes any records behind a header that is in order, at once and as
// they come: what is read is the same, and every value that is there can be looked
// at and lies within the bytes of its record.
func FuzzDecoder(f *testing.F) {
	f.Add(sample(f).data[headerSize:], uint16(300))
	f.Add([]byte{}, uint16(0))
	mutate.Fuzz(f, func(t *testing.T, records []byte, cut uint16) {
		segment := append(newSegment(0).data, records...)
		var whole Decoder
		if err := whole.Segment(segment); err != nil {
			t.Fatal(err)
		}
		var want []string
		boundary := headerSize // the last one before the cut
		for {
			r, err := whole.Next()
			if err != nil {
				break
			}
			want = append(want, r.String())
			checkSizes(t, r, len(segment))
			if whole.off <= headerSize+int(cut) {
				boundary = whole.off
			}
		}
		for r := range whole.Unfinished() {
			checkSizes(t, r, len(segment))
		}
		var parts Decoder
		var got []string
		begun := append(slices.Clone(segment[:boundary]), make([]byte, len(segment)-boundary)...)
		for _, data := range [][]byte{begun, segment} {
			if err := parts.Segment(data); err != nil {
				t.Fatal(err)
			}
			more, _ := decodeAll(&parts)
			got = append(got, more...)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("in parts %q\nat once %q", got, want)
		}
	})
}

// checkSizes checks that the values of a record together are no larger than the
// segment that they are from.
func checkSizes(t *testing.T, r *Record, limit int) {
	total := 0
	for _, a := range r.Arguments {
		for _, v := range []Value{a.Before, a.After} {
			total += len(v.data)
			if v.Len() > limit {
				t.Fatalf("%d elements from %d bytes", v.Len(), limit)
			}
		}
	}
	if total > limit {
		t.Fatalf("values of %d bytes from %d", total, limit)
	}
}
