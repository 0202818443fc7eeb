package otf2

import (
	"bufio"
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/export/internal/spool"
	archive "github.com/reprise-trace/reprise/mpi/otf2"
)

// A sink writes the events of a location, whose times never decrease: at once, or to a temporary file.
type sink struct {
	process  *process
	location uint64
	record   archive.Record
	values   [6]uint64
	time     uint64 // of the last event
	count    uint64

	program []uint64 // name and arguments of what the process runs, nil if that is not told here

	spool  *spooled // nil if events are written at once
	buffer []byte   // for one event
	before uint64   // time of the last event that was spooled
}

// noTerminal is that of an event without attributes.
const noTerminal = math.MaxUint32

func (s *sink) last() int64 { return int64(s.time) }

// events writes events of a call.
func (s *sink) events(list []event, now int64) {
	for i := range list {
		s.put(list[i].kind, now, list[i].values[:len(list[i].kind.Fields)], noTerminal)
	}
}

// write writes an event that has one value, and the attributes of a terminal.
func (s *sink) write(k *archive.Kind, now int64, value uint64, terminal uint32) {
	s.values[0] = value
	s.put(k, now, s.values[:1], terminal)
}

func (s *sink) put(k *archive.Kind, now int64, values []uint64, terminal uint32) {
	s.time = max(s.time, uint64(now))
	s.count++
	if s.spool != nil {
		s.keep(k, values, terminal)
		return
	}
	s.emit(k, s.time, values, terminal)
}

// emit writes an event.
func (s *sink) emit(k *archive.Kind, time uint64, values []uint64, terminal uint32) {
	d := s.process.definitions
	if d.err != nil {
		return
	}
	s.record = archive.Record{Kind: k, Location: s.location, Time: time, Values: values}
	if terminal != noTerminal {
		s.record.Attributes = s.process.call(terminal).attributes
	}
	d.err = d.out.Write(&s.record)
}

// begin writes that the program begins.
func (s *sink) begin() {
	if s.program != nil {
		s.count++
		s.emit(kinds.programBegin, uint64(s.process.first), s.program, noTerminal)
	}
}

// end writes that the program ends, after the last event.
func (s *sink) end() {
	if s.program != nil {
		s.count++
		s.time = max(s.time, uint64(s.process.last))
		s.emit(kinds.programEnd, s.time, []uint64{1 << 63}, noTerminal) // of which the exit status is not known
	}
}

// A spooled is the events of a location, of the kinds of several.
type spooled struct {
	*spool.Stream
	kinds *[]*archive.Kind // by their numbers in the stream
}

// keep appends an event to what is to be spooled.
func (s *sink) keep(k *archive.Kind, values []uint64, terminal uint32) {
	b := binary.AppendUvarint(s.buffer[:0], s.time-s.before)
	s.before = s.time
	b = binary.AppendUvarint(append(b, s.spool.numberOf(k)), uint64(terminal))
	for _, v := range values {
		b = binary.AppendUvarint(b, v)
	}
	s.buffer = b
	if _, err := s.spool.Write(b); err != nil {
		s.process.definitions.err = errors.Join(s.process.definitions.err, err)
	}
}

// numberOf returns the number of a kind of events.
func (p *spooled) numberOf(k *archive.Kind) byte {
	i := slices.Index(*p.kinds, k)
	if i < 0 {
		i = len(*p.kinds)
		*p.kinds = append(*p.kinds, k)
	}
	return byte(i)
}

// replay writes what was spooled.
func (s *sink) replay() error {
	if s.spool == nil || s.process.definitions.err != nil {
		return s.process.definitions.err
	}
	in := bufio.NewReaderSize(s.spool.Reader(), mostBuffer)
	time := uint64(0)
	n := s.count
	s.begin()
	for range n {
		step, err := binary.ReadUvarint(in)
		if err != nil {
			return err
		}
		time += step
		kind, err := in.ReadByte()
		if err != nil {
			return err
		}
		terminal, err := binary.ReadUvarint(in)
		if err != nil {
			return err
		}
		k := (*s.spool.kinds)[kind]
		for i := range k.Fields {
			if s.values[i], err = binary.ReadUvarint(in); err != nil {
				return err
			}
		}
		if s.emit(k, time, s.values[:len(k.Fields)], uint32(terminal)); s.process.definitions.err != nil {
			return s.process.definitions.err
		}
	}
	s.end()
	return s.process.definitions.err
}
