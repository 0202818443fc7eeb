package collect

import (
	"cmp"
	"math"
	"slices"
)

// ranked returns the processes that made calls, by rank. If several have one rank,
// because the run had several worlds, those of the first world come first, and so
// on. Those that do not know their rank come last.
func (c *Collector) ranked() []*process {
	var list []*process
	for _, p := range c.processes {
		for _, t := range p.threads {
			p.rank = max(p.rank, t.header.Rank)
			p.job = max(p.job, t.header.Job)
		}
		if p.calls > 0 || p.problems() != nil {
			list = append(list, p)
		}
	}
	sortByWorld(list)
	offset, next := 0, 0
	for i, p := range list {
		if i > 0 && p.world != list[i-1].world {
			offset = next
		}
		if p.rank < 0 {
			p.rank = next
		} else {
			p.place.Rank = p.rank
			p.rank += offset
		}
		next = p.rank + 1
	}
	setPlaces(list)
	return list
}

// setPlaces completes the places of the processes in their worlds, if there are
// several: MPI_COMM_WORLD is not all of the run then.
func setPlaces(list []*process) {
	sizes := make(map[worldID]int)
	for _, p := range list {
		sizes[p.world] = max(sizes[p.world], p.place.Rank+1)
	}
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
