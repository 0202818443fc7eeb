package interpose

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	. "github.com/reprise-trace/reprise/mpi/internal/spool"
)

// TestCalls runs a program that writes down its calls and their arguments, and
// compares them with what was recorded.
func TestCalls(t *testing.T) {
	forEachMPI(t, func(t *testing.T, m *implementation) {
		for _, ranks := range []int{2, 3} {
			said, spool := t.TempDir(), t.TempDir()
			m.run(t, strconv.Itoa(ranks), spool, m.build(t, "calls.c"), said)
			compareCalls(t, ranks, said, spool)
		}
	})
}

// TestLoaded does the same for a program that an interpreter loads.
func TestLoaded(t *testing.T) {
	forOneMPI(t, func(t *testing.T, m *implementation) {
		said, spool := t.TempDir(), t.TempDir()
		m.run(t, "2", spool, loader(t), m.build(t, "calls.c", "-shared", "-fPIC"), said)
		compareCalls(t, 2, said, spool)
	})
}

// loader builds a program that loads another.
func loader(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "loader")
	command := exec.Command("cc", "-o", path, filepath.Join("testdata", "loader.c"), "-ldl")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, output)
	}
	return path
}

// TestForeign runs programs with the interposer of another MPI: they do what they do
// without, be they linked with MPI or loaded later, and a script may use both.
func TestForeign(t *testing.T) {
	var all []*implementation
	const said = "uses another MPI than the interposer was built for"
	forEachMPI(t, func(t *testing.T, m *implementation) {
		all = append(all, m)
	})
	forEachMPI(t, func(t *testing.T, m *implementation) {
		own := m.library
		for _, other := range all {
			if other.mpicc == m.mpicc {
				continue
			}
			m.library = other.library
			for _, line := range [][]string{{m.build(t, "calls.c")},
				{loader(t), m.build(t, "calls.c", "-shared", "-fPIC")}} {
				directory, spool := t.TempDir(), t.TempDir()
				output := m.run(t, "2", spool, line[0], append(line[1:], directory)...)
				if strings.Count(output, said) != 2 {
					t.Errorf("the program says %q", output)
				}
				for rank := range 2 {
					lines, err := os.ReadFile(filepath.Join(directory, fmt.Sprint("said.", rank)))
					if err != nil || strings.Contains(string(lines), "wrong") ||
						!strings.HasSuffix(string(lines), "MPI_Finalize result>0\n") {
						t.Errorf("the program ended with %v\n%s", err, lines)
					}
				}
				if files, err := os.ReadDir(spool); err != nil || len(files) > 0 {
					t.Errorf("the spool has %v, %v", files, err)
				}
			}
			spool := t.TempDir()
			m.library = own
			c := m.command(t.Context(), t, "1", spool, "")
			c.Path, c.Args = "/bin/sh", []string{"sh", "-c",
				m.build(t, "local.c") + " 10 && " + other.build(t, "local.c") + " 10"}
			if output, err := c.CombinedOutput(); err != nil || strings.Count(string(output), said) != 1 {
				t.Errorf("the script ended with %v\n%s", err, output)
			}
			processes := make(map[Process]bool)
			for _, thread := range threads(t, spool)[0] {
				processes[thread.Process] = true
			}
			if len(processes) != 1 {
				t.Errorf("processes %v in the spool", processes)
			}
		}
	})
}

func compareCalls(t *testing.T, ranks int, said, spool string) {
	t.Helper()
	byRank := threads(t, spool)
	if len(byRank) != ranks {
		t.Fatalf("ranks %v in the spool, want %d", byRank, ranks)
	}
	for rank := range ranks {
		lines, err := os.ReadFile(filepath.Join(said, fmt.Sprint("said.", rank)))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Split(strings.TrimSpace(string(lines)), "\n")
		readAll(t, byRank[rank][0], func(r *Record) {
			if r.Type != Call {
				return
			}
			if len(want) == 0 {
				t.Errorf("rank %d: %s was not called", rank, r)
				return
			}
			checkCall(t, want[0], r)
			want = want[1:]
		})
		if len(want) > 0 {
			t.Errorf("rank %d: %d calls are missing, from %s", rank, len(want), want[0])
		}
	}
}

var words = regexp.MustCompile(`(?:"[^"]*"|[^ "])+`)

// checkCall compares a call with what the program said of it.
func checkCall(t *testing.T, said string, r *Record) {
	t.Helper()
	list := words.FindAllString(said, -1)
	depth := 0
	if list[0] == "in" {
		depth, list = 1, list[1:]
	}
	f := &functions[r.Function]
	if f.Name != list[0] || r.Depth != depth {
		t.Fatalf("recorded %s, the program says %s", r, said)
	}
	if r.End < r.Start || r.Start == 0 {
		t.Errorf("%s from %d to %d", f.Name, r.Start, r.End)
	}
	var hidden, failed bool
	for _, word := range list[1:] {
		switch i := strings.IndexAny(word, "<>"); {
		case word == "hidden":
			hidden = true
		case word == "failed":
			failed = true
		default:
			got := saidValue(r, word[:i], word[i] == '>')
			if word[i+1:] == "ignored" {
				got, _, _ = strings.Cut(got, " [") // what the interposer has asked for
			}
			if got != word[i+1:] {
				t.Errorf("%s is %s, the program says %s\n%s", word[:i], got, said, r)
			}
		}
	}
	if r.Hidden != hidden || r.Failed != failed {
		t.Errorf("recorded %s, the program says %s", r, said)
	}
}

// saidValue returns the value of an argument as the program writes it.
func saidValue(r *Record, name string, after bool) string {
	f := &functions[r.Function]
	for i := range f.Params {
		if p := &f.Params[i]; p.Name == name && after {
			return r.Arguments[i].After.Format(p)
		} else if p.Name == name {
			return r.Arguments[i].Before.Format(p)
		}
	}
	if name == "made" {
		return fmt.Sprintf("{%d,%d}", r.Group.Rank, r.Group.Size)
	}
	if name == "result" && f.Result.Kind == cst.KindFloat {
		return strconv.FormatFloat(r.Float(), 'g', 17, 64)
	} else if name == "result" {
		return fmt.Sprint(r.Result)
	}
	return "no parameter"
}
