package spool

import (
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
)

// Types and flags of records in a segment.
const (
	recordBegin = iota + 1
	recordEnd
	recordAllocate
	recordRelease
	recordResize
	recordClock
	recordConstant
	recordRegion
	recordModule
	recordCallers
	recordUnmap
	recordAssumption
	recordSized
	recordAgain // one of another type, see Repeats

	flagFailed    = 1
	flagHidden    = 2
	flagOutermost = 4
	flagSited     = 8
)

// maxDepth is the number of calls inside one another that a Decoder keeps. A call
// that is never left, because an exception or longjmp passed through it, is
// forgotten when so many have begun inside it.
const maxDepth = 256

// A Decoder decodes the segments of one thread, in order. The zero Decoder is
// ready for use. The segments may come from a process that is still running, from
// one that was killed at any instant, and from anyone else.
//
// It takes memory in proportion to the calls that have begun and not ended.
type Decoder struct {
	header  SegmentHeader
	started bool
	data    []byte // the segment, or a part of it
	base    int64  // of data in the segment
	// the offset in the segment of one in data, nil if there is nothing but data
	offset  func(int) int64
	off     int // of the next record in data
	clock   clock
	latest  int64  // time of the latest record
	ticks   uint64 // and its ticks
	pending []call // calls that have begun, outermost first
	within  int    // 1 if they are inside a call whose begin was lost
	skipped uint64 // ends without a begin
	drift   int64  // by how much the clock was off at most when it was read again, in nanoseconds
	record  Record
	err     error
}

// A call is one that has begun.
type call struct {
	function int
	hidden   bool
	start    int64
	site     uint64
	data     []byte // words with the arguments
	owned    bool   // they are no longer those of a segment

	// The values from before the call, which refer to data.
	arguments []Argument
}

// decode decodes the values from before the call.
func (p *call) decode() error {
	n := len(functions[p.function].Params)
	p.arguments = slices.Grow(p.arguments[:0], n)[:n]
	clear(p.arguments)
	c := cursor{data: p.data}
	for _, f := range layouts[p.function].before {
		c.read(&p.arguments[f.param].Before, f.kind)
	}
	return c.finish()
}

// Segment tells the decoder what the current segment holds now, or goes on to the
// next one if there is nothing more to read from the current. The decoder refers
// to data until then.
func (d *Decoder) Segment(data []byte) error {
	h, err := ParseSegmentHeader(data)
	if err != nil {
		return err
	}
	switch {
	case !d.started && h.Sequence == 0:
		d.base, d.off, d.clock = 0, headerSize, h.clock
	case !d.started:
		return parseError(offsetSequence, "sequence", fmt.Errorf("%w: the first segment is %d", ErrCorrupt, h.Sequence))
	case h.Process != d.header.Process || h.Thread != d.header.Thread:
		return parseError(offsetProcess, "process", fmt.Errorf("%w: the segment is that of another thread", ErrCorrupt))
	case h.Sequence == d.header.Sequence+1:
		d.drift = max(d.drift, d.clock.off(d.ticks, h.clock.latest))
		d.base, d.off, d.clock = 0, headerSize, h.clock
	case h.Sequence != d.header.Sequence:
		return parseError(offsetSequence, "sequence",
			fmt.Errorf("%w: segment %d after %d", ErrCorrupt, h.Sequence, d.header.Sequence))
	}
	if err := d.own(); err != nil {
		return err
	}
	d.off += int(d.base) // zero but in a segment that goes on
	d.base, d.offset = 0, nil
	if !d.started {
		d.latest = h.begun
	}
	d.started, d.header, d.data = true, h, data
	return nil
}

// Continue tells the decoder the records that follow those it has decoded in the
// current segment, for a reader that does not hold all of it, and the offset in the segment of one in the
// records. The decoder refers to both until it is told of more.
func (d *Decoder) Continue(records []byte, offset func(int) int64) error {
	if err := d.own(); err != nil {
		return err
	}
	d.base, d.off, d.data, d.offset = d.base+int64(d.off), 0, records, offset
	return nil
}

