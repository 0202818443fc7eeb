package collect

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
)

// A spoolWriter writes a segment as the interposer would.
type spoolWriter struct {
	id       spool.Process
	lane     uint32
	sequence uint32
	data     []byte
}

// Types and flags of records, as the documentation of mpi has them.
const (
	recordBegin    = 1
	recordEnd      = 2
	recordAllocate = 3
	recordRelease  = 4
	recordResize   = 5
	recordConstant = 7
	recordRegion   = 8
	recordSized    = 13
	flagFailed     = 1
	flagHidden     = 2
	flagOutermost  = 4
)

// Offsets in the header of a segment.
const (
	offsetInvariant = 36
	offsetTicks     = 40 // two, and two times of the clock
	offsetJob       = 80
	offsetMachine   = 88
	offsetLength    = 96
	offsetCheck     = 104
	offsetRank      = 112
	offsetSize      = 120
	offsetState     = 128
	offsetLost      = 136
	offsetThreads   = 144
	offsetWritten   = 152
)

func newSpoolWriter(rank int32, lane uint32) *spoolWriter {
	w := &spoolWriter{id: spool.Process{PID: 100 + uint32(rank), Loaded: 1e18}, lane: lane}
	w.header(rank)
	w.constants()
	return w
}

func (w *spoolWriter) header(rank int32) {
	w.data = make([]byte, headerSize)
	order := binary.LittleEndian
	copy(w.data, "reprisp\x03")
	order.PutUint64(w.data[8:], spool.Fingerprint())
	order.PutUint64(w.data[16:], w.id.Loaded)
	order.PutUint32(w.data[24:], w.id.PID)
	order.PutUint32(w.data[28:], w.lane)
	order.PutUint32(w.data[32:], w.sequence)
	for _, at := range []int{offsetSize, offsetState, offsetLost, offsetThreads} {
		w.set(at, 0)
	}
	w.set(offsetRank, uint32(rank))
	order.PutUint64(w.data[offsetWritten:], headerSize)
	w.check()
}

// ticks sets two readings of the counter, which is invariant, and of the clock.
func (w *spoolWriter) ticks(first, second, clock, later uint64) {
	binary.LittleEndian.PutUint32(w.data[offsetInvariant:], 1)
	for i, v := range []uint64{first, second, clock, later} {
		binary.LittleEndian.PutUint64(w.data[offsetTicks+8*i:], v)
	}
	w.check()
}

// set sets what changes in a header, which says it twice.
func (w *spoolWriter) set(offset int, value uint32) {
	binary.LittleEndian.PutUint64(w.data[offset:], uint64(value)|uint64(^value)<<32)
}

// check sets the check of what does not change in the header.
func (w *spoolWriter) check() {
	check := uint64(0)
	for at := 8; at < offsetCheck; at += 8 {
		check = addWord(check, binary.LittleEndian.Uint64(w.data[at:]))
	}
	binary.LittleEndian.PutUint64(w.data[offsetCheck:], check*mixer)
}

const mixer = 0x9e3779b97f4a7c15

func addWord(check, word uint64) uint64 { return check<<13 ^ check>>51 ^ word }

// seal sets the checks of records that stand in a segment from some offset on, as far as there are any.
func seal(records []byte, offset int) {
	order := binary.LittleEndian
	for len(records) >= 8 {
		first := order.Uint64(records) & (1<<46 - 1)
		size := 8 * int(first&(1<<27-1))
		if size == 0 || size > len(records) {
			return
		}
		check := first
		for at := 16; at < size; at += 8 {
			check = addWord(check, order.Uint64(records[at:]))
		}
		if size >= 16 {
			check = addWord(check, order.Uint64(records[8:]))
		}
		check = addWord(check, uint64(offset))
		order.PutUint64(records, first|check*mixer>>46<<46)
		records, offset = records[size:], offset+size
	}
}

func (w *spoolWriter) function(name string) int {
	n, ok := spec.Lookup(name)
	if !ok {
		panic(name)
	}
	return n
}

// words appends a record.
func (w *spoolWriter) words(kind, number int, flags uint64, words ...uint64) {
	at := len(w.data)
	w.data = binary.LittleEndian.AppendUint64(w.data, uint64(1+len(words))|uint64(number)<<27|uint64(
		kind)<<38|flags<<42)
	for _, x := range words {
		w.data = binary.LittleEndian.AppendUint64(w.data, x)
	}
	seal(w.data[at:], at)
}

// constants tells of all constants: the value of one is its number, and that of a
// rank or a tag its number less 1000.
func (w *spoolWriter) constants() {
	for i, c := range spec.Constants() {
		w.words(recordConstant, i, 0, uint64(constantValue(c.Name)))
	}
}

