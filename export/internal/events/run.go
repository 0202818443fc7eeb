package events

import (
	"strconv"
	"time"
)

// since1970 is the least beginning of a run, in nanoseconds, of a clock that is taken to count
// from 1970: that of the year 2000.
const since1970 = 946_684_800_000_000_000

// Began returns when the first call of the run began, in UTC: by the clock of the trace, where
// that counts from 1970, or else when the recording began; the zero time if the trace does not
// tell.
func (c *Choice) Began() (time.Time, error) {
	if c.Times != nil && c.Series {
		begin, err := c.Times.Begin()
		if err != nil {
			return time.Time{}, err
		}
		if begin >= since1970 {
			return time.Unix(0, begin).UTC(), nil
		}
	}
	return c.Trace.Run().Origin.Began, nil
}

// A Fact is something about the run.
type Fact struct {
	Name   string
	Values []string // not empty
}

// Run returns facts about the run: source, ranks, times, began, program, versions, hosts,
// jobs and runs.
func (c *Choice) Run() ([]Fact, error) {
	run := c.Trace.Run()
	began, err := c.Began()
	if err != nil {
		return nil, err
	}
	times := "none"
	if c.Times != nil {
		if times, err = c.TimesLabel(); err != nil {
			return nil, err
		}
	}
	var facts []Fact
	add := func(name string, values ...string) {
		if len(values) > 0 && values[0] != "" {
			facts = append(facts, Fact{name, values})
		}
	}
	add("source", run.Source)
	add("ranks", strconv.Itoa(run.Ranks))
	add("times", times)
	if !began.IsZero() {
		add("began", began.Format(time.RFC3339Nano))
	}
	add("program", run.Origin.Commands...)
	add("versions", run.Origin.Versions...)
	add("hosts", run.Origin.Hosts...)
	add("jobs", run.Origin.Jobs...)
	add("runs", run.Origin.Runs...)
	return facts, nil
}
