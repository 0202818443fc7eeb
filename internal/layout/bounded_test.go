package layout

import (
	"bytes"
	"errors"
	"io"
	"math"
	"reflect"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// boundedSeeds are of traces of 3 functions and 8 ranks.
func boundedSeeds() []*format.Bounded {
	return []*format.Bounded{
		{},
		{Untimed: true, Unordered: true, ByFunction: true},
		{InStretches: map[int]uint64{0: 1}, InOrder: map[int]uint64{2: math.MaxUint64}},
		{Transitions: map[[2]int]uint64{{0, 0}: 1, {0, 2}: 1 << 63, {1, 1}: 7, {2, 0}: 3}},
		{
			ByFunction: true, InStretches: map[int]uint64{1: 6}, InOrder: map[int]uint64{1: 2},
			Transitions: map[[2]int]uint64{{2, 2}: 5},
			Stretches: map[int][]format.Stretch{
				0: {{First: 0, Calls: 1}, {First: 1, Calls: 4}, {First: 100, Calls: 1 << 40}},
				3: {{First: 7, Calls: 9}}, 7: {{First: 1 << 50, Calls: 2}},
			},
		},
	}
}

const boundedFunctions, boundedRanks = 3, 8

func parseBounded(data []byte) (*format.Bounded, error) {
	return ParseBounded(data, boundedFunctions, rankenc.World(boundedRanks))
}

func TestBounded(t *testing.T) {
	for _, b := range boundedSeeds() {
		data := AppendBounded(nil, b)
		got, err := parseBounded(data)
		if err != nil || !bytes.Equal(AppendBounded(nil, got), data) {
			t.Errorf("%+v: %+v, %v", b, got, err)
			continue
		}
		if !reflect.DeepEqual(got, b) {
			t.Errorf("%+v, not %+v", got, b)
		}
		for n := range data {
			if _, err := parseBounded(data[:n]); err == nil {
				t.Errorf("%+v: %d bytes of %d are accepted", b, n, len(data))
			}
		}
	}
}

// TestBoundedHostile parses sections that say what cannot be.
func TestBoundedHostile(t *testing.T) {
	none := rankenc.Set{}
	ranks := func(set rankenc.Set, more ...byte) []byte {
		data, _ := set.AppendBinary([]byte{0, 0, 0})
		return append(data, more...)
	}
	for _, x := range []struct {
		name string
		data []byte
	}{
		{"flags", ranks(none)[1:]},
		{"unknown flag", append([]byte{8}, ranks(none)[1:]...)},
		{"function beyond", []byte{0, 1, 3, 1, 1, 0, 0}},
		{"function without parameters", []byte{0, 1, 0, 0, 0, 0, 0}},
		{"functions that are not there", []byte{0, 200, 1, 0}},
		{"transition beyond", []byte{0, 0, 1, 0, 3, 0, 0}},
		{"transition from beyond", []byte{0, 0, 1, 3, 0, 0, 0}},
		{"rank beyond", ranks(rankenc.World(9).Difference(rankenc.World(8)), 0, 0, 0)},
		{"ranks without stretches", ranks(rankenc.World(8))},
		{"stretches that are not there", ranks(rankenc.World(1), 100, 0, 0)},
		{"stretch beyond", ranks(rankenc.World(1), wire.AppendUvarint([]byte{1, 0}, 1<<62)...)},
		{"rest", append(ranks(none), 0)},
	} {
		b, err := parseBounded(x.data)
		if !errors.Is(err, format.ErrCorrupt) && !errors.Is(err, format.ErrLimit) &&
			!errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %+v, %v", x.name, b, err)
		}
	}
	for _, list := range [][]format.Stretch{{{Calls: 11}}, {{First: 10, Calls: 1}}, {{}},
		{{First: 4, Calls: 2}, {First: 5, Calls: 1}}, {{First: 3, Calls: math.MaxUint64}}} {
		if err := CheckStretches(list, 10); !errors.Is(err, format.ErrCorrupt) {
			t.Errorf("%v of 10 calls: %v", list, err)
		}
	}
	if err := CheckStretches([]format.Stretch{{First: 0, Calls: 4}, {First: 4, Calls: 6}}, 10); err != nil {
		t.Error(err)
	}
}

// FuzzBounded parses any bytes: what is accepted is written as it was.
func FuzzBounded(f *testing.F) {
	for _, b := range boundedSeeds() {
		f.Add(AppendBounded(nil, b))
	}
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		b, err := parseBounded(data)
		if err != nil {
			return
		}
		again, err := parseBounded(AppendBounded(nil, b))
		if err != nil || !bytes.Equal(AppendBounded(nil, again), AppendBounded(nil, b)) {
			t.Fatalf("%+v becomes %+v, %v", b, again, err)
		}
	})
}
