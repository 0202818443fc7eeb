package loggps

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/rankenc"
)

// A Link is what messages cost.
type Link struct {
	Latency  replay.Time // L: from the sender to the receiver
	Overhead replay.Time // o: for which a message occupies its sender, and its receiver
	Gap      replay.Time // g: between messages of a sender

	// Bandwidth is 1/G, in bytes per second. Zero means that it is unlimited.
	Bandwidth int64

	// EagerLimit is S: a message of more bytes waits for its receiver. Zero means that none does,
	// and a negative limit that all do.
	EagerLimit int64

	// Larger are what messages cost beyond sizes: of an MPI that passes them on in another way from there on,
	// or where no cache holds them. With any for a message that waits for its receiver, its round trip is not
	// added.
	Larger []Larger

	// Copied has the bytes of messages copied, as in shared memory: by their receiver, which is busy for that
	// time and gets one after the other; half of it by the sender if the message does not wait.
	Copied bool
}

// Larger is what messages of more bytes than some have of more latency, and the bandwidth of their bytes
// beyond.
type Larger struct {
	Than      int64
	Latency   replay.Time
	Bandwidth int64 // zero means that it is unlimited
}

// Parameters are those of a machine. The zero Parameters are a machine on which computing takes as long as it
// did, and nothing else takes time.
type Parameters struct {
	Between, Within Link // nodes

	// RanksPerNode is how many ranks share a node: neighbours, so that the first node has ranks 0,
	// 1 …, or if Cyclic is set those that are equal modulo the number of nodes. Zero means 1.
	RanksPerNode int
	Cyclic       bool

	// Speed is how many floating-point operations a second a rank does, for traces that say how much it
	// computes, not how long: see [replay.Recorded.Speed].
	Speed int64

	// Computing is multiplied by all factors that apply: Compute, those of the ranks, and that of the
	// function of the call that follows the computing, or that is it: a call that does nothing to other
	// ranks.
	Compute    Factor
	OfRanks    []RankFactor
	OfFunction map[string]Factor

	// Collectives are the algorithms of operations by their names, as Allreduce, whatever their size. Others
	// are chosen as MPICH does.
	Collectives map[string]Algorithm

	// Besides is what members of operations, by their names, are busy with besides their messages: with
	// arithmetic, and with copies.
	Besides map[string]Besides
}

// Besides are times of some sizes, the smallest first: of the size by which the algorithm of the operation is
// chosen. The times of sizes between two lie on the line through them, those beyond the largest on the line
// through the last two.
type Besides []OfSize

// An OfSize is what takes a time if its size is some bytes.
type OfSize struct {
	Bytes int64
	Time  replay.Time
}

// of returns the time of a size.
func (b Besides) of(size int64) replay.Time {
	i := sort.Search(len(b), func(i int) bool { return b[i].Bytes >= size })
	switch {
	case len(b) == 0:
		return 0
	case i == 0 || len(b) == 1:
		return b[0].Time
	}
	i = min(i, len(b)-1)
	from, to := b[i-1], b[i]
	rise := to.Time - from.Time
	along := scale(uint64(max(rise, -rise)), uint64(size-from.Bytes), uint64(to.Bytes-from.Bytes))
	if rise < 0 {
		return max(from.Time-along, 0)
	}
	return plus(from.Time, along)
}

// A RankFactor is a factor on the computing of ranks.
type RankFactor struct {
	Ranks  rankenc.Set
	Factor Factor
}

// Default returns the parameters of a cluster as there are many: 1.5 µs and 10 GB/s between nodes, 0.4 µs and
// 5 GB/s within them, one rank on each node, and 10⁹ floating-point operations a second.
func Default() Parameters {
	return Parameters{
		Speed: 1e9,
		Between: Link{Latency: 1500 * replay.Nanosecond, Overhead: 300 * replay.Nanosecond,
			Gap: 300 * replay.Nanosecond, Bandwidth: 10e9, EagerLimit: 16 << 10},
		Within: Link{Latency: 400 * replay.Nanosecond, Overhead: 200 * replay.Nanosecond,
			Gap: 200 * replay.Nanosecond, Bandwidth: 5e9, EagerLimit: 64 << 10},
	}
}

// check returns an error about what is wrong with parameters.
func (p *Parameters) check() error {
	for _, link := range []Link{p.Between, p.Within} {
		if link.Latency < 0 || link.Overhead < 0 || link.Gap < 0 || link.Bandwidth < 0 {
			return fmt.Errorf("loggps: latency, overhead, gap and bandwidth may not be negative: %+v", link)
		}
		for i, l := range link.Larger {
			if l.Latency < 0 || l.Bandwidth < 0 || l.Than < 0 {
				return fmt.Errorf("loggps: size, latency and bandwidth of larger messages may not be negative: %+v", l)
			}
			if i > 0 && l.Than <= link.Larger[i-1].Than {
				return fmt.Errorf("loggps: larger messages than %d bytes stand behind those than %d", l.Than,
					link.Larger[i-1].Than)
			}
		}
	}
	if p.Speed < 0 {
		return fmt.Errorf("loggps: %d floating-point operations a second", p.Speed)
	}
	if p.RanksPerNode < 0 {
		return fmt.Errorf("loggps: %d ranks per node", p.RanksPerNode)
	}
	for _, operation := range slices.Sorted(maps.Keys(p.Besides)) {
		b := p.Besides[operation]
		if _, known := algorithms[operation]; !known || slices.Contains(rootedOperations, operation) {
			return fmt.Errorf(
				"loggps: nothing is known to take time besides the messages of %q: it is of operations in which all members need all, such as allreduce", operation)
		}
		for i, o := range b {
			if o.Bytes < 0 || o.Time < 0 {
				return fmt.Errorf(
					"loggps: sizes and times besides the messages of %s may not be negative: %+v", operation, o)
			}
			if i > 0 && o.Bytes <= b[i-1].Bytes {
				return fmt.Errorf("loggps: besides the messages of %s: %d bytes stand behind %d", operation,
					o.Bytes, b[i-1].Bytes)
			}
		}
	}
	for _, operation := range slices.Sorted(maps.Keys(p.Collectives)) {
		if err := checkAlgorithm(operation, p.Collectives[operation]); err != nil {
			return err
		}
	}
	return nil
}

