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

// A clock places calls by their deltas. Those of a chain are placed by the one
// before in it: there is one chain of all calls, or of intervals one for each
// terminal.
type clock struct {
	form      Form
	start     int64 // of the block
	terminals terminalIndex
	places    []int64 // of each chain: from where the delta of its next call counts
}

// reset begins a block, the first call of which starts at a time.
func (c *clock) reset(start int64) {
	c.start = start
	c.terminals.reset()
	c.places = c.places[:0]
}

// chain returns the number of the chain to which the next call belongs.
func (c *clock) chain(terminal uint32) int {
	if c.form == Gaps {
		return 0
	}
	return c.terminals.number(terminal)
}

// place returns from where the delta of the next call of a chain counts. A chain
// begins at the start of the block.
func (c *clock) place(chain int) int64 {
	if chain == len(c.places) {
		c.places = append(c.places, c.start)
	}
	return c.places[chain]
}

// set places a call of a chain.
func (c *clock) set(chain int, start, duration int64) {
	if c.form == Gaps {
		start += duration
	}
	c.places[chain] = start
}
