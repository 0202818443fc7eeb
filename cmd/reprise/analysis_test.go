package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/foreign"
)

// queryBlock is a query in a document, with its answer if it has one.
var queryBlock = regexp.MustCompile("(?s)```sql\n(.*?)```\n(\n```\n.*?```\n)?")

// TestAnalysis runs the queries of docs/analysis.md on the trace that it names, and compares
// the answers.
func TestAnalysis(t *testing.T) {
	document, err := filepath.Abs(filepath.Join("..", "..", "docs", "analysis.md"))
	if err != nil {
		t.Fatal(err)
	}
	trace, err := filepath.Abs(filepath.Join("..", "..", "examples", "notebook", "heat.rpz"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	must(t, "export", trace, "-o", "calls.parquet")
	must(t, "export", trace, "-o", "messages.parquet", "--by", "message")
	want := readFile(t, document)
	queries := 0
	got := queryBlock.ReplaceAllStringFunc(want, func(block string) string {
		queries++
		query := queryBlock.FindStringSubmatch(block)[1]
		return "```sql\n" + query + "```\n\n```\n" + aligned(foreign.DuckDB(t, query)) + "```\n"
	})
	if queries < 10 {
		t.Errorf("%d queries", queries)
	}
	if *update {
		writeFile(t, document, got)
	} else if got != want {
		t.Errorf("answers differ, from %q on: run go test -update and look at what changed", firstDifference(got, want))
	}
}

var number = regexp.MustCompile(`^-?[0-9.]*$`)

// aligned returns a table as text: columns of numbers are aligned to the right.
func aligned(r foreign.Result) string {
	rows := [][]string{r.Names}
	width, right := make([]int, len(r.Names)), make([]bool, len(r.Names))
	for i, name := range r.Names {
		width[i], right[i] = len(name), true
	}
	for _, row := range r.Rows {
		texts := make([]string, len(row))
		for i, v := range row {
			if v != nil {
				texts[i] = *v
			}
			width[i], right[i] = max(width[i], len(texts[i])), right[i] && number.MatchString(texts[i])
		}
		rows = append(rows, texts)
	}
	var out strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, v := range row {
			space := strings.Repeat(" ", width[i]-len(v))
			if right[i] {
				v = space + v
			} else {
				v += space
			}
			line.WriteString(v + "  ")
		}
		out.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return out.String()
}
