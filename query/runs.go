package query

import (
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/rankenc"
)

// rankRuns are ranks that are added about in their order: runs of consecutive ones, first and
// last, in ascending order.
type rankRuns [][2]int

// add adds a rank that r does not have. It takes time for the runs behind it.
func (r *rankRuns) add(rank int) {
	list := *r
	i := sort.Search(len(list), func(i int) bool { return list[i][0] > rank })
	before, after := i > 0 && list[i-1][1] == rank-1, i < len(list) && list[i][0] == rank+1
	switch {
	case before && after:
		list[i-1][1] = list[i][1]
		*r = slices.Delete(list, i, i+1)
	case before:
		list[i-1][1] = rank
	case after:
		list[i][0] = rank
	default:
		*r = slices.Insert(list, i, [2]int{rank, rank})
	}
}

// set returns the ranks.
func (r rankRuns) set() rankenc.Set {
	var b rankenc.SetBuilder
	for _, run := range r {
		b.AddRange(run[0], run[1])
	}
	set, err := b.Finish()
	if err != nil {
		panic(err) // they ascend
	}
	return set
}
