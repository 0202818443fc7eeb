package predict

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/replay"
)

// MachineFile returns the parameters as parseMachine reads them.
func (a *Calibrated) MachineFile() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# The parameters of %s for reprise predict --machine, measured with\n# reprise calibrate -- %s: %s on %s.\n", text.Printable(a.MPI), text.Printable(a.Command),
		text.Plural(a.Ranks, "rank"), text.Plural(a.Nodes, "node"))
	for _, doubt := range a.Doubts {
		fmt.Fprintf(&b, "# Warning: %s.\n", doubt)
	}
	if a.Nodes == 1 {
		b.WriteString("# Messages between nodes are those of the default machine.\n")
		fmt.Fprintf(&b, "\nranks_per_node = %d # or as many as the node has processors\n", a.PerNode)
	} else {
		fmt.Fprintf(&b, "\nranks_per_node = %d\n", a.PerNode)
	}
	if a.Cyclic {
		b.WriteString("mapping = \"cyclic\"\n")
	}
	for _, l := range a.Links {
		fmt.Fprintf(&b, "\n[%s]\n", l.Name)
		fmt.Fprintf(&b, "latency = %-14s # half of a round trip, without overheads\n", timeText(l.link.Latency))
		fmt.Fprintf(&b, "overhead = %-13s # mean of a send, and a receive of a message that has come\n",
			timeText(l.link.Overhead))
		fmt.Fprintf(&b, "gap = %-18s # of a send among others\n", timeText(l.link.Gap))
		fmt.Fprintf(&b, "bandwidth = %s\n", bandwidthText(l.link.Bandwidth))
		fmt.Fprintf(&b, "eager_limit = %-10s # a send of more waited for a receiver that was late\n",
			limitText(l.link.EagerLimit))
		if l.link.Copied {
			b.WriteString("copied = true            # four messages at one time came one after the other\n")
		}
		for _, larger := range l.link.Larger {
			fmt.Fprintf(&b, "\n[[%s.larger]]\nthan = %q\nlatency = %s\nbandwidth = %s\n", l.Name,
				strconv.FormatInt(larger.Than, 10)+"B", timeText(larger.Latency), bandwidthText(larger.Bandwidth))
		}
		fmt.Fprintf(&b, "\n# bytes: measured, its quartiles, and by the parameters above\n")
		for _, m := range l.Messages {
			fitted := ""
			if !m.Fitted {
				fitted = ", not fitted"
			}
			fmt.Fprintf(&b, "# %d: %s, %s to %s, %s%s\n", m.Bytes, text.Duration(m.Measured),
				text.Duration(m.Lower), text.Duration(m.Higher), text.Duration(m.Predicted), fitted)
		}
	}
	for _, operation := range slices.Sorted(maps.Keys(a.Parameters.Besides)) {
		fmt.Fprintf(&b, "\n[besides.%s]\n", operation)
		for _, o := range a.Parameters.Besides[operation] {
			fmt.Fprintf(&b, "%dB = %s\n", o.Bytes, timeText(o.Time))
		}
	}
	return b.String()
}

// timeText writes a time exactly.
func timeText(t replay.Time) string {
	return strconv.Quote(strconv.FormatFloat(float64(t)/float64(replay.Nanosecond), 'f', -1, 64) + "ns")
}

func bandwidthText(b int64) string {
	if b == 0 {
		return `"inf"`
	}
	return strconv.Quote(strconv.FormatInt(b, 10) + "B/s")
}

func limitText(limit int64) string {
	switch {
	case limit == 0:
		return `"inf"`
	case limit < 0:
		return "0"
	}
	return strconv.Quote(strconv.FormatInt(limit, 10) + "B")
}
