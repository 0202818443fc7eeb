package answers

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/piecewise"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
)

// Clocks says of the clocks of machines how many are aligned, to how many nanoseconds, and what is to be
// known of them.
func Clocks(list []format.Clock) string {
	aligned, off := merge.Run{Clocks: list}.Aligned()
	said := fmt.Sprintf("of %d machines, aligned to %s", len(list), text.Duration(float64(off)))
	switch {
	case aligned < 2:
		said = fmt.Sprintf("of %d machines, not aligned: no messages show their differences", len(list))
	case aligned < len(list):
		said = fmt.Sprintf("of %d machines, %d of them aligned to %s", len(list), aligned, text.Duration(float64(off)))
	}
	contradicted, uneven, jump := 0, 0, int64(0)
	jumping, jumps, ahead := 0, 0, int64(0)
	var errors []int64
	early := uint64(0)
	for _, c := range list {
		if len(c.Later) > 0 {
			uneven, jump = uneven+1, max(jump, layout.ClockPieces(&c).Jump())
			errors = append(errors, c.Errors...)
		}
		if len(c.Jumps) > 0 {
			jumping, jumps, ahead = jumping+1, jumps+len(c.Jumps), max(ahead, piecewise.Jumps(c.Jumps).Most())
		}
		early += c.Early
		if c.Contradicted {
			contradicted++
		}
	}
	if uneven > 0 {
		does, their := "does", "its"
		if uneven > 1 {
			does, their = "do", "their"
		}
		said += fmt.Sprintf(
			"; that of %s %s not run evenly: %s times are moved in pieces, which jump by %s at most",
			text.Plural(uneven, "machine"), does, their, text.Duration(float64(jump)))
		if len(errors) > 0 {
			said += fmt.Sprintf("; the errors of %s pieces are %s to %s", their,
				text.Duration(float64(slices.Min(errors))), text.Duration(float64(slices.Max(errors))))
		}
	}
	if jumping > 0 {
		said += fmt.Sprintf(
			"; times of %s jump ahead %s, by %s at most, so that messages arrive after they are sent",
			text.Plural(jumping, "machine"), text.Plural(jumps, "time"), text.Duration(float64(ahead)))
	}
	if early > 0 {
		said += fmt.Sprintf("; %s still arrive before they are sent", text.Plural(early, "message"))
	}
	if contradicted > 0 {
		said += fmt.Sprintf("; messages contradict the real time of %s", text.Plural(contradicted, "machine"))
	}
	return said
}
