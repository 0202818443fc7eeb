// Package collect turns what MPI programs have recorded into traces.
//
//	collector, err := collect.New(directory, collect.Options{})
//	…
//	all, summary, err := collector.Finish(ctx)
//	…
//	err = all.Write(file)
//
// A [Collector] reads a spool, see package interpose, while the processes write it or
// later. It makes symbolic values of raw ones, records the calls with package tracer
// as they come, deletes the segments that it has read, and hands over the parts of
// all ranks for the merge. With [Options].Recoverable it keeps them in short, so that another
// Collector can begin again if the process is killed.
//
// # Calls in a trace
//
// A function of the table of package mpi/spec is one of the trace, with its parameters,
// their kinds and directions. Where the arguments of a call are not all there, it is
// a call of another function of the same name, with other parameters:
//
//   - One that does not count in the call, such as the receive count of a gather
//     anywhere but at its root, is left out.
//   - A null pointer, or a constant that stands for no array, such as
//     MPI_STATUS_IGNORE, is a handle of the class constant. If a status would have said
//     something, it is there as status_out, and several as array_of_statuses_out.
//   - A number or an array of numbers that the call has changed is there twice, as
//     name and as name_out.
//   - A datatype of which no call tells the size has that behind it, as datatype_size: MPI was asked. So it is for one that
//     MPI has chosen, or made for an array section of Fortran, or that a library made by PMPI. An array of datatypes
//     has an array of sizes, with −1 for those that calls tell.
//   - A request of which a call has completed the read of a file has the bytes behind it that were read, as
//     request_size, −2 if MPI does not say; an array of requests has an array of these, with −1 for what is none. Of a
//     call that completes more than 65,536 reads, that many have their bytes, and all other requests −2.
//   - Displacements that are addresses are pointers: in a datatype, and in a window with
//     memory that is attached, where the process has memory at the address itself. An
//     address that it has from another process is a number, as it is in no two runs.
//   - A call that failed lacks its outputs, and has for its last argument the class of
//     the error: codes differ from run to run with some MPIs.
//   - A call of which it is known where it was made has that as the argument site, its last
//     but for a result: the address in a file, below a hash of its name, as a handle of the
//     class site. It has a name if the file tells.
//   - A call that had not returned when the recording ended lacks its outputs, and has for
//     its last argument returned, which is 0. It stands behind the calls of its thread, and
//     lasts until the recording ended. Of calls inside one another it is the outermost.
//   - A call of another thread than the first that called MPI has for its first
//     argument the number of the thread.
//
// With [Options].Allocations, the trace also has what becomes of memory that calls use, by
// three functions with these names, whatever the program called. They stand in front of the
// next call of the thread and have its start: malloc, with size and result, the first time that a call
// uses an allocation; realloc, with ptr and size, if it is reallocated after that, which
// leaves its id; and free, with ptr, after which another may have the id. Memory that a
// call of MPI allocates or frees has none.
//
// What a function returns other than an error code is its last argument, called
// result. That of MPI_Wtime is left out: it is a time.
//
// # Values
//
//	number    as it is
//	rank      as it is; constants such as MPI_ANY_SOURCE are −1 and less
//	tag       as it is; MPI_ANY_TAG is −1
//	handle    id, lowest free first within the class; constants are −1 and less
//	request   id within a pool for each thread and call that makes requests, calls that differ
//	          in nothing but the size of a message being one, see package symbolic
//	pointer   segment and displacement, see package symbolic; static data and stacks
//	          are segments −16 and less; what is less than 65,536 from zero is a number
//	          with the segment −15, called NULL, but for a buffer that is a constant;
//	          stacks of more than 511 threads at a time are unknown memory
//	status    source and tag, or −9 where they are those that were asked for, or
//	          say nothing; the class of the error
//
// The ids of constants are the same with every MPI, and a trace says what they are
// called: [merge.Run.Names]. The numbers of the classes of errors are those of the MPI.
// The one that is MPI_ERR_TRUNCATE has its name as that of a handle of the class error,
// if a call failed so.
//
// Where the merge may gain from it, it is told of the rank and the size of the
// process in a communicator, window or file: as long as the process runs, the handle
// must have been of one such group only. In a run of several worlds MPI_COMM_WORLD is
// such a communicator, whose size is taken to be that of the ranks that made calls.
//
// # Order
//
// Calls stand in the order in which they return, those of a callback in front of the
// call that made it. Each thread has a grammar of its own, so that its loops are found
// however threads race: the calls of one thread stand after those of the other, in the order
// in which threads made their first call. The order between threads is that of the times of
// calls, where the trace has these, and not kept otherwise. A handle that two
// threads hold is told apart by when their calls began: a request belongs to the call
// that waits for it, tests it or frees it until that returns. Of several requests with
// one handle, as MPI gives to operations that are complete when they have begun, a call
// is given the first that its own thread made, if there is one. Calls that do anything
// else with a request, such as MPI_Start, MPI_Cancel or MPI_Grequest_complete, leave it
// where it is, and may be given one that another thread waits for. An object and its id
// belong to the call that frees it from when that begins until it returns, while its
// handle may be that of a new object already; memory is free when the call begins that
// frees or reallocates it.
//
// # Switching
//
// Of what is called while recording is off, the trace has the calls that later ones depend on: see
// [github.com/reprise-trace/reprise/mpi/spec.Function.RecordedOff], and those that complete a request which
// says when a communicator is there. The call that switches it on is in the trace, as the one that switches
// it off is.
//
// An object of which no call tells that it was made has an id from 1<<32
// on, so that it is not taken for one that the trace tells of.
//
// A request that was made while recording was off has an id of a pool of its own, and
// its status keeps the source and the tag. A request that was made before, and may have
// ended while recording was off, is given up when its handle is used again, unless
// several requests have the handle at a time, as those of operations that are complete
// when they have begun: these stay, and where one of them did end meanwhile, a later
// call that waits for another is said to wait for the earlier.
//
// # Cost
//
// A call takes some 400 ns, and 40 ns and 5 bytes of the spool if that is to be recoverable; one that is new
// 1 µs and memory, and 1 µs more in the end. After the end of the processes several of them are gone through
// at once, one on each processor. Held are, for each process, its signatures, its grammar, the objects and
// allocations that exist, and at most half a mebibyte for each thread, less where there are many: 128 MiB for
// all. What is kept in short of a process takes up to 128 MiB of the spool, as long as 4 GiB or a quarter of
// its file system are free.
package collect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
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

	// Recoverable has what is deleted of the spool kept in it in short, as far as there is space, so that it
	// can be collected again if this process is killed. The spool is then to be removed by whoever made it,
	// once there is a trace.
	Recoverable bool
	free        func(directory string) (free, all uint64) // for tests: what takes the place of freeSpace

	// Allocations has the trace say when the memory that calls use was allocated, reallocated and
	// freed, and its sizes, by functions called malloc, realloc and free.
	Allocations bool

	// DropPolls leaves out calls that look for a message or for the end of an operation, and do not find it:
	// MPI_Iprobe and MPI_Improbe, MPI_Test and MPI_Request_get_status in all their forms. The origin of the
	// trace has their number by function and site. Their time counts as a gap between calls.
	DropPolls bool

	// Origin is what the trace says of who recorded it. Finish adds the ids of the runs, where the
	// processes know them from their launcher, and the size of MPI_COMM_WORLD.
	Origin format.Origin

	// Machine tells this machine from others, whose clocks differ. Parts say of which machine ranks are: that
	// which the records say, or this one if they do not, as those of older interposers. Nothing if it is not
	// known.
	Machine string

	// Measure has parts also say how far the clock of the machine is from real time, by readings when the
	// Collector is made and when it makes parts: the processes run meanwhile, on this machine. Nothing is
	// measured without Machine.
	Measure bool

	// Progress, unless it is nil, is called by [Collector.Finish] with what it does, and how much of it is
	// done, and of how much at most: first "collect", in bytes of raw records, then "merge", in ranks.
	Progress func(what string, done, most int64)
}

