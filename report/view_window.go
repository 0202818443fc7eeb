package report

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/waits"
)

// Limits of what a View makes of a part of a timeline.
const (
	maxShownCalls = 4096   // of a row, one by one
	maxDecoded    = 80_000 // of a rank, to show a part of the run; beyond that, sums are
	sumBins       = 32_768 // of a rank
	minSumBins    = 512    // of a row
	maxColumns    = 8192
)

// A viewedWindow describes a row between two times. Times count from the first
// call of the run.
type viewedWindow struct {
	Thread *int  `json:"thread,omitempty"`
	From   int64 `json:"from"`
	To     int64 `json:"to"`

	// Either the calls, in the order in which they returned, with their words by terminal,
	Calls *viewedCalls `json:"calls,omitempty"`

	// or bins: of each, the time in each class, and how many calls begin.
	Width int64    `json:"width,omitempty"`
	Time  []int64  `json:"time,omitempty"`
	Count []uint64 `json:"count,omitempty"`
}

type viewedCalls struct {
	Positions []uint64 `json:"positions"`
	Starts    []int64  `json:"starts"`
	Durations []int64  `json:"durations"`
	Terminals []int    `json:"terminals"` // numbers in those below

	Functions []int    `json:"functions"`
	Texts     []string `json:"texts"`

	Waits *viewedWaits `json:"waits,omitempty"` // nil if they are not known
}

// viewedWaits are those of some calls: by position, numbers in timelineData.Kinds, nanoseconds, and the ranks that
// were waited for.
type viewedWaits struct {
	Positions []uint64  `json:"positions"`
	Kinds     []int     `json:"kinds"`
	Times     []float64 `json:"times"`
	Ranks     []int     `json:"ranks"`
}

// waitsOf returns the waits among calls of a rank at positions, in ascending order; nil if they are not known.
func (v *View) waitsOf(rank int, positions []uint64) *viewedWaits {
	run := v.page.waiting()
	if run == nil || v.page.data.Timeline == nil {
		return nil
	}
	all, out := run.Calls[rank], &viewedWaits{Positions: []uint64{}, Kinds: []int{}, Times: []float64{}, Ranks: []int{}}
	for _, p := range positions {
		i, ok := slices.BinarySearchFunc(all, p, func(c waits.Call, p uint64) int { return cmp.Compare(c.Position, p) })
		if !ok {
			continue
		}
		out.Positions = append(out.Positions, p)
		out.Kinds = append(out.Kinds, slices.Index(v.page.data.Timeline.Kinds, all[i].Kind))
		out.Times, out.Ranks = append(out.Times, float64(all[i].Wait)), append(out.Ranks, all[i].For)
	}
	return out
}

// rank tells of the rows of a rank: its threads, if they are several, its number of calls, and
// its shape.
func (v *View) rank(r *request) (any, error) {
	rank, err := v.open(r)
	if err != nil {
		return nil, err
	}
	shape, _ := v.trace.ShapeOf(rank.number)
	return struct {
		Threads []int  `json:"threads"`
		Calls   uint64 `json:"calls"`
		End     int64  `json:"end"`
		Timed   bool   `json:"timed"`
		Shape   int    `json:"shape"`
	}{append([]int{}, rank.threads...), rank.read.Len(), max(0, rank.end-v.begin),
		rank.clock.Source() == query.Series, shape}, nil
}

// window describes the rows of a rank between two times, in so many columns.
func (v *View) window(r *request) (any, error) {
	rank, err := v.open(r)
	if err != nil {
		return nil, err
	}
	from, to, err := v.span(r)
	if err != nil {
		return nil, err
	}
	columns, err := r.number("columns", 1, maxColumns)
	if err != nil {
		return nil, err
	}
	if err := rank.timed(); err != nil {
		return nil, err
	}
	d, err := rank.decode(r.Context(), from, to)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return rank.coarse(r.Context(), from, to, int(columns))
	}
	return rank.fine(d, from, to, int(columns)), nil
}

// A decoded is all calls that are between two times, and maybe others.
type decoded struct {
	from, to int64
	first    uint64 // position of the first of the calls
	calls    []callTime
}

// ahead is how many calls on both sides of those that are asked for are decoded with them,
// about, as they are likely to be asked for next.
const ahead = 1 << 13

// maxRecent is how many calls of a rank are kept that were decoded last.
const maxRecent = 150_000

// checkEvery is after how many calls it is looked whether who asked still waits.
const checkEvery = 1 << 14

