package format

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/mutate"
)

// fuzzOptions let a fuzzer past the checksums and keep it fast.
var fuzzOptions = Options{SkipChecksum: true, MaxIndex: 1 << 16, MaxContent: 1 << 20}

func addSeeds(f *testing.F) {
	for _, e := range forms {
		f.Add(write(f, Options{Encoding: e}, nil))
		f.Add(write(f, Options{Encoding: e}, samples))
		f.Add(write(f, Options{Encoding: e}, samples)[:80])
	}
	f.Add(forge(forged{entry{form: Zstd, length: 20 * zstdBlockMax}, runs(20)}))
	f.Add(forge(forged{entry{form: 6, length: 1 << 40}, "unknown"}))
	f.Add(forgeIndex([]byte(header), []byte(blocks(make([]byte, 5000))), 5000))
}

// readable returns the sections of r that can be read, with their contents.
func readable(t *testing.T, r *Reader) []item {
	t.Helper()
	var items []item
	total := 0
	for _, s := range r.All() {
		content, err := r.Content(s)
		if err != nil {
			continue
		}
		if int64(len(content)) != s.Len {
			t.Fatalf("section %+v has %d bytes", s, len(content))
		}
		items = append(items, item{s.Kind, s.Key, content})
		if total += len(content); total > 8<<20 {
			break
		}
	}
	return items
}

// FuzzReader checks that the index of whatever file is accepted is the one index
// of what it lists, that sections fill the file, and that what can be read of
// them is the same after it is written again.
func FuzzReader(f *testing.F) {
	addSeeds(f)
	mutate.Fuzz(f, func(t *testing.T, file []byte) {
		r, err := NewReader(bytes.NewReader(file), int64(len(file)), fuzzOptions)
		if err != nil {
			return
		}
		off := headerLen
		for i, s := range r.All() {
			if s.Offset != off {
				t.Fatalf("section %d is at offset %d, want %d", i, s.Offset, off)
			}
			off += s.Size
		}
		index := appendIndex(nil, r.entries)
		if rest := file[off:]; len(rest) == len(index)+int(footerLen) && !bytes.HasPrefix(rest, index) {
			t.Fatalf("index is\n%x, want\n%x", rest, index)
		}
		items := readable(t, r)
		checkItems(t, open(t, write(t, Options{Encoding: LZ4}, items), Options{}), items)
	})
}

// FuzzSalvage checks that sections and losses are in order, do not overlap and
// lie inside the file.
func FuzzSalvage(f *testing.F) {
	addSeeds(f)
	mutate.Fuzz(f, func(t *testing.T, file []byte) {
		for _, o := range []Options{fuzzOptions, {}} {
			r, losses, err := Salvage(bytes.NewReader(file), int64(len(file)), o)
			if r == nil {
				if err == nil || losses != nil {
					t.Fatalf("no Reader, losses %v, %v", losses, err)
				}
				continue
			}
			off := int64(0)
			for _, s := range r.All() {
				for len(losses) > 0 && losses[0].Offset < s.Offset {
					off = checkRange(t, off, losses[0].Offset, losses[0].Len, file)
					losses = losses[1:]
				}
				off = checkRange(t, off, s.Offset, s.Size, file)
			}
			for _, l := range losses {
				off = checkRange(t, off, l.Offset, l.Len, file)
			}
			readable(t, r)
		}
	})
}

// checkRange checks that n bytes at offset off of file lie behind offset from,
// and returns where they end.
func checkRange(t *testing.T, from, off, n int64, file []byte) int64 {
	t.Helper()
	if off < from || n < 0 || n > int64(len(file))-off {
		t.Fatalf("%d bytes at offset %d, after %d, of a file of %d", n, off, from, len(file))
	}
	return off + n
}

// FuzzRoundTrip gives the property in format_test.go to the coverage-guided fuzzer.
func FuzzRoundTrip(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testRoundTrip)) }