// A Collector turns a spool into a trace, while the processes write it or later. It
// must not be used by two goroutines at once.
type Collector struct {
	directory string
	options   Options
	processes map[spool.Process]*process
	threads   int   // with segments at a time, at most so far
	alive     int64 // when a process was last there, in nanoseconds since 1970; 0 if it is not known
	readings  []clockReading
	read      func() (clockReading, bool)
}

// New returns a collector of a spool directory.
func New(directory string, o Options) (*Collector, error) {
	if _, err := tracer.New(o.Times); err != nil {
		return nil, err
	}
	c := &Collector{directory: directory, options: o, processes: make(map[spool.Process]*process), read: readClocks}
	c.measure()
	return c, nil
}

// IsSpool reports whether a directory has raw records of calls of MPI.
func IsSpool(directory string) bool {
	threads, err := spool.List(directory)
	return err == nil && len(threads) > 0
}

// Poll takes what the processes have written since it was last called, up to so much
// of each that it takes some tenths of a second, and returns how many bytes that
// were. After an error, it can be called again.
func (c *Collector) Poll() (read int64, err error) {
	before := c.bytes()
	_, err = c.poll(false)
	return c.bytes() - before, err
}

// bytes returns how many bytes of the spool were read so far.
func (c *Collector) bytes() (n int64) {
	for _, p := range c.processes {
		for _, t := range p.threads {
			n += t.bytes
		}
	}
	return n
}

