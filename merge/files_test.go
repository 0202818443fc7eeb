package merge_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// TestFilesAgain merges a directory into a file in it, however the two are written, twice:
// the trace of before is not one of the parts.
func TestFilesAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("parts", 0o777); err != nil {
		t.Fatal(err)
	}
	for rank, name := range []string{"parts/0.rpz", "parts/1.rpz"} {
		var (
			r tracer.Recorder
			a merge.Accumulator
			b bytes.Buffer
		)
		r.Call(r.Declare(cst.Function{Name: "step"}))
		if err := a.Add(r.Finish(rank)); err != nil {
			t.Fatal(err)
		}
		if err := a.WritePart(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	absolute, err := filepath.Abs("parts")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ out, parts string }{
		{"parts/run.rpz", "parts"},
		{"./parts/../parts/run.rpz", "parts/"},
		{filepath.Join(absolute, "run.rpz"), "parts"},
		{"parts/run.rpz", absolute},
	} {
		for range 2 {
			if err := merge.Files(tt.out, 0, tt.parts); err != nil {
				t.Errorf("%s of %s: %v", tt.out, tt.parts, err)
			}
		}
	}
	t.Chdir("parts")
	if err := merge.Files("run.rpz", 0, "."); err != nil {
		t.Error(err)
	}
	trace, err := trace.Open("run.rpz", trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	if n := trace.RankSet().Len(); n != 2 {
		t.Errorf("%d ranks", n)
	}
}

// TestFilesOfRuns merges files of two runs, and of a rank twice: the error names the files.
func TestFilesOfRuns(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name string, rank int, origin format.Origin) {
		var (
			r tracer.Recorder
			a merge.Accumulator
			b bytes.Buffer
		)
		r.Call(r.Declare(cst.Function{Name: "step"}))
		err := a.Describe(merge.Run{Origin: origin})
		if err == nil {
			err = a.Add(r.Finish(rank))
		}
		if err == nil {
			err = a.WritePart(&b)
		}
		if err == nil {
			err = os.WriteFile(name, b.Bytes(), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("a", 0, format.Origin{Runs: []string{"x"}, World: 2})
	write("b", 1, format.Origin{Runs: []string{"x"}, World: 2})
	write("c", 1, format.Origin{Runs: []string{"y"}, World: 2})
	write("old", 2, format.Origin{})
	write("d", 0, format.Origin{World: 4})
	write("e", 1, format.Origin{World: 8})
	write("f", 3, format.Origin{World: 4})
	for _, tt := range []struct {
		parts []string
		want  string
	}{
		{[]string{"a", "b", "old"}, ""},
		{[]string{"old", "c"}, ""},
		{[]string{"a", "c"}, "parts of 2 runs: a is of run x, c of run y"},
		{[]string{"b", "a", "c"}, "parts of 2 runs: b is of run x, c of run y"},
		{[]string{"d", "e"}, "parts of 2 runs: d is of a run of 4 ranks, e of a run of 8 ranks"},
		{[]string{"b", "a", "b"}, "rank 1 is in b and in b"},
	} {
		err := merge.Files("out.rpz", 0, tt.parts...)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%v: %v, want %q", tt.parts, err, tt.want)
		}
	}
	for _, tt := range []struct {
		parts      []string
		unrecorded string
	}{{[]string{"a", "b", "old"}, ""}, {[]string{"old", "c"}, "0"}, {[]string{"d", "f"}, "1-2"}} {
		if err := merge.Files("out.rpz", 0, tt.parts...); err != nil {
			t.Fatal(err)
		}
		trace, err := trace.Open("out.rpz", trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer trace.Close()
		if got := trace.Content().Unrecorded.String(); got != tt.unrecorded {
			t.Errorf("%v: nothing was recorded of ranks %s, want %s", tt.parts, got, tt.unrecorded)
		}
		if o := trace.Run().Origin; tt.unrecorded == "" && !layout.NoOrigin(&o) {
			t.Errorf("a trace of parts that only say which run they are of says %+v", o)
		}
	}
}

// TestFilesNamesAll merges files that are no parts, parts that are damaged inside, and a directory
// without any: all of them are named, where no head of a file says what is wrong, too.
func TestFilesNamesAll(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(name, []byte("a note"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var whole []string
	var damaged []string
	for rank := range 4 {
		a := new(merge.Accumulator)
		var file bytes.Buffer
		p := programs.Stencil2D(2, 2, 10)
		if err := errors.Join(a.Describe(p.Run()), a.Add(p.Part(rank)), a.WritePart(&file)); err != nil {
			t.Fatal(err)
		}
		name, data := fmt.Sprintf("part%d", rank), file.Bytes()
		whole = append(whole, name)
		if rank%2 == 1 { // in calls, of which the heads say nothing
			damaged = append(damaged, name)
			data = damagedInside(t, data)
		}
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("directory", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ parts, named []string }{
		{[]string{"a", "b", "none"}, []string{"a", "b", "none"}},
		{whole, damaged},
		{append(whole, "a"), append(damaged, "a")},
		{append(whole, "directory", "b"), append(damaged, "directory", "b")},
	} {
		err := merge.Files("out", 0, tt.parts...)
		var named []string
		for line := range strings.Lines(fmt.Sprintln(err)) {
			name, _, _ := strings.Cut(line, ": ")
			named = append(named, name)
		}
		if slices.Sort(named); !slices.Equal(named, slices.Sorted(slices.Values(tt.named))) {
			t.Errorf("%v: named are %q, want %q", tt.parts, named, tt.named)
		}
		if part := (*merge.PartError)(nil); !errors.As(err, &part) || !slices.Contains(tt.named, part.Path) {
			t.Errorf("%v: %v is no error of a part", tt.parts, err)
		}
	}
	err := merge.Files("none/out", 0, whole[0])
	if part := (*merge.PartError)(nil); !errors.Is(err, fs.ErrNotExist) || errors.As(err, &part) {
		t.Errorf("%v, which is of the output, is an error of a part", err)
	}
}

// damagedInside returns a part file that is damaged where only who merges it looks.
func damagedInside(t *testing.T, part []byte) []byte {
	t.Helper()
	for at := range part {
		damaged := slices.Clone(part)
		damaged[at] ^= 1
		file, err := format.NewReader(bytes.NewReader(damaged), int64(len(damaged)),
			layout.FileOptions(int64(len(damaged)), 0))
		if err != nil {
			continue
		}
		if _, _, err := merge.ReadPartRanks(file); err != nil {
			continue
		}
		if _, err := layout.ReadOrigin(file); err != nil {
			continue
		}
		if _, err := merge.ReadPart(file); err != nil {
			return damaged
		}
	}
	t.Fatal("no bit of the part is looked at later")
	return nil
}