// decode returns the calls between two times, nil if they are too many. It keeps what it has
// decoded, with what is around.
func (r *viewRank) decode(ctx context.Context, from, to int64) (*decoded, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := r.recent; d != nil && d.from <= from && to <= d.to {
		return d, nil
	}
	d := &decoded{from: from, to: to}
	if around := float64(r.end-r.view.begin) / float64(r.read.Len()) * ahead; float64(to-from) < around {
		d.from, d.to = max(from-int64(around), r.view.begin), min(max(to, r.end+1), to+int64(around))
	}
	first, end, err := r.clock.Positions(d.from, d.to)
	if err == nil && end-first > maxDecoded { // calls may be denser here than elsewhere
		d.from, d.to = from, to
		first, end, err = r.clock.Positions(from, to)
	}
	if err != nil || end-first > maxDecoded {
		return nil, err
	}
	d.calls = make([]callTime, 0, end-first)
	walk, position := r.read.Walk(first), first
	run := walk.Next()
	for t, err := range r.read.Times(first) {
		if err != nil {
			return nil, err
		}
		if position == end {
			break
		}
		if position%checkEvery == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for run.Count == 0 {
			run = walk.Next()
		}
		run.Count--
		d.calls = append(d.calls, callTime{run.Symbol, t.Start, max(0, t.Duration)})
		position++
	}
	d.first = first
	if len(d.calls) <= maxRecent {
		if r.recent == nil {
			r.view.keep(r, maxRecent*int(unsafe.Sizeof(callTime{})))
		}
		r.recent = d
	}
	return d, nil
}

// fine returns what there is between two times, of calls that are decoded.
func (r *viewRank) fine(d *decoded, from, to int64, columns int) []viewedWindow {
	rows := make(map[int]*windowRow)
	for _, thread := range r.threads {
		rows[thread] = &windowRow{bins: newBinRow(from, to, columns)}
	}
	for i, c := range d.calls {
		if query.Overlaps(c.start, c.duration, from, to) {
			row := rows[r.threadOf[c.terminal]]
			row.bins.add(r.classOf[c.terminal], c.start, wire.AddTimes(c.start, c.duration))
			row.keep(d.first+uint64(i), c)
		}
	}
	var list []viewedWindow
	for _, thread := range r.threads {
		list = append(list, rows[thread].viewed(r, thread, from, to))
	}
	return list
}

// A windowRow is what is shown of a row: bins of all calls, and the calls if they are few.
type windowRow struct {
	bins      *binRow
	positions []uint64
	calls     []callTime
	many      bool
}

func (w *windowRow) keep(position uint64, c callTime) {
	if w.many = w.many || len(w.calls) == maxShownCalls; !w.many {
		w.positions, w.calls = append(w.positions, position), append(w.calls, c)
	}
}

func (w *windowRow) viewed(r *viewRank, thread int, from, to int64) viewedWindow {
	begin := r.view.begin
	out := viewedWindow{From: from - begin, To: to - begin}
	if len(r.threads) > 1 {
		out.Thread = &thread
	}
	if w.many {
		out.Width, out.Time, out.Count = w.bins.width, w.bins.time, w.bins.calls
		return out
	}
	c := &viewedCalls{Positions: w.positions, Functions: []int{}, Texts: []string{}}
	numbers := make(map[uint32]int)
	for _, call := range w.calls {
		n, ok := numbers[call.terminal]
		if !ok {
			n = len(numbers)
			numbers[call.terminal] = n
			of := r.read.Call(call.terminal)
			c.Functions = append(c.Functions, r.view.page.functionNumber(of.Function.Name))
			c.Texts = append(c.Texts, printable(string(r.view.printer.AppendCall(nil, of))))
		}
		c.Starts, c.Durations, c.Terminals = append(c.Starts, call.start-begin),
			append(c.Durations, call.duration), append(c.Terminals, n)
	}
	c.Waits = r.view.waitsOf(r.number, w.positions)
	out.Calls = c
	return out
}

// coarse returns sums between two times, from those of the whole run.
func (r *viewRank) coarse(ctx context.Context, from, to int64, columns int) ([]viewedWindow, error) {
	all, err := r.allSums(ctx)
	if err != nil {
		return nil, err
	}
	var list []viewedWindow
	for _, thread := range r.threads {
		s, begin := all[thread], r.view.begin
		first, last := s.bin(from), s.bin(to-1)
		of := (last-first)/columns + 1 // of the run's bins in one
		out := viewedWindow{From: s.from + int64(first)*s.width - begin, Width: int64(of) * s.width}
		if len(r.threads) > 1 {
			out.Thread = &thread
		}
		n := (last-first)/of + 1
		last = min(first+n*of, len(s.at)) - 1
		out.To = out.From + int64(n)*out.Width
		out.Time, out.Count = make([]int64, n*classes), make([]uint64, n*classes)
		for bin := first; bin <= last; bin++ {
			s.each(bin, func(class int, time int64, calls uint64) {
				at := (bin-first)/of*classes + class
				out.Time[at] += time
				out.Count[at] += calls
			})
		}
		list = append(list, out)
	}
	return list, nil
}

