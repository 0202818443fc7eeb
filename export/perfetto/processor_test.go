// Package perfetto_test has the trace processor of Perfetto read what packages perfetto
// and chrome write.
package perfetto_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/chrome"
	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/export/internal/exporttest"
	"github.com/reprise-trace/reprise/export/perfetto"
	"github.com/reprise-trace/reprise/internal/test/foreign"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// A target is what the trace processor reads.
type target struct {
	name   string
	write  exporttest.Writer
	prefix string // of the keys of arguments
	tracks string // a table with the columns id, of tracks, process and thread, of their names
}

var formats = []target{
	{"perfetto", perfetto.Write, "debug.",
		"SELECT track.id, process.name AS process, track.name AS thread FROM process_track AS track JOIN process USING (upid)"},
	{"chrome", chrome.Write, "args.",
		"SELECT track.id, process.name AS process, thread.name AS thread FROM thread_track AS track JOIN thread USING (utid) JOIN process USING (upid)"},
}

// TestTraceProcessor has it find the calls, with their times and arguments.
func TestTraceProcessor(t *testing.T) {
	p := foreign.FindTraceProcessor(t)
	for i, f := range formats {
		for j, c := range exporttest.Cases(t) {
			if !tier.Nightly && j%len(formats) != i {
				continue
			}
			t.Run(f.name+"/"+c.Name, func(t *testing.T) { checkSlices(t, p, file(t, c, f), c.Trace, c.Options, f) })
		}
	}
}

// TestMessages has it find the messages.
func TestMessages(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) { checkMessages(t, f) })
	}
}

// A slice is a call as Perfetto shows it.
type slice struct {
	process, thread, name string
	position              string
	start, duration       string
}

// An arg is an argument of a slice.
type arg struct{ process, position, name, value string }

// checkSlices checks that the trace processor of Perfetto finds in a file the calls of a
// trace that o chooses, with their times and arguments.
func checkSlices(t testing.TB, p *foreign.TraceProcessor, path string, tr *trace.Trace, o export.Options, f target) {
	t.Helper()
	prefix := f.prefix
	from := fmt.Sprintf("FROM slice JOIN (%s) AS place ON place.id = slice.track_id", f.tracks)
	position := fmt.Sprintf("EXTRACT_ARG(slice.arg_set_id, '%sposition')", prefix)
	rows := p.Query(t, path, foreign.Faults,
		fmt.Sprintf("SELECT process, thread, slice.name, %s, ts, dur %s", position, from),
		fmt.Sprintf("SELECT process, %s, SUBSTR(key, %d), display_value %s JOIN args USING (arg_set_id) WHERE key GLOB '%s*'", position, len(prefix)+1, from, prefix))
	if len(rows[0]) > 0 {
		t.Errorf("the trace processor finds faults: %q", rows[0])
	}
	var slicesGot []slice
	for _, r := range rows[1] {
		slicesGot = append(slicesGot, slice{text(r[0]), text(r[1]), text(r[2]), text(r[3]), text(r[4]), text(r[5])})
	}
	var argsGot []arg
	for _, r := range rows[2] {
		if text(r[2]) != "position" {
			argsGot = append(argsGot, arg{text(r[0]), text(r[1]), text(r[2]), strings.TrimSuffix(text(r[3]), ".0")})
		}
	}
	slicesWant, argsWant := model(t, tr, o)
	compare(t, "slice", slicesGot, slicesWant)
	compare(t, "argument", argsGot, argsWant)
}

func text(v any) string {
	if v == nil {
		return "nothing"
	}
	return fmt.Sprint(v)
}

// model returns what a file must hold.
func model(t testing.TB, tr *trace.Trace, o export.Options) (all []slice, args []arg) {
	t.Helper()
	choice, err := events.Open(t.Context(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	for rank, err := range choice.Ranks() {
		if err != nil {
			t.Fatal(err)
		}
		process := "rank " + strconv.Itoa(rank.Number)
		for e, err := range rank.All() {
			if err != nil {
				t.Fatal(err)
			}
			position := strconv.FormatUint(e.Position, 10)
			all = append(all, slice{process, "thread " + strconv.Itoa(int(e.Thread)), rank.Name(e.Terminal), position,
				strconv.FormatInt(e.Start, 10), strconv.FormatInt(e.End-e.Start, 10)})
			for _, a := range rank.Args(e.Terminal) {
				name, value := a.Name, a.Text
				switch a.Kind {
				case cst.KindInt:
					value = strconv.FormatInt(a.Number, 10)
				case cst.KindFloat:
					value = strconv.FormatFloat(a.Float, 'f', -1, 64)
				}
				args = append(args, arg{process, position, name, value})
			}
		}
	}
	return all, args
}

// compare compares two lists in any order.
func compare[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	order := func(a, b T) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) }
	slices.SortFunc(got, order)
	slices.SortFunc(want, order)
	if len(got) != len(want) {
		t.Errorf("%d of %ss, want %d", len(got), what, len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s %q, want %q", what, fmt.Sprint(got[i]), fmt.Sprint(want[i]))
		}
	}
	if len(want) == 0 {
		t.Errorf("there is no %s", what)
	}
}

