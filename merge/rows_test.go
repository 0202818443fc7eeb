package merge

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/sequitur"
)

// drawSlots draws values as the slots of a rank have them: blocks of small ones and large ones.
func drawSlots(t *rapid.T, n int, label string) []int64 {
	values := make([]int64, n)
	seed := rapid.Uint64().Draw(t, label)
	most := rapid.SliceOfN(
		rapid.SampledFrom([]uint64{0, 1, 255, 256, 1<<16 - 1, 1 << 16, 1 << 31, 1 << 32, math.MaxUint64 - 1}),
		1, 5).Draw(t, label+" differ by")
	least := rapid.SampledFrom([]int64{0, -1, 7, math.MinInt64}).Draw(t, label+" least")
	for i := range values {
		x := mix(mix(seed, uint64(i)), seed)
		values[i] = least + int64(x%(most[i/rowBlockLen%len(most)]+1))
	}
	return values
}

// TestPackedRows compares what is read of packed rows with the values.
func TestPackedRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := drawSlots(t, rapid.IntRange(1, 5*rowBlockLen).Draw(t, "n"), "values")
		row := packRow(values)
		for i, v := range values {
			if got := row.at(i); got != v {
				t.Fatalf("slot %d has %d, want %d", i, got, v)
			}
		}
		end := rapid.IntRange(0, len(values)).Draw(t, "end")
		begin := rapid.IntRange(0, end).Draw(t, "begin")
		if got := row.append([]int64{5}, begin, end); !slices.Equal(got, append([]int64{5}, values[begin:end]...)) {
			t.Fatalf("slots from %d to %d are %v, want %v", begin, end, got[1:], values[begin:end])
		}
		if begin == end {
			return
		}
		chosen := chooseRows([]packedRow{row, row}, []slotRange{{begin, end}, {0, 1}}, []slotValue{{end - begin, 9}})
		if got := chosen[1].append(nil, 0, end-begin+1); !slices.Equal(got,
			append(slices.Clone(values[begin:end]), 9)) {
			t.Fatalf("chosen %v", got)
		}
	})
}

// oneRank returns the shape of a rank with values, as calls of four slots each of one function in another one
// each.
func oneRank(rank int, values []int64) *shape {
	const slots = 4
	s := &shape{values: slices.Clone(values), ranks: spans{}.add(rank, rank)}
	var b sequitur.Builder
	for t := range len(values) / slots {
		s.forms = append(s.forms, form{function: 7, slots: slots})
		b.Append(sequitur.Symbol(t))
	}
	s.grammar = b.Finish()
	return s
}

// TestRowShapes merges shapes of ranks that differ in most slots, or in few, in any order, and compares what
// is asked of them with the same of columns.
func TestRowShapes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			n     = rapid.SampledFrom([]int{2, 3, 4, 5, 9, 16}).Draw(t, "ranks")
			ranks = rapid.SampledFrom([]int{1, 1, 3}).Draw(t, "apart")
			some  = rapid.Bool().Draw(t, "one by one")
			few   = rapid.Bool().Draw(t, "some are equal")
			first = drawSlots(t, minRowSlots+8, "first")
			alone []*shape
			want  = make([]column, len(first))
		)
		for i := range n {
			values := slices.Clone(first)
			if i > 0 {
				values = drawSlots(t, len(first), "values")
			}
			copy(values[8:12], first[4:8]) // a call that is equal to another one, in all ranks or some
			if few || i == 0 {
				copy(values[4:8], first[4:8])
			}
			values[16] = 3
			alone = append(alone, oneRank(i*ranks, values))
			for k, v := range values {
				want[k].push(i, i*ranks, v)
			}
		}
		merged := slices.Clone(alone)
		if some {
			s := merged[0]
			for _, x := range merged[1:] {
				if !s.addRow(x.ranks.last(), x.values) {
					s.concat(x)
				}
			}
			merged = merged[:1]
		}
		for len(merged) > 1 {
			i := rapid.IntRange(0, len(merged)-2).Draw(t, "merged")
			j := rapid.IntRange(i+1, len(merged)-1).Draw(t, "with")
			if rapid.Bool().Draw(t, "spread") && rapid.Bool().Draw(t, "surely") {
				merged[i].spread()
			}
			merged[i] = merged[i].merge(merged[j])
			merged = slices.Delete(merged, j, j+1)
		}
		s := merged[0]
		columns := &shape{grammar: s.grammar, forms: s.forms, ranks: s.ranks, columns: want}
		compareShapes(t, s, columns)

		slots := []slotRange{{4, 12}, {0, 4}, {16, len(first)}}
		set := []slotValue{{9, 77}}
		v, w := &shape{ranks: s.ranks}, &shape{ranks: s.ranks}
		v.copySlots(s, slots, set)
		w.copySlots(columns, slots, set)
		v.forms, v.grammar = s.forms[1:], s.grammar
		w.forms, w.grammar = v.forms, v.grammar
		compareShapes(t, v, w)
	})
}

