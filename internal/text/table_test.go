package text

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// testTableWidth checks tables of any cells at any width: no line is wider, unless a number
// or a title alone is, and numbers and titles are whole.
func testTableWidth(t *rapid.T) {
	columns := rapid.IntRange(20, 160).Draw(t, "columns")
	texts := rapid.StringOfN(rapid.SampledFrom([]rune("ab ,é世界(=)")), 0, 90, -1)
	titles := rapid.SliceOfN(
		rapid.SampledFrom([]string{"calls", "", "in rank", "?mean time", "?size", "&", "&rank",
			"first: rank"}), 1, 12).Draw(t, "titles")
	if rapid.Bool().Draw(t, "left") {
		titles = append(titles, "<signature")
	}
	if rapid.Bool().Draw(t, "name") {
		titles = append([]string{"<name of it"}, titles...)
	}
	long := rapid.SliceOfN(rapid.Bool(), len(titles), len(titles)).Draw(t, "long")
	s := &screen{columns: columns, styled: rapid.Bool().Draw(t, "styled")}
	table := NewTable(s, All, titles...)
	if rapid.Bool().Draw(t, "wrapped") {
		table.Wrapped()
	}
	widest := 0
	var numbers []string
	for _, title := range titles {
		for word := range strings.FieldsSeq(strings.TrimLeft(title, "<?&")) {
			widest = max(widest, len(word))
		}
		if strings.HasPrefix(title, "<") {
			widest = max(widest, len(title))
		}
	}
	for range rapid.IntRange(1, 5).Draw(t, "rows") {
		row := make([]any, len(titles))
		for i, title := range titles {
			switch {
			case strings.HasPrefix(title, "<"):
				row[i] = texts.Draw(t, "text")
			case long[i]:
				row[i] = Long(texts.Draw(t, "long text"))
				widest = max(widest, minLong)
			default:
				n := rapid.Uint64().Draw(t, "number")
				row[i] = strconv.FormatUint(n, 10)
				widest = max(widest, len(row[i].(string)))
				if !strings.HasPrefix(title, "?") && !strings.HasPrefix(title, "&") {
					numbers = append(numbers, row[i].(string))
				}
			}
		}
		table.Row(row...)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	out, note, _ := strings.Cut(escape.ReplaceAllString(s.String(), ""), "\nno room for ")
	r := RulerOf(s)
	for line := range strings.Lines(out) {
		if width := r.Width(strings.TrimSuffix(line, "\n")); width > max(columns, indent+between+widest) {
			t.Fatalf("%d columns of %d: %s\n%s", width, columns, line, out)
		}
	}
	words := strings.Fields(out)
	for _, n := range numbers {
		if !slices.Contains(words, n) {
			t.Fatalf("%s is not whole in\n%s", n, out)
		}
	}
	for _, title := range titles {
		for word := range strings.FieldsSeq(strings.TrimLeft(title, "<?&")) {
			if !strings.Contains(out, word) && !strings.Contains(note, word) && !strings.HasPrefix(title, "&") {
				t.Fatalf("the title %s is not in\n%s", word, out)
			}
		}
	}
}

func TestTableWidth(t *testing.T) { rapid.Check(t, testTableWidth) }

// TestCut checks where texts are cut.
func TestCut(t *testing.T) {
	r := RulerOf(&screen{columns: 80})
	for _, tt := range []struct {
		text    string
		columns int
		want    string
	}{
		{"MPI_Send(buf=heap#0, count=1, comm=MPI_COMM_WORLD, site=\"a.c:26 main\")", 40,
			"MPI_Send(buf=heap#0,…site=\"a.c:26 main\")"},
		{"MPI_Send(buf=heap#0, count=1, comm=MPI_COMM_WORLD, site=\"a.c:26 main\")", 25, "MPI_Send(bu…a.c:26 main\")"},
		{"MPI_Send(buf=heap#0, count=1, comm=MPI_COMM_WORLD, site=\"a.c:26 main\")", 18, "MPI_Send(b…a.c:26…"},
		{"before MPI_Isend(buf=heap#0+32768, count=1, site=\"halo.c:19 main\")", 34,
			"before MPI_Isend(…halo.c:19 main\")"},
		{"before MPI_Isend(buf=heap#0+32768, count=1, site=\"halo.c:19 main\")", 33,
			"before MPI_Isend(buf=h…halo.c:19…"},
		{"MPI_Send(buf=heap#0)", 20, "MPI_Send(buf=heap#0)"},
		{"MPI_Send(buf=heap#0)", 19, "MPI_Send(buf…eap#0)"[:12] + "…" + "eap#0)"},
		{"compute(flops={1001…1300 by call})", 30, "compute(flops={1001…by call})"},
		{"compute(flops={1001…1300 by call})", 26, "compute(flops={1001…call})"},
		{"0, 2, 7, 11, 16, 23, 30", 12, "0, 2, 7, …30"},
		{"世界世界世界", 7, "世界…界"},
		{"abc", 1, "…"}, {"abc", 0, ""}, {"", 0, ""},
	} {
		if got := r.Cut(tt.text, tt.columns); got != tt.want || r.Width(got) > tt.columns {
			t.Errorf("%s in %d columns is %s, want %s", tt.text, tt.columns, got, tt.want)
		}
	}
}

// TestFolder checks how long lines are broken.
func TestFolder(t *testing.T) {
	s := &screen{columns: 20}
	f := NewFolder(s)
	styled := "\x1b[1mtwelve chars\x1b[0m and 3\n" // as wide as the screen
	for _, part := range []string{styled, "a line that is", " rather too long for it\nshort\n",
		"  with an indent, and long\n", strings.Repeat("x", 30) + "\nno end"} {
		if n, err := f.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	want := styled + "a line that is\n  rather too long\n  for it\nshort\n  with an indent,\n    and long\n" +
		strings.Repeat("x", 30) + "\nno end"
	if s.String() != want {
		t.Errorf("got\n%s\nwant\n%s", s.String(), want)
	}
}
