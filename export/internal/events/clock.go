package events

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
)

// perCall is how long a call takes of which there are no times.
const perCall = 1000

// A clock tells the times of the calls of a rank, since the run began.
type clock struct {
	rank  *trace.Rank
	clock *query.Clock // nil if there are no times
	begin int64        // of the run
}

// openClock returns the clock of a rank.
func (t *Trace) openClock(r *trace.Rank) (clock, error) {
	if t.choice.Times == nil {
		return clock{rank: r}, t.choice.ctx.Err()
	}
	c, err := t.choice.Times.Clock(r)
	switch {
	case err != nil:
		return clock{}, err
	case c.Source() == query.None:
		c = nil
	}
	return clock{r, c, t.Begin()}, t.choice.ctx.Err()
}

// source returns what the times are known by.
func (c clock) source() query.Source {
	if c.clock == nil {
		return query.None
	}
	return c.clock.Source()
}

// A timedCall is a call with its time.
type timedCall struct {
	position   uint64
	terminal   uint32
	start, end int64
}

// calls returns an iterator over the calls of an interval, from the first to the last:
// others may be among them. It ends with an error.
func (c clock) calls(in export.Interval) iter.Seq2[timedCall, error] {
	if c.clock == nil {
		return c.positions(in)
	}
	return func(yield func(timedCall, error) bool) {
		first, end, err := c.clock.Positions(c.begin+in.From, after(c.begin, in.To))
		if err != nil {
			yield(timedCall{}, err)
			return
		}
		if first == end {
			return
		}
		at := in.From // the end of the call before
		for call, err := range c.clock.Calls(first) {
			t := timedCall{call.Position, call.Terminal, at, at}
			if call.Timed {
				t.start = wire.SubTimes(call.Start, c.begin)
				t.end = wire.AddTimes(t.start, call.Duration)
			}
			if !yield(t, err) || err != nil {
				return
			}
			if at = max(t.start, t.end); t.position+1 == end {
				return
			}
		}
	}
}

// after returns the time so long after the run began.
func after(begin, time int64) int64 {
	if begin > 0 && time > math.MaxInt64-begin {
		return math.MaxInt64
	}
	return begin + time
}

// positions returns an iterator over calls without times, as if they had some.
func (c clock) positions(in export.Interval) iter.Seq2[timedCall, error] {
	return func(yield func(timedCall, error) bool) {
		first := uint64(in.From / perCall)
		walk, at := c.rank.Walk(first), int64(first)*perCall
		for run := walk.Next(); run.Count > 0; run = walk.Next() {
			for range run.Count {
				if at >= in.To || !yield(timedCall{first, run.Symbol, at, at + perCall}, nil) {
					return
				}
				first++
				at += perCall
			}
		}
	}
}

// guarantee returns how far durations may be from what they were, if the source is Series.
func (c clock) guarantee() timing.Guarantee {
	if c.clock == nil {
		return timing.Exact
	}
	return c.clock.Guarantee()
}

// Label says what times of a source are, for a person, and how exact they are.
func Label(s query.Source, g timing.Guarantee) string {
	switch {
	case s == query.None:
		return "none were recorded: a call takes one microsecond"
	case s == query.Series && g == timing.Exact:
		return "as recorded"
	case s == query.Series:
		return fmt.Sprintf("of every call, durations and gaps at most %.4g %% off", 100*float64(g))
	}
	return "estimated from " + s.String()
}

// labelIn is Label, with what an archive says that the trace was made of.
func labelIn(t *trace.Trace, s query.Source, g timing.Guarantee) string {
	label, archived := Label(s, g), strings.Join(t.Run().Origin.Times, "; ")
	switch {
	case archived == "":
		return label
	case s == query.Series && g == timing.Exact:
		return archived
	}
	return label + "; in the archive " + archived
}

// TimesLabel says what the times of the ranks are, for a person, and how exact: of several
// kinds, the number of ranks and the kind.
func (c *Choice) TimesLabel() (string, error) {
	estimated := query.None
	switch {
	case c.Summaries[0].Histograms != nil || c.Summaries[1].Histograms != nil:
		estimated = query.Histograms
	case !layout.NoSummary(&c.Summaries[0]) || !layout.NoSummary(&c.Summaries[1]):
		estimated = query.Statistics
	}
	var kinds []string
	ranks, labels := make(map[string]int), make(map[string]string) // by codec
	for rank := range c.Numbers() {
		codec, err := c.Trace.SeriesCodec(rank)
		if err != nil {
			return "", err
		}
		if labels[codec] == "" {
			if labels[codec] = labelIn(c.Trace, estimated, 0); codec != "" {
				s, err := c.Trace.Series(rank)
				if err != nil {
					return "", err
				}
				labels[codec] = labelIn(c.Trace, query.Series, s.Guarantee())
			}
		}
		if ranks[labels[codec]]++; ranks[labels[codec]] == 1 {
			kinds = append(kinds, labels[codec])
		}
	}
	if len(kinds) == 1 {
		return kinds[0], nil
	}
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("of %d ranks %s", ranks[k], k)
	}
	return strings.Join(kinds, "; "), nil
}

