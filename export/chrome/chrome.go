// Package chrome writes traces as Trace Event JSON, which Perfetto, Chromium's
// about:tracing, Speedscope and many others open: the form for traces of up to some
// million calls. Package [github.com/reprise-trace/reprise/export/perfetto] writes what
// is smaller and faster to load.
//
// The file docs/exports.md says what is written.
//
// # Source
//
// The format is that of N. Duca and D. Sinclair, "Trace Event Format", Google, 2013–2016.
package chrome

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"

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
	e := &encoder{w: bufio.NewWriterSize(w, 64<<10)}
	if err := e.begin(choice); err != nil {
		return err
	}
	for rank, err := range choice.Ranks() {
		if err != nil {
			return err
		}
		if err := e.rank(rank); err != nil {
			return err
		}
	}
	e.w.WriteString("\n]}\n")
	return e.w.Flush()
}

// An encoder writes events.
type encoder struct {
	w       *bufio.Writer // its errors stick
	comma   bool
	scratch []byte
}

func (e *encoder) begin(t *events.Trace) error {
	facts, err := t.Choice().Run()
	if err != nil {
		return err
	}
	run := map[string]string{"writer": "reprise"}
	for _, f := range facts {
		run[f.Name] = events.Readable(strings.Join(f.Values, "; "))
	}
	e.w.WriteString(`{"displayTimeUnit":"ns","otherData":`)
	e.value(run)
	e.w.WriteString(`,"traceEvents":[`)
	return nil
}

// value writes a value that JSON has.
func (e *encoder) value(v any) { e.w.Write(marshal(v)) }

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings, numbers and structs of them
	}
	return b
}

// next begins an event.
func (e *encoder) next() {
	if e.comma {
		e.w.WriteByte(',')
	}
	e.comma = true
	e.w.WriteByte('\n')
}

// metadata names a process or a thread, or says in what order they come.
func (e *encoder) metadata(rank int, thread uint32, what string, args any) {
	e.next()
	e.value(struct {
		Phase string `json:"ph"`
		PID   int    `json:"pid"`
		TID   uint32 `json:"tid"`
		Name  string `json:"name"`
		Args  any    `json:"args"`
	}{"M", rank, thread, what, args})
}

type (
	name struct {
		Name string `json:"name"`
	}
	labels struct {
		Labels string `json:"labels"`
	}
	order struct {
		Index int `json:"sort_index"`
	}
)

func (e *encoder) rank(r *events.Rank) error {
	e.metadata(r.Number, threadID(0), "process_name", name{"rank " + strconv.Itoa(r.Number)})
	e.metadata(r.Number, threadID(0), "process_labels", labels{"times: " + r.TimesLabel()})
	e.metadata(r.Number, threadID(0), "process_sort_index", order{r.Number})
	regions, last := r.Regions(), make(map[int32]int64) // ends of threads
	region := func(x events.RegionEdge) { e.region(r.Number, x) }
	for thread := range r.Threads() {
		e.metadata(r.Number, threadID(thread), "thread_name", name{"thread " + strconv.Itoa(int(thread))})
		if regions != nil {
			e.metadata(r.Number, regionsID(thread), "thread_name",
				name{"regions of thread " + strconv.Itoa(int(thread))})
		}
	}
	ends := make([][]byte, r.Terminals())
	place := []byte(`,"pid":` + strconv.Itoa(r.Number) + `,"tid":`)
	for call, err := range r.All() {
		if err != nil {
			return err
		}
		end := ends[call.Terminal]
		if end == nil {
			end = appendEnd(nil, r, call.Terminal)
			ends[call.Terminal] = end
		}
		e.next()
		b := appendPlace(append(e.scratch[:0], `{"ph":"X"`...), place, call.Thread, call.Start)
		b = appendMicroseconds(append(b, `,"dur":`...), call.End-call.Start)
		b = append(b, end...)
		b = strconv.AppendUint(b, call.Position, 10)
		b = append(b, "}}"...)
		e.scratch = b
		if _, err := e.w.Write(b); err != nil {
			return err
		}
		e.messages(r, call, place)
		if regions != nil {
			regions.Call(call, region)
			last[call.Thread] = call.End
		}
	}
	for thread := range r.Threads() {
		regions.End(thread, last[thread], region)
	}
	return nil
}

