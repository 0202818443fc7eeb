package timing

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"github.com/reprise-trace/reprise/internal/wire"
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
// [HistogramBuilder] for each path. The zero HistogramsBuilder is ready for use,
// with the default options. It must not be used by two goroutines at once.
type HistogramsBuilder[V Value] struct {
	options HistogramOptions
	paths   map[Path]int
	all     []*pathBuilder[V]
	last    *pathBuilder[V] // that of the last call; nil before the first
}

type pathBuilder[V Value] struct {
	path Path
	HistogramBuilder[V]
	next *pathBuilder[V] // that of the call which came after it the last time
}

// NewHistogramsBuilder returns a builder with such options.
func NewHistogramsBuilder[V Value](o HistogramOptions) (*HistogramsBuilder[V], error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return &HistogramsBuilder[V]{options: o}, nil
}

// Append adds the value of the next call of the rank. It takes constant time.
func (b *HistogramsBuilder[V]) Append(terminal uint32, v V) {
	path := Path{NoPrevious, terminal}
	if b.options.PathSensitive && b.last != nil {
		path.Previous = int64(b.last.path.Terminal)
	}
	var at *pathBuilder[V]
	if b.last != nil {
		at = b.last.next
	}
	if at == nil || at.path != path {
		at = b.find(path)
		if b.last != nil {
			b.last.next = at
		}
	}
	at.Add(v)
	b.last = at
}

// find returns the builder of a path, which may be new.
func (b *HistogramsBuilder[V]) find(path Path) *pathBuilder[V] {
	i, ok := b.paths[path]
	if !ok {
		if b.paths == nil {
			b.paths = make(map[Path]int)
		}
		i = len(b.all)
		b.paths[path] = i
		b.all = append(b.all, &pathBuilder[V]{path: path, HistogramBuilder: HistogramBuilder[V]{size: b.options.Bins}})
	}
	return b.all[i]
}

// Finish returns the histograms of the calls, which were those of a rank. The
// builder must not be used after that.
func (b *HistogramsBuilder[V]) Finish(rank uint32) *Histograms[V] {
	h := new(Histograms[V])
	for _, p := range b.all {
		h.all = append(h.all, pathHistogram[V]{p.path, p.HistogramBuilder.Finish(rank)})
	}
	sortPaths(h.all)
	return h
}

// Snapshot returns the histograms of the calls so far, as Finish would, and lets
// the builder go on.
func (b *HistogramsBuilder[V]) Snapshot(rank uint32) *Histograms[V] {
	h := new(Histograms[V])
	for _, p := range b.all {
		copied := p.HistogramBuilder
		copied.edges, copied.bins = slices.Clone(p.edges), slices.Clone(p.bins)
		h.all = append(h.all, pathHistogram[V]{p.path, copied.Finish(rank)})
	}
	sortPaths(h.all)
	return h
}

// Histograms are those of all signatures: by terminal, or by path. The zero
// Histograms are none. They merge as each [Histogram] does.
type Histograms[V Value] struct {
	all []pathHistogram[V] // by path
}

type pathHistogram[V Value] struct {
	path      Path
	histogram *Histogram[V]
}

func sortPaths[V Value](all []pathHistogram[V]) {
	slices.SortFunc(all, func(p, q pathHistogram[V]) int { return comparePaths(p.path, q.path) })
}

// Len returns the number of histograms.
func (h *Histograms[V]) Len() int { return len(h.all) }

// All returns an iterator over paths and histograms, by terminal and then by the
// previous one.
func (h *Histograms[V]) All() iter.Seq2[Path, *Histogram[V]] {
	return func(yield func(Path, *Histogram[V]) bool) {
		for _, p := range h.all {
			if !yield(p.path, p.histogram) {
				return
			}
		}
	}
}

// Find returns the histogram of a path, or nil for none.
func (h *Histograms[V]) Find(path Path) *Histogram[V] {
	i, ok := sort.Find(len(h.all), func(i int) int { return comparePaths(path, h.all[i].path) })
	if !ok {
		return nil
	}
	return h.all[i].histogram
}

