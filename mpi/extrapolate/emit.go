package extrapolate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

// What is made is a run on another number of ranks in a grid.
type made struct {
	*solver
	grid     *grid
	root     *class
	bits     int  // how long the program is, about
	digits   bool // it depends on binary digits
	parts    []merge.Part
	hashes   [][]byte // of the calls of each rank
	problems []string // what is taken although the traces do not determine it
	nearest  []string // what is so without a rule, as it does not count
	told     map[string]bool
	weak     map[*form]bool
	known    map[string]*sequitur.Grammar
}

// make makes the parts of all ranks.
func (m *made) make() error {
	m.told, m.weak, m.known = make(map[string]bool), make(map[*form]bool), make(map[string]*sequitur.Grammar)
	problems := []string{}
	m.digits = m.binary()
	m.nearest = slices.Sorted(maps.Keys(m.varied))
	for number := range m.o.Ranks {
		if m.ctx.Err() != nil {
			return context.Cause(m.ctx)
		}
		w := writer{made: m, problem: func(text string) {
			if !m.told[text] {
				m.told[text] = true
				problems = append(problems, text)
			}
		}}
		if err := w.rank(number); err != nil {
			return err
		}
		if m.o.Progress != nil {
			m.o.Progress(number + 1)
		}
	}
	if m.problems = problems; len(problems) > 0 && !m.solver.forced {
		return &Error{Problems: problems}
	}
	return nil
}

// equal reports whether two runs make the same calls.
func (m *made) equal(n *made) bool { return slices.EqualFunc(m.hashes, n.hashes, bytes.Equal) }

// fits returns the expressions that are not constant.
func (m *made) fits() []Fit {
	list := []Fit{}
	m.root.forms(m.declared, func(c *class, fn, parameter string, f form) {
		if f.exprs[0].constant {
			return
		}
		fit := Fit{fn, parameter, f.exprs[0].text, c.name}
		if !slices.Contains(list, fit) {
			list = append(list, fit)
		}
	})
	return list
}

// alike returns which counts are the same in all traces, and have a value.
func (m *made) alike(value int64) (list []string) {
	m.root.forms(m.declared, func(_ *class, fn, parameter string, f form) {
		if !f.exprs[0].constant || f.role.is(roleRank, roleLabel, roleRequest) || f.lenient == ignored {
			return
		}
		if v, _ := f.exprs[0].at(new(point)); v != value {
			return
		}
		if fn != "" {
			parameter += " of " + fn
		}
		if !slices.Contains(list, parameter) {
			list = append(list, parameter)
		}
	})
	return list
}

// dependsOn reports whether the program may depend on a feature that is the same in all traces: on an extent of
// its grid, on what its loops may count, and on binary digits if it depends on such ones otherwise.
func (m *made) dependsOn(x feature, value int64) bool {
	switch {
	case x.extent, x.name == ofN.name:
		return true
	case x.part == 1: // programs treat powers of two in their own way
		return true
	case x.part > 1:
		return x.part == 2 && (m.root.tellsParity() || m.hasParity())
	case x.binary && m.digits:
		return true
	}
	return value > 1 && x.bits <= length(value)+maxLonger && m.counts(value)
}

// foreign reports whether the program depends on an extent of a grid that the ranks are not in.
func (m *made) foreign() (found bool) {
	m.root.forms(m.declared, func(_ *class, _, _ string, f form) {
		found = found || !f.exprs[0].constant && f.exprs[0].bits >= foreignBits &&
			strings.Contains(f.exprs[0].text, "MPI_Dims_create")
	})
	return found
}

// counts reports whether a loop of the program has so many iterations in all traces.
func (m *made) counts(value int64) (found bool) {
	m.root.forms(m.declared, func(_ *class, fn, _ string, f form) {
		if fn == "" && f.exprs[0].constant {
			v, _ := f.exprs[0].at(new(point))
			found = found || v == value
		}
	})
	return found
}

// binary reports whether the program depends on binary digits.
func (m *made) binary() (found bool) {
	m.root.forms(m.declared, func(_ *class, _, _ string, f form) {
		found = found || f.exprs[0].binary && !f.powerOfBit()
	})
	return found || m.root.tellsParity()
}

