package events

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"testing"
)

// TestMover checks that moves end with their file, and that a file that cannot be read to its end is an error at the
// next call, not its end.
func TestMover(t *testing.T) {
	read := func(data string, positions ...uint64) (ends []int64, err error) {
		m := mover{in: bytes.NewReader([]byte(data))}
		m.read()
		for _, position := range positions {
			end, err := m.of(position)
			if err != nil {
				return ends, err
			}
			ends = append(ends, end)
		}
		if m.position != math.MaxUint64 {
			t.Errorf("%x: moves are left", data)
		}
		return ends, nil
	}
	ends, err := read("\x02\x64\x03\x65", 0, 2, 4, 5, 6)
	if want := []int64{0, 100, 0, 101, 0}; err != nil || !slices.Equal(ends, want) {
		t.Errorf("%v, want %v: %v", ends, want, err)
	}
	for _, cut := range []string{"\x82", "\x02", "\x02\x80"} {
		if _, err := read(cut, 0); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%x: %v", cut, err)
		}
	}
	if _, err := read("\x02\x64\x83", 2, 3); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut after a move: %v", err)
	}
}
