package layout

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// Corrupt returns an error that wraps format.ErrCorrupt.
func Corrupt(text string, args ...any) error {
	return fmt.Errorf("merge: %w: "+text, append([]any{format.ErrCorrupt}, args...)...)
}

// The kinds of sections.
const (
	KindRun          format.Kind = 1
	KindTexts        format.Kind = 2
	KindSignatures   format.Kind = 3
	KindColumns      format.Kind = 4
	KindGrammars     format.Kind = 5
	KindInterleaving format.Kind = 6
	KindPart         format.Kind = 7

	KindThreadsUnordered format.Kind = 18 // of a part file, empty: see FlagThreadsUnordered
	KindShape            format.Kind = 8
	KindStreams          format.Kind = 9
	KindSummaries        format.Kind = 10
	KindSeries           format.Kind = 11
	KindNames            format.Kind = 12
	KindOrigin           format.Kind = 13
	KindWorlds           format.Kind = 14
	KindRankTimes        format.Kind = 15
	KindBounded          format.Kind = 16
	KindClocks           format.Kind = 17
	KindExactTimes       format.Kind = 19 // of a part file: series with an error, for where exact ones take too much
	KindKept             format.Kind = 20
)

// KindName returns the name of a kind of section.
func KindName(k format.Kind) string {
	switch k {
	case KindRun:
		return "run"
	case KindTexts:
		return "texts"
	case KindSignatures:
		return "signatures"
	case KindColumns:
		return "columns"
	case KindGrammars:
		return "grammars"
	case KindInterleaving:
		return "interleaving"
	case KindPart:
		return "part"
	case KindShape:
		return "shape"
	case KindStreams:
		return "streams"
	case KindSummaries:
		return "time summaries"
	case KindSeries:
		return "time series"
	case KindNames:
		return "names"
	case KindOrigin:
		return "origin"
	case KindWorlds:
		return "worlds"
	case KindRankTimes:
		return "times of ranks"
	case KindBounded:
		return "bounded"
	case KindClocks:
		return "clocks"
	case KindThreadsUnordered:
		return "unordered threads"
	case KindExactTimes:
		return "exact times"
	case KindKept:
		return "kept data"
	}
	return fmt.Sprintf("kind %d", k)
}

// SectionName returns what a section holds, with its number if the kind has several.
func SectionName(kind format.Kind, key uint64) string {
	switch kind {
	case KindColumns, KindGrammars, KindStreams, KindShape, KindSeries, KindKept:
		return fmt.Sprintf("%s, number %d", KindName(kind), key)
	}
	return KindName(kind)
}

// Damaged returns a [*format.SectionError] about the content of a section.
func Damaged(kind format.Kind, key uint64, err error) error { return DamagedAt(kind, key, -1, err) }

// DamagedAt returns a [*format.SectionError] about a section at an offset.
func DamagedAt(kind format.Kind, key uint64, offset int64, err error) *format.SectionError {
	return &format.SectionError{Kind: kind, Key: key, Name: SectionName(kind, key), Offset: offset, Err: err}
}

// MaxRanks bounds the number of ranks, so that a rank is an int everywhere.
const MaxRanks = math.MaxInt32

// ReadSection gives the content of a section to parse. Its errors are
// SectionErrors.
func ReadSection(file *format.Reader, kind format.Kind, key uint64, parse func([]byte) error) error {
	s, ok := file.Lookup(kind, key)
	if !ok {
		return Damaged(kind, key, Corrupt("the file has no such section"))
	}
	err := CheckContent(s.Len, file.MaxContent())
	var data []byte
	if err == nil {
		data, err = file.Content(s)
	}
	if err == nil {
		err = parse(data)
	}
	if err != nil {
		return DamagedAt(kind, key, s.Source, err)
	}
	return nil
}

// AtOffset returns err with an offset that counts from a place that many bytes
// before.
func AtOffset(err error, offset int) error {
	var e *wire.Error
	if errors.As(err, &e) {
		e.Offset += int64(offset)
	}
	return err
}

func ParseTexts(data []byte) ([]string, error) {
	d := wire.NewDecoder("merge", data)
	n := d.Count("texts", 1)
	list := make([]string, 0, n)
	for i := 0; i < n && d.Err() == nil; i++ {
		list = append(list, string(d.String("text")))
	}
	d.End("text")
	return list, d.Err()
}

// ItemOf returns the item at an offset in the content of a section. A section of
// more than maxPacked bytes has no other, so that it is not inflated for each of
// many.
func ItemOf(content []byte, offset, size int) ([]byte, error) {
	if offset > len(content) || size > len(content)-offset || len(content) > MaxPacked && size != len(content) {
		return nil, Corrupt("%d bytes at %d of a section of %d", size, offset, len(content))
	}
	return content[offset : offset+size], nil
}

// Numbers are a column that has nothing to do with ranks.
type Numbers = columns.Column

// MaxColumn is the largest size of an encoded column, or of a slice of one, in
// bytes.
const MaxColumn = math.MaxInt32

// A Counter counts what is written to it.
type Counter int

func (c *Counter) Write(p []byte) (int, error) {
	*c += Counter(len(p))
	return len(p), nil
}

// The flags of a run.
const (
	FlagInterleaved = 1 << iota // there is an interleaving
	FlagBlocks                  // the grammars are in blocks of package mixing
	FlagShapes                  // the shapes are a column over the ranks
	FlagBounded                 // not all calls are those that were recorded
	FlagKnown                   // some functions are known
	// there are ranks with threads that stand one after the other, as their order is not known
	FlagThreadsUnordered

	Flags = FlagInterleaved | FlagBlocks | FlagShapes | FlagBounded | FlagKnown | FlagThreadsUnordered
)

