package merge

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// A signatureWriter encodes the signatures of a trace.
type signatureWriter struct {
	size      int // of the run, in ranks
	functions []cst.Function
	columns   *shapeColumns
	sets      []rankenc.Set

	domains       []*layout.Domain
	domainSets    []rankenc.Set // of the shapes of each domain
	domainNumbers map[string]int
	stored        []storedColumn
	columnNumbers map[string]int64
	shared        sharedColumns
	groups        map[*signature]*storedGroup
	matrices      map[int][]int        // the numbers of those of each domain
	arrays        map[*signature][]int // and of each signature
	encodings     *encodings
	domainKeys    []digest       // of the sets of ranks of each domain
	matrixKeys    map[int]digest // of the last matrix of each domain

	written  []int64 // scratch of appendSlot
	values   [layout.Expression][]int64
	elements []int64 // scratch of rows

	columnValues []int64 // scratch of encodeColumn
	encoded      int64   // values of columns

	names          []format.Name
	lists          layout.HandleLists // which of these signatures have by their places
	streams        *streams           // nil if there are none of varying arguments
	masked         bool               // some slots have the numbers of streams
	streamSections [][]byte
}

// section returns the section of the signatures. It is not complete if ctx is
// done.
func (w *signatureWriter) section(ctx context.Context, signatures []*signature) signatureSection {
	w.masked = w.streams != nil || slices.ContainsFunc(signatures, func(s *signature) bool { return s.streams != 0 })
	numbers := make([]int64, len(signatures))
	groups := make([][]*signature, len(w.functions))
	counts := make([]int, len(w.functions))
	for i, s := range signatures {
		numbers[i] = int64(s.function)
		counts[s.function]++
	}
	for _, s := range signatures {
		if groups[s.function] == nil {
			groups[s.function] = make([]*signature, 0, counts[s.function])
		}
		groups[s.function] = append(groups[s.function], s)
	}
	w.groupSignatures(ctx, signatures)
	w.lists = layout.NewHandleLists(w.names, w.handles(groups))
	var body []byte
	for f, group := range groups {
		if len(group) > 0 {
			body = w.appendGroup(ctx, body, w.functions[f], group)
		}
	}
	varying := uint64(0)
	if w.masked {
		varying = 1
	}
	head := wire.AppendUvarint(nil, uint64(len(signatures))<<1|varying)
	head = w.encodings.appendNumbers(head, numbers)
	head = wire.AppendUvarint(head, uint64(len(w.domains)))
	for _, s := range w.domainSets {
		head, _ = s.AppendBinary(head)
	}
	var tail []byte
	if w.masked {
		tail, w.streamSections = w.streams.append(nil)
	}
	for i := range w.stored {
		if c := &w.stored[i]; !c.long() {
			c.rows = columns.Matrix{}
		}
	}
	return signatureSection{head, append(tail, body...), w.domains, w.stored, w.lists}
}

// handles returns a function that yields the handles of a class that signatures have as
// constants, by function.
func (w *signatureWriter) handles(groups [][]*signature) func(class string, yield func(int64) bool) {
	return func(class string, yield func(int64) bool) {
		for f, group := range groups {
			if len(group) == 0 {
				continue
			}
			places := placesOf(w.functions[f], group)
			for k, p := range w.functions[f].Params {
				if p.Type.Kind != cst.KindHandle || p.Type.Class != class {
					continue
				}
				for i, s := range group {
					slot := places[k].slot(i)
					e, ok := w.expr(s, slot)
					if v, constant := e.Constant(); ok && !e.Grouped && constant &&
						s.streams>>places[k].scalar&1 == 0 && !yield(v) {
						return
					}
				}
			}
		}
	}
}

