package mixing

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// numbers returns the values of a stream: multiples of a step.
func numbers(n int, step int64) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(i) * step
	}
	return list
}

// TestMixedValues checks that values at random take about the information in them, and those
// that follow from others next to nothing.
func TestMixedValues(t *testing.T) {
	const symbols = 4000
	random := rand.New(rand.NewPCG(3, 4))
	draw := func(n uint32) func(int, uint32) uint32 {
		return func(int, uint32) uint32 { return random.Uint32N(n) }
	}
	tests := []struct {
		name   string
		values [][]int64
		number []func(i int, before uint32) uint32 // of the i-th value of a stream, after the one before
		bits   float64                             // of information, of a symbol
		most   float64                             // times the information
	}{
		{"Random", [][]int64{numbers(200, 3)}, []func(int, uint32) uint32{draw(200)}, math.Log2(200), 1.05},
		{"Grows", [][]int64{numbers(symbols, 960)}, []func(int, uint32) uint32{func(i int, _ uint32) uint32 {
			return uint32(i)
		}}, 0, 1},
		{"Repeats", [][]int64{numbers(7, 1)}, []func(int, uint32) uint32{func(i int, _ uint32) uint32 {
			return uint32(i*i) % 7
		}}, 0, 1},
		{"Sum", [][]int64{numbers(64, 8), numbers(80, 8)}, []func(int, uint32) uint32{
			draw(64), func(_ int, before uint32) uint32 { return before + 5 }}, 6, 1.05},
		{"OneOfTwo", [][]int64{numbers(64, 8), {-9, 4}}, []func(int, uint32) uint32{
			draw(64), func(_ int, before uint32) uint32 { return before % 2 }}, 6, 1.1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := Plain(1)
			a.Values, a.Streams = tt.values, [][]int{[]int{0, 1}[:len(tt.values)]}
			x := Member{Grammar: build(make([]sequitur.Symbol, symbols)), Streams: make([][]uint32, len(tt.values))}
			for i := range symbols {
				before := uint32(0)
				for stream, number := range tt.number {
					before = number(i, before)
					x.Streams[stream] = append(x.Streams[stream], before)
				}
			}
			block, ok := one(Append(context.Background(), nil, []Member{x}, a, math.MaxInt, nil))
			if most := tt.most*tt.bits*symbols/8 + 150; !ok || float64(len(block)) > most {
				t.Errorf("%d bytes, more than %.0f", len(block), most)
			}
			if read, err := parseMixed(block, a); err != nil || !equalMembers(read[0], x) {
				t.Errorf("other values are read: %v", err)
			}
		})
	}
}

// TestRefuseValues checks blocks of which the values are more than they may be, or others than there are.
func TestRefuseValues(t *testing.T) {
	alphabet := func(values int) Alphabet {
		a := Plain(2)
		a.Streams, a.Values = [][]int{{0}, nil}, [][]int64{numbers(values, 1)}
		return a
	}
	block := func(values int, loop uint64) []byte {
		m := newSequenceModel(alphabet(values), minTable, math.MaxInt, levelFirst)
		m.Write([]byte{2 * minTable, 1})
		m.mark(markOpen)
		m.count(loop)
		m.mark(firstClass)
		m.count(1)
		m.mark(firstClass + 1)
		m.count(1)
		m.mark(markClose)
		m.value.begin([][]uint32{make([]uint32, loop)})
		for i := range loop {
			m.value.streams[0][i] = uint32(values - 1)
		}
		body := []item{{symbol: 0, count: 1, takes: true}, {symbol: 1, count: 1}}
		m.values([]item{{body: body, length: 2, count: loop, takes: true}})
		m.mark(markEnd)
		return m.Finish()
	}
	tests := []struct {
		name string
		data []byte
		err  error
		text string
	}{
		{"TooMany", block(3, 1<<18), wire.ErrLimit, "more items or values"},
		{"Outside", block(4, 100), wire.ErrCorrupt, "a value that there is not"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := parseMixed(tt.data, alphabet(3)); !errors.Is(err, tt.err) ||
				!strings.Contains(err.Error(), tt.text) {
				t.Errorf("%v, not %v: %s", err, tt.err, tt.text)
			}
		})
	}
	if x, err := parseMixed(block(3, 100), alphabet(3)); err != nil || len(x[0].Streams[0]) != 100 {
		t.Errorf("100 values of a loop are refused: %v", err)
	}
}

// TestRefuseStreams checks a short block of members that have no values, but many streams each.
func TestRefuseStreams(t *testing.T) {
	const streams, members = 3000, 1000
	a := Plain(1)
	a.Streams, a.Values = [][]int{nil}, make([][]int64, streams)
	block := func(members int) []byte {
		m := newSequenceModel(a, minTable, math.MaxInt, levelFirst)
		m.Write(wire.AppendUvarint([]byte{2 * minTable}, uint64(members)))
		for range members {
			m.mark(firstClass)
			m.count(1)
			m.mark(markEnd)
		}
		return m.Finish()
	}
	if _, err := parseMixed(block(members), a); !errors.Is(err, wire.ErrLimit) {
		t.Errorf("%d streams of %d members: %v", streams, members, err)
	}
	few := Member{build([]sequitur.Symbol{0}), make([][]uint32, streams)}
	if list, err := parseMixed(block(20), a); err != nil || len(list) != 20 || !equalMembers(list[0], few) {
		t.Errorf("20 members are refused: %v", err)
	}
	if _, ok := Append(context.Background(), nil, slices.Repeat([]Member{few}, members), a, math.MaxInt, nil); ok {
		t.Errorf("%d members are written", members)
	}
}

// TestValuesCollide checks that a number of a longer stream, of which a key is that of a class, is no
// value of the class.
func TestValuesCollide(t *testing.T) {
	a := Plain(1)
	a.Streams, a.Values = [][]int{{0}}, [][]int64{{3, 5}}
	m := newSequenceModel(a, minTable, 1, levelFirst)
	m.Write(nil)
	m.value.begin([][]uint32{{1}})
	m.value.lastOf[hash(0, 0, 0)] = 3
	if m.valuesOf(0); m.value.lastOf[hash(0, 0, 0)] != 2 {
		t.Error("the value is not the last one")
	}
}

// TestValuesHeld checks that members are not written whose streams are not what their symbols take.
func TestValuesHeld(t *testing.T) {
	a := Plain(2)
	a.Streams, a.Values = [][]int{{0}, nil}, [][]int64{{3, 5}}
	g := build([]sequitur.Symbol{0, 1, 0})
	for _, streams := range [][][]uint32{nil, {{0}}, {{0, 1, 1}}, {{0, 2}}, {{0, 1}, {}}} {
		if _, ok := Append(context.Background(), nil, []Member{{g, streams}}, a, math.MaxInt, nil); ok {
			t.Errorf("%v is written", streams)
		}
	}
}
