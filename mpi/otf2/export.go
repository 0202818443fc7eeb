package otf2

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/trace"
)

// ErrNotImported means that a trace was not made of an archive.
var ErrNotImported = errors.New("otf2: the trace was not made of an archive of OTF2")

// ErrNotExact means that a trace was made of an archive, but its times are not exact, or ranks are missing, so that the
// archive cannot be written again.
var ErrNotExact = errors.New(
	"otf2: the trace does not have all of the archive: times within an error, or ranks left out")

// IsWhole returns nil if a trace was made of an archive by [Import] and has all of it, so that [Export] can write it.
// The error wraps [ErrNotExact] if the trace lacks something, and [ErrNotImported] if it was not made of an archive.
func IsWhole(tr *trace.Trace) error {
	need.That(tr != nil, "otf2: no trace")
	_, ok, err := tr.Kept(keptName)
	if err != nil {
		return err
	}
	if !ok {
		return ErrNotImported
	}
	series, codecs, err := tr.SeriesRanks()
	if err != nil {
		return err
	}
	if series.Len() < tr.Content().Recorded.Len() || len(codecs) > 1 {
		return ErrNotExact
	}
	if len(codecs) == 1 {
		_, ok, err = tr.Kept(keptExact)
		if err == nil && !ok {
			err = ErrNotExact
		}
	}
	return err
}

// Export writes the archive again that a trace was made of, to a directory, as [NewWriter] does: all records are what
// they were, but for the number that tells archives apart. It returns how many. It holds one rank at a time.
func Export(ctx context.Context, tr *trace.Trace, directory string, o Options) (records uint64, err error) {
	w, err := NewWriter(ctx, directory, o)
	if err != nil {
		return 0, err
	}
	err = each(ctx, tr, func(r *Record) error {
		records++
		return w.Write(r)
	})
	if err != nil {
		w.abort()
		return 0, err
	}
	return records, w.Close()
}

// A Difference is the first record of an archive that is not as a trace has it.
type Difference struct {
	Record  uint64 `json:"position"`       // from 0 on
	Archive string `json:"archive_record"` // empty if it has no more
	Trace   string `json:"trace_record"`   // the same
}

func (d *Difference) Error() string {
	return fmt.Sprintf("otf2: record %d is %s in the archive, and %s in the trace", d.Record, orNothing(d.Archive),
		orNothing(d.Trace))
}

func orNothing(text string) string {
	if text == "" {
		return "missing"
	}
	return text
}

// errDiffers ends a comparison.
var errDiffers = errors.New("otf2: a difference")

// Compare compares an archive with a trace that was made of it, and returns how many records are equal. The error is a
// [*Difference] if not all are.
func Compare(ctx context.Context, tr *trace.Trace, path string, o Options) (records uint64, err error) {
	in, err := Open(ctx, path, o)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	var d *Difference
	err = each(ctx, tr, func(have *Record) error {
		want, err := in.Read()
		switch {
		case err == io.EOF:
			d = &Difference{Record: records, Trace: have.String()}
		case err != nil:
			return err
		case !have.equal(want):
			d = &Difference{Record: records, Archive: want.String(), Trace: have.String()}
		}
		if d != nil {
			return errDiffers
		}
		records++
		return nil
	})
	if d != nil {
		return records, d
	}
	if err != nil {
		return records, err
	}
	switch more, err := in.Read(); {
	case err == nil:
		return records, &Difference{Record: records, Archive: more.String()}
	case err != io.EOF:
		return records, err
	}
	return records, nil
}

func (r *Record) equal(o *Record) bool {
	return r.Kind == o.Kind && r.Location == o.Location && (r.Time == o.Time || r.Kind.Class != Event) &&
		slices.Equal(r.Values, o.Values) && slices.Equal(r.Texts, o.Texts) && slices.Equal(r.Attributes, o.Attributes)
}

// String returns the name, the location and the time of a record, its values and its attributes.
func (r *Record) String() string {
	need.That(r != nil && r.Kind != nil, "otf2: no record")
	text := r.Kind.Name
	if r.Kind.Class == Event {
		text += fmt.Sprintf(" at location %d, time %d,", r.Location, r.Time)
	}
	for i, f := range r.Kind.Fields {
		if i < len(r.Values) {
			text += fmt.Sprintf(" %s=%d", f.Name, r.Values[i])
		}
	}
	if n := len(r.Kind.Fields); len(r.Values) > n {
		text += fmt.Sprintf(" %d", r.Values[n:])
	}
	for _, t := range r.Texts {
		text += fmt.Sprintf(" %q", t)
	}
	if len(r.Attributes) > 0 {
		text += fmt.Sprintf(" attributes %d", r.Attributes)
	}
	return text
}

