package codectest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/drawn"
	"github.com/reprise-trace/reprise/timing"
)

// testDamaged checks that every prefix of a block is an error, that every block that differs in one bit is an
// error or values, and that a limit on values holds.
func testDamaged(t *testing.T, c timing.Codec, calls []drawn.Call) {
	terminals, values := Columns(calls)
	block, _ := Block(c.NewEncoder(), calls)
	decode := func(block []byte) error {
		d, err := c.NewDecoder(block, timing.Options{})
		if err == nil {
			err = d.Decode(make([]int64, len(values)), terminals)
		}
		if err != nil {
			isParseError(t, c, err, nil)
		}
		return err
	}
	if err := decode(block); err != nil {
		t.Fatal(err)
	}
	damage(block, 8, func(bad []byte, cut bool) {
		if err := decode(bad); err == nil && cut {
			t.Errorf("accepted the first %d of %d bytes", len(bad), len(block))
		}
	})
	if _, err := c.NewDecoder(block, timing.Options{MaxValues: len(values) - 1}); !errors.Is(err, timing.ErrLimit) {
		t.Errorf("%v, want a block of %d values to exceed a limit of one less", err, len(values))
	}
}

// damage gives every prefix of data, and what differs from it in one bit: for each byte, as many of them.
func damage(data []byte, bits int, try func(bad []byte, cut bool)) {
	for n := range data {
		try(data[:n], true)
	}
	for i := range data {
		for k := range bits {
			bad := bytes.Clone(data)
			bad[i] ^= 1 << ((i + k) % 8)
			try(bad, false)
		}
	}
}

// Fuzz decodes any bytes as a block. What is accepted whole can be encoded again, which, if the codec has
// only one encoding of values whatever came before them, gives the same bytes.
func Fuzz(t *testing.T, c timing.Codec, data []byte, unique bool) {
	const most = 1 << 10
	d, err := c.NewDecoder(data, timing.Options{MaxValues: most})
	if err != nil {
		isParseError(t, c, err, nil)
		return
	}
	e := c.NewEncoder()
	var got, want []int64
	for i := range uint32(most + 1) {
		var v [1]int64
		if err := d.Decode(v[:], []uint32{i % 3}); err != nil {
			isParseError(t, c, err, nil)
			if err := d.Decode(make([]int64, 300), make([]uint32, 300)); err == nil {
				t.Fatal("an error, and then values")
			}
			if errors.Is(err, timing.ErrCorrupt) {
				return
			}
			break
		}
		got = append(got, v[0])
		want = append(want, e.Append(i%3, v[0]))
	}
	if len(got) > most {
		t.Fatalf("more than %d values", most)
	}
	Guaranteed(t, c.Guarantee(), want, got)
	if again := e.AppendBlock(nil); unique && !bytes.Equal(again, data) {
		t.Fatalf("%x was encoded again as %x", data, again)
	}
}
