package answers

import (
	"fmt"
	"io"
	"strings"

	"github.com/reprise-trace/reprise/internal/skeleton"
	"github.com/reprise-trace/reprise/internal/text"
)

// WriteParts writes the parts of one program with differences, a line each, nested by
// indentation.
func WriteParts(w io.Writer, parts []*skeleton.Part) { writeParts(w, parts, 1) }

func writeParts(w io.Writer, parts []*skeleton.Part, depth int) {
	ruler := text.RulerOf(w)
	for _, p := range parts {
		line := strings.Repeat(" ", indentation(ruler, depth, 0))
		line += presence(p) + trips(p)
		if p.Fails {
			line += "failing "
		}
		after := ""
		if p.Varies() {
			after = ", " + mean(p.Total, p.Iterations) + " on average"
		}
		switch {
		case p.Body != nil:
			fmt.Fprintf(w, "%s%s:\n", line, loopText(p))
			writeParts(w, p.Body, depth+1)
		case ruler.Columns() == 0:
			fmt.Fprintln(w, line+p.Call+after)
		default:
			fmt.Fprintln(w, line+ruler.Cut(p.Call, max(minCall, ruler.Columns()-ruler.Width(line+after)))+after)
		}
	}
}

// presence tells which ranks or iterations have an optional part, as [on ranks 1-7].
func presence(p *skeleton.Part) string {
	const most = 24 // bytes of a list of ranks
	var at []string
	if p.SomeRanks {
		ranks := text.Ranks(p.Ranks)
		if len(ranks) > most {
			ranks = text.Plural(p.Ranks.Len(), "rank")
		}
		at = append(at, "on "+ranks)
	}
	if p.In < p.Iterations && !p.Varies() {
		at = append(at, "in "+text.Percent(p.In, p.Iterations)+" of iterations")
	}
	if len(at) == 0 {
		return ""
	}
	return "[" + strings.Join(at, ", ") + "] "
}

// trips tells how often a part comes in a row, from 0 on if it varies and some iterations have none.
func trips(p *skeleton.Part) string {
	switch t := p.Trips; {
	case t.Max == 1:
		return ""
	case p.Varies() && p.In < p.Iterations:
		return "0…" + text.Count(t.Max) + " × "
	case t.Min == t.Max:
		return text.Count(t.Min) + " × "
	case t.Expression != "":
		return t.Expression + " × "
	default:
		return text.Count(t.Min) + "…" + text.Count(t.Max) + " × "
	}
}

// loopText tells how many calls are in a loop, or in calls that are left out together.
func loopText(p *skeleton.Part) string {
	what := "loop of "
	if p.Max == 1 {
		what = "together " // not a loop, as it never comes twice
	}
	if p.Each > 0 {
		what += text.Plural(p.Each, "call")
	} else {
		what += mean(p.Calls, p.Total) + " calls on average"
	}
	if p.Expression == "" {
		what += ", " + mean(p.Total, p.In) + " iterations on average"
	}
	return what
}

// mean writes a mean.
func mean(sum, n uint64) string {
	if n > 0 && sum%n == 0 {
		return text.Count(sum / n)
	}
	return text.ThreeDigits(float64(sum) / float64(n))
}
