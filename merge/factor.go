package merge

import (
	"context"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"

	"github.com/reprise-trace/reprise/sequitur"
)

// factor unites shapes whose sequences differ in nothing but values, where that
// makes the trace smaller, as encodedSize says: it tells terminals apart in all of
// them if they are apart in one, so that a signature may stand for several
// terminals of a rank. The shapes stand in ascending order of their first ranks,
// before and after. Fewer are united if ctx is done.
func factor(ctx context.Context, shapes []*shape, encodedSize func([]*shape) int) []*shape {
	var (
		groups = make(map[skeleton][]*shape)
		order  []skeleton
		forms  formNumbers
	)
	for _, s := range shapes {
		k := forms.skeleton(s)
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], s)
	}
	least := -1  // the size of shapes, once it is needed
	weighed := 0 // terminals that were encoded to know sizes
	for _, k := range order {
		group := groups[k]
		if len(group) == 1 || ctx.Err() != nil {
			continue
		}
		united, ok := unite(group)
		if !ok {
			continue
		}
		with := replaceShapes(shapes, group, united)
		if terminalsOf(group) > maxWeighed || weighed > maxWeighedInAll {
			if united.size() < sizeApart(group) {
				shapes = with
			}
			continue
		}
		if least < 0 {
			least = encodedSize(shapes)
		}
		weighed += terminalsOf(shapes)
		if n := encodedSize(with); n < least {
			shapes, least = with, n
		}
	}
	return shapes
}

// maxWeighed is how many terminals shapes have that are encoded to see whether
// uniting them makes the trace smaller, and how many terminals of all shapes are
// encoded to see that again and again. Beyond that, an estimate decides.
const (
	maxWeighed      = 1 << 15
	maxWeighedInAll = 1 << 20
)

// terminalsOf returns the number of terminals of all shapes.
func terminalsOf(shapes []*shape) int {
	n := 0
	for _, s := range shapes {
		n += len(s.forms)
	}
	return n
}

// replaceShapes returns shapes with another one in place of a group of them.
func replaceShapes(shapes, group []*shape, by *shape) []*shape {
	gone := make(map[*shape]bool)
	for _, s := range group {
		gone[s] = true
	}
	replaced := append(slices.DeleteFunc(slices.Clone(shapes), func(s *shape) bool { return gone[s] }), by)
	sortShapes(replaced)
	return replaced
}

func sortShapes(shapes []*shape) {
	slices.SortFunc(shapes, func(s, t *shape) int { return int(s.ranks[0].first) - int(t.ranks[0].first) })
}

// sizeApart returns about as many bytes as the shapes take in a file.
func sizeApart(shapes []*shape) int {
	n := 0
	for _, s := range shapes {
		n += s.size()
	}
	return n
}

// size returns about as many bytes as the shape takes in a file.
func (s *shape) size() int {
	enc, _ := s.grammar.AppendBinary(nil)
	n := len(enc)
	var r columnReader
	for k := range len(s.columns) + len(s.values) {
		n += r.column(s, k).size()
	}
	return n
}

// size returns about as many bytes as the column takes in a file.
func (c column) size() int {
	n := 0
	var last int64
	for _, r := range c {
		n += 1 + bits.Len64(uint64((r.first-last)<<1^(r.first-last)>>63))/8
		last = r.first
	}
	return n
}

// unite returns one shape of the ranks of all shapes, which is possible if their
// sequences are of one length and have signatures of equal forms at equal
// positions. It refuses if it would have more terminals than all of them
// together, and does not change the shapes.
func unite(shapes []*shape) (*shape, bool) {
	j := joint{grammar: shapes[0].grammar, forms: shapes[0].forms, most: terminalsOf(shapes)}
	for _, s := range shapes[1:] {
		if !j.add(s) {
			return nil, false
		}
	}
	return mergeViews(shapes, j.terminals(), j.grammar), true
}

