// Package pprof writes the calls of a trace as a profile of pprof: how often functions
// are called, and how long that takes, by function and by the places in the program that call
// them or, in a trace without those, by the loops in which they stand.
// go tool pprof shows it, as text, as a graph or, with -http, as a flame graph in the
// browser, and so does what else reads these profiles.
//
// The file docs/exports.md says what is written.
//
// # Cost
//
// The samples come from the grammar of a rank, not from its calls, unless there are times
// of every call to be added up. What a rule of the grammar stands in is followed up to
// 64 different nests of loops; what stands in more counts for the loops that these have in
// common. The profile is in memory before it is written.
//
// # Source
//
// The format is that of github.com/google/pprof, proto/profile.proto, which also writes
// it.
package pprof

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// maxRanks is how many ranks have samples of their own.
const maxRanks = 1024

// Write writes the profile of the calls of a trace that o chooses, compressed by gzip as
// pprof has it. Of estimated times, calls are between two times by [query.Clock.Positions].
func Write(ctx context.Context, w io.Writer, tr *trace.Trace, o export.Options) error {
	need.That(tr != nil && w != nil, "export: no trace, or nothing to write to")
	choice, err := events.Choose(ctx, tr, o)
	if err != nil {
		return err
	}
	b := &builder{Choice: choice, ctx: ctx, printer: tr.Printer(trace.PrintOptions{}),
		sites: query.SitesOf(tr), loops: !query.HasSites(tr), index: make(map[key]int),
		shapes: make(map[int]*rankenc.SetBuilder)}
	b.tree.nodes = []node{{}}
	if b.from, b.to, b.between, err = choice.Between(); err != nil {
		return err
	}
	ranks := 0
	for range choice.Numbers() {
		ranks++
	}
	b.byRank = ranks <= maxRanks
	for rank := range choice.Numbers() {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := b.rank(rank); err != nil {
			return err
		}
		if err := choice.Done(b.calls); err != nil {
			return err
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	p, err := b.profile()
	if err != nil {
		return err
	}
	z := gzip.NewWriter(w)
	if err := p.WriteUncompressed(z); err != nil {
		return err
	}
	return z.Close()
}

// A builder makes a profile.
type builder struct {
	*events.Choice
	ctx     context.Context
	printer *trace.Printer
	sites   query.Sites
	loops   bool // whether loops are frames
	byRank  bool // whether ranks have samples of their own

	from, to int64 // when the calls are that are wanted, by the clock of the trace,
	between  bool  // if not all are

	tree    tree
	samples []sample
	index   map[key]int                 // of samples
	shapes  map[int]*rankenc.SetBuilder // their ranks that are in samples, if not byRank
	calls   uint64

	begin, end int64 // of all clocks, if begun
	begun      bool
}

// A key tells samples apart.
type key struct {
	node           int
	function, call string
	site           string // where the call was made, empty if that is not known
	who            int    // rank or, if not byRank, shape
}

// A sample is calls in a nest of loops.
type sample struct {
	key
	calls, time int64
}

// add adds calls to a sample.
func (b *builder) add(k key, calls, time int64) {
	i, ok := b.index[k]
	if !ok {
		i = len(b.samples)
		b.index[k] = i
		b.samples = append(b.samples, sample{key: k})
	}
	b.samples[i].calls += calls
	b.samples[i].time = wire.AddTimes(b.samples[i].time, time)
}

// A place is where a frame is. Without a file and a line, it is a function by its name.
type place struct {
	function, file string
	line           int64
}

var placed = regexp.MustCompile(`^(.+?):(\d+) (.+)$`)

// placeOf returns the place of a site, such as solver.f90:212 exchange_.
func placeOf(site string) place {
	if m := placed.FindStringSubmatch(site); m != nil {
		if line, err := strconv.ParseInt(m[2], 10, 64); err == nil {
			return place{m[3], m[1], line}
		}
	}
	return place{function: site}
}

// frames are the locations and functions of a profile.
type frames struct {
	*profile.Profile
	locations map[place]*profile.Location
	functions map[place]*profile.Function // without lines
}

// at returns the location of a place.
func (f *frames) at(p place) *profile.Location {
	if l := f.locations[p]; l != nil {
		return l
	}
	of := place{function: p.function, file: p.file}
	if f.functions[of] == nil {
		f.functions[of] = &profile.Function{ID: uint64(len(f.Function) + 1), Name: p.function,
			SystemName: p.function, Filename: p.file}
		f.Function = append(f.Function, f.functions[of])
	}
	l := &profile.Location{ID: uint64(len(f.Location) + 1),
		Line: []profile.Line{{Function: f.functions[of], Line: p.line}}}
	f.Location, f.locations[p] = append(f.Location, l), l
	return l
}

// labels returns the ranks of each shape that are in samples, as text.
func (b *builder) labels() map[int]string {
	labels := make(map[int]string, len(b.shapes))
	for shape, ranks := range b.shapes {
		labels[shape] = ranks.Finish().String()
	}
	return labels
}

// profile returns the profile of the samples.
func (b *builder) profile() (*profile.Profile, error) {
	ranks := b.labels()
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "calls", Unit: "count"}}}
	if b.Times != nil {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: "time", Unit: "nanoseconds"})
		p.DefaultSampleType = "time"
		p.DurationNanos = b.end - b.begin
	}
	f := &frames{p, make(map[place]*profile.Location), make(map[place]*profile.Function)}
	frame := func(name string) *profile.Location { return f.at(place{function: name}) }
	for i := range b.samples {
		s := &b.samples[i]
		out := &profile.Sample{Value: []int64{s.calls}, Location: []*profile.Location{frame(s.function)}}
		if s.site != "" {
			for _, at := range query.Frames(s.site) {
				out.Location = append(out.Location, f.at(placeOf(at)))
			}
		}
		if b.Times != nil {
			out.Value = append(out.Value, s.time)
		}
		for n := s.node; n > 0; n = b.tree.nodes[n].parent {
			out.Location = append(out.Location, frame(b.tree.nodes[n].name))
		}
		if b.byRank { // a label that is the number 0 would be none
			out.Label = map[string][]string{"rank": {strconv.Itoa(s.who)}, "call": {s.call}}
		} else {
			out.Label = map[string][]string{"ranks": {ranks[s.who]}}
		}
		p.Sample = append(p.Sample, out)
	}
	began, err := b.Began()
	if err != nil {
		return nil, err
	}
	if !began.IsZero() {
		p.TimeNanos = began.UnixNano()
	}
	p.Comments = []string{fmt.Sprintf("%d calls", b.calls)}
	facts, err := b.Run()
	for _, fact := range facts {
		p.Comments = append(p.Comments, fact.Name+": "+events.Readable(strings.Join(fact.Values, "; ")))
	}
	return p, err
}
