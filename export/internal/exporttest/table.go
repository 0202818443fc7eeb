package exporttest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/export/internal/rows"
	"github.com/reprise-trace/reprise/internal/test/foreign"
	"pgregory.net/rapid"
)

// A Row is the values of a row by column. What is missing has no value.
type Row map[string]string

// Result returns what [Compare] is to compare of what a query returned.
func Result(r foreign.Result) (rows int, got func(row int, column string) (string, bool)) {
	at := make(map[string]int)
	for i, name := range r.Names {
		at[name] = i
	}
	return len(r.Rows), func(row int, column string) (string, bool) {
		i, ok := at[column]
		if !ok || r.Rows[row][i] == nil {
			return "", false
		}
		return *r.Rows[row][i], true
	}
}

// Compare checks that rows are those that are wanted: got returns a value, and whether
// there is one.
func Compare(t testing.TB, columns []string, want []Row, rows int, got func(row int, column string) (string, bool)) {
	t.Helper()
	if rows != len(want) {
		t.Fatalf("%d rows, want %d", rows, len(want))
	}
	for i := range want {
		found := 0
		for _, c := range columns {
			w, there := want[i][c]
			if there {
				found++
			}
			if g, ok := got(i, c); ok != there || g != w && !sameFloat(g, w) {
				t.Fatalf("row %d, %s: %q, %t, want %q, %t", i, c, g, ok, w, there)
			}
		}
		if found != len(want[i]) {
			t.Fatalf("row %d has %d values, want those of %v in columns %v", i, found, want[i], columns)
		}
	}
}

// sameFloat reports whether two texts are the same floating-point number.
func sameFloat(a, b string) bool {
	if _, err := strconv.ParseInt(b, 10, 64); err == nil && !strings.ContainsAny(a, ".eE") {
		return false // integers are exact
	}
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err == nil && err2 == nil && fmt.Sprint(x) == fmt.Sprint(y)
}

// Read returns the columns of a table by name, and its rows.
func Read(t rapid.TB, table *rows.Table) (names []string, all []Row) {
	t.Helper()
	for _, c := range table.Columns() {
		names = append(names, c.Name)
	}
	for g, err := range table.Groups(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, readGroup(t, table, g)...)
		g.Release()
	}
	return names, all
}

func readGroup(t rapid.TB, table *rows.Table, g *rows.Group) []Row {
	t.Helper()
	group := make([]Row, g.Len())
	for i := range group {
		group[i] = make(Row)
	}
	next := 0
	for k := range g.Segments {
		s := &g.Segments[k]
		if s.Begin != next || s.End <= s.Begin {
			t.Fatalf("rows %d to %d after row %d", s.Begin, s.End, next)
		}
		next = s.End
		for i := s.Begin; i < s.End; i++ {
			readRow(t, table, s, g.Codes()[i], group[i])
		}
	}
	if next != g.Len() {
		t.Fatalf("%d rows of %d have a rank", next, g.Len())
	}
	for _, c := range table.Columns() {
		if !c.Unique {
			continue
		}
		if c.Type == rows.List {
			for i := range group {
				if list := c.List(g, i); len(list) > 0 {
					group[i][c.Name] = strings.Join(strings.Fields(fmt.Sprint(list)), ", ")
				}
			}
			continue
		}
		half, there := g.Len()/2, c.There(g)
		if c.Optional != (there != nil) {
			t.Fatalf("column %s, optional %t, says of %d rows whether they have values", c.Name, c.Optional, len(there))
		}
		for i, v := range c.AppendInts(c.AppendInts(nil, g, 0, half), g, half, g.Len()) {
			switch {
			case c.Optional && !there[i]:
			case c.Type == rows.Time:
				group[i][c.Name] = time.Unix(0, v).UTC().Format("2006-01-02T15:04:05.000000000Z")
			default:
				group[i][c.Name] = strconv.FormatInt(v, 10)
			}
		}
	}
	return group
}

// readRow reads the columns of a row that are not unique.
func readRow(t rapid.TB, table *rows.Table, s *rows.Segment, code uint32, row Row) {
	t.Helper()
	for _, c := range table.Columns() {
		if c.Unique {
			continue
		}
		switch cell := c.Cell(s, code); {
		case !cell.Valid && !c.Optional:
			t.Fatalf("column %s, which is not optional, has no value", c.Name)
		case !cell.Valid:
		case c.Type == rows.Int:
			row[c.Name] = strconv.FormatInt(cell.Int, 10)
		case c.Type == rows.Float:
			row[c.Name] = strconv.FormatFloat(cell.Float, 'g', -1, 64)
		default:
			row[c.Name] = cell.Text
		}
	}
	if rank, ok := row["rank"]; ok && rank != strconv.Itoa(s.Rank) {
		t.Fatalf("a row of rank %s in those of rank %d", rank, s.Rank)
	}
}
