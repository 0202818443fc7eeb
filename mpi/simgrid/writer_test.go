package simgrid

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
)

// bad is a call that cannot be written.
var bad = Call{Function: whole, Args: []cst.Value{cst.String("a\nb")}}

func TestWriter(t *testing.T) {
	var b strings.Builder
	w := NewWriter(&b)
	calls := readText(t, "0 init\n0 barrier")
	for range 2 {
		for _, c := range calls {
			if err := w.Write(c); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Write(bad); !errors.Is(err, wire.ErrCorrupt) {
			t.Fatalf("err = %v", err)
		}
	}
	if b.Len() > 0 {
		t.Errorf("wrote %q before Flush", b.String())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "0 init\n0 barrier\n0 init\n0 barrier"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

// TestWriteSeveral checks that the calls of several files are written as their
// texts one after the other, each from a new line, without the list that named
// them.
func TestWriteSeveral(t *testing.T) {
	tests := []struct{ name, first, second, want string }{
		{"Lines", "0 init\n0 wait 01\n", "# comment\n1 init\n", "0 init\n0 wait 01\n# comment\n1 init\n"},
		{"NoLastLineFeed", "0 init\n", "1 init", "0 init\n1 init"},
		{"NoLineFeedBetween", "0 init", "1 init\n", "0 init\n1 init\n"},
		{"Empty", "", "\n1 init\n", "\n1 init\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := files(t, map[string]string{"a": tt.first, "b": tt.second, "list": "# comment\na\nb\n"})
			r, err := Open([]string{filepath.Join(dir, "list")}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if got := write(t, readAll(t, r)); got != tt.want {
				t.Errorf("wrote %q, want %q", got, tt.want)
			}
		})
	}
}

func TestWriterError(t *testing.T) {
	boom := errors.New("boom")
	w := NewWriter(failing{boom})
	c := readText(t, "0 init\n")[0]
	for range flushSize {
		if err := w.Write(c); err != nil {
			break
		}
	}
	if err := w.Write(c); err != boom {
		t.Errorf("Write: %v", err)
	}
	if err := w.Close(); err != boom {
		t.Errorf("Flush: %v", err)
	}
}

// failing is a writer that fails.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestRankWriter checks that the files hold the lines of their ranks, and that
// reading them gives these again.
func TestRankWriter(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		calls, err := readSome(NewReader(strings.NewReader(textGen.Draw(t, "text")), Options{maxRanks: 20}))
		if err != nil {
			return // a line feed before a large number made it a rank
		}
		ranks := 1
		perRank := make(map[int][]Call)
		for _, c := range calls {
			ranks = max(ranks, c.Rank+1)
			perRank[c.Rank] = append(perRank[c.Rank], c)
		}
		sub := filepath.Join(dir, strconv.Itoa(n))
		n++
		if err := os.Mkdir(sub, 0o777); err != nil {
			t.Fatal(err)
		}
		w, err := CreateRanks(t.Context(), sub, "t", ranks)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			if err := w.Write(c); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for rank := range ranks {
			got, err := os.ReadFile(filepath.Join(sub, w.file(rank)))
			if want := write(t, perRank[rank]); err != nil || string(got) != want {
				t.Fatalf("rank %d: %q, %v, want %q", rank, got, err, want)
			}
		}
		list, err := os.ReadFile(filepath.Join(sub, "t.txt"))
		if lines := strings.Count(string(list), "\n"); err != nil || lines != ranks ||
			!strings.HasPrefix(string(list), "t_rank-1.txt\n") {
			t.Fatalf("list = %q, %v", list, err)
		}
		r, err := Open([]string{filepath.Join(sub, "t.txt")}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if got := readAll(t, r); len(got) != len(calls) {
			t.Fatalf("read %d calls of %d", len(got), len(calls))
		}
	})
}

// TestRankWriterLarge writes more than is held for a rank and in all.
func TestRankWriterLarge(t *testing.T) {
	const ranks, long = 40, 60_000
	dir := t.TempDir()
	w, err := CreateRanks(t.Context(), dir, "t", ranks)
	if err != nil {
		t.Fatal(err)
	}
	w.limit = 20 * long
	c := Call{Function: opaque, Args: []cst.Value{cst.String(strings.Repeat("x", long) + "\n")}}
	for i := range 3 * ranks {
		c.Rank = i % ranks
		if err := w.Write(c); err != nil {
			t.Fatal(err)
		}
		if w.size > w.limit {
			t.Fatalf("%d bytes held", w.size)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open([]string{filepath.Join(dir, "t.txt")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n := len(readAll(t, r)); n != 3*ranks {
		t.Errorf("read %d calls", n)
	}
}

// TestRankWriterRemoves checks that a failure leaves no file behind, and no file
// is replaced.
func TestRankWriterRemoves(t *testing.T) {
	barrier := readText(t, "2 barrier\n")[0]
	tests := []struct {
		name string
		file string // that exists
		end  func(w *Writer) error
	}{
		{"ListExists", "t.txt", nil},
		{"FileExists", "t_rank-3.txt", (*Writer).Close},
		{"LastFileExists", "t_rank-4.txt", (*Writer).Close},
		{"Abort", "other", func(w *Writer) error { w.Abort(); return w.Write(barrier) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := files(t, map[string]string{tt.file: "precious"})
			w, err := CreateRanks(t.Context(), dir, "t", 4)
			if tt.end != nil {
				if err != nil {
					t.Fatal(err)
				}
				for range flushSize/len("2 barrier\n") - 1 {
					if err := w.Write(barrier); err != nil {
						t.Fatal(err)
					}
				}
				if err = w.Write(bad); !errors.Is(err, wire.ErrCorrupt) {
					t.Fatalf("err = %v", err)
				}
				err = tt.end(w)
			}
			if err == nil || tt.file != "other" && !errors.Is(err, os.ErrExist) {
				t.Errorf("err = %v", err)
			}
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != 1 || entries[0].Name() != tt.file {
				t.Errorf("left behind: %v, %v", entries, err)
			}
			if data, err := os.ReadFile(filepath.Join(dir, tt.file)); err != nil || string(data) != "precious" {
				t.Errorf("%s = %q, %v", tt.file, data, err)
			}
		})
	}
}

func TestCreateRanksErrors(t *testing.T) {
	for _, name := range []string{"", "a/b", "../a", "/"} {
		if _, err := CreateRanks(t.Context(), t.TempDir(), name, 1); err == nil {
			t.Errorf("accepted name %q", name)
		}
	}
	for _, ranks := range []int{-1, defaultMaxRanks + 1} {
		if _, err := CreateRanks(t.Context(), t.TempDir(), "t", ranks); !errors.Is(err, wire.ErrLimit) {
			t.Errorf("%d ranks: %v", ranks, err)
		}
	}
	w, err := CreateRanks(t.Context(), t.TempDir(), "t", 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(Call{Rank: 1, Function: actions}); !errors.Is(err, wire.ErrCorrupt) {
		t.Errorf("rank 1 of 1: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err == nil {
		t.Error("closed twice")
	}
}

// TestPipe checks that calls are read as soon as their lines are there.
func TestPipe(t *testing.T) {
	pr, pw := io.Pipe()
	lines := make(chan string)
	go func() {
		for s := range lines {
			io.WriteString(pw, s)
		}
		pw.Close()
	}()
	lines <- "0 init\n0 fin"
	r, err := Open([]string{"-"}, Options{Stdin: pr})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Read(); err != nil {
		t.Fatal(err)
	}
	lines <- "alize\n"
	close(lines)
	if n := len(readAll(t, r)); n != 1 {
		t.Errorf("%d calls", n)
	}
}
