package timing

// A Form says what a series holds of the start of a call.
type Form uint8

const (
	// Gaps is the time since the end of the rank's call before, which may be one of
	// another block. It is negative where calls overlap.
	Gaps Form = iota

	// Intervals is the time since the start of the rank's call before that has
	// the same terminal and is in the same block. Of the first call in a block with a
	// terminal it is the time since the start of the block: the interval from a call
	// of another block is not coded, and has only the bound that starts have.
	Intervals
)

func (f Form) String() string {
	if f == Intervals {
		return "intervals"
	}
	return "gaps"
}

// A clock places calls by their lapses. Those of a chain are placed by the one
// before in it: there is one chain of all calls, or of intervals one for each
// terminal.
type clock[V Value] struct {
	form      Form
	start     V // of the block
	terminals terminalIndex
	places    []V // of each chain: from where the lapse of its next call counts
}

// reset begins a block, the first call of which starts at a time.
func (c *clock[V]) reset(start V) {
	c.start = start
	c.terminals.reset()
	c.places = c.places[:0]
}

// chain returns the number of the chain to which the next call belongs.
func (c *clock[V]) chain(terminal uint32) int {
	if c.form == Gaps {
		return 0
	}
	return c.terminals.number(terminal)
}

// place returns from where the lapse of the next call of a chain counts. A chain
// begins at the start of the block.
func (c *clock[V]) place(chain int) V {
	if chain == len(c.places) {
		c.places = append(c.places, c.start)
	}
	return c.places[chain]
}

// set places a call of a chain.
func (c *clock[V]) set(chain int, start, duration V) {
	if c.form == Gaps {
		start = sum(start, duration)
	}
	c.places[chain] = start
}

// sum returns v+w. NaN has the same bits on every machine.
func sum[V Value](v, w V) V { return canonical(v + w) }

// difference returns v−w. NaN has the same bits on every machine.
func difference[V Value](v, w V) V { return canonical(v - w) }

func canonical[V Value](v V) V {
	if v != v {
		return fromBits[V](0x7ff8000000000000)
	}
	return v
}

// step returns v moved by a number of nanoseconds, or of float64 by a number of
// places in the order of all of them.
func step[V Value](v V, amount int64) V {
	if isFloat[V]() {
		return fromBits[V](ordered(ordered(toBits(v)) + uint64(amount)))
	}
	return V(int64(v) + amount)
}

// steps returns the amount for which step(v, amount) is w.
func steps[V Value](v, w V) int64 {
	if isFloat[V]() {
		return int64(ordered(toBits(w)) - ordered(toBits(v)))
	}
	return int64(w) - int64(v)
}

// ordered maps the bits of float64 to numbers in their order, in two's
// complement, with −0 before 0, and back.
func ordered(u uint64) uint64 {
	return u ^ uint64(int64(u)>>63)>>1
}
