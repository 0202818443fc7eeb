package layout

import (
	"fmt"
	"slices"

	"github.com/reprise-trace/reprise/format"
)

// SplitRuns returns which of several files, by what they say of who made them, are of one run: those with an
// id in common, directly or through others. Where no file has an id, those of equal sizes of MPI_COMM_WORLD
// are. Files that say neither may be of any run and are left out. Runs are in the order of their first files.
func SplitRuns(origins []format.Origin) [][]int {
	identified := slices.ContainsFunc(origins, func(o format.Origin) bool { return len(o.Runs) > 0 })
	of := make(map[string]int) // file, by id
	run := make([]int, len(origins))
	for i := range run {
		run[i] = i
	}
	first := func(i int) int {
		for run[i] != i {
			run[i] = run[run[i]]
			i = run[i]
		}
		return i
	}
	for i, o := range origins {
		for _, id := range idsOf(&o, identified) {
			j, known := of[id]
			if !known {
				of[id], j = i, i
			}
			a, b := first(i), first(j)
			run[max(a, b)] = min(a, b)
		}
	}
	number := make(map[int]int) // by first file
	var runs [][]int
	for i, o := range origins {
		if len(idsOf(&o, identified)) == 0 {
			continue
		}
		n, known := number[first(i)]
		if !known {
			n = len(runs)
			number[first(i)] = n
			runs = append(runs, nil)
		}
		runs[n] = append(runs[n], i)
	}
	return runs
}

// idsOf returns what runs are told apart by.
func idsOf(o *format.Origin, identified bool) []string {
	switch {
	case identified:
		return o.Runs
	case o.World > 0:
		return []string{fmt.Sprint(o.World)}
	}
	return nil
}
