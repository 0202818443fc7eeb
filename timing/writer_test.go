package timing

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/mutate"
)

// written returns the file of values, each of the terminal of its place, and what comes back for them.
func written(t rapid.TB, c Codec, blockLen int, terminals []uint32, values []int64) (file []byte, want []int64) {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, c, blockLen)
	if err != nil {
		t.Fatal(err)
	}
	e := c.NewEncoder()
	for i, v := range values {
		want = append(want, e.Append(terminals[i], v))
		if err := w.Append(terminals[i], v); err != nil {
			t.Fatal(err)
		}
		if (i+1)%blockLen == 0 {
			e.AppendBlock(nil)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), want
}

// readAll returns all values of a file.
func readAll(file []byte, terminals func([]uint32, uint64)) (values []int64, err error) {
	r, err := NewReader(bytes.NewReader(file), int64(len(file)), terminals, Options{})
	if err != nil {
		return nil, err
	}
	for v, err := range r.From(0) {
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// fileCodecs are those of the package.
func fileCodecs(t rapid.TB) []Codec {
	t.Helper()
	codecs, err := ownCodecs(0.05)
	if err != nil {
		t.Fatal(err)
	}
	return codecs
}

// A countingReader counts the bytes that are read.
type countingReader struct {
	io.ReaderAt
	n int
}

func (r *countingReader) ReadAt(p []byte, at int64) (int, error) {
	r.n += len(p)
	return r.ReaderAt.ReadAt(p, at)
}

// TestReaderReads checks that a value costs reading its block and no other.
func TestReaderReads(t *testing.T) {
	values, terminals := make([]int64, 100_000), make([]uint32, 100_000)
	random := newRandom(1)
	for i := range values {
		values[i] = int64(random.next() >> 30)
	}
	file, want := written(t, newExponential(t, 0.01), 1000, terminals, values)
	counter := &countingReader{ReaderAt: bytes.NewReader(file)}
	r, err := NewReader(counter, int64(len(file)), nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if counter.n > 5000 {
		t.Errorf("%d bytes were read to open a file of %d", counter.n, len(file))
	}
	counter.n = 0
	if v, err := r.At(77_777); err != nil || v != want[77_777] || counter.n > len(file)/90 {
		t.Errorf("%d, %v; %d bytes of %d were read", v, err, counter.n, len(file))
	}
	if allocated := testing.AllocsPerRun(5, func() {
		for range r.From(0) {
		}
	}); allocated > 100*20 {
		t.Errorf("%v allocations for 100 blocks", allocated)
	}
}

// A failingWriter takes so many bytes.
type failingWriter struct{ left int }

var errFull = errors.New("full")

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestWriterErrors checks that the error of a file comes out, wherever it is full, and that misuse is an
// error.
func TestWriterErrors(t *testing.T) {
	c := newExponential(t, 0.1)
	values, terminals := []int64{1, 20, 300, 4000, 50000}, make([]uint32, 5)
	file, _ := written(t, c, 2, terminals, values)
	for room := range file {
		f := &failingWriter{room}
		w, err := NewWriter(f, c, 2)
		for i := 0; err == nil && i < len(values); i++ {
			err = w.Append(0, values[i])
		}
		if err == nil {
			err = w.Close()
		}
		if !errors.Is(err, errFull) {
			t.Errorf("room for %d bytes of %d: %v", room, len(file), err)
		}
	}
	w, err := NewWriter(io.Discard, c, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Append(0, 1) == nil || w.Close() == nil {
		t.Error("a closed Writer takes values, or another Close")
	}
	for _, n := range []int{-1, DefaultMaxValues + 1} {
		if _, err := NewWriter(io.Discard, c, n); err == nil {
			t.Errorf("blocks of %d values", n)
		}
	}
	if _, err := NewWriter(io.Discard, nil, 0); err == nil {
		t.Error("no codec is one")
	}
	if _, err := NewWriter(io.Discard, splitCodecOf(c), 0); err == nil {
		t.Error("a file has a codec that its reader cannot know")
	}
}

func splitCodecOf(c Codec) Codec { return &splitCodec{[]Codec{c}, func(uint32) int { return 0 }} }

// FuzzReader checks that whatever is read of a file is read alike in two ways, that errors are of their
// types, and that nothing large is made of few bytes.
func FuzzReader(f *testing.F) {
	for _, c := range fileCodecs(f) {
		file, _ := written(f, c, 3, make([]uint32, 8), []int64{1, 1, 2, 3, 5, 8, -13, math.MaxInt64})
		f.Add(file)
	}
	mutate.Fuzz(f, func(t *testing.T, file []byte) {
		r, err := NewReader(bytes.NewReader(file), int64(len(file)), nil, Options{})
		if err != nil {
			return
		}
		all, err := readAll(file, nil)
		if err != nil {
			if e := (*ParseError)(nil); !errors.As(err, &e) {
				t.Fatal(err)
			}
			return
		}
		var one []int64
		for i := range r.Len() {
			v, err := r.At(i)
			if err != nil {
				t.Fatal(err)
			}
			one = append(one, v)
		}
		if !slices.Equal(one, all) {
			t.Fatalf("%v are not %v", one, all)
		}
	})
}

// TestWriterFull has a Writer come to as many blocks as a file can have: it refuses further values, and Close
// ends a file with all before them.
func TestWriterFull(t *testing.T) {
	codec, err := NewCodec("lossless,compressor=lz4")
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	w, err := NewWriter(&file, codec, 1)
	if err != nil {
		t.Fatal(err)
	}
	w.most = 100
	n := 0
	for ; n < 1000 && w.Append(0, int64(n)) == nil; n++ {
	}
	if n == 1000 || w.Append(0, 1) == nil {
		t.Fatalf("%d values, and no error", n)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := readAll(file.Bytes(), nil)
	if err != nil || len(got) != n || got[n-1] != int64(n-1) {
		t.Errorf("%d values of %d, %v", len(got), n, err)
	}
	if _, err := NewWriter(nil, codec, 1); err == nil {
		t.Error("a Writer of nothing")
	}
}
