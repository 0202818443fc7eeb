package fact

// An order says what may run before what: it has for each block the blocks that may run after it,
// in the whole program.
type order struct {
	a      *memory
	after  []set // by block: what may run after its end
	inside map[*function]*set
	ends   map[*function]*set // what may run after the function returns
	free   set                // blocks of functions that may run at any time
}

func newOrder(a *memory) *order {
	blocks := 0
	for _, f := range a.m.functions {
		blocks += len(f.blocks)
	}
	o := &order{a: a, inside: map[*function]*set{}, ends: map[*function]*set{}}
	o.after = make([]set, blocks)
	for _, f := range a.reached {
		o.inside[f], o.ends[f] = &set{}, &set{}
		for _, b := range f.blocks {
			o.inside[f].add(b.index)
		}
	}
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
					o.ends[f].add(i.block.index)
					*changed = o.behind(i, o.ends[f]) || *changed
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

// extend adds to what is after a block what follows from its successors.
func (o *order) extend(b *block) (changed bool) {
	after := &o.after[b.index]
	for _, s := range b.succ {
		if !after.has(s.index) {
			after.add(s.index)
			changed = true
		}
		changed = after.addAll(o.after[s.index]) || changed
		for _, i := range s.instructions {
			for _, g := range i.targets {
				changed = after.addAll(*o.inside[g]) || changed
			}
		}
	}
	if len(b.succ) == 0 {
		changed = after.addAll(*o.ends[b.of]) || changed
	}
	return changed
}

// behind adds what may run after an instruction, without the rest of its own block.
func (o *order) behind(i *instruction, to *set) (changed bool) {
	for _, next := range i.block.instructions[i.position+1:] {
		for _, g := range next.targets {
			changed = to.addAll(*o.inside[g]) || changed
		}
	}
	changed = to.addAll(o.after[i.block.index]) || changed
	return changed
}

// precedes reports whether an instruction may run before another one does.
func (o *order) precedes(first, second *instruction) bool {
	b, at := first.block, second.block.index
	if o.free.has(b.index) || o.free.has(at) || o.after[b.index].has(at) {
		return true
	}
	if b == second.block && first.position < second.position {
		return true
	}
	for _, next := range b.instructions[first.position:] { // itself, for what it passes on
		for _, g := range next.targets {
			if o.inside[g].has(at) {
				return true
			}
		}
	}
	return false
}
