package paraver

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/export/internal/exporttest"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// A record is a line of a trace: its numbers after the type.
type record []int64

// The lines of a trace, as the format is described; no program that reads it is at hand.
var (
	headerLine = regexp.MustCompile(
		`^#Paraver \((\d\d)/(\d\d)/(\d\d) at (\d\d):(\d\d)\):(\d+)_ns:0:1:(\d+)\((\d+:0(?:,\d+:0)*)\)$`)
	recordLine = regexp.MustCompile(`^(?:1(?::\d+){7}|2(?::\d+){5}(?::\d+:\d+)+|3(?::\d+){13}:-?\d+)$`)
)

// A parsed trace is what a reader finds in it.
type parsed struct {
	end     int64
	threads []int // of each task
	states  map[[2]int64][]record
	events  map[[2]int64][]record
	comms   []record
}

// parse reads a trace, and checks what all traces keep.
func parse(t testing.TB, text string) parsed {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	h := headerLine.FindStringSubmatch(lines[0])
	if h == nil {
		t.Fatalf("header %q", lines[0])
	}
	p := parsed{states: make(map[[2]int64][]record), events: make(map[[2]int64][]record)}
	p.end, _ = strconv.ParseInt(h[6], 10, 64)
	for _, task := range strings.Split(h[8], ",") {
		n, _ := strconv.Atoi(strings.TrimSuffix(task, ":0"))
		p.threads = append(p.threads, n)
	}
	if tasks, _ := strconv.Atoi(h[7]); tasks != len(p.threads) {
		t.Fatalf("%d tasks, of %d of which there are threads", tasks, len(p.threads))
	}
	last := int64(0)
	for _, line := range lines[1:] {
		if !recordLine.MatchString(line) {
			t.Fatalf("record %q", line)
		}
		var r record
		for _, field := range strings.Split(line[2:], ":") {
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				t.Fatalf("record %q: %v", line, err)
			}
			r = append(r, n)
		}
		place := p.place(t, r)
		if r[4] < last || r[4] > p.end {
			t.Fatalf("record %q after one at %d, of a trace that ends at %d", line, last, p.end)
		}
		last = r[4]
		switch line[0] {
		case '1':
			if all := p.states[place]; r[5] <= r[4] || r[5] > p.end || len(all) > 0 && all[len(all)-1][5] != r[4] {
				t.Fatalf("state %q after %v", line, all[len(all)-1])
			}
			p.states[place] = append(p.states[place], r)
		case '2':
			p.events[place] = append(p.events[place], r)
		case '3':
			p.place(t, r[6:])
			p.comms = append(p.comms, r)
		}
	}
	return p
}

// place returns the task and the thread of a record.
func (p *parsed) place(t testing.TB, r record) [2]int64 {
	t.Helper()
	if r[0] != 0 || r[1] != 1 || r[2] < 1 || r[2] > int64(len(p.threads)) || r[3] < 1 ||
		r[3] > int64(p.threads[r[2]-1]) {
		t.Fatalf("record %v of no thread", r)
	}
	return [2]int64{r[2], r[3]}
}

func written(t testing.TB, tr *trace.Trace, o export.Options) string {
	t.Helper()
	var b bytes.Buffer
	m, err := Write(context.Background(), &b, tr, o)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count("\n"+b.String(), "\n3:"); m.Written != uint64(n) || m.Sent < m.Written {
		t.Fatalf("%+v, but %d records of messages", m, n)
	}
	return b.String()
}

// TestWrite compares what a reader finds with the calls.
func TestWrite(t *testing.T) {
	cases := exporttest.Cases(t)
	for _, name := range []string{"messages", "startall", "wildcard"} {
		cases = append(cases, exporttest.Case{Name: name, Trace: testtrace.Recorded(t, name+".exact")})
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			p := parse(t, written(t, c.Trace, c.Options))
			checkEvents(t, p, c)
			checkStates(t, p)
			checkComms(t, p, c)
		})
	}
}