// An Arg is an argument of a call.
type Arg struct {
	Name   string   // as Readable has it; that of no other argument of the call
	Kind   cst.Kind // KindInt, KindFloat or KindString
	Number int64
	Float  float64 // finite
	Text   string  // not empty
}

// maxText is the longest text of an argument, in bytes.
const maxText = 1000

// Name returns the name of the function that a terminal calls.
func (r *Rank) Name(terminal uint32) string { return Readable(r.Call(terminal).Function.Name) }

// Text returns the call that a terminal stands for as [trace.Printer] writes it, cut
// off if it is long.
func (r *Rank) Text(terminal uint32) string {
	return Readable(cut(string(r.trace.printer.AppendCall(nil, r.Call(terminal))), maxText))
}

// Args returns the arguments of the calls that a terminal stands for, without the
// number of the thread: integers, ranks and tags without a name, and floats, as numbers,
// all else as [trace.Printer] writes it, cut off if it is long. None is called position,
// as exports call what they add.
func (r *Rank) Args(terminal uint32) []Arg { return r.args(terminal, maxText) }

// WholeArgs returns the same, with texts that are not cut off.
func (r *Rank) WholeArgs(terminal uint32) []Arg { return r.args(terminal, math.MaxInt) }

// args returns the arguments, with texts of so many bytes at most.
func (r *Rank) args(terminal uint32, most int) []Arg {
	c := r.Call(terminal)
	var args []Arg
	for i, name := range r.trace.argumentNames(c.Function) {
		if name != "" {
			args = append(args, r.arg(c, i, name, most))
		}
	}
	return args
}

func (r *Rank) arg(c trace.Call, i int, name string, most int) Arg {
	a := Arg{Name: name, Kind: cst.KindString}
	v := c.Args[i]
	if v.Kind() == cst.KindString {
		a.Text = Readable(cut(v.Text(), most))
		return a
	}
	if v.Kind() == cst.KindArray && v.Len() > most {
		c.Args = append([]cst.Value(nil), c.Args...)
		elems := make([]cst.Value, most)
		for k := range elems {
			elems[k] = v.Index(k)
		}
		c.Args[i] = cst.Array(elems...)
	}
	text := string(r.trace.printer.AppendArgument(nil, c, i))
	switch v.Kind() {
	case cst.KindInt, cst.KindRank, cst.KindTag:
		if text == strconv.FormatInt(v.Int(), 10) {
			a.Kind, a.Number = cst.KindInt, v.Int()
			return a
		}
	case cst.KindFloat:
		if x := v.Float(); !math.IsNaN(x) && !math.IsInf(x, 0) {
			a.Kind, a.Float = cst.KindFloat, x
			return a
		}
	}
	a.Text = Readable(cut(text, most))
	return a
}

// argumentNames returns what the arguments of a function are called: nothing for the number
// of the thread.
func (t *Trace) argumentNames(f *cst.Function) []string {
	list, ok := t.names[f]
	if ok {
		return list
	}
	list, taken := make([]string, len(f.Params)), naming{"position": 1}
	for i, p := range f.Params {
		if i > 0 || p.Name != trace.ThreadParam || p.Type.Kind != cst.KindInt {
			list[i] = taken.take(Readable(p.Name))
		}
	}
	t.names[f] = list
	return list
}

// A naming has the names that are taken, with how many were made of each.
type naming map[string]int

// take returns a name or, if it is taken, that name with _, _2, _3 and so on.
func (n naming) take(name string) string {
	free := name
	for n[free] > 0 {
		free = name + "_"
		if k := n[name]; k > 1 {
			free += strconv.Itoa(k)
		}
		n[name]++
	}
	n[free] = 1
	return free
}

// cut cuts a text off that is longer than so many bytes.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	n := most
	for n > most-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// Readable returns s if it is printable text, else s quoted as in Go; for an empty
// string, "" in quotes.
func Readable(s string) string {
	if s == "" || !utf8.ValidString(s) {
		return strconv.Quote(s)
	}
	for _, c := range s {
		if !unicode.IsPrint(c) {
			return strconv.Quote(s)
		}
	}
	return s
}