// cost returns what a message of some bytes costs.
func (l *Link) cost(size int64) replay.Cost {
	size = max(size, 0)
	c := replay.Cost{Send: max(l.Overhead, l.Gap), Receive: l.Overhead}
	bytes := l.bytes(size)
	c.Transfer = l.Latency
	larger := false
	for i := range l.Larger {
		if size > l.Larger[i].Than {
			c.Transfer, larger = plus(c.Transfer, l.Larger[i].Latency), true
		}
	}
	c.Rendezvous = l.EagerLimit != 0 && size > l.EagerLimit
	switch {
	case !l.Copied:
		c.Transfer = plus(c.Transfer, bytes)
	case c.Rendezvous:
		c.Receive = plus(c.Receive, bytes)
	default:
		c.Receive = plus(c.Receive, bytes-bytes/2)
	}
	if c.Rendezvous {
		if !larger {
			c.Transfer = plus(c.Transfer, times(plus(l.Latency, l.Overhead), 2))
		}
		return c
	}
	c.Transfer = max(0, c.Transfer-(c.Send-l.Overhead))
	if l.Copied {
		c.Send = plus(c.Send, bytes/2)
	}
	return c
}

// bytes returns how long some bytes take at the bandwidth.
func (l *Link) bytes(size int64) replay.Time {
	t, from, bandwidth := replay.Time(0), int64(0), l.Bandwidth
	for i := range l.Larger {
		larger := &l.Larger[i]
		if size <= larger.Than {
			break
		}
		t = plus(t, timeOf(larger.Than-from, bandwidth))
		from, bandwidth = larger.Than, larger.Bandwidth
	}
	return plus(t, timeOf(size-from, bandwidth))
}

func timeOf(bytes, bandwidth int64) replay.Time {
	if bandwidth == 0 {
		return 0
	}
	return scale(uint64(bytes), uint64(replay.Second), uint64(bandwidth))
}

// OneWay returns how long a message takes from the call that sends it to the end of the call that receives
// it, which was made before.
func (l *Link) OneWay(bytes int64) replay.Time {
	c := l.cost(bytes)
	return plus(plus(c.Send, c.Transfer), c.Receive)
}

const endOfTime replay.Time = math.MaxInt64

// plus returns a sum of times, at most endOfTime.
func plus(a, b replay.Time) replay.Time {
	if a > endOfTime-b {
		return endOfTime
	}
	return a + b
}

// times returns n times a time, at most endOfTime.
func times(t replay.Time, n int) replay.Time { return scale(uint64(t), uint64(n), 1) }

// scale returns a·b/c, rounded to the nearest, at most endOfTime.
func scale(a, b, c uint64) replay.Time {
	high, low := bits.Mul64(a, b)
	low, carry := bits.Add64(low, c/2, 0)
	if high += carry; high >= c {
		return endOfTime
	}
	quotient, _ := bits.Div64(high, low, c)
	return replay.Time(min(quotient, uint64(endOfTime)))
}

// A Factor multiplies times exactly. The zero Factor is 1.
type Factor struct{ numerator, denominator uint64 }

// ParseFactor returns the factor that a text says, such as 2, 0.5 or 1e-3, with or without an x.
func ParseFactor(text string) (Factor, error) {
	number := strings.TrimSuffix(text, "x")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v >= 0) || v > 1e9 || strings.ContainsAny(number, "xX_pP") {
		return Factor{}, fmt.Errorf("%q is no factor: a number from 0 to 1e9, such as 0.5x", text)
	}
	// The shortest decimal that is the number, and nine digits of it after the point.
	digits := strconv.FormatFloat(v, 'f', 9, 64)
	whole, fraction, _ := strings.Cut(digits, ".")
	n, err := strconv.ParseUint(whole+fraction, 10, 64)
	if err != nil {
		return Factor{}, fmt.Errorf("%q is no factor: %w", text, err)
	}
	return Factor{n, 1e9}, nil
}

// IsOne reports whether the factor is 1.
func (f Factor) IsOne() bool { return f.numerator == f.denominator }

// Of returns the factor of a time.
func (f Factor) Of(t replay.Time) replay.Time {
	if f.IsOne() || t <= 0 {
		return t
	}
	return scale(uint64(t), f.numerator, f.denominator)
}

// String returns the factor as [ParseFactor] reads it, such as 0.5x.
func (f Factor) String() string {
	if f.denominator == 0 {
		return "1x"
	}
	return strconv.FormatFloat(float64(f.numerator)/float64(f.denominator), 'f', -1, 64) + "x"
}