// checkEvents checks that every call begins and ends.
func checkEvents(t *testing.T, p parsed, c exporttest.Case) {
	t.Helper()
	choice, err := events.Open(t.Context(), c.Trace, c.Options)
	if err != nil {
		t.Fatal(err)
	}
	functions, list := functionsOf(c.Trace), c.Trace.Functions()
	calls := make(map[[2]int64][]nested)
	task := int64(0)
	for rank, err := range choice.Ranks() {
		if err != nil {
			t.Fatal(err)
		}
		task++
		threads := slices.Sorted(rank.Threads())
		for e, err := range rank.All() {
			if err != nil {
				t.Fatal(err)
			}
			f := rank.Call(e.Terminal).Function
			i := slices.IndexFunc(list, func(g cst.Function) bool { return g.Equal(*f) })
			place := [2]int64{task, int64(slices.Index(threads, e.Thread)) + 1}
			e.Start, e.End = min(e.Start, p.end), min(e.End, p.end) // where calls are not in the order of their ends
			calls[place] = append(calls[place], nested{e, functions[i]})
		}
	}
	if len(calls) != len(p.events) {
		t.Errorf("events of %d threads, want %d", len(p.events), len(calls))
	}
	for place, list := range calls {
		var got []string
		for _, r := range p.events[place] {
			got = append(got, fmt.Sprint(r[4], r[5], r[6]))
		}
		if want := eventsOf(list); !slices.Equal(got, want) {
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("event %d of %v is %s, want %s", i, place, got[i], want[i])
				}
			}
			t.Fatalf("%d events of %v, want %d", len(got), place, len(want))
		}
	}
}

// A nested call may be in others.
type nested struct {
	events.Event
	function
}

// eventsOf returns the events of the calls of a thread, in the order in which they returned.
func eventsOf(calls []nested) []string {
	type moment struct {
		at    int64
		order int // among those of a time
		text  string
	}
	var all []moment
	for i, c := range calls {
		around := function{}
		for _, p := range calls[i+1:] {
			if p.Start <= c.Start && p.End >= c.End && p.Start < min(p.End, c.End) {
				around = p.function
				break
			}
		}
		value := 0
		if around.kind == c.kind {
			value = around.value
		}
		begins := 2*i + 1
		if c.Start < c.End { // what returns later contains it
			begins = 4*len(calls) - i
		}
		all = append(all, moment{c.Start, begins, fmt.Sprint(c.Start, c.kind, c.value)},
			moment{c.End, 2*i + 2, fmt.Sprint(c.End, c.kind, value)})
	}
	slices.SortFunc(all, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order))
	})
	var texts []string
	for _, m := range all {
		texts = append(texts, m.text)
	}
	return texts
}

// checkStates checks that a thread is always in a state between its first and last events.
func checkStates(t *testing.T, p parsed) {
	t.Helper()
	for place, records := range p.events {
		first, last := records[0][4], records[len(records)-1][4]
		states := p.states[place]
		if first == last {
			continue
		}
		if len(states) == 0 || states[0][4] != first || states[len(states)-1][5] != last {
			t.Errorf("states of %v do not reach from %d to %d", place, first, last)
		}
		for _, r := range states {
			if r[6] < 0 || r[6] >= int64(len(stateNames)) {
				t.Errorf("state %d", r[6])
			}
		}
	}
}

// A channel is where messages keep their order.
type channel struct {
	source, destination int
	tag                 int64
	communicator        *semantics.Communicator
}

// mayBe reports whether c and d may be the same, where what is not known is negative or nil.
func (c channel) mayBe(d channel) bool {
	return c.destination == d.destination && (c.source < 0 || d.source < 0 || c.source == d.source) &&
		(c.tag < 0 || d.tag < 0 || c.tag == d.tag) && (c.communicator == nil || d.communicator == nil ||
		c.communicator == d.communicator)
}

