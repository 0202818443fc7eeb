package extrapolate

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

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
	rules, _ := part.Grammar.AppendBinary(nil) // never fails
	h.Write(rules)
	if w.advancing.begun {
		part.Streams = w.streams(w.grammar(runs, w.blocks[calls:]))
		rules, _ = part.Streams.Runs.AppendBinary(nil)
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
	if problem == "" || !w.o.Force && f.said == (said{w.class, problem}) {
		return v
	}
	f.said = said{w.class, problem}
	problem = w.class.name + ": " + f.what + problem
	if w.o.Force {
		var how string
		f.forced = true
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
	for i := range f.exprs[1:] {
		e := &f.exprs[1+i]
		if other, fits := at(e); !fits || other != v || !ok {
			return v, f.rivals(e)
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

// A said is the problem of a number that was told last, and of which ranks: it may be the same for millions of
// elements.
type said struct {
	class *class
	text  string
}

// rivals returns the problem that another expression than the first holds for the traces.
func (f *form) rivals(e *expr) string {
	if f.rival.expr != e {
		f.rival.expr = e
		f.rival.text = fmt.Sprintf(": %s and %s both hold for the traces", f.exprs[0].text, e.text)
	}
	return f.rival.text
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
