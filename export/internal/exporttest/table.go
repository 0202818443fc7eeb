package exporttest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export/internal/rows"
	"github.com/reprise-trace/reprise/internal/foreign"
	"github.com/reprise-trace/reprise/query"
	"pgregory.net/rapid"
)

// A Row is the values of a row by column. What is missing has no value.
type Row map[string]string

// Rows returns the rows that a table of the calls of a trace is to have, without what
// calls mean to others, and with arguments by the names of columns, which of maps a
// parameter of a function to. It goes through the calls one by one.
func Rows(t testing.TB, trace *reprise.Trace, column func(f *cst.Function, param int) string) []Row {
	t.Helper()
	times, err := query.OpenTimes(trace)
	if err != nil {
		t.Fatal(err)
	}
	printer := trace.Printer(reprise.PrintOptions{})
	var all []Row
	for number := range trace.Ranks() {
		rank, err := trace.Rank(number)
		if err != nil {
			t.Fatal(err)
		}
		clock, err := times.Clock(rank)
		if err != nil {
			t.Fatal(err)
		}
		for position, c := range clock.Calls(0) {
			row := Row{
				"rank": strconv.Itoa(number), "position": strconv.FormatUint(position, 10), "function": text(c.Function.Name),
				"call": string(printer.AppendCall(nil, c)), "signature": strconv.Itoa(rank.Signature(c.Terminal)), "thread": strconv.Itoa(c.Thread()),
			}
			if c.Timed {
				row["start_ns"], row["duration_ns"] = strconv.FormatInt(c.Start, 10), strconv.FormatInt(c.Duration, 10)
				row["time_source"] = clock.Source().String()
			}
			for i, v := range c.Args {
				if name := column(c.Function, i); name != "" {
					row[name] = argument(printer, c, i, v)
				}
			}
			all = append(all, row)
		}
	}
	return all
}

// argument returns an argument as a column has it.
func argument(p *reprise.Printer, c reprise.Call, i int, v cst.Value) string {
	switch v.Kind() {
	case cst.KindInt, cst.KindRank, cst.KindTag:
		return strconv.FormatInt(v.Int(), 10)
	case cst.KindFloat:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case cst.KindString:
		return text(v.Text())
	case cst.KindArray:
		if list, ok := numbers(v); ok {
			return list
		}
	}
	return string(p.AppendArgument(nil, c, i))
}

// numbers returns an array as a JSON list, if it is of numbers.
func numbers(v cst.Value) (string, bool) {
	var list []string
	for i := range v.Len() {
		switch e := v.Index(i); e.Kind() {
		case cst.KindInt, cst.KindRank, cst.KindTag:
			list = append(list, strconv.FormatInt(e.Int(), 10))
		case cst.KindFloat:
			s := strconv.FormatFloat(e.Float(), 'g', -1, 64)
			if strings.ContainsAny(s, "NI") {
				s = `"` + s + `"`
			}
			list = append(list, s)
		case cst.KindArray:
			inner, ok := numbers(e)
			if !ok {
				return "", false
			}
			list = append(list, inner)
		default:
			return "", false
		}
	}
	return "[" + strings.Join(list, ", ") + "]", true
}

// text returns a string as a column of text has it.
func text(s string) string {
	odd := func(r rune) bool { return r == unicode.ReplacementChar || !strconv.IsPrint(r) }
	if strings.HasPrefix(s, `"`) || strings.ContainsFunc(s, odd) {
		return strconv.Quote(s)
	}
	return s
}

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
		half := g.Len() / 2
		for i, v := range c.AppendInts(c.AppendInts(nil, g, 0, half), g, half, g.Len()) {
			if !c.Optional || g.Timed()[i] {
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
