package sequitur

import (
	"math/bits"

	"github.com/reprise-trace/reprise/internal/wire"
)

// AppendLoop adds the runs of body, all of them, n times to the end of the
// input: what n·len(body) calls of [Builder.AppendRun] do. While the loop cursor
// follows a grammar that is not changed by it, a loop takes the time of a few
// rounds whatever n is. AppendLoop does not retain body. It panics if a symbol
// exceeds [MaxSymbol] or the input becomes longer than 2⁶³−1 symbols.
func (b *Builder) AppendLoop(body []Run, n uint64) {
	length, single := measure(body)
	if hi, total := bits.Mul64(length, n); hi > 0 || total > maxLen-b.n {
		panic("sequitur: input longer than 2⁶³−1 symbols")
	}
	if n == 0 || length == 0 {
		return
	}
	if single {
		for _, r := range body {
			b.AppendRun(r.Symbol, r.Count*n)
		}
		return
	}
	// The state of the Builder is compared with that after an earlier round, which
	// is 1, 2, 4, … rounds back before a later one takes its place: R. P. Brent,
	// "An improved Monte Carlo factorization algorithm", BIT 20:176–184, 1980.
	var (
		mark         bookmark
		since, until uint64 // rounds since mark was set, and until it is set again
	)
	for ; n > 0; n-- {
		if !b.appendRound(body) {
			mark.set, until = false, 0
			continue
		}
		if since++; mark.set {
			if skipped := b.skip(&mark, since, n-1); skipped > 0 {
				b.n += skipped * length
				n -= skipped
				mark.set, until = false, 0
				continue
			}
		}
		if !mark.set || since == until {
			mark.take(b)
			since, until = 0, max(2*until, 1)
		}
	}
}

// measure returns the number of symbols in body, saturated at the largest
// uint64, and whether they are all one.
func measure(body []Run) (length uint64, single bool) {
	var first Run // of those that are not empty
	single = true
	for _, r := range body {
		if first.Count == 0 {
			first = r
		}
		single = single && (r.Count == 0 || r.Symbol == first.Symbol)
		length = wire.AddSat(length, r.Count)
	}
	return length, single
}

// appendRound adds body once and reports whether the prediction held, so that
// nothing but the cursor and the count of the open run changed.
func (b *Builder) appendRound(body []Run) bool {
	predicted := true
	for _, r := range body {
		if r.Count > 0 {
			predicted = b.append(r.Symbol, r.Count) && predicted
		}
	}
	return predicted
}

// A bookmark is the state of a Builder between rounds whose prediction holds.
type bookmark struct {
	set    bool
	left   uint64
	count  uint64 // of the open run
	credit int64
	cursor []frame
}

func (m *bookmark) take(b *Builder) {
	m.set = true
	m.left, m.count, m.credit = b.left, b.open.count, b.credit
	m.cursor = append(m.cursor[:0], b.cursor...)
}

// skip goes on by as many of the next rounds, at most n, as it can tell the
// outcome of, and returns how many these are. The state was m period rounds ago.
// If since then only one count of repetitions on the cursor's path has grown,
// that of the open run or of a nonterminal in a body, so it will in the next
// period rounds, unless that nonterminal comes to its end.
func (b *Builder) skip(m *bookmark, period, n uint64) uint64 {
	level, growth := b.grownSince(m)
	gain := b.credit - m.credit
	if growth == 0 || gain < 0 {
		return 0
	}
	times := n / period
	if level > 0 {
		f := &b.cursor[level-1]
		times = min(times, (b.count(f.node)-1-f.done)/growth)
		f.done += times * growth
	} else {
		b.open.count += times * growth
	}
	earned := wire.MulSat(uint64(gain), times)
	b.credit = int64(min(wire.AddSat(uint64(b.credit), earned), hugeCredit))
	return times * period
}

// grownSince returns by how much the one count of repetitions that is not what
// it was at m has grown, and whose it is: that of the open run, level 0, or of
// the frame level−1 of the cursor. The growth is 0 if anything else differs.
func (b *Builder) grownSince(m *bookmark) (level int, growth uint64) {
	if b.left != m.left || len(b.cursor) != len(m.cursor) {
		return 0, 0
	}
	growth = b.open.count - m.count
	for i, f := range m.cursor {
		switch g := b.cursor[i]; {
		case g == f:
		case g.node != f.node, growth > 0:
			return 0, 0
		default:
			level, growth = i+1, g.done-f.done
		}
	}
	return level, growth
}
