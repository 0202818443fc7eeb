package merge

import (
	"math"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// A streamTable reads the streams of a trace.
type streamTable struct {
	arguments []elastic
	values    [][]int64 // of each argument
	streams   []streamPlace
}

// A streamPlace says where a stream is.
type streamPlace struct {
	argument        int
	section, offset int
	size            int
}

// parseStreams reads what the section of the signatures has of streams.
func (p *signatureParser) parseStreams() *streamTable {
	var t streamTable
	n := p.Count("arguments", 3)
	for i := 0; i < n && p.Err() == nil; i++ {
		at := p.Offset()
		e := elastic{int(p.UvarintMax("function", uint64(len(p.declared)))), int(p.UvarintMax("slot", maxElasticSlot))}
		if p.Err() != nil {
			return nil
		}
		if e.function == len(p.declared) || e.slot >= len(scalarKinds(p.declared[e.function])) {
			p.Corrupt(at, "argument", "slot %d of function %d", e.slot, e.function)
			return nil
		}
		kind := scalarKinds(p.declared[e.function])[e.slot]
		values := make([]int64, p.Count("values", 1))
		for i := range values {
			values[i] = p.value(kind)
		}
		t.arguments, t.values = append(t.arguments, e), append(t.values, values)
	}
	n = p.Count("streams", 2)
	var packer packer
	for i := 0; i < n && p.Err() == nil; i++ {
		at := p.Offset()
		s := streamPlace{argument: int(p.UvarintMax("argument", math.MaxInt32))}
		s.size = int(p.UvarintMax("size", maxColumn))
		if s.argument >= len(t.arguments) || s.size == 0 {
			p.Corrupt(at, "stream", "%d bytes of argument %d of %d", s.size, s.argument, len(t.arguments))
			return nil
		}
		s.section, s.offset = packer.place(s.size)
		t.streams = append(t.streams, s)
	}
	return &t
}

// value reads a value of an elastic argument.
func (p *signatureParser) value(kind slot) int64 {
	if kind != slotFloat {
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

// A streamReader reads a stream of numbers of values, one after the other.
type streamReader struct {
	values []int64
	data   wire.Decoder
	walker *sequitur.Walker // of a grammar
	run    sequitur.Run
	last   uint64 // number that was read
	size   int    // of the stream, in bytes
}

// next returns the number of the next value.
func (r *streamReader) next() (uint64, error) {
	var n uint64
	if r.walker == nil {
		n = r.data.Uvarint("number")
		if r.data.Err() != nil {
			return 0, r.data.Err()
		}
	} else {
		if r.run.Count == 0 {
			r.run = r.walker.Next()
		}
		if r.run.Count == 0 {
			return 0, corrupt("a stream is too short")
		}
		r.run.Count--
		n = uint64(r.run.Symbol)
	}
	if n >= uint64(len(r.values)) {
		return 0, corrupt("value %d of %d in a stream", n, len(r.values))
	}
	r.last = n
	return n, nil
}

// end returns an error if there are more values.
func (r *streamReader) end() error {
	if r.walker == nil && r.data.Rest() > 0 || r.walker != nil && (r.run.Count > 0 || r.walker.Next().Count > 0) {
		return corrupt("a stream is too long")
	}
	return nil
}

// stream opens a stream of an argument.
func (t *Trace) stream(number int64, argument elastic) (*streamReader, error) {
	table := t.signatures.streams
	if number < 0 || number >= int64(len(table.streams)) || table.arguments[table.streams[number].argument] != argument {
		return nil, &SectionError{KindSignatures, 0, -1, corrupt("stream %d is none of an argument", number)}
	}
	p := table.streams[number]
	r := &streamReader{values: table.values[p.argument], size: p.size}
	err := t.readShared(KindStreams, uint64(p.section), func(data []byte) error {
		data, err := itemOf(data, p.offset, p.size)
		if err != nil {
			return err
		}
		switch data[0] {
		case streamNumbers:
			r.data = wire.NewDecoder("merge", data[1:])
			return nil
		case streamGrammar:
			g, err := sequitur.Parse(data[1:], sequitur.Options{})
			if err == nil {
				r.walker = g.Walk(0)
			}
			return atOffset(err, p.offset+1)
		}
		return corrupt("stream %d is encoded as %d", number, data[0])
	})
	return r, err
}
