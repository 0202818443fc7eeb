package otf2

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/compress"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// Source is that of the run of a trace of an archive, as [trace.Trace.Run] has it.
const Source = "OTF2"

// ImportOptions configures [Import]. The zero ImportOptions keeps statistics of times.
type ImportOptions struct {
	Options

	// Times say what is kept of the times of calls.
	Times tracer.Options

	// Memory is how many bytes regions and calls may take. Zero means 512 MiB. Where they take more, Import fails with
	// a [*format.MemoryError].
	Memory int64

	// Progress, unless it is nil, is called after every some thousand events with their number. Import ends with
	// its error.
	Progress func(events uint64) error
}

// An Imported is what [Import] makes of an archive.
type Imported struct {
	Run         merge.Run
	Parts       []merge.Part // of ranks with events, ascending
	Locations   int
	Events      uint64
	Calls       uint64
	Definitions uint64 // and markers
}

// Import reads an archive and returns the run and the parts of its ranks, for [merge.Write]. Process groups of
// locations are ranks, in the order that the group of MPI's locations says, and then of their definitions; locations
// are threads.
//
// A region without another one in it is a call, with the fields of the events in it as arguments. Other regions are
// calls of Enter and Leave, and other events calls by their names, which take no time. If the codec of the times is
// exact, [Export] writes the archive again, and [Compare] compares it: times of events in calls are kept, too.
//
// What it holds grows with the structure of the calls and with what the codec makes of times, not with events.
func Import(ctx context.Context, path string, o ImportOptions) (*Imported, error) {
	defer compress.Hold()()
	r, err := importWith(ctx, path, o, false)
	if errors.Is(err, errScale) {
		r, err = importWith(ctx, path, o, true)
	}
	return r, err
}

func importWith(ctx context.Context, path string, o ImportOptions, plain bool) (*Imported, error) {
	in, err := Open(ctx, path, o.Options)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	g := newImporter(&o)
	defer g.ending.Wait()
	for {
		r, err := in.Read()
		if err == io.EOF {
			return g.finish()
		}
		if err == nil {
			err = g.take(r, plain)
		}
		if large := new(format.MemoryError); errors.As(err, &large) {
			return nil, fmt.Errorf("otf2: %s: %w", path, err)
		}
		if err != nil {
			return nil, err
		}
	}
}

// An importer is the state of Import.
type importer struct {
	options *ImportOptions
	archive *archive
	exact   bool // so that the archive can be written again
	ranks   int  // 0 before the first event

	at     int // in the locations of the archive
	of     *locationRecorder
	parts  [][]*merge.Part // by rank
	kept   []*format.Kept
	ending sync.WaitGroup // goroutines that end locations: not more than one, as each holds a location
	result Imported
	forms  uint64 // of the locations before
}

func newImporter(o *ImportOptions) *importer {
	o.Times.Concurrent = true
	return &importer{options: o, archive: newArchive(), exact: o.Times.Series != nil && o.Times.Bounded == 0 &&
		len(o.Times.DurationsOf) == 0 && o.Times.Series.Guarantee() == timing.Exact}
}

// take takes a record.
func (g *importer) take(r *Record, plain bool) error {
	a := g.archive
	if r.Kind.Class != Event {
		g.result.Definitions++
		a.add(r)
		return nil
	}
	if g.ranks == 0 {
		g.place(plain)
	}
	if g.of == nil || g.of.l.number != r.Location {
		if err := g.begin(r.Location); err != nil {
			return err
		}
	}
	g.result.Events++
	if g.result.Events%(1<<14) == 0 {
		if err := g.checkMemory(); err != nil {
			return err
		}
		if g.options.Progress != nil {
			if err := g.options.Progress(g.result.Events); err != nil {
				return err
			}
		}
	}
	return g.of.event(r)
}

const (
	leastMemory = 512 << 20
	manyForms   = 1 << 12 // of a location that is not held while the next one is read
	formMemory  = 1700    // of a form, up to the end of the trace, with what the garbage collector leaves
	pastMemory  = 700     // the same, of a location that has been read
)

// checkMemory returns an error if the calls so far take more memory than they may.
func (g *importer) checkMemory() error {
	most := uint64(cmp.Or(g.options.Memory, leastMemory))
	held := formMemory*g.of.declared + pastMemory*g.forms + g.of.recorder.Held()
	if held <= most {
		return nil
	}
	return &format.MemoryError{What: "regions so far", N: g.forms + g.of.declared, Need: held, Most: most, Grows: true}
}

func (g *importer) place(plain bool) {
	g.archive.clock.plain = plain
	if g.archive.clock.resolution == 0 {
		g.archive.clock.plain = true
	}
	g.ranks = g.archive.place()
	g.parts = make([][]*merge.Part, g.ranks)
	g.at = -1
}

