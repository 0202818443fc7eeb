package bench

import (
	"math"
	"math/bits"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/trace"
)

// A pollModel is a plain adaptive model of how often programs poll in vain before another call: whether they
// do is predicted by that call and the one before, and how often also by the function that polls. It predicts
// the number of bits of the count, then the two bits after the first; the others are even.
type pollModel struct {
	seen map[pollContext][2]float64
	bits float64
}

// A pollContext is where a bit stands.
type pollContext struct {
	before, next, asks string
	size, node         uint64
}

// code adds what a bit takes.
func (m *pollModel) code(c pollContext, bit bool) {
	const unseen = 0.4 // of each kind, before any was
	n := m.seen[c]
	i := 0
	if bit {
		i = 1
	}
	m.bits -= math.Log2((n[i] + unseen) / (n[0] + n[1] + 2*unseen))
	n[i]++
	m.seen[c] = n
}

// count adds what a count takes.
func (m *pollModel) count(before, next, asks string, n uint64) {
	c := pollContext{before: before, next: next}
	if m.code(c, n > 0); n == 0 {
		return
	}
	c.asks = asks
	for c.size = 1; ; c.size++ {
		longer := uint64(bits.Len64(n)) > c.size
		if m.code(c, longer); !longer {
			break
		}
	}
	c.node = 1
	for i := bits.Len64(n) - 2; i >= 0; i-- {
		if bits.Len64(n)-2-i >= 2 {
			m.bits++
			continue
		}
		bit := n>>i&1 == 1
		m.code(c, bit)
		c.node = c.node<<1 | n>>i&1
	}
}

// countsOfPolls returns what the numbers of polls in vain take by a plain model, in bytes. Those between two
// other calls alternate between two functions at most, and are counted together.
func countsOfPolls(t *trace.Trace) (float64, error) {
	m := pollModel{seen: make(map[pollContext][2]float64)}
	for _, rank := range t.RankSet().All() {
		r, err := t.Rank(rank)
		if err != nil {
			return 0, err
		}
		before, asks := "", ""
		vain := make(map[string]uint64)
		for c := range r.Calls(0) {
			name := c.Function.Name
			flag, polls := c.Arg("flag")
			if polls && flag.Kind() == cst.KindInt && flag.Int() == 0 {
				if vain[name]++; name != "MPI_Iprobe" {
					asks = name
				}
				continue
			}
			if polls || len(vain) > 0 {
				most := uint64(0)
				for _, n := range vain {
					most = max(most, n)
				}
				m.count(before, name, asks, most)
			}
			before, asks = name, ""
			clear(vain)
		}
	}
	return m.bits / 8, nil
}
