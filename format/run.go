package format

import (
	"fmt"
	"time"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/rankenc"
)

// A Name says what a number among the arguments of calls is called, such as MPI_COMM_WORLD or MPI_ANY_SOURCE.
type Name struct {
	Kind  cst.Kind // KindInt, KindRank, KindTag, KindHandle or KindPointer
	Class string   // of a handle; otherwise empty
	Value int64    // of a pointer, the segment
	Name  string   // 1 to [cst.MaxName] bytes, which need not be valid UTF-8
}

// An Origin says who made a trace. All of it is optional: the zero Origin says nothing.
// Two runs that do the same differ in their Origin only, and comparisons leave it out.
//
// Each list is ascending, without repetitions. Where parts are merged, the trace has what any of them has,
// the largest world, and the earliest time. A trace has none if all that is known is Runs and World, and all
// ranks have calls: part files have these in any case.
type Origin struct {
	// ids of the recordings; more than one if a run has several MPI_COMM_WORLD
	Runs     []string `json:"runs,omitempty"`
	Jobs     []string `json:"jobs,omitempty"`     // of schedulers, such as "Slurm 1234"
	Commands []string `json:"commands,omitempty"` // command lines
	Hosts    []string `json:"hosts,omitempty"`
	Versions []string `json:"versions,omitempty"` // of what recorded, such as "go1.26.0"
	// ranks of MPI_COMM_WORLD, the largest of several; zero if it is not known
	World int       `json:"world_size,omitzero"`
	Began time.Time `json:"began,omitzero"` // to the nanosecond, in UTC; zero if it is not known

	// Assumptions are what was assumed of the program when it was sliced: the trace is that of the whole
	// program on condition of them.
	Assumptions []string `json:"conditional_on,omitempty"`

	// Times says what an archive that the trace was made of has for the times of calls, if not those that were
	// recorded: such as "estimated from statistics".
	Times []string `json:"times_in_archive,omitempty"`

	// ClockError is by how many nanoseconds recorded times may be off the clock of their machine, apart from what
	// the codec of the times adds: those that are counted in ticks of the processor, if that is more than 200.
	ClockError int64 `json:"clock_error_ns,omitzero"`

	// Missing are the calls that could not be recorded, by rank and time.
	Missing []Missing `json:"missing,omitempty"`

	// Polls are calls that were left out because they looked for something in vain, by function and site.
	Polls []Polls `json:"dropped_polls,omitempty"`

	// Off are ranks of which recording was off, for all of the time or a part of it: of other ranks of a world
	// without a call, nothing was recorded.
	Off rankenc.Set `json:"off_rank_set,omitzero"`
}

// Missing says which calls of a rank could not be recorded, as there was no space for them.
type Missing struct {
	Rank    int       `json:"rank"`
	Records uint64    `json:"records"` // of calls and of memory; zero if it is not known how many
	Since   time.Time `json:"since"`   // after this, to the nanosecond, in UTC
}

// Polls says how often calls of a function at a site looked for something in vain, and were left out.
type Polls struct {
	Function string      `json:"function"`
	Site     string      `json:"site,omitempty"` // empty if it was not recorded
	Calls    uint64      `json:"calls"`
	Ranks    rankenc.Set `json:"rank_set"` // that made them
}

// A Kept is data under a name that a front end keeps in a trace for itself: what it has to know to write what the
// trace was made from, and questions do not.
type Kept struct {
	Name string // begins with that of the front end, such as otf2
	Data []byte
}

// A World is an MPI_COMM_WORLD of a run that has several, as with MPI_Comm_spawn: its ranks are those from
// First on, up to that of the next.
type World struct {
	// First is the rank in the run of its rank 0.
	First int `json:"first_rank"`

	// Parent is the rank in the run of one of the processes that started it together, by
	// MPI_Comm_spawn or MPI_Comm_spawn_multiple; −1 if none did, or it is not known which.
	Parent int `json:"parent"`

	// Spawn is how many such calls, which did not fail, Parent had made before; 0 without one.
	Spawn int `json:"spawn"`
}

// A Bounded says what a trace that was made to fit a size has in place of what was recorded. All else is exact.
// Functions are numbered as the trace lists them, or the table of a part.
type Bounded struct {
	Untimed    bool // the times of every call were left out
	Unordered  bool // the order of calls of different ranks was left out
	ByFunction bool // statistics of times are of all calls of a function, at one of its signatures, and histograms of times were left out

	// InStretches and InOrder say which arguments are of a distribution, by function: those of parameter k if
	// bit k is set, which is one of the first 64. InStretches are those in calls of stretches, InOrder those in
	// others.
	InStretches, InOrder map[int]uint64

	// Transitions says how often, 1 to 2⁶³ times, a call of one function was followed by one of another, in the
	// stretches of all ranks.
	Transitions map[[2]int]uint64

	// Stretches are those of each rank that has some, in ascending order. They have no call in common.
	Stretches map[int][]Stretch
}

