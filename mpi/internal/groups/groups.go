package groups

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/internal/resolve"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
)

// ErrLimit is what an error wraps that is about a limit, for use with [errors.Is].
var ErrLimit = wire.ErrLimit

// A LimitError says which limit of [Options] a run exceeds. It wraps [ErrLimit].
type LimitError struct {
	Reason string
}

func (e *LimitError) Error() string { return fmt.Sprintf("semantics: %v: %s", ErrLimit, e.Reason) }

// Unwrap returns [ErrLimit].
func (e *LimitError) Unwrap() error { return ErrLimit }

// Options configures [Resolve]. The zero Options is the default configuration.
type Options struct {
	// MaxCalls is the largest number of calls, of all processes, that create or free
	// objects. Zero means 1<<22, or as many as the memory that the trace may take has room for, if these are
	// fewer.
	MaxCalls uint64

	// MaxRanks is the largest number of ranks of a run. Zero means 1<<24, which take
	// 8 bytes each, and of ranks that make calls as many as the memory has room for.
	MaxRanks int
}

// What is held for a call that creates or frees an object, and for a rank that makes calls, in bytes.
const (
	callMemory = 640
	rankMemory = 1 << 11
)

// withDefaults returns o with what suits so much memory, if so many ranks make calls.
func (o Options) withDefaults(memory, ranks uint64) Options {
	if o.MaxCalls == 0 {
		o.MaxCalls = min(1<<22, (memory-min(memory, rankMemory*ranks))/callMemory)
	}
	if o.MaxRanks == 0 {
		o.MaxRanks = 1 << 24
	}
	return o
}

// Resolve returns the group objects of a run. MPI_COMM_WORLD is called world, world0 and so on if the run has
// several, and MPI_COMM_SELF of rank 3 self3. If what processes recorded is inconsistent, as when the calls
// of one are lost, the error has a [*resolve.GroupError] for each creation that is, and what does not depend
// on these is returned. After any other error, which is one of reading the trace, a [*LimitError], or of ctx
// being done, nothing is.
func Resolve(ctx context.Context, t *trace.Trace, o Options) (*resolve.Groups, error) {
	need.That(t != nil, "groups: no trace")
	calling := uint64(t.RankSet().Len())
	o = o.withDefaults(t.Memory(), calling)
	if n := t.Ranks(); n > o.MaxRanks {
		return nil, &LimitError{fmt.Sprintf("%d ranks", n)}
	}
	if calling > t.Memory()/rankMemory {
		return nil, &LimitError{fmt.Sprintf("%d ranks that make calls", calling)}
	}
	r := run{Run: t.Run(), plans: plansOf(t.Functions())}
	for _, f := range t.Functions() {
		r.threads = append(r.threads, len(f.Params) > 0 && f.Params[0].Name == "thread" &&
			f.Params[0].Type.Kind == cst.KindInt)
	}
	left := o.MaxCalls
	for _, rank := range t.RankSet().All() {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		read, err := t.Folded(rank, func(function, _ int) bool { return r.plans[function] != nil })
		if err != nil {
			return nil, err
		}
		p := &process{rank: rank}
		if err := r.scan(ctx, read, p, left); errors.Is(err, ErrLimit) {
			return nil, &LimitError{fmt.Sprintf(
				"more than %d calls create or free communicators, windows and files", o.MaxCalls)}
		} else if err != nil {
			return nil, err
		}
		left -= uint64(len(p.events))
		r.processes = append(r.processes, p)
	}
	groups, err := r.resolve()
	return groups, explained(err)
}

// A run is what its processes did to group objects.
type run struct {
	merge.Run
	plans     []*plan // by function; nil where it does nothing to group objects
	threads   []bool  // by function: a thread calls it that is not the first
	processes []*process
}

// A process is what one did, in order.
type process struct {
	rank   int
	events []event
}

// An event is a call that creates or frees an object.
type event struct {
	position uint64
	creation resolve.Creation // if the kind is not 0; otherwise Parent is freed
	drop     *dropped         // of MPI_Cart_sub
}

// A dropped says by what a process is told from the others of a process grid that
// are not in its part of it.
type dropped struct {
	dims  []int64 // extents of the grid
	keep  []bool  // by dimension
	known bool    // the color of the creation is right
}

