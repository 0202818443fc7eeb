package trace

import (
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/cst"
)

// maxAffine is how many ranks are looked at to see how a progression goes with the rank.
const maxAffine = 256

// advancing returns the text of the k-th number of an argument, a stream, if it is a progression: a number and
// what each index adds to it. The indices i, j, … count the iterations of loops in which it advances, the
// outermost first; where these are not the loops of the calls, it says below what each index is, as in
// 64·i (i<125). It begins with a plus if signed is set.
func (p *printing) advancing(a Argument, k int, ranks []int, signed bool) (text string, ok bool) {
	first, slope, loops, ok := a.affine(k, ranks)
	if !ok {
		return "", false
	}
	var dst []byte
	plus := func(n int64) {
		if n >= 0 && (signed || len(dst) > 0) {
			dst = append(dst, '+')
		}
	}
	term := func(n int64, of string) {
		plus(n)
		switch n {
		case 1:
		case -1:
			dst = append(dst, '-')
		default:
			dst = append(strconv.AppendInt(dst, n, 10), "·"...)
		}
		dst = append(dst, of...)
	}
	if first != 0 || slope == 0 && !slices.ContainsFunc(loops, func(l affineLoop) bool {
		return l.step != 0 || l.slope != 0
	}) {
		plus(first)
		dst = strconv.AppendInt(dst, first, 10)
	}
	if slope != 0 {
		term(slope, "rank")
	}
	index, bounds := 0, ""
	for _, l := range loops {
		if l.step == 0 && l.slope == 0 {
			continue
		}
		letter := string(rune('i' + index))
		if !l.nested {
			bounds += [...]string{" (", ", "}[min(index, 1)] + letter + "<" + strconv.FormatUint(l.iterations, 10)
		}
		if index++; l.step != 0 {
			term(l.step, letter)
		}
		if l.slope != 0 {
			term(l.slope, "rank·"+letter)
		}
	}
	if bounds != "" {
		bounds += ")"
	}
	return string(dst) + bounds, true
}

// An affineLoop is an [Advance] whose step is one number, and another for each rank.
type affineLoop struct {
	step, slope int64
	iterations  uint64
	nested      bool // the loops are those of the calls
}

// advancingRanks returns the ranks that make the call of s, or nothing if they are too many to be looked at.
func (s *Signature) advancingRanks() []int {
	var ranks []int
	for _, set := range s.makers() {
		for _, rank := range set.All() {
			if ranks = append(ranks, int(rank)); len(ranks) > maxAffine {
				return nil
			}
		}
	}
	return ranks
}

// affine returns the progression of the k-th number of an argument for ranks that make the call, if they
// have the same loops, and what differs is a multiple of the rank.
func (a Argument) affine(k int, ranks []int) (first, slope int64, loops []affineLoop, ok bool) {
	if len(ranks) == 0 {
		return 0, 0, nil, false
	}
	all := make([]Progression, len(ranks))
	for i, rank := range ranks {
		if all[i], ok = a.Progression(k, rank); !ok || !all[i].sameLoops(all[0]) {
			return 0, 0, nil, false
		}
	}
	line := func(of func(Progression) int64) (first, slope int64, ok bool) {
		first = of(all[0])
		if len(ranks) > 1 {
			slope = (of(all[1]) - first) / int64(ranks[1]-ranks[0])
			first -= slope * int64(ranks[0])
		}
		for i, rank := range ranks {
			if of(all[i]) != first+slope*int64(rank) {
				return 0, 0, false
			}
		}
		return first, slope, true
	}
	if first, slope, ok = line(func(p Progression) int64 { return p.First }); !ok {
		return 0, 0, nil, false
	}
	for i := range all[0].Loops {
		l := affineLoop{iterations: all[0].Loops[i].Iterations, nested: all[0].nested}
		if l.step, l.slope, ok = line(func(p Progression) int64 { return p.Loops[i].Step }); !ok {
			return 0, 0, nil, false
		}
		loops = append(loops, l)
	}
	return first, slope, loops, true
}

// constantButAdvancing returns the text of a pointer whose displacement is a progression, and all else of which
// is constant.
func (p *printing) constantButAdvancing(a Argument) (text string, ok bool) {
	segment, device := a.Values[0], a.Values[2]
	if segment.Form != Constant || device.Form != Constant {
		return "", false
	}
	return p.advancingPointer(a, a.of.advancingRanks(), cst.Pointer{Segment: segment.Number, Device: device.Number})
}

// advancingPointer returns the text of a pointer whose displacement is a progression for ranks.
func (p *printing) advancingPointer(a Argument, ranks []int, at cst.Pointer) (text string, ok bool) {
	if a.Values[1].Form != Stream {
		return "", false
	}
	by, ok := p.advancing(a, 1, ranks, true)
	if !ok {
		return "", false
	}
	const mark = 1<<62 + 1 // a displacement that no name has
	at.Displacement = mark
	x := printing{Printer: p.Printer}
	text = x.text(func() { x.pointer(at) })
	return strings.Replace(text, "+"+strconv.FormatInt(mark, 10), by, 1), true
}

// sameLoops reports whether two progressions have as many iterations in each loop.
func (p Progression) sameLoops(q Progression) bool {
	return p.nested == q.nested && slices.EqualFunc(p.Loops, q.Loops, func(k, l Advance) bool {
		return k.Iterations == l.Iterations
	})
}