// checkComms checks that communications are between the k-th send and the k-th receive of
// a channel in the run, and that there are all of those that are chosen of the channels of
// which all is known.
func checkComms(t *testing.T, p parsed, c exporttest.Case) {
	t.Helper()
	model, err := semantics.Open(t.Context(), c.Trace)
	if err != nil {
		t.Fatal(err)
	}
	type end struct {
		at, bytes int64
		chosen    bool
	}
	sends, receives := make(map[channel][]end), make(map[channel][]end)
	chosen := make(map[[2]uint64]bool)
	for place := range chosenCalls(t, c.Trace, c.Options) {
		chosen[place] = true
	}
	tasks := make(map[int]int64)
	var unclear []channel
	meanings := make(map[int]*semantics.Rank)
	for place, e := range chosenCalls(t, c.Trace, export.Options{Ranks: c.Options.Ranks}) {
		rank := int(place[0])
		if tasks[rank] == 0 {
			tasks[rank] = int64(len(tasks) + 1)
			read, err := c.Trace.Rank(rank) // its terminals are those of the calls
			if err != nil {
				t.Fatal(err)
			}
			if meanings[rank], err = model.Of(read, rank); err != nil {
				t.Fatal(err)
			}
		}
		o := meanings[rank].At(e.Position, e.Terminal)
		if o == nil {
			continue
		}
		for _, m := range o.Messages {
			k := channel{m.Peer, rank, m.Tag, m.Communicator}
			switch {
			case m.Direction == semantics.Send:
				k.source, k.destination = rank, m.Peer
				sends[k] = append(sends[k], end{e.Start, m.Bytes, chosen[place]})
			case m.Peer < 0 || m.Tag < 0 || m.Cancelled:
				unclear = append(unclear, k)
			default:
				receives[k] = append(receives[k], end{e.Start, 0, chosen[place]})
			}
		}
	}
	want, total, least := make(map[string]int), 0, 0
	for k, list := range sends {
		for i := range min(len(list), len(receives[k])) {
			if tasks[k.source] == 0 || tasks[k.destination] == 0 || !list[i].chosen || !receives[k][i].chosen {
				continue
			}
			total++
			if !slices.ContainsFunc(unclear, k.mayBe) {
				least++
			}
			want[fmt.Sprint(tasks[k.source], list[i].at, tasks[k.destination], receives[k][i].at,
				list[i].bytes, k.tag)]++
		}
	}
	for _, r := range p.comms {
		if s := fmt.Sprint(r[2], r[4], r[8], r[10], r[12], r[13]); want[s] == 0 {
			t.Fatalf("communication %v, %s", r, s)
		} else {
			want[s]--
		}
		if r[5] != r[4] || r[11] < r[10] || c.Name == "Recorded" && r[11] < r[4] {
			t.Fatalf("communication %v", r)
		}
	}
	if n := len(p.comms); n > total || n < least && c.Options.Between == nil {
		t.Errorf("%d communications, want %d to %d", n, least, total)
	}
	t.Logf("%d communications of %d", len(p.comms), total)
}

