package predict

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/replay/loggps"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
)

// A machineFlags says what machine a run is predicted for.
type machineFlags struct {
	file                        string
	text                        []byte // of the file, once it is read
	compute, latency, bandwidth string // what of the machine is multiplied
}

func (m *machineFlags) addTo(f *pflag.FlagSet) {
	f.StringVarP(&m.file, "machine", "m", "", "`file` with the parameters of the machine")
	f.StringVar(&m.compute, "compute", "1x", "multiply computing times by a `factor`")
	f.StringVar(&m.latency, "latency", "1x", "multiply latencies by a `factor`")
	f.StringVar(&m.bandwidth, "bandwidth", "1x", "multiply bandwidths by a `factor`, or inf")
	f.Lookup("machine").DefValue = "that above"
}

// parameters returns the parameters of the machine, and lines that describe it.
func (m *machineFlags) parameters() (loggps.Parameters, []string, error) {
	p, name := loggps.Default(), "a default machine"
	if m.file != "" {
		var err error
		if m.text, err = ReadMachineText(m.file); err == nil {
			p, err = ParseMachine(m.file, m.text)
		}
		if err != nil {
			return p, nil, cli.Named(err)
		}
		name = text.Printable(m.file)
	}
	changed, err := m.change(&p)
	if err != nil {
		return p, nil, cli.BadUsage(err)
	}
	line := "machine: " + name
	if len(changed) > 0 {
		line += ", with " + strings.Join(changed, ", ")
	}
	mapping := text.Plural(max(p.RanksPerNode, 1), "rank") + " on each node"
	if p.Cyclic {
		mapping += ", cyclic"
	}
	lines := []string{line, "between nodes: " + describeLink(&p.Between) + "; " + mapping}
	if p.RanksPerNode > 1 {
		lines = append(lines, "within a node: "+describeLink(&p.Within))
	}
	return p, lines, nil
}

// at returns the name of the machine file with the line of a key.
func (m *machineFlags) at(key ...string) string { return lineOf(m.file, m.text, key) }

// change applies the flags, and returns what they change.
func (m *machineFlags) change(p *loggps.Parameters) (changed []string, err error) {
	links := []*loggps.Link{&p.Between, &p.Within}
	compute, err := loggps.ParseFactor(m.compute)
	if err != nil {
		return nil, fmt.Errorf("--compute: %w", err)
	}
	if !compute.IsOne() {
		// That of all ranks multiplies what the file has.
		p.OfRanks = append(slices.Clone(p.OfRanks),
			loggps.RankFactor{Ranks: rankenc.World(rankenc.MaxRank + 1), Factor: compute})
		changed = append(changed, compute.String()+" computing")
	}
	latency, err := loggps.ParseFactor(m.latency)
	if err != nil {
		return nil, fmt.Errorf("--latency: %w", err)
	}
	for _, l := range links {
		l.Latency = latency.Of(l.Latency)
		for i := range l.Larger {
			l.Larger[i].Latency = latency.Of(l.Larger[i].Latency)
		}
	}
	if !latency.IsOne() {
		changed = append(changed, latency.String()+" latency")
	}
	var bandwidths []*int64
	for _, l := range links {
		bandwidths = append(bandwidths, &l.Bandwidth)
		for i := range l.Larger {
			bandwidths = append(bandwidths, &l.Larger[i].Bandwidth)
		}
	}
	if m.bandwidth == "inf" {
		for _, b := range bandwidths {
			*b = 0
		}
		return append(changed, "unlimited bandwidth"), nil
	}
	bandwidth, err := loggps.ParseFactor(m.bandwidth)
	if err != nil {
		return nil, fmt.Errorf("--bandwidth: %w", err)
	}
	for _, b := range bandwidths {
		if *b == 0 {
			continue
		}
		if *b = int64(bandwidth.Of(replay.Time(*b))); *b == 0 {
			return nil, fmt.Errorf("--bandwidth %s leaves none", m.bandwidth)
		}
	}
	if !bandwidth.IsOne() {
		changed = append(changed, bandwidth.String()+" bandwidth")
	}
	return changed, nil
}

func describeLink(l *loggps.Link) string {
	larger := ""
	for _, of := range l.Larger {
		larger += fmt.Sprintf("; beyond %s %s more, %s", text.Bytes(of.Than),
			text.Duration(Nanoseconds(of.Latency)), describeBandwidth(of.Bandwidth))
	}
	if l.Copied {
		larger += "; receivers copy"
	}
	return fmt.Sprintf("latency %s, overhead %s, gap %s, %s%s", text.Duration(Nanoseconds(l.Latency)),
		text.Duration(Nanoseconds(l.Overhead)), text.Duration(Nanoseconds(l.Gap)),
		describeBandwidth(l.Bandwidth), larger)
}

func describeBandwidth(b int64) string {
	if b == 0 {
		return "unlimited bandwidth"
	}
	return text.Bytes(b) + "/s"
}

// describeSpeed returns a number of floating-point operations a second as a machine file has it.
func describeSpeed(flops int64) string {
	u := cli.SpeedUnits[0]
	for _, larger := range cli.SpeedUnits {
		if float64(flops) >= larger.Is {
			u = larger
		}
	}
	return strconv.FormatFloat(float64(flops)/u.Is, 'g', 4, 64) + u.Name
}

// Nanoseconds returns a time in nanoseconds, rounded.
func Nanoseconds(t replay.Time) query.Nanoseconds {
	return query.Nanoseconds(math.Round(float64(t) / float64(replay.Nanosecond)))
}
