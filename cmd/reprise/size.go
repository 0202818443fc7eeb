package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
)

// maxSize is the largest number of ranks of a run that --ranks can say.
const maxSize = 1 << 24

// addSize adds the option that says the number of ranks of the run.
func addSize(cmd *cobra.Command, size *int) {
	cmd.Flags().IntVar(size, "ranks", 0, "`number` of ranks")
	cmd.Flags().Lookup("ranks").DefValue = "up to the last that has calls"
}

// checkSize returns what is wrong with the number of ranks, if it is given.
func checkSize(cmd *cobra.Command, size int) error {
	if cmd.Flags().Changed("ranks") && (size < 1 || size > maxSize) {
		return usageError{fmt.Errorf("--ranks is from 1 to %s, not %d", text.Count(maxSize), size)}
	}
	return nil
}

// A beyond is a call that names a rank which the run does not have.
type beyond struct {
	Rank     int64  `json:"rank"`
	Caller   int    `json:"caller"`
	Function string `json:"function"`

	ranks int // of the run
}

// A peer is the highest rank that calls name, if they name any.
type peer struct {
	merge.Peer
	ok bool
}

func highestPeer(a *merge.Accumulator) peer {
	p, ok := a.HighestPeer()
	return peer{p, ok}
}

// beyond returns what is wrong with p in a run of so many ranks, or nil.
func (p peer) beyond(ranks int) *beyond {
	if !p.ok || p.Rank < int64(ranks) {
		return nil
	}
	return &beyond{p.Rank, p.Caller, p.Function, ranks}
}

// warn writes a warning, unless b is nil. Given says that the number of ranks was
// given.
func (b *beyond) warn(stderr io.Writer, given bool) {
	if b == nil {
		return
	}
	cure := "; --ranks says how many there are"
	if given {
		cure = ""
	}
	fmt.Fprintf(stderr, "reprise: warning: rank %d names rank %d in a call of %s, which is not among the %s%s\n",
		b.Caller, b.Rank, text.Printable(b.Function), text.Plural(b.ranks, "rank"), cure)
}
