// Package perfetto writes traces in the protobuf form of Perfetto, which its viewer
// at ui.perfetto.dev and its trace processor open, with SQL over the calls: a fraction
// of the size of the JSON of package [github.com/reprise-trace/reprise/export/chrome].
//
// The file docs/exports.md says what is written.
//
// # Source
//
// The field numbers are those of the definitions in protos/perfetto/trace of
// github.com/google/perfetto, which stay as they are.
package perfetto

import (
	"bufio"
	"context"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/trace"
)

// Write writes the calls of t that o chooses. What it holds grows with the signatures
// and the grammar of a rank, and with the pairs of ranks that exchange messages, not with
// the number of calls.
func Write(ctx context.Context, w io.Writer, t *trace.Trace, o export.Options) error {
	need.That(t != nil && w != nil, "export: no trace, or nothing to write to")
	choice, err := events.Open(ctx, t, o)
	if err != nil {
		return err
	}
	defer choice.Close()
	if err := choice.OrderMessages(true); err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if err := writeRun(out, choice.Choice()); err != nil {
		return err
	}
	for rank, err := range choice.Ranks() {
		if err != nil {
			return err
		}
		if err := writeRank(out, rank); err != nil {
			return err
		}
	}
	return out.Flush()
}

// writeRun writes an event that describes the run, on a track of its own, and when
// the run began.
func writeRun(w *bufio.Writer, c *events.Choice) error {
	facts, err := c.Run()
	if err != nil {
		return err
	}
	began, err := c.Began()
	if err != nil {
		return err
	}
	s := &sequence{w: w, end: appendNumber(nil, packetSequence, uint64(c.Trace.Ranks())+1)}
	if !began.IsZero() {
		var clocks []byte
		for _, clock := range [][2]uint64{{traceTime, 0}, {realTime, uint64(began.UnixNano())}} {
			clocks = appendBytes(clocks, clocksClock, appendNumber(appendNumber(nil, clockID, clock[0]),
				clockTime, clock[1]))
		}
		s.write(appendBytes(append([]byte(nil), s.end...), packetClocks, clocks))
	}
	track := appendString(appendNumber(nil, descriptorUUID, runTrack), descriptorName, "run")
	s.write(appendBytes(append([]byte(nil), s.end...), packetTrackDescriptor, track))
	event := appendNumber(appendNumber(nil, eventType, instant), eventTrack, runTrack)
	event = appendString(event, eventNameText, "run")
	for _, f := range facts {
		annotation := appendString(nil, annotationNameText, f.Name)
		event = appendBytes(event, eventAnnotation, appendString(annotation, annotationText,
			events.Readable(strings.Join(f.Values, "; "))))
	}
	return s.write(appendBytes(appendNumber(s.packetAt(0), packetSequenceFlags, stateCleared), packetTrackEvent, event))
}

// runTrack is the id of the track of the run: that of no rank.
const runTrack = 1

// A sequence writes the packets of a rank.
type sequence struct {
	w        *bufio.Writer // its errors stick
	rank     *events.Rank
	end      []byte    // what follows the timestamp of all packets
	shapes   []shape   // by terminal
	names    interning // of events
	kinds    interning // categories
	args     interning // names of annotations
	texts    interning
	regions  *events.Regions
	position []byte // annotation of all calls, but for its value
	packet   []byte
	scratch  []byte
}

// A shape is what the events of a terminal have in common.
type shape struct {
	begin []byte // all but the position
	end   []byte
}

func writeRank(w *bufio.Writer, r *events.Rank) error {
	s := &sequence{
		w: w, rank: r, shapes: make([]shape, r.Terminals()),
		names: interning{field: internedEventName},
		kinds: interning{field: internedCategory},
		args:  interning{field: internedAnnotationName},
		texts: interning{field: internedText},
		end:   appendNumber(nil, packetSequence, uint64(r.Number)+1),

		regions: r.Regions(),
	}
	s.describe()
	s.end = appendNumber(s.end, packetSequenceFlags, stateNeeded)
	s.position = appendNumber(nil, annotationName, s.args.id("position"))
	s.position = protowire.AppendTag(s.position, annotationUint, protowire.VarintType)
	waiting, last := make(map[int32]*begins), make(map[int32]int64) // by thread
	for call, err := range r.All() {
		if err != nil {
			return err
		}
		if s.shapes[call.Terminal].begin == nil {
			s.shapes[call.Terminal] = s.shape(call.Terminal, call.Thread)
		}
		b := waiting[call.Thread]
		if b == nil {
			b = &begins{}
			waiting[call.Thread] = b
		}
		b.add(call, s.begin)
		if err := s.ends(call); err != nil {
			return err
		}
		if s.regions != nil {
			s.regions.Call(call, s.region)
			last[call.Thread] = call.End
		}
	}
	for thread := range r.Threads() {
		s.regions.End(thread, last[thread], s.region)
		if b := waiting[thread]; b != nil {
			b.flush(0, len(b.kept), s.begin)
		}
	}
	return nil
}