func constantValue(name string) int64 {
	for i, c := range spec.Constants() {
		if c.Name == name {
			if c.Class == "rank" || c.Class == "tag" {
				return int64(i) - 1000
			}
			return int64(i)
		}
	}
	panic(name)
}

// Values of arguments other than a single int64.
type (
	nothing struct{}
	ignored struct{} // such as MPI_STATUSES_IGNORE
	unused  struct{} // which does not count
	words   []int64
	changes struct{ before, after any }
	outcome struct{ source, tag int64 }
	members struct{ rank, size int } // of the communicator that the call makes; comes last
	lines   []string
	lists   [][]string

	results []outcome
)

// begin begins a call, with a value for each parameter. One that is an output only is
// not looked at.
func (w *spoolWriter) begin(at int64, flags uint64, name string, values ...any) {
	n := w.function(name)
	record := []uint64{uint64(at)}
	params := spec.Functions()[n].Params
	for i := range params {
		if params[i].Before() {
			record = appendArgument(record, &params[i], before(values[i]))
		}
	}
	w.words(recordBegin, n, flags, record...)
}

// end ends a call, which did not fail.
func (w *spoolWriter) end(at int64, flags uint64, name string, values ...any) {
	n := w.function(name)
	record := []uint64{uint64(at), 0}
	params := spec.Functions()[n].Params
	if g, ok := values[max(len(values)-1, 0)].(members); ok {
		record = append(record, uint64(g.rank), uint64(g.size))
		values = values[:len(values)-1]
	}
	for i := range values {
		if params[i].After() {
			record = appendArgument(record, &params[i], after(values[i]))
		}
	}
	w.words(recordEnd, n, flags, record...)
}

func (w *spoolWriter) call(at int64, name string, values ...any) {
	w.begin(at, flagOutermost, name, values...)
	w.end(at+10, flagOutermost, name, values...)
}

func before(v any) any {
	if c, ok := v.(changes); ok {
		return c.before
	}
	return v
}

func after(v any) any {
	if c, ok := v.(changes); ok {
		return c.after
	}
	return v
}

func appendArgument(record []uint64, p *spec.Param, v any) []uint64 {
	switch v := v.(type) {
	case nothing:
		return append(record, ^uint64(0))
	case ignored:
		return append(record, ^uint64(1))
	case unused:
		return append(record, ^uint64(2))
	case words:
		record = append(record, uint64(len(v)))
		for _, x := range v {
			record = append(record, uint64(x))
		}
		return record
	case outcome:
		return append(record, 1, uint64(v.source), uint64(v.tag), 0)
	case results:
		record = append(record, uint64(len(v)))
		for _, o := range v {
			record = append(record, uint64(o.source), uint64(o.tag), 0)
		}
		return record
	case string:
		return appendText(record, v)
	case lines:
		record = append(record, uint64(len(v)))
		for _, s := range v {
			record = appendText(record, s)
		}
		return record
	case lists:
		at := len(record)
		record = append(record, 0)
		for _, list := range v {
			for _, s := range list {
				record = appendText(record, s)
			}
			record = append(record, ^uint64(0))
			record[at] += uint64(len(list) + 1)
		}
		return record
	}
	if p.Counted() {
		record = append(record, 1)
	}
	return append(record, uint64(v.(int)))
}

func appendText(record []uint64, s string) []uint64 {
	record = append(record, uint64(len(s)))
	for s := []byte(s); len(s) > 0; s = s[min(8, len(s)):] {
		var word [8]byte
		copy(word[:], s)
		record = append(record, binary.LittleEndian.Uint64(word[:]))
	}
	return record
}

// result is a call of a function that returns something other than an error code.
func (w *spoolWriter) result(at int64, name string, result uint64, values ...any) {
	w.begin(at, flagOutermost, name, values...)
	w.words(recordEnd, w.function(name), flagOutermost, uint64(at+10), result)
}

// failed is a call that failed and has left its arguments as they were.
func (w *spoolWriter) failed(at int64, class int, name string, values ...any) {
	w.begin(at, flagOutermost, name, values...)
	n := w.function(name)
	record := []uint64{uint64(at + 10), uint64(1000+class) | uint64(class)<<32}
	for i, p := range spec.Functions()[n].Params {
		if p.After() && p.Direction == cst.InOut {
			record = appendArgument(record, &p, before(values[i]))
		}
	}
	w.words(recordEnd, n, flagOutermost|flagFailed, record...)
}

func (w *spoolWriter) allocate(at int64, address, size uint64) {
	w.words(recordAllocate, 0, 0, uint64(at), address, size)
}

func (w *spoolWriter) release(at int64, address uint64) {
	w.words(recordRelease, 0, 0, uint64(at), address)
}

