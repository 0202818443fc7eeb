package merge

import (
	"fmt"
	"sort"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// Errors that the errors of [Open] and [Trace.Part] wrap, for use with
// [errors.Is].
var (
	ErrCorrupt = wire.ErrCorrupt
	ErrLimit   = wire.ErrLimit
)

// A Trace reads the parts of a trace file. Its methods may be called from
// several goroutines at once.
type Trace struct {
	file      *format.Reader
	run       Run
	silent    []rankRange
	functions *cst.Table
}

// Open reads what a trace says of the run as a whole.
func Open(file *format.Reader) (*Trace, error) {
	t := &Trace{file: file}
	if err := t.read(KindRun, 0, t.parseRun); err != nil {
		return nil, err
	}
	err := t.read(KindFunctions, 0, func(data []byte) (err error) {
		t.functions, err = cst.ParseFunctions(data)
		return err
	})
	if err != nil {
		return nil, err
	}
	if _, ok := file.Lookup(KindInterleaving, 0); ok {
		err = t.read(KindInterleaving, 0, t.parseInterleaving)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Run describes the run.
func (t *Trace) Run() Run { return t.run }

// Functions returns the functions of all ranks. The result and what it refers
// to must not be changed.
func (t *Trace) Functions() []cst.Function { return t.functions.Functions() }

// Part reads the part of a rank, whose functions are those of [Trace.Functions]
// and whose counts are zero: the grammar has these. A rank that made no calls
// has an empty part.
func (t *Trace) Part(rank int) (Part, error) {
	p := Part{Rank: rank, Table: &cst.Table{}, Grammar: &sequitur.Grammar{}}
	if rank < 0 || rank >= t.run.Ranks {
		return Part{}, fmt.Errorf("merge: rank %d of %d", rank, t.run.Ranks)
	}
	if active, ok := t.Active(rank); !ok || active != rank {
		return p, nil
	}
	err := t.read(KindSignatures, uint64(rank), func(data []byte) (err error) {
		p.Table, err = cst.ParseSignatures(t.functions, data, cst.Options{})
		return err
	})
	if err != nil {
		return Part{}, err
	}
	err = t.read(KindGrammar, uint64(rank), func(data []byte) (err error) {
		if p.Grammar, err = sequitur.Parse(data, sequitur.Options{}); err != nil {
			return err
		}
		return checkTerminals(p)
	})
	if err != nil {
		return Part{}, err
	}
	return p, nil
}

// read gives the content of a section to parse. Errors name the section.
func (t *Trace) read(kind format.Kind, key uint64, parse func([]byte) error) error {
	name := KindName(kind)
	if kind == KindSignatures || kind == KindGrammar {
		name = fmt.Sprintf("%s of rank %d", name, key)
	}
	s, ok := t.file.Lookup(kind, key)
	if !ok {
		return fmt.Errorf("merge: %w: the file has no section %s", ErrCorrupt, name)
	}
	data, err := t.file.Content(s)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := parse(data); err != nil {
		return fmt.Errorf("%s, in the section at offset %d: %w", name, s.Offset, err)
	}
	return nil
}

func (t *Trace) parseRun(data []byte) error {
	d := wire.NewDecoder("merge", data)
	t.run.Ranks = int(d.UvarintMax("ranks", maxRanks))
	t.run.Source = string(d.String("source"))
	n := d.Count("silent", 2)
	end := 0
	for i := 0; i < n && d.Err() == nil; i++ {
		at := d.Offset()
		gap := d.UvarintMax("gap", uint64(t.run.Ranks-end))
		length := d.UvarintMax("length", uint64(t.run.Ranks-end)-gap)
		if d.Err() == nil && (length == 0 || gap == 0 && i > 0) {
			d.Corrupt(at, "gap", "range %d is empty or continues the one before", i)
		}
		begin := end + int(gap)
		end = begin + int(length)
		t.silent = append(t.silent, rankRange{begin, end})
	}
	d.End("length")
	return d.Err()
}

func (t *Trace) parseInterleaving(data []byte) error {
	g, err := sequitur.Parse(data, sequitur.Options{})
	if err != nil {
		return err
	}
	for rank := range g.Occurrences() {
		if int(rank) >= t.run.Ranks {
			return fmt.Errorf("merge: %w: rank %d of %d", ErrCorrupt, rank, t.run.Ranks)
		}
	}
	t.run.Interleaving = g
	return nil
}

// Active returns the first rank, from the given one on, that made calls.
func (t *Trace) Active(from int) (rank int, ok bool) {
	rank = max(from, 0)
	i := sort.Search(len(t.silent), func(i int) bool { return t.silent[i].end > rank })
	if i < len(t.silent) && t.silent[i].begin <= rank {
		rank = t.silent[i].end // ranges do not touch
	}
	return rank, rank < t.run.Ranks
}