// hasParity reports whether a number of the program depends on what is even.
func (m *made) hasParity() (found bool) {
	m.root.forms(m.declared, func(_ *class, _, _ string, f form) {
		found = found || strings.Contains(f.exprs[0].text, "mod 2 =") || strings.Contains(f.exprs[0].text, "is even")
	})
	return found
}

// powerOfBit reports whether a number that is no rank is of 2^i where i is 0 or 1 in all traces: it is of i+1 there,
// and tells nothing of digits.
func (f *form) powerOfBit() bool {
	return f.role != roleRank && f.exprs[0].uses&usesPower != 0 && !slices.ContainsFunc(f.at, func(p *point) bool {
		return p.index > 1 || slices.Max(p.rounds[:]) > 1
	})
}

// tellsParity reports whether even ranks and odd ones differ.
func (c *class) tellsParity() bool {
	return c.finer != nil && c.split >= parity || slices.ContainsFunc(c.order, (*class).tellsParity)
}

// bits returns how long a program is: calls that several classes make alike count once, but for a reference.
func (c *class) bits() (sum int) {
	known := make(map[string]bool)
	const perClass, perPlace, perLoop = 4, 3, 2
	c.leaves(func(c *class) {
		sum += perClass
		c.numbers(func(p *place, key string, f *form) {
			if len(f.exprs) == 0 {
				return
			}
			if key = fmt.Sprint(p.like[labelled], " ", key, " ", f.exprs[0].text); !known[key] {
				known[key] = true
				sum += f.exprs[0].bits
			}
		})
		var count func(body []*place)
		count = func(body []*place) {
			for _, p := range body {
				if sum += perPlace; p.loop {
					sum += perLoop
				}
				count(p.body)
			}
		}
		count(c.body)
	})
	return sum
}

// places are the words for places in a grid.
var places = regexp.MustCompile(`\b(column|row|plane)\b|rank[+-].*(columns|rows|planes)`)

// hasPlaces reports whether a number of a program depends on the place of a rank in the grid.
func (c *class) hasPlaces() (found bool) {
	c.leaves(func(c *class) {
		c.numbers(func(_ *place, _ string, f *form) {
			found = found || len(f.exprs) > 0 && places.MatchString(f.exprs[0].text)
		})
	})
	return found
}

// leaves yields the classes that have a program.
func (c *class) leaves(yield func(c *class)) {
	if c.finer == nil {
		yield(c)
	}
	for _, finer := range c.order {
		finer.leaves(yield)
	}
}

// numbers yields all numbers of the program of a class, with what tells those of a place apart.
func (c *class) numbers(yield func(p *place, key string, f *form)) {
	var numbers func(p *place, key string, a *argument)
	numbers = func(p *place, key string, a *argument) {
		for i := range a.numbers {
			yield(p, fmt.Sprint(key, " ", i), &a.numbers[i])
		}
		if a.kind == cst.KindArray && a.constant.Kind() == 0 {
			yield(p, key+" length", &a.length)
		}
		if a.rule != nil {
			numbers(p, key+" rule", a.rule)
		}
		for i, e := range a.elements {
			numbers(p, fmt.Sprint(key, " element ", i), e)
		}
	}
	var walk func(body []*place)
	walk = func(body []*place) {
		for _, p := range body {
			if p.loop {
				walk(p.body)
				yield(p, "trips", &p.trips)
				continue
			}
			if p.call == nil {
				continue
			}
			for i, a := range p.call.args {
				numbers(p, fmt.Sprint(i), a)
			}
			if p.call.grouped {
				yield(p, "rank in the group", &p.call.group[0])
				yield(p, "size of the group", &p.call.group[1])
			}
		}
	}
	walk(c.body)
}

// forms yields the numbers that have an expression: the name of the function, nothing for a loop, and what it
// is of it.
func (c *class) forms(declared *cst.Table, yield func(c *class, fn, parameter string, f form)) {
	add := func(fn, parameter string, f form) {
		if len(f.exprs) > 0 {
			yield(c, fn, parameter, f)
		}
	}
	var walk func(body []*place)
	walk = func(body []*place) {
		for _, p := range body {
			if p.loop {
				walk(p.body)
				add("", p.trips.what, p.trips)
				continue
			}
			if p.call == nil {
				continue
			}
			fn := &declared.Functions()[p.call.fn]
			for i, a := range p.call.args {
				for _, f := range a.numbers {
					add(fn.Name, fn.Params[i].Name, f)
				}
				if a.kind == cst.KindArray {
					add(fn.Name, "length of "+fn.Params[i].Name, a.length)
					if a.rule != nil {
						for _, f := range a.rule.numbers {
							add(fn.Name, fn.Params[i].Name+"[index]", f)
						}
					}
				}
			}
		}
	}
	if c.finer == nil {
		walk(c.body)
	}
	for _, finer := range c.order {
		finer.forms(declared, yield)
	}
}