// color returns the number of the coordinates that are dropped.
func (d *dropped) color(rank int) int64 {
	color, stride, rest := int64(0), int64(1), int64(rank)
	for i := len(d.dims) - 1; i >= 0; i-- {
		if d.dims[i] <= 0 {
			return 0
		}
		if !d.keep[i] {
			color += rest % d.dims[i] * stride
			stride *= d.dims[i]
		}
		rest /= d.dims[i]
	}
	return color
}

// Communicators that every process has.
var (
	world = resolve.Local{Class: commClass, ID: spec.ID("MPI_COMM_WORLD")}
	self  = resolve.Local{Class: commClass, ID: spec.ID("MPI_COMM_SELF")}
)

// WorldName returns the name of a world of a run: world, and its number if there are several.
func WorldName(r merge.Run, world int) string {
	if len(r.Worlds) < 2 {
		return "world"
	}
	return fmt.Sprint("world", world)
}

// members returns the ranks of a world.
func (r *run) members(world int) []int {
	at := 0
	if len(r.Worlds) > 0 {
		at = r.Worlds[world].First
	}
	_, first, size := r.WorldOf(at)
	list := make([]int, size)
	for i := range list {
		list[i] = first + i
	}
	return list
}

// started returns the ranks of the processes that one started with others in a call, of which
// it had made some before; nil if they are not known.
func (r *run) started(rank, before int) []int {
	for i, w := range r.Worlds {
		if w.Parent == rank && w.Spawn == before {
			return r.members(i)
		}
	}
	return nil
}

// resolve resolves all objects. Those that depend on coordinates in a grid are
// resolved when that is: grids are made of parts of others, so it may take several
// rounds, each of which makes more known.
func (r *run) resolve() (*resolve.Groups, error) {
	for {
		groups, err := r.round()
		if !r.learn(groups) {
			return groups, errors.Join(err, r.unknown())
		}
	}
}

// explained returns an error with what it may come from.
func explained(err error) error {
	if lacksCalls(err) {
		return fmt.Errorf(
			"%w\nsemantics: processes lack calls that others have: were several runs recorded together?", err)
	}
	return err
}

// lacksCalls reports whether err has a creation that some members do not call.
func lacksCalls(err error) bool {
	if list, ok := err.(interface{ Unwrap() []error }); ok {
		return slices.ContainsFunc(list.Unwrap(), lacksCalls)
	}
	e, ok := err.(*resolve.GroupError)
	return ok && strings.HasPrefix(e.Reason, "no such call")
}

// round resolves what is known so far.
func (r *run) round() (*resolve.Groups, error) {
	var s resolve.Resolver
	for i := range max(len(r.Worlds), 1) {
		s.Declare(world, WorldName(r.Run, i), r.members(i))
	}
	for _, p := range r.processes {
		s.Declare(self, fmt.Sprint("self", p.rank), []int{p.rank})
	}
	for _, p := range r.processes {
		for i := range p.events {
			switch e := &p.events[i]; {
			case e.creation.Kind == 0:
				s.Free(p.rank, e.position, e.creation.Parent)
			case e.drop == nil || e.drop.known:
				s.Create(p.rank, e.position, e.creation)
			}
		}
	}
	return s.Resolve()
}

// learn finds out the coordinates of processes in grids that have been resolved. It
// reports whether there are any that were not known before.
func (r *run) learn(groups *resolve.Groups) bool {
	more := false
	for _, p := range r.processes {
		for i := range p.events {
			e := &p.events[i]
			if e.drop == nil || e.drop.known {
				continue
			}
			if m, ok := groups.At(p.rank, e.creation.Parent, e.position); ok && len(e.drop.dims) == len(e.drop.keep) {
				e.creation.Color, e.drop.known, more = e.drop.color(m.Rank), true, true
			}
		}
	}
	return more
}

// unknown returns an error about the parts of grids that could not be resolved.
func (r *run) unknown() error {
	var errs []error
	for _, p := range r.processes {
		for i := range p.events {
			if e := &p.events[i]; e.drop != nil && !e.drop.known {
				errs = append(errs, &resolve.GroupError{
					Rank: p.rank, Kind: e.creation.Kind,
					Reason: fmt.Sprintf("call %d: the process grid is not known", e.position),
				})
			}
		}
	}
	return errors.Join(errs...)
}
