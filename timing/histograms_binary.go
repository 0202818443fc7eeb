package timing

import "github.com/reprise-trace/reprise/internal/wire"

// AppendBinary appends the encoding of h to dst and returns the extended slice.
// The error is always nil; it is there for [encoding.BinaryAppender].
func (h *Histograms) AppendBinary(dst []byte) ([]byte, error) {
	head := uint64(len(h.all)) << 1
	if h.PathSensitive() {
		head++
	}
	dst = wire.AppendUvarint(dst, head)
	last := Path{Previous: NoPrevious - 1}
	for i, p := range h.all {
		n := p.path.Terminal - last.Terminal
		if !h.paths && i > 0 {
			n--
		}
		dst = wire.AppendUvarint(dst, uint64(n))
		if h.paths {
			if n > 0 {
				last.Previous = NoPrevious - 1
			}
			dst = wire.AppendUvarint(dst, uint64(p.path.Previous-last.Previous-1))
		}
		dst, _ = p.histogram.AppendBinary(dst)
		last = p.path
	}
	return dst, nil
}

// MarshalBinary returns the encoding of h.
func (h *Histograms) MarshalBinary() ([]byte, error) { return h.AppendBinary(nil) }

// ParseHistograms returns the histograms encoded in data. The error is a
// [*ParseError].
func ParseHistograms(data []byte) (*Histograms, error) {
	d := wire.NewDecoder("timing", data)
	h := new(Histograms)
	head := d.Uvarint("histograms")
	if h.paths = head&1 == 1; head == 1 || head>>1 > uint64(len(data)) {
		d.Corrupt(0, "histograms", "%d in %d bytes, by path: %t", head>>1, len(data), h.paths)
	}
	last := Path{Previous: NoPrevious - 1}
	for i := range head >> 1 {
		if d.Err() != nil {
			return nil, d.Err()
		}
		if h.paths {
			last.decode(&d)
		} else {
			last.decodeTerminal(&d, i == 0)
		}
		if one := decodeHistogram(&d); one != nil {
			h.all = append(h.all, pathHistogram{last, one})
		}
	}
	d.End("histograms")
	if err := d.Err(); err != nil {
		return nil, err
	}
	return h, nil
}

// decode reads the path after p.
func (p *Path) decode(d *wire.Decoder) {
	if n := d.UvarintMax("terminal", uint64(^p.Terminal)); n > 0 {
		*p = Path{NoPrevious - 1, p.Terminal + uint32(n)}
	}
	most := int64(^uint32(0))
	if p.Previous == most {
		d.Corrupt(d.Offset(), "previous", "nothing is after %d", most)
		return
	}
	p.Previous += int64(d.UvarintMax("previous", uint64(most-p.Previous-1))) + 1
}

// decodeTerminal reads the path after p, which tells no previous terminal.
func (p *Path) decodeTerminal(d *wire.Decoder, first bool) {
	from := uint64(p.Terminal) + 1
	if first {
		from = 0
	}
	if from > uint64(^uint32(0)) {
		d.Corrupt(d.Offset(), "terminal", "nothing is after %d", p.Terminal)
		return
	}
	*p = Path{NoPrevious, uint32(from + d.UvarintMax("terminal", uint64(^uint32(0))-from))}
}
