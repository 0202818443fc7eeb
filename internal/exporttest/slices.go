package exporttest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export/events"
	"github.com/reprise-trace/reprise/internal/foreign"
)

// A slice is a call as Perfetto shows it.
type slice struct {
	process, thread, name string
	position              string
	start, duration       string
}

// An arg is an argument of a slice.
type arg struct{ process, position, name, value string }

// CheckSlices checks that the trace processor of Perfetto finds in a file the calls of a
// trace that o chooses, with their times and arguments. Prefix is that of the keys of
// arguments, and tracks is a table with the columns id, of tracks, process and thread, of
// their names.
func CheckSlices(t testing.TB, p *foreign.TraceProcessor, path string, trace *reprise.Trace, o events.Options, prefix, tracks string) {
	t.Helper()
	from := fmt.Sprintf("FROM slice JOIN (%s) AS place ON place.id = slice.track_id", tracks)
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
	slicesWant, argsWant := model(t, trace, o)
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
func model(t testing.TB, trace *reprise.Trace, o events.Options) (all []slice, args []arg) {
	t.Helper()
	choice, err := events.Open(t.Context(), trace, o)
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