// begin writes the packet in which a call begins.
func (s *sequence) begin(call events.Event) {
	shape := s.shapes[call.Terminal].begin
	annotation := len(s.position) + protowire.SizeVarint(call.Position)
	event := len(shape) + protowire.SizeTag(eventAnnotation) + protowire.SizeBytes(annotation)
	b := s.packetAt(call.Start)
	b = protowire.AppendTag(b, packetTrackEvent, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(event))
	b = append(b, shape...)
	b = protowire.AppendTag(b, eventAnnotation, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(annotation))
	b = append(b, s.position...)
	s.write(protowire.AppendVarint(b, call.Position))
}

// ends writes the packet in which a call ends, with the messages of the call, for the
// packet in which it begins may be kept back.
func (s *sequence) ends(call events.Event) error {
	sent, received := s.rank.Messages(call)
	collectives := s.rank.Collectives()
	shape := s.shapes[call.Terminal].end
	flow := protowire.SizeTag(eventFlow) + protowire.SizeFixed64()
	b := protowire.AppendTag(s.packetAt(call.End), packetTrackEvent, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(shape)+(len(sent)+len(received)+len(collectives))*flow))
	b = append(b, shape...)
	for _, numbers := range [][]uint64{sent, received, collectives} {
		for _, n := range numbers {
			b = protowire.AppendFixed64(protowire.AppendTag(b, eventFlow, protowire.Fixed64Type), n)
		}
	}
	return s.write(b)
}

// packetAt begins a packet with a time.
func (s *sequence) packetAt(ns int64) []byte {
	return append(appendNumber(s.packet[:0], packetTimestamp, uint64(ns)), s.end...)
}

// write writes a packet.
func (s *sequence) write(packet []byte) error {
	s.packet = packet
	s.scratch = protowire.AppendTag(s.scratch[:0], tracePacket, protowire.BytesType)
	s.scratch = protowire.AppendVarint(s.scratch, uint64(len(packet)))
	s.w.Write(s.scratch)
	_, err := s.w.Write(packet)
	return err
}

// track returns the id of the track of a rank or, from thread 0 on, of one of its
// threads.
func track(rank int, thread int64) uint64 { return uint64(rank+1)<<33 | uint64(thread+1)&(1<<33-1) }

// describe writes the tracks of the rank and its threads.
func (s *sequence) describe() {
	process := appendNumber(nil, processPID, uint64(s.rank.Number))
	process = appendString(process, processName, "rank "+strconv.Itoa(s.rank.Number))
	process = appendString(process, processLabel, "times: "+s.rank.TimesLabel())
	d := appendNumber(nil, descriptorUUID, track(s.rank.Number, -1))
	d = appendBytes(d, descriptorProcess, process)
	d = appendNumber(d, descriptorOrdering, orderExplicit)

	defaults := appendNumber(nil, trackEventDefaultTrack, track(s.rank.Number, 0))
	packet := append([]byte(nil), s.end...)
	packet = appendNumber(packet, packetSequenceFlags, stateCleared)
	packet = appendBytes(packet, packetDefaults, appendBytes(nil, defaultsTrackEvent, defaults))
	s.write(appendBytes(packet, packetTrackDescriptor, d))

	for thread := range s.rank.Threads() {
		d := appendNumber(nil, descriptorUUID, track(s.rank.Number, int64(uint32(thread))))
		d = appendNumber(d, descriptorParent, track(s.rank.Number, -1))
		d = appendString(d, descriptorName, "thread "+strconv.Itoa(int(thread)))
		d = appendNumber(d, descriptorOrder, uint64(thread))
		s.write(appendBytes(append([]byte(nil), s.end...), packetTrackDescriptor, d))
		if s.regions == nil {
			continue
		}
		d = appendNumber(nil, descriptorUUID, regionsTrack(s.rank.Number, thread))
		d = appendNumber(d, descriptorParent, track(s.rank.Number, -1))
		d = appendString(d, descriptorName, "regions of thread "+strconv.Itoa(int(thread)))
		d = appendNumber(d, descriptorOrder, uint64(thread))
		s.write(appendBytes(append([]byte(nil), s.end...), packetTrackDescriptor, d))
	}
}