// A writer writes the calls of a rank.
type writer struct {
	*made
	problem func(text string)
	class   *class
	at      point
	table   *cst.Table
	groups  map[uint32]merge.Group
	runs    []sequitur.Run
	blocks  []block
	failed  error

	advancing advancing
}

// A block is runs that come so often.
type block struct {
	end    int
	rounds uint64
}

const (
	maxRuns   = 1 << 24 // of a rank
	maxLength = 1 << 24 // of an array
)

func (w *writer) rank(number int) error {
	w.at.ranks, w.at.rank = int64(w.o.Ranks), int64(number)
	w.at.spot = w.made.grid.spot(w.at.ranks, w.at.rank)
	w.class = w.root
	for w.class.finer != nil {
		name := w.class.split.class(w.at.rank, w.at.spot, w.made.grid.dims)
		next := w.class.finer[name]
		if next == nil && w.solver.forced {
			next = w.class.order[len(w.class.order)-1]
			w.problem(fmt.Sprintf(
				"no trace has ranks in the place of some of %d (%s): they do what others do (%s)", w.o.Ranks,
				name, next.name))
		}
		if next == nil {
			return &Error{Problems: []string{fmt.Sprintf(
				"the calls of rank %d of %d: no trace has a rank in its place (%s)", number, w.o.Ranks, name)}}
		}
		w.class = next
	}
	for _, x := range w.class.alike {
		if !w.digits {
			break
		}
		if v := x.of(&w.at); v != x.value {
			w.problem(fmt.Sprintf("%s: what depends on the %s: %d in all traces, and %d on some ranks of %d",
				w.class.name, x.name, x.value, v, w.o.Ranks))
		}
	}
	w.table = new(cst.Table)
	w.body(w.class.body, true)
	w.close(1)
	if w.failed != nil {
		return w.failed
	}
	calls, runs := len(w.blocks), len(w.runs)
	if w.advancing.begun {
		calls, runs = w.advancing.block, w.advancing.run
	}
	part := merge.Part{Rank: number, Table: w.table, Grammar: w.grammar(0, w.blocks[:calls]), CallGroups: w.groups}
	signatures, err := w.table.AppendBinary(nil)
	h := sha256.New()
	rules, _ := part.Grammar.MarshalBinary() // never fails
	h.Write(rules)
	if w.advancing.begun {
		part.Streams = w.streams(w.grammar(runs, w.blocks[calls:]))
		rules, _ = part.Streams.Runs.MarshalBinary()
		h.Write(rules)
		for _, t := range slices.Sorted(maps.Keys(part.Streams.Slots)) {
			h.Write(wire.AppendUvarint(wire.AppendUvarint(nil, uint64(t)), part.Streams.Slots[t]))
		}
	}
	w.parts = append(w.parts, part)
	w.hashes = append(w.hashes, h.Sum(signatures))
	return err
}

// grammar returns the grammar of blocks, of which the runs begin with one.
func (w *writer) grammar(begin int, blocks []block) *sequitur.Grammar {
	var key []byte
	first := begin
	for _, b := range blocks {
		key = wire.AppendUvarint(wire.AppendUvarint(key, uint64(b.end-begin)), b.rounds)
		for _, r := range w.runs[begin:b.end] {
			key = wire.AppendUvarint(wire.AppendUvarint(key, uint64(r.Symbol)), r.Count)
		}
		begin = b.end
	}
	g := w.known[string(key)]
	if g == nil {
		var b sequitur.Builder
		begin = first
		for _, block := range blocks {
			b.AppendLoop(w.runs[begin:block.end], block.rounds)
			begin = block.end
		}
		g = b.Finish()
		w.known[string(key)] = g
	}
	return g
}

