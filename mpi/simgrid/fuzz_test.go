package simgrid

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/internal/wire"
)

// FuzzRead checks that any text is either refused with the place of the fault, or
// comes back byte for byte.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"", "0 init\n0 finalize\n", "# a\n\n3 init", "0 alltoallv 8 2 2 2 2 8 2 2 2 2 1 1\n",
		"1 reducescatter 0 0 0 \n1 reducescatter 2 2 0 0\n", "0 compute 8.33084e+06\n0 compute 1234567\n",
		"0 location a b.c 13\n0 IO - read 4096\r\n", "0 bcast 1 0 1 \n0 gather 3 1 1 1\n", "5 \n5\n-1 x\n",
		"0 a\x00\n", "0 \xff\n", "9999999999999999999999 init\n",
	} {
		f.Add([]byte(s))
	}
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		if compressed(data) {
			return
		}
		o := Options{maxRanks: 1000, maxLine: 500}
		r := NewReader(bytes.NewReader(data), o)
		var (
			out   bytes.Buffer
			calls []Call
		)
		w := NewWriter(&out)
		for {
			c, err := r.Read()
			if err == io.EOF {
				break
			}
			var se *syntaxError
			if errors.As(err, &se) {
				checkPlace(t, data, se)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Write(c); err != nil {
				t.Fatal(err)
			}
			calls = append(calls, c)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(out.Bytes(), data) {
			t.Fatalf("written back differently\nin  %q\nout %q", data, out.Bytes())
		}
		checkIDs(t, calls)
		r.Report(true)
	})
}

// compressed reports whether a Reader would decompress data.
func compressed(data []byte) bool {
	return bytes.HasPrefix(data, []byte("\x1f\x8b")) || bytes.HasPrefix(data, []byte("\x28\xb5\x2f\xfd")) ||
		len(data) > 3 && data[0]>>4 == 5 && string(data[1:4]) == "\x2a\x4d\x18"
}

// checkPlace checks that the place of an error exists in data.
func checkPlace(t *testing.T, data []byte, e *syntaxError) {
	lines := bytes.Split(data, []byte("\n"))
	if e.line < 1 || e.line > int64(len(lines)) || e.column < 1 || e.column > len(lines[e.line-1]) {
		t.Fatalf("error at a place that does not exist in %q: %v", data, e)
	}
	if !errors.Is(e, wire.ErrCorrupt) && !errors.Is(e, wire.ErrLimit) {
		t.Fatalf("err = %v", e)
	}
}

// FuzzExact gives the property in property_test.go to the coverage-guided fuzzer.
func FuzzExact(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testExact)) }
