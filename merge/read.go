package merge

import (
	"bytes"
	"errors"
	"maps"
	"sync"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// A Trace reads a trace file, rank by rank. Its methods may be called from
// several goroutines at once.
type Trace struct {
	file        *format.Reader
	run         Run
	interleaved bool // as the run says
	functions   *cst.Table
	texts       []string
	sets        []rankenc.Set // of the ranks of each shape
	index       rankIndex
	signatures  *signatureTable
	calls       map[sequitur.Symbol]uint64 // of each rank, as the interleaving has them; nil without one

	grammars  func() (*grammars, error)
	summaries func() (summaries, error)
	series    func() (*seriesTable, error)
	columns   columnCache
	sections  sectionCache
	mu        sync.Mutex // of what follows
	shapes    map[int]*Shape
	size      int // of these
	most      int // largest size
}

// A Trace keeps this many shapes in memory once they are read, and no more than
// one, without its template, if their sizes are more than maxSize together.
const (
	maxShapes = 64
	maxSize   = 1 << 21
)

// Open reads what a trace says of the run as a whole. It does not miss sections
// that hold columns or grammars, which reading a rank does, nor an interleaving,
// see [Trace.LostInterleaving]: in a file that was salvaged they may be lost.
//
// Of a part file, Open returns the trace that [Accumulator.Write] would write of
// it, in memory.
func Open(file *format.Reader) (*Trace, error) {
	if IsPart(file) {
		return openPart(file)
	}
	t := &Trace{
		file: file, shapes: make(map[int]*Shape), most: maxSize,
		columns:  columnCache{columns: make(map[int]rankColumn), most: maxColumns},
		sections: sectionCache{last: make(map[format.Kind]content)},
	}
	if err := t.checkSections(); err != nil {
		return nil, err
	}
	if err := t.read(KindRun, 0, t.parseRun); err != nil {
		return nil, err
	}
	if _, ok := file.Lookup(KindTexts, 0); ok {
		err := t.read(KindTexts, 0, func(data []byte) (err error) {
			t.texts, err = parseTexts(data)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	var err error
	if t.run.Names, err = readNames(file); err != nil {
		return nil, err
	}
	err = t.read(KindSignatures, 0, func(data []byte) (err error) {
		t.signatures, err = parseSignatures(data, t.Functions(), t.sets, t.run.Ranks)
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, ok := file.Lookup(KindInterleaving, 0); ok {
		if err := t.read(KindInterleaving, 0, t.parseInterleaving); err != nil {
			return nil, err
		}
	}
	t.grammars = sync.OnceValues(t.readGrammars)
	t.summaries = sync.OnceValues(t.readSummaries)
	t.series = sync.OnceValues(t.readSeriesTable)
	return t, nil
}

func openPart(file *format.Reader) (*Trace, error) {
	a, err := ReadPart(file)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := a.Write(&b); err != nil {
		return nil, err
	}
	if file, err = format.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), format.Options{}); err != nil {
		return nil, err
	}
	return Open(file)
}

// Run describes the run. What the result refers to must not be changed.
func (t *Trace) Run() Run { return t.run }

// LostInterleaving reports whether the run had an interleaving that the file
// does not hold.
func (t *Trace) LostInterleaving() bool { return t.interleaved && t.run.Interleaving == nil }

// Functions returns the functions of all ranks. The result and what it refers
// to must not be changed.
func (t *Trace) Functions() []cst.Function { return t.functions.Functions() }

// Active returns the first rank, from the given one on, that made calls.
func (t *Trace) Active(from int) (rank int, ok bool) { return t.index.next(max(from, 0)) }

// checkSections checks the keys of sections of which there is one.
func (t *Trace) checkSections() error {
	for _, s := range t.file.All() {
		switch s.Kind {
		case KindRun, KindTexts, KindNames, KindSignatures, KindInterleaving, KindSummaries:
			if s.Key != 0 {
				return &SectionError{s.Kind, s.Key, s.Offset, corrupt("the key is %d", s.Key)}
			}
		}
	}
	return nil
}

func (t *Trace) parseRun(data []byte) error {
	d := wire.NewDecoder("merge", data)
	t.run.Ranks = int(d.UvarintMax("ranks", maxRanks))
	t.run.Source = string(d.String("source"))
	at := d.Offset()
	flags := d.Byte("flags")
	if flags&^flagInterleaved != 0 {
		d.Corrupt(at, "flags", "%#x", flags)
	}
	t.interleaved = flags&flagInterleaved != 0
	n := d.Count("shapes", 2)
	ranks, first := 0, -1
	for i := 0; i < n && d.Err() == nil; i++ {
		at := d.Offset()
		s := rankenc.DecodeSet(&d)
		if d.Err() != nil {
			break
		}
		if ranks += s.Len(); s.Len() == 0 || ranks > t.run.Ranks || int(s.At(s.Len()-1)) >= t.run.Ranks {
			d.Corrupt(at, "shape", "ranks %v in a run of %d", s, t.run.Ranks)
			break
		}
		if int(s.At(0)) <= first {
			d.Corrupt(at, "shape", "rank %d follows rank %d", s.At(0), first)
			break
		}
		first = int(s.At(0))
		t.sets = append(t.sets, s)
	}
	if d.Err() != nil {
		return d.Err()
	}
	t.index = newRankIndex(t.sets)
	var err error
	if t.functions, err = cst.ParseFunctions(data[d.Offset():]); err != nil {
		return atOffset(err, d.Offset())
	}
	return nil
}

// atOffset returns err with an offset that counts from a place that many bytes
// before.
func atOffset(err error, offset int) error {
	var e *wire.Error
	if errors.As(err, &e) {
		e.Offset += int64(offset)
	}
	return err
}

func parseTexts(data []byte) ([]string, error) {
	d := wire.NewDecoder("merge", data)
	n := d.Count("texts", 1)
	list := make([]string, 0, n)
	for i := 0; i < n && d.Err() == nil; i++ {
		list = append(list, string(d.String("text")))
	}
	d.End("text")
	return list, d.Err()
}

func (t *Trace) parseInterleaving(data []byte) error {
	if !t.interleaved {
		return corrupt("the run has none")
	}
	g, err := sequitur.Parse(data, sequitur.Options{})
	if err != nil {
		return err
	}
	t.run.Interleaving, t.calls = g, maps.Collect(g.Occurrences())
	for rank := range t.calls {
		if _, ok := t.index.find(int(rank)); !ok {
			return corrupt("the run has no calls of rank %d", rank)
		}
	}
	ranks := 0
	for _, s := range t.sets {
		ranks += s.Len()
	}
	if len(t.calls) != ranks {
		return corrupt("%d ranks of %d that made calls", len(t.calls), ranks)
	}
	return nil
}
