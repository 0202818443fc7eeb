package layout

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/internal/wire"
)

// maxDerived is the largest length of a name that is written as a change of the one before, so
// that few bytes do not stand for many.
const maxDerived = 64

// A placeName is a name of a place in a program, such as solver.f90:212 exchange_ or
// exchange_+0x1f, which differs from the one before it often by its number alone.
type placeName struct {
	before  string // with the colon or the 0x
	number  int64
	base    int // of the number
	after   string
	ordinal int64 // of the places with this number, from 1 on
}

// placeOf takes a name apart at the first number of a line or of bytes, and reports whether
// there is one.
func placeOf(name string) (p placeName, ok bool) {
	for i := range len(name) {
		begin, base := i+1, 10
		switch {
		case name[i] == ':':
		case strings.HasPrefix(name[i:], "+0x"):
			begin, base = i+3, 16
		default:
			continue
		}
		end := begin
		for end < len(name) && end < begin+7 && isDigit(name[end], base) {
			end++
		}
		if end == begin {
			continue
		}
		p = placeName{before: name[:begin], base: base, after: name[end:], ordinal: 1}
		p.number, _ = strconv.ParseInt(name[begin:end], base, 64) // digits
		if k := strings.LastIndex(p.after, " #"); k >= 0 {
			if n, err := strconv.ParseInt(p.after[k+2:], 10, 32); err == nil {
				p.after, p.ordinal = p.after[:k], n
			}
		}
		return p, true
	}
	return p, false
}

func isDigit(c byte, base int) bool {
	return '0' <= c && c <= '9' || base == 16 && 'a' <= c && c <= 'f'
}

func (p placeName) String() string {
	s := p.before + strconv.FormatInt(p.number, p.base) + p.after
	if p.ordinal > 1 {
		s += " #" + strconv.FormatInt(p.ordinal, 10)
	}
	return s
}

// moved returns the place of which the number is so much larger, or, if it is the same, the next
// one of this number.
func (p placeName) moved(by int64) placeName {
	if by == 0 {
		p.ordinal++
		return p
	}
	p.number, p.ordinal = p.number+by, 1
	return p
}

// appendName appends a name: as it is, or as the last one moved.
func appendName(dst []byte, last, name string) []byte {
	if p, ok := placeOf(last); ok && len(name) <= maxDerived {
		if q, ok := placeOf(name); ok && p.moved(q.number-p.number).String() == name {
			by := q.number - p.number
			return wire.AppendUvarint(dst, uint64(by<<1^by>>63)<<1|1)
		}
	}
	dst = wire.AppendUvarint(dst, uint64(len(name))<<1)
	return append(dst, name...)
}

// decodeName reads a name that appendName has written after the last one, and nothing else.
func decodeName(d *wire.Decoder, last string) string {
	at := d.Offset()
	v := d.Uvarint("name")
	name := ""
	if v&1 == 0 {
		if v>>1 > uint64(d.Rest()) {
			d.Corrupt(at, "name", "of %d bytes, of which there are %d", v>>1, d.Rest())
			return ""
		}
		name = string(d.Bytes("name", int(v>>1)))
	} else if p, ok := placeOf(last); ok && v>>2 <= math.MaxInt32 {
		name = p.moved(int64(v>>2) ^ -int64(v>>1&1)).String()
	}
	if d.Err() == nil && !bytes.Equal(appendName(nil, last, name), d.Since(at)) {
		d.Corrupt(at, "name", "%q is not written so after %q", name, last)
	}
	return name
}