// each hands all records of the archive that a trace was made of to take.
func each(ctx context.Context, tr *trace.Trace, take func(*Record) error) error {
	need.That(tr != nil, "otf2: no trace")
	if err := IsWhole(tr); err != nil {
		return err
	}
	data, _, err := tr.Kept(keptName)
	if err != nil {
		return err
	}
	a, err := parseKept(data, take)
	if err != nil {
		return err
	}
	done := make(map[int]uint64) // calls of threads of a rank that are done
	var rank *trace.Rank
	for i := range a.locations {
		l := &a.locations[i]
		kept, ok, err := tr.Kept(keyOf(i))
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		e := emitter{archive: a, l: l, take: take, calls: make(map[uint32]*emitted)}
		if err := e.parse(kept); err != nil {
			return err
		}
		if e.len > 0 && (rank == nil || rank.Number() != l.rank) {
			if rank, err = tr.Rank(l.rank); err != nil {
				return err
			}
		}
		if err := e.location(ctx, rank, done[l.rank]); err != nil {
			return err
		}
		done[l.rank] += e.len
	}
	return wholeCalls(tr, done)
}

// wholeCalls returns an error unless locations have all calls of a trace.
func wholeCalls(tr *trace.Trace, done map[int]uint64) error {
	var all, found uint64
	for number := range tr.Shapes() {
		s, err := tr.Shape(number)
		if err != nil {
			return err
		}
		all += s.Grammar.Len() * uint64(s.Ranks.Len())
	}
	for _, n := range done {
		found += n
	}
	if found != all {
		return ErrNotExact // what is kept of some locations is lost
	}
	return nil
}

// An emitter makes events of the calls of a location.
type emitter struct {
	*archive
	l     *location
	take  func(*Record) error
	len   uint64            // calls
	first map[string]uint64 // regions, by name
	ids   hiddenReader
	rest  hiddenReader
	times map[string][]hiddenReader // of events in calls, by the identity of forms

	calls  map[uint32]*emitted // by terminal
	active map[int64]uint64    // requests
	last   uint64              // request
	record Record
}

// An emitted is what calls of a terminal become.
type emitted struct {
	events []Record // with the numbers of requests that they have in arguments
	region uint64
	role   *Kind // of Enter and Leave; nil for calls of regions, and metric for other events
	times  []hiddenReader

	enter, leave []Attribute
}

// parse reads what is kept of the location.
func (e *emitter) parse(kept []byte) error {
	d := wire.NewDecoder("otf2", kept)
	e.len = d.Uvarint("calls")
	e.first, e.times = make(map[string]uint64), make(map[string][]hiddenReader)
	for n := d.Count("regions", 2); n > 0 && d.Err() == nil; n-- {
		name := string(d.String("region"))
		e.first[name] = d.Uvarint("number of a region")
	}
	e.ids, e.rest = readHidden(&d), readHidden(&d)
	for n := d.Count("forms", 2); n > 0 && d.Err() == nil; n-- {
		identity := string(d.String("form"))
		var times []hiddenReader
		for k := d.Count("columns of times", 1); k > 0 && d.Err() == nil; k-- {
			times = append(times, readHidden(&d))
		}
		e.times[identity] = times
	}
	d.End("location")
	if d.Err() != nil {
		return fmt.Errorf("otf2: what is kept of location %d: %w", e.l.number, d.Err())
	}
	return nil
}

func readHidden(d *wire.Decoder) (h hiddenReader) {
	for n := d.Count("blocks", 1); n > 0 && d.Err() == nil; n-- {
		h.blocks = append(h.blocks, d.Bytes("block", d.Count("bytes of a block", 1)))
	}
	return h
}

// location hands the events of the location, whose calls are those of a rank from the n-th on.
func (e *emitter) location(ctx context.Context, r *trace.Rank, n uint64) error {
	e.record.Location = e.l.number
	left := e.len
	if left > 0 {
		for c, err := range r.InSeries(n) {
			if err == nil && left%(1<<14) == 0 {
				err = ctx.Err()
			}
			if err == nil {
				err = e.call(r, c)
			}
			if err != nil {
				return err
			}
			if left--; left == 0 {
				break
			}
		}
	}
	if left > 0 {
		return fmt.Errorf("otf2: %w: location %d lacks %d calls", format.ErrCorrupt, e.l.number, left)
	}
	return nil
}

// call hands the events of a call.
func (e *emitter) call(r *trace.Rank, c trace.TimedCall) error {
	of := e.calls[c.Terminal]
	if of == nil {
		call := r.Call(c.Terminal)
		var ok bool
		if of, ok = e.emitted(&call); !ok {
			return fmt.Errorf("otf2: %w: %s is not a call of an archive", format.ErrCorrupt, call.String())
		}
		e.calls[c.Terminal] = of
	}
	if of.role == enterKind || of.role == leaveKind {
		return e.bracket(of.role, c.Start, of.region, of.enter)
	}
	if of.role != nil {
		return e.event(&of.events[0], c.Start)
	}
	if err := e.bracket(enterKind, c.Start, of.region, of.enter); err != nil {
		return err
	}
	at := c.Start
	for i := range of.events {
		at += of.times[i].next()
		if err := cmp.Or(of.times[i].err, e.event(&of.events[i], at)); err != nil {
			return err
		}
	}
	return e.bracket(leaveKind, c.Start+c.Duration, of.region, of.leave)
}

