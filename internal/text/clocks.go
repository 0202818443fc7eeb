package text

import (
	"fmt"

	"github.com/reprise-trace/reprise/merge"
)

// Clocks says of the clocks of machines how many are aligned, to how many nanoseconds, and what is to be known of them.
func Clocks(list []merge.Clock) string {
	aligned, off := merge.Run{Clocks: list}.Aligned()
	said := fmt.Sprintf("of %d machines, aligned to %s", len(list), Duration(float64(off)))
	switch {
	case aligned < 2:
		said = fmt.Sprintf("of %d machines, not aligned: no messages tell how they differ", len(list))
	case aligned < len(list):
		said = fmt.Sprintf("of %d machines, %d of them aligned to %s", len(list), aligned, Duration(float64(off)))
	}
	contradicted := 0
	for _, c := range list {
		if c.Contradicted {
			contradicted++
		}
	}
	if contradicted > 0 {
		said += fmt.Sprintf("; messages contradict the real time of %s", Plural(contradicted, "machine"))
	}
	return said
}