// A Stretch is calls in a row of a rank whose order is not kept: those of one signature
// stand together.
type Stretch struct {
	First uint64 `json:"first"` // position of the first call
	Calls uint64 `json:"calls"` // at least 1
}

// A Clock is that of a machine, by which the times of some ranks were recorded, and how its times become those
// of the clock of the first rank. A trace keeps times as they were recorded, and moves them when they are read.
// All times are in nanoseconds.
//
// A time becomes that of the Alignment, or of the last piece among Later that begins at the time or before,
// but no earlier than times before it became: later times stay later or become equal. Jumps move the result
// once more.
type Clock struct {
	// Machine tells machines apart, and is not empty.
	Machine string `json:"machine_id"`

	Ranks rankenc.Set `json:"rank_set"` // whose times are of this clock; not empty

	Alignment

	// Later are the pieces after the Alignment, if no line fits the clock: 63 at most, in ascending order of
	// Since, from which on each holds.
	Later []Alignment `json:"later,omitempty"`

	// Error is how far aligned times may be off, in nanoseconds, beside what the codec of the times adds; −1
	// if the clock is not aligned. If there are several pieces, it is the greatest of the Errors of all.
	Error int64 `json:"error_ns"`

	// Errors are those of the pieces, if there are several. Traces of older versions have none: then the
	// Error is that of each.
	Errors []int64 `json:"piece_errors_ns,omitempty"`

	// Readings say how far the clock is from real time: the first and the last of those that recorders have
	// taken, if the real time of the machine is synchronised. There may be one or none.
	Readings []ClockReading `json:"readings,omitempty"`

	// Contradicted says that messages contradict the readings, so that the alignment is by messages alone.
	Contradicted bool `json:"readings_contradicted,omitempty"`

	// Early is how many of the messages to the clock that were looked at arrive before they are sent though
	// clocks are aligned. They are left as they are, and the errors of both clocks are as much as that at
	// least.
	Early uint64 `json:"early_messages,omitempty"`

	// Jumps move aligned times once more, so that messages arrive after they are sent though neither a line
	// nor pieces fit. Times between are not better for it: the errors of the pieces are as much more as the
	// times are ahead. They are in ascending order of Since, and the Ahead of each is more than what is left
	// of the one before; 65,536 at most.
	Jumps []Jump `json:"jumps,omitempty"`
}

// An Alignment is by how much the times of one clock are moved to be those of another: by Offset
// at the time Since, and more or less by Rate, in units of 2⁻⁵⁰, for each nanosecond from then. The zero
// Alignment moves nothing.
type Alignment struct {
	Offset int64 `json:"offset_ns"`
	// 2⁴³ at most and −2⁴³ at least: the time between two calls becomes up to a 128th longer
	Rate  int64 `json:"rate_2_50"`
	Since int64 `json:"since_ns"`
}

// A Jump is that aligned times are later by Ahead from the time Since on, and are led back to what they were:
// by a nanosecond in 32.
type Jump struct {
	Since int64 `json:"since_ns"`
	Ahead int64 `json:"ahead_ns"` // above 0
}

// A ClockReading is what a [Clock] and real time were at one instant.
type ClockReading struct {
	Time   int64 `json:"time_ns"`   // of the clock, in nanoseconds
	Offset int64 `json:"offset_ns"` // nanoseconds that make it real time since 1970,
	Error  int64 `json:"error_ns"`  // within this many, at most
}

// A SectionError reports which section of a file was rejected.
type SectionError struct {
	Kind   Kind
	Key    uint64 // the number of the section, if the kind has several
	Name   string // what the section holds, such as "clocks" or "grammars, number 3"
	Offset int64  // in the file, of its record or the one it shares; −1 if the file has no such section or it does not matter where
	Err    error  // wraps a [*ParseError] or [ErrCorrupt], or is the error of the underlying reader
}

func (e *SectionError) Error() string {
	if e.Offset < 0 {
		return fmt.Sprintf("%s: %v", e.Name, e.Err)
	}
	return fmt.Sprintf("%s, section at offset %d: %v", e.Name, e.Offset, e.Err)
}

func (e *SectionError) Unwrap() error { return e.Err }