// value returns what a form is at a point: of what is not determined, what is known next to it.
func (w *writer) value(f *form) int64 {
	v, problem := w.determined(f)
	if problem != "" && f.lenient != strict {
		if at, nearest := f.nearest(&w.at); at != nil {
			w.taken(f.what)
			return nearest
		}
	}
	if f.weak {
		w.weak[f] = true
	}
	if problem == "" {
		return v
	}
	problem = w.class.name + ": " + f.what + problem
	if w.o.Force {
		var how string
		if v, how = w.forced(f, v); how != "" {
			problem += ": " + how
		}
	}
	w.problem(problem)
	return v
}

// forced returns what a form is at a point that the traces do not determine, and how it is known: by the shortest
// rule, or else from what is known next to it.
func (w *writer) forced(f *form, v int64) (int64, string) {
	for _, e := range f.exprs {
		v, ok := e.at(&w.at)
		if ok && w.at.defined(e.uses) && !(f.inside && v >= w.at.ranks) && !(f.positive && v < 0) {
			return v, "the shortest rule is taken, " + e.text
		}
	}
	at, nearest := f.nearest(&w.at)
	if at == nil {
		return v, ""
	}
	if f.role == roleRank && nearest >= 0 {
		nearest %= w.at.ranks
	}
	return nearest, fmt.Sprintf("taken from the trace of %d ranks", at.ranks)
}

// taken takes note of what is that of the nearest rank.
func (m *made) taken(what string) {
	if !slices.Contains(m.nearest, what) {
		m.nearest = append(m.nearest, what)
	}
}

// determined returns what a form is at a point, and why it is not determined, nothing if it is.
func (w *writer) determined(f *form) (v int64, problem string) {
	if len(f.exprs) == 0 {
		return 0, " has no expression"
	}
	at := func(e *expr) (int64, bool) {
		v, ok := e.at(&w.at)
		return v, ok && w.at.defined(e.uses)
	}
	v, ok := at(&f.exprs[0])
	for _, e := range f.exprs[1:] {
		if other, fits := at(&e); !fits || other != v || !ok {
			return v, fmt.Sprintf(": %s and %s both hold for the traces", f.exprs[0].text, e.text)
		}
	}
	switch {
	case !ok:
		return 0, fmt.Sprintf(": %s is no integer on rank %d of %d", f.exprs[0].text, w.at.rank, w.at.ranks)
	case f.inside && !f.exprs[0].constant && v >= w.at.ranks:
		return v, fmt.Sprintf(": %s is %d on rank %d of %d: there is no such rank", f.exprs[0].text, v,
			w.at.rank, w.at.ranks)
	case v < 0 && f.positive && !f.exprs[0].constant:
		return v, fmt.Sprintf(": %s is %d on rank %d of %d: it is negative on no rank of the traces",
			f.exprs[0].text, v,
			w.at.rank, w.at.ranks)
	case f.open != "":
		return v, f.open
	case f.most != "":
		return v, f.most
	}
	return v, ""
}

// body writes a body. Top says that it is in no loop.
func (w *writer) body(body []*place, top bool) {
	for _, p := range body {
		if w.failed != nil {
			return
		}
		if !p.loop {
			if p.call != nil {
				w.call(p.call)
			}
			continue
		}
		trips := w.value(&p.trips)
		if trips < 0 {
			w.problem(fmt.Sprintf("%s: %s: %s is negative on rank %d of %d", w.class.name, p.trips.what,
				p.trips.exprs[0].text, w.at.rank, w.at.ranks))
			trips = 0
		}
		w.loop(p, trips, top)
	}
}

// loop writes a loop. If its rounds are equal, one is made.
func (w *writer) loop(p *place, trips int64, top bool) {
	round := &w.at.rounds[p.depth]
	defer func() { *round = 0 }()
	if trips > 0 && uses(p.body)&(1<<p.depth) == 0 {
		if top {
			w.close(1)
		}
		begin := len(w.runs)
		w.body(p.body, false)
		switch body := slices.Clone(w.runs[begin:]); {
		case top:
			w.close(uint64(trips))
		case len(body) == 1:
			w.runs[begin].Count = wire.MulSat(body[0].Count, uint64(trips))
		default:
			for i := int64(1); i < trips && w.failed == nil; i++ {
				if len(w.runs) > maxRuns {
					w.failed = errors.New("extrapolate: a rank makes too many calls outside of loops")
				}
				w.runs = append(w.runs, body...)
			}
		}
		return
	}
	for *round = 0; *round < trips && w.failed == nil; *round++ {
		w.body(p.body, top)
		if len(w.runs) > maxRuns {
			w.failed = errors.New("extrapolate: a rank makes too many calls outside of loops")
		}
	}
}

