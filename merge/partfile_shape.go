package merge

import (
	"crypto/sha256"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// append appends the encoding of s, whose functions are among so many. Signatures with streams are of functions
// above these, of as many, and one that is none.
func (s *shape) append(dst []byte, functions int) []byte {
	dst, _ = s.ranks.set().AppendBinary(dst)
	dst = wire.AppendUvarint(dst, uint64(len(s.forms)))
	for _, f := range s.forms {
		v := uint64(f.function) << 1
		if f.streams != 0 {
			v += uint64(functions+1) << 1
		}
		if f.grouped {
			v |= 1
		}
		dst = wire.AppendUvarint(dst, v)
		if f.streams != 0 {
			dst = wire.AppendUvarint(dst, f.streams)
		}
		for _, n := range f.lengths {
			dst = wire.AppendUvarint(dst, uint64(n))
		}
	}
	for _, v := range s.values {
		dst = wire.AppendVarint(dst, v)
	}
	if len(s.values) == 0 {
		s.eachColumn(func(c *column) { dst = c.append(dst, s.ranks.len()) })
	}
	dst, _ = s.grammar.AppendBinary(dst)
	return dst
}

// append appends the encoding of the n values of c.
func (c *column) append(dst []byte, n int) []byte {
	if n > 1 {
		further := -1
		for range c.runs(n) {
			further++
		}
		dst = wire.AppendUvarint(dst, uint64(further))
	}
	var before int64
	for r, end := range c.runs(n) {
		if end < n {
			dst = wire.AppendUvarint(dst, uint64(end-int(r.position)-1))
		}
		dst = wire.AppendVarint(dst, r.first-before)
		if end-int(r.position) > 1 {
			dst = wire.AppendVarint(dst, r.step)
		}
		before = r.first
	}
	return dst
}

// A shapeParser decodes a shape.
type shapeParser struct {
	wire.Decoder
	a      *Accumulator
	before int    // ranks of other shapes
	memory uint64 // that they may take
}

func (p *shapeParser) shape() (*shape, digest, error) {
	s := &shape{ranks: p.ranks()}
	declared := p.a.functions.Functions()
	n := p.Count("terminals", 1)
	slots := 0
	for i := 0; i < n && p.Err() == nil; i++ {
		at := p.Offset()
		v := p.Uvarint("function")
		fn, advances := v>>1, false
		if n := uint64(len(declared)); fn > n && fn <= 2*n {
			fn, advances = fn-n-1, true
		}
		if fn >= uint64(len(declared)) {
			p.Corrupt(at, "function", "%d of %d", fn, len(declared))
			break
		}
		f := form{function: int(fn), grouped: v&1 != 0}
		if advances {
			f.streams = p.streams(&declared[fn])
		}
		for _, param := range declared[fn].Params {
			p.lengths(&f, param.Type)
		}
		if f.grouped {
			f.slots += groupSlots
		}
		s.forms = append(s.forms, f)
		slots += f.slots
	}
	if p.Err() == nil && slots > p.Rest() {
		p.Corrupt(p.Offset(), "columns", "%d in %d bytes", slots, p.Rest())
	}
	if p.Err() != nil {
		return nil, digest{}, p.Err()
	}
	if s.ranks.len() > 1 {
		s.columns = make([]column, 0, slots)
	}
	values := p.a.scratch.slots[:0]
	var forms []byte // for the key
	for i := range s.forms {
		f := &s.forms[i]
		site := layout.SiteSlot(&declared[f.function], f.lengths)
		for k, kind := range f.layout(declared) {
			at := p.Offset()
			c := p.column(s.ranks, kind)
			if p.Err() == nil && k == site && !f.setPlace(&c, s.ranks) {
				p.Corrupt(at, "site", "not of the same place in all ranks of a shape")
			}
			if p.Err() != nil {
				return nil, digest{}, p.Err()
			}
			if s.ranks.len() == 1 {
				values = append(values, c.last.first)
			} else {
				s.columns = append(s.columns, c)
			}
		}
		forms = f.appendKey(forms, p.a.digests)
	}
	if p.a.scratch.slots = values; s.ranks.len() == 1 {
		s.setValues(values)
	}
	return p.grammar(s, forms)
}

// grammar reads the grammar of s, the rest of the input.
func (p *shapeParser) grammar(s *shape, forms []byte) (*shape, digest, error) {
	at := p.Offset()
	enc := p.Bytes("grammar", p.Rest())
	if p.Err() != nil {
		return nil, digest{}, p.Err()
	}
	g, err := sequitur.Parse(enc, sequitur.Options{Plain: true})
	if err != nil {
		return nil, digest{}, layout.AtOffset(err, at)
	}
	order := g.FirstUse()
	if len(order) != len(s.forms) || len(order) == 0 {
		p.Corrupt(at, "grammar", "%d terminals of %d signatures", len(order), len(s.forms))
	}
	for i, t := range order {
		if int(t) != i {
			p.Corrupt(at, "grammar", "terminal %d comes before %d", t, i)
		}
	}
	if s.grammar = g; p.Err() == nil {
		if err := s.checkStreams(p.a.functions.Functions()); err != nil {
			p.Corrupt(at, "streams", "%v", err)
		}
	}
	return s, digest(sha256.Sum256(append(slices.Clone(enc), forms...))), p.Err()
}

// streams reads which slots of a signature of f have the numbers of streams.
func (p *shapeParser) streams(f *cst.Function) uint64 {
	at := p.Offset()
	mask := p.Uvarint("streams")
	if slots := len(layout.ScalarKinds(*f)); mask == 0 || mask>>slots != 0 {
		p.Corrupt(at, "streams", "slots %#x of %d", mask, slots)
	}
	return mask
}

// ranks reads the ranks of a shape.
func (p *shapeParser) ranks() spans {
	at := p.Offset()
	set := layout.DecodeRanks(&p.Decoder)
	switch {
	case p.Err() != nil:
		return nil
	case set.Len() == 0 || int(set.At(set.Len()-1)) >= p.a.size:
		p.Corrupt(at, "ranks", "%s in a run of %d", set.Abbreviated(layout.MaxNamed), p.a.size)
		return nil
	}
	if err := checkPartRanks(p.before+set.Len(), p.memory); err != nil {
		p.Fail(at, "ranks", err)
		return nil
	}
	var s spans
	for first, last := range set.Ranges() {
		s = s.add(first, last)
	}
	return s
}

// lengths reads the lengths of the arrays of a value of type t, and adds what
// they are and the slots of the value to f.
func (p *shapeParser) lengths(f *form, t cst.Type) {
	switch t.Kind {
	case cst.KindPointer, cst.KindStatus:
		f.slots += 3
	case cst.KindArray:
		n := p.Count("length", 1)
		f.lengths = append(f.lengths, n)
		for i := 0; i < n && p.Err() == nil; i++ {
			p.lengths(f, *t.Elem)
		}
	default:
		f.slots++
	}
}

// column reads a column of values for ranks.
func (p *shapeParser) column(ranks spans, kind layout.SlotKind) column {
	runs, n := 1, ranks.len()
	if n > 1 {
		runs += p.Count("runs", 2)
	}
	var c column
	position := 0
	var before int64
	for i := 0; i < runs && p.Err() == nil; i++ {
		at := p.Offset()
		length := n - position
		if i+1 < runs {
			length = int(p.UvarintMax("length", uint64(n))) + 1
		}
		if length <= 0 || length > n-position {
			p.Corrupt(at, "length", "%d of %d ranks", length, n-position)
			break
		}
		r := run{position: int32(position), rank: int32(ranks.at(position))}
		r.first = before + p.Varint("value")
		if length > 1 {
			r.step = p.Varint("step")
		}
		p.checkRun(at, &c, r, ranks.at(position+length-1))
		if i == 0 {
			c.last = r
		} else {
			c.add(r)
		}
		before, position = r.first, position+length
	}
	switch kind &^ layout.Element {
	case layout.Text:
		p.checkValues("text", &c, ranks, 0, int64(len(p.a.texts.list))-1)
	case layout.GroupRank:
		p.checkValues("group rank", &c, ranks, -1, layout.MaxRanks)
	case layout.GroupSize:
		p.checkValues("group size", &c, ranks, -1, layout.MaxRanks)
	}
	return c
}

// checkRun checks that r, whose last rank is given, does not overflow and does
// not continue the last run of c.
func (p *shapeParser) checkRun(at int, c *column, r run, last int) {
	if !r.reaches(last) {
		p.Corrupt(at, "value", "%d steps of %d overflow", last-int(r.rank), r.step)
	}
	if r.position > 0 && p.Err() == nil {
		d := column{last: c.last}
		if d.push(int(r.position), int(r.rank), r.first); d.single() {
			p.Corrupt(at, "value", "continues the run before it")
		}
	}
}

// checkValues checks that the values of a column are from least to most. Those of a run
// are if its ends are, as it does not overflow.
func (p *shapeParser) checkValues(field string, c *column, ranks spans, least, most int64) {
	if p.Err() != nil {
		return
	}
	for r, end := range c.runs(ranks.len()) {
		last := r.at(ranks.at(end - 1))
		if min(r.first, last) < least || max(r.first, last) > most {
			p.Corrupt(p.Offset(), "value", "%s %d or %d, not from %d to %d", field, r.first, last, least, most)
			return
		}
	}
}

// ReadPartRanks returns the number of ranks of the run that a part file is of, as
// far as the file says that, and the ranks of which it has calls. It checks the
// sections of the shapes for damage, but does not parse the calls in them. An
// error about the file is a [*format.SectionError].
func ReadPartRanks(file *format.Reader) (size int, ranks rankenc.Set, err error) {
	mustFile(file)
	p := partReader{file: file}
	if err := p.readHead(); err != nil {
		return 0, rankenc.Set{}, err
	}
	var list []spans
	n := 0
	for i := range p.shapes {
		err := layout.ReadSection(file, layout.KindShape, uint64(i), func(data []byte) error {
			d := shapeParser{Decoder: wire.NewDecoder("merge", data), a: &p.a, before: n, memory: file.Memory()}
			s := d.ranks()
			n += s.len()
			list = append(list, s)
			return d.Err()
		})
		if err != nil {
			return 0, rankenc.Set{}, err
		}
	}
	all, twice := unionOf(list)
	if twice >= 0 {
		return 0, rankenc.Set{}, layout.Damaged(layout.KindPart, 0, layout.Corrupt("rank %d is of two shapes", twice))
	}
	return max(p.a.size, all.last()+1), all.set(), nil
}
