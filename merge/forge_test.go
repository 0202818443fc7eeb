package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"slices"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/forest"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/sequitur"
)

// A section is one to be put into a file as it is.
type section struct {
	kind    format.Kind
	key     uint64
	content string
}

// forge returns a sound container of sections.
func forge(t rapid.TB, sections ...section) []byte {
	t.Helper()
	var file bytes.Buffer
	w := format.NewWriter(&file, format.Options{Encoding: format.None})
	for _, s := range sections {
		w.Add(s.kind, s.key, []byte(s.content))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// replaced returns sections with others in place of those of the same kind and
// key, or added to them. One with the content gone is left out.
func replaced(sections []section, by ...section) []section {
	sections = slices.Clone(sections)
	for _, c := range by {
		i := slices.IndexFunc(sections, func(s section) bool { return s.kind == c.kind && s.key == c.key })
		switch {
		case i < 0:
			sections = append(sections, c)
		case c.content == gone:
			sections = slices.Delete(sections, i, i+1)
		default:
			sections[i].content = c.content
		}
	}
	return sections
}

const gone = "gone"

// Bytes of small numbers: as constants, and as displacements from a position, in
// the encoding of package rankenc.
const (
	c0, c1, c2, c3 = "\x50", "\x51", "\x52", "\x53"
	ascending      = "\xe0" // 0, 1, 2, …
)

// uvarint returns the encoding of numbers.
func uvarint(numbers ...uint64) string {
	var b []byte
	for _, n := range numbers {
		b = wire.AppendUvarint(b, n)
	}
	return string(b)
}

// functionsOf returns the encoding of functions.
func functionsOf(functions ...cst.Function) string {
	var t cst.Table
	for _, f := range functions {
		t.Declare(f)
	}
	return string(t.AppendFunctions(nil))
}

// Functions of the forged files.
var (
	barrier = cst.Function{Name: "barrier"}
	send    = cst.Function{Name: "send", Params: []cst.Param{{Name: "to", Type: cst.Type{Kind: cst.KindRank}}}}
	vector  = cst.Function{Name: "vector",
		Params: []cst.Param{{Name: "v", Type: cst.ArrayOf(cst.Type{Kind: cst.KindInt})}}}
	compute = cst.Function{Name: "compute", Params: []cst.Param{{Name: "amount", Type: cst.Type{Kind: cst.KindFloat}}}}
	lines   = cst.Function{Name: "lines",
		Params: []cst.Param{{Name: "v", Type: cst.ArrayOf(cst.Type{Kind: cst.KindString})}}}
)

// encoded returns the encoding of a grammar.
func encoded(symbols ...int) string {
	enc, _ := orderOf(symbols...).AppendBinary(nil)
	return string(enc)
}

// sharedGrammars returns the shared piece of grammars.
func sharedGrammars(grammars ...*sequitur.Grammar) string {
	return string(forest.New(grammars).AppendShared(nil))
}

// forgedNames are the names of ranks −2 and 3, and of handle 0 of class c.
const forgedNames = "\x05\x01\x03\x02n\x04\x04no" + "\x07\x01c\x00\x00\x02w"

// A forgedTrace is a trace of three ranks, of which 0 and 2 call barrier, send to
// a rank from a column, pass a vector from a matrix, and compute twice, with
// amounts from a stream.
type forgedTrace struct {
	ranks, source, flags, shapes, functions string // the run

	// The signatures.
	signatures                                 string // how many, and the function of each
	domains, columns                           string
	arguments, streams                         string
	barrierMask                                string
	sendMask, sendWritten, sendValues          string
	vectorLengths, vectorMask, vectorMatrices  string
	computeMask, computeWritten, computeValues string
	inline                                     string

	slices                         [2]string // of the column and the matrix, if they are not in line
	more                           string    // columns in a section after those
	stream, grammars, order, names string
}

func newForgedTrace() forgedTrace {
	return forgedTrace{
		ranks: "\x03", source: "\x04test", flags: "\x01",
		shapes:      "\x01" + "\x02\x01\x00\x00\x00", // 0, 2
		functions:   functionsOf(barrier, send, vector, compute),
		signatures:  uvarint(4<<1|1) + ascending,
		domains:     "\x01" + "\x02\x00\x00",
		columns:     "\x02" + "\x00\x01" + "\x01\x03",                                          // a column of 1 byte, a matrix of 3
		arguments:   "\x02" + "\x03\x00" + "\x02" + "\x0b\x00\x00\x00\x00\x00\x00\x00\xf8\x3f", // 5, 1.5
		streams:     "\x01" + "\x00\x03",
		barrierMask: c0,
		sendMask:    c0, sendWritten: c2, sendValues: c0,
		vectorLengths: "\x01" + c2, vectorMask: c0, vectorMatrices: c1,
		computeMask: c1, computeWritten: c0, computeValues: c0,
		inline:   c1 + "\x03\x02" + c3,
		stream:   "\x00" + "\x00\x01",
		grammars: sharedGrammars(orderOf(0, 1, 2, 3, 3)),
		order:    encoded(0, 2, 0, 2, 0, 2, 0, 2, 0, 2),
		names:    forgedNames,
	}
}

// slicedTrace is the forged trace with its column and its matrix in slices.
func slicedTrace() forgedTrace {
	f := newForgedTrace()
	f.columns = "\x02" + "\x00\x00\x02\x00\x01\x01" + "\x01\x00\x02\x00\x03\x03"
	f.inline, f.slices = "", [2]string{c1 + c1, "\x03\x02" + c3 + "\x03\x02" + c3}
	return f
}

func (f forgedTrace) run() string { return f.ranks + f.source + f.flags + f.shapes + f.functions }

func (f forgedTrace) table() string {
	return f.signatures + f.domains + f.columns + f.arguments + f.streams + f.barrierMask + f.sendMask +
		f.sendWritten + f.sendValues +
		f.vectorLengths + f.vectorMask + f.vectorMatrices + f.computeMask + f.computeWritten +
		f.computeValues + f.inline
}

// forgedPart is the part of a rank of a forged trace.
func forgedPart(rank int) Part {
	var table cst.Table
	for _, f := range []cst.Function{barrier, send, vector, compute} {
		table.Declare(f)
	}
	table.Intern(0)
	table.Intern(1, cst.Rank(1))
	table.Intern(2, cst.Array(cst.Int(3), cst.Int(3)))
	table.Intern(3, cst.Float(5))
	table.Intern(3, cst.Float(1.5))
	return Part{Rank: rank, Table: &table, Grammar: orderOf(0, 1, 2, 3, 4)}
}

func (f forgedTrace) sections() []section {
	return present([]section{
		{layout.KindRun, 0, f.run()},
		{layout.KindSignatures, 0, f.table()},
		{layout.KindColumns, 0, f.slices[0]},
		{layout.KindColumns, 1, f.slices[1]},
		{layout.KindColumns, 2, f.more},
		{layout.KindStreams, 0, f.stream},
		{layout.KindGrammars, 0, f.grammars},
		{layout.KindInterleaving, 0, f.order},
		{layout.KindNames, 0, f.names},
	}...)
}

// A forgedFile is a part file of three ranks, of which 0 and 2 call barrier, send
// to the next rank, and pass the texts "a" and "b", in that order or the other.
type forgedFile struct {
	size, sources, shapes, orders, functions string // the part
	texts                                    string
	ranks, forms, columns, grammar           string // the shape
	order, names                             string
}

func newForgedFile() forgedFile {
	return forgedFile{
		size: "\x03", sources: "\x01" + "\x04test", shapes: "\x01", orders: "\x01",
		functions: functionsOf(barrier, lines, send),
		texts:     "\x02" + "\x01a" + "\x01b",
		ranks:     "\x02\x01\x00\x00\x00", // 0, 2
		forms:     "\x03" + "\x00" + "\x04" + "\x02\x02",
		columns:   "\x00\x02\x02" + "\x01\x00\x00\x02" + "\x01\x00\x02\x01", // rank+1; 0, 1; 1, 0
		grammar:   encoded(0, 1, 2),
		order:     encoded(0, 2, 2, 0, 0, 2),
		names:     forgedNames,
	}
}

func (f forgedFile) part() string { return f.size + f.sources + f.shapes + f.orders + f.functions }

func (f forgedFile) shape() string { return f.ranks + f.forms + f.columns + f.grammar }

func (f forgedFile) sections() []section {
	return []section{
		{layout.KindPart, 0, f.part()},
		{layout.KindTexts, 0, f.texts},
		{layout.KindNames, 0, f.names},
		{layout.KindShape, 0, f.shape()},
		{layout.KindInterleaving, 0, f.order},
	}
}

// group makes the rank that the shape sends to one in a group, in which the ranks
// are and of which the sizes are given as columns.
func (f *forgedFile) group(ranks, sizes string) {
	f.forms = "\x03" + "\x00" + "\x05" + "\x02\x02"
	f.columns = f.columns[:3] + ranks + sizes + f.columns[3:]
}
