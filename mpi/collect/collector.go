package collect

import (
	"context"
	"errors"
	"syscall"

	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi"
	"github.com/reprise-trace/reprise/tracer"
)

// Source is what traces say of where their calls come from.
const Source = "MPI"

// Options say how a [Collector] works. The zero Options is the default
// configuration: statistics of times, and segments that are deleted when they are
// read.
type Options struct {
	Times   tracer.Options // what is kept of times besides statistics
	Untimed bool           // nothing is kept of times
	Keep    bool           // the spool is left as it is
}

// A Collector turns a spool into a trace, while the processes write it or later. It
// must not be used by two goroutines at once.
type Collector struct {
	directory string
	options   Options
	processes map[mpi.Process]*process
}

// New returns a collector of a spool directory.
func New(directory string, o Options) (*Collector, error) {
	if _, err := tracer.New(o.Times); err != nil {
		return nil, err
	}
	return &Collector{directory: directory, options: o, processes: make(map[mpi.Process]*process)}, nil
}

// Poll takes what the processes have written since it was last called, up to so much
// of each that it takes some tenths of a second, and reports whether there was
// anything. After an error, it can be called again.
func (c *Collector) Poll() (bool, error) { return c.poll(false) }

func (c *Collector) poll(ended bool) (bool, error) {
	listed := now()
	threads, err := mpi.ListSpool(c.directory)
	if err != nil {
		return false, err
	}
	for _, t := range threads {
		if err := c.add(t); err != nil {
			return false, err
		}
	}
	some := false
	for _, p := range c.processes {
		before := p.calls
		more := p.round(ended, listed)
		some = some || more || p.calls > before
	}
	return some, nil
}

// drain takes all that there is, when all processes have ended.
func (c *Collector) drain(ctx context.Context) error {
	for {
		more, err := c.poll(true)
		if err != nil || !more {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// add takes note of a thread, which may be known.
func (c *Collector) add(found mpi.Thread) error {
	p := c.processes[found.Process]
	if p == nil {
		var err error
		if p, err = newProcess(found.Process, c.options); err != nil {
			return err
		}
		c.processes[found.Process] = p
	}
	p.add(c.directory, found, c.options.Keep)
	return nil
}

// A Summary says what was collected.
type Summary struct {
	First      int // the lowest rank
	Ranks      int // of the run, as far as it is known
	Processes  int // that made calls
	Calls      uint64
	Bytes      int64 // of the spool
	Unfinished []int // ranks that did not call MPI_Finalize

	// Overhead is the share of the processes' time that recording took in them, as
	// far as the processes know what a record costs.
	Overhead float64

	// Problems says what could not be read, or was not written; nil if nothing.
	Problems error
}

// Finish takes what is left, when all processes have ended, and returns the parts
// of all ranks.
func (c *Collector) Finish(ctx context.Context) (*merge.Accumulator, Summary, error) {
	var (
		s        Summary
		problems []error
	)
	switch err := c.drain(ctx); {
	case err != nil && ctx.Err() != nil:
		return nil, s, err
	case err != nil: // what was collected before is there
		problems = append(problems, err)
	}
	a := new(merge.Accumulator)
	run := merge.Run{Source: Source}
	called := make(naming)
	var cost, duration float64 // ns
	list := c.ranked()
	if s.Processes = len(list); len(list) > 0 {
		s.First = list[0].rank
	}
	for _, p := range list {
		if err := ctx.Err(); err != nil {
			return nil, s, err
		}
		s.Calls += p.calls
		problem := p.problems()
		if !p.ended && problem == nil {
			s.Unfinished = append(s.Unfinished, p.rank)
		}
		for _, t := range p.threads {
			s.Bytes += t.bytes
		}
		problems = append(problems, problem)
		cost += p.cost()
		duration += p.duration()
		run.Ranks = max(run.Ranks, p.rank+1)
		part, err := p.part()
		if err != nil {
			problems = append(problems, err)
			continue
		}
		called.add(p, part.Table)
		if err := a.Add(part); err != nil {
			return nil, s, err
		}
	}
	run.Names = called.list()
	if duration > 0 {
		s.Overhead = cost / duration
	}
	s.Ranks, s.Problems = run.Ranks, errors.Join(problems...)
	if err := a.Describe(run); err != nil {
		return nil, s, err
	}
	return a, s, nil
}

// Calls returns the number of calls that were collected so far.
func (c *Collector) Calls() uint64 {
	var n uint64
	for _, p := range c.processes {
		n += p.calls
	}
	return n
}

// Alive reports whether any of the processes that have been seen is still there.
func (c *Collector) Alive() bool {
	for id := range c.processes {
		if !errors.Is(syscall.Kill(int(id.PID), 0), syscall.ESRCH) {
			return true
		}
	}
	return false
}

// Processes returns the number of processes that have been seen.
func (c *Collector) Processes() int { return len(c.processes) }
