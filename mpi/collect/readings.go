package collect

import (
	"fmt"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// A clockReading is what the clocks of this machine were at one instant, in nanoseconds.
type clockReading struct {
	monotonic, real int64
	error           int64 // how far real may be off
}

// measure reads the clocks, if parts are to say how far they are off. The first reading and the latest are
// kept.
func (c *Collector) measure() {
	if !c.options.Measure || c.options.Machine == "" || c.options.Untimed {
		return
	}
	if r, ok := c.read(); ok {
		c.readings = append(c.readings[:min(len(c.readings), 1)], r)
	}
}

// clocks returns the clocks of the machines that processes, by rank, ran on.
func (c *Collector) clocks(list []*process) (clocks []format.Clock) {
	if c.options.Untimed {
		return nil
	}
	machines := make(map[string][]*process)
	var order []string // by the first rank
	for _, p := range list {
		if m := p.machine(c.options.Machine); m != "" {
			if machines[m] == nil {
				order = append(order, m)
			}
			machines[m] = append(machines[m], p)
		}
	}
	for _, m := range order {
		clock := format.Clock{Machine: m, Error: -1}
		var ranks rankenc.SetBuilder
		for _, p := range machines[m] {
			ranks.Add(p.rank)
		}
		clock.Ranks = ranks.Finish()
		if m == c.options.Machine {
			clock.Readings = c.clockReadings(machines[m])
		}
		clocks = append(clocks, clock)
	}
	return clocks
}

// machine returns the machine that a process ran on: this one if its records do not say it.
func (p *process) machine(this string) string {
	for _, t := range p.threads {
		if t.header.Machine != 0 {
			return fmt.Sprintf("%016x", t.header.Machine)
		}
	}
	return this
}

// clockReadings returns the readings by the clock of the times of processes, of which there may be none. All
// begin to count real time when they are loaded, and then by the monotonic clock: the error has by how much
// this differs between them.
func (c *Collector) clockReadings(list []*process) (readings []format.ClockReading) {
	var least, most int64 // of what makes the monotonic clock that of a process
	known := false
	for _, p := range list {
		if len(p.threads) == 0 {
			continue
		}
		base := p.since1970(p.threads[0], 0)
		if !known {
			least, most, known = base, base, true
		}
		least, most = min(least, base), max(most, base)
	}
	if !known {
		return nil
	}
	apart := wire.SubTimes(most, least)
	for _, r := range c.readings {
		at := wire.AddTimes(r.monotonic, least+apart/2)
		readings = append(readings, format.ClockReading{Time: at, Offset: wire.SubTimes(r.real, at),
			Error: wire.AddTimes(r.error, apart-apart/2)})
	}
	return readings
}