// mergeViews returns the shape of the ranks of all shapes with a grammar over
// other terminals, of which to says which of each shape they are.
func mergeViews(shapes []*shape, to [][]uint32, g *sequitur.Grammar) *shape {
	n := len(shapes)
	if n == 1 {
		return shapes[0].view(g, to[0])
	}
	return mergeViews(shapes[:n/2], to[:n/2], g).merge(mergeViews(shapes[n/2:], to[n/2:], g))
}

// A joint grammar is that of the tuples of terminals that several shapes have
// at the same positions. Equal tuples are one terminal; these are numbered in
// the order of their first use.
type joint struct {
	grammar *sequitur.Grammar
	forms   []form   // of the terminals
	most    int      // terminals
	steps   [][]pair // for each shape added, what its terminals are: those before, and its own
}

// Bounds of the work of joining two grammars.
const (
	maxSteps  = 1 << 26 // runs that are looked at
	maxPeriod = 1 << 16 // symbols of a loop that is looked at once
)

// add adds a shape to those joined, and reports whether its signatures have the
// same forms in the same order. Where the grammars of both are in a loop, it
// looks at one period.
func (j *joint) add(s *shape) bool {
	p := newPairing(j.grammar, s.grammar)
	p.most = j.most
	p.equal = func(x, y sequitur.Symbol) bool { return j.forms[x].equal(s.forms[y]) }
	g, ok := p.join()
	if !ok {
		return false
	}
	forms := make([]form, len(p.pairs))
	for n, k := range p.pairs {
		forms[n] = j.forms[k.x]
	}
	j.grammar, j.forms, j.steps = g, forms, append(j.steps, p.pairs)
	return true
}

// terminals returns which of its terminals the joint ones are, for each shape.
func (j *joint) terminals() [][]uint32 {
	of := make([][]uint32, len(j.steps)+1)
	before := make([]uint32, len(j.forms)) // the terminals before a step
	for n := range before {
		before[n] = uint32(n)
	}
	for i := len(j.steps); i > 0; i-- {
		of[i] = make([]uint32, len(j.forms))
		for n, k := range before {
			of[i][n], before[n] = j.steps[i-1][k].y, j.steps[i-1][k].x
		}
	}
	of[0] = before
	return of
}

// A skeleton is a hash of the forms of a sequence of signatures, without their
// values. Equal sequences have equal skeletons. Different ones have not, but for
// bad luck: the hash is seeded at random.
type skeleton struct {
	length uint64
	hash   uint64
}

// formNumbers hashes forms.
type formNumbers struct {
	seed maphash.Seed
	base uint64 // of the polynomial that hashes a sequence
}

// prime is that of the field in which sequences are hashed.
const prime = 1<<61 - 1

func mulMod(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	_, r := bits.Div64(hi, lo, prime)
	return r
}

func (f *formNumbers) hash(x form) uint64 {
	if f.base == 0 {
		f.seed = maphash.MakeSeed()
		f.base = maphash.Comparable(f.seed, -1) % prime
	}
	type head struct {
		function int
		grouped  bool
		streams  uint64
		place    int64
	}
	h := maphash.Comparable(f.seed, head{x.function, x.grouped, x.streams, x.place})
	for _, n := range x.lengths {
		h = maphash.Comparable(f.seed, [2]uint64{h, uint64(n)})
	}
	return h % prime
}

// skeleton returns the skeleton of s. A sequence x₁ … xₙ hashes to
// Σ xᵢ·baseⁿ⁻ⁱ, which takes the size of the grammar to compute, not its length.
func (f *formNumbers) skeleton(s *shape) skeleton {
	terminals := make([]uint64, len(s.forms))
	for t, x := range s.forms {
		terminals[t] = f.hash(x)
	}
	type sum struct{ hash, power uint64 } // power is base to the length
	join := func(a, b sum) sum { return sum{(mulMod(a.hash, b.power) + b.hash) % prime, mulMod(a.power, b.power)} }
	rules := make([]sum, s.grammar.Rules())
	for r := range rules {
		rules[r].power = 1
		for t := range s.grammar.Body(r) {
			var x sum
			if t.Rule >= 0 {
				x = rules[t.Rule]
			} else {
				x = sum{terminals[t.Symbol], f.base}
			}
			for n := t.Count; n > 0; n >>= 1 {
				if n&1 == 1 {
					rules[r] = join(rules[r], x)
				}
				x = join(x, x)
			}
		}
	}
	return skeleton{s.grammar.Len(), rules[len(rules)-1].hash}
}

