package slice

// dispatch returns the object whose table of virtual functions a call takes its function from, empty if it does
// not, and where in the table.
func (i *instruction) dispatch() (object string, slot int64) {
	f := i.block.of
	of := func(v value, op string) *instruction {
		if from, ok := f.values[v.local].(*instruction); ok && from.op == op {
			return from
		}
		return nil
	}
	entry := of(i.callee, "load")
	if entry == nil {
		return "", 0
	}
	table := of(entry.operands[0], "load")
	if step := of(entry.operands[0], "getelementptr"); step != nil {
		if len(step.operands) != 2 || !step.operands[1].isNumber {
			return "", 0
		}
		table, slot = of(step.operands[0], "load"), signedProduct(step.operands[1].number, step.element.bytes())
	}
	if table == nil {
		return "", 0
	}
	return table.operands[0].local, slot
}

// ofClass returns those of the objects which a call may be of that have a function in their tables of virtual
// functions.
func (a *memory) ofClass(objects *pointers, slot int64, function *function) *pointers {
	of := &pointers{}
	for p := range a.places(objects) {
		table := a.step(a.load(to(p), 8), at(slot))
		for q := range a.places(a.load(table, 8)) {
			if q.object.function == function {
				of.add(p)
				break
			}
		}
	}
	return of
}
