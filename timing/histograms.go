package timing

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// A Path is what a histogram of [Histograms] belongs to.
type Path struct {
	// Previous is the terminal of the rank's call before, or NoPrevious for its
	// first call and where histograms are not path-sensitive.
	Previous int64
	Terminal uint32
}

// NoPrevious is the Previous of a [Path] that does not tell one.
const NoPrevious = -1

func comparePaths(p, q Path) int {
	return cmp.Or(cmp.Compare(p.Terminal, q.Terminal), cmp.Compare(p.Previous, q.Previous))
}

// A HistogramsBuilder makes the histograms of the calls of a rank, one of few bins for
// each path, with the algorithm of Ratn, Mueller, de Supinski and Schulz, "Preserving Time
// in Large-Scale Communication Traces", ICS 2008, §3.2. Bins of equal size are made
// from 0 to twice the first value. The outermost ones grow with new
// extremes. From time to time, two neighbours with few values become one, and the
// bin with the most values is split at its mean.
//
// Every value is counted in the bin where it belongs when it is added. What is on
// which side of a split is estimated; see the package documentation for how
// this departs from the paper.
//
// The zero HistogramsBuilder is ready for use, with the default options. It must not be
// used by two goroutines at once.
type HistogramsBuilder struct {
	options HistogramOptions
	paths   map[Path]*pathBuilder
	last    *pathBuilder // that of the last call; nil before the first
}

type pathBuilder struct {
	path Path
	histogramBuilder
	next *pathBuilder // that of the call which came after it the last time
}

// HistogramOptions configures [NewHistogramsBuilder]. The zero HistogramOptions is the
// default configuration.
type HistogramOptions struct {
	// Bins is the number of bins of a series, from 2 to 64. Zero
	// means 8.
	Bins int

	// PathSensitive asks for a histogram for each pair of a terminal and the
	// terminal of the rank's call before, and not for each terminal.
	PathSensitive bool
}

// NewHistogramsBuilder returns a builder with such options.
func NewHistogramsBuilder(o HistogramOptions) (*HistogramsBuilder, error) {
	if o.Bins != 0 && (o.Bins < 2 || o.Bins > maxHistogramBins) {
		return nil, fmt.Errorf("timing: %d bins are not from 2 to %d", o.Bins, maxHistogramBins)
	}
	return &HistogramsBuilder{options: o}, nil
}

// Append adds the value of the next call of the rank. It takes constant time.
func (b *HistogramsBuilder) Append(terminal uint32, v int64) { b.next(terminal).add(v) }

// Skip tells of the next call of the rank, which has no value, as the first has no
// gap before it. The path of the call after it begins with the terminal.
func (b *HistogramsBuilder) Skip(terminal uint32) { b.next(terminal) }

// next returns the builder of the next call.
func (b *HistogramsBuilder) next(terminal uint32) *pathBuilder {
	path := Path{NoPrevious, terminal}
	if b.options.PathSensitive && b.last != nil {
		path.Previous = int64(b.last.path.Terminal)
	}
	var at *pathBuilder
	if b.last != nil {
		at = b.last.next
	}
	if at == nil || at.path != path {
		at = b.find(path)
		if b.last != nil {
			b.last.next = at
		}
	}
	b.last = at
	return at
}

// find returns the builder of a path, which may be new.
func (b *HistogramsBuilder) find(path Path) *pathBuilder {
	if b.paths == nil {
		b.paths = make(map[Path]*pathBuilder)
	}
	p := b.paths[path]
	if p == nil {
		p = &pathBuilder{path: path, histogramBuilder: histogramBuilder{size: b.options.Bins}}
		b.paths[path] = p
	}
	return p
}

// Finish returns the histograms of the calls so far, which were those of a rank. The
// builder may go on.
func (b *HistogramsBuilder) Finish(rank uint32) *Histograms {
	h := newHistograms(b.options.PathSensitive)
	for path, p := range b.paths {
		if p.statistics.Count > 0 {
			h.all[path] = p.histogram(rank)
		}
	}
	return h
}

// Histograms are those of all signatures: by terminal, or by path. The zero
// Histograms are none. They merge as each [Histogram] does.
type Histograms struct {
	all   map[Path]*Histogram
	paths bool // whether they are path-sensitive, if there are any
}

func newHistograms(paths bool) *Histograms { return &Histograms{make(map[Path]*Histogram), paths} }

// Len returns the number of histograms.
func (h *Histograms) Len() int { return len(h.all) }

// PathSensitive reports whether the histograms were asked for by path, see
// [HistogramOptions]; false if there are none.
func (h *Histograms) PathSensitive() bool { return h.paths && len(h.all) > 0 }

// All returns an iterator over paths and histograms, by terminal and then by the
// previous one.
func (h *Histograms) All() iter.Seq2[Path, *Histogram] {
	return func(yield func(Path, *Histogram) bool) {
		for _, path := range slices.SortedFunc(maps.Keys(h.all), comparePaths) {
			if !yield(path, h.all[path]) {
				return
			}
		}
	}
}

// Find returns the histogram of a path, or nil for none.
func (h *Histograms) Find(path Path) *Histogram { return h.all[path] }

// errPaths is the error of merging histograms of which some are path-sensitive and
// some are not.
var errPaths = errors.New("timing: histograms by path and by terminal alone")

// Merge adds the histograms of o, which does not change. Both must be
// path-sensitive, or both not, unless there are none; otherwise there is an
// error, and h does not change.
func (h *Histograms) Merge(o *Histograms) error {
	switch {
	case len(o.all) == 0:
		return nil
	case len(h.all) == 0:
		*h = *newHistograms(o.paths)
	case h.paths != o.paths:
		return errPaths
	}
	for path, one := range o.all {
		h.add(path, one)
	}
	return nil
}

// add adds a histogram to that of a path.
func (h *Histograms) add(path Path, one *Histogram) {
	if h.all[path] == nil {
		h.all[path] = new(Histogram)
	}
	h.all[path].Merge(one)
}

// Rename returns the histograms by other paths, which to says of each: those that get the same path are
// merged, and those of which it returns false are left out.
func (h *Histograms) Rename(to func(Path) (Path, bool)) *Histograms {
	renamed := newHistograms(h.paths)
	for path, one := range h.all {
		if to, ok := to(path); ok {
			renamed.add(to, one)
		}
	}
	return renamed
}

// Take removes the histograms of the paths for which to returns true, and returns them as Rename does. It takes
// time in proportion to all paths, and memory for those that it returns.
func (h *Histograms) Take(to func(Path) (Path, bool)) *Histograms {
	taken := h.Rename(to)
	maps.DeleteFunc(h.all, func(path Path, _ *Histogram) bool {
		_, ok := to(path)
		return ok
	})
	return taken
}

// Reduce returns the histograms with at most so many bins each, as
// [Histogram.Reduce] does.
func (h *Histograms) Reduce(n int) *Histograms {
	reduced := newHistograms(h.paths)
	for path, one := range h.all {
		reduced.all[path] = one.Reduce(n)
	}
	return reduced
}