// write writes the segment to a spool directory.
func (w *spoolWriter) write(t testing.TB, directory string) {
	t.Helper()
	binary.LittleEndian.PutUint64(w.data[offsetLength:], uint64(len(w.data)+64))
	binary.LittleEndian.PutUint64(w.data[offsetWritten:], uint64(len(w.data)))
	w.check()
	path := spool.Thread{Process: w.id, Thread: w.lane}.Segment(directory, w.sequence)
	if err := os.WriteFile(path, append(w.data, make([]byte, 64)...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// partOf collects the only rank of a spool.
func partOf(t testing.TB, directory string) merge.Part {
	t.Helper()
	c, err := New(directory, Options{Untimed: true, Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	processes := c.ranked()
	if len(processes) != 1 {
		t.Fatalf("%d processes", len(processes))
	}
	if err := processes[0].problems(); err != nil {
		t.Fatal(err)
	}
	part, err := processes[0].part(0, true)
	if err != nil {
		t.Fatal(err)
	}
	return part
}

// list returns the calls of the only rank of a spool, as text, those of all threads in the
// order in which they returned. They are as recorded.
func list(t testing.TB, directory string) []string {
	t.Helper()
	part := partOf(t, directory)
	if _, err := Compare(t.Context(), directory, func(int) Calls { return callsOf(part, nil) }); err != nil {
		t.Error(err)
	}
	byThread := make(map[int64][]string)
	for f, args := range callsOf(part, nil) {
		c := tracedCall{function: f, args: args}
		thread := int64(0)
		if len(args) > 0 && f.Params[0].Name == "thread" {
			thread = args[0].Int()
		}
		byThread[thread] = append(byThread[thread], c.text())
	}
	var calls []string
	for _, thread := range threadsOf(t, directory) {
		if len(byThread[thread]) == 0 {
			continue // of what it made while recording was off, not all is in the trace: Compare says what must be
		}
		calls = append(calls, byThread[thread][0])
		byThread[thread] = byThread[thread][1:]
	}
	for thread, rest := range byThread {
		if len(rest) > 0 {
			t.Fatalf("thread %d made fewer calls than the trace has: %q", thread, rest)
		}
	}
	return calls
}

// threadsOf returns the numbers of the threads that made the calls of the only process of a
// spool, in the order in which the calls returned.
func threadsOf(t testing.TB, directory string) []int64 {
	t.Helper()
	found, err := spool.List(directory)
	if err != nil || len(found) == 0 {
		t.Fatal(len(found), err)
	}
	s := source{id: found[0].Process}
	for _, f := range found {
		s.add(directory, f, &Options{Keep: true})
	}
	var order []int64
	numbers := make(map[uint32]int64)
	for more := true; more; {
		more = s.consume(true, now(), func(t *thread, r *spool.Record) {
			if r.Type != spool.Call || !inTrace(r) {
				return
			}
			if _, known := numbers[t.lane]; !known {
				numbers[t.lane] = int64(len(numbers))
			}
			order = append(order, numbers[t.lane])
		})
	}
	return order
}

// callsOf returns the calls of a part, each as it is after change, if that is given.
func callsOf(part merge.Part, change func(n int, f *cst.Function, args []cst.Value)) Calls {
	return func(yield func(*cst.Function, []cst.Value) bool) {
		n := 0
		for fn, args := range unchanged(part) {
			f := *fn
			if change != nil {
				f.Params = slices.Clone(f.Params)
				change(n, &f, args)
			}
			if n++; !yield(&f, args) {
				return
			}
		}
	}
}

// unchanged returns the calls of a part, by a trace of it if arguments advance.
func unchanged(part merge.Part) Calls {
	functions := part.Table.Functions()
	advance := func(f cst.Function) bool { return layout.StreamRoleOf(&f) != layout.NoStream }
	if !slices.ContainsFunc(functions, advance) {
		return func(yield func(*cst.Function, []cst.Value) bool) {
			for _, terminal := range part.Grammar.All() {
				if fn, args := part.Table.Signature(terminal); !yield(&functions[fn], args) {
					return
				}
			}
		}
	}
	var file bytes.Buffer
	if err := merge.Write(&file, merge.Run{Ranks: part.Rank + 1}, []merge.Part{part}); err != nil {
		panic(err)
	}
	rank := must.Get(must.Get(trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()),
		trace.Options{})).Rank(part.Rank))
	return func(yield func(*cst.Function, []cst.Value) bool) {
		for c, err := range rank.Calls(0) {
			if err != nil {
				panic(err)
			}
			if !yield(c.Function, slices.Clone(c.Args)) {
				return
			}
		}
	}
}
