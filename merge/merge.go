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
}

// A Run describes a run as a whole.
type Run struct {
	// Ranks is the number of ranks. Those without a part made no calls.
	Ranks int

	// Source says where the calls come from: the name of a tracer, or of the
	// format of another trace.
	Source string

	// Interleaving is the order of the calls of all ranks as a grammar over
	// ranks: for each call the rank that made it. Nil means rank by rank.
	Interleaving *sequitur.Grammar
}

// The kinds of sections.
const (
	KindRun          format.Kind = 1
	KindFunctions    format.Kind = 2
	KindSignatures   format.Kind = 3
	KindGrammar      format.Kind = 4
	KindInterleaving format.Kind = 5
)

// KindName returns the name of a kind of section.
func KindName(k format.Kind) string {
	switch k {
	case KindRun:
		return "run"
	case KindFunctions:
		return "functions"
	case KindSignatures:
		return "signatures"
	case KindGrammar:
		return "grammar"
	case KindInterleaving:
		return "interleaving"
	}
	return fmt.Sprintf("kind %d", k)
}

// maxRanks bounds the number of ranks, so that a rank is an int everywhere.
const maxRanks = math.MaxInt32