// checkMessages checks that the trace processor of Perfetto finds an arrow for each message in what
// a writer writes of recorded runs, and no other.
func checkMessages(t *testing.T, target target) {
	t.Helper()
	p := foreign.FindTraceProcessor(t)
	some := rankenc.SetOf(0, 1, 3)
	cases := []exporttest.Case{{
		Name: "Chosen", Trace: testtrace.Stencil(t, "exact"),
		Options: export.Options{Ranks: &some, Between: &export.Interval{From: 267_500_000, To: 268_500_000}},
	}}
	for _, name := range tier.Some([]string{"stencil", "messages", "startall", "halves", "wildcard"}, 2) {
		cases = append(cases, exporttest.Case{Name: name, Trace: testtrace.Recorded(t, name+".exact")})
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			want := exchanges(t, c.Trace, c.Options)
			if got := found(t, p, file(t, c, target), target); !slices.Equal(got, want) {
				t.Errorf("%d messages, want %d:\n%v\n%v", len(got), len(want), got, want)
			}
			t.Logf("%d messages", len(want))
		})
	}
	t.Run("Statistics", func(t *testing.T) {
		c := exporttest.Case{Trace: testtrace.Stencil(t, "statistics")}
		if got := found(t, p, file(t, c, target), target); len(got) > 0 {
			t.Errorf("%d messages between calls whose times are estimates", len(got))
		}
	})
}

// file returns the path of what is written.
func file(t *testing.T, c exporttest.Case, target target) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := target.write(t.Context(), f, c.Trace, c.Options); err != nil {
		t.Fatal(err)
	}
	return path
}

// A place is a call, as a rank and its position.
type place string

func placeOf(rank int, position uint64) place {
	return place(fmt.Sprintf("rank %d call %d", rank, position))
}

// An exchange is the two calls of a message, the lesser first.
type exchange [2]place

// found returns the arrows between calls in a file, in order.
func found(t *testing.T, p *foreign.TraceProcessor, path string, target target) (list []exchange) {
	t.Helper()
	call := fmt.Sprintf("(SELECT slice.id, process || ' call ' || EXTRACT_ARG(slice.arg_set_id, '%sposition') AS call "+
		"FROM slice JOIN (%s) AS place ON place.id = slice.track_id)", target.prefix, target.tracks)
	messages := fmt.Sprintf("(SELECT * FROM flow WHERE trace_id IS NULL OR trace_id < %d) AS flow",
		uint64(events.FirstCollective))
	rows := p.Query(t, path, foreign.Faults, "SELECT COUNT(*) FROM "+messages,
		fmt.Sprintf("SELECT a.call, b.call FROM "+messages+
			" JOIN %s AS a ON a.id = slice_out JOIN %s AS b ON b.id = slice_in", call, call))
	if len(rows[0]) > 0 {
		t.Errorf("the trace processor finds faults: %q", rows[0])
	}
	for _, r := range rows[2] {
		list = append(list, newExchange(place(fmt.Sprint(r[0])), place(fmt.Sprint(r[1]))))
	}
	if n := fmt.Sprint(rows[1][0][0]); n != fmt.Sprint(len(list)) {
		t.Errorf("%s arrows, of which %d are between calls", n, len(list))
	}
	return sorted(list)
}

func newExchange(a, b place) exchange { return exchange{min(a, b), max(a, b)} }

func sorted(list []exchange) []exchange {
	slices.SortFunc(list, func(a, b exchange) int { return slices.Compare(a[:], b[:]) })
	return list
}

// exchanges returns the messages between calls that are chosen, in order: it looks for the
// other end of each that is sent.
func exchanges(t *testing.T, tr *trace.Trace, o export.Options) (list []exchange) {
	t.Helper()
	model, err := semantics.Open(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	match, err := query.OpenMatch(t.Context(), model, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	choice, err := events.Open(t.Context(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	chosen := make(map[place]bool)
	meanings := make(map[int]*semantics.Rank)
	for r, err := range choice.Ranks() {
		if err != nil {
			t.Fatal(err)
		}
		if meanings[r.Number], err = model.Of(r.Rank, r.Number); err != nil {
			t.Fatal(err)
		}
		for e := range r.All() {
			chosen[placeOf(r.Number, e.Position)] = true
		}
	}
	for number, r := range meanings {
		for call, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			position := call.Position
			partners, err := match.Partner(number, position)
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range partners {
				if r.At(position, call.Terminal).Messages[q.Message].Direction != semantics.Send ||
					meanings[q.Rank] == nil {
					continue
				}
				from, to := placeOf(number, position), placeOf(q.Rank, q.Position)
				last := end(meanings[q.Rank], q.Rank, q.Position, q.Other)
				if chosen[from] && chosen[to] && chosen[last] {
					list = append(list, newExchange(from, last))
				}
			}
		}
	}
	return sorted(list)
}

// end returns the call with which the receipt of a message of a call ends, nothing if there
// is none.
func end(r *semantics.Rank, rank int, position uint64, message int) place {
	terminal := r.Walk(position).Next().Symbol
	o := r.At(position, terminal)
	id, ok := o.Request(message)
	if !ok || o.Messages[message].Blocking {
		return placeOf(rank, position)
	}
	for call := range r.Calls(position + 1) {
		later := call.Position
		if o := r.At(later, call.Terminal); o != nil && slices.Contains(o.Completes, id) {
			return placeOf(rank, later)
		}
	}
	return ""
}