// parseError returns an error of the next record.
func (d *Decoder) parseError(err error) error {
	if d.offset != nil {
		return parseError(d.offset(d.off), "record", err)
	}
	return parseError(d.base+int64(d.off), "record", err)
}

// own copies what is referred to of the segment: the calls that have begun outlive
// the bytes that they are in.
func (d *Decoder) own() error {
	for i := range d.pending {
		p := &d.pending[i]
		if p.owned {
			continue
		}
		p.data, p.owned = slices.Clone(p.data), true
		if err := p.decode(); err != nil {
			return parseError(offsetSequence, "record", err)
		}
	}
	return nil
}

// Skipped returns the number of calls so far that ended and had not begun: their
// begins were lost. Those that the process knows it lost, the header says.
func (d *Decoder) Skipped() uint64 { return d.skipped }

// ClockError returns by how many nanoseconds times were off so far, at most, as far as the thread has read the clock
// again. It is zero if ticks are nanoseconds of the clock.
func (d *Decoder) ClockError() int64 { return d.drift }

// Header returns the header of the current segment.
func (d *Decoder) Header() SegmentHeader { return d.header }

// Next returns the next record, which is valid until the next call. The error is
// [io.EOF] at the end of what the current segment holds: more may come with
// [Decoder.Segment]. Times do not go back from one record to the next, but that a
// Call has the Start that it had when it began. Any other error is a *ParseError, and stays.
func (d *Decoder) Next() (*Record, error) {
	if d.err != nil {
		return nil, d.err
	}
	for {
		data, word, err := d.next()
		if err != nil {
			return nil, err
		}
		known, err := d.decode(data, typeOf(word), numberOf(word), flagsOf(word))
		if err != nil {
			d.err = d.parseError(err)
			return nil, d.err
		}
		d.off += len(data) + 8
		if known {
			return &d.record, nil
		}
	}
}

// next returns the words of the next record and its header.
func (d *Decoder) next() ([]byte, uint64, error) {
	rest := d.data[min(d.off, len(d.data)):]
	if len(rest) == 0 {
		return nil, 0, io.EOF
	}
	if len(rest) < 8 {
		return nil, 0, d.parseError(io.ErrUnexpectedEOF)
	}
	word := binary.LittleEndian.Uint64(rest)
	if word == 0 {
		return nil, 0, io.EOF
	}
	size := int64(SizeOf(word))
	if size == 0 {
		return nil, 0, d.parseError(fmt.Errorf("%w: size %d", ErrCorrupt, size))
	}
	if size > int64(len(rest)) {
		return nil, 0, d.parseError(fmt.Errorf("%w: size %d", io.ErrUnexpectedEOF, size))
	}
	return rest[8:size], word, nil
}