func AppendTexts(dst []byte, list []string) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(list)))
	for _, s := range list {
		dst = wire.AppendString(dst, s)
	}
	return dst
}

// MaxInline is the largest size of columns that stand in the section of the
// signatures, in bytes.
const MaxInline = 1 << 10

// MaxPacked is the largest size of a section that holds more than one column,
// or grammar, in bytes.
const MaxPacked = 1 << 16

// Pack joins items to sections.
func Pack(items [][]byte) [][]byte {
	var p PackedSections
	p.Add(items...)
	return p.Sections
}

// PackedSections are items joined to sections.
type PackedSections struct {
	Packer
	Sections [][]byte
}

func (p *PackedSections) Add(items ...[]byte) {
	for _, item := range items {
		section, _ := p.Place(len(item))
		if section == len(p.Sections) {
			p.Sections = append(p.Sections, nil)
		}
		p.Sections[section] = append(p.Sections[section], item...)
	}
}

// A Packer places items in sections, one after the other: in a new one where the
// last one would become larger than maxPacked.
type Packer struct{ Section, Offset int }

func (p *Packer) Place(size int) (section, offset int) {
	if p.Offset+size > MaxPacked {
		p.End()
	}
	section, offset = p.Section, p.Offset
	p.Offset += size
	return section, offset
}

// End begins a new section, unless nothing is in the last.
func (p *Packer) End() {
	if p.Offset > 0 {
		p.Section, p.Offset = p.Section+1, 0
	}
}

// AppendNumbers appends a column of numbers that have nothing to do with ranks.
// Their number is known to the reader.
func AppendNumbers(dst []byte, numbers []int64) []byte {
	dst, _ = newNumbers(numbers, columns.Options{Plain: areIrregular(numbers)}).AppendBinary(dst)
	return dst
}

func newNumbers(numbers []int64, o columns.Options) columns.Column {
	return columns.NewColumn(columns.Over(rankenc.World(len(numbers)), len(numbers)), numbers, o)
}

// areIrregular reports whether many numbers are as random in all places that are looked at, so that no
// expression of their places is looked for, which takes ten times as long as to write them.
func areIrregular(numbers []int64) bool {
	const many, places, length = 1 << 14, 8, 1 << 9
	if len(numbers) < many {
		return false
	}
	for i := range places {
		at := i * (len(numbers) - length) / (places - 1)
		if !newNumbers(numbers[at:at+length], columns.Options{}).Plain() {
			return false
		}
	}
	return true
}

// Sections reads the sections of a file. Of those that can hold more than one item it keeps a few of each
// kind, which were read last. It may be used by several goroutines at once.
type Sections struct {
	File *format.Reader
	mu   sync.Mutex
	last map[format.Kind][]content // the last one first
}

// keptSections is how many sections are kept of a kind, each of MaxPacked bytes at most: the values of one
// argument follow each other, so that who reads call by call goes around between as many as calls have
// arguments that are stored.
const keptSections = 1 << 5

// A content is that of a section, which does not change.
type content struct {
	key  uint64
	data []byte
}

func NewSections(file *format.Reader) *Sections {
	return &Sections{File: file, last: make(map[format.Kind][]content)}
}

// Has reports whether there is a section of a kind, with the key 0.
func (s *Sections) Has(kind format.Kind) bool {
	_, ok := s.File.Lookup(kind, 0)
	return ok
}

// Read gives the content of a section to parse. Its errors are SectionErrors.
func (s *Sections) Read(kind format.Kind, key uint64, parse func([]byte) error) error {
	return ReadSection(s.File, kind, key, parse)
}

// ReadShared is Read for a section in which there may be several items. Of a
// small one it keeps the content for the next that is looked for.
func (s *Sections) ReadShared(kind format.Kind, key uint64, parse func([]byte) error) error {
	if data := s.kept(kind, key); data != nil && parse(data) == nil {
		return nil
	}
	return s.Read(kind, key, func(data []byte) error {
		if len(data) <= MaxPacked {
			s.keep(kind, content{key, data})
		}
		return parse(data)
	})
}

// kept returns the content of a section that is kept, which is the last one then, nil if it is not.
func (s *Sections) kept(kind format.Kind, key uint64) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.last[kind]
	for i, c := range list {
		if c.key == key {
			copy(list[1:i+1], list[:i])
			list[0] = c
			return c.data
		}
	}
	return nil
}

// keep keeps the content of a section in place of the one that was read least recently.
func (s *Sections) keep(kind format.Kind, c content) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.DeleteFunc(s.last[kind], func(x content) bool { return x.key == c.key })
	s.last[kind] = slices.Insert(list[:min(len(list), keptSections-1)], 0, c)
}

// maxPieceSymbols is how many symbols a piece of the grammars may have if it is
// small.
const maxPieceSymbols = 1 << 22

// MostSymbols returns how many symbols a piece may have if the sections of the
// grammars have so many bytes: as many, if that is more than maxPieceSymbols.
func MostSymbols(bytes uint64) uint64 { return max(bytes, maxPieceSymbols) }

// Terminals returns one more than the greatest terminal of g, 0 if g is empty.
func Terminals(g *sequitur.Grammar) uint64 {
	var n uint64
	for r := range g.Rules() {
		for t := range g.Body(r) {
			if t.Rule < 0 {
				n = max(n, uint64(t.Symbol)+1)
			}
		}
	}
	return n
}