// chosenCalls returns an iterator over the calls that are chosen, by rank and position.
func chosenCalls(t *testing.T, tr *trace.Trace, o export.Options) iter.Seq2[[2]uint64, events.Event] {
	t.Helper()
	choice, err := events.Open(t.Context(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func([2]uint64, events.Event) bool) {
		for rank, err := range choice.Ranks() {
			if err != nil {
				t.Fatal(err)
			}
			for e, err := range rank.All() {
				if err != nil {
					t.Fatal(err)
				}
				if !yield([2]uint64{uint64(rank.Number), e.Position}, e) {
					return
				}
			}
		}
	}
}

// TestUnclear checks that there are communications where statuses tell what a rank received.
func TestUnclear(t *testing.T) {
	for name, want := range map[string]int{"startall": 60, "wildcard": 20} {
		if n := len(parse(t, written(t, testtrace.Recorded(t, name+".exact"), export.Options{})).comms); n != want {
			t.Errorf("%d communications of %s, want %d", n, name, want)
		}
	}
}

// TestWindows checks the communications of parts of a run: in each, some messages were sent
// before it, or are received after it.
func TestWindows(t *testing.T) {
	tr := testtrace.Stencil(t, "exact")
	var all, between int
	for from := int64(267_000_000); from < 270_000_000; from += 150_000 {
		o := export.Options{Between: &export.Interval{From: from, To: from + 150_000}}
		p := parse(t, written(t, tr, o))
		checkComms(t, p, exporttest.Case{Trace: tr, Options: o})
		if between += len(p.comms); len(p.comms) > 0 {
			all++
		}
	}
	if all < 3 {
		t.Errorf("%d parts have %d communications", all, between)
	}
}

// TestDelay checks that messages that wait for too long are left out, and nothing else.
func TestDelay(t *testing.T) {
	lines := "0 init\n0 isend 1 0 10 1\n" + strings.Repeat("0 bcast 10 0 0 \n", 1000) +
		"0 finalize\n1 init\n" + strings.Repeat("1 bcast 10 0 0 \n", 2000) + "1 recv 0 0 10 1\n1 finalize\n"
	tr := testtrace.TI(t, lines)
	text := written(t, tr, export.Options{})
	if n := len(parse(t, text).comms); n != 1 {
		t.Fatalf("%d communications, want 1", n)
	}
	was := maxDelay
	defer func() { maxDelay = was }()
	maxDelay = 10_000
	short := written(t, tr, export.Options{})
	if n := len(parse(t, short).comms); n != 0 {
		t.Fatalf("%d communications, want none", n)
	}
	var without []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "3") {
			without = append(without, line)
		}
	}
	if strings.Join(without, "") != short {
		t.Error("other records differ")
	}
}

// TestLook checks that records stay in order where a call is around more than are looked
// at: it begins later then.
func TestLook(t *testing.T) {
	f := testtrace.Function("work", testtrace.Param("n", cst.KindInt))
	args := []cst.Value{cst.Int(1)}
	calls := []testtrace.Call{{Function: f, Args: args, Duration: 1}}
	for i := range int64(5 * look) {
		calls = append(calls, testtrace.Call{Function: f, Args: args, Start: 10*i + 15, Duration: 3})
	}
	for _, start := range []int64{10 * 4 * look, 12} {
		calls = append(calls, testtrace.Call{Function: f, Args: args, Start: start, Duration: 10*5*look + 20 - start})
	}
	p := parse(t, written(t, testtrace.Record(t, merge.Run{}, true, [][]testtrace.Call{calls}), export.Options{}))
	checkStates(t, p)
	if n := len(p.events[[2]int64{1, 1}]); n != 2*len(calls) {
		t.Errorf("%d events of %d calls", n, len(calls))
	}
}

func TestRows(t *testing.T) {
	some := rankenc.SetOf(1, 3)
	var b strings.Builder
	if err := WriteRows(t.Context(), &b, testtrace.Stencil(t, "exact"), export.Options{Ranks: &some}); err != nil {
		t.Fatal(err)
	}
	const want = "LEVEL TASK SIZE 2\nrank 1\nrank 3\n\nLEVEL THREAD SIZE 2\nrank 1 thread 0\nrank 3 thread 0\n"
	if b.String() != want {
		t.Errorf("rows are %q, want %q", b.String(), want)
	}
}

// TestConfig checks that everything that records have is named, each on a line.
func TestConfig(t *testing.T) {
	for _, c := range exporttest.Cases(t) {
		var b strings.Builder
		if err := WriteConfig(&b, c.Trace); err != nil {
			t.Fatal(err)
		}
		names := make(map[string]bool)
		kind, before := "", ""
		for line := range strings.Lines(b.String()) {
			fields := strings.Fields(line)
			switch {
			case len(fields) == 0:
			case before == "EVENT_TYPE\n":
				kind = fields[1]
			default:
				names[kind+" "+fields[0]] = true
			}
			before = line
			if strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\r\n\x00") {
				t.Errorf("line %q", line)
			}
		}
		for _, records := range parse(t, written(t, c.Trace, export.Options{})).events {
			for _, r := range records {
				if k := fmt.Sprint(r[5], " ", r[6]); !names[k] {
					t.Fatalf("%s: type and value %s have no name", c.Name, k)
				}
			}
		}
	}
}

