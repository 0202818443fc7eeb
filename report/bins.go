package report

import (
	"context"
	"encoding/binary"
	"math/bits"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/trace"
)

// A binRow is how long the calls of a row take in each of many spans of time of one
// length, its bins: of each class of functions, the time that goes by in calls of it and
// not in others within these, and how many calls begin.
type binRow struct {
	from, to, width int64 // of the first bin, of the end of the last, and of each
	time            []int64
	calls           []uint64
	last            int64 // bin
	covered         cover // whose time has been counted
}

// A cover is the times of calls that were added in the order in which they returned:
// intervals that are apart, ascending.
type cover []interval

// An interval is from start to end.
type interval struct{ start, end int64 }

// maxCovered is how many intervals are kept for calls that contain others: a call that
// contains more is counted as if it did not, where those are that were given up.
const maxCovered = 4096

// add adds a call, and hands on the parts of its time that no other had covered.
func (c *cover) add(start, end int64, part func(start, end int64)) {
	list := *c
	at, n := end, len(list)
	for n > 0 && list[n-1].end > start {
		n--
		part(max(start, list[n].end), at)
		at = min(at, list[n].start)
	}
	part(start, at)
	if n < len(list) {
		start, end = min(start, list[n].start), max(end, list[len(list)-1].end)
	}
	list = append(list[:n], interval{start, end})
	if len(list) > maxCovered {
		list = append(list[:0], list[maxCovered/2:]...)
	}
	*c = list
}

// newBinRow returns so many bins, of times that are near each other.
func newBinRow(from, to int64, bins int) *binRow {
	width := (to-from)/int64(bins) + 1
	return &binRow{from: from, to: to, width: width, time: make([]int64, bins*classes),
		calls: make([]uint64, bins*classes)}
}

// add adds a call of a class. Calls come in the order in which they returned.
func (b *binRow) add(class int, start, end int64) {
	if start >= b.from && start <= b.to {
		b.calls[b.bin(start)*classes+class]++
	}
	b.covered.add(start, end, func(start, end int64) { b.spread(class, start, end) })
}

// bin returns the bin of a time that is not before the first. It is often the last one that
// was asked for.
func (b *binRow) bin(time int64) int {
	if since := time - b.from - b.last*b.width; since < 0 || since >= b.width {
		b.last = (time - b.from) / b.width
	}
	return int(b.last)
}

// spread adds the time from start to end to its bins.
func (b *binRow) spread(class int, start, end int64) {
	start, end = max(start, b.from), min(end, b.to)
	for bin := b.bin(start); start < end && bin*classes < len(b.time); bin++ {
		til := min(end, b.from+min(int64(bin+1)*b.width, b.to-b.from))
		b.time[bin*classes+class] += til - start
		start = til
	}
}

// packed returns the bins as bins.js reads them: deflated varints. Of each bin: which
// classes there are, as bits, and of each of these its time and its calls.
func (b *binRow) packed() []byte {
	var out []byte
	for i := 0; i < len(b.time); i += classes {
		out = b.appendBin(out, i)
	}
	return deflated(out)
}

// appendBin appends a bin, whose numbers are from i on.
func (b *binRow) appendBin(out []byte, i int) []byte {
	there := uint64(0)
	for k := range classes {
		if b.time[i+k] > 0 || b.calls[i+k] > 0 {
			there |= 1 << k
		}
	}
	out = binary.AppendUvarint(out, there)
	for ; there != 0; there &= there - 1 {
		k := bits.TrailingZeros64(there)
		out = binary.AppendUvarint(out, uint64(b.time[i+k]))
		out = binary.AppendUvarint(out, b.calls[i+k])
	}
	return out
}

// binRows returns the bins of the rows of a rank, by thread: of all calls from one time to
// another, in so many bins.
func binRows(ctx context.Context, r *trace.Rank, class func(terminal int) int, from, to int64,
	bins int) (map[int]*binRow, error) {
	rows := make(map[int]*binRow)
	classOf, rowOf := make([]int, r.Terminals()), make([]*binRow, r.Terminals())
	for t := range classOf {
		thread := r.Call(uint32(t)).Thread()
		if rows[thread] == nil {
			rows[thread] = newBinRow(from, to, bins)
		}
		classOf[t], rowOf[t] = class(t), rows[thread]
	}
	n := 0
	for call, err := range callTimes(r) {
		if err != nil {
			return nil, err
		}
		if n++; n%checkEvery == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		rowOf[call.terminal].add(classOf[call.terminal], call.start, wire.AddTimes(call.start, call.duration))
	}
	return rows, nil
}
