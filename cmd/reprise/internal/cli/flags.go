package cli

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// AddRanks adds the option that chooses ranks of a trace.
func AddRanks(cmd *cobra.Command, ranks *string) {
	cmd.Flags().Var((*setFlag)(ranks), "ranks", "only ranks of this `set`, such as 0-3,8 or 0-62:2")
	cmd.Flags().Lookup("ranks").DefValue = "all"
}

// A setFlag is a set of ranks as it is given. What it is depends on the trace.
type setFlag string

func (f *setFlag) String() string { return string(*f) }

func (f *setFlag) Type() string { return "set" }

func (f *setFlag) Set(text string) error {
	*f = setFlag(text)
	return nil
}

// AddSeries adds the option to read the times of every call.
func AddSeries(q *Question, series *bool) {
	q.Flags().BoolVar(series, "series", false, "read the times of every call, however many there are")
}

// ChosenRanks returns the ranks of the option, which must be some of those of the
// trace at path: nil for all of them.
func ChosenRanks(cmd *cobra.Command, list string, tr *trace.Trace, path string) (*rankenc.Set, error) {
	if f := cmd.Flags().Lookup("ranks"); f == nil || !f.Changed || list == "all" {
		return nil, nil
	}
	set, err := rankenc.SetOfText(list, rankenc.MaxRank+1)
	if err != nil {
		return nil, BadUsage(errors.New("--ranks: " + strings.TrimPrefix(err.Error(), "rankenc: ranks ")))
	}
	for first, last := range set.Ranges() {
		if last >= tr.Ranks() { // which depends on the trace: the command line is as it should be
			return nil, NoRank(path, max(first, tr.Ranks()), tr.Ranks())
		}
	}
	readable := set.Difference(Unreadable(tr))
	if readable.Len() == 0 && set.Len() > 0 {
		return nil, DamageOf(path, tr)
	}
	return &readable, nil
}

// NoRank returns the error of a rank that is not one of those of the trace at path.
func NoRank(path string, rank, ranks int) error {
	if ranks == 0 {
		return fmt.Errorf("%s: no rank %d: the trace has no ranks", path, rank)
	}
	return fmt.Errorf("%s: no rank %d: the trace has ranks 0 to %d", path, rank, ranks-1)
}

// A Choice is an option that has one of some values, the first unless another is
// given.
type Choice struct {
	values []string
	Value  string
}

// The empty value is not told to users.
func NewChoice(values ...string) *Choice {
	c := &Choice{values, values[0]}
	if c.Value == "" {
		c.values = values[1:]
	}
	return c
}

// AddChoice adds the option to a command, with what its values are for.
func AddChoice(cmd *cobra.Command, c *Choice, name, usage string) {
	cmd.Flags().Var(c, name, usage+": "+c.List())
	if err := cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(c.values,
		cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the option is there
	}
}

func (c *Choice) String() string { return c.Value }

func (c *Choice) Type() string { return "name" }

func (c *Choice) Set(value string) error {
	if !slices.Contains(c.values, value) {
		return errors.New("must be " + c.List())
	}
	c.Value = value
	return nil
}

// List returns the values, as in a, b or c.
func (c *Choice) List() string {
	last := len(c.values) - 1
	return strings.Join(c.values[:last], ", ") + " or " + c.values[last]
}

// A TimeFlag is a time since the first call of a run: a duration, such as 1.5s or
// 20ms, or a number of seconds.
type TimeFlag time.Duration

func (f *TimeFlag) String() string { return time.Duration(*f).String() }

func (f *TimeFlag) Type() string { return "time" }

func (f *TimeFlag) Set(text string) error {
	d, err := time.ParseDuration(text)
	if s, e := strconv.ParseFloat(text, 64); err != nil && e == nil {
		if d = time.Duration(math.Round(s * 1e9)); math.Abs(s) < float64(math.MaxInt64)/1e9 {
			err = nil
		}
	}
	switch {
	case err != nil:
		return errors.New("is not a time, such as 1.5s, 20ms or 0.02")
	case d < 0:
		return ErrBefore
	}
	*f = TimeFlag(d)
	return nil
}
