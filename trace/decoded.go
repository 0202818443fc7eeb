package trace

import (
	"context"
	"encoding/binary"
	"runtime"
	"sync"

	"github.com/reprise-trace/reprise/internal/parallel"
	"github.com/reprise-trace/reprise/timing"
)

// Questions read the times of the calls several times, and decoding them is what takes longest: 200 to 300 ns a
// call. What was decoded of a block is kept, in some 7 bytes a call, and takes 20 ns to be read again.

// maxReadAhead is of how many ranks times are decoded before they are needed.
const maxReadAhead = 1 << 12

// DecodeTimes decodes the times of all calls, several ranks at once, for who reads those of all ranks in turn: they
// are kept, and not decoded again. It does nothing where there is no room for all, which takes some 8 bytes a call,
// or where there is one rank or one processor. Errors of times are left to those who read them.
func (t *Trace) DecodeTimes(ctx context.Context) error {
	if min(t.Ranks(), runtime.GOMAXPROCS(0)) < 2 || t.Ranks() > maxReadAhead {
		return nil
	}
	calls := uint64(0)
	for rank := range t.Ranks() {
		calls += t.callsOf(rank)
	}
	if calls > uint64(t.caches.times.most)/8 {
		return nil
	}
	return parallel.Each(ctx, 0, t.Ranks(), func(rank int) error {
		t.decodeTimes(ctx, rank)
		return nil
	})
}

// decodeTimes decodes the times of the calls of a rank.
func (t *Trace) decodeTimes(ctx context.Context, rank int) {
	r, err := t.Rank(rank)
	if err != nil || r.series == nil {
		return
	}
	n := 0
	for _, err := range r.Times(0) {
		if n++; err != nil || n%4096 == 0 && ctx.Err() != nil {
			return
		}
	}
}

// A blockOf is a block of the times of a rank.
type blockOf struct{ rank, block int }

// maxDecodedBlocks is how many blocks there are places for at a time.
const maxDecodedBlocks = 1 << 16

// A decodedBlock is the times of the first calls of a block, packed. Each who decodes the block adds what is not
// there, so that it gets whole though one does not go on to the end.
type decodedBlock struct {
	sync.Mutex
	packed []byte
	calls  uint64
	end    int64 // of the last call; sums may overflow, and do so back again
	left   bool  // there is no room for it
}

// decodedOverhead is how many bytes a block takes beside what is packed, in the maps of the cache, too.
const decodedOverhead = 300

// whole returns the packed times of the calls of a block, if those of all are there.
func (b *decodedBlock) whole(calls uint64) ([]byte, bool) {
	if b == nil {
		return nil, false
	}
	b.Lock()
	defer b.Unlock()
	return b.packed, b.calls == calls && calls > 0
}

// add packs the times of the calls from one on, if those before are there and no others, and returns how many
// bytes more the block takes.
func (b *decodedBlock) add(times []timing.Time, from uint64) (more int) {
	b.Lock()
	defer b.Unlock()
	if b.calls != from || b.left {
		return 0
	}
	before := cap(b.packed)
	for _, t := range times {
		gap := t.Start - b.end
		b.packed = binary.AppendVarint(b.packed, gap)
		b.packed = binary.AppendVarint(b.packed, t.Duration)
		b.packed = binary.AppendVarint(b.packed, t.Delta-gap)
		b.end = t.Start + t.Duration
	}
	b.calls += uint64(len(times))
	return cap(b.packed) - before
}

// leave drops what there is no room for.
func (b *decodedBlock) leave() {
	b.Lock()
	defer b.Unlock()
	b.packed, b.calls, b.left = nil, 0, true
}

// A blockUnpacker gives back the times of a block that is there.
type blockUnpacker struct {
	packed []byte // those of the calls that are left
	end    int64  // of the last call
}

// next sets times to the next ones.
func (u *blockUnpacker) next(times []timing.Time) {
	for i := range times {
		gap, duration, delta := u.varint(), u.varint(), u.varint()
		start := u.end + gap
		times[i] = timing.Time{Start: start, Duration: duration, Delta: delta + gap}
		u.end = start + duration
	}
}

func (u *blockUnpacker) varint() int64 {
	v, n := binary.Varint(u.packed)
	u.packed = u.packed[n:]
	return v
}
