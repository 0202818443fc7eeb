package cli

import (
	"fmt"
	"io"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// CheckExact returns an error if a trace was made to fit a size and the command needs each call
// as it was. It warns if the answer is of calls that are not all exact.
func (q *Question) CheckExact(path string, t *trace.Trace) error {
	if t.Content().Exact {
		return nil
	}
	b := DescribeBounded(t)
	if query.CheckExact(t, q.Name()) != nil {
		return Named(fmt.Errorf(
			"%s: the trace was made to fit a size, and %s needs each call as it was: %s; reprise info says which calls are exact",
			path, q.Name(), b.inexact()))
	}
	if q.Name() != "info" && q.Name() != "cat" {
		Warn(q.ErrOrStderr(),
			"%s was made to fit a size: %s; calls by function and rank, and messages and bytes by pair of ranks, are exact", path, b.inexact())
	}
	return nil
}

// A BoundedInfo is what a trace that was made to fit a size has in place of what was recorded.
type BoundedInfo struct {
	Untimed     bool              `json:"without_times_of_calls"`
	Unordered   bool              `json:"without_order_of_ranks"`
	ByFunction  bool              `json:"times_by_function"`
	Calls       uint64            `json:"stretch_calls"`
	Functions   []boundedFunction `json:"distributed"`
	Ranks       []boundedRank     `json:"stretch_ranks"`
	Transitions []transition      `json:"transitions"`
}

// A boundedFunction says which arguments of a function are of a distribution.
type boundedFunction struct {
	Function    string   `json:"function"`
	InStretches []string `json:"in_stretches"`
	InOrder     []string `json:"in_order"`
}

type boundedRank struct {
	Rank      int              `json:"rank"`
	Stretches []format.Stretch `json:"stretches"`
}

type transition struct {
	From  string `json:"from_function"`
	To    string `json:"to_function"`
	Count uint64 `json:"count"`
}

// DescribeBounded returns what is not exact in a trace, nil if all is.
func DescribeBounded(t *trace.Trace) *BoundedInfo {
	b := t.Run().Bounded
	if b == nil {
		return nil
	}
	i := &BoundedInfo{Untimed: b.Untimed, Unordered: b.Unordered, ByFunction: b.ByFunction,
		Functions: []boundedFunction{}, Ranks: []boundedRank{}, Transitions: []transition{}}
	functions := t.Functions()
	for _, f := range layout.FunctionsOf(b) {
		names := func(set uint64) []string {
			list := []string{}
			for params := functions[f].Params; set != 0; set &= set - 1 {
				if k := bits.TrailingZeros64(set); k < len(params) {
					list = append(list, params[k].Name)
				}
			}
			return list
		}
		i.Functions = append(i.Functions, boundedFunction{functions[f].Name, names(b.InStretches[f]),
			names(b.InOrder[f])})
	}
	for _, rank := range slices.Sorted(maps.Keys(b.Stretches)) {
		i.Ranks = append(i.Ranks, boundedRank{rank, b.Stretches[rank]})
		for _, s := range b.Stretches[rank] {
			i.Calls = wire.AddSat(i.Calls, s.Calls)
		}
	}
	for _, x := range layout.TransitionsOf(b) {
		i.Transitions = append(i.Transitions, transition{functions[x[0]].Name, functions[x[1]].Name, b.Transitions[x]})
	}
	return i
}

// inexact says which calls are not exact.
func (i *BoundedInfo) inexact() string {
	var list []string
	if len(i.Ranks) > 0 {
		list = append(list, fmt.Sprintf("the order of %s of %s is not kept", text.Plural(i.Calls, "call"),
			text.Plural(len(i.Ranks), "rank")))
	}
	var functions []string
	for _, f := range i.Functions {
		if len(f.InOrder) > 0 {
			functions = append(functions, text.Printable(f.Function))
		}
	}
	if len(functions) > 0 {
		list = append(list, "arguments of "+FirstOf(functions)+" are of a distribution")
	}
	return strings.Join(list, ", and ")
}

// Print prints what is not exact.
func (i *BoundedInfo) Print(w io.Writer) {
	if i == nil {
		return
	}
	var out []string
	for _, left := range []struct {
		is   bool
		what string
	}{{i.Untimed, "the times of every call"}, {i.Unordered, "the order of calls of different ranks"},
		{i.ByFunction, "the times of single signatures"}} {
		if left.is {
			out = append(out, left.what)
		}
	}
	if len(out) == 0 && len(i.Ranks) == 0 && len(i.Functions) == 0 {
		return
	}
	fmt.Fprintf(w, "made to fit a size")
	if len(out) > 0 {
		fmt.Fprintf(w, ", without %s", strings.Join(out, ", "))
	}
	if len(i.Ranks) == 0 && len(i.Functions) == 0 {
		fmt.Fprintf(w, "; all calls are exact\n")
		return
	}
	fmt.Fprintf(w, "\nexact: calls by function and rank; messages and bytes by function and pair of ranks\n")
	if len(i.Ranks) > 0 {
		fmt.Fprintf(w, "stretches whose order is not kept: %s of %s; other calls are in order\n",
			text.Plural(i.Calls, "call"), text.Plural(len(i.Ranks), "rank"))
	}
	i.printDistributed(w, "of a distribution in stretches", func(f *boundedFunction) []string { return f.InStretches })
	i.printDistributed(w, "of a distribution", func(f *boundedFunction) []string { return f.InOrder })
}

// printDistributed prints which arguments of which functions are of a distribution.
func (i *BoundedInfo) printDistributed(w io.Writer, what string, params func(*boundedFunction) []string) {
	var list []string
	for k := range i.Functions {
		if names := params(&i.Functions[k]); len(names) > 0 {
			list = append(list, text.Printable(i.Functions[k].Function+"("+strings.Join(names, ", ")+")"))
		}
	}
	if len(list) > 0 {
		fmt.Fprintf(w, "%s: %s\n", what, strings.Join(list, ", "))
	}
}
