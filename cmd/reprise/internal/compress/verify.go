package compress

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/memory"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

func NewVerify() *cobra.Command {
	var (
		inputs  []string
		outside bool
	)
	q := cli.NewQuestion("verify", nil, func(q *cli.Question) error {
		if len(inputs) == 1 && collect.IsSpool(inputs[0]) {
			return verifySpool(q, inputs[0])
		}
		if isArchive(inputs) {
			return verifyArchive(q, inputs[0])
		}
		return verify(q, inputs, outside)
	}, cli.OptJSON)
	q.Args = func(_ *cobra.Command, args []string) error {
		if len(args) < 2 {
			return cli.BadUsage(errors.New("verify takes a trace and the files it was made from"))
		}
		inputs = args[1:]
		return nil
	}
	addOutside(q.Flags(), &outside)
	return q.Command
}

// A verifyAnswer is whether a trace is what it was made from.
type verifyAnswer struct {
	cli.Header
	Equal      bool        `json:"equal"`
	Calls      uint64      `json:"calls"` // compared
	Ranks      int         `json:"ranks"` // compared
	Unreadable rankenc.Set `json:"unreadable_rank_set"`
	Difference any         `json:"difference"` // null if there is none
}

func verify(q *cli.Question, inputs []string, outside bool) error {
	in, err := simgrid.Open(inputs, simgrid.Options{Memory: cli.MemoryOf(q.Context()), Outside: outside,
		Stdin: q.InOrStdin()})
	if err != nil {
		return cli.Named(err)
	}
	defer in.Close()
	bar := cli.NewProgress(q.Context(), q.ErrOrStderr(), "verify", textSize(inputs))
	c := NewComparison(q.Trace)
	err = c.Compare(in, bar)
	bar.Done()
	var found *Difference
	if err != nil && !errors.As(err, &found) {
		return cli.Named(err)
	}
	a := verifyAnswer{
		Header: q.Header(), Equal: found == nil && len(q.Trace.Damage()) == 0, Unreadable: c.unreadable,
		Calls: in.Stats().Calls - c.skippedCalls, Ranks: in.Stats().Ranks - c.skippedRanks,
	}
	if found != nil {
		a.Difference = found
	}
	return a.print(q, found)
}

// print prints the answer, and returns the error of a difference.
func (a *verifyAnswer) print(q *cli.Question, found error) error {
	if q.JSON {
		if err := cli.PrintJSON(q.OutOrStdout(), a); err != nil {
			return err
		}
	}
	switch {
	case a.Difference != nil:
		return cli.Named(fmt.Errorf("%s differs: %w", q.Path, found))
	case q.JSON:
	case a.Ranks == 0 && a.Unreadable.Len() > 0:
		q.Printf("nothing was compared\n")
	default:
		q.Printf("equal: %s of %s\n", text.Plural(a.Calls, "call"), text.Plural(a.Ranks, "rank"))
	}
	return nil
}

// A SpoolDifference is where a trace is not what was recorded.
type SpoolDifference struct {
	Rank   int    `json:"rank"`
	Call   uint64 `json:"position"`
	Reason string `json:"reason"`
}

func (d *SpoolDifference) Error() string {
	return fmt.Sprintf("rank %d, position %d: %s", d.Rank, d.Call, d.Reason)
}

// verifySpool compares a trace with one that it makes of raw records.
func verifySpool(q *cli.Question, spool string) error {
	allocations := slices.ContainsFunc(q.Trace.Functions(), func(f cst.Function) bool { return f.Name == "malloc" })
	polls := len(q.Trace.Run().Origin.Polls) > 0
	recorded, err := collectAgain(q.Context(), spool, collect.Options{Untimed: true, Keep: true,
		Allocations: allocations, DropPolls: polls})
	if err != nil {
		return cli.Named(err)
	}
	a := verifyAnswer{Header: q.Header(), Unreadable: cli.Unreadable(q.Trace)}
	var found *SpoolDifference
	for _, rank := range recorded.RankSet().All() {
		if a.Unreadable.Contains(rank) {
			continue
		}
		var n uint64
		if n, found, err = CompareRecorded(q.Context(), q.Trace, recorded, rank); err != nil {
			return err
		}
		a.Calls += n
		if a.Ranks++; found != nil {
			break
		}
	}
	others := q.Trace.RankSet().Difference(recorded.RankSet())
	if found == nil && others.Len() > 0 {
		found = &SpoolDifference{Rank: others.At(0), Reason: "the rank has calls in the trace alone"}
	}
	if found == nil {
		a.Equal = len(q.Trace.Damage()) == 0
		return a.print(q, nil)
	}
	a.Difference = found
	return a.print(q, found)
}

