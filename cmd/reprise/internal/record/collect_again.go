package record

import (
	"bytes"
	"io"
	"maps"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/regular"
	"github.com/reprise-trace/reprise/merge"
)

// hasWritten reports whether a part file has the content of one that is to be written: what was killed when
// it had written it did so.
func hasWritten(name string, file []byte) bool {
	f, err := regular.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	there, err := io.ReadAll(io.LimitReader(f, 2*int64(len(file))+maxReadings))
	return err == nil && (bytes.Equal(there, file) || samePart(there, file))
}

// maxReadings is more than what readings of clocks take.
const maxReadings = 4096

// samePart reports whether two part files say the same but for readings of the clocks, which only what
// collects while the program runs takes.
func samePart(a, b []byte) bool {
	contents := make([]map[format.Section][]byte, 2)
	for i, file := range [][]byte{a, b} {
		n := int64(len(file))
		r, err := format.NewReader(bytes.NewReader(file), n, layout.FileOptions(n, 0))
		if err != nil || !merge.IsPart(r) {
			return false
		}
		contents[i] = make(map[format.Section][]byte)
		for _, s := range r.All() {
			content, err := contentWithoutReadings(r, s)
			if err != nil {
				return false
			}
			contents[i][format.Section{Kind: s.Kind, Key: s.Key}] = content
		}
	}
	return maps.EqualFunc(contents[0], contents[1], bytes.Equal)
}

// contentWithoutReadings returns the content of a section, without the readings of clocks.
func contentWithoutReadings(r *format.Reader, s format.Section) ([]byte, error) {
	if s.Kind != layout.KindClocks {
		return r.Content(s)
	}
	clocks, err := layout.ReadClocks(r, layout.MaxRanks)
	for i := range clocks {
		clocks[i].Readings = nil
	}
	return layout.AppendClocks(nil, clocks), err
}
