package timing

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"sort"
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

// A HistogramsBuilder makes the histograms of the calls of a rank, with a
// HistogramBuilder for each path. The zero HistogramsBuilder is ready for use,
// with the default options. It must not be used by two goroutines at once.
type HistogramsBuilder struct {
	options HistogramOptions
	paths   map[Path]int
	all     []*pathBuilder
	last    *pathBuilder // that of the last call; nil before the first
}

type pathBuilder struct {
	path Path
	HistogramBuilder
	next *pathBuilder // that of the call which came after it the last time
}

// NewHistogramsBuilder returns a builder with such options.
func NewHistogramsBuilder(o HistogramOptions) (*HistogramsBuilder, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return &HistogramsBuilder{options: o}, nil
}

// Append adds the value of the next call of the rank. It takes constant time.
func (b *HistogramsBuilder) Append(terminal uint32, v int64) { b.next(terminal).Add(v) }

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
	i, ok := b.paths[path]
	if !ok {
		if b.paths == nil {
			b.paths = make(map[Path]int)
		}
		i = len(b.all)
		b.paths[path] = i
		b.all = append(b.all, &pathBuilder{path: path, HistogramBuilder: HistogramBuilder{size: b.options.Bins}})
	}
	return b.all[i]
}

// Finish returns the histograms of the calls, which were those of a rank. The
// builder must not be used after that.
func (b *HistogramsBuilder) Finish(rank uint32) *Histograms {
	return b.finish(func(p *HistogramBuilder) *Histogram { return p.Finish(rank) })
}

// Snapshot returns the histograms of the calls so far, as Finish would, and lets
// the builder go on.
func (b *HistogramsBuilder) Snapshot(rank uint32) *Histograms {
	return b.finish(func(p *HistogramBuilder) *Histogram {
		copied := *p
		copied.edges, copied.bins = slices.Clone(p.edges), slices.Clone(p.bins)
		return copied.Finish(rank)
	})
}

// finish returns the histograms of paths that have values.
func (b *HistogramsBuilder) finish(one func(*HistogramBuilder) *Histogram) *Histograms {
	h := &Histograms{paths: b.options.PathSensitive}
	for _, p := range b.all {
		if p.statistics.Count > 0 {
			h.all = append(h.all, pathHistogram{p.path, one(&p.HistogramBuilder)})
		}
	}
	sortPaths(h.all)
	return h
}

// Histograms are those of all signatures: by terminal, or by path. The zero
// Histograms are none. They merge as each [Histogram] does.
type Histograms struct {
	all   []pathHistogram // by path
	paths bool            // whether they are path-sensitive, if there are any
}

type pathHistogram struct {
	path      Path
	histogram *Histogram
}

func sortPaths(all []pathHistogram) {
	slices.SortFunc(all, func(p, q pathHistogram) int { return comparePaths(p.path, q.path) })
}

// Len returns the number of histograms.
func (h *Histograms) Len() int { return len(h.all) }

// PathSensitive reports whether the histograms were asked for by path, see
// [HistogramOptions]; false if there are none.
func (h *Histograms) PathSensitive() bool { return h.paths && len(h.all) > 0 }

// All returns an iterator over paths and histograms, by terminal and then by the
// previous one.
func (h *Histograms) All() iter.Seq2[Path, *Histogram] {
	return func(yield func(Path, *Histogram) bool) {
		for _, p := range h.all {
			if !yield(p.path, p.histogram) {
				return
			}
		}
	}
}

// Find returns the histogram of a path, or nil for none.
func (h *Histograms) Find(path Path) *Histogram {
	i, ok := sort.Find(len(h.all), func(i int) int { return comparePaths(path, h.all[i].path) })
	if !ok {
		return nil
	}
	return h.all[i].histogram
}

// errPaths is the error of merging histograms of which some are path-sensitive and
// some are not.
var errPaths = errors.New("timing: histograms by path and by terminal alone")

// Merge adds the histograms of o, which does not change. Both must be
// path-sensitive, or both not, unless there are none; otherwise the error is
// [errPaths], and h does not change.
func (h *Histograms) Merge(o *Histograms) error {
	n := len(h.all)
	switch {
	case len(o.all) == 0:
		return nil
	case n == 0:
		h.paths = o.paths
	case h.paths != o.paths:
		return errPaths
	}
	for _, p := range o.all {
		i, ok := sort.Find(n, func(i int) int { return comparePaths(p.path, h.all[i].path) })
		if !ok {
			i = len(h.all)
			h.all = append(h.all, pathHistogram{p.path, new(Histogram)})
		}
		h.all[i].histogram.Merge(p.histogram)
	}
	sortPaths(h.all)
	return nil
}

// Rename returns the histograms with other terminals, where those that get the
// same path are merged.
func (h *Histograms) Rename(terminal func(uint32) uint32) *Histograms {
	all := slices.Clone(h.all)
	for i := range all {
		p := &all[i].path
		p.Terminal = terminal(p.Terminal)
		if p.Previous != NoPrevious {
			p.Previous = int64(terminal(uint32(p.Previous)))
		}
	}
	sortPaths(all)
	renamed := &Histograms{paths: h.paths}
	for i, p := range all {
		if i == 0 || p.path != all[i-1].path {
			renamed.all = append(renamed.all, pathHistogram{p.path, new(Histogram)})
		}
		renamed.all[len(renamed.all)-1].histogram.Merge(p.histogram)
	}
	return renamed
}

// Reduce returns the histograms with at most so many bins each, as
// [Histogram.Reduce] does.
func (h *Histograms) Reduce(n int) *Histograms {
	reduced := &Histograms{paths: h.paths}
	for _, p := range h.all {
		reduced.all = append(reduced.all, pathHistogram{p.path, p.histogram.Reduce(n)})
	}
	return reduced
}

// Select returns the histograms of the paths for which keep is true. They are
// shared with h, and must not be merged into.
func (h *Histograms) Select(keep func(Path) bool) *Histograms {
	selected := &Histograms{paths: h.paths}
	for _, p := range h.all {
		if keep(p.path) {
			selected.all = append(selected.all, p)
		}
	}
	return selected
}