// poll is Poll, and reports whether there may be more. If all processes have ended, it reads from several at
// once.
func (c *Collector) poll(ended bool) (bool, error) {
	listed := now()
	threads, err := spool.List(c.directory)
	if err != nil {
		return false, err
	}
	c.threads = max(c.threads, len(threads))
	c.options.Keep = c.options.Keep || ended && c.options.Recoverable // there is no more to come that needs space
	for _, t := range threads {
		if err := c.add(t); err != nil {
			return false, err
		}
	}
	if !ended && c.Alive() {
		c.alive = time.Now().UnixNano()
	}
	var some atomic.Bool
	round := func(p *process) {
		p.window = windowFor(c.threads)
		before := p.calls
		if more := p.round(ended, listed); more || p.calls > before {
			some.Store(true)
		}
	}
	if !ended { // the processors are those of the program
		for _, p := range c.processes {
			round(p)
		}
		return some.Load(), nil
	}
	var working sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, p := range c.processes {
		free <- struct{}{}
		working.Go(func() {
			round(p)
			<-free
		})
	}
	working.Wait()
	return some.Load(), nil
}

// drain takes all that there is, when all processes have ended, of several at once.
func (c *Collector) drain(ctx context.Context) error {
	before := c.bytes()
	most := c.left()
	for {
		c.tell("collect", c.bytes()-before, most)
		more, err := c.poll(true)
		if err != nil || !more {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// left returns how many bytes of the spool are not read, at most: segments need not be full, and but for those
// that are kept, what is read of one that is there is not known.
func (c *Collector) left() int64 {
	if c.options.Progress == nil {
		return 0
	}
	n := int64(0)
	entries, _ := os.ReadDir(c.directory) // poll tells of its error
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
	}
	if c.options.Keep {
		n -= c.bytes()
	}
	return max(n, 0)
}

func (c *Collector) tell(what string, done, most int64) {
	if c.options.Progress != nil {
		c.options.Progress(what, min(done, most), most)
	}
}

// add takes note of a thread, which may be known.
func (c *Collector) add(found spool.Thread) error {
	p := c.processes[found.Process]
	if p == nil {
		var err error
		if p, err = newProcess(found.Process, c.options); err != nil {
			return err
		}
		c.processes[found.Process] = p
	}
	p.add(c.directory, found, &c.options)
	return nil
}

// gone returns an error if the first records of threads, without which the others have no
// meaning, are no longer there.
func (c *Collector) gone() error {
	threads, first := 0, ""
	for _, p := range c.processes {
		for _, t := range p.threads {
			if !t.late || t.opened > 0 {
				continue
			}
			threads++
			if path := t.segment(0); first == "" || path < first {
				first = path
			}
		}
	}
	switch threads {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("calls of a thread are lost: %s is missing, as %s", first, readBefore)
	}
	return fmt.Errorf(
		"calls of %d threads are lost: %s is missing, and the first file of each of the others, as %s",
		threads, first, readBefore)
}

const readBefore = "a recorder that was killed had read and removed it; with --keep-raw it keeps such files"

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
	for _, p := range c.processes {
		if p.exists() {
			return true
		}
	}
	return false
}

// exists reports whether there is such a process on this machine.
func (p *process) exists() bool { return !errors.Is(syscall.Kill(int(p.id.PID), 0), syscall.ESRCH) }

// InCall reports whether a thread was in a call when its records were last read.
func (c *Collector) InCall() bool {
	for _, p := range c.processes {
		for _, t := range p.threads {
			if _, ok := p.inFlight(t, 0); ok {
				return true
			}
		}
	}
	return false
}

// Processes returns the number of processes that have been seen.
func (c *Collector) Processes() int { return len(c.processes) }

// ranked returns the processes that made calls, by rank. If several have one rank,
// because the run had several worlds, those of the first world come first, and so
// on. Those that do not know their rank come last, and are left out if they made no calls.
func (c *Collector) ranked() []*process {
	var list []*process
	for _, p := range c.processes {
		p.rank = -1
		for _, t := range p.threads {
			p.rank = max(p.rank, t.header.Rank)
			p.size = max(p.size, t.header.Size)
			p.job = max(p.job, t.header.Job)
		}
		if p.calls > 0 || p.rank >= 0 {
			list = append(list, p)
		}
	}
	sortByWorld(list)
	offset, next := 0, 0 // next is that of those that do not know their rank
	sizes := worldSizes(list)
	for i, p := range list {
		if i > 0 && p.world != list[i-1].world {
			offset += sizes[list[i-1].world]
		}
		if p.rank < 0 {
			p.rank = offset + next
			next++
		} else {
			p.place.Rank = p.rank
			p.rank += offset
		}
	}
	setPlaces(list, sizes)
	return list
}

// unranked returns what is wrong with processes that made no calls and do not know their rank.
func (c *Collector) unranked() (problems []error) {
	ids := slices.SortedFunc(maps.Keys(c.processes), func(a, b spool.Process) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Loaded, b.Loaded))
	})
	for _, id := range ids {
		if p := c.processes[id]; p.rank < 0 && p.calls == 0 {
			problems = append(problems, p.problems())
		}
	}
	return problems
}

// maxClockError is how far times may be off, in nanoseconds, without the trace saying so. One without times never does.
const maxClockError = 200

// origin returns what the process knows of the run.
func (p *process) origin() format.Origin {
	o := format.Origin{World: p.size, Assumptions: p.assumptions}
	for _, t := range p.threads {
		if off := t.decoder.ClockError(); p.timed && off > maxClockError {
			o.ClockError = max(o.ClockError, off)
		}
	}
	if p.job != 0 {
		o.Runs = []string{fmt.Sprintf("%016x", p.job)}
	}
	if p.calls > 0 { // else all are missing, as those of ranks without a record
		layout.MergeOrigin(&o, format.Origin{Missing: p.missing()})
	}
	return o
}

// alone returns the number of processes that are alone in a world and that have a job in
// common with another.
func alone(list []*process) int {
	single := make(map[uint64]int) // by job
	for _, p := range list {
		if p.job != 0 && p.size == 1 {
			single[p.job]++
		}
	}
	n := 0
	for _, of := range single {
		if of > 1 {
			n += of
		}
	}
	return n
}
