package timing

// lowTerminals is the number of terminals that are found by index. Terminals
// are dense where a trace numbers its signatures; others are found by hashing.
const lowTerminals = 1 << 16

// A terminalIndex numbers terminals from 0 in the order of first use. The zero
// index is empty. What it holds follows from the terminals it was asked for.
type terminalIndex struct {
	low  []int32 // number+1; 0 for none
	high map[uint32]int32
	used []uint32 // the terminals in order
}

// number returns the number of a terminal, which is the next new one if it was
// not used before.
func (x *terminalIndex) number(terminal uint32) int {
	if terminal < uint32(len(x.low)) && x.low[terminal] != 0 {
		return int(x.low[terminal]) - 1
	}
	return x.add(terminal)
}

func (x *terminalIndex) add(terminal uint32) int {
	if terminal < lowTerminals {
		if n := int(terminal) + 1; n > len(x.low) {
			x.low = append(x.low, make([]int32, max(n, min(2*len(x.low), lowTerminals))-len(x.low))...)
		}
		x.used = append(x.used, terminal)
		x.low[terminal] = int32(len(x.used))
		return len(x.used) - 1
	}
	if i, ok := x.high[terminal]; ok {
		return int(i)
	}
	if x.high == nil {
		x.high = make(map[uint32]int32)
	}
	i := len(x.used)
	x.high[terminal] = int32(i)
	x.used = append(x.used, terminal)
	return i
}

// len returns how many terminals were used.
func (x *terminalIndex) len() int { return len(x.used) }

// reset forgets all terminals.
func (x *terminalIndex) reset() {
	for _, t := range x.used {
		if t < lowTerminals {
			x.low[t] = 0
		}
	}
	clear(x.high)
	x.used = x.used[:0]
}