// decode decodes a record and reports whether it is one for the caller.
func (d *Decoder) decode(data []byte, kind, number int, flags uint64) (bool, error) {
	c := cursor{data: data}
	r := &d.record
	switch kind {
	case recordBegin:
		if flags&flagOutermost != 0 {
			d.pending, d.within = d.pending[:0], 0
		} else if len(d.pending) == 0 {
			d.within = 1
		}
		return d.begin(&c, number, flags)
	case recordEnd:
		return d.end(&c, number, flags)
	case recordClock:
		at := instant{uint64(c.word()), uint64(c.word())}
		if c.err == nil && d.clock.rate != 0 {
			d.drift = max(d.drift, d.clock.off(d.ticks, at))
			if !d.clock.set(at) {
				return false, fmt.Errorf("%w: the clock goes back", ErrCorrupt)
			}
		}
		return false, c.finish()
	case recordAllocate:
		at := d.time(c.word())
		*r = Record{Type: Allocated, Arguments: r.Arguments[:0], Start: at, End: at,
			Address: uint64(c.word()), Size: uint64(c.word()), Device: number}
	case recordRelease:
		at := d.time(c.word())
		*r = Record{Type: Released, Arguments: r.Arguments[:0], Start: at, End: at, Old: uint64(c.word())}
	case recordResize:
		end := c.word()
		*r = Record{Type: Resized, Arguments: r.Arguments[:0], Address: uint64(c.word()), Size: uint64(c.word())}
		r.Start, r.Old = d.time(c.word()), uint64(c.word())
		r.End = d.time(end)
	case recordUnmap:
		at := d.time(c.word())
		*r = Record{Type: Unmapped, Arguments: r.Arguments[:0], Start: at, End: at, Old: uint64(c.word()),
			Size: uint64(c.word())}
	case recordConstant:
		if number >= len(constants) {
			return false, fmt.Errorf("%w: constant %d of %d", ErrCorrupt, number, len(constants))
		}
		*r = Record{Type: Known, Arguments: r.Arguments[:0], Function: number, Result: c.word()}
	case recordRegion:
		*r = Record{Type: Region, Arguments: r.Arguments[:0], Address: uint64(c.word()),
			Size: uint64(c.word()), Number: c.word()}
		if c.err == nil && (r.Number > Stack || r.Number < math.MinInt32 || r.Size > math.MaxUint64-r.Address) {
			return false, fmt.Errorf("%w: region %d of %d bytes", ErrCorrupt, r.Number, r.Size)
		}
		// It has no time of its own: it holds from the record before on.
		r.Start, r.End = d.latest, d.latest
	case recordModule:
		*r = Record{Type: Module, Arguments: r.Arguments[:0], Address: uint64(c.word()),
			Size: uint64(c.word()), Base: uint64(c.word())}
		c.read(&r.Path, layoutText)
		if c.err == nil && (r.Path.Presence != Given || r.Size > math.MaxUint64-r.Address) {
			return false, fmt.Errorf("%w: module of %d bytes", ErrCorrupt, r.Size)
		}
		r.Start, r.End = d.latest, d.latest
	case recordCallers:
		*r = Record{Type: Callers, Arguments: r.Arguments[:0], Site: uint64(c.word()), Addresses: r.Addresses[:0]}
		for c.err == nil && c.off < len(c.data) {
			r.Addresses = append(r.Addresses, uint64(c.word()))
		}
		r.Start, r.End = d.latest, d.latest
	case recordAssumption:
		*r = Record{Type: Assumed, Arguments: r.Arguments[:0]}
		c.read(&r.Path, layoutText)
		if c.err == nil && r.Path.Presence != Given {
			return false, fmt.Errorf("%w: an assumption without a text", ErrCorrupt)
		}
		r.Start, r.End = d.latest, d.latest
	case recordSized:
		*r = Record{Type: Sized, Arguments: r.Arguments[:0], Result: c.word(), Size: uint64(c.word())}
		if c.err == nil && r.Size > math.MaxInt64 {
			return false, fmt.Errorf("%w: a datatype of %d bytes", ErrCorrupt, r.Size)
		}
		r.Start, r.End = d.latest, d.latest
	default:
		return false, fmt.Errorf("%w: type %d", ErrCorrupt, kind)
	}
	return true, c.finish()
}

// time returns the time of ticks. Records come in the order of time: where the
// clock is found to have been ahead, it stands still until it is right.
func (d *Decoder) time(ticks int64) int64 {
	d.ticks = uint64(ticks)
	d.latest = max(d.latest, d.clock.time(d.ticks))
	return d.latest
}

// finish returns the error of the cursor, or one if something is left.
func (c *cursor) finish() error {
	if c.err == nil && c.off != len(c.data) {
		return fmt.Errorf("%w: %d bytes too many", ErrCorrupt, len(c.data)-c.off)
	}
	return c.err
}