// close ends a block.
func (w *writer) close(rounds uint64) {
	if n := len(w.blocks); n == 0 && len(w.runs) > 0 || n > 0 && len(w.runs) > w.blocks[n-1].end {
		w.blocks = append(w.blocks, block{len(w.runs), rounds})
	}
}

// uses returns the loops that a body depends on.
func uses(body []*place) (all uint) {
	for _, p := range body {
		if p.loop {
			all |= p.trips.uses() | uses(p.body)
		} else if c := p.call; c != nil {
			all |= c.group[0].uses() | c.group[1].uses()
			for _, a := range c.args {
				all |= a.uses()
			}
		}
	}
	return all
}

func (a *argument) uses() (all uint) {
	for i := range a.numbers {
		all |= a.numbers[i].uses()
	}
	all |= a.length.uses()
	if a.rule != nil {
		all |= a.rule.uses()
	}
	for _, e := range a.elements {
		all |= e.uses()
	}
	return all
}

func (w *writer) call(c *call) {
	args := make([]cst.Value, 0, len(c.args))
	for _, a := range c.args {
		args = append(args, w.argument(a))
	}
	if w.failed != nil {
		return
	}
	fn, advances := w.streamed[c.fn]
	if !advances {
		fn = w.declared.Functions()[c.fn]
	}
	w.begin(&fn)
	s, err := w.table.TryIntern(w.table.Declare(fn), args...)
	if err != nil {
		w.failed = err
		return
	}
	w.advance(s, c.slots)
	if c.grouped {
		if w.groups == nil {
			w.groups = make(map[uint32]merge.Group)
		}
		w.groups[s] = merge.Group{Rank: int(w.value(&c.group[0])), Size: int(w.value(&c.group[1]))}
	}
	w.runs = append(w.runs, sequitur.Run{Symbol: s, Count: 1})
}

func (w *writer) argument(a *argument) cst.Value {
	switch a.kind {
	case cst.KindInt:
		return cst.Int(w.value(&a.numbers[0]))
	case cst.KindRank:
		return cst.Rank(w.value(&a.numbers[0]))
	case cst.KindTag:
		return cst.Tag(w.value(&a.numbers[0]))
	case cst.KindHandle:
		return cst.Handle(w.value(&a.numbers[0]))
	case cst.KindPointer:
		return cst.PointerTo(cst.Pointer{Segment: w.value(&a.numbers[0]),
			Displacement: w.value(&a.numbers[1]), Device: w.value(&a.numbers[2])})
	case cst.KindStatus:
		return cst.StatusOf(cst.Status{Source: w.value(&a.numbers[0]), Tag: w.value(&a.numbers[1]),
			Error: w.value(&a.numbers[2])})
	case cst.KindString:
		if a.text.between != nil {
			t := a.text
			t.numbers = nil
			for i := range a.numbers {
				t.numbers = append(t.numbers, max(0, w.value(&a.numbers[i])))
			}
			return cst.String(t.String())
		}
	case cst.KindArray:
		if a.constant.Kind() == 0 {
			return w.array(a)
		}
	}
	return a.constant
}

func (w *writer) array(a *argument) cst.Value {
	n := w.value(&a.length)
	if n < 0 || n > maxLength {
		w.failed = fmt.Errorf("extrapolate: %s is %d on rank %d of %d", a.length.what, n, w.at.rank, w.at.ranks)
		return cst.Array()
	}
	list := make([]cst.Value, n)
	for i := range list {
		w.at.index = int64(i)
		switch {
		case a.rule != nil:
			list[i] = w.argument(a.rule)
		case i < len(a.elements):
			list[i] = w.argument(a.elements[i])
		default:
			w.failed = fmt.Errorf("extrapolate: %s is longer than in the traces on rank %d of %d",
				a.length.what, w.at.rank, w.at.ranks)
			return cst.Array()
		}
	}
	w.at.index = 0
	return cst.Array(list...)
}