// allSums returns the sums of the whole run, by thread. The first time, it decodes all calls.
func (r *viewRank) allSums(ctx context.Context) (map[int]*windowSums, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sums != nil {
		return r.sums, nil
	}
	bins := max(minSumBins, sumBins/len(r.threads))
	rows, err := binRows(ctx, r.read, func(t int) int { return r.classOf[t] }, r.view.begin, r.end, bins)
	if err != nil {
		return nil, err
	}
	r.sums = make(map[int]*windowSums)
	size := 0
	for thread, row := range rows {
		r.sums[thread] = row.sums()
		size += len(r.sums[thread].data) + 4*bins
	}
	r.view.keep(r, size)
	return r.sums, nil
}

// WindowSums are the bins of a row in few bytes: of each bin that which binRow.packed writes.
type windowSums struct {
	from, width int64
	at          []uint32 // where each bin begins in data
	data        []byte
}

func (b *binRow) sums() *windowSums {
	s := &windowSums{from: b.from, width: b.width}
	for i := 0; i < len(b.time); i += classes {
		s.at = append(s.at, uint32(len(s.data)))
		s.data = b.appendBin(s.data, i)
	}
	return s
}

// bin returns the bin of a time.
func (s *windowSums) bin(time int64) int { return max(0, min(int((time-s.from)/s.width), len(s.at)-1)) }

// each hands on what there is in a bin.
func (s *windowSums) each(bin int, do func(class int, time int64, calls uint64)) {
	data := s.data[s.at[bin]:]
	next := func() uint64 {
		v, n := binary.Uvarint(data)
		data = data[n:]
		return v
	}
	for there := next(); there != 0; there &= there - 1 {
		time := next()
		do(bits.TrailingZeros64(there), int64(time), next())
	}
}

// usage tells how many calls of each function the rows of a rank make between two times,
// and how much of their time is there; from sums, if the calls are too many, by class.
func (v *View) usage(r *request) (any, error) {
	rank, err := v.open(r)
	if err != nil {
		return nil, err
	}
	from, to, err := v.span(r)
	if err != nil {
		return nil, err
	}
	if err := rank.timed(); err != nil {
		return nil, err
	}
	first, end, err := rank.clock.Positions(from, to)
	if err != nil {
		return nil, err
	}
	type use struct {
		Thread   int    `json:"thread"`
		Function int    `json:"function"`
		Calls    uint64 `json:"calls"`
		Time     int64  `json:"time"`
	}
	out := struct {
		Rough bool  `json:"rough"`
		Uses  []use `json:"uses"`
	}{Rough: end-first > maxUsed, Uses: []use{}}
	type key struct{ thread, function int }
	found := make(map[key]use)
	add := func(thread, function int, calls uint64, time int64) {
		u := found[key{thread, function}]
		found[key{thread, function}] = use{thread, function, u.Calls + calls, u.Time + time}
	}
	if out.Rough {
		err = rank.roughUsage(r.Context(), from, to, add)
	} else {
		err = rank.exactUsage(r.Context(), from, to, first, end, add)
	}
	for _, k := range slices.SortedFunc(maps.Keys(found), func(a, b key) int {
		return cmp.Or(a.thread-b.thread, a.function-b.function)
	}) {
		out.Uses = append(out.Uses, found[k])
	}
	return out, err
}

// maxUsed is how many calls of a rank are added up one by one.
const maxUsed = 2_000_000

func (r *viewRank) roughUsage(ctx context.Context, from, to int64,
	add func(thread, function int, calls uint64, time int64)) error {
	windows, err := r.coarse(ctx, from, to, 1)
	for i, w := range windows {
		for class := range classes {
			function := class
			if class == classes-1 && len(r.view.page.data.Functions) > classes {
				function = len(r.view.page.data.Functions) // all others
			}
			if n := w.Count[class]; n > 0 || w.Time[class] > 0 {
				add(r.threads[i], function, n, w.Time[class])
			}
		}
	}
	return err
}

func (r *viewRank) exactUsage(ctx context.Context, from, to int64, first, end uint64,
	add func(thread, function int, calls uint64, time int64)) error {
	functions := make([]int, r.read.Terminals())
	for t := range functions {
		functions[t] = r.view.page.functionNumber(r.read.Call(uint32(t)).Function.Name)
	}
	walk, position := r.read.Walk(first), first
	run := walk.Next()
	for t, err := range r.read.Times(first) {
		if err != nil || position >= end {
			return err
		}
		if position%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for run.Count == 0 {
			run = walk.Next()
		}
		run.Count--
		position++
		if d := max(0, t.Duration); query.Overlaps(t.Start, d, from, to) {
			add(r.threadOf[run.Symbol], functions[run.Symbol], 1, max(0, min(t.Start+d, to)-max(t.Start, from)))
		}
	}
	return nil
}
