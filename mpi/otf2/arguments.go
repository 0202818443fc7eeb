package otf2

import (
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/need"
)

// appendArguments appends the arguments of a call with some events.
func (f *form) appendArguments(args []cst.Value, events []Record) []cst.Value {
	for _, g := range f.groups {
		for i, field := range g.kind.Fields {
			kind := typeOf(field).Kind
			if g.count == 1 {
				args = append(args, numberValue(kind, toInt(field, one(events, g.kind).Values[i])))
				continue
			}
			numbers := make([]int64, 0, g.count)
			for k := range events {
				if events[k].Kind == g.kind {
					numbers = append(numbers, toInt(field, events[k].Values[i]))
				}
			}
			args = append(args, cst.Numbers(kind, numbers))
		}
		for column := range g.kind.List {
			if g.count == 1 {
				args = append(args, columnOf(one(events, g.kind), column))
				continue
			}
			lists := make([]cst.Value, 0, g.count)
			for k := range events {
				if events[k].Kind == g.kind {
					lists = append(lists, columnOf(&events[k], column))
				}
			}
			args = append(args, cst.Array(lists...))
		}
	}
	for k := range events {
		if r := &events[k]; isStatic(r) {
			for i := 1; i < len(r.Values); i += 2 {
				args = append(args, valueOf(asMetric(r.Values[i]), r.Values[i+1]))
			}
		}
	}
	for k := range events {
		for _, a := range events[k].Attributes {
			args = append(args, valueOf(uint64(a.Type), a.Value))
		}
	}
	return args
}

// one returns the only event of a kind whose fields are arguments.
func one(events []Record, kind *Kind) *Record {
	for k := range events {
		if events[k].Kind == kind && !isStatic(&events[k]) {
			return &events[k]
		}
	}
	need.That(false, "otf2: no such event")
	return nil
}

// columnOf returns a column of the list of an event.
func columnOf(r *Record, column int) cst.Value {
	width := len(r.Kind.List)
	field := r.Kind.List[column]
	numbers := make([]int64, 0, (len(r.Values)-len(r.Kind.Fields))/width)
	for i := len(r.Kind.Fields) + column; i < len(r.Values); i += width {
		numbers = append(numbers, toInt(field, r.Values[i]))
	}
	return cst.Numbers(typeOf(field).Kind, numbers)
}

// parseArguments is the inverse of appendArguments, of arguments after those of threads and regions: it returns the
// events, whose locations and times are not set. It reports false if the arguments are not those of the form.
func (f *form) parseArguments(events []Record, args []cst.Value) ([]Record, bool) {
	if !f.fits(args) {
		return nil, false
	}
	events = events[:0]
	for _, e := range f.events {
		for range e.count {
			events = append(events, Record{Kind: e.kind})
			r := &events[len(events)-1]
			r.Values = make([]uint64, len(e.kind.Fields))
			if e.static != nil {
				r.Values = e.static[:1:1]
			}
		}
	}
	take := func() (v cst.Value) {
		if len(args) > 0 {
			v, args = args[0], args[1:]
		}
		return v
	}
	for _, g := range f.groups {
		width := len(g.kind.Fields) + len(g.kind.List)
		if len(args) < width || !g.parse(events, f.single, args[:width]) {
			return nil, false
		}
		args = args[width:]
	}
	k := 0
	for _, e := range f.events {
		for i := 1; i < len(e.static); i++ {
			v := take()
			kind := asMetric(e.static[i])
			if v.Kind() != typeOfValue(kind).Kind {
				return nil, false
			}
			events[k].Values = append(events[k].Values, e.static[i], bitsOf(kind, v))
		}
		k += e.count
	}
	k = 0
	for _, e := range f.events {
		for _, a := range e.attributes {
			v := take()
			if v.Kind() != typeOfValue(uint64(a.kind)).Kind {
				return nil, false
			}
			events[k].Attributes = append(events[k].Attributes, Attribute{a.id, a.kind, bitsOf(uint64(a.kind), v)})
		}
		k += e.count
	}
	return events, len(args) == 0
}

// fits reports whether arguments have as many values as the form has events, so that these may be allocated.
func (f *form) fits(args []cst.Value) bool {
	for _, g := range f.groups {
		width := len(g.kind.Fields) + len(g.kind.List)
		if len(args) < width {
			return false
		}
		if width > 0 && g.count > 1 && (args[0].Kind() != cst.KindArray || args[0].Len() != g.count) {
			return false
		}
		args = args[width:]
	}
	return true
}

// parse sets the values of the events of a group.
func (g *alike) parse(events []Record, single []bool, args []cst.Value) bool {
	fields := len(g.kind.Fields)
	at := 0
	for k := range events {
		r := &events[k]
		if r.Kind != g.kind || single[k] {
			continue
		}
		for i, field := range g.kind.Fields {
			v := args[i]
			if g.count > 1 {
				if v.Kind() != cst.KindArray || v.Len() != g.count {
					return false
				}
				v = v.Index(at)
			}
			if v.Kind() != typeOf(field).Kind {
				return false
			}
			r.Values[i] = fromInt(field, v.Int())
		}
		if !g.parseList(r, args[fields:], at) {
			return false
		}
		at++
	}
	return at == g.count
}

// parseList sets the list of the at-th event of a group.
func (g *alike) parseList(r *Record, args []cst.Value, at int) bool {
	rows := -1
	for column, field := range g.kind.List {
		v := args[column]
		if g.count > 1 {
			if v.Kind() != cst.KindArray || v.Len() != g.count {
				return false
			}
			v = v.Index(at)
		}
		if v.Kind() != cst.KindArray || rows >= 0 && v.Len() != rows {
			return false
		}
		if rows < 0 {
			rows = v.Len()
			r.Values = append(r.Values, make([]uint64, rows*len(g.kind.List))...)
		}
		for i := range rows {
			if v.Index(i).Kind() != typeOf(field).Kind {
				return false
			}
			r.Values[len(g.kind.Fields)+i*len(g.kind.List)+column] = fromInt(field, v.Index(i).Int())
		}
	}
	return true
}
