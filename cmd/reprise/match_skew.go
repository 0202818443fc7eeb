package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
)

// mostSkews is how many skews are shown by communicator if there are too many for a table.
const mostSkews = 10

func (i *matchInfo) printSkews(w io.Writer, most int) {
	if i.why != "" {
		fmt.Fprintf(w, "\n%s\n", i.why)
	}
	if len(i.Skews) == 0 {
		return
	}
	fmt.Fprintf(w, "\nskew of the members, from the first that begins an operation to the last,\n%s\n\n", i.errorText())
	out := newTable(w)
	fmt.Fprintf(out, "mean\tmedian\tmax\tin operation\tlast: rank\tposition\tat\toperations\tlooked at\tmostly by\t  function\n")
	each := len(i.Skews)
	if each > most {
		each = min(mostSkews, most)
	}
	for _, s := range i.Skews[:each] {
		name := text.Printable(s.Function)
		if s.Root != nil {
			name += fmt.Sprintf(" with root %d", *s.Root)
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%d\t%s\t%v\t%s\t%s\t%s\t  %s on %s\n", text.Duration(s.Mean), text.Duration(s.Median), text.Duration(s.Max),
			text.Count(s.MaxInstance), s.MaxLast, text.Count(s.MaxPosition), time.Duration(s.MaxStart), text.Count(s.Instances), text.Count(s.Sampled), fmt.Sprintf("%d, %.0f %%", s.Last, 100*s.LastShare),
			name, text.Printable(s.Communicator))
	}
	others := sumSkews(i.Skews[each:])
	for _, s := range others[:min(len(others), most)] {
		fmt.Fprintf(out, "%s\t\t%s\t\t\t\t\t%s\t%s\t\t  %s on %s\n", text.Duration(s.sum/s.operations), text.Duration(s.max), text.Count(s.instances),
			text.Count(s.sampled), text.Printable(s.function), s.on(each > 0))
	}
	out.Flush()
	if len(others) > most {
		fmt.Fprintf(w, "\nand %s more functions: --all shows them\n", text.Count(len(others)-most))
	} else if len(others) > 0 {
		fmt.Fprintln(w, "\nthe largest by communicator, the others by function: --all shows each")
	}
}

// errorText returns in words how exact skews are.
func (i *matchInfo) errorText() string {
	most, known, off, some := 0.0, true, int64(0), false
	for _, s := range i.Skews {
		most = max(most, s.Error)
		if known = known && s.StartError != nil; known {
			off = max(off, *s.StartError)
		}
		some = some || uint64(s.Sampled) < s.Instances
	}
	line := "by the times of every call, exact"
	switch {
	case most > 0 && known:
		line = fmt.Sprintf("by the times of every call, of which starts are at most %s off: smaller skews\nmean nothing", text.Duration(off))
	case most > 0:
		line = fmt.Sprintf("by the times of every call, of which starts are at most %.4g %% of the longest\ntime between calls near them off: smaller skews mean nothing", 100*most)
	}
	if some {
		line += "; there are too many operations\nto look at all: larger skews may not be among them"
	}
	return line
}

// A functionSkew is the skews of a function on several communicators.
type functionSkew struct {
	function        string
	sum, operations float64 // of the skews of all operations, as if they were as those looked at; and how many
	max             int64
	instances       uint64
	sampled         uint64
	communicators   map[string]bool
}

// on says where the function is called.
func (s *functionSkew) on(others bool) string {
	line := text.Plural(len(s.communicators), "communicator")
	if others {
		line = "other " + line
		if n := len(s.communicators); n > 1 {
			line = fmt.Sprintf("%s other communicators", text.Count(n))
		}
	}
	return line
}

// sumSkews sums up skews by function, the largest first.
func sumSkews(list []skewInfo) []*functionSkew {
	byName := make(map[string]*functionSkew)
	var sums []*functionSkew
	for _, s := range list {
		sum := byName[s.Function]
		if sum == nil {
			sum = &functionSkew{function: s.Function, communicators: make(map[string]bool)}
			byName[s.Function] = sum
			sums = append(sums, sum)
		}
		sum.sum += s.Mean * float64(s.Instances)
		sum.operations += float64(s.Instances)
		sum.max = max(sum.max, s.Max)
		sum.instances = wire.AddSat(sum.instances, s.Instances)
		sum.sampled += uint64(s.Sampled)
		sum.communicators[s.Communicator] = true
	}
	slices.SortStableFunc(sums, func(a, b *functionSkew) int { return cmp.Compare(b.sum, a.sum) })
	return sums
}
