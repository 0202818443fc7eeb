package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/tracer"
)

// widthOf returns how many columns a line takes.
func widthOf(line string) int { return text.RulerOf(new(endless)).Width(line) }

// writeWide writes traces that have what takes room: long and wide names, names that a
// terminal could take for more, ranks that form no pattern, a million ranks.
func writeWide(t *testing.T) []string {
	t.Helper()
	var hostile []merge.Part
	for rank := range 40 {
		var r tracer.Recorder
		for i, name := range []string{
			"MPI_Send", strings.Repeat("long_", 60), strings.Repeat("长い名前", 30),
			"é\u0301\u0301👩‍👩‍👧" + strings.Repeat("🙂", 50), "a\x1b[2Jb\nc\td", "", "\xff\xfe",
		} {
			f := cst.Function{Name: name, Params: []cst.Param{
				{Name: strings.Repeat("параметр", 5), Type: cst.Type{Kind: cst.KindString}},
				{Name: "dest", Type: cst.Type{Kind: cst.KindRank}},
			}}
			for j := range (rank*rank*7)%5 + 1 {
				r.CallAt(r.Declare(f), int64(1000*i+100*j), 10, cst.String(strings.Repeat("世界 ", 20)),
					cst.Rank(int64(rank*rank)%40))
			}
		}
		hostile = append(hostile, r.Finish(rank))
	}
	writeTrace(t, "hostile.rpz", merge.Run{Ranks: 40, Source: strings.Repeat("源", 30)}, hostile...)

	var deep, deeper tracer.Recorder
	send := deep.Declare(cst.Function{Name: "MPI_Send"})
	nest(&deep, send, 9)
	deeper.Declare(cst.Function{Name: "MPI_Send"})
	nest(&deeper, send, 8)
	writeTrace(t, "deep.rpz", merge.Run{Ranks: 2}, deep.Finish(0), deeper.Finish(1))

	names := []string{"hostile.rpz", "deep.rpz", "timed.rpz"}
	for name, p := range map[string]programs.Program{
		"stencil.rpz":  programs.Stencil3D(3, 3, 3, 1e12).Timed(),
		"permuted.rpz": programs.Permutation(300, 100, 1).Timed(),
		"partners.rpz": programs.RandomPartners(60, 20, 1),
		"refined.rpz":  programs.Refinement(60, 20, 50, 1).Timed(),
	} {
		writeTrace(t, name, p.Run(), p.Parts()...)
		names = append(names, name)
	}

	var a merge.Accumulator
	var bytes bytes.Buffer
	var one tracer.Recorder
	one.CallAt(one.Declare(cst.Function{Name: "MPI_Init"}), 0, 5)
	part := one.Finish(0)
	for rank := 999_999; rank >= 999_000; rank -= 1 + rank%7 {
		part.Rank = rank
		if err := a.Add(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Describe(merge.Run{Ranks: 1e6}); err != nil {
		t.Fatal(err)
	}
	if err := a.Write(&bytes); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "million.rpz", bytes.String())
	slices.Sort(names)
	return append(names, "million.rpz", "long.rpz", "empty.rpz")
}

// nest makes calls in loops in loops, that end differently each time.
func nest(r *tracer.Recorder, f int, depth int) {
	for i := range 3 {
		if depth > 0 {
			nest(r, f, depth-1)
		}
		r.Call(f)
		if depth%2 == 0 && i == depth%3 {
			r.Call(f)
		}
	}
}

// TestWidth checks that no line of a table or another answer is wider than the output,
// unless it has a single word that is, and that nothing is cut with --wide.
func TestWidth(t *testing.T) {
	tier.SlowRace(t)
	t.Chdir(t.TempDir())
	writeInputs(t)
	for i, name := range writeWide(t) {
		for j, command := range []string{
			"info %s", "info %s --all", "profile %s", "profile %s --by signature", "profile %s --by site",
			"profile %s --by rank", "profile %s --from 0 --to 1ms",
			"profile %s --from 0 --by signature", "grammar %s", "grammar %s --shape 0", "messages %s",
			"messages %s --by size", "messages %s --by communicator", "match %s", "hang %s",
			"waits %s", "efficiency %s", "efficiency %s --all", "predict %s", "at %s 2us",
			"diff %s ring.rpz", "diff ring.rpz %s --all", "codecs %s",
		} {
			command = fmt.Sprintf(command, name)
			widths := []int{40, 80, 120}
			if k := i + j; !tier.Nightly {
				if k%48 > 0 {
					continue
				}
				widths = widths[k/48%3:][:1]
			}
			for _, columns := range widths {
				r := invokeIn(t, columns, strings.Fields(command)...)
				if r.status == cli.ExitUsage {
					t.Errorf("reprise %s: %s", command, r.stderr)
				}
				for line := range strings.Lines(r.stdout) {
					line = strings.TrimSuffix(line, "\n")
					if width := widthOf(line); width > columns && strings.Contains(strings.TrimSpace(line), " ") {
						t.Errorf("reprise %s, %d columns: %d in %s", command, columns, width, line)
					}
				}
			}
			if r := invoke(t, "", strings.Fields(command)...); strings.Contains(r.stdout, "no room for") {
				t.Errorf("reprise %s: columns are left out: %s", command, r.stdout)
			}
		}
	}
}

// TestWide checks that --wide and a wide COLUMNS give whole texts.
func TestWide(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	p := programs.Stencil2D(3, 3, 10).Timed()
	writeTrace(t, "stencil.rpz", p.Run(), p.Parts()...)
	const command = "profile stencil.rpz --by signature"
	whole := must(t, strings.Fields(command)...)
	if narrow := invokeIn(t, 80, strings.Fields(command)...); !strings.Contains(narrow.stdout, "…") ||
		strings.Contains(whole, "…") {
		t.Errorf("80 columns: %s, endless: %s", narrow.stdout, whole)
	}
	if r := invokeIn(t, 80, strings.Fields(command+" --wide")...); r.stdout != whole {
		t.Errorf("--wide: %s, want %s", r.stdout, whole)
	}
	if r := invokeIn(t, 500, strings.Fields(command)...); r.stdout != whole {
		t.Errorf("COLUMNS=500: %s, want %s", r.stdout, whole)
	}
}

// TestNarrowLoops checks that lines of 60 columns show how loops are nested, as long lines do.
func TestNarrowLoops(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	var r tracer.Recorder
	call := r.Declare(cst.Function{Name: "MPI_Waitall",
		Params: []cst.Param{{Name: "requests", Type: cst.Type{Kind: cst.KindString}},
			{Name: "site", Type: cst.Type{Kind: cst.KindString}}}})
	for i := range int64(100) {
		for j := range int64(5) {
			r.CallAt(call, 1000*i+100*j, 10, cst.String(strings.Repeat("0, ", 30)), cst.String("stencil.c:30 main"))
		}
		r.CallAt(call, 1000*i+600, 10, cst.String(strings.Repeat("1, ", 30)), cst.String("stencil.c:40 main"))
	}
	writeTrace(t, "nested.rpz", merge.Run{Ranks: 1}, r.Finish(0))
	indents := func(text string) (columns []int) {
		_, text, _ = strings.Cut(text, "share\n")
		for line := range strings.Lines(text) {
			_, rest, _ := strings.Cut(line, "%")
			columns = append(columns, len(rest)-len(strings.TrimLeft(rest, " ")))
		}
		return columns
	}
	long := must(t, "grammar", "nested.rpz")
	for _, columns := range []int{60, 70} {
		narrow := invokeIn(t, columns, "grammar", "nested.rpz").stdout
		if got, want := indents(narrow), indents(long); !slices.Equal(got, want) ||
			len(slices.Compact(slices.Sorted(slices.Values(want)))) < 2 || !strings.Contains(narrow, "stencil.c:30") {
			t.Errorf("%d columns: indented by %d, want %d:\n%s", columns, got, want, narrow)
		}
	}
}

// TestLostAnswer checks that an error of the output does not name the trace.
func TestLostAnswer(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	var stderr bytes.Buffer
	status := run(t.Context(), []string{"info", "ring.rpz"}, strings.NewReader(""),
		&failingWriter{10, errors.New("no space")}, &stderr)
	if status != cli.ExitFailure || stderr.String() != "reprise: no space\n" {
		t.Errorf("status %d, %q", status, stderr.String())
	}
}
