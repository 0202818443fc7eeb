package spool

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestSpare checks that spare files count as the segments that their headers say, and those that are empty,
// or have the header of another process, as none.
func TestSpare(t *testing.T) {
	directory := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(directory, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	header := func(thread, sequence uint32) []byte {
		data := newSegment(sequence).data
		binary.LittleEndian.PutUint32(data[offsetThread:], thread)
		checked(data)
		return data
	}
	h, err := ParseSegmentHeader(header(3, 1))
	if err != nil {
		t.Fatal(err)
	}
	segment := Thread{Process: h.Process, Thread: 3}.Segment(directory, 0)
	write(filepath.Base(segment), header(3, 0))
	spare := write(fmt.Sprintf(spareFormat, h.Process.PID, h.Process.Loaded, 1), header(3, 1))
	write(fmt.Sprintf(spareFormat, h.Process.PID, h.Process.Loaded, 0), nil)
	write(fmt.Sprintf(spareFormat, h.Process.PID+1, h.Process.Loaded, 0), header(3, 2))
	threads, err := List(directory)
	if err != nil || len(threads) != 1 || !slices.Equal(threads[0].Paths, []string{segment, spare}) {
		t.Fatalf("%+v, %v", threads, err)
	}
	if got := threads[0].Spare(directory, 1); got != spare {
		t.Errorf("segment 1 is in %q", got)
	}
	if got := threads[0].Spare(directory, 2); got != "" {
		t.Errorf("segment 2 is in %q", got)
	}
}