func TestNoCalls(t *testing.T) {
	tr := testtrace.Record(t, merge.Run{}, false, [][]testtrace.Call{nil, nil})
	if _, err := Write(t.Context(), io.Discard, tr, export.Options{}); !errors.Is(err, errNoCalls) {
		t.Errorf("error %v, want %v", err, errNoCalls)
	}
}

// TestBudget checks that ranks without calls do not count among those that are held, and that what is held is
// bounded.
func TestBudget(t *testing.T) {
	calls := []testtrace.Call{{Function: cst.Function{Name: "MPI_Finalize"}}}
	tr := testtrace.Record(t, merge.Run{}, false, [][]testtrace.Call{calls, nil, calls, nil, calls})
	choice, err := events.Open(t.Context(), tr, export.Options{})
	if err != nil {
		t.Fatal(err)
	}
	budget, err := budgetOf(choice)
	if err != nil {
		t.Fatal(err)
	}
	for rank, err := range choice.Ranks() {
		if err := errors.Join(err, budget.Take(rank.Rank, 100<<20)); (err == nil) != (rank.Number < 4) &&
			rank.Number == 0 {
			t.Errorf("rank %d: %v", rank.Number, err)
		}
	}
	var memory *format.MemoryError
	for rank, err := range choice.Ranks() {
		if err := errors.Join(err, budget.Take(rank.Rank, 300<<20)); !errors.As(err, &memory) ||
			memory.Need <= memory.Most {
			t.Errorf("600 MiB more: %v", err)
		}
	}
}

func TestBounds(t *testing.T) { exporttest.CheckBounds(t, write) }

func BenchmarkWrite(b *testing.B) { exporttest.BenchmarkWrite(b, write) }

func write(ctx context.Context, w io.Writer, t *trace.Trace, o export.Options) error {
	_, err := Write(ctx, w, t, o)
	return err
}

// A gauge measures what is held when so many bytes are written.
type gauge struct{ left, held int }

func (g *gauge) Write(p []byte) (int, error) {
	if g.left > 0 {
		if g.left -= len(p); g.left <= 0 {
			g.held = held()
		}
	}
	return len(p), nil
}

// held returns how many bytes of the heap are in use.
func held() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools hold goes with the second
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestMemory checks what is held for each of many ranks that make many calls.
func TestMemory(t *testing.T) {
	const ranks, calls = 500, 2000
	f := testtrace.Function("work")
	list := slices.Repeat([]testtrace.Call{{Function: f}}, calls)
	tr := testtrace.Record(t, merge.Run{}, false, slices.Repeat([][]testtrace.Call{list}, ranks))
	before := held()
	g := &gauge{left: ranks * calls * 60} // about half of what is written
	if _, err := Write(t.Context(), g, tr, export.Options{}); err != nil {
		t.Fatal(err)
	}
	if g.held == 0 {
		t.Fatal("less is written")
	}
	if n := (g.held - before) / ranks; n > 20<<10 {
		t.Errorf("%d bytes for each rank", n)
	} else {
		t.Logf("%d bytes for each rank", n)
	}
}

// TestLeftOut exports one rank of several: its messages are counted, and none is written.
func TestLeftOut(t *testing.T) {
	first := rankenc.World(1)
	m, err := Write(t.Context(), io.Discard, testtrace.Recorded(t, "messages.exact"), export.Options{Ranks: &first})
	if err != nil || m.Sent == 0 || m.Written != 0 {
		t.Errorf("%+v, %v, want messages that are left out", m, err)
	}
}