// appendGroup appends the signatures of one function.
func (w *signatureWriter) appendGroup(ctx context.Context, dst []byte, f cst.Function, group []*signature) []byte {
	if layout.HasArrays(f) {
		var lengths []int64
		for _, s := range group {
			for _, n := range s.lengths {
				lengths = append(lengths, int64(n))
			}
		}
		dst = wire.AppendUvarint(dst, uint64(len(lengths)))
		dst = w.encodings.appendNumbers(dst, lengths)
	}
	if w.masked {
		masks := make([]int64, len(group))
		for i, s := range group {
			masks[i] = int64(s.streams)
		}
		dst = w.encodings.appendNumbers(dst, masks)
	}
	places := w.storeMatrices(ctx, f, group)
	if ctx.Err() != nil {
		return dst
	}
	for k, p := range f.Params {
		if p.Type.Kind == cst.KindArray {
			dst = w.encodings.appendNumbers(dst, places[k].matrices)
			continue
		}
		var list []int64
		if p.Type.Kind == cst.KindHandle {
			list = w.lists[p.Type.Class]
		}
		for offset, kind := range layout.AppendKinds(nil, p.Type, nil) {
			dst = w.appendSlot(ctx, dst, group, &places[k], offset, kind, list)
		}
	}
	return dst
}

// A paramPlace says where the arguments of one parameter are.
type paramPlace struct {
	first    int     // slot in the signatures, if none of them has arrays
	scalar   int     // the first slot, counted without those in arrays
	begins   []int   // first slot in each signature, if there are arrays
	matrices []int64 // numbers of the matrices of array arguments that have slots
}

// slot returns the first slot of the argument in a signature.
func (p *paramPlace) slot(signature int) int {
	if p.begins != nil {
		return p.begins[signature]
	}
	return p.first
}

// placesOf returns where the arguments of each parameter of f are in signatures of it, and where
// the last ones end.
func placesOf(f cst.Function, group []*signature) []paramPlace {
	places := make([]paramPlace, len(f.Params)+1)
	for k, p := range f.Params {
		if places[k+1].scalar = places[k].scalar; p.Type.Kind != cst.KindArray {
			places[k+1].scalar += layout.ScalarSlots(p.Type)
		}
	}
	if !layout.HasArrays(f) {
		for k, p := range f.Params {
			places[k+1].first = places[k].first + layout.ScalarSlots(p.Type)
		}
		return places
	}
	for k := range places {
		places[k].begins = make([]int, len(group))
	}
	for i, s := range group {
		lengths := s.lengths
		for k, p := range f.Params {
			n, _ := layout.CountSlots(places[k].begins[i], p.Type, &lengths)
			places[k+1].begins[i] = n
		}
	}
	return places
}

// storeMatrices stores the arrays of signatures of f, one signature after the
// other, so that those of one call are near each other, and returns where the
// arguments of each parameter are.
func (w *signatureWriter) storeMatrices(ctx context.Context, f cst.Function, group []*signature) []paramPlace {
	places := placesOf(f, group)
	if !layout.HasArrays(f) {
		return places
	}
	for i, s := range group {
		if ctx.Err() != nil {
			break
		}
		for k, p := range f.Params {
			begin, end := places[k].begins[i], places[k+1].begins[i]
			if p.Type.Kind == cst.KindArray && end > begin {
				places[k].matrices = append(places[k].matrices, w.matrix(s, begin, end-begin))
			}
		}
	}
	return places
}

// appendSlot appends what the signatures of one function have in one slot, that
// many slots after the first of a parameter.
func (w *signatureWriter) appendSlot(ctx context.Context, dst []byte, group []*signature, place *paramPlace,
	offset int, kind layout.SlotKind, list []int64) []byte {
	var (
		written = slices.Grow(w.written[:0], len(group))[:len(group)]
		values  = &w.values
		others  []byte
		grouped []byte
		fitting yield
	)
	w.written = written
	for k := range values {
		values[k] = values[k][:0]
	}
	for i, s := range group {
		if ctx.Err() != nil {
			return dst
		}
		slot := place.slot(i) + offset
		e, ok := w.expr(s, slot)
		constant, isConstant := e.Constant()
		shift, isShift := e.Shift()
		switch {
		case !ok:
			written[i] = layout.Column
			values[layout.Column] = append(values[layout.Column], w.column(s, slot, kind, &fitting))
		case e.Grouped:
			written[i] = layout.InGroup
			values[layout.InGroup] = append(values[layout.InGroup], w.groupColumn(s))
			grouped, _ = e.AppendBinary(grouped)
		case isConstant:
			written[i] = layout.Constant
			if list != nil && s.streams>>(place.scalar+offset)&1 == 0 {
				n, _ := slices.BinarySearch(list, constant)
				constant = int64(n)
			}
			values[layout.Constant] = append(values[layout.Constant], constant)
		case isShift:
			written[i] = layout.Shift
			values[layout.Shift] = append(values[layout.Shift], shift)
		default:
			written[i] = layout.Expression
			others, _ = e.AppendBinary(others)
		}
	}
	dst = w.encodings.appendNumbers(dst, written)
	for _, v := range values {
		if len(v) > 0 {
			dst = w.encodings.appendNumbers(dst, v)
		}
	}
	return append(append(dst, grouped...), others...)
}

