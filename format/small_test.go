package format

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestSmall writes small containers, and others where sections are too long for one.
func TestSmall(t *testing.T) {
	long := make([]byte, maxSmall-3)
	for i := range long {
		long[i] = byte(i % 251 * i)
	}
	var named []item // of which kinds and keys take more than content does
	for i := range uint64(maxSmall / 3) {
		named = append(named, item{Kind(i * 0x9E3779B1), i * 0x9E3779B97F4A7C15, nil})
	}
	tests := []struct {
		name  string
		items []item
		small bool
	}{
		{"none", nil, false},
		{"empty", []item{{1, 0, nil}}, true},
		{"samples", samples, true},
		{"longest", []item{{1, 0, long}}, true},
		{"many names", named[:2000], true},
		{"too many names", named, false},
		{"too long", []item{{1, 0, long}, {1, 1, nil}}, false},
		{"too long at once", []item{{1, 0, append(long, 1)}, {1, 1, nil}}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := write(t, Options{Encoding: Primed}, tt.items)
			r := open(t, file, Options{})
			if checkItems(t, r, tt.items); (r.small != nil) != tt.small {
				t.Errorf("small: %v", !tt.small)
			}
			whole, losses := salvageOf(t, file, Options{})
			if checkItems(t, whole, tt.items); len(losses) > 0 {
				t.Errorf("losses %v", losses)
			}
			size := headerLen
			for _, s := range r.All() {
				if err := r.Check(s); err != nil {
					t.Error(err)
				}
				size += s.Size
			}
			if others := write(t, Options{}, tt.items); tt.small &&
				(size != int64(len(file)-4) || len(file) >= len(others)) || !tt.small && !bytes.Equal(file, others) {
				t.Errorf("%d bytes, sections of %d, and %d with records", len(file), size, len(others))
			}
		})
	}
}

// noise returns bytes that cannot be compressed.
func noise(n int) []byte {
	noise, x := make([]byte, n), uint32(1)
	for i := range noise {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		noise[i] = byte(x)
	}
	return noise
}

// TestSmallIncompressible writes sections that the prior does not help.
func TestSmallIncompressible(t *testing.T) {
	items := []item{{1, 0, noise(16_000)}}
	file := write(t, Options{Encoding: Primed}, items)
	checkItems(t, open(t, file, Options{}), items)
	if !bytes.Equal(file, write(t, Options{}, items)) {
		t.Errorf("%d bytes", len(file))
	}
}

// TestSmallDamage reads a small container with any bit changed, and any part of it missing.
func TestSmallDamage(t *testing.T) {
	file := write(t, Options{Encoding: Primed}, samples)
	for n := range file {
		if _, err := NewReader(bytes.NewReader(file), int64(n), Options{}); err == nil {
			t.Errorf("%d bytes of %d are read", n, len(file))
		}
		if r, _, err := Salvage(bytes.NewReader(file), int64(n), Options{}); err == nil && len(r.entries) > 0 {
			t.Errorf("%d bytes of %d are salvaged", n, len(file))
		}
		for bit := range 8 {
			bad := slices.Clone(file)
			bad[n] ^= 1 << bit
			if _, err := NewReader(bytes.NewReader(bad), int64(len(bad)), Options{}); err == nil {
				t.Errorf("bit %d of byte %d does not matter", bit, n)
			}
			_, losses, err := Salvage(bytes.NewReader(bad), int64(len(bad)), Options{})
			if inHeader := int64(n) < headerLen; inHeader &&
				(err != nil || len(losses) != 1 || losses[0].Len != headerLen) ||
				!inHeader && !errors.Is(err, ErrCorrupt) {
				t.Errorf("bit %d of byte %d: losses %v, %v", bit, n, losses, err)
			}
		}
	}
}

