package perfetto

import (
	"slices"

	"github.com/reprise-trace/reprise/export/events"
)

// begins keeps back where calls of a thread begin, as long as a later call may contain
// them and begin at the same time: of two packets of one time a reader takes the first in
// the file first, which must be that of the outer call. Other packets may come in any
// order. The zero begins is empty.
type begins struct {
	kept []events.Event // by their beginnings and, where these are equal, outermost first
}

// maxKept is how many calls are kept back, at 40 bytes each. Of a call that contains more,
// and begins when the first of them does, the trace processor exchanges name and arguments
// with those of that one.
const maxKept = 1024

// add takes the next call to return, and calls write with those that no later call can
// begin with.
func (b *begins) add(e events.Event, write func(events.Event)) {
	if e.Start == e.End { // nothing is in it, and what contains it begins before
		write(e)
		return
	}
	n := len(b.kept)
	for n > 0 && b.kept[n-1].Start > e.Start { // e contains them
		n--
	}
	b.flush(n, len(b.kept), write)
	if n == maxKept {
		b.flush(0, maxKept/2, write)
	}
	at := len(b.kept)
	for at > 0 && b.kept[at-1].Start == e.Start {
		at--
	}
	b.kept = slices.Insert(b.kept, at, e)
}

// flush calls write with some of those that were kept, and forgets them.
func (b *begins) flush(from, to int, write func(events.Event)) {
	for _, e := range b.kept[from:to] {
		write(e)
	}
	b.kept = slices.Delete(b.kept, from, to)
}
