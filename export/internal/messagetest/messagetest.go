// Package messagetest checks the messages that exports write, for tests.
package messagetest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/export/events"
	"github.com/reprise-trace/reprise/export/internal/requests"
	"github.com/reprise-trace/reprise/internal/exporttest"
	"github.com/reprise-trace/reprise/internal/foreign"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/semantics"
)

// Check checks that the trace processor of Perfetto finds an arrow for each message in what
// write writes of recorded runs, and no other. Prefix and tracks are as
// [exporttest.CheckSlices] has them.
func Check(t *testing.T, write exporttest.Writer, prefix, tracks string) {
	t.Helper()
	p := foreign.FindTraceProcessor(t)
	some := rankenc.SetOf(0, 1, 3)
	cases := []exporttest.Case{{
		Name: "Chosen", Trace: exporttest.Stencil(t, "exact"),
		Options: events.Options{Ranks: some, Between: &events.Interval{From: 267_500_000, To: 268_500_000}},
	}}
	for _, name := range []string{"stencil", "messages", "startall", "wildcard", "halves"} {
		cases = append(cases, exporttest.Case{Name: name, Trace: exporttest.Recorded(t, name+".exact")})
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			want := exchanges(t, c.Trace, c.Options)
			if got := found(t, p, file(t, write, c), prefix, tracks); !slices.Equal(got, want) {
				t.Errorf("%d messages, want %d:\n%v\n%v", len(got), len(want), got, want)
			}
			t.Logf("%d messages", len(want))
		})
	}
	t.Run("Statistics", func(t *testing.T) {
		c := exporttest.Case{Trace: exporttest.Stencil(t, "statistics")}
		if got := found(t, p, file(t, write, c), prefix, tracks); len(got) > 0 {
			t.Errorf("%d messages between calls whose times are estimates", len(got))
		}
	})
}

// file returns the path of what is written.
func file(t *testing.T, write exporttest.Writer, c exporttest.Case) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := write(t.Context(), f, c.Trace, c.Options); err != nil {
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
func found(t *testing.T, p *foreign.TraceProcessor, path, prefix, tracks string) (list []exchange) {
	t.Helper()
	call := fmt.Sprintf("(SELECT slice.id, process || ' call ' || EXTRACT_ARG(slice.arg_set_id, '%sposition') AS call "+
		"FROM slice JOIN (%s) AS place ON place.id = slice.track_id)", prefix, tracks)
	rows := p.Query(t, path, foreign.Faults, "SELECT COUNT(*) FROM flow",
		fmt.Sprintf("SELECT a.call, b.call FROM flow JOIN %s AS a ON a.id = slice_out JOIN %s AS b ON b.id = slice_in", call, call))
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
func exchanges(t *testing.T, trace *reprise.Trace, o events.Options) (list []exchange) {
	t.Helper()
	model, err := semantics.Open(t.Context(), trace)
	if err != nil {
		t.Fatal(err)
	}
	match, err := query.OpenMatch(t.Context(), model, query.Options{})
	if err != nil {
		t.Fatal(err)
	}
	choice, err := events.Open(t.Context(), trace, o)
	if err != nil {
		t.Fatal(err)
	}
	chosen := make(map[place]bool)
	meanings := make(map[int]*semantics.Rank)
	for r, err := range choice.Ranks() {
		if err != nil {
			t.Fatal(err)
		}
		if meanings[r.Number], err = model.Rank(r.Number); err != nil {
			t.Fatal(err)
		}
		for e := range r.All() {
			chosen[placeOf(r.Number, e.Position)] = true
		}
	}
	for number, r := range meanings {
		for position, call := range r.Calls() {
			partners, err := match.Partner(number, position)
			if err != nil {
				t.Fatal(err)
			}
			for _, q := range partners {
				if r.At(position, call.Terminal).Messages[q.Message].Direction != semantics.Send || meanings[q.Rank] == nil {
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
	for later, call := range r.CallsFrom(position + 1) {
		for completed := range requests.Completed(call, requests.Name(call.Function.Name), requests.Of(call)) {
			if completed == id {
				return placeOf(rank, later)
			}
		}
	}
	return ""
}
