package spool

import (
	"bytes"
	"strings"
	"testing"
)

// TestReadIntact reads segments of all sizes around those in which it reads, with records that are larger
// than these, and with zeros behind them.
func TestReadIntact(t *testing.T) {
	for _, records := range []int{0, 1, 40, 700, 1500} {
		for _, size := range []int{1, 3000, 70_000, 3 << 20} {
			if records > 8<<20/size {
				continue
			}
			b := newSegment(0)
			for range records {
				b.add(recordModule, 0, 0, 0x400000, 0x1000, 0x3ff000, strings.Repeat("a", size))
			}
			whole := b.data
			for _, behind := range []int{0, 8, 4096, 1 << 20, 5 << 20} {
				file := append(bytes.Clone(whole), make([]byte, behind)...)
				data, n, err := readIntact(bytes.NewReader(file), int64(len(file)))
				if err != nil || n != len(whole) || !bytes.Equal(data[:n], whole) ||
					len(data) > max(1<<20, 2*n)+size+8 {
					t.Errorf("%d records of %d bytes, %d bytes behind: %d of %d bytes, %d held, %v", records,
						size, behind, n, len(whole), len(data), err)
				}
				if records == 0 || behind > 0 {
					continue
				}
				file[len(file)-1]++ // in the last record
				if _, broken, err := readIntact(bytes.NewReader(file), int64(len(file))); err != nil || broken >= n {
					t.Errorf("%d records of %d bytes: %d of %d bytes are intact, %v", records, size, broken, n, err)
				}
			}
		}
	}
}
