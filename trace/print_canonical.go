package trace

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/requestid"
)

// maxCanonical is how many bytes of the texts of signatures a Printer keeps.
const maxCanonical = 16 << 20

// canonical is what a Printer knows of the signatures of all ranks.
type canonical struct {
	trace *Trace
	pools func() map[int64]requestPool
	texts func() []atomic.Pointer[string] // by signature
	kept  atomic.Int64                    // bytes of these
}

func newCanonical(t *Trace) *canonical {
	return &canonical{
		trace: t,
		pools: sync.OnceValue(t.requestPools),
		texts: sync.OnceValue(func() []atomic.Pointer[string] {
			return make([]atomic.Pointer[string], t.Signatures())
		}),
	}
}

// Canonical returns the one text of a signature, n < t.Signatures(), that is the same
// whichever rank makes the call: what [Printer.Signature] writes of [Trace.Signature],
// with requests called what all ranks call them. A pool of requests that calls of several
// functions make, on different ranks, is as request#7. What cannot be read of a damaged
// trace is {by rank}. Some megabytes of texts are kept, and others made again.
func (p *Printer) Canonical(n int) string {
	need.Index(n, p.canonical.trace.Signatures(), "trace: signature")
	c := p.canonical
	known := &c.texts()[n]
	if text := known.Load(); text != nil {
		return *text
	}
	s := c.trace.Signature(n)
	x := printing{Printer: p, function: s.Function, pools: c.pools}
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		var err error
		if args[i], err = x.overRanks(a); err != nil {
			args[i] = "{by rank}"
		}
	}
	text := x.text(func() { x.list(func(i int) { x.dst = append(x.dst, args[i]...) }) })
	if size := int64(len(text)); c.kept.Add(size) <= maxCanonical {
		known.Store(&text)
	} else {
		c.kept.Add(-size)
	}
	return text
}

// requestPools returns the pools of the requests that calls of any rank make, without
// those that several functions make.
func (t *Trace) requestPools() map[int64]requestPool {
	names := make(map[int64]string)
	several := make(map[int64]bool)
	for n := range t.Signatures() {
		f := &t.Functions()[t.FunctionOf(n)]
		name := makerName(f.Name)
		if name == "" || !slices.ContainsFunc(f.Params, makesRequests) {
			continue
		}
		s := t.Signature(n)
		for i := range s.Args {
			if !makesRequests(f.Params[i]) {
				continue
			}
			for _, id := range s.Args[i].numbers() {
				pool, _ := requestid.Split(id)
				several[pool] = several[pool] || names[pool] != "" && names[pool] != name
				names[pool] = name
			}
		}
	}
	for pool := range names {
		if pool < 0 || several[pool] {
			delete(names, pool)
		}
	}
	return numberPools(names)
}

// numbers returns the numbers that an argument of one number, or of an array of them, has
// on any rank, as far as they are few and can be read.
func (a Argument) numbers() []int64 {
	if a.Type.Kind == cst.KindArray {
		row, _ := a.sameRow()
		return row
	}
	v := a.Values[0]
	var points []point
	switch {
	case v.Form == Constant:
		return []int64{v.Number}
	case v.Form == Stream:
		return a.of.streamValues(a.first)
	case v.Form == Column:
		points, _ = a.of.stored(v.column)
	case !v.InGroup:
		points = a.of.evaluated(v.Expr)
	}
	numbers := make([]int64, len(points))
	for i, p := range points {
		numbers[i] = p.value
	}
	return numbers
}
