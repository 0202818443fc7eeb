package layout

import (
	"math"
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/internal/wire"
)

// A varying argument is one that varies from call to call with no pattern that
// a grammar finds, such as an amount of computation. Its slot in a signature has
// the number of a stream in place of a value: the values that a rank's calls of
// the function have there, one after the other. So calls that differ in nothing
// else are one terminal. Slots are counted without those in arrays.
type StreamArgument struct{ Function, Slot int }

// MaxStreamSlot is the number of slots of a signature that may have streams.
const MaxStreamSlot = 64

// MaxStreamCalls is the largest number of calls of a shape with streams: they are
// expanded to be read.
const MaxStreamCalls = 1 << 26

// The first byte of a stream says how it is encoded.
const (
	StreamNumbers byte = iota // uvarint numbers of values
	StreamGrammar             // a grammar over these
)

// A StreamTable reads the streams of a trace. They are in sections of their own or, one for each
// argument and shape, in the blocks of the grammars, where the values of an argument ascend.
type StreamTable struct {
	Arguments []StreamArgument // all different
	Values    [][]int64        // of each argument
	InBlocks  bool
	Streams   []StreamPlace // in sections of their own

	numbers map[StreamArgument]int // of arguments
}

// Of returns the arguments of a function of which the mask of a signature has the slots, in their
// order.
func (t *StreamTable) Of(function int, mask uint64) []int {
	var of []int
	for ; mask != 0; mask &= mask - 1 {
		if i, ok := t.Number(StreamArgument{function, bits.TrailingZeros64(mask)}); ok {
			of = append(of, i)
		}
	}
	slices.Sort(of)
	return of
}

// Number returns the number of an argument, and whether it has streams.
func (t *StreamTable) Number(e StreamArgument) (number int, ok bool) {
	number, ok = t.numbers[e]
	return number, ok
}

// A StreamPlace says where a stream is.
type StreamPlace struct {
	Argument        int
	Section, Offset int
	Size            int
}

// parseStreams reads what the section of the signatures has of streams.
func (p *signatureParser) parseStreams() *StreamTable {
	t := StreamTable{numbers: make(map[StreamArgument]int)}
	at := p.Offset()
	head := p.Uvarint("arguments")
	t.InBlocks = head&1 == 1
	n := head >> 1
	if n > uint64(p.Rest()/3) {
		p.Corrupt(at, "arguments", "%d in %d bytes", n, p.Rest())
	}
	for i := uint64(0); i < n && p.Err() == nil; i++ {
		at := p.Offset()
		e := StreamArgument{int(p.UvarintMax("function", uint64(len(p.declared)))),
			int(p.UvarintMax("slot", MaxStreamSlot))}
		if p.Err() != nil {
			return nil
		}
		if e.Function == len(p.declared) || e.Slot >= len(ScalarKinds(p.declared[e.Function])) {
			p.Corrupt(at, "argument", "slot %d of function %d", e.Slot, e.Function)
			return nil
		}
		if _, ok := t.Number(e); ok {
			p.Corrupt(at, "argument", "slot %d of function %d again", e.Slot, e.Function)
			return nil
		}
		t.numbers[e] = len(t.Arguments)
		kind := ScalarKinds(p.declared[e.Function])[e.Slot]
		values := make([]int64, p.Count("values", 1))
		if t.InBlocks {
			p.ascending(values, kind)
		} else {
			for i := range values {
				values[i] = p.value(kind)
			}
		}
		t.Arguments, t.Values = append(t.Arguments, e), append(t.Values, values)
	}
	if t.InBlocks {
		return &t
	}
	var packer Packer
	for n := p.Count("streams", 2); n > 0 && p.Err() == nil; n-- {
		at := p.Offset()
		s := StreamPlace{Argument: int(p.UvarintMax("argument", math.MaxInt32))}
		s.Size = int(p.UvarintMax("size", MaxColumn))
		if s.Argument >= len(t.Arguments) || s.Size == 0 {
			p.Corrupt(at, "stream", "%d bytes of argument %d of %d", s.Size, s.Argument, len(t.Arguments))
			return nil
		}
		s.Section, s.Offset = packer.Place(s.Size)
		t.Streams = append(t.Streams, s)
	}
	return &t
}

// value reads a value of a varying argument.
func (p *signatureParser) value(kind SlotKind) int64 {
	if kind != Float {
		return p.Varint("value")
	}
	at := p.Offset()
	u := p.Uvarint("value")
	if u == 0 {
		return int64(p.Uint64("value"))
	}
	u--
	n := int64(u>>1) ^ -int64(u&1)
	if n <= -1<<53 || n >= 1<<53 {
		p.Corrupt(at, "value", "%d is not an integer of 53 bits", n)
	}
	return int64(math.Float64bits(float64(n)))
}

// AppendValue appends a value of a varying argument. Of floats, integers are
// short.
func AppendValue(dst []byte, v int64, kind SlotKind) []byte {
	if kind != Float {
		return wire.AppendVarint(dst, v)
	}
	if n, ok := integerOf(v); ok {
		return wire.AppendUvarint(dst, uint64(n<<1^n>>63)+1)
	}
	return wire.AppendUint64(append(dst, 0), uint64(v))
}

// AppendAscending appends values of a varying argument that ascend: what they differ by if they are
// integers.
func AppendAscending(dst []byte, values []int64, kind SlotKind) []byte {
	integers := kind != Float || !slices.ContainsFunc(values, func(v int64) bool {
		_, ok := integerOf(v)
		return !ok
	})
	if kind == Float {
		dst = append(dst, boolByte(integers))
	}
	last := int64(0)
	for _, v := range values {
		if !integers {
			dst = wire.AppendUint64(dst, uint64(v))
			continue
		}
		if kind == Float {
			v, _ = integerOf(v)
		}
		dst = wire.AppendVarint(dst, v-last)
		last = v
	}
	return dst
}

// ascending reads values that AppendAscending appended.
func (p *signatureParser) ascending(values []int64, kind SlotKind) {
	integers := kind != Float || p.UvarintMax("integers", 1) == 1
	last := int64(0)
	for i := range values {
		if !integers {
			values[i] = int64(p.Uint64("value"))
			continue
		}
		last += p.Varint("value")
		if values[i] = last; kind == Float {
			values[i] = int64(math.Float64bits(float64(last)))
		}
	}
}

// integerOf returns the integer that the bits of a float stand for, and whether they do.
func integerOf(v int64) (int64, bool) {
	f := math.Float64frombits(uint64(v))
	n := int64(f)
	return n, math.Abs(f) < 1<<53 && int64(math.Float64bits(float64(n))) == v
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}