// compareShapes compares a shape with one that has the same values in columns.
func compareShapes(t *rapid.T, s, columns *shape) {
	if got, want := s.append(nil, 1), columns.append(nil, 1); !bytes.Equal(got, want) {
		t.Fatalf("%d bytes of a part file, %d of columns", len(got), len(want))
	}
	if got, want := s.size(), columns.size(); got != want {
		t.Fatalf("size %d, want %d", got, want)
	}
	number, want := newRemainders(s, s.begins()), newRemainders(columns, s.begins())
	for i := range s.forms {
		if got, want := number.number(i, []int{1}), want.number(i, []int{1}); got != want {
			t.Fatalf("number %d of terminal %d, want %d", got, i, want)
		}
	}
	of := newShapeColumns([]*shape{s}, 100)
	var r columnReader
	for k := range columns.columns {
		c := &columns.columns[k]
		value, constant := s.constant(k)
		wantValue, wantConstant := c.constant()
		if constant != wantConstant || constant && value != wantValue {
			t.Fatalf("slot %d has %d, %v, want %d, %v", k, value, constant, wantValue, wantConstant)
		}
		if got := r.column(s, k); !got.equal(c) {
			t.Fatalf("slot %d is %v, want %v", k, got, c)
		}
		if got := of.first(use{0, uint32(k / 4)}, k%4); got.first != c.begin().first || got.rank != c.begin().rank {
			t.Fatalf("slot %d begins with %v, want %v", k, got, c.begin())
		}
	}
	spread := *s
	spread.spread()
	for k := range spread.columns {
		if !spread.columns[k].equal(&columns.columns[k]) {
			t.Fatalf("slot %d spread is %v, want %v", k, spread.columns[k], columns.columns[k])
		}
	}
}

// TestUniteRows unites shapes of ranks that differ in most slots, of which one may have columns, and compares
// each rank.
func TestUniteRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var (
			all    = make(map[int][]int64)
			shapes []*shape
			rank   = 0
		)
		for range rapid.IntRange(2, 4).Draw(t, "shapes") {
			var s *shape
			for range rapid.IntRange(1, 3).Draw(t, "ranks") {
				all[rank] = drawSlots(t, minRowSlots, "values")
				if x := oneRank(rank, all[rank]); s == nil {
					s = x
				} else {
					s = s.merge(x)
				}
				rank += rapid.IntRange(1, 2).Draw(t, "apart")
			}
			if rapid.Bool().Draw(t, "spread") && rapid.Bool().Draw(t, "surely") {
				s.spread()
			}
			shapes = append(shapes, s)
		}
		// The first ones are of ranks that lie among those of the others.
		united, ok := unite(shapes)
		if !ok || united.ranks.len() != len(all) {
			t.Fatalf("united %v", ok)
		}
		united.spread()
		united.ranks.each(func(position, rank int) {
			for k, want := range all[rank] {
				v := united.columns[k].values()
				if got := v.at(position, rank); got != want {
					t.Fatalf("rank %d has %d in slot %d, want %d", rank, got, k, want)
				}
			}
		})
	})
}

// TestFewRuns checks that ranks do not stay rows that are linear in the rank.
func TestFewRuns(t *testing.T) {
	var s *shape
	for rank := range 4 {
		values := make([]int64, minRowSlots)
		for k := range values {
			values[k] = int64(k * rank)
		}
		x := oneRank(rank, values)
		switch {
		case s == nil:
			s = x
		case !s.addRow(rank, values):
			t.Fatal("no rows")
		}
		if rank == 1 && len(s.rows) != 2 {
			t.Fatalf("%d rows of two ranks", len(s.rows))
		}
	}
	if len(s.rows) > 0 || len(s.columns) != minRowSlots {
		t.Errorf("%d rows and %d columns of four ranks", len(s.rows), len(s.columns))
	}
}
