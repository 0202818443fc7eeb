package main

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/bench"
)

// TestPicture checks that a picture is well-formed, has its names as text, and is
// the same when it is drawn again.
func TestPicture(t *testing.T) {
	sizes := bench.SizesAndErrors{
		Runs:   []string{"run"},
		Values: 2,
		Codecs: []bench.Curve{{Name: "lossy", Points: []bench.Point{{Error: 0.01, Bits: 4}, {Error: 0.1, Bits: 2}}}},
		Exact:  []bench.Curve{{Name: "lossless", Points: []bench.Point{{Bits: 9}}}},
		Bound:  bench.Curve{Name: "bound", Points: []bench.Point{{Error: 0.01, Bits: 3}, {Error: 0.1, Bits: 1.5}}},
		Peers:  []bench.Curve{{Name: "A & B", Points: []bench.Point{{Error: 0.1, Bits: 5}}}},
	}
	svg, err := picture(sizes)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := picture(sizes); err != nil || !bytes.Equal(again, svg) {
		t.Errorf("drawn differently, %v", err)
	}
	var text strings.Builder
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := token.(xml.CharData); ok {
			text.Write(data)
		}
	}
	for _, want := range []string{"lossy", "lossless", "bound", "A & B", "exact", "10 %", "bits per value",
		"run (2 durations and gaps)"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no text %q in %s", want, &text)
		}
	}
	if bytes.Contains(svg, []byte("font-family:Liberation Sans;")) {
		t.Error("a font that few have, and no other")
	}
}