// stamp sets the time of the record.
func (e *emitter) stamp(at int64) error {
	rest := int64(0)
	if e.clock.hasRest() {
		rest = e.rest.next()
	}
	e.record.Time = e.clock.ticks(at, uint64(rest))
	return e.rest.err
}

func (e *emitter) bracket(kind *Kind, at int64, region uint64, attributes []Attribute) error {
	e.record.Kind, e.record.Attributes = kind, attributes
	e.record.Values = append(e.record.Values[:0], region)
	return cmp.Or(e.stamp(at), e.take(&e.record))
}

func (e *emitter) event(r *Record, at int64) error {
	e.record.Kind, e.record.Attributes = r.Kind, r.Attributes
	e.record.Values = append(e.record.Values[:0], r.Values...)
	if k := r.Kind; k.request > 0 {
		id, err := e.request(k.starts, int64(r.Values[k.request-1]))
		if err != nil {
			return err
		}
		e.record.Values[k.request-1] = id
	}
	return cmp.Or(e.stamp(at), e.take(&e.record))
}

// request is the inverse of requestNumbers.number.
func (e *emitter) request(starts bool, n int64) (uint64, error) {
	if !starts && n != notActive {
		return e.active[n], nil
	}
	e.last += uint64(e.ids.next())
	if starts {
		if e.active == nil {
			e.active = make(map[int64]uint64)
		}
		e.active[n] = e.last
	}
	return e.last, e.ids.err
}

// emitted returns what a call becomes.
func (e *emitter) emitted(c *trace.Call) (*emitted, bool) {
	in, ok := parseCall(e.archive, c)
	if !ok {
		return nil, false
	}
	of := &emitted{role: in.role, events: in.events}
	if in.role == nil || isBracket(in.role) {
		if in.hasID {
			of.region = in.id
		} else if of.region, ok = e.first[in.region]; !ok {
			return nil, false
		}
	}
	of.enter, of.leave = in.enter, in.leave
	if in.role == nil {
		of.times = e.times[in.form.identity()]
		if len(of.times) != len(of.events) {
			return nil, false
		}
	}
	return of, true
}

// A parsedCall is what a call tells.
type parsedCall struct {
	form         *form
	role         *Kind  // Enter or Leave, nil for a call of a region, and else the kind of the event
	region       string // its name
	id           uint64
	hasID        bool
	events       []Record // between Enter and Leave, or the event
	enter, leave []Attribute
}

// parseCall returns what a call of a trace of an archive tells, and whether it is such a call.
func parseCall(a *archive, c *trace.Call) (in parsedCall, ok bool) {
	name, args := c.Function.Name, c.Args
	params := c.Function.Params
	thread := len(params) > 0 && params[0].Name == trace.ThreadParam
	if thread {
		args, params = args[1:], params[1:]
	}
	in.region = name
	if k := LookupKind(name); k != nil && k.Class == Event {
		in.role = k
	}
	named := in.role != nil && isBracket(in.role)
	if named {
		if len(params) == 0 || params[0].Name != regionParam || args[0].Kind() != cst.KindString {
			return in, false
		}
		in.region, args, params = args[0].Text(), args[1:], params[1:]
	}
	if in.hasID = len(params) > 0 && params[0].Name == idParam; in.hasID {
		if args[0].Kind() != cst.KindInt {
			return in, false
		}
		in.id, args, params = uint64(args[0].Int()), args[1:], params[1:]
	}
	var items []item
	switch n := len(params) - 1; {
	case n >= 0 && params[n].Name == eventsParam && args[n].Kind() == cst.KindString:
		if items, ok = parseItems(args[n].Text()); !ok {
			return in, false
		}
		args = args[:n]
	case in.role != nil && !named:
		items = []item{{kind: in.role, count: 1}}
	}
	in.form = newForm(a, name, items, thread, named, in.hasID)
	events, ok := in.form.parseArguments(nil, args)
	if !ok {
		return in, false
	}
	if in.role == nil || named {
		if len(events) > 0 && events[0].Kind == enterKind {
			in.enter, events = events[0].Attributes, events[1:]
		}
		if n := len(events) - 1; n >= 0 && events[n].Kind == leaveKind {
			if in.leave, events = events[n].Attributes, events[:n]; in.role == leaveKind {
				in.enter = in.leave
			}
		}
	} else if len(events) != 1 {
		return in, false
	}
	in.events = events
	return in, true
}
