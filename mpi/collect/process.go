package collect

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/internal/requests"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/symbolic"
	"github.com/reprise-trace/reprise/tracer"
)

// A process turns the records of the threads of one process into calls.
type process struct {
	source
	rank    int
	size    int // of MPI_COMM_WORLD, 0 if it is not known
	job     uint64
	world   worldID
	place   merge.Group // in MPI_COMM_WORLD, if that is not all of the run
	timed   bool
	times   tracer.Options
	numbers int64 // threads that made calls
	spawns  []spawn
	calls   uint64
	keeps   bool // calls that look for something in vain
	polls   map[poll]uint64
	hidden  bool // recording is off
	epoch   int  // how often it was switched off
	begun   bool // MPI_Init was called
	open    int  // sessions
	ended   bool // MPI_Finalize was called, or without MPI_Init the last session ended
	fault   error
	over    bool // the process has ended, and no more is to be read

	ordering  ordering   // of the calls of threads
	functions []function // by number
	variants  int
	handles   []symbolic.Handles
	requests  requests.Requests
	raws      []uint64       // of the requests that a call looks at
	asked     [][]question   // by the number of the pool of requests, and the one within it
	created   map[uint64]int // epoch in which a request was made with a handle; nil in the first
	memory    symbolic.Memory
	windows   map[int64]allocation // memory that MPI allocated for a window, by id
	dynamic   map[int64]bool       // windows that memory is attached to, by id
	groups    map[merge.GroupHandle]merge.Group
	mixed     map[merge.GroupHandle]bool // handles of several groups in the run

	acting  *thread         // whose record is being taken
	ofMPI   bool            // what becomes of memory is told by the call
	peeking bool            // what is recorded goes into a snapshot only
	changes []segmentChange // by threads that made no calls

	ranks, tags []numeral
	places      []numeral              // addresses that are constants
	assumptions []string               // of the program, if it was sliced
	noRequest   uint64                 // the null request
	numerals    []format.Name          // numbers that have a name
	errors      []format.Name          // classes of errors that have one
	truncate    int64                  // the class of the error that there was no room for all of a message
	classes     map[int64]int64        // of errors, by code
	called      map[int64][]sourceSite // sites with their callers, by id

	// Scratch of a call.
	values   []cst.Value // by parameter
	after    []cst.Value // by parameter, if the values from before and after differ
	presence []state     // by parameter
	args     []cst.Value
	elements []cst.Value
	key      []byte
}

// A question is what a request asks for.
type question struct {
	receives    bool
	source, tag int64
	lasts       bool // the request is followed even while recording is off
}

// unasked is a source or tag that nothing is equal to.
const unasked = math.MinInt64

// unseen is the question of requests that were made while recording was off.
var unseen = question{receives: true, source: unasked, tag: unasked}

func newProcess(id spool.Process, o Options) (*process, error) {
	if _, err := tracer.New(o.Times); err != nil {
		return nil, err
	}
	p := &process{
		source:    source{id: id},
		rank:      -1,
		timed:     !o.Untimed,
		keeps:     !o.DropPolls,
		times:     o.Times,
		functions: make([]function, len(plans)),
		handles:   make([]symbolic.Handles, len(classes)),
		classes:   make(map[int64]int64),
		windows:   make(map[int64]allocation),
		dynamic:   make(map[int64]bool),
		groups:    make(map[merge.GroupHandle]merge.Group),
		mixed:     make(map[merge.GroupHandle]bool),
	}
	p.handles[classOf("function")].Declare(0, noFunction)
	if o.Allocations {
		p.watch()
	}
	p.setGroup("comm", commSelf, merge.Group{Rank: 0, Size: 1})
	p.setGroup("comm", commWorld, worldGroup)
	return p, nil
}

// round takes records that there are, and reports whether there may be more. A fault
// in it must not end the program that is recorded: it ends the recording of this
// process.
func (p *process) round(ended bool, listed int64) (more bool) {
	if p.fault != nil {
		return false
	}
	defer func() {
		if fault := recover(); fault != nil {
			p.fault, more = fmt.Errorf("the collector failed: %v", fault), false
		}
	}()
	p.over = ended
	return p.consume(ended, listed, p.take)
}

