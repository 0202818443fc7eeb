package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/ti"
)

func newVerify() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify TRACE.rpz IN...",
		Short: "Compare a trace with what it was made from",
		Long: `Compare a trace with the SimGrid trace it was made from, call by call, and name
the first difference by rank and number of the call. Exit status 1 if there is one.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usageError{errors.New("verify takes a trace and the files it was made from")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			trace, err := reprise.Open(args[0])
			if err != nil {
				return err
			}
			defer trace.Close()
			in, err := ti.Open(args[1:], ti.Options{Stdin: cmd.InOrStdin()})
			if err != nil {
				return err
			}
			defer in.Close()
			bar := newProgress(cmd.Context(), cmd.ErrOrStderr(), "verify", textSize(args[1:]))
			err = verify(trace, in, bar)
			bar.done()
			var d *difference
			switch {
			case err != nil && !errors.As(err, &d):
				return fmt.Errorf("%s: %w", args[0], err)
			case asJSON:
				result := verifyResult{Equal: err == nil, Calls: in.Stats().Calls, Ranks: in.Stats().Ranks, Difference: d}
				if err := printJSON(cmd.OutOrStdout(), result); err != nil {
					return err
				}
			case err == nil:
				fmt.Fprintf(cmd.OutOrStdout(), "equal: %s calls of %d ranks\n", comma(in.Stats().Calls), in.Stats().Ranks)
			}
			if err != nil {
				return fmt.Errorf("%s differs: %w", args[0], err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	return cmd
}

type verifyResult struct {
	Equal      bool        `json:"equal"`
	Calls      uint64      `json:"calls"`
	Ranks      int         `json:"ranks"`
	Difference *difference `json:"difference,omitempty"`
}

// A difference is the first place where a trace is not what it was made from.
type difference struct {
	Rank  int    `json:"rank"`
	Call  uint64 `json:"call"`           // of the rank, from 0
	Trace string `json:"trace"`          // the call in the trace, or empty
	Input string `json:"input"`          // the call in the input, or empty
	Line  uint64 `json:"line,omitempty"` // of the input, from 1: only the order of the lines differs
}

func (d *difference) Error() string {
	switch {
	case d.Line > 0:
		return fmt.Sprintf("the calls are equal so far, but line %d belongs to rank %d, in the trace to another", d.Line, d.Rank)
	case d.Trace == "":
		return fmt.Sprintf("rank %d, call %d: %s in the input, nothing more in the trace", d.Rank, d.Call, d.Input)
	case d.Input == "":
		return fmt.Sprintf("rank %d, call %d: %s in the trace, nothing more in the input", d.Rank, d.Call, d.Trace)
	}
	return fmt.Sprintf("rank %d, call %d: %s in the trace, %s in the input", d.Rank, d.Call, d.Trace, d.Input)
}

// A verifier compares what is read with a trace.
type verifier struct {
	trace     *reprise.Trace
	functions []cst.Function
	ranks     map[int]*verifiedRank
	order     *sequitur.Walker // nil: rank by rank
	turn      sequitur.Run
}

// A verifiedRank is how far a rank was compared. A signature of the input that
// the table does not know gets a terminal that the grammar does not have.
type verifiedRank struct {
	*reprise.Rank
	table    *cst.Table
	numbers  []int // by index of ti.Functions, the number in table plus one, or 0
	walk     *sequitur.Walker
	run      sequitur.Run
	position uint64
}

// verify returns nil if the calls that in reads, and their order, are those of
// the trace, a *difference if not.
func verify(trace *reprise.Trace, in *ti.Reader, bar *progress) error {
	v := verifier{trace: trace, functions: ti.Functions(), ranks: make(map[int]*verifiedRank)}
	if g := trace.Run().Interleaving; g != nil {
		v.order = g.Walk(0)
	}
	last := -1
	for line := uint64(1); ; line++ {
		c, err := in.Read()
		if err == io.EOF {
			return v.end()
		}
		if err == nil {
			err = v.compare(c)
		}
		if err == nil {
			err = v.compareOrder(c.Rank, last, line)
		}
		if err == nil {
			err = bar.step(in.Stats().Bytes)
		}
		if err != nil {
			return err
		}
		last = c.Rank
	}
}

// rank returns the place in a rank of the trace, or nil if it has no calls.
func (v *verifier) rank(rank int) (*verifiedRank, error) {
	if r := v.ranks[rank]; r != nil || rank >= v.trace.Ranks() {
		return r, nil
	}
	r, err := v.trace.Rank(rank)
	if err != nil {
		return nil, err
	}
	table, _, _ := cst.Merge(r.Table(), new(cst.Table)) // a copy to add to
	v.ranks[rank] = &verifiedRank{Rank: r, table: table, numbers: make([]int, len(v.functions)), walk: r.Grammar().Walk(0)}
	return v.ranks[rank], nil
}

// compare compares the next call of the input with that of the trace.
func (v *verifier) compare(c ti.Call) error {
	input := func() string { return string(cst.AppendCall(nil, v.functions[c.Function], c.Args)) }
	r, err := v.rank(c.Rank)
	if err != nil {
		return err
	}
	if r == nil {
		return &difference{Rank: c.Rank, Input: input()}
	}
	if r.run.Count == 0 {
		if r.run = r.walk.Next(); r.run.Count == 0 {
			return &difference{Rank: c.Rank, Call: r.position, Input: input()}
		}
	}
	if r.numbers[c.Function] == 0 {
		r.numbers[c.Function] = r.table.Declare(v.functions[c.Function]) + 1
	}
	if got := r.table.Intern(r.numbers[c.Function]-1, c.Args...); sequitur.Symbol(got) != r.run.Symbol {
		return &difference{Rank: c.Rank, Call: r.position, Trace: r.Rank.Call(uint32(r.run.Symbol)).String(), Input: input()}
	}
	r.run.Count--
	r.position++
	return nil
}

// compareOrder compares the rank of a line with the order in the trace.
func (v *verifier) compareOrder(rank, last int, line uint64) error {
	if v.order == nil {
		if rank < last {
			return &difference{Rank: rank, Line: line}
		}
		return nil
	}
	if v.turn.Count == 0 {
		v.turn = v.order.Next()
	}
	if int(v.turn.Symbol) != rank {
		return &difference{Rank: rank, Line: line}
	}
	v.turn.Count--
	return nil
}

// end checks that the trace has no calls beyond the end of the input.
func (v *verifier) end() error {
	for rank := range v.trace.Active() {
		r, err := v.rank(rank)
		if err != nil {
			return err
		}
		if r.position < r.Len() {
			for _, c := range r.CallsFrom(r.position) {
				return &difference{Rank: rank, Call: r.position, Trace: c.String()}
			}
		}
	}
	return nil
}