// A pairing joins the sequences of two grammars to one of pairs of the terminals
// at equal positions.
type pairing struct {
	equal func(x, y sequitur.Symbol) bool // whether two terminals may be a pair
	most  int                             // pairs there may be

	grammars [2]*sequitur.Grammar
	walkers  [2]*sequitur.Walker
	left     [2]sequitur.Run // what is left of the runs at position
	position uint64

	pairs   []pair // by their numbers
	numbers map[pair]sequitur.Symbol
	steps   int
	loops   [2][]sequitur.Loop
}

type pair struct{ x, y sequitur.Symbol }

func newPairing(g, h *sequitur.Grammar) *pairing {
	p := &pairing{grammars: [2]*sequitur.Grammar{g, h}, numbers: make(map[pair]sequitur.Symbol), most: math.MaxInt}
	p.seek(0)
	return p
}

// seek moves to a position.
func (p *pairing) seek(position uint64) {
	for i, g := range p.grammars {
		p.walkers[i], p.left[i] = g.Walk(position), sequitur.Run{}
	}
	p.position = position
}

// join returns the grammar of the numbers of pairs, which are numbered in the
// order of their first use, and whether there is one.
func (p *pairing) join() (*sequitur.Grammar, bool) {
	const stepsPerLook = 64
	n := p.grammars[0].Len()
	if n != p.grammars[1].Len() {
		return nil, false
	}
	var b sequitur.Builder
	look := 0 // step at which to look for a loop
	for p.position < n {
		if p.steps >= look && p.left[0].Count == 0 && p.left[1].Count == 0 {
			look = p.steps + stepsPerLook
			if period, times := p.loop(); times > 3 {
				body, ok := p.body(period)
				if !ok {
					return nil, false
				}
				b.AppendLoop(body, times)
				p.seek(p.position + (times-1)*period)
				continue
			}
		}
		r, ok := p.next(n - p.position)
		if !ok {
			return nil, false
		}
		b.AppendRun(r.Symbol, r.Count)
	}
	return b.Finish(), true
}

// loop returns the period of a loop that both grammars are in, and how often it
// repeats from here on.
func (p *pairing) loop() (period, times uint64) {
	for i, w := range p.walkers {
		p.loops[i] = w.AppendLoops(p.loops[i][:0])
	}
	for _, x := range p.loops[0] {
		for _, y := range p.loops[1] {
			period := max(x.Period, y.Period)
			if period <= maxPeriod && period%min(x.Period, y.Period) == 0 {
				return period, min(x.Length, y.Length) / period
			}
		}
	}
	return 0, 0
}

// body returns the runs of the next symbols.
func (p *pairing) body(length uint64) ([]sequitur.Run, bool) {
	var body []sequitur.Run
	for length > 0 {
		r, ok := p.next(length)
		if !ok {
			return nil, false
		}
		body = append(body, r)
		length -= r.Count
	}
	return body, true
}

// next returns the next run of one pair, cut off after some symbols. It fails if
// the terminals may not be a pair, or there are too many pairs or steps.
func (p *pairing) next(most uint64) (sequitur.Run, bool) {
	for i := range p.left {
		if p.left[i].Count == 0 {
			p.left[i] = p.walkers[i].Next()
		}
	}
	k := pair{p.left[0].Symbol, p.left[1].Symbol}
	n, ok := p.numbers[k]
	if !ok {
		if len(p.pairs) == p.most || !p.equal(k.x, k.y) {
			return sequitur.Run{}, false
		}
		n = sequitur.Symbol(len(p.pairs))
		p.numbers[k] = n
		p.pairs = append(p.pairs, k)
	}
	count := min(p.left[0].Count, p.left[1].Count, most)
	p.left[0].Count -= count
	p.left[1].Count -= count
	p.position += count
	p.steps++
	return sequitur.Run{Symbol: n, Count: count}, p.steps < maxSteps
}
