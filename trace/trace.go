package trace

import (
	"fmt"
	"io"
	"iter"
	"os"
	"sync"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/mixing"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// A Trace is an open trace. Its methods may be called from several goroutines at
// once. Errors about its file wrap a [*format.SectionError].
type Trace struct {
	file   *format.Reader
	listed *format.Reader // whose sections are listed: the part file, if it was made of one
	own    *os.File       // to be closed; nil if it is not ours

	run         merge.Run
	interleaved bool // as the run says
	blocked     bool // the same: whether grammars are in blocks
	bounded     bool // the same: whether something is not as it was recorded
	functions   *cst.Table
	texts       []string
	all         []rankenc.Set // of the ranks of each shape, as the file has them
	sets        []rankenc.Set // those that are not left out
	index       rankIndex
	recorded    func() rankenc.Set // the ranks of all
	active      func() rankenc.Set // those of sets
	signatures  *layout.Table
	varies      []uint64                   // the slots of each function that are varying arguments
	calls       map[sequitur.Symbol]uint64 // of each rank, as the interleaving has them; nil without one

	sections  *layout.Sections
	grammars  func() (*grammars, error)
	alphabet  func() mixing.Alphabet           // of the signatures
	summaries func() (layout.Summaries, error) // as the file has them
	spread    func() (layout.Summaries, error) // those of functions at all of their signatures
	rankTimes func() (*layout.RankTimes, error)
	series    func() (*layout.SeriesTable, error)
	shared    func() (*sharedTimes, error)
	ranges    func() []ranges

	caches  caches
	spreads places[spreadOf, flow] // the flows of ranks with values
	decoded places[blockOf, decodedBlock]
	shapes  []cached[Shape]
	columns []cached[rankColumn] // or slices of some
	held    int                  // maxHeld

	damage  func() *damageReport
	content func() Content
	leftOut map[format.Kind]bool // sections of which there is one
	untimed rankenc.Set          // ranks whose times of every call are left out
	foreign rankenc.Set          // those of them that are left out as their codec is not known
}

// Options configures [Open], [OpenReader] and [OpenContainer]. The zero Options is the default configuration.
type Options struct {
	// Memory is how many bytes of memory the trace may take, as that of [format.Options]: 0 for what suits
	// the length of the file. One that would take more gives a [*format.MemoryError]. OpenContainer does not
	// look at it, as a container has its own. A quarter of the memory, but no more than 128 MiB, is for what
	// was read and may be needed again, half as much for times of calls, and besides as much as the largest piece
	// takes.
	Memory int64

	// LeaveOutDamage leaves out what [Trace.Damage] tells, for which the whole file is read: a rank whose
	// calls cannot be read made none, one whose times cannot be read has none, and summaries that cannot be
	// read are not there. Times in a codec that this program does not know are left out, too, see
	// [Content].Foreign. Summaries that can be read are of the calls of all ranks, also of those that are
	// left out. Shapes keep their numbers. Otherwise a Trace fails where it cannot read what it is asked for.
	LeaveOutDamage bool
}

// Open opens the trace in the named file. It reads the index of the file and
// what concerns the run as a whole, no calls. Errors, those of reading a rank
// later on too, name the file.
func Open(path string, o Options) (*Trace, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	t, err := openFile(f, o)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t.own = f
	return t, nil
}

func openFile(f *os.File, o Options) (*Trace, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return OpenReader(f, info.Size(), o)
}

// OpenReader opens the trace in the size bytes that r reads. Ranks are read from r when they are asked for. A
// section whose content is more than 256 times as long as the whole file, longer than 16 MiB, and more than a
// 32nd of the memory, is refused: no trace is as regular as that and as long, but a file made to exhaust
// memory is. So is a trace that has lost the order of the calls of different ranks. Use [OpenContainer] for
// other limits, and for what is left of a trace.
func OpenReader(r io.ReaderAt, size int64, o Options) (*Trace, error) {
	file, err := format.NewReader(r, size, layout.FileOptions(size, o.Memory))
	if err != nil {
		return nil, err
	}
	t, err := openContainer(file)
	if err != nil {
		return nil, err
	}
	if t.lostOrder() {
		return nil, layout.Damaged(layout.KindInterleaving, 0, layout.Corrupt("the file has no such section"))
	}
	if o.LeaveOutDamage {
		t.leaveOutDamage()
	}
	return t, nil
}

// OpenContainer opens the trace in a container that was opened with limits that
// the caller chose, or that [format.Salvage] found in a damaged file. It does not miss
// sections that hold columns or grammars, which reading a rank does, nor the order of
// the calls of different ranks, see [Content]. Of a part file it opens
// the trace that [merge.Accumulator.Write] would write of it, in memory. Reading a
// rank holds some 40 times the content of its sections, and as much again when its
// signatures are decoded; [format.Options] bounds that content.
func OpenContainer(file *format.Reader, o Options) (*Trace, error) {
	t, err := openContainer(file)
	if err == nil && o.LeaveOutDamage {
		t.leaveOutDamage()
	}
	return t, err
}

func openContainer(file *format.Reader) (*Trace, error) {
	if merge.IsPart(file) {
		return openPart(file)
	}
	t := &Trace{
		file: file, listed: file, sections: layout.NewSections(file),
		caches: newCaches(file.Memory()), held: maxHeld,
	}
	if err := t.readHead(); err != nil {
		return nil, err
	}
	t.varies = t.varyingSlots()
	t.shapes, t.columns = make([]cached[Shape], len(t.all)), make([]cached[rankColumn], len(t.signatures.Slices))
	t.grammars = sync.OnceValues(t.readGrammars)
	t.alphabet = sync.OnceValue(t.signatures.Alphabet)
	t.summaries = sync.OnceValues(t.readSummaries)
	t.spread = sync.OnceValues(t.spreadSummaries)
	t.rankTimes = sync.OnceValues(t.readRankTimes)
	t.ranges = sync.OnceValue(t.readRanges)
	t.series = sync.OnceValues(func() (*layout.SeriesTable, error) { return t.sections.SeriesTable(t.run.Ranks) })
	t.shared = sync.OnceValues(t.newSharedTimes)
	t.damage = sync.OnceValue(t.findDamage)
	t.content = sync.OnceValue(t.findContent)
	return t, nil
}

// Close closes the file that [Open] opened. Ranks that were read stay valid, but for
// the times of their calls.
func (t *Trace) Close() error {
	if t.own == nil {
		return nil
	}
	return t.own.Close()
}

// Run describes the run. What the result refers to must not be changed.
func (t *Trace) Run() merge.Run { return t.run }

// Ranks returns the number of ranks of the run.
func (t *Trace) Ranks() int { return t.run.Ranks }

// RankSet returns the ranks that made calls, without those that [Options.LeaveOutDamage] left out.
func (t *Trace) RankSet() rankenc.Set { return t.active() }

// setRanks sets the ranks of the shapes. They are united when that is asked for: they have ranks in common if
// the file contradicts itself.
func (t *Trace) setRanks(sets []rankenc.Set) {
	t.sets, t.index = sets, newRankIndex(sets)
	t.active = sync.OnceValue(func() rankenc.Set { return rankenc.Set{}.Union(sets...) })
}

// Memory returns how many bytes what is made of t may take: see [Options]. Who holds something for each rank,
// of which a few bytes of a file can name a billion, compares with that first.
func (t *Trace) Memory() uint64 { return t.file.Memory() }

// Functions returns the functions of the calls of all ranks. The result and
// what it refers to must not be changed.
func (t *Trace) Functions() []cst.Function { return t.functions.Functions() }

// Signatures returns the number of signatures, which the grammars of all shapes
// are over.
func (t *Trace) Signatures() int { return len(t.signatures.Functions) }

// FunctionOf returns the number of the function of a signature,
// n < t.Signatures(), in [Trace.Functions].
func (t *Trace) FunctionOf(n int) int {
	need.That(uint(n) < uint(len(t.signatures.Functions)), "trace: signature out of range")
	return int(t.signatures.Functions[n])
}

// Sections returns an iterator over the sections of the file, which package
// merge describes.
func (t *Trace) Sections() iter.Seq2[int, format.Section] { return t.listed.All() }

// ReadSection gives the content of a section of t to parse, as docs/format.md describes it, and does nothing
// if t has no such section or left it out as damaged. Of a trace that was made of a part file, they are the
// sections of that trace. The content must not be changed. An error of parse is returned in a
// [*format.SectionError]. It takes time and memory in proportion to the content.
func (t *Trace) ReadSection(kind format.Kind, key uint64, parse func(content []byte) error) error {
	need.That(parse != nil, "trace: nothing that parses")
	if _, ok := t.file.Lookup(kind, key); !ok || t.leftOut[kind] {
		return nil
	}
	return t.sections.Read(kind, key, parse)
}

// Name returns the path that was given to [Open], nothing if the trace was opened otherwise.
func (t *Trace) Name() string {
	if t.own == nil {
		return ""
	}
	return t.own.Name()
}

// named returns an error with the name of the file, if it is ours.
func (t *Trace) named(err error) error {
	if t.own == nil {
		return err
	}
	return fmt.Errorf("%s: %w", t.own.Name(), err)
}