// take processes one record.
func (p *process) take(t *thread, r *spool.Record) {
	p.requests.Thread, p.acting, p.ofMPI = int(t.lane), t, false
	switch r.Type {
	case spool.Began:
		p.enter(t, r)
	case spool.Call:
		p.call(t, r)
	case spool.Allocated:
		p.memory.Allocate(r.Address, r.Size, int32(r.Device))
	case spool.Released:
		p.memory.Free(r.Old)
	case spool.Unmapped:
		p.memory.Unmap(r.Old, r.Size)
	case spool.Resized:
		p.resize(t, r)
	case spool.Region:
		if r.Number <= symbolic.FirstUnknown {
			return // more threads than have numbers
		}
		p.memory.Declare(symbolic.Region{
			Address: r.Address, Size: r.Size, Segment: r.Number,
			FirstUse: r.Number == spool.Stack || r.Number <= spool.ThreadStack,
		})
	case spool.Module:
		t.sites.add(r)
	case spool.Callers:
		t.sites.addCallers(r)
	case spool.Known:
		p.declare(r.Function, r.Result)
	case spool.Sized:
		if len(t.sized) < maxSized {
			t.sized = append(t.sized, sizedObject{r.Result, int64(r.Size)})
		} else {
			t.unsized = true
		}
	case spool.Assumed:
		p.assumptions = append(p.assumptions, string(r.Path.Text()))
	}
}

// resize tells of memory that was reallocated, in two steps if there are several
// threads.
func (p *process) resize(t *thread, r *spool.Record) {
	switch {
	case r.Address == 0:
		if t.step != second {
			p.memory.Free(r.Old)
		}
	case t.step == first:
		t.moved = p.memory.Detach(r.Old)
	case t.step == second:
		p.memory.Attach(t.moved, r.Address, r.Size)
	default:
		p.memory.Attach(p.memory.Detach(r.Old), r.Address, r.Size)
	}
}

// declare takes note of the value of a constant.
func (p *process) declare(n int, raw int64) {
	c := spec.Constants()[n]
	id := c.ID
	switch c.Class {
	case "rank":
		p.ranks = append(p.ranks, numeral{raw, id})
	case "tag":
		p.tags = append(p.tags, numeral{raw, id})
	case "pointer":
		p.places = append(p.places, numeral{raw, id})
	case "int":
		p.numerals = append(p.numerals, format.Name{Kind: cst.KindInt, Value: raw, Name: c.Name})
	case "error":
		if c.Name == "MPI_ERR_TRUNCATE" {
			p.truncate = raw
		}
		p.errors = append(p.errors, format.Name{Kind: cst.KindHandle, Class: "error", Value: raw, Name: c.Name})
	case "request":
		p.requests.Declare(uint64(raw), id)
		p.noRequest = uint64(raw)
	default:
		objects := &p.handles[classOf(c.Class)]
		if _, known := objects.Lookup(uint64(raw)); !known {
			objects.Declare(uint64(raw), id)
		}
	}
}

// setGroup takes note of the group of a handle. The rank in a group is of use to the
// merge only if the handle means one group as long as the process runs.
func (p *process) setGroup(class string, id int64, g merge.Group) {
	h := merge.GroupHandle{Class: class, Value: id}
	if known, ok := p.groups[h]; ok && known != g {
		p.mixed[h] = true
	}
	p.groups[h] = g
}

// part returns what was recorded, with the call that each thread is in at a time, in nanoseconds since 1970:
// the calls of one thread after those of the other, in the order in which threads made their first, but where
// that is not the order of calls that use one thing. It ends the recording if that is said.
func (p *process) part(until int64, end bool) (part merge.Part, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("calls of rank %d are lost: the collector failed: %v", p.rank, fault)
		}
	}()
	var pending []int
	for _, t := range p.threads {
		if _, ok := p.inFlight(t, until); ok {
			p.number(t)
			pending = append(pending, int(t.number))
		}
	}
	parts := make([]merge.Part, p.numbers)
	for _, t := range p.threads {
		if t.number < 0 {
			continue
		}
		if t.number == 0 { // for all of them
			p.nameGroups(t.recorder)
		}
		if !end {
			if parts[t.number], err = p.snapshot(t, until); err != nil {
				return part, err
			}
			continue
		}
		p.addInFlight(t, until)
		parts[t.number] = t.recorder.Finish(p.rank)
	}
	return merge.Join(p.rank, p.ordering.order.Ending(pending), parts...)
}

// since1970 returns a time of the records of a thread in nanoseconds since 1970.
func (p *process) since1970(t *thread, at int64) int64 {
	return at + int64(p.id.Loaded) - t.header.Monotonic
}

// nameGroups says what the process is in the groups of its objects.
func (p *process) nameGroups(r *tracer.Recorder) {
	for h, g := range p.groups {
		if g == worldGroup {
			g = p.place
		}
		if !p.mixed[h] && g.Size > 0 {
			r.SetGroup(h.Class, h.Value, g)
		}
	}
}