// region writes where a region begins or ends.
func (e *encoder) region(rank int, x events.RegionEdge) {
	e.next()
	begin := `{"ph":"E","pid":`
	if x.Begins {
		begin = `{"ph":"B","pid":`
	}
	b := strconv.AppendInt(append(e.scratch[:0], begin...), int64(rank), 10)
	b = strconv.AppendUint(append(b, `,"tid":`...), uint64(regionsID(x.Thread)), 10)
	b = appendMicroseconds(append(b, `,"ts":`...), x.At)
	e.scratch = append(append(append(b, `,"name":`...), marshal(events.Readable(x.Name))...), `,"cat":"region"}`...)
	e.w.Write(e.scratch)
}

// messages writes the ends of messages that a call has: of those that end with it, in its
// last nanosecond.
func (e *encoder) messages(r *events.Rank, call events.Event, place []byte) {
	sent, received := r.Messages(call)
	for _, n := range sent {
		e.message(`{"ph":"s"`, place, call.Thread, call.Start, n)
	}
	for _, n := range received {
		e.message(`{"ph":"f","bp":"e"`, place, call.Thread, max(call.Start, call.End-1), n)
	}
}

func (e *encoder) message(begin string, place []byte, thread int32, at int64, number uint64) {
	e.next()
	b := appendPlace(append(e.scratch[:0], begin...), place, thread, at)
	b = append(b, `,"name":"message","cat":"message","id":`...)
	e.scratch = append(strconv.AppendUint(b, number, 10), '}')
	e.w.Write(e.scratch)
}

// appendPlace appends the rank and the thread of an event, and its time.
func appendPlace(dst, rank []byte, thread int32, at int64) []byte {
	dst = strconv.AppendUint(append(dst, rank...), uint64(threadID(thread)), 10)
	return appendMicroseconds(append(dst, `,"ts":`...), at)
}

// threadID returns the tid of a thread. It is never 0, which Perfetto takes for the thread
// of the number of the process.
func threadID(thread int32) uint32 {
	if thread < 0 {
		return uint32(thread)
	}
	return uint32(thread) + 1
}

// regionsID returns the tid of the regions of a thread.
func regionsID(thread int32) uint32 { return 1<<30 + threadID(thread) }

// appendMicroseconds appends a time, in nanoseconds, not negative, as microseconds.
func appendMicroseconds(dst []byte, ns int64) []byte {
	dst = strconv.AppendInt(dst, ns/1000, 10)
	if r := ns % 1000; r != 0 {
		dst = append(dst, '.', byte('0'+r/100), byte('0'+r/10%10), byte('0'+r%10))
	}
	return dst
}

// appendEnd appends the end of the events of a terminal, which all its calls have in
// common, but for the position, which follows.
func appendEnd(dst []byte, r *events.Rank, terminal uint32) []byte {
	dst = append(append(dst, `,"name":`...), marshal(r.Name(terminal))...)
	dst = append(append(dst, `,"cat":`...), marshal(r.Category(terminal))...)
	dst = append(dst, `,"args":{`...)
	for _, a := range r.Args(terminal) {
		dst = append(append(dst, marshal(a.Name)...), ':')
		dst = append(append(dst, marshal(value(a))...), ',')
	}
	return append(dst, `"position":`...)
}

// value returns what JSON has for an argument.
func value(a events.Arg) any {
	const exact = 1 << 53
	switch {
	case a.Kind == cst.KindFloat:
		return a.Float
	case a.Kind == cst.KindString:
		return a.Text
	case a.Number < -exact || a.Number > exact:
		return strconv.FormatInt(a.Number, 10)
	}
	return a.Number
}
