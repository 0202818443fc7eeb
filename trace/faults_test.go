package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"
)

// failing is a file of which one read fails, or gives half of the bytes.
type failing struct {
	io.ReaderAt
	left int // reads until then
	half bool
}

func (f *failing) ReadAt(p []byte, at int64) (int, error) {
	f.left--
	if f.left != -1 {
		return f.ReaderAt.ReadAt(p, at)
	}
	n := 0
	if f.half {
		n, _ = f.ReaderAt.ReadAt(p[:len(p)/2], at)
	}
	return n, syscall.EIO
}

// readAll returns all calls of a trace, with what else its ranks have.
func readAll(file io.ReaderAt, size int64) (string, error) {
	trace, err := OpenReader(file, size, Options{})
	if err != nil {
		return "", err
	}
	defer trace.Close()
	var text bytes.Buffer
	for _, number := range trace.RankSet().All() {
		rank, err := trace.Rank(number)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&text, number, rank.Len())
		left := 50
		for c, err := range rank.Calls(0) {
			if err != nil {
				return "", err
			}
			if left--; left < 0 {
				break
			}
			fmt.Fprintln(&text, c)
		}
		part, err := trace.Part(number)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&text, part.Grammar.Len(), part.Table.Len())
	}
	return text.String(), nil
}

// TestReadFaults lets each read of a file fail: the error is that of the read, or everything is as it is
// without.
func TestReadFaults(t *testing.T) {
	for name, file := range damageFiles(t) {
		size := int64(len(file))
		want, err := readAll(bytes.NewReader(file), size)
		if err != nil {
			t.Fatal(err)
		}
		for _, half := range []bool{false, true}[:tier.Number(1, 2)] {
			failed := 0
			for at := 0; ; at += 1 + at*tier.Number(3, 1)/tier.Number(1, 8) {
				f := &failing{bytes.NewReader(file), at, half}
				got, err := readAll(f, size)
				if f.left >= 0 {
					break // there are no more
				}
				if err != nil {
					failed++
				}
				if err == nil && got != want || err != nil && !errors.Is(err, syscall.EIO) {
					t.Errorf("%s, read %d fails: %v", name, at, err)
				}
			}
			t.Logf("%s: %d reads failed", name, failed)
			if failed == 0 {
				t.Errorf("%s: no read failed", name)
			}
		}
	}
}