// expr returns the expression of a slot, and whether it has one.
func (w *signatureWriter) expr(s *signature, slot int) (layout.Formula, bool) {
	e, ok := w.columns.preferred(s, slot)
	return e, ok && (!e.Grouped || w.groups[s].smaller())
}

// column returns the number of the column of a slot, in which expressions may not be worth trying.
func (w *signatureWriter) column(s *signature, slot int, kind layout.SlotKind, y *yield) int64 {
	parts := w.parts(s, slot, kind)
	if n, ok := w.shared.find(parts); ok {
		return n
	}
	o := columns.Options{Ranks: kind == layout.Rank, Plain: !y.tries()}
	d, enc := w.encodeColumn(s, slot, o)
	if !o.Plain {
		y.tell(!columns.IsPlain(enc) && pays(len(enc), w.columnValues))
	}
	key := columnKey(d, enc)
	n, ok := w.columnNumbers[key]
	if !ok {
		w.shared.add(parts, int64(len(w.stored)))
		n = int64(len(w.stored))
		if len(enc) >= minOfSums {
			if sums := w.rowSums(s, d, w.columnValues); sums != nil {
				enc = sums
			}
		}
		w.stored = append(w.stored, storedColumn{domain: d, data: enc, ranks: kind == layout.Rank})
		w.columnNumbers[key] = n
	}
	return n
}

// encodeColumn returns the encoding of the column of a slot, and the number of its domain. The values are in
// columnValues then.
func (w *signatureWriter) encodeColumn(s *signature, slot int, o columns.Options) (domain int, enc []byte) {
	d := w.domain(s)
	w.columnValues = w.appendValues(w.columnValues[:0], s, slot, w.domains[d])
	w.encoded += int64(len(w.columnValues))
	return d, w.encodings.column(w.domains[d].Columns(), w.domainKeys[d], w.columnValues, o)
}

// columnKey returns what tells a column from others.
func columnKey(domain int, enc []byte) string {
	return string(wire.AppendUvarint(enc[:len(enc):len(enc)], uint64(domain)))
}

// domain returns the number of the domain of the ranks of all uses of s.
func (w *signatureWriter) domain(s *signature) int {
	var b rankenc.SetBuilder
	for _, u := range s.uses {
		b.Add(int(u.shape))
	}
	set := b.Finish()
	key, _ := set.AppendBinary(nil)
	n, ok := w.domainNumbers[string(key)]
	if !ok {
		n = len(w.domains)
		w.domainNumbers[string(key)] = n
		sets := make([]rankenc.Set, len(s.uses))
		ranks := wire.AppendUvarint(nil, uint64(w.size))
		for i, u := range s.uses {
			sets[i] = w.sets[u.shape]
			ranks, _ = sets[i].AppendBinary(ranks)
		}
		w.domainKeys = append(w.domainKeys, sha256.Sum256(ranks))
		w.domains = append(w.domains, layout.NewDomain(sets, w.size))
		w.domainSets = append(w.domainSets, set)
	}
	return n
}

// appendValues appends the values of a slot over its domain to dst.
func (w *signatureWriter) appendValues(dst []int64, s *signature, slot int, d *layout.Domain) []int64 {
	dst = slices.Grow(dst, d.Len())[:len(dst)+d.Len()]
	all := dst[len(dst)-d.Len():]
	for k, u := range s.uses {
		if of, at := w.columns.shapes[u.shape], w.columns.begins[u.shape][u.terminal]+slot; len(of.rows) > 0 {
			of.ranks.each(func(position, rank int) {
				all[d.Position(k, position, rank)] = of.rows[position].at(at)
			})
			continue
		}
		v := w.columns.slot(u, slot).values()
		w.columns.shapes[u.shape].ranks.each(func(position, rank int) {
			all[d.Position(k, position, rank)] = v.at(position, rank)
		})
	}
	return dst
}