// begin begins the events of a location.
func (g *importer) begin(number uint64) error {
	if err := g.end(); err != nil {
		return err
	}
	for g.at++; g.at < len(g.archive.locations); g.at++ {
		if l := &g.archive.locations[g.at]; l.number == number {
			recorder, err := tracer.New(g.options.Times)
			g.of = &locationRecorder{archive: g.archive, l: l, recorder: recorder, exact: g.exact,
				forms: make(map[string]*form), first: make(map[string]*region),
				regions: make(map[uint64]*region)}
			return err
		}
	}
	return fmt.Errorf("otf2: location %d is defined twice", number)
}

// end ends the events of a location.
func (g *importer) end() error {
	l := g.of
	if l == nil {
		return nil
	}
	g.of = nil
	if err := l.flush(); err != nil {
		return err
	}
	if err := l.recorder.Err(); err != nil {
		return fmt.Errorf("otf2: location %d: %w", l.l.number, err)
	}
	g.forms += l.declared
	calls, rank := l.recorder.Len(), l.l.rank
	g.result.Calls += calls
	g.result.Locations++
	kept, part := &format.Kept{Name: keyOf(g.at)}, new(merge.Part)
	if g.exact {
		g.kept = append(g.kept, kept)
	}
	if calls > 0 {
		g.parts[rank] = append(g.parts[rank], part)
	}
	large := l.declared > manyForms
	g.ending.Wait()
	g.ending.Go(func() { *part, kept.Data = l.finish(rank, calls) })
	if large {
		g.ending.Wait()
	}
	return nil
}

// finish returns the part of the location, and what is kept of it, nil if it is not exact.
func (l *locationRecorder) finish(rank int, calls uint64) (part merge.Part, kept []byte) {
	if l.exact {
		kept = l.appendKept(nil, calls)
	}
	recorder := l.recorder
	*l = locationRecorder{} // all that the end of the recorder does not need: of many regions, a third of the memory
	return recorder.Finish(rank), kept
}

// finish returns the result.
func (g *importer) finish() (*Imported, error) {
	if g.ranks == 0 {
		g.place(false)
	}
	if err := g.end(); err != nil {
		return nil, err
	}
	g.ending.Wait()
	r := new(Imported) // which does not refer to g
	*r = g.result
	r.Run = merge.Run{Ranks: g.ranks, Source: Source, Origin: format.Origin{Began: g.archive.began,
		Times: g.archive.times()}}
	for _, kept := range g.kept {
		r.Run.Kept = append(r.Run.Kept, *kept)
	}
	r.Run.Kept = append(r.Run.Kept, format.Kept{Name: keptName, Data: g.archive.appendKept(nil)})
	if g.exact {
		r.Run.Kept = append(r.Run.Kept, format.Kept{Name: keptExact})
	}
	used := make(map[handle]bool)
	for rank, threads := range g.parts {
		if len(threads) == 0 {
			continue
		}
		part := *threads[0]
		if len(threads) > 1 {
			all := make([]merge.Part, len(threads))
			for i, p := range threads {
				all[i] = *p
			}
			var err error
			if part, err = merge.Join(rank, nil, all...); err != nil {
				return nil, err
			}
		}
		collectHandles(used, part.Table)
		r.Parts = append(r.Parts, part)
	}
	r.Run.Names = g.archive.names(used)
	return r, nil
}

// A handle is one among arguments.
type handle struct {
	class string
	value int64
}

// collectHandles adds the handles among the arguments of a table.
func collectHandles(used map[handle]bool, t *cst.Table) {
	var add func(p cst.Type, v cst.Value)
	add = func(p cst.Type, v cst.Value) {
		switch p.Kind {
		case cst.KindHandle:
			used[handle{p.Class, v.Int()}] = true
		case cst.KindArray:
			for i := range v.Len() {
				add(*p.Elem, v.Index(i))
			}
		}
	}
	functions := t.Functions()
	for f, args := range t.All() {
		for i, p := range functions[f].Params {
			add(p.Type, args[i])
		}
	}
}

// names returns the names of handles.
func (a *archive) names(used map[handle]bool) []format.Name {
	types := make(map[string]Field)
	for _, k := range theTable().kinds[firstKind:] {
		for _, f := range slices.Concat(k.Fields, k.List) {
			if isHandle(f.Type) {
				types[classOf(f.Type)] = Field{Type: f.Type}
			}
		}
	}
	types[layout.Site.Type.Class] = Field{Type: "StringRef"}
	var list []format.Name
	for h := range used {
		f, ok := types[h.class]
		if !ok {
			continue
		}
		name := a.nameOf(f.Type, fromInt(f, h.value))
		if h.class == layout.Site.Type.Class {
			if text, err := strconv.Unquote(name); err == nil { // it has several lines
				name = text
			}
		}
		if len(name) > 0 && len(name) <= cst.MaxName {
			list = append(list, format.Name{Kind: cst.KindHandle, Class: h.class, Value: h.value, Name: name})
		}
	}
	slices.SortFunc(list, func(x, y format.Name) int {
		return cmp.Or(strings.Compare(x.Class, y.Class), cmp.Compare(x.Value, y.Value))
	})
	return list
}
