package rankenc

import (
	"fmt"
	"sort"

	"github.com/reprise-trace/reprise/internal/wire"
)

// runs are values of which neighbours are often equal.
type runs struct {
	ends   []int // ends[i] is the position after the last one of run i
	values []int64
}

func newRuns(values []int64, limit int) body {
	r := &runs{}
	for i, v := range values {
		if n := len(r.values); n == 0 || r.values[n-1] != v {
			if 2*n >= limit {
				return nil
			}
			r.ends, r.values = append(r.ends, i), append(r.values, v)
		}
		r.ends[len(r.ends)-1] = i + 1
	}
	return r
}

func (r *runs) at(i int, _, _ int64) int64 { return r.values[sort.SearchInts(r.ends, i+1)] }

func (r *runs) text() string { return fmt.Sprintf("%d runs", len(r.ends)) }

func (r *runs) append(dst []byte) []byte {
	dst = append(dst, headRuns)
	dst = wire.AppendUvarint(dst, uint64(len(r.ends)))
	end, value := 0, int64(0)
	for i, v := range r.values {
		dst = wire.AppendVarint(dst, v-value)
		if i < len(r.values)-1 {
			dst = wire.AppendUvarint(dst, uint64(r.ends[i]-end-1))
		}
		end, value = r.ends[i], v
	}
	return dst
}

func decodeRuns(d *wire.Decoder, count int) body {
	at := d.Offset()
	n := d.Count("runs", 1)
	if n > count || n < 1 {
		d.Corrupt(at, "runs", "%d for %d values", n, count)
	}
	if d.Err() != nil {
		return nil
	}
	r := &runs{ends: make([]int, n), values: make([]int64, n)}
	end, value := 0, int64(0)
	for i := range n {
		at := d.Offset()
		change := d.Varint("value")
		if value += change; change == 0 && i > 0 {
			d.Corrupt(at, "value", "two runs of %d", value)
		}
		if i < n-1 {
			end += 1 + int(d.UvarintMax("run", uint64(max(count-end-1-(n-1-i), 0))))
		} else {
			end = count
		}
		if d.Err() != nil {
			return nil
		}
		r.ends[i], r.values[i] = end, value
	}
	return r
}
