package trace

import (
	"slices"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/wire"
)

func appendUvarint(dst []byte, v uint64) []byte { return wire.AppendUvarint(dst, v) }

// typeGen draws types of all kinds, arrays of at most two levels.
var typeGen = rapid.Custom(func(t *rapid.T) cst.Type {
	kind := cst.Kind(rapid.IntRange(int(cst.KindInt), int(cst.KindStatus)).Draw(t, "kind"))
	typ := cst.Type{Kind: kind}
	if kind == cst.KindHandle {
		typ = cst.HandleOf(rapid.SampledFrom([]string{"comm", "request", ""}).Draw(t, "class"))
	}
	for range max(0, rapid.IntRange(-3, 2).Draw(t, "arrays")) {
		typ = cst.ArrayOf(typ)
	}
	return typ
})

// functionGen draws functions, of which some have one name.
var functionGen = rapid.Custom(func(t *rapid.T) cst.Function {
	f := cst.Function{Name: rapid.SampledFrom([]string{"send", "recv", "open", ""}).Draw(t, "name")}
	for range rapid.IntRange(0, 4).Draw(t, "params") {
		f.Params = append(f.Params, cst.Param{
			Name:      rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "param"),
			Type:      typeGen.Draw(t, "type"),
			Direction: rapid.SampledFrom([]cst.Direction{cst.In, cst.Out, cst.InOut}).Draw(t, "direction"),
		})
	}
	return f
})

// drawValue draws a value of a type.
func drawValue(t *rapid.T, typ cst.Type) cst.Value {
	number := func(label string) int64 {
		return rapid.OneOf(rapid.Int64Range(-2, 9), rapid.Int64()).Draw(t, label)
	}
	switch typ.Kind {
	case cst.KindFloat:
		return cst.Float(rapid.Float64().Draw(t, "float"))
	case cst.KindString:
		return cst.String(rapid.String().Draw(t, "string"))
	case cst.KindBytes:
		return cst.Bytes(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	case cst.KindRank:
		return cst.Rank(number("rank"))
	case cst.KindTag:
		return cst.Tag(number("tag"))
	case cst.KindHandle:
		return cst.Handle(number("handle"))
	case cst.KindPointer:
		return cst.PointerTo(cst.Pointer{Segment: number("segment"), Displacement: number("displacement"),
			Device: number("device")})
	case cst.KindStatus:
		return cst.StatusOf(cst.Status{Source: number("source"), Tag: number("tag"), Error: number("error")})
	case cst.KindArray:
		var elems []cst.Value
		for range rapid.IntRange(0, 3).Draw(t, "elems") {
			elems = append(elems, drawValue(t, *typ.Elem))
		}
		return cst.Array(elems...)
	}
	return cst.Int(number("int"))
}

// A program appends what a rank calls to events.
type program func(rank int, events []event) []event

// drawCall draws a call. Arguments that are ranks depend on the caller.
func drawCall(t *rapid.T, functions []cst.Function) program {
	f := rapid.SampledFrom(functions).Draw(t, "function")
	var args []cst.Value
	for _, p := range f.Params {
		args = append(args, drawValue(t, p.Type))
	}
	factor := rapid.Int64Range(0, 2).Draw(t, "factor")
	return func(rank int, events []event) []event {
		own := slices.Clone(args)
		for i, v := range own {
			if v.Kind() == cst.KindRank {
				own[i] = cst.Rank(v.Int() + factor*int64(rank))
			}
		}
		return append(events, event{f, own})
	}
}

// drawProgram draws a sequence of calls, loops, and branches on the rank, which
// nest as deep as depth says.
func drawProgram(t *rapid.T, functions []cst.Function, depth int) program {
	var steps []program
	for range rapid.IntRange(1, 3).Draw(t, "steps") {
		kind := rapid.IntRange(0, 3).Draw(t, "kind")
		if depth == 0 || kind < 2 {
			steps = append(steps, drawCall(t, functions))
			continue
		}
		body := drawProgram(t, functions, depth-1)
		if kind == 2 {
			steps = append(steps, loop(rapid.IntRange(0, 9).Draw(t, "iterations"), body))
			continue
		}
		modulus := rapid.IntRange(2, 3).Draw(t, "modulus")
		steps = append(steps, branch(modulus, rapid.IntRange(0, modulus-1).Draw(t, "remainder"), body))
	}
	return func(rank int, events []event) []event {
		for _, s := range steps {
			events = s(rank, events)
		}
		return events
	}
}

func loop(n int, body program) program {
	return func(rank int, events []event) []event {
		for range n {
			events = body(rank, events)
		}
		return events
	}
}

func branch(modulus, remainder int, body program) program {
	return func(rank int, events []event) []event {
		if rank%modulus != remainder {
			return events
		}
		return body(rank, events)
	}
}

// modelGen draws runs of one program on some ranks, whose calls stand rank by
// rank, in turn, or in any order.
var modelGen = rapid.Custom(func(t *rapid.T) model {
	functions := rapid.SliceOfN(functionGen, 1, 5).Draw(t, "functions")
	p := drawProgram(t, functions, 2)
	if rapid.Bool().Draw(t, "some silent") {
		p = branch(3, rapid.IntRange(0, 2).Draw(t, "active"), p)
	}
	m := model{ranks: make([][]event, rapid.IntRange(0, 7).Draw(t, "ranks"))}
	for rank := range m.ranks {
		m.ranks[rank] = p(rank, nil)
	}
	if len(m.ranks) == 0 {
		return m
	}
	switch rapid.IntRange(0, 2).Draw(t, "order") {
	case 1:
		return m.roundRobin()
	case 2:
		m.shuffle(rapid.SliceOfN(rapid.IntRange(0, len(m.ranks)-1), 1, 9).Draw(t, "turns"))
	}
	return m
})

// shuffle puts the calls of m in an order that repeats turns until no rank in it
// has calls left, and then those of the others rank by rank.
func (m *model) shuffle(turns []int) {
	left := make([]int, len(m.ranks))
	for rank, events := range m.ranks {
		left[rank] = len(events)
	}
	for progress := true; progress; {
		progress = false
		for _, rank := range turns {
			if left[rank] > 0 {
				left[rank]--
				m.order = append(m.order, rank)
				progress = true
			}
		}
	}
	for rank, n := range left {
		m.order = append(m.order, slices.Repeat([]int{rank}, n)...)
	}
}
