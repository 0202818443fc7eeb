package loggps

import (
	"math"
	"slices"

	"github.com/reprise-trace/reprise/mpi/replay"
)

// Measured are times of messages between two ranks, from which [Measured.Fit] makes a [Link].
type Measured struct {
	OneWay []OneWay // in the order of sizes, each of which is there once

	// Send is how long the call takes that sends a small message, Receive that which receives one that has
	// come, and Gap how long a send takes among others.
	Send, Receive, Gap replay.Time

	// Alone is how long a message of so many bytes takes until it has come and the answer to it, Together
	// four that are sent at one time.
	Bytes           int64
	Alone, Together replay.Time

	EagerLimit int64 // as in Link
}

// A OneWay is half of the time in which a message of a size goes to a rank that waits for it, and another
// comes back.
type OneWay struct {
	Bytes int64
	Time  replay.Time
}

// minSizes is how many sizes a line goes through, unless no others are on its side of the eager limit:
// through two, one always does.
const minSizes = 3

// What a fit has at most of lines, and by what the sum of the squares of relative errors must fall for one
// more.
const (
	maxLines = 5
	lineCost = 0.01
)

// Fit returns the link whose messages take what was measured, as nearly as straight lines over sizes can
// tell: those with the smallest squares of relative errors, of which none lies on both sides of the eager
// limit. The gap is at most what keeps small messages as fast as they are.
func (m *Measured) Fit() Link {
	l := Link{Overhead: (max(m.Send, 0) + max(m.Receive, 0)) / 2, EagerLimit: m.EagerLimit}
	if len(m.OneWay) == 0 {
		return l
	}
	smallest := m.OneWay[0].Time
	for _, o := range m.OneWay {
		smallest = min(smallest, o.Time)
	}
	l.Overhead = min(l.Overhead, max(smallest, 0)/2)
	lines := m.lines(2 * float64(l.Overhead))
	for i, line := range lines {
		if i == 0 {
			l.Latency, l.Bandwidth = replay.Time(math.Round(line.latency)), bandwidthOf(line.perByte)
			if m.waits(0) { // as all messages do: their round trip is in the latency
				l.Larger = append(l.Larger, Larger{Bandwidth: l.Bandwidth})
			}
			continue
		}
		than := m.OneWay[line.first-1].Bytes
		if m.waits(line.first) != m.waits(line.first-1) {
			than = max(m.EagerLimit, 0)
		}
		step := l.step(line, than)
		if steeper := line.perByte - lines[i-1].perByte; step < 0 && steeper > 0 { // the lines cross between the sizes
			if cross := math.Round(float64(than) - step/steeper); cross <= float64(m.OneWay[line.first].Bytes) {
				than = int64(cross)
				step = l.step(line, than)
			}
		}
		l.Larger = append(l.Larger, Larger{than, replay.Time(max(step, 0)), bandwidthOf(line.perByte)})
	}
	l.Gap = min(max(m.Gap, 0), l.Overhead+l.Latency)
	l.Copied = m.Together-m.Alone > 3*l.bytes(m.Bytes)/2
	return l
}

// step returns how much longer a message of some bytes takes by a line than by a link.
func (l *Link) step(line line, bytes int64) float64 {
	return math.Round(line.latency + line.perByte*float64(bytes) - (float64(l.OneWay(bytes)) - 2*float64(l.Overhead)))
}

// bandwidthOf returns the bandwidth at which a byte takes some picoseconds.
func bandwidthOf(perByte float64) int64 {
	if b := math.Round(float64(replay.Second) / perByte); b < 1<<60 {
		return max(int64(b), 1)
	}
	return 0
}

// waits reports whether messages of a size wait for their receiver.
func (m *Measured) waits(i int) bool { return m.EagerLimit != 0 && m.OneWay[i].Bytes > m.EagerLimit }

// A line is the time of messages of some sizes, from the first on.
type line struct {
	first            int     // position of the size
	latency, perByte float64 // picoseconds
}

// lines returns the lines for which the sum of the squares of relative errors, and a cost for each line, is
// smallest.
func (m *Measured) lines(overheads float64) []line {
	type best struct {
		cost float64
		line line
		used int
	}
	n := len(m.OneWay)
	list := make([]best, n+1) // of the sizes before
	for end := 1; end <= n; end++ {
		list[end].cost = math.Inf(1)
		for first := end - 1; first >= 0 && m.waits(first) == m.waits(end-1); first-- {
			if end-first < minSizes && m.joins(first, end) || list[first].used == maxLines {
				continue
			}
			fit, squares := m.line(first, end, overheads)
			if cost := list[first].cost + squares + lineCost; cost < list[end].cost {
				list[end] = best{cost, fit, list[first].used + 1}
			}
		}
	}
	var lines []line
	for end := n; end > 0; end = list[end].line.first {
		lines = append(lines, list[end].line)
	}
	slices.Reverse(lines)
	return lines
}

// joins reports whether some sizes have neighbours on the same side of the eager limit, so that they need no
// line of their own.
func (m *Measured) joins(first, end int) bool {
	return first > 0 && m.waits(first-1) == m.waits(first) || end < len(m.OneWay) && m.waits(end) == m.waits(first)
}

// line returns the line through some sizes, and the sum of the squares of its relative errors. Its time for a
// byte is not negative, nor its latency if it begins with the smallest messages.
func (m *Measured) line(first, end int, overheads float64) (line, float64) {
	var w, wx, wy, wxx, wxy float64 // sums, weighted
	for _, o := range m.OneWay[first:end] {
		x, y := float64(o.Bytes), float64(o.Time)-overheads
		weight := 1 / math.Pow(math.Max(float64(o.Time), 1), 2)
		w, wx, wy, wxx, wxy = w+weight, wx+weight*x, wy+weight*y, wxx+weight*x*x, wxy+weight*x*y
	}
	var fits []line
	if wxx > 0 {
		fits = append(fits, line{first, 0, math.Max(wxy/wxx, 0)})
	}
	fits = append(fits, line{first, math.Max(wy/w, 0), 0})
	if d := w*wxx - wx*wx; d > 1e-9*w*wxx {
		fits = append(fits, line{first, (wy*wxx - wx*wxy) / d, (w*wxy - wx*wy) / d})
	}
	best, least := fits[0], math.Inf(1)
	for _, fit := range fits {
		squares := 0.0
		for _, o := range m.OneWay[first:end] {
			squares += math.Pow((overheads+fit.latency+fit.perByte*float64(o.Bytes))/math.Max(float64(o.Time), 1)-1, 2)
		}
		if (fit.latency >= 0 || first > 0) && fit.perByte >= 0 && squares < least {
			best, least = fit, squares
		}
	}
	return best, least
}