// Merge adds the histograms of o, which does not change. Both must be
// path-sensitive, or both not.
func (h *Histograms[V]) Merge(o *Histograms[V]) {
	n := len(h.all)
	for _, p := range o.all {
		i, ok := sort.Find(n, func(i int) int { return comparePaths(p.path, h.all[i].path) })
		if !ok {
			i = len(h.all)
			h.all = append(h.all, pathHistogram[V]{p.path, new(Histogram[V])})
		}
		h.all[i].histogram.Merge(p.histogram)
	}
	sortPaths(h.all)
}

// Rename returns the histograms with other terminals, where those that get the
// same path are merged.
func (h *Histograms[V]) Rename(terminal func(uint32) uint32) *Histograms[V] {
	all := slices.Clone(h.all)
	for i := range all {
		p := &all[i].path
		p.Terminal = terminal(p.Terminal)
		if p.Previous != NoPrevious {
			p.Previous = int64(terminal(uint32(p.Previous)))
		}
	}
	sortPaths(all)
	renamed := new(Histograms[V])
	for i, p := range all {
		if i == 0 || p.path != all[i-1].path {
			renamed.all = append(renamed.all, pathHistogram[V]{p.path, new(Histogram[V])})
		}
		renamed.all[len(renamed.all)-1].histogram.Merge(p.histogram)
	}
	return renamed
}

// Reduce returns the histograms with at most so many bins each, as
// [Histogram.Reduce] does.
func (h *Histograms[V]) Reduce(n int) *Histograms[V] {
	reduced := new(Histograms[V])
	for _, p := range h.all {
		reduced.all = append(reduced.all, pathHistogram[V]{p.path, p.histogram.Reduce(n)})
	}
	return reduced
}

// AppendBinary appends the encoding of h to dst and returns the extended slice.
// The error is always nil; it is there for [encoding.BinaryAppender].
func (h *Histograms[V]) AppendBinary(dst []byte) ([]byte, error) {
	dst = wire.AppendUvarint(dst, uint64(len(h.all)))
	last := Path{Previous: NoPrevious - 1}
	for _, p := range h.all {
		if p.path.Terminal != last.Terminal {
			last.Previous = NoPrevious - 1
		}
		dst = wire.AppendUvarint(dst, uint64(p.path.Terminal-last.Terminal))
		dst = wire.AppendUvarint(dst, uint64(p.path.Previous-last.Previous-1))
		dst, _ = p.histogram.AppendBinary(dst)
		last = p.path
	}
	return dst, nil
}

// MarshalBinary returns the encoding of h.
func (h *Histograms[V]) MarshalBinary() ([]byte, error) { return h.AppendBinary(nil) }

// ParseHistograms returns the histograms encoded in data. The error is a
// [*ParseError].
func ParseHistograms[V Value](data []byte) (*Histograms[V], error) {
	d := wire.NewDecoder("timing", data)
	h := new(Histograms[V])
	last := Path{Previous: NoPrevious - 1}
	for range d.Count("histograms", 3) {
		if n := d.UvarintMax("terminal", uint64(^last.Terminal)); n > 0 {
			last = Path{NoPrevious - 1, last.Terminal + uint32(n)}
		}
		most := int64(^uint32(0))
		if at := d.Offset(); last.Previous == most {
			d.Corrupt(at, "previous", "nothing is after %d", most)
			break
		}
		last.Previous += int64(d.UvarintMax("previous", uint64(most-last.Previous-1))) + 1
		one := DecodeHistogram[V](&d)
		if one == nil {
			break
		}
		h.all = append(h.all, pathHistogram[V]{last, one})
	}
	d.End("histograms")
	if err := d.Err(); err != nil {
		return nil, err
	}
	return h, nil
}

// Select returns the histograms of the paths for which keep is true. They are
// shared with h, and must not be merged into.
func (h *Histograms[V]) Select(keep func(Path) bool) *Histograms[V] {
	selected := new(Histograms[V])
	for _, p := range h.all {
		if keep(p.path) {
			selected.all = append(selected.all, p)
		}
	}
	return selected
}