// collectAgain returns the trace of raw records, which it leaves as they are.
func collectAgain(ctx context.Context, spool string, o collect.Options) (*trace.Trace, error) {
	c, err := collect.New(spool, o)
	if err != nil {
		return nil, err
	}
	a, summary, err := c.Finish(ctx)
	if err != nil {
		return nil, err
	}
	if summary.Problems != nil {
		return nil, summary.Problems
	}
	var file bytes.Buffer
	if _, err := layout.Unread(a.Write(&file)); err != nil {
		return nil, err
	}
	return cli.Reopen(file.Bytes())
}

// CompareRecorded compares the calls of a rank with those that were recorded, of which
// there are some, and returns how many are equal and the first difference.
func CompareRecorded(ctx context.Context, tr, recorded *trace.Trace, rank int) (uint64, *SpoolDifference, error) {
	want, err := recorded.Folded(rank, nil)
	if err != nil {
		return 0, nil, err
	}
	next := func() (trace.Call, error, bool) { return trace.Call{}, nil, false }
	if rank < tr.Ranks() {
		r, err := tr.Folded(rank, nil)
		if err != nil {
			return 0, nil, err
		}
		var stop func()
		next, stop = iter.Pull2(r.Calls(0))
		defer stop()
	}
	p, q := tr.Printer(trace.PrintOptions{Absolute: true}), recorded.Printer(trace.PrintOptions{Absolute: true})
	for c, err := range want.Calls(0) {
		i := c.Position
		have, e, ok := next()
		if i%10000 == 0 && ctx.Err() != nil {
			e = context.Cause(ctx)
		}
		if err = cmp.Or(err, e); err != nil {
			return i, nil, err
		}
		reason := ""
		switch {
		case !ok:
			reason = "the trace ends before a call of " + c.Function.Name
		case have.Function.Name != c.Function.Name:
			reason = fmt.Sprintf("%s was recorded, not %s", c.Function.Name, p.AppendCall(nil, have))
		default:
			reason = OtherArgument(p, q, have, c)
		}
		if reason != "" {
			return i, &SpoolDifference{rank, i, reason}, nil
		}
	}
	if more, _, ok := next(); ok {
		reason := fmt.Sprintf("the trace has a call that was not recorded: %s", p.AppendCall(nil, more))
		return want.Len(), &SpoolDifference{rank, want.Len(), reason}, nil
	}
	return want.Len(), nil, nil
}

// OtherArgument says which argument of a call is not as it was recorded, nothing if all
// are. Each call comes with a printer.
func OtherArgument(p, q *trace.Printer, have, want trace.Call) string {
	for i, param := range want.Function.Params {
		switch {
		case i >= len(have.Args) || have.Function.Params[i].Name != param.Name:
			return fmt.Sprintf("%s lacks the argument %s=%s in its place", p.AppendCall(nil, have),
				param.Name, q.AppendArgument(nil, want, i))
		case !have.Function.Params[i].Type.Equal(param.Type) || have.Function.Params[i].Direction != param.Direction:
			return fmt.Sprintf("%s: %s is of another type or direction than was recorded",
				p.AppendCall(nil, have), param.Name)
		case !have.Args[i].Equal(want.Args[i]):
			return fmt.Sprintf("%s: %s=%s was recorded", p.AppendCall(nil, have), param.Name,
				q.AppendArgument(nil, want, i))
		}
	}
	if n := len(want.Args); n < len(have.Args) {
		return fmt.Sprintf("%s has the argument %s, which was not recorded", p.AppendCall(nil, have),
			have.Function.Params[n].Name)
	}
	return ""
}

