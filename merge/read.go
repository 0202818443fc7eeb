package merge

import (
	"fmt"
	"maps"
	"sort"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// A Trace reads the parts of a trace file. Its methods may be called from
// several goroutines at once.
type Trace struct {
	file      *format.Reader
	run       Run
	silent    []rankRange // ascending, with ranks between them
	functions *cst.Table
	calls     map[sequitur.Symbol]uint64 // of each rank, as the interleaving has them; nil without one
}

// maxLost is how many ranks with calls may lack their sections. It bounds the
// steps of a loop over these ranks by the size of the file.
const maxLost = 1 << 20

// Open reads what a trace says of the run as a whole. It does not miss the
// sections of a rank, which [Trace.Part] does: in a file that was salvaged they
// may be lost.
func Open(file *format.Reader) (*Trace, error) {
	t := &Trace{file: file}
	if err := t.read(KindRun, 0, t.parseRun); err != nil {
		return nil, err
	}
	if err := t.checkSections(); err != nil {
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
		if err := t.read(KindInterleaving, 0, t.parseInterleaving); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Run describes the run.
func (t *Trace) Run() Run { return t.run }

// Functions returns the functions of all ranks. The result and what it refers
// to must not be changed.
func (t *Trace) Functions() []cst.Function { return t.functions.Functions() }

// Active returns the first rank, from the given one on, that made calls. It
// takes time logarithmic in the size of the file.
func (t *Trace) Active(from int) (rank int, ok bool) {
	rank = max(from, 0)
	i := sort.Search(len(t.silent), func(i int) bool { return t.silent[i].end > rank })
	if i < len(t.silent) && t.silent[i].begin <= rank {
		rank = t.silent[i].end // the next range does not begin there
	}
	return rank, rank < t.run.Ranks
}

// isActive reports whether rank is one that made calls.
func (t *Trace) isActive(rank uint64) bool {
	if rank >= uint64(t.run.Ranks) {
		return false
	}
	active, ok := t.Active(int(rank))
	return ok && active == int(rank)
}

// Part reads the part of a rank, whose functions are those of [Trace.Functions]
// and whose counts are zero: the grammar has these. A rank that made no calls
// has no signatures and an empty grammar. An error about the file is a
// [*SectionError].
func (t *Trace) Part(rank int) (Part, error) {
	if rank < 0 || rank >= t.run.Ranks {
		return Part{}, fmt.Errorf("merge: there is no rank %d in a run of %d", rank, t.run.Ranks)
	}
	p := Part{Rank: rank}
	if !t.isActive(uint64(rank)) {
		p.Table, _, _ = cst.Merge(t.functions, &cst.Table{})
		p.Grammar = &sequitur.Grammar{}
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
		return t.checkGrammar(p)
	})
	if err != nil {
		return Part{}, err
	}
	return p, nil
}

// checkGrammar checks the grammar of p against the rest of the trace.
func (t *Trace) checkGrammar(p Part) error {
	n := p.Grammar.Len()
	if n == 0 {
		return corrupt("no calls of a rank that made calls")
	}
	if k := terminals(p.Grammar); k > uint64(p.Table.Len()) {
		return corrupt("terminal %d of %d signatures", k-1, p.Table.Len())
	}
	if t.calls != nil && t.calls[sequitur.Symbol(p.Rank)] != n {
		return corrupt("%d calls, %d in the interleaving", n, t.calls[sequitur.Symbol(p.Rank)])
	}
	return nil
}

// read gives the content of a section to parse. Its errors are SectionErrors.
func (t *Trace) read(kind format.Kind, key uint64, parse func([]byte) error) error {
	s, ok := t.file.Lookup(kind, key)
	if !ok {
		return &SectionError{kind, key, -1, corrupt("the file has no such section")}
	}
	data, err := t.file.Content(s)
	if err == nil {
		err = parse(data)
	}
	if err != nil {
		return &SectionError{kind, key, s.Source, err}
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
		if gap == 0 && i > 0 {
			d.Corrupt(at, "gap", "range %d continues the one before it", i)
		}
		at = d.Offset()
		length := d.UvarintMax("length", uint64(t.run.Ranks-end)-gap)
		if length == 0 {
			d.Corrupt(at, "length", "range %d is empty", i)
		}
		begin := end + int(gap)
		end = begin + int(length)
		t.silent = append(t.silent, rankRange{begin, end})
	}
	d.End("length")
	return d.Err()
}

// checkSections checks that there are no sections of ranks without calls, and
// few ranks with calls that have none.
func (t *Trace) checkSections() error {
	lost := t.active()
	for _, s := range t.file.All() {
		var err error
		switch s.Kind {
		case KindSignatures, KindGrammar:
			if !t.isActive(s.Key) {
				err = corrupt("the run has no calls of that rank")
			}
			if s.Kind == KindGrammar {
				lost--
			}
		case KindRun, KindFunctions, KindInterleaving:
			if s.Key != 0 {
				err = corrupt("the key is %d", s.Key)
			}
		}
		if err != nil {
			return &SectionError{s.Kind, s.Key, s.Offset, err}
		}
	}
	if lost > maxLost {
		return fmt.Errorf("merge: %w: the file has no grammar of %d ranks that made calls, at most %d", ErrLimit, lost, maxLost)
	}
	return nil
}

// active returns the number of ranks that made calls.
func (t *Trace) active() int {
	n := t.run.Ranks
	for _, s := range t.silent {
		n -= s.end - s.begin
	}
	return n
}

func (t *Trace) parseInterleaving(data []byte) error {
	g, err := sequitur.Parse(data, sequitur.Options{})
	if err != nil {
		return err
	}
	if isRankByRank(g) {
		return corrupt("the order is rank by rank")
	}
	t.run.Interleaving, t.calls = g, maps.Collect(g.Occurrences())
	for rank := range g.Occurrences() {
		if !t.isActive(uint64(rank)) {
			return corrupt("the run has no calls of rank %d", rank)
		}
	}
	if n := t.active(); len(t.calls) != n {
		return corrupt("%d ranks of %d that made calls", len(t.calls), n)
	}
	return nil
}
