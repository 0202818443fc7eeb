package ti

import (
	"io"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/tracer"
)

// Source is the source that [Record] names for a run.
const Source = "SimGrid TI"

// Record reads r to its end and returns the run and the parts of its ranks, for
// [merge.Write]. What it holds grows with the structure found, not with the
// number of calls. The run has the ranks up to the last that has lines, or as many
// as [Reader.Ranks] says. Record calls progress, unless that is nil, after every few
// thousand calls and stops with its error. An error of r is returned as it is.
func Record(r *Reader, progress func() error) (merge.Run, []merge.Part, error) {
	const callsPerStep = 4096
	var (
		functions = Functions()
		ranks     = make(map[int]*rankRecorder)
		order     sequitur.Builder // the rank of each line
		last      *rankRecorder
	)
	for {
		c, err := r.Read()
		if err == io.EOF {
			break
		}
		if err == nil && progress != nil && order.Len()%callsPerStep == callsPerStep-1 {
			err = progress()
		}
		if err != nil {
			return merge.Run{}, nil, err
		}
		if last == nil || c.Rank != last.rank {
			if last = ranks[c.Rank]; last == nil {
				last = &rankRecorder{rank: c.Rank}
				ranks[c.Rank] = last
			}
		}
		last.call(functions, c)
		order.Append(sequitur.Symbol(c.Rank))
	}
	run := merge.Run{Ranks: r.Ranks(), Source: Source, Interleaving: order.Finish()}
	parts := make([]merge.Part, 0, len(ranks))
	for _, rank := range slices.Sorted(maps.Keys(ranks)) {
		parts = append(parts, ranks[rank].Finish(rank))
		delete(ranks, rank)
		run.Ranks = max(run.Ranks, rank+1)
	}
	return run, parts, nil
}

// A rankRecorder records the calls of one rank.
type rankRecorder struct {
	tracer.Recorder
	rank int

	// numbers holds, by index of Functions, the number in the Recorder plus one,
	// or 0. It reaches to the last function of the rank: a run may have many ranks
	// of few calls.
	numbers []uint16
}

func (r *rankRecorder) call(functions []cst.Function, c Call) {
	if more := c.Function + 1 - len(r.numbers); more > 0 {
		r.numbers = append(r.numbers, make([]uint16, more)...)
	}
	if r.numbers[c.Function] == 0 {
		r.numbers[c.Function] = uint16(r.Declare(functions[c.Function]) + 1)
	}
	r.Call(int(r.numbers[c.Function])-1, c.Args...)
}
