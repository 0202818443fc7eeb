package otf2

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"github.com/reprise-trace/reprise/internal/need"
)

// errProtocol is that of bytes that are no records.
var errProtocol = errors.New("not a record")

// A decoder reads records as they are on the pipe.
type decoder struct {
	in     *bufio.Reader
	record Record
}

// next reads the next record. The error is [io.EOF] after the last, and [io.ErrUnexpectedEOF] where it is missing.
func (r *decoder) next() error {
	for {
		number, err := r.value()
		switch {
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		case number == numberEnd:
			return io.EOF
		case number == numberLocation:
			r.record.Location, err = r.value()
			r.record.Time = 0
		default:
			if err = r.readKind(number); err == nil {
				return nil
			}
		}
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		if err != nil {
			return err
		}
	}
}

func (r *decoder) readKind(number uint64) error {
	kinds := theTable().kinds
	if number/2 < firstKind || number/2 >= uint64(len(kinds)) {
		return errProtocol
	}
	c := &r.record
	c.Kind = kinds[number/2]
	c.Values, c.Texts, c.Attributes = c.Values[:0], c.Texts[:0], c.Attributes[:0]
	if c.Kind.Class == Event {
		step, err := binary.ReadVarint(r.in)
		if err != nil {
			return err
		}
		c.Time += uint64(step)
		if number%2 == 1 {
			if err := r.readAttributes(); err != nil {
				return err
			}
		}
	}
	for range c.Kind.Fields {
		v, err := r.value()
		if err != nil {
			return err
		}
		c.Values = append(c.Values, v)
	}
	for range c.Kind.Texts {
		text, err := r.text()
		if err != nil {
			return err
		}
		c.Texts = append(c.Texts, text)
	}
	if c.Kind.List == nil {
		return nil
	}
	rows, err := r.value()
	for ; rows > 0 && err == nil; rows-- {
		for range c.Kind.List {
			var v uint64
			if v, err = r.value(); err != nil {
				return err
			}
			c.Values = append(c.Values, v)
		}
	}
	return err
}

// value reads a number, fast if all of it is in the buffer.
func (r *decoder) value() (uint64, error) {
	if b, _ := r.in.Peek(1); len(b) == 1 && b[0] < 0x80 {
		r.in.Discard(1)
		return uint64(b[0]), nil
	}
	return binary.ReadUvarint(r.in)
}

func (r *decoder) text() (string, error) {
	n, err := r.value()
	if err != nil {
		return "", err
	}
	var text strings.Builder // which grows by what comes
	if n > 1<<40 {
		return "", errProtocol
	}
	_, err = io.CopyN(&text, r.in, int64(n))
	return text.String(), err
}

func (r *decoder) readAttributes() error {
	n, err := r.value()
	for ; n > 0 && err == nil; n-- {
		var fields [3]uint64
		for i := range fields {
			if fields[i], err = r.value(); err != nil {
				return err
			}
		}
		r.record.Attributes = append(r.record.Attributes,
			Attribute{uint32(fields[0]), uint8(fields[1]), fields[2]})
	}
	return err
}

// An encoder writes records as they are on the pipe.
type encoder struct {
	location uint64 // of the last event
	begun    bool   // there was one
	time     uint64
}

// append appends a record to b.
func (e *encoder) append(b []byte, r *Record) []byte {
	need.That(r.Kind != nil && r.Kind.number >= firstKind, "otf2: a record of no kind")
	k := r.Kind
	rest := len(r.Values) - len(k.Fields)
	need.That(rest == 0 || rest > 0 && k.List != nil && rest%len(k.List) == 0, "otf2: values that are not of the kind")
	need.That(len(r.Texts) == len(k.Texts), "otf2: texts that are not of the kind")
	if k.Class == Event {
		if !e.begun || r.Location != e.location {
			b = binary.AppendUvarint(append(b, numberLocation), r.Location)
			e.location, e.time, e.begun = r.Location, 0, true
		}
		number := uint64(k.number) * 2
		if len(r.Attributes) > 0 {
			number++
		}
		b = binary.AppendVarint(binary.AppendUvarint(b, number), int64(r.Time-e.time))
		e.time = r.Time
		if len(r.Attributes) > 0 {
			b = binary.AppendUvarint(b, uint64(len(r.Attributes)))
		}
		for _, a := range r.Attributes {
			b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(a.ID)), uint64(a.Type))
			b = binary.AppendUvarint(b, a.Value)
		}
	} else {
		b = binary.AppendUvarint(b, uint64(k.number)*2)
	}
	for _, v := range r.Values[:len(k.Fields)] {
		b = binary.AppendUvarint(b, v)
	}
	for _, text := range r.Texts {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	if k.List != nil {
		b = binary.AppendUvarint(b, uint64(rest/len(k.List)))
		for _, v := range r.Values[len(k.Fields):] {
			b = binary.AppendUvarint(b, v)
		}
	}
	return b
}