// cost returns the time, in nanoseconds, that recording took in the process.
func (p *process) cost() float64 {
	calls := p.calls
	for _, n := range p.polls {
		calls += n
	}
	return float64(calls) * p.threads[0].header.Cost
}

// duration returns the time from the first to the last record.
func (p *process) duration() float64 { return float64(p.latest - p.first) }

// A RecordsError is the error of a file of raw records that cannot be read, or not to its end.
type RecordsError struct {
	Of   string // whose calls are lost: a rank, or a process where that is not known
	Path string
	Err  error
}

func (e *RecordsError) Error() string {
	return fmt.Sprintf("calls of %s are lost: %s: %v", e.Of, e.Path, e.Err)
}

func (e *RecordsError) Unwrap() error { return e.Err }

var (
	errUnwritten = errors.New("nothing was written to it")
	errUnopened  = errors.New("it was there, and cannot be opened: a link may lead nowhere")
)

// problems returns what was lost of the records.
func (p *process) problems() error {
	var problems []error
	whose := fmt.Sprintf("rank %d", p.rank)
	if p.rank < 0 {
		whose = fmt.Sprintf("process %d", p.id.PID)
	}
	if p.fault != nil {
		problems = append(problems, fmt.Errorf("calls of %s are lost: %w", whose, p.fault))
	}
	for _, t := range p.threads {
		if t.overwritten {
			problems = append(problems,
				fmt.Errorf("%s: %s was overwritten: the program writes where it has no memory; what the file said before counts, calls may be wrong", whose, t.segment(t.opened-1)))
		}
		switch {
		case p.over && t.empty():
			problems = append(problems, &RecordsError{whose, t.path, errUnwritten})
		case t.err != nil:
			problems = append(problems, &RecordsError{whose, cmp.Or(t.path, t.segment(t.opened)), t.err})
		case p.over && t.unopened():
			problems = append(problems, &RecordsError{whose, t.segment(0), errUnopened})
		case p.over && t.ended() != nil:
			problems = append(problems, &RecordsError{whose, t.path, t.ended()})
		case t.cut() && t.wasKept:
			problems = append(problems, fmt.Errorf("calls of %s are lost: %s is missing, as %s", whose,
				t.segment(t.opened), readBefore))
		case t.cut():
			problems = append(problems, fmt.Errorf("calls of %s are lost: %s is missing", whose, t.segment(t.opened)))
		case t.lost() > 0 || t.header.State == spool.Broken:
			problems = append(problems,
				fmt.Errorf("%s could not write %d or more records: is there space for the spool?", whose, t.lost()))
		}
	}
	if n := p.absent(); n > 0 {
		problems = append(problems,
			fmt.Errorf("calls of %s are lost: there is no record of %d of its threads", whose, n))
	}
	return errors.Join(problems...)
}

// absent returns the number of threads of which there is no file, though there was one or was to be one.
func (p *process) absent() int {
	n := uint32(0)
	for _, t := range p.threads {
		n = max(n, t.header.Threads)
	}
	return max(int(n)-len(p.threads), 0)
}

// empty reports whether not even the header of a segment is there.
func (t *thread) empty() bool { return t.path != "" && t.offset == 0 && t.err == nil }

// unopened reports whether there was a first segment that could not be opened.
func (t *thread) unopened() bool { return t.opened == 0 && !t.late && t.err == nil }

// cut reports whether a segment is missing.
func (t *thread) cut() bool { return t.path == "" && t.opened > 0 && t.header.State == spool.Continued }

// lost returns how many records could not be written, or read.
func (t *thread) lost() uint64 { return t.header.Lost + t.decoder.Skipped() }

// missing returns what was lost, and from when.
func (p *process) missing() (list []format.Missing) {
	add := func(t *thread, records uint64, from int64) {
		list = append(list, format.Missing{Rank: p.rank, Records: records,
			Since: time.Unix(0, p.since1970(t, from)).UTC()})
	}
	for _, t := range p.threads {
		switch {
		case t.err != nil || t.cut() || p.over && (t.empty() || t.unopened() || t.ended() != nil) ||
			t.late && t.opened == 0:
			add(t, 0, t.taken)
		case t.lost() > 0:
			add(t, t.lost(), cmp.Or(t.full, t.taken))
		}
	}
	if p.fault != nil {
		add(p.threads[0], 0, p.latest)
	}
	if p.absent() > 0 {
		add(p.threads[0], 0, p.first)
	}
	return list
}
