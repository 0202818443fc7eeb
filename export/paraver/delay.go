package paraver

import (
	"bufio"
	"strconv"
)

// A delay writes records in their order, of which some are not complete yet.
type delay struct {
	w      *bufio.Writer // its errors stick
	err    error
	text   []byte // of the records that wait
	wait   []pending
	first  int // of wait
	free   []*message
	record []byte
	base   int // bytes of text that were written

	messages uint64 // that were written
}

// A pending is a message that waits, and what comes before it: text up to an end.
type pending struct {
	end     int // in text
	message *message
}

// maxDelay is how many bytes of records wait.
var maxDelay = 32 << 20

// line returns where to append a record, to be written next.
func (d *delay) line() []byte { return d.text }

// write takes a record that was appended to what line returned.
func (d *delay) write(text []byte) {
	d.text = text
	switch {
	case d.first < len(d.wait):
		d.flush()
	case len(d.text) >= 32<<10:
		d.drain(len(d.text))
	}
}

// add has a message wait at its place.
func (d *delay) add(m *message) {
	d.wait = append(d.wait, pending{len(d.text), m})
}

// message returns a message that is empty.
func (d *delay) message() *message {
	n := len(d.free) - 1
	if n < 0 {
		return &message{}
	}
	m := d.free[n]
	d.free = d.free[:n]
	*m = message{}
	return m
}

// flush writes what does not wait, and gives up the first message if too much does.
func (d *delay) flush() {
	for d.first < len(d.wait) {
		at := d.wait[d.first]
		if !at.message.complete() {
			if len(d.text)-d.base < maxDelay {
				return
			}
			at.message.lost = true
		}
		d.put(at.end)
		if !at.message.lost {
			d.messages++
			d.record = at.message.append(d.record[:0])
			if d.err == nil {
				_, d.err = d.w.Write(d.record)
			}
			d.free = append(d.free, at.message) // nobody else refers to it
		}
		d.wait[d.first] = pending{}
		d.first++
	}
	d.wait, d.first = d.wait[:0], 0
	d.drain(len(d.text))
}

// put writes text up to an end.
func (d *delay) put(end int) {
	if d.err == nil {
		_, d.err = d.w.Write(d.text[d.base:end])
	}
	d.base = end
	if d.base >= 1<<20 && d.base > len(d.text)/2 {
		d.compact()
	}
}

// compact forgets what was written.
func (d *delay) compact() {
	n := copy(d.text, d.text[d.base:])
	d.text = d.text[:n]
	for i := range d.wait[d.first:] {
		d.wait[d.first+i].end -= d.base
	}
	m := copy(d.wait, d.wait[d.first:])
	clear(d.wait[m:])
	d.wait, d.first, d.base = d.wait[:m], 0, 0
}

// drain writes text up to an end, at which nothing waits.
func (d *delay) drain(end int) {
	d.put(end)
	d.text, d.base = d.text[:0], 0
}

// finish writes everything but messages that are not complete.
func (d *delay) finish() error {
	for _, at := range d.wait[d.first:] {
		at.message.lost = !at.message.complete()
	}
	d.flush()
	d.drain(len(d.text))
	if d.err != nil {
		return d.err
	}
	return d.w.Flush()
}

// A message is a communication.
type message struct {
	from, to          *thread
	sent              int64
	receive, received int64
	bytes, tag        int64
	done              bool // received is known
	lost              bool // nothing is to be written
}

func (m *message) complete() bool { return m.lost || m.from != nil && m.to != nil && m.done }

// append appends the record.
func (m *message) append(b []byte) []byte {
	b = strconv.AppendInt(append(append(b, '3'), m.from.place...), m.sent, 10)
	b = append(strconv.AppendInt(append(b, ':'), m.sent, 10), m.to.place...)
	b = strconv.AppendInt(b, m.receive, 10)
	b = strconv.AppendInt(append(b, ':'), m.received, 10)
	b = strconv.AppendInt(append(b, ':'), max(m.bytes, 0), 10)
	b = strconv.AppendInt(append(b, ':'), m.tag, 10)
	return append(b, '\n')
}
