package answers

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/query"
)

// maxSet is the length of the longest set of ranks in a row of pairs.
const maxSet = 40

// A PairRow is a row of a table of pairs of ranks: a pair, or uniform pairs, with what goes
// between all of them.
type PairRow struct {
	Source, Destination int // the first ones of uniform pairs
	query.Volume

	uniform *query.UniformPairs
}

// PairRows returns the rows of a table, those with most bytes first: so many at most, unless
// that is [All], and how many there are in all.
func PairRows(pairs []query.Pair, uniform []query.UniformPairs, most int) (rows []PairRow, all int) {
	joined := joinUniform(uniform)
	all = len(joined) + len(pairs)
	if most == text.All {
		most = all
	}
	add := func(r PairRow) { // behind those that are equal
		if len(rows) == most && (most == 0 || comparePairRows(rows[most-1], r) <= 0) {
			return
		}
		at, _ := slices.BinarySearchFunc(rows, r, func(a, b PairRow) int {
			if comparePairRows(a, b) <= 0 {
				return -1
			}
			return 1
		})
		rows = slices.Insert(rows, at, r)
		rows = rows[:min(len(rows), most)]
	}
	if most == all {
		add = func(r PairRow) { rows = append(rows, r) }
	}
	for _, r := range joined {
		add(r)
	}
	for _, p := range pairs {
		add(PairRow{p.Source, p.Destination, p.Volume, nil})
	}
	slices.SortStableFunc(rows, comparePairRows)
	return rows, all
}

// joinUniform returns the rows of uniform pairs, those of the same ranks together: they may be of
// several communicators.
func joinUniform(uniform []query.UniformPairs) []PairRow {
	type key struct {
		from, to, first int
		higher          bool
	}
	var rows []PairRow
	known := make(map[key][]int) // rows
	for i := range uniform {
		u := &uniform[i]
		r := PairRow{u.From.At(0), u.To.At(0), query.Volume{Exchanged: u.All()}, u}
		k := key{u.From.Len(), u.To.Len(), r.Source, u.Higher}
		at := slices.IndexFunc(known[k], func(n int) bool {
			v := rows[n].uniform
			return v.From.Equal(u.From) && v.To.Equal(u.To) && (!u.Higher || u.Ascending() && v.Ascending())
		})
		if at >= 0 {
			rows[known[k][at]].Add(r.Volume)
			continue
		}
		known[k] = append(known[k], len(rows))
		rows = append(rows, r)
	}
	return rows
}

// comparePairRows orders rows by bytes, then by messages and blocks, the largest first.
func comparePairRows(a, b PairRow) int {
	return cmp.Or(cmp.Compare(b.AllBytes(), a.AllBytes()), cmp.Compare(b.Messages, a.Messages),
		cmp.Compare(b.Exchanged.Blocks, a.Exchanged.Blocks))
}

// AllBytes returns the bytes of messages and of collective operations.
func (r *PairRow) AllBytes() uint64 { return wire.AddSat(r.Bytes, r.Exchanged.Bytes) }

// From names the sources.
func (r *PairRow) From() string {
	if r.uniform == nil {
		return strconv.Itoa(r.Source)
	}
	return r.uniform.From.Abbreviated(maxSet)
}

// To names the destinations.
func (r *PairRow) To() string {
	u := r.uniform
	switch {
	case u == nil:
		return strconv.Itoa(r.Destination)
	case u.Higher:
		return "each higher"
	case u.From.Equal(u.To):
		return "each other"
	case u.From.Intersection(u.To).Len() > 0:
		return "others of " + u.To.Abbreviated(maxSet)
	}
	return u.To.Abbreviated(maxSet)
}
