package merge

import (
	"errors"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/condense"
	"github.com/reprise-trace/reprise/internal/layout"
)

// A Keep says what of the calls of a function stays as it is in a trace of a bounded size: place,
// where they are among others, as they decide what later calls mean; handles, their arguments that
// are handles, but requests. With nil, nothing does.
type Keep func(function string) (place, handles bool)

// A Condenser makes what a recorder holds of a rank smaller, again and again, so that it does not grow with a
// run that never repeats; the recorder goes on, and [Join] appends what comes after. The zero Condenser is
// ready for use.
type Condenser struct {
	Keep Keep // what stays as it is

	way int
}

// Condense returns a part with the calls of p that takes less memory: as few of the arguments and
// of the order of calls as possible give way, as in [Accumulator.WriteBounded], so that the symbols
// of its grammar and the bytes of its signatures are together no more than most, and at least as much as
// before. If what never gives way is more than that, it returns that.
//
// The times of every call and histograms are left out, and statistics of times are of all calls of a
// function. CallGroups, which parts of traces have, are not allowed.
func (c *Condenser) Condense(p Part, most int) (Part, error) {
	if p.CallGroups != nil {
		return Part{}, errors.New("merge: a part of a trace is not condensed")
	}
	if p.Held() <= most {
		return p, nil
	}
	whole := p
	whole.Groups = nil // which are given anew when the part is added to others
	var a Accumulator
	if err := a.Add(whole); err != nil || a.shapes == nil {
		return p, err
	}
	plain := a.withoutStreams()
	var condensed Part
	for ; c.way < len(condense.Ways); c.way++ {
		d := condense.Ways[c.way]
		if d.InOrder == 0 && p.Grammar.Len() > maxInOrder {
			continue
		}
		d.Values = valuesWhileRecording
		if condensed = plain.condense(d, c.Keep).onlyPart(); condensed.Held() <= most {
			break
		}
	}
	c.way = min(c.way, len(condense.Ways)-1)
	condensed.Groups = p.Groups
	if p.Times != nil && condensed.Times != nil {
		condensed.Times.Begin, condensed.Times.End = p.Times.Begin, p.Times.End
	}
	return condensed, nil
}

const (
	maxInOrder           = 1 << 22 // calls whose arguments give way one by one
	valuesWhileRecording = 64      // of a distribution, which may become fewer in the end
)

// Held returns the number of symbols of the grammar and of bytes of the signatures.
func (p Part) Held() int {
	if p.Table == nil || p.Grammar == nil {
		return 0
	}
	return p.Grammar.Symbols() + p.Table.Size()
}

// onlyPart returns the part of the only rank of a, which was condensed.
func (a *Accumulator) onlyPart() Part {
	r := a.lone()[0]
	p := Part{Rank: r.rank, Table: new(cst.Table), Grammar: r.shape.grammar, Bounded: a.bounded.what()}
	for _, f := range a.functions.Functions() {
		p.Table.Declare(f)
	}
	var args []cst.Value
	slots := layout.Rebuilder{Slots: r.shape.values, Texts: a.texts.list}
	terminals := make([]uint32, len(r.shape.forms))
	for t, f := range r.shape.forms {
		slots.Lengths, slots.Elements, args = f.lengths, slots.Elements[:0], args[:0]
		for _, param := range p.Table.Functions()[f.function].Params {
			args = append(args, slots.Value(param.Type))
		}
		terminals[t] = p.Table.InternRun(f.function, 0, args...) // t, as no two are the same with their slots
	}
	for i := range a.placed {
		times := a.placed[i].times()
		times = times.Rename(a.placed[i].signatures(r.shape.grammar, terminals))
		p.Times = &Times{Durations: times[0], Gaps: times[1]}
	}
	return p
}
