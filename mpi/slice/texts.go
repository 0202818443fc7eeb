package slice

// retext adds what a function of a text does: it may store the address of the characters of any, or of new ones,
// in the texts that its arguments are.
func (a *memory) retext(i *instruction, e *effect) {
	if i.object == nil {
		i.object = a.newObject("memory of "+i.name, 0)
		i.object.made = i
	}
	all := a.characters(i)
	for _, v := range i.operands {
		if e.copies && v.pointed >= 8 {
			a.storeAll(a.pointsOf(i.block.of, v), v.pointed, all)
		}
	}
	if i.isAddress() {
		a.addTo(&i.node, all)
	}
}

// characters returns where the texts and the characters are that a call has to do with.
func (a *memory) characters(i *instruction) *pointers {
	all := a.one(to(i.object.all()))
	for _, v := range i.operands {
		pts := a.pointsOf(i.block.of, v)
		all = a.join(all, pts)
		if v.pointed >= 8 {
			all = a.join(all, a.load(pts, v.pointed))
		}
	}
	return all
}

// accessTexts adds what a function of a text reads and writes: the texts themselves, and the characters of all.
func (a *memory) accessTexts(i *instruction, e *effect, reads, writes *[]access,
	add func(*[]access, *pointers, int64, bool)) {
	texts := &pointers{}
	for _, v := range i.operands {
		pts := a.pointsOf(i.block.of, v)
		if v.pointed == 0 {
			continue
		}
		add(reads, pts, v.pointed, false)
		if e.copies {
			add(writes, pts, v.pointed, false)
		}
		for p := range a.places(pts) {
			texts.add(p.object.all())
		}
	}
	for p := range a.places(a.characters(i)) {
		size := int64(maxSize)
		if texts.whole.has(p.object.number) {
			size = 16 // characters in the text itself
		}
		add(reads, to(p), size, false)
		if e.copies && !p.object.isConstant {
			add(writes, to(p), size, false)
		}
	}
	for _, v := range i.operands {
		if v.pointed == 0 { // characters of others
			add(reads, a.pointsOf(i.block.of, v), maxSize, false)
		}
	}
}