// TestSmallFollowed reads and salvages small containers that other bytes follow, few or more than a small
// container has: those are lost, and nothing else. What is followed and damaged is not read.
func TestSmallFollowed(t *testing.T) {
	file := write(t, Options{Encoding: Primed}, samples)
	for _, more := range []int{1, 2, 3, 4, 5, 100, int(maxSmallFile) - len(file), int(maxSmallFile), 100_000} {
		for name, junk := range map[string][]byte{"noise": noise(more), "zeros": make([]byte, more),
			"again": bytes.Repeat(file, more/len(file)+1)[:more]} {
			long := slices.Concat(file, junk)
			_, err := NewReader(bytes.NewReader(long), int64(len(long)), Options{})
			if pe := (*ParseError)(nil); !errors.As(err, &pe) || pe.Offset != int64(len(file)) ||
				!errors.Is(err, ErrCorrupt) || errors.Is(err, ErrSmall) {
				t.Errorf("%s, %d bytes: %v", name, more, err)
			}
			r, losses := salvageOf(t, long, Options{})
			if checkItems(t, r, samples); len(losses) != 1 || losses[0].Offset != int64(len(file)) ||
				losses[0].Len != int64(more) {
				t.Errorf("%s, %d bytes: losses %v", name, more, losses)
			}
			long[headerLen+3] ^= 1
			if _, _, err := Salvage(bytes.NewReader(long), int64(len(long)), Options{}); name != "again" &&
				!errors.Is(err, ErrCorrupt) {
				t.Errorf("%s, %d bytes: %v", name, more, err)
			}
		}
	}
}

// TestSmallLimit reads a small container that holds more than one may.
func TestSmallLimit(t *testing.T) {
	zeros := make([]byte, maxSmall-2)
	file := appendSmall(nil, sectionsOf([]item{{1, 0, zeros}}))
	if _, err := NewReader(bytes.NewReader(file), int64(len(file)), Options{}); !errors.Is(err, ErrLimit) {
		t.Error(err)
	}
	file = appendSmall(nil, sectionsOf([]item{{1, 0, nil}, {1, 0, []byte("again")}}))
	if _, err := NewReader(bytes.NewReader(file), int64(len(file)), Options{}); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
	file = write(t, Options{Encoding: Primed}, samples)
	r := open(t, file, Options{MaxContent: 100})
	s, _ := r.Lookup(3, 7)
	if _, err := r.Content(s); !errors.Is(err, ErrLimit) {
		t.Error(err)
	}
	if _, err := NewReader(bytes.NewReader(file), int64(len(file)), Options{MaxIndex: 6}); !errors.Is(err, ErrLimit) {
		t.Error(err)
	}
}

// TestSmallExample writes the small container that docs/format.md shows.
func TestSmallExample(t *testing.T) {
	file := write(t, Options{Encoding: Primed}, []item{{1, 0, []byte("MPI_Send of MPI_INT")},
		{40, 7, []byte{0, 0, 255}}})
	docs, err := os.ReadFile("../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("% x", file); !strings.Contains(strings.Join(strings.Fields(string(docs)), " "), want) {
		t.Errorf("docs/format.md does not show %s", want)
	}
}

// TestSmallMistaken reads containers of records whose version is damaged such that they look like small ones.
func TestSmallMistaken(t *testing.T) {
	long := []item{{1, 0, noise(40_000)}}
	for name, items := range map[string][]item{"long": long, "short": samples} {
		t.Run(name, func(t *testing.T) {
			file := write(t, Options{}, items)
			file[len(magic)] = Version
			_, err := NewReader(bytes.NewReader(file), int64(len(file)), Options{})
			if pe := (*ParseError)(nil); !errors.As(err, &pe) || pe.Field != "header" ||
				!errors.Is(err, ErrCorrupt) || errors.Is(err, ErrSmall) {
				t.Error(err)
			}
			r, losses := salvageOf(t, file, Options{})
			if checkItems(t, r, items); len(losses) != 1 ||
				!strings.HasSuffix(losses[0].Err.Error(), "version 2, where the sections are of version 1") {
				t.Errorf("losses %v", losses)
			}
		})
	}
}