// A Difference is the first place where a trace is not what it was made from.
type Difference struct {
	Rank  int    `json:"rank"`
	Call  uint64 `json:"position"`
	File  string `json:"file"`       // of the input; empty if its calls have ended
	Line  int64  `json:"line"`       // of the file, from 1; 0 if the calls have ended
	Trace string `json:"trace_call"` // the call in the trace, or empty if the rank has no more
	Input string `json:"input_call"` // the call in the input, or empty if the rank has no more

	// Missing are the ranks of which the input has no call though the trace has; only if
	// the difference is that.
	Missing rankenc.Set `json:"missing_rank_set"`

	// Turn is null or, if every rank has the same calls in both but the order of
	// all calls differs, the rank whose call the trace has in this place.
	Turn *int `json:"turn"`
}

func (d *Difference) Error() string {
	at := fmt.Sprintf("rank %d, position %d", d.Rank, d.Call)
	switch {
	case d.Turn != nil:
		return fmt.Sprintf(
			"%s: %s is at %s:%d, where the trace has a call of rank %d; the calls of each rank are equal",
			at, d.Input, d.File, d.Line, *d.Turn)
	case d.Trace == "":
		return fmt.Sprintf("%s: %s at %s:%d, nothing more in the trace", at, d.Input, d.File, d.Line)
	case d.Missing.Len() > 0:
		return "the input has no call of " + text.Ranks(d.Missing)
	case d.Input == "":
		return fmt.Sprintf("%s: %s in the trace, nothing more in the input", at, d.Trace)
	}
	return fmt.Sprintf("%s: %s in the trace, %s at %s:%d", at, d.Trace, d.Input, d.File, d.Line)
}

// A comparison compares what is read with a trace.
type comparison struct {
	trace     *trace.Trace
	functions []cst.Function
	ranks     map[int]*comparedRank
	order     order
	disorder  *Difference // the first of order, if there is one

	unreadable   rankenc.Set // nothing of these ranks is compared
	skippedCalls uint64      // of these ranks, in the input
	skippedRanks int         // of these ranks, those in the input

	budget *memory.Budget // all ranks are held until the end
}

func NewComparison(tr *trace.Trace) *comparison {
	return &comparison{trace: tr, functions: simgrid.Functions(), ranks: make(map[int]*comparedRank),
		unreadable: cli.Unreadable(tr)}
}

// A comparedRank is how far a rank was compared. A signature of the input that
// the table does not know gets a terminal that the grammar does not have.
type comparedRank struct {
	*trace.Rank // nil if it cannot be read
	table       *cst.Table
	// by index of simgrid.Functions, up to the last that is called: the number in table plus one, or 0
	numbers  []uint16
	walk     *sequitur.Walker
	run      sequitur.Run // what is left of it
	position uint64
}

// Compare returns nil if the calls that in reads, and their order, are those of
// the trace, a *difference if not. A difference of order is reported only if
// every rank has the same calls: a call that is missing changes the order, too.
// Ranks that cannot be read are left out, in the trace and in the input.
func (c *comparison) Compare(in *simgrid.Reader, bar *cli.Progress) error {
	c.order.begin(c.trace)
	defer c.order.stop()
	var err error
	if c.budget, err = memory.Of(c.trace, c.trace.RankSet().Len()); err != nil {
		return err
	}
	for {
		call, err := in.Read()
		if err == io.EOF {
			return c.end()
		}
		if err == nil {
			err = c.call(call, in)
		}
		if err == nil {
			err = bar.Step(in.Stats().Bytes)
		}
		if err != nil {
			return err
		}
	}
}

// What is held of a rank besides it, and of each of its signatures, in bytes.
const (
	comparedMemory    = 3 << 10
	comparedSignature = 128
)

// rank returns the place in a rank of the trace, or nil if there is no such rank.
func (c *comparison) rank(rank int) (*comparedRank, error) {
	if r := c.ranks[rank]; r != nil || rank >= c.trace.Ranks() {
		return r, nil
	}
	if c.unreadable.Contains(rank) {
		c.ranks[rank] = new(comparedRank)
		return c.ranks[rank], nil
	}
	r, err := c.trace.Rank(rank)
	if err != nil {
		return nil, err
	}
	if err := c.budget.Take(r, comparedMemory+comparedSignature*uint64(r.Terminals())); err != nil {
		return nil, err
	}
	table := new(cst.Table)
	for terminal := range uint32(r.Terminals()) {
		call := r.Call(terminal)
		table.Intern(table.Declare(*call.Function), call.Args...)
	}
	c.ranks[rank] = &comparedRank{Rank: r, table: table, walk: r.Walk(0)}
	return c.ranks[rank], nil
}

