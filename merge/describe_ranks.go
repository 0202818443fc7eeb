package merge

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// slotType returns the type of the k-th slot of an argument that is no array.
func slotType(t cst.Type, k int) cst.Type {
	switch {
	case t.Kind == cst.KindStatus && k == 0:
		return cst.Type{Kind: cst.KindRank}
	case t.Kind == cst.KindStatus, t.Kind == cst.KindPointer:
		return cst.Type{Kind: cst.KindInt}
	}
	return t
}

// A point is the value that a rank has in a slot.
type point struct{ rank, value int64 }

// describeSlot describes a slot of signature i of a function, by a text or, if
// that is empty, by the value that all ranks have.
func (t describer) describeSlot(r *slotReader, i int, typ cst.Type) (value int64, text string, err error) {
	e, column, ok := r.form(i)
	if e.grouped {
		return t.describeGrouped(e, r.groupColumn(i))
	}
	if v, same := e.Constant(); ok && same {
		return v, "", nil
	}
	coded := isCoded(typ)
	if _, shift := e.Shift(); ok && !coded && (t.shape == nil || shift && t.shape.Ranks.Len() > 1) {
		return 0, e.String(), nil
	}
	var points []point
	if ok {
		points = t.evaluate(e.Expr)
	} else if points, err = t.stored(column); err != nil {
		return 0, "", err
	}
	switch {
	case len(points) == 0 && ok && !coded:
		return 0, e.String(), nil
	case len(points) == 0:
		return 0, "{by rank}", nil
	case !slices.ContainsFunc(points, func(p point) bool { return p.value != points[0].value }):
		return points[0].value, "", nil
	}
	if c, ok := displacement(points); ok && typ.Kind == cst.KindRank {
		return 0, rankenc.Shift(c).String(), nil
	}
	if ok && !coded {
		return 0, e.String(), nil
	}
	return 0, t.summary(points, typ), nil
}

// describeGrouped describes a slot that is an expression of the rank in a group, by
// the value that all ranks of the shape have if there is one.
func (t describer) describeGrouped(e formula, column int) (value int64, text string, err error) {
	if t.shape == nil {
		return 0, e.String(), nil
	}
	ranks, err := t.stored(column)
	if err != nil || len(ranks) == 0 {
		return 0, e.String(), err
	}
	sizes, err := t.stored(column + 1)
	if err != nil {
		return 0, "", err
	}
	value = e.Eval(ranks[0].value, sizes[0].value)
	for i := range ranks {
		if e.Eval(ranks[i].value, sizes[i].value) != value {
			return 0, e.String(), nil
		}
	}
	return value, "", nil
}

// isCoded reports whether the integers in the slots of a type are not what they stand for:
// expressions of them mean nothing to people.
func isCoded(t cst.Type) bool {
	return t.Kind == cst.KindString || t.Kind == cst.KindBytes || t.Kind == cst.KindFloat
}

// evaluate returns the values of an expression, or nothing if they are too many.
func (t describer) evaluate(e rankenc.Expr) []point {
	sets := t.makers()
	count := 0
	for _, s := range sets {
		count += s.Len()
	}
	if count > maxLooked {
		return nil
	}
	points := make([]point, 0, count)
	for _, s := range sets {
		for _, rank := range s.All() {
			points = append(points, point{int64(rank), e.Eval(int64(rank), int64(t.run.Ranks))})
		}
	}
	return points
}

// makers returns the ranks of the shapes that make the call, or nothing if they are too
// many shapes to be looked at, or cannot be read.
func (t describer) makers() []rankenc.Set {
	switch n := t.Shapes(); {
	case t.shape != nil:
		return []rankenc.Set{t.shape.Ranks}
	case n == 1:
		return t.sets
	case n > maxMakers:
		return nil
	}
	var sets []rankenc.Set
	for number := range t.Shapes() {
		s, err := t.Shape(number)
		if err != nil {
			return nil
		}
		if slices.Contains(s.signatures, sequitur.Symbol(t.number)) {
			sets = append(sets, s.Ranks)
		}
	}
	return sets
}

// A rankPlace is where a rank is in the domain of a column.
type rankPlace struct {
	rank     int64
	position int
}

