package merge

import (
	"fmt"
	"math"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/sequitur"
)

// A Part is what one rank hands to the merge.
type Part struct {
	Rank    int               // ≥ 0
	Table   *cst.Table        // the rank's signatures
	Grammar *sequitur.Grammar // the rank's calls, as terminals of Table

	// Groups says what the process is in the groups, such as communicators, that
	// handles among the arguments stand for. Ranks in the arguments of a call
	// whose first such handle is of a group are then fitted as expressions of the
	// rank in that group and its size, too, not of those in the run alone.
	Groups map[GroupHandle]Group

	// Times are what was recorded of the times of the calls; nil if nothing was.
	// What [Trace.Part] returns has none: see [Trace.Series] and [Trace.Summaries].
	Times *Times

	// groups are those of terminals, as far as a trace has them from which the part
	// was read.
	groups map[uint32]Group
}

// A GroupHandle is a handle of a group of processes.
type GroupHandle struct {
	Class string // of the handle, as in the type of the parameter
	Value int64
}

// A Group is what a process is in a group of processes: of a communicator, its rank
// and the number of ranks. In an intercommunicator, where ranks are those of the
// remote group, Size is the number of these, and Rank that of the process in its
// own group.
type Group struct{ Rank, Size int }

// A Run describes a run as a whole.
type Run struct {
	// Ranks is the number of ranks, at most 2³¹−1. Those without a part made no
	// calls.
	Ranks int

	// Source says where the calls come from: the name of a tracer, or of the
	// format of another trace.
	Source string

	// Interleaving is the order of the calls of all ranks as a grammar over
	// ranks: for each call the rank that made it. Nil means rank by rank, and
	// is what a trace has for an interleaving that says the same.
	Interleaving *sequitur.Grammar

	// Names are what numbers among the arguments are called. A trace has them in
	// ascending order of kinds, classes and values, one for each.
	Names []Name
}

// The kinds of sections.
const (
	KindRun          format.Kind = 1
	KindTexts        format.Kind = 2
	KindSignatures   format.Kind = 3
	KindColumns      format.Kind = 4
	KindGrammars     format.Kind = 5
	KindInterleaving format.Kind = 6
	KindPart         format.Kind = 7
	KindShape        format.Kind = 8
	KindStreams      format.Kind = 9
	KindSummaries    format.Kind = 10
	KindSeries       format.Kind = 11
	KindNames        format.Kind = 12
)

// KindName returns the name of a kind of section.
func KindName(k format.Kind) string {
	switch k {
	case KindRun:
		return "run"
	case KindTexts:
		return "texts"
	case KindSignatures:
		return "signatures"
	case KindColumns:
		return "columns"
	case KindGrammars:
		return "grammars"
	case KindInterleaving:
		return "interleaving"
	case KindPart:
		return "part"
	case KindShape:
		return "shape"
	case KindStreams:
		return "streams"
	case KindSummaries:
		return "time summaries"
	case KindSeries:
		return "time series"
	case KindNames:
		return "names"
	}
	return fmt.Sprintf("kind %d", k)
}

// maxRanks bounds the number of ranks, so that a rank is an int everywhere.
const maxRanks = math.MaxInt32

// terminals returns one more than the greatest terminal of g, 0 if g is empty.
func terminals(g *sequitur.Grammar) uint64 {
	var n uint64
	for r := range g.Rules() {
		for t := range g.Body(r) {
			if t.Rule < 0 {
				n = max(n, uint64(t.Symbol)+1)
			}
		}
	}
	return n
}

// isRankByRank reports whether an interleaving has the calls of each rank in one
// run, in ascending order of the ranks. It takes time in proportion to the
// number of ranks in it.
func isRankByRank(g *sequitur.Grammar) bool {
	last := int64(-1)
	for _, run := range g.Runs() {
		if int64(run.Symbol) <= last {
			return false
		}
		last = int64(run.Symbol)
	}
	return true
}