// call compares the next call of the input, which in has read last, with that of
// the trace.
func (c *comparison) call(call simgrid.Call, in *simgrid.Reader) error {
	r, err := c.rank(call.Rank)
	if err != nil {
		return err
	}
	if r != nil && r.Rank == nil {
		if r.position++; r.position == 1 {
			c.skippedRanks++
		}
		c.skippedCalls++
		return nil
	}
	d := Difference{Rank: call.Rank}
	equal := false
	if r != nil {
		d.Call = r.position
		if r.run.Count == 0 {
			r.run = r.walk.Next()
		}
		equal = r.run.Count > 0 && r.terminal(c.functions, call) == r.run.Symbol
	}
	inTurn := true
	if c.disorder == nil && equal && !c.trace.Content().LostOrder {
		if inTurn, err = c.inTurn(call.Rank); err != nil {
			return err
		}
	}
	if !equal || !inTurn {
		d.File, d.Line = in.Place()
		d.Input = string(cst.AppendCall(nil, c.functions[call.Function], call.Args))
		if r != nil && r.run.Count > 0 {
			d.Trace = r.Rank.Call(r.run.Symbol).String()
		}
	}
	if !equal {
		return &d
	}
	if !inTurn {
		turn := c.order.rank
		d.Turn, c.disorder = &turn, &d
	}
	r.run.Count--
	r.position++
	return nil
}

// terminal returns what stands for the signature of a call in the rank's table.
func (r *comparedRank) terminal(functions []cst.Function, call simgrid.Call) sequitur.Symbol {
	if more := call.Function + 1 - len(r.numbers); more > 0 {
		r.numbers = append(r.numbers, make([]uint16, more)...)
	}
	if r.numbers[call.Function] == 0 {
		r.numbers[call.Function] = uint16(r.table.Declare(functions[call.Function]) + 1)
	}
	return r.table.Intern(int(r.numbers[call.Function])-1, call.Args...)
}

// inTurn reports whether the next call of the trace is one of this rank, and goes on
// to the one after it.
func (c *comparison) inTurn(rank int) (bool, error) {
	for c.order.left == 0 {
		c.order.next()
		if c.order.walk == nil {
			r, err := c.rank(c.order.rank)
			if err != nil {
				return false, err
			}
			c.order.left = r.Len()
		}
	}
	c.order.left--
	return c.order.rank == rank, nil
}

// end checks that the trace has no calls beyond the end of the input.
func (c *comparison) end() error {
	for _, rank := range c.trace.RankSet().All() {
		r, err := c.rank(rank)
		if err != nil {
			return err
		}
		for call, err := range r.Calls(r.position) {
			if err != nil {
				return err
			}
			d := &Difference{Rank: rank, Call: r.position, Trace: call.String()}
			if r.position == 0 {
				d.Missing = c.missing()
			}
			return d
		}
	}
	if c.disorder != nil {
		return c.disorder
	}
	return nil
}

// missing returns the ranks of the trace of which the input has no call.
func (c *comparison) missing() rankenc.Set {
	var ranks []int
	for _, rank := range c.trace.RankSet().All() {
		if r := c.ranks[rank]; r == nil || r.position == 0 {
			ranks = append(ranks, rank)
		}
	}
	return rankenc.SetOf(ranks...)
}

// An order is a place in the order of the calls of a trace.
type order struct {
	rank   int              // whose turn it is
	left   uint64           // calls of rank that come before those of another
	walk   *sequitur.Walker // of an interleaving; nil if the order is rank by rank
	active func() (i, rank int, ok bool)
	stop   func()
}

func (o *order) begin(tr *trace.Trace) {
	if g := tr.Run().Interleaving; g != nil {
		o.walk = g.Walk(0)
	}
	o.active, o.stop = iter.Pull2(tr.RankSet().All())
}

// next goes on to the next turn, of which there must be one. Rank by rank, the
// caller knows how many calls it has.
func (o *order) next() {
	if o.walk == nil {
		_, o.rank, _ = o.active()
		return
	}
	turn := o.walk.Next()
	o.rank, o.left = int(turn.Symbol), turn.Count
}
