package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// container opens the container of a file.
func container(t rapid.TB, file []byte) *format.Reader {
	t.Helper()
	f, err := format.NewReader(bytes.NewReader(file), int64(len(file)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// writeOrigins writes a trace of three ranks whose parts, in an order, have these origins.
func writeOrigins(t rapid.TB, order []int, origins []format.Origin) []byte {
	t.Helper()
	var all merge.Accumulator
	for _, i := range order {
		var r tracer.Recorder
		r.Call(r.Declare(cst.Function{Name: "f"}))
		var a merge.Accumulator
		var part bytes.Buffer
		if err := errors.Join(a.Describe(merge.Run{Ranks: 3, Origin: origins[i]}), a.Add(r.Finish(i)),
			a.WritePart(&part)); err != nil {
			t.Fatal(err)
		}
		read, err := merge.ReadPart(container(t, part.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if err := all.Merge(read); err != nil {
			t.Fatal(err)
		}
	}
	var file bytes.Buffer
	if err := all.Write(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// TestOrigin checks that a trace has what the origins of its parts have, in whatever order
// these come, and that nothing else differs from a trace without.
func TestOrigin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "c d"}), 0, 3)
		var origins []format.Origin
		var want format.Origin
		clockError := int64(0)
		for rank := range 3 {
			o := format.Origin{Runs: texts.Draw(t, "runs"), Commands: texts.Draw(t, "commands"),
				Hosts: texts.Draw(t, "hosts"), Versions: texts.Draw(t, "versions"),
				Assumptions: texts.Draw(t, "assumptions"), Times: texts.Draw(t, "times"),
				ClockError: rapid.SampledFrom([]int64{0, 201, math.MaxInt64}).Draw(t, "clock error")}
			for range rapid.IntRange(0, 2).Draw(t, "missing") {
				o.Missing = append(o.Missing, format.Missing{
					Rank: rapid.IntRange(0, 3).Draw(t, "rank"), Records: rapid.Uint64().Draw(t, "records"),
					Since: time.Unix(0, rapid.Int64().Draw(t, "from")).UTC(),
				})
			}
			if rapid.Bool().Draw(t, "off") {
				o.Off = rankenc.SetOf(rapid.IntRange(3, 5).Draw(t, "rank"))
			}
			for range rapid.IntRange(0, 2).Draw(t, "polls") {
				o.Polls = append(o.Polls, format.Polls{
					Function: rapid.SampledFrom([]string{"MPI_Test", "MPI_Iprobe"}).Draw(t, "function"),
					Site:     rapid.SampledFrom([]string{"", "a.c:1 f"}).Draw(t, "site"),
					Calls:    rapid.Uint64().Draw(t, "calls"), Ranks: rankenc.SetOf(rank),
				})
			}
			if rapid.Bool().Draw(t, "time") {
				o.Began = time.Unix(0, rapid.Int64().Draw(t, "began")).UTC()
			}
			origins = append(origins, o)
			layout.MergeOrigin(&want, o)
			clockError = max(clockError, o.ClockError)
		}
		file := writeOrigins(t, []int{0, 1, 2}, origins)
		if !bytes.Equal(file, writeOrigins(t, []int{2, 0, 1}, origins)) {
			t.Fatal("the order of parts makes a difference")
		}
		tr, err := trace.OpenReader(bytes.NewReader(file), int64(len(file)), trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := tr.Run().Origin
		if layout.OriginIdentifies(&want) {
			want = format.Origin{}
		}
		for _, of := range [][2][]string{{got.Runs, want.Runs}, {got.Commands, want.Commands},
			{got.Hosts, want.Hosts}, {got.Versions, want.Versions}, {got.Assumptions, want.Assumptions},
			{got.Times, want.Times}} {
			if !slices.Equal(of[0], of[1]) || !slices.IsSorted(of[0]) || slices.Contains(of[0], "") {
				t.Fatalf("%+v, want %+v", got, want)
			}
		}
		if got.ClockError != clockError {
			t.Fatalf("clocks are off by %d, want %d", got.ClockError, clockError)
		}
		if !slices.Equal(got.Missing, want.Missing) {
			t.Fatalf("missing %v, want %v", got.Missing, want.Missing)
		}
		if got.Off.String() != want.Off.String() {
			t.Fatalf("off %v, want %v", got.Off, want.Off)
		}
		if fmt.Sprint(got.Polls) != fmt.Sprint(want.Polls) {
			t.Fatalf("polls %v, want %v", got.Polls, want.Polls)
		}
		if layout.MergeOrigin(&want, got); fmt.Sprint(got.Polls) != fmt.Sprint(want.Polls) {
			t.Fatalf("polls %v, merged with the same %v", got.Polls, want.Polls)
		}
		if !got.Began.Equal(want.Began) {
			t.Fatalf("began %v, want %v", got.Began, want.Began)
		}
		sections := func(file []byte) map[format.Kind]string {
			f, all := container(t, file), make(map[format.Kind]string)
			for _, s := range f.All() {
				content, err := f.Content(s)
				if err != nil {
					t.Fatal(err)
				}
				if s.Kind != layout.KindOrigin {
					all[s.Kind] += string(content)
				}
			}
			return all
		}
		if a, b := sections(file),
			sections(writeOrigins(t, []int{0, 1, 2}, make([]format.Origin, 3))); !reflect.DeepEqual(a, b) {
			t.Fatalf("sections %q, without an origin %q", a, b)
		}
	})
}

// TestOriginErrors checks that an origin that is not written so is refused.
func TestOriginErrors(t *testing.T) {
	file := container(t, writeOrigins(t, []int{0}, make([]format.Origin, 1)))
	for _, tt := range []struct{ name, content string }{
		{"Empty", "\x00\x00\x00\x00"},
		{"Cut", "\x01\x01a\x00"},
		{"Order", "\x02\x01b\x01a\x00\x00\x00"},
		{"Twice", "\x02\x01a\x01a\x00\x00\x00"},
		{"EmptyText", "\x01\x00\x00\x00\x00"},
		{"Many", "\xff\xff\xff\x7f\x01a"},
		{"NoAssumptions", "\x01\x01a\x00\x00\x00\x00\x80\x80\x80\x80\x08\x00"},
		{"World", "\x01\x01a\x00\x00\x00\x00\x80\x80\x80\x80\x20"},
		{"NothingMissing", "\x01\x01a\x00\x00\x00\x00\x80\x80\x80\x80\x10\x00"},
		{"MissingTwice", "\x01\x01a\x00\x00\x00\x00\x80\x80\x80\x80\x10\x02\x01\x01\x01\x01\x01\x01"},
		{"MissingRank", "\x01\x01a\x00\x00\x00\x00\x80\x80\x80\x80\x10\x01\xff\xff\xff\xff\x0f\x01\x01"},
		{"MissingCut", "\x01\x01a\x00\x00\x00\x00\x80\x80\x80\x80\x10\x01\x01"},
		{"NoPolls", "\x01\x01a\x00\x00\x00\x00\x80\x80\x80\x80\x40\x00"},
		{"PollsOfNobody", "\x01\x01a\x00\x00\x00\x00\x80\x80\x80\x80\x40\x01\x01f\x00\x01\x00"},
		{"PollsCut", "\x01\x01a\x00\x00\x00\x00\x80\x80\x80\x80\x40\x01\x01f\x00"},
		{"Trailing", "\x01\x01a\x00\x00\x00\x02\x02"},
	} {
		checkRefused(t, tt.name, file, layout.KindOrigin, tt.content)
	}
}

// checkRefused checks that a trace is refused to which a section is added.
func checkRefused(t *testing.T, name string, file *format.Reader, kind format.Kind, added string) {
	t.Helper()
	var forged bytes.Buffer
	out := format.NewWriter(&forged, format.Options{})
	for _, s := range file.All() {
		content, err := file.Content(s)
		if err != nil {
			t.Fatal(err)
		}
		out.Add(s.Kind, s.Key, content)
	}
	out.Add(kind, 0, []byte(added))
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	var e *format.SectionError
	if _, err := trace.OpenReader(bytes.NewReader(forged.Bytes()), int64(forged.Len()),
		trace.Options{}); !errors.As(err, &e) || e.Kind != kind {
		t.Errorf("%s: %v", name, err)
	}
}
