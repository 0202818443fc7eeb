package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
)

// boundedSize is the most that the traces of the section take, in bytes.
const boundedSize = 16_000

// reportBounded reports what traces keep of runs that do not repeat.
func reportBounded(w io.Writer) error {
	heads(w, "run", "calls", "whole, bytes", "in 16 kB", "calls that are exact", "calls by function and rank",
		"messages by function and pair", "bytes by function and pair",
		"Kolmogorov–Smirnov distance of sizes", "of the worst pair")
	if err := reportBoundedHPCC(w); err != nil {
		return err
	}
	for _, p := range []programs.Program{programs.RandomMessages(16, 1000, 1), programs.RandomAlltoallv(16, 100, 1)} {
		a := new(merge.Accumulator)
		if err := a.Describe(p.Run()); err != nil {
			return err
		}
		for _, part := range p.Parts() {
			if err := a.Add(part); err != nil {
				return err
			}
		}
		if err := boundedRow(w, p.Name, a); err != nil {
			return err
		}
	}
	return nil
}

// reportBoundedHPCC reports runs of hpcc, if it is there.
func reportBoundedHPCC(w io.Writer) error {
	program, err := exec.LookPath("hpcc")
	m := findMPI("openmpi")
	if err != nil || m == nil {
		fmt.Fprintln(w, "| hpcc is not installed |")
		return nil
	}
	directory, err := os.MkdirTemp("", "reprise-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)
	if err := m.build(directory); err != nil {
		return err
	}
	for _, ranks := range []int{4, 8} {
		work := filepath.Join(directory, fmt.Sprint("hpcc-", ranks))
		spool := filepath.Join(work, "spool")
		if err := os.MkdirAll(spool, 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(work, "hpccinf.txt"), hpccInput(), 0o600); err != nil {
			return err
		}
		if _, err := m.withoutSites().run(ranks, spool, work, program); err != nil {
			return err
		}
		c, err := collect.New(spool, collect.Options{})
		if err != nil {
			return err
		}
		a, _, err := c.Finish(context.Background())
		if err != nil {
			return err
		}
		if err := boundedRow(w, fmt.Sprintf("hpcc, %d ranks, statistics of times", ranks), a); err != nil {
			return err
		}
	}
	return nil
}

// boundedRow writes the row of a run.
func boundedRow(w io.Writer, name string, a *merge.Accumulator) error {
	var whole, bounded bytes.Buffer
	if err := a.Write(&whole); err != nil {
		return err
	}
	if err := a.WriteBounded(context.Background(), &bounded, boundedSize, spec.Keep); err != nil {
		return err
	}
	want, err := contentOf(whole.Bytes())
	if err != nil {
		return err
	}
	got, err := contentOf(bounded.Bytes())
	if err != nil {
		return err
	}
	all, worst := distances(want.pairs, got.pairs)
	fmt.Fprintf(w, "| %s | %d | %d | %d | %.1f %% | %s | %s | %s | %.3f | %.3f |\n", name, want.calls,
		whole.Len(), bounded.Len(),
		100*float64(got.exact)/float64(got.calls), sameness(maps.Equal(want.functions, got.functions)),
		sameness(equalSums(want.pairs, got.pairs, sizes.messages)),
		sameness(equalSums(want.pairs, got.pairs, sizes.bytes)), all, worst)
	return nil
}

func sameness(same bool) string {
	if same {
		return "exact"
	}
	return "differ"
}

// A traceContent is what is compared of two traces.
type traceContent struct {
	calls, exact uint64
	functions    map[string]uint64 // calls by rank and function
	pairs        map[string]sizes  // by function, source and destination
}

// Sizes are how many messages have each number of bytes.
type sizes map[int64]uint64

func (s sizes) messages() (n uint64) {
	for _, k := range s {
		n += k
	}
	return n
}

func (s sizes) bytes() (n uint64) {
	for v, k := range s {
		n += uint64(v) * k
	}
	return n
}

// contentOf returns that of the trace in a file. Blocks of collective operations with another for each rank
// count as messages.
func contentOf(file []byte) (*traceContent, error) {
	tr, err := open(file)
	if err != nil {
		return nil, err
	}
	model, err := semantics.Open(context.Background(), tr)
	if err != nil {
		return nil, err
	}
	c := &traceContent{functions: make(map[string]uint64), pairs: make(map[string]sizes)}
	for _, rank := range tr.RankSet().All() {
		if err := c.add(tr, model, rank); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// add adds a rank.
func (c *traceContent) add(tr *trace.Trace, model *semantics.Model, rank int) error {
	r, err := model.Rank(rank)
	if err != nil {
		return err
	}
	calls, err := tr.Rank(rank)
	if err != nil {
		return err
	}
	for call, err := range calls.Calls(0) {
		if err != nil {
			return err
		}
		c.calls++
		if call.Exact() {
			c.exact++
		}
		c.functions[fmt.Sprint(rank, call.Function.Name)]++
	}
	for o := range r.All() {
		add := func(peer int, bytes int64) {
			key := fmt.Sprint(tr.Functions()[r.Function(o.Terminal)].Name, rank, peer)
			if c.pairs[key] == nil {
				c.pairs[key] = make(sizes)
			}
			c.pairs[key][bytes] += o.Count
		}
		for _, m := range o.Operation.Messages {
			if m.Direction == semantics.Send && m.Bytes >= 0 {
				add(m.Peer, m.Bytes)
			}
		}
		x := r.Exchange(o.Operation)
		for member, bytes := range x.Blocks {
			if x.With == semantics.EachOther && !x.From && member != x.Rank && bytes >= 0 {
				add(member, bytes)
			}
		}
	}
	return nil
}

func equalSums(a, b map[string]sizes, sum func(sizes) uint64) bool {
	return maps.EqualFunc(a, b, func(s, t sizes) bool { return sum(s) == sum(t) })
}

// distances returns the Kolmogorov–Smirnov distance of all sizes, and that of the worst of the
// pairs.
func distances(a, b map[string]sizes) (all, worst float64) {
	wholeA, wholeB := make(sizes), make(sizes)
	for key, s := range a {
		for v, n := range s {
			wholeA[v] += n
		}
		for v, n := range b[key] {
			wholeB[v] += n
		}
		worst = max(worst, distance(s, b[key]))
	}
	return distance(wholeA, wholeB), worst
}

// distance returns the greatest difference of the shares of messages up to any size.
func distance(a, b sizes) (greatest float64) {
	values := slices.Sorted(maps.Keys(a))
	values = append(values, slices.Collect(maps.Keys(b))...)
	slices.Sort(values)
	var x, y uint64
	for _, v := range slices.Compact(values) {
		x, y = x+a[v], y+b[v]
		greatest = max(greatest, math.Abs(float64(x)/float64(a.messages())-float64(y)/float64(b.messages())))
	}
	return greatest
}