// regionsTrack returns the id of the track of the regions of a thread.
func regionsTrack(rank int, thread int32) uint64 { return track(rank, 1<<32+int64(uint32(thread))) }

// region writes where a region begins or ends.
func (s *sequence) region(x events.RegionEdge) {
	event := appendNumber(nil, eventType, sliceEnd)
	if x.Begins {
		event = appendString(appendNumber(nil, eventType, sliceBegin), eventNameText, events.Readable(x.Name))
	}
	event = appendNumber(event, eventTrack, regionsTrack(s.rank.Number, x.Thread))
	s.write(appendBytes(s.packetAt(x.At), packetTrackEvent, event))
}

// shape returns what the events of a terminal have in common, and writes what they
// refer to.
func (s *sequence) shape(terminal uint32, thread int32) shape {
	var b shape
	b.begin = appendNumber(nil, eventType, sliceBegin)
	b.end = appendNumber(nil, eventType, sliceEnd)
	b.begin = appendNumber(b.begin, eventCategory, s.kinds.id(s.rank.Category(terminal)))
	b.begin = appendNumber(b.begin, eventName, s.names.id(s.rank.Name(terminal)))
	if thread != 0 {
		id := track(s.rank.Number, int64(uint32(thread)))
		b.begin = appendNumber(b.begin, eventTrack, id)
		b.end = appendNumber(b.end, eventTrack, id)
	}
	for _, a := range s.rank.Args(terminal) {
		n := appendNumber(nil, annotationName, s.args.id(a.Name))
		switch a.Kind {
		case cst.KindInt:
			n = appendNumber(n, annotationInt, uint64(a.Number))
		case cst.KindFloat:
			n = protowire.AppendFixed64(protowire.AppendTag(n, annotationDouble, protowire.Fixed64Type),
				math.Float64bits(a.Float))
		default:
			n = appendNumber(n, annotationString, s.texts.id(a.Text))
		}
		b.begin = appendBytes(b.begin, eventAnnotation, n)
	}
	data := slices.Concat(s.kinds.take(), s.names.take(), s.args.take(), s.texts.take())
	if len(data) > 0 {
		s.write(appendBytes(append(s.packet[:0], s.end...), packetInternedData, data))
	}
	return b
}

// An interning numbers texts.
type interning struct {
	field protowire.Number // of the entries
	ids   map[string]uint64
	added []byte // entries that were not taken
}

// id returns the number of a text.
func (n *interning) id(text string) uint64 {
	if id, ok := n.ids[text]; ok {
		return id
	}
	if n.ids == nil {
		n.ids = make(map[string]uint64)
	}
	id := uint64(len(n.ids)) + 1
	n.ids[text] = id
	n.added = appendBytes(n.added, n.field, appendString(appendNumber(nil, internedID, id), internedName, text))
	return id
}

// take returns the entries that were not taken before.
func (n *interning) take() []byte {
	added := n.added
	n.added = nil
	return added
}

// begins keeps back where calls of a thread begin, as long as a later call may contain
// them and begin at the same time: of two packets of one time a reader takes the first in
// the file first, which must be that of the outer call. Other packets may come in any
// order. The zero begins is empty.
type begins struct {
	kept []events.Event // by their beginnings and, where these are equal, outermost first
}

// maxKept is how many calls are kept back, at 40 bytes each. Of a call that contains more,
// and begins when the first of them does, the trace processor exchanges name and arguments
// with those of that one.
const maxKept = 1024

// add takes the next call to return, and calls write with those that no later call can
// begin with.
func (b *begins) add(e events.Event, write func(events.Event)) {
	if e.Start == e.End { // nothing is in it, and what contains it begins before
		write(e)
		return
	}
	n := len(b.kept)
	for n > 0 && b.kept[n-1].Start > e.Start { // e contains them
		n--
	}
	b.flush(n, len(b.kept), write)
	if n == maxKept {
		b.flush(0, maxKept/2, write)
	}
	at := len(b.kept)
	for at > 0 && b.kept[at-1].Start == e.Start {
		at--
	}
	b.kept = slices.Insert(b.kept, at, e)
}

// flush calls write with some of those that were kept, and forgets them.
func (b *begins) flush(from, to int, write func(events.Event)) {
	for _, e := range b.kept[from:to] {
		write(e)
	}
	b.kept = slices.Delete(b.kept, from, to)
}
