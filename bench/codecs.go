package bench

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/internal/recorded"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/timing/grammar"
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

// lossy returns the codecs that have a relative error of epsilon.
func lossy(epsilon float64) ([]contender, error) {
	bins, err := timing.NewExponential(epsilon)
	if err != nil {
		return nil, err
	}
	hist, err := timing.NewHIST(timing.HISTOptions{Epsilon: epsilon})
	if err != nil {
		return nil, err
	}
	folded, err := grammar.New(epsilon)
	if err != nil {
		return nil, err
	}
	entropy, err := timing.NewEntropy(epsilon)
	if err != nil {
		return nil, err
	}
	return []contender{{"bins", bins, false}, {"hist", hist, true}, {"grammar", folded, false}, {"entropy", entropy, true}}, nil
}

// lossless returns the codecs that keep every bit.
func lossless() []contender {
	return []contender{
		{"lossless-zstd", timing.NewLossless(timing.Zstd), true},
		{"lossless-lz4", timing.NewLossless(timing.LZ4), true},
	}
}

// contenders returns all codecs, the lossy ones with a relative error of epsilon.
func contenders() ([]contender, error) {
	list, err := lossy(epsilon)
	return append(list, lossless()...), err
}

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
type column struct {
	run       string
	terminals []uint32
	values    []int64
}

// arranged returns a column as a codec gets it that clusters or does not.
func (c column) arranged(o order, clusters bool) column {
	switch {
	case o == byCall:
		return column{c.run, make([]uint32, len(c.values)), c.values}
	case clusters:
		return c
	}
	return c.sorted()
}

// sorted returns the values by terminal, those of one in the order of the calls.
func (c column) sorted() column {
	at := make([]int, len(c.values))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(c.terminals[a], c.terminals[b]) })
	s := column{c.run, make([]uint32, len(at)), make([]int64, len(at))}
	for i, k := range at {
		s.terminals[i], s.values[i] = c.terminals[k], c.values[k]
	}
	return s
}

// encode returns the blocks of a column, which are as long as those of a series.
func (c contender) encode(in column) [][]byte {
	e := c.codec.NewEncoder()
	var blocks [][]byte
	for first := 0; first < len(in.values); first += timing.DefaultBlockLen {
		for i := first; i < min(first+timing.DefaultBlockLen, len(in.values)); i++ {
			e.Append(in.terminals[i], in.values[i])
		}
		blocks = append(blocks, e.AppendBlock(nil))
	}
	return blocks
}

// decode sets dst to the values of the blocks of a column with these terminals.
func (c contender) decode(dst []int64, blocks [][]byte, terminals []uint32) error {
	for _, block := range blocks {
		n := min(len(dst), timing.DefaultBlockLen)
		d, err := c.codec.NewDecoder(block, timing.Options{})
		if err == nil {
			err = d.Decode(dst[:n], terminals[:n])
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.codec.Name(), err)
		}
		dst, terminals = dst[n:], terminals[n:]
	}
	return nil
}

// keep encodes and decodes columns.
func (c contender) keep(columns []column, o order) (kept, error) {
	var k kept
	for _, in := range columns {
		in = in.arranged(o, c.clusters)
		blocks := c.encode(in)
		got := make([]int64, len(in.values))
		if err := c.decode(got, blocks, in.terminals); err != nil {
			return k, err
		}
		k.add(in.values, got)
		k.bytes += totalLen(blocks)
	}
	return k, nil
}

func totalLen(blocks [][]byte) int {
	n := 0
	for _, b := range blocks {
		n += len(b)
	}
	return n
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
		list = append(list, column{r.Run, r.Terminals, kinds[kind].values(r)})
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
