package format

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

// benchItems returns n sections of about size bytes each, as compressible as the
// tables of a trace: small numbers, most of them near the last. The seed is fixed.
func benchItems(n, size int) []item {
	r := rand.New(rand.NewPCG(1, 2))
	items := make([]item, n)
	for i := range items {
		content := make([]byte, size)
		for j := range content {
			if content[j] = byte(j % 24); r.IntN(20) == 0 {
				content[j] = byte(r.IntN(256))
			}
		}
		items[i] = item{1, uint64(i), content}
	}
	return items
}

// benchShapes are a few large sections, and many small ones.
var benchShapes = []struct{ sections, size int }{{4, 1 << 20}, {2000, 1 << 10}}

// perFile reports the size of the file that the loop which just ended wrote or
// read, beside the rate at which it took content.
func perFile(b *testing.B, file, content int) {
	b.ReportMetric(float64(file)/float64(content), "B/B-content")
	b.ReportMetric(0, "ns/op")
}

func forShapes(b *testing.B, bench func(b *testing.B, o Options, items []item, content int)) {
	for _, e := range encodings {
		for _, shape := range benchShapes {
			items := benchItems(shape.sections, shape.size)
			b.Run(fmt.Sprintf("encoding=%v/sections=%d", e, shape.sections), func(b *testing.B) {
				content := shape.sections * shape.size
				b.ReportAllocs()
				b.SetBytes(int64(content)) // MB/s of content
				bench(b, Options{Encoding: e}, items, content)
			})
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	forShapes(b, func(b *testing.B, o Options, items []item, content int) {
		var size int64
		for b.Loop() {
			w := NewWriter(io.Discard, o)
			for _, it := range items {
				if err := w.Add(it.kind, it.key, it.content); err != nil {
					b.Fatal(err)
				}
			}
			size = w.offset
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
		}
		perFile(b, int(size), content)
	})
}

func BenchmarkRead(b *testing.B) {
	forShapes(b, func(b *testing.B, o Options, items []item, content int) {
		file := write(b, o, items)
		r := open(b, file, Options{})
		for b.Loop() {
			for _, s := range r.All() {
				if _, err := r.Content(s); err != nil {
					b.Fatal(err)
				}
			}
		}
		perFile(b, len(file), content)
	})
}

// manySections is a file of 10⁵ sections of a few bytes.
func manySections(b *testing.B, o Options) (file []byte, index int) {
	var items []item
	for i := range 100_000 {
		items = append(items, item{1, uint64(i), fmt.Appendf(nil, "rank %d", i)})
	}
	file = write(b, o, items)
	f, err := parseFooter(file[int64(len(file))-footerLen:], int64(len(file)))
	if err != nil {
		b.Fatal(err)
	}
	return file, int(f.stored)
}

func BenchmarkOpen(b *testing.B) {
	for _, e := range []Encoding{Zstd, None} {
		file, index := manySections(b, Options{Encoding: e})
		b.Run(fmt.Sprintf("encoding=%v/sections=100000", e), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				open(b, file, Options{})
			}
			b.ReportMetric(float64(index)/100_000, "indexB/section")
		})
	}
}

func BenchmarkSalvage(b *testing.B) {
	file, _ := manySections(b, Options{})
	b.Run("sections=100000", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(file)))
		for b.Loop() {
			if _, _, err := Salvage(bytes.NewReader(file), int64(len(file)), Options{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkLookup(b *testing.B) {
	file, _ := manySections(b, Options{})
	r := open(b, file, Options{})
	key := uint64(0)
	for b.Loop() {
		if _, ok := r.Lookup(1, key%100_000); !ok {
			b.Fatal("not found")
		}
		key += 7919
	}
}
