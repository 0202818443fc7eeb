package rows_test

import (
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export/internal/exporttest"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// wantedRows returns the rows that a table of the calls of a trace is to have, without what
// calls mean to others, and with arguments by the names of columns, which of maps a
// parameter of a function to. It goes through the calls one by one.
func wantedRows(t testing.TB, tr *trace.Trace, column func(f *cst.Function, param int) string) []exporttest.Row {
	t.Helper()
	times, err := query.OpenTimes(tr)
	if err != nil {
		t.Fatal(err)
	}
	begin, err := times.Begin()
	if err != nil {
		t.Fatal(err)
	}
	printer := tr.Printer(trace.PrintOptions{})
	var all []exporttest.Row
	for number := range tr.Ranks() {
		rank, err := tr.Rank(number)
		if err != nil {
			t.Fatal(err)
		}
		clock, err := times.Clock(rank)
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range clock.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			position := c.Position
			row := exporttest.Row{
				"rank": strconv.Itoa(number), "position": strconv.FormatUint(position, 10),
				"function":  text(c.Function.Name),
				"call":      printer.Canonical(rank.Signature(c.Terminal)),
				"signature": strconv.Itoa(rank.Signature(c.Terminal)), "thread": strconv.Itoa(c.Thread()),
			}
			if c.Timed {
				row["start_ns"], row["duration_ns"] = strconv.FormatInt(c.Start-begin, 10),
					strconv.FormatInt(c.Duration, 10)
				if at := time.Unix(0, c.Start).UTC(); at.Year() >= 2000 {
					row["start"] = at.Format("2006-01-02T15:04:05.000000000Z")
				}
				row["time_source"] = clock.Source().String()
			}
			for i, v := range c.Args {
				if name := column(c.Function, i); name != "" {
					row[name] = wantedArgument(printer, c, i, v)
				}
			}
			all = append(all, row)
		}
	}
	return all
}

// wantedArgument returns an argument as a column has it.
func wantedArgument(p *trace.Printer, c trace.Call, i int, v cst.Value) string {
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