// begin remembers a call that begins, and reports whether it is one for the
// caller.
func (d *Decoder) begin(c *cursor, number int, flags uint64) (bool, error) {
	if number >= len(functions) {
		return false, fmt.Errorf("%w: function %d of %d", ErrCorrupt, number, len(functions))
	}
	ticks, site := c.word(), uint64(0)
	if flags&flagSited != 0 {
		site = uint64(c.word())
	}
	if c.err != nil {
		return false, c.err
	}
	if len(d.pending) == maxDepth {
		first := d.pending[0]
		copy(d.pending, d.pending[1:])
		d.pending[maxDepth-1] = first
		d.pending = d.pending[:maxDepth-1]
	}
	d.pending = slices.Grow(d.pending, 1)[:len(d.pending)+1]
	at := len(d.pending) - 1
	p := &d.pending[at]
	*p = call{number, flags&flagHidden != 0, d.time(ticks), site, c.data[c.off:], false, p.arguments}
	if err := p.decode(); err != nil {
		return false, fmt.Errorf("%s: %w", functions[number].Name, err)
	}
	if !layouts[number].begins {
		return false, nil
	}
	spare := d.record.Arguments
	d.begun(p, at+d.within)
	d.record.Type = Began
	d.record.Arguments = append(spare[:0], p.arguments...)
	return true, nil
}

// began returns the index of the call that ends: the latest of a function that has
// begun, or −1. The end of the outermost call is not that of one inside it, whose own
// end may be lost.
func (d *Decoder) began(number int, outermost bool) int {
	at := len(d.pending) - 1
	if outermost {
		at = min(at, 0)
	}
	for at >= 0 && d.pending[at].function != number {
		at--
	}
	return at
}

// end completes a call and reports whether it has begun: if not, its begin is lost.
// Calls that began after it were never left, or their ends are lost.
func (d *Decoder) end(c *cursor, number int, flags uint64) (bool, error) {
	if number >= len(functions) {
		return false, fmt.Errorf("%w: function %d of %d", ErrCorrupt, number, len(functions))
	}
	at := d.began(number, flags&flagOutermost != 0 && d.within == 0)
	if at < 0 {
		d.skipped++
		return false, nil
	}
	if err := d.complete(c, at, flags); err != nil {
		return false, fmt.Errorf("%s: %w", functions[number].Name, err)
	}
	d.pending = d.pending[:at]
	return true, nil
}

// complete sets the record to a call that has begun and now ends.
func (d *Decoder) complete(c *cursor, at int, flags uint64) error {
	p, r := &d.pending[at], &d.record
	l := &layouts[p.function]
	failed := flags&flagFailed != 0
	if failed && !l.fails {
		return fmt.Errorf("%w: it failed", ErrCorrupt)
	}
	spare := r.Arguments
	d.begun(p, at+d.within)
	p.arguments = spare
	r.Failed = failed
	r.End = d.time(c.word())
	r.Result = c.word()
	if l.fails {
		r.Result, r.Class = int64(int32(r.Result)), int(int32(r.Result>>32))
	}
	if l.group && !failed {
		if err := c.group(&r.Group); err != nil {
			return err
		}
	}
	for _, f := range l.after {
		if !failed || f.inOut {
			c.read(&r.Arguments[f.param].After, f.kind)
		}
	}
	return c.finish()
}

// begun sets the record to facts about a call that has begun.
func (d *Decoder) begun(p *call, depth int) {
	d.record = Record{
		Type:      Call,
		Function:  p.function,
		Start:     p.start,
		Depth:     depth,
		Hidden:    p.hidden,
		Site:      p.site,
		Arguments: p.arguments,
	}
}

// Unfinished returns an iterator over the calls that have begun and not ended,
// outermost first: after the last segment of a process that was killed, those it
// was in. Their End is zero. A record is valid until the next step.
func (d *Decoder) Unfinished() iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		saved := d.record
		defer func() { d.record = saved }()
		for at := range d.pending {
			d.begun(&d.pending[at], at+d.within)
			if !yield(&d.record) {
				return
			}
		}
	}
}
