package bench

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/internal/bins"
	"github.com/reprise-trace/reprise/internal/test/recorded"
	"github.com/reprise-trace/reprise/timing"
	_ "github.com/reprise-trace/reprise/timing/grammar" // makes its codec known
)

// epsilon is the relative error at which codecs of times are compared.
const epsilon = 0.1

// A contender is a codec of times that is compared with others.
type contender struct {
	name  string
	codec timing.Codec

	// clusters is whether the codec makes use of the terminals. Where it does not,
	// who wants clusters sorts the column.
	clusters bool
}

// contenders returns all codecs, those that have a relative error with this one, and
// how many these are, which come first.
func contenders(epsilon float64) (list []contender, lossy int, err error) {
	exact := 0
	for _, kind := range timing.Codecs() {
		c := contender{name: kind.Kind, clusters: !slices.Contains(withoutClusters, kind.Kind)}
		if c.codec, err = kind.New(epsilon); err != nil {
			return nil, 0, err
		}
		if kind.Exact {
			c.name += "-" + kind.Word
			exact++
		}
		list = append(list, c)
	}
	return list, len(list) - exact, nil
}

// withoutClusters are the kinds of codecs that make no use of the terminals.
var withoutClusters = []string{"bins", "grammar"}

// An order says whether the values of a column are clustered by signature.
type order int

const (
	byCall      order = iota // as the calls were, and nothing is said of signatures
	bySignature              // as the calls were, with their terminals; or sorted by these
)

var orders = []order{byCall, bySignature}

func (o order) String() string {
	if o == bySignature {
		return "signatures"
	}
	return "calls"
}

// A column holds the values of one kind of a rank, in the order of the calls.
type column = timing.Column[int64]

// arranged returns columns as the contender gets them.
func (c contender) arranged(columns []column, o order) []column {
	var list []column
	for _, in := range columns {
		switch {
		case o == byCall:
			in.Terminals = nil
		case !c.clusters:
			in = sorted(in)
		}
		list = append(list, in)
	}
	return list
}

// sorted returns the values by terminal, those of one in the order of the calls.
func sorted(c column) column {
	at := make([]int, len(c.Values))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(c.Terminals[a], c.Terminals[b]) })
	s := column{Values: make([]int64, len(at)), Terminals: make([]uint32, len(at))}
	for i, k := range at {
		s.Values[i], s.Terminals[i] = c.Values[k], c.Terminals[k]
	}
	return s
}

// kept is what is left of values that were encoded and decoded.
type kept struct {
	timing.Comparison
	width float64 // distance of the largest value from the smallest
}

// keep encodes and decodes columns, and measures that so often.
func (c contender) keep(columns []column, o order, rounds int) (kept, error) {
	all, err := timing.Compare(c.arranged(columns, o), timing.CompareOptions{Codecs: []timing.Codec{c.codec},
		Rounds: rounds})
	if err != nil {
		return kept{}, err
	}
	return kept{all[0], width(columns)}, nil
}

// width returns the distance of the largest value from the smallest.
func width(columns []column) float64 {
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for _, c := range columns {
		least, most = min(least, slices.Min(c.Values)), max(most, slices.Max(c.Values))
	}
	return float64(most) - float64(least)
}

// bits returns the bits per value.
func (k kept) bits() float64 { return 8 * float64(k.Bytes) / float64(k.Values) }

// cells returns size and errors as columns of a table. The peak signal-to-noise ratio
// is in decibels: the range of the values relative to the root of the mean squared error.
func (k kept) cells() string {
	errors := "–"
	if e := k.Errors; e != nil {
		errors = "exact | exact | ∞"
		if e.Max > 0 {
			errors = fmt.Sprintf("%.2f %% | %.2f %% | %.1f", 100*e.Max, 100*e.Mean, 20*math.Log10(k.width/e.Root))
		}
	}
	return fmt.Sprintf("%.3f | %.1f | %s", k.bits()/8, 64/k.bits(), errors)
}

// times returns what encoding and decoding takes as columns of a table.
func (k kept) times() string {
	return nanoseconds(float64(k.Encode)/float64(k.Values)) + " | " + nanoseconds(float64(k.Decode)/float64(k.Values))
}

// conditionalEntropy returns the bits that the bins of columns take at least, all together, if
// each depends on the signature and on nothing else: the empirical entropy of bins
// given the terminal, rank by rank. What it costs to tell how often each bin
// occurs is not part of it, so that columns with few values for a signature cannot
// come close.
func conditionalEntropy(epsilon float64, columns []column) (float64, error) {
	b, err := bins.New(epsilon)
	if err != nil {
		return 0, err
	}
	type event struct {
		terminal uint32
		symbol   int32
	}
	total := 0.0
	for _, c := range columns {
		all, each := make(map[uint32]int), make(map[event]int)
		for i, v := range c.Values {
			all[c.Terminals[i]]++
			each[event{c.Terminals[i], b.Symbol(v)}]++
		}
		var sum []float64
		for e, n := range each {
			sum = append(sum, float64(n)*math.Log2(float64(all[e.terminal])/float64(n)))
		}
		slices.Sort(sum) // the order of a map is none
		for _, s := range sum {
			total += s
		}
	}
	return total, nil
}

// kinds are the kinds of columns, and how a rank has them.
var kinds = []struct {
	name   string
	values func(r *recorded.Rank) []int64
}{
	{"durations", func(r *recorded.Rank) []int64 { return r.Durations }},
	{"gaps", (*recorded.Rank).Gaps},
	{"intervals", (*recorded.Rank).Intervals},
}

// readTimes reads the recorded runs in a directory.
func readTimes(dir string) ([]*recorded.Rank, error) {
	ranks, err := recorded.Read(dir)
	if errors.Is(err, recorded.ErrNoRuns) {
		return nil, fmt.Errorf("%w in %s", ErrNoTraces, dir)
	}
	return ranks, err
}

// columns returns the columns of a kind, by its index in kinds.
func columns(ranks []*recorded.Rank, kind int) []column {
	var list []column
	for _, r := range ranks {
		list = append(list, column{Values: kinds[kind].values(r), Terminals: r.Terminals})
	}
	return list
}

// byRun divides ranks into those of one run each, in their order.
func byRun(ranks []*recorded.Rank) [][]*recorded.Rank {
	var runs [][]*recorded.Rank
	for i, r := range ranks {
		if i == 0 || ranks[i-1].Run != r.Run {
			runs = append(runs, nil)
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], r)
	}
	return runs
}

// calls returns the number of calls of ranks.
func calls(ranks []*recorded.Rank) int {
	n := 0
	for _, r := range ranks {
		n += len(r.Starts)
	}
	return n
}

// longRun is the number of calls from which on a run is a long one.
const longRun = 10_000

// longAndShort divides ranks into those of long runs and those of short ones.
func longAndShort(ranks []*recorded.Rank) (long, short []*recorded.Rank) {
	for _, run := range byRun(ranks) {
		if calls(run) >= longRun {
			long = append(long, run...)
		} else {
			short = append(short, run...)
		}
	}
	return long, short
}
