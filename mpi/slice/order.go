package slice

// An order says what may run before what, in the whole program. It divides blocks into pieces, each of which
// ends with a call of functions of the module or with the block, and has for each piece those that may run
// after it.
type order struct {
	a      *memory
	after  []set // by piece: what may run after its last instruction has begun
	inside map[*function]*set
	ends   map[*function]*set // what may run after the function returns
	free   set                // pieces of functions that may run at any time
}

func newOrder(a *memory) *order {
	o := &order{a: a, inside: map[*function]*set{}, ends: map[*function]*set{}}
	pieces := 0
	for _, f := range a.reached {
		o.inside[f], o.ends[f] = &set{}, &set{}
		for _, b := range f.blocks {
			for _, i := range b.instructions {
				i.piece = pieces
				if len(i.targets) > 0 || i == b.last() {
					o.inside[f].add(pieces)
					pieces++
				}
			}
		}
	}
	o.after = make([]set, pieces)
	o.grow(func(changed *bool) {
		for _, f := range a.reached {
			for _, i := range f.calls {
				for _, g := range i.targets {
					*changed = o.inside[f].addAll(*o.inside[g]) || *changed
				}
			}
		}
	})
	for _, f := range a.reached {
		if f.whole {
			o.free.addAll(*o.inside[f])
		}
	}
	o.grow(func(changed *bool) {
		for _, f := range a.reached {
			for k := len(f.blocks) - 1; k >= 0; k-- {
				*changed = o.extend(f.blocks[k]) || *changed
			}
			for _, i := range f.callers {
				if o.a.seen[i.block.of] {
					*changed = o.extendEnds(o.ends[f], i) || *changed
				}
			}
		}
	})
	return o
}

func (o *order) grow(round func(changed *bool)) {
	for changed := true; changed; {
		changed = false
		round(&changed)
	}
}

// extend adds to what is after the pieces of a block what follows from those behind them.
func (o *order) extend(b *block) (changed bool) {
	last := b.last()
	after := &o.after[last.piece]
	for _, s := range b.succ {
		changed = o.addFrom(after, s.instructions[0].piece) || changed
	}
	if len(b.succ) == 0 {
		changed = after.addAll(*o.ends[b.of]) || changed
	}
	for k := len(b.instructions) - 2; k >= 0; k-- {
		i := b.instructions[k]
		if len(i.targets) == 0 {
			continue
		}
		for _, g := range i.targets {
			changed = o.after[i.piece].addAll(*o.inside[g]) || changed
		}
		changed = o.addFrom(&o.after[i.piece], i.piece+1) || changed
	}
	return changed
}

// addFrom adds a piece and what is after it.
func (o *order) addFrom(to *set, piece int) (changed bool) {
	if !to.has(piece) {
		to.add(piece)
		changed = true
	}
	return to.addAll(o.after[piece]) || changed
}

// extendEnds adds what may run after a call returns.
func (o *order) extendEnds(ends *set, call *instruction) (changed bool) {
	if call.effect != nil { // the C library calls the function, and goes on
		changed = o.addFrom(ends, call.piece)
	}
	return o.addFrom(ends, call.piece+1) || changed
}

// precedes reports whether an instruction may run before another one does.
func (o *order) precedes(first, second *instruction) bool {
	return o.free.has(first.piece) || o.free.has(second.piece) || o.after[first.piece].has(second.piece) ||
		first.piece == second.piece && first.position < second.position
}
