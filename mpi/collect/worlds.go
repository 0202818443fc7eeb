package collect

import (
	"cmp"
	"math"
	"slices"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
)

// worldSizes returns how many ranks worlds have, as processes say or as many as there must be: there may be
// ranks without a record.
func worldSizes(list []*process) map[worldID]int {
	sizes := make(map[worldID]int)
	for _, p := range list {
		sizes[p.world] = max(sizes[p.world], p.rank+1, p.size)
	}
	return sizes
}

// setPlaces completes the places of the processes in their worlds, if there are
// several: MPI_COMM_WORLD is not all of the run then.
func setPlaces(list []*process, sizes map[worldID]int) {
	for _, p := range list {
		if len(sizes) > 1 && p.world != unranked {
			p.place.Size = sizes[p.world]
		}
	}
}

// A worldID is that of processes with an MPI_COMM_WORLD in common: those of one job, or
// of jobs that are not known, of which no two have the same rank.
type worldID struct {
	begun  uint64 // when the first process of the job did
	job    uint64
	number int // among the worlds of the job
}

// unranked is the world of processes that do not know their rank, the last.
var unranked = worldID{begun: math.MaxUint64}

func (w worldID) compare(v worldID) int {
	return cmp.Or(cmp.Compare(w.begun, v.begun), cmp.Compare(w.job, v.job), cmp.Compare(w.number, v.number))
}

// sortByWorld sets the worlds of processes and sorts these by world and rank. The
// worlds of a job, and the jobs, are in the order in which they began.
func sortByWorld(list []*process) {
	begun := make(map[uint64]uint64) // by job
	for _, p := range list {
		if first, known := begun[p.job]; !known || p.id.Loaded < first {
			begun[p.job] = p.id.Loaded
		}
	}
	slices.SortFunc(list, func(p, q *process) int {
		return cmp.Or(cmp.Compare(p.job, q.job), cmp.Compare(p.rank, q.rank),
			cmp.Compare(p.id.Loaded, q.id.Loaded), cmp.Compare(p.id.PID, q.id.PID))
	})
	for i, p := range list {
		switch {
		case p.rank < 0:
			p.world = unranked
		case i > 0 && list[i-1].job == p.job && list[i-1].rank == p.rank:
			p.world = list[i-1].world
			p.world.number++
		default:
			p.world = worldID{begun[p.job], p.job, 0}
		}
	}
	slices.SortStableFunc(list, func(p, q *process) int {
		return cmp.Or(p.world.compare(q.world), cmp.Compare(p.rank, q.rank))
	})
}

// A spawn is a call that started processes.
type spawn struct {
	start, end int64 // in nanoseconds since 1970
	processes  int64 // that it was to start; 0 if it does not say
}

// started returns how many processes a call was to start, 0 if it does not say.
func (f *plan) started(r *spool.Record) (n int64) {
	if v := f.argument(r, "maxprocs"); v.Presence == spool.Given {
		return v.Int()
	}
	if v := f.argument(r, "array_of_maxprocs"); v.Presence == spool.Given {
		for i := range v.Len() {
			n += v.Index(i)
		}
	}
	return n
}

// worldsOf returns the worlds of processes by rank, nil if there is only one.
func worldsOf(list []*process) []format.World {
	var worlds []format.World
	begun := make(map[worldID]int64) // when the last process of a world did
	for i, p := range list {
		begun[p.world] = max(begun[p.world], int64(p.id.Loaded))
		if i == 0 || p.world != list[i-1].world {
			worlds = append(worlds, format.World{First: p.rank - max(p.place.Rank, 0), Parent: -1})
		}
	}
	if len(worlds) < 2 {
		return nil
	}
	type call struct{ parent, number int }
	by := make(map[call]int) // worlds that a call seems to have started
	n := -1
	for i, p := range list {
		if i > 0 && p.world == list[i-1].world {
			continue
		}
		n++
		if parent, number := parentOf(list, p, begun[p.world]); parent != nil {
			worlds[n].Parent, worlds[n].Spawn = parent.rank, number
			by[call{parent.rank, number}]++
		}
	}
	for i, w := range worlds {
		if w.Parent >= 0 && by[call{w.Parent, w.Spawn}] > 1 {
			worlds[i].Parent, worlds[i].Spawn = -1, 0
		}
	}
	return worlds
}

// parentOf returns a process that was in a call that starts processes while those of the
// world of another began, the last of which at some time, and how many such calls it had made
// before; nil if there is none. Of several, it is the first of the world that began last:
// those of one world made the call together, or another one that started as many
// processes at the same time.
func parentOf(list []*process, child *process, begun int64) (parent *process, number int) {
	for _, p := range list {
		if p.world == child.world || p.world == unranked || child.world == unranked {
			continue
		}
		for i, s := range p.spawns {
			during := s.start <= int64(child.id.Loaded) && begun <= s.end
			fits := s.processes == 0 || child.size == 0 || s.processes == int64(child.size)
			if during && fits && (parent == nil || parent.world != p.world) {
				parent, number = p, i
			}
		}
	}
	return parent, number
}