// places returns where the ranks are in the domain of a column, or nothing if they
// are too many.
func (t describer) places(column int) ([]rankPlace, error) {
	d := t.signatures.domains[t.signatures.columns[column].domain]
	var places []rankPlace
	if t.shape == nil {
		for i := range d.Len() {
			if d.Len() > maxLooked {
				break
			}
			rank := int64(i)
			if !d.isWorld() {
				rank = int64(d.At(i))
			}
			places = append(places, rankPlace{rank, i})
		}
		return places, nil
	}
	if t.shape.Ranks.Len() > maxLooked {
		return nil, nil
	}
	for i, rank := range t.shape.Ranks.All() {
		at, err := t.place(column, t.shape.number, i, rank)
		if err != nil {
			return nil, err
		}
		places = append(places, rankPlace{int64(rank), at})
	}
	return places, nil
}

// stored returns the values of a column, or nothing if they are too many.
func (t describer) stored(column int) ([]point, error) {
	places, err := t.places(column)
	if err != nil || len(places) == 0 {
		return nil, err
	}
	points := make([]point, len(places))
	r := sliceReader{trace: t.Trace, number: column}
	for i, p := range places {
		if err := r.seek(p.position); err != nil {
			return nil, err
		}
		points[i] = point{p.rank, r.value(p.position)}
	}
	return points, nil
}

// displacement returns what every value is more than its rank, if it is the same
// for all of at least two.
func displacement(points []point) (int64, bool) {
	c := points[0].value - points[0].rank
	return c, len(points) > 1 && !slices.ContainsFunc(points, func(p point) bool { return p.value-p.rank != c })
}

// summary returns what stands for values that are not all equal.
func (t describer) summary(points []point, typ cst.Type) string {
	if text := t.pieces(points, typ); text != "" {
		return text
	}
	var values, displacements, special []int64
	for _, p := range points {
		values = append(values, p.value)
		if p.value < 0 { // of a rank: it stands for none
			special = append(special, p.value)
		} else {
			displacements = append(displacements, p.value-p.rank)
		}
	}
	special, displacements = distinct(special), distinct(displacements)
	others := len(distinct(slices.Clone(values))) - len(special)
	if typ.Kind == cst.KindRank && len(displacements) <= maxDisplaced && len(displacements) < others && len(special) <= maxListed {
		text := "rank+{" + join(displacements) + "}"
		if len(special) > 0 {
			text = "{" + join(special) + ", " + text + "}"
		}
		return text
	}
	return t.list(values, typ, "")
}

// distinct sorts a list and returns the different numbers in it.
func distinct(list []int64) []int64 {
	slices.Sort(list)
	return slices.Compact(list)
}

func join(list []int64) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = strconv.FormatInt(v, 10)
	}
	return strings.Join(texts, ", ")
}

// A pattern is a value, or a displacement, that several ranks may have.
type pattern struct {
	shift bool
	c     int64
}

func (p pattern) has(q point) bool {
	if p.shift {
		return q.value-q.rank == p.c
	}
	return q.value == p.c
}

// pieces returns the values, or displacements, with the ranks that have each, or
// an empty text if they are many, or those ranks are not regular.
func (t describer) pieces(points []point, typ cst.Type) string {
	var texts []string
	for left := points; len(left) > 0; {
		if len(texts) == maxPieces {
			return ""
		}
		p := mostFrequent(left, typ.Kind == cst.KindRank)
		var ranks []int
		var rest []point
		for _, q := range left {
			if p.has(q) {
				ranks = append(ranks, int(q.rank))
			} else {
				rest = append(rest, q)
			}
		}
		set := rankenc.SetOf(ranks...)
		if strings.ContainsAny(set.String(), "(,") {
			return ""
		}
		text := rankenc.Shift(p.c).String()
		if !p.shift {
			text = t.text(typ, []int64{p.c}, nil)
		}
		texts = append(texts, fmt.Sprintf("%s on %v", text, set))
		left = rest
	}
	return "{" + strings.Join(texts, ", ") + "}"
}

// mostFrequent returns the pattern that most points are of, one that is a value
// before one that is a displacement.
func mostFrequent(points []point, shifts bool) pattern {
	counts := make(map[pattern]int)
	for _, q := range points {
		counts[pattern{false, q.value}]++
		if shifts && q.value >= 0 {
			counts[pattern{true, q.value - q.rank}]++
		}
	}
	var best pattern
	most := 0
	for p, n := range counts {
		order := cmp.Or(cmp.Compare(n, most), cmp.Compare(kindOf(best), kindOf(p)), cmp.Compare(best.c, p.c))
		if most == 0 || order > 0 {
			best, most = p, n
		}
	}
	return best
}

// kindOf orders values before displacements.
func kindOf(p pattern) int {
	if p.shift {
		return 1
	}
	return 0
}
