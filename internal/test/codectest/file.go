package codectest

import (
	"bytes"
	"errors"
	"io"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/drawn"
	"github.com/reprise-trace/reprise/timing"
)

// file returns a file of calls in blocks, and the values that come back.
func file(t rapid.TB, c timing.Codec, blockLen int, calls []drawn.Call) (data []byte, want []int64) {
	t.Helper()
	var b bytes.Buffer
	w, err := timing.NewWriter(&b, c, blockLen)
	if err != nil {
		t.Fatal(err)
	}
	e := c.NewEncoder()
	for i, call := range calls {
		want = append(want, e.Append(call.Terminal, call.Value))
		if err := w.Append(call.Terminal, call.Value); err != nil {
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

// testFile reads the values of a file one by one, from everywhere on, and all.
func testFile(t *rapid.T, c timing.Codec, calls []drawn.Call) {
	blockLen := rapid.SampledFrom([]int{1, 2, 3, 7, 300}).Draw(t, "block")
	data, want := file(t, c, blockLen, calls)
	r, err := timing.NewReader(bytes.NewReader(data), int64(len(data)), func(dst []uint32, first uint64) {
		for i := range dst {
			dst[i] = calls[first+uint64(i)].Terminal
		}
	}, timing.Options{MaxValues: rapid.SampledFrom([]int{blockLen, 0, -1}).Draw(t, "most")})
	if err != nil || r.Len() != uint64(len(want)) || r.Codec().Name() != c.Name() {
		t.Fatalf("%v, %v", r, err)
	}
	from := rapid.IntRange(0, len(want)+1).Draw(t, "from")
	n := from
	for v, err := range r.From(uint64(from)) {
		if err != nil || v != want[n] {
			t.Fatalf("value %d is %d, %v; want %d", n, v, err, want[n])
		}
		n++
	}
	if n != max(len(want), from) {
		t.Fatalf("%d values from %d on", n-from, from)
	}
	if from < len(want) {
		if v, err := r.At(uint64(from)); err != nil || v != want[from] {
			t.Fatalf("At(%d) = %d, %v; want %d", from, v, err, want[from])
		}
	}
}

// testDamagedFile checks that a file that is cut off, changed or longer is an error.
func testDamagedFile(t *rapid.T, c timing.Codec, values []int64) {
	var calls []drawn.Call
	for _, v := range values {
		calls = append(calls, drawn.Call{Value: v}) // of terminal 0, as all are if nobody says another
	}
	read := func(data []byte) error {
		r, err := timing.NewReader(bytes.NewReader(data), int64(len(data)), nil, timing.Options{})
		if err != nil {
			return err
		}
		for _, err := range r.From(0) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	data, _ := file(t, c, 16, calls)
	damage(data, 1, func(bad []byte, cut bool) {
		switch err := read(bad); {
		case err == nil:
			t.Fatalf("%x was read as %x", bad, data)
		case cut && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, timing.ErrCorrupt) &&
			!errors.Is(err, timing.ErrLimit):
			t.Fatalf("%d bytes of %d: %v", len(bad), len(data), err)
		case !cut && !errors.Is(err, timing.ErrUnknownCodec):
			isParseError(t, c, err, nil)
		}
	})
	if read(append(data, 0)) == nil {
		t.Fatal("a byte after the end was accepted")
	}
}
