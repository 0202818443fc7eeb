package merge_test

import (
	"context"

	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/mixing"
	. "github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"

	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// contents returns the sections of a file.
func contents(t rapid.TB, file []byte) []section {
	t.Helper()
	f := container(t, file)
	var list []section
	for _, s := range f.All() {
		content, err := f.Content(s)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, section{s.Kind, s.Key, string(content)})
	}
	return list
}

// TestForged checks that the forged files are sound, and what they are meant to be.
func TestForged(t *testing.T) {
	tr := open(t, forge(t, replaced(newForgedTrace().sections(), section{99, 7, "a kind of a later version"})...))
	checkRun(t, tr.Run(), Run{
		Ranks: 3, Source: "test", Interleaving: orderOf(0, 2, 0, 2, 0, 2, 0, 2, 0, 2),
		Names: []format.Name{{Kind: cst.KindRank, Class: "", Value: -2, Name: "n"},
			{Kind: cst.KindRank, Class: "", Value: 3, Name: "no"},
			{Kind: cst.KindHandle, Class: "c", Value: 0, Name: "w"}},
	})
	checkCalls(t, tr, []Part{forgedPart(0), forgedPart(2)})
	checkCalls(t, open(t, forge(t, slicedTrace().sections()...)), []Part{forgedPart(0), forgedPart(2)})

	sections := newForgedFile().sections()
	a, err := ReadPart(container(t, forge(t, sections...)))
	if err != nil {
		t.Fatal(err)
	}
	if got := contents(t, partFile(t, a)); !slices.Equal(got, sections) {
		t.Errorf("the part file has %q\nwant %q", got, sections)
	}
}

// A refusal is a reason to refuse a file.
type refusal struct {
	name    string
	change  []section // of a sound file
	kind    format.Kind
	key     uint64
	missing bool // the file has no such section: its offset is −1
	want    error
	text    string // of the error
}

// check reads a file with a change, and checks that the error is the one wanted.
func (r refusal) check(t *testing.T, sections []section, read func(*format.Reader) error) {
	t.Helper()
	f := container(t, forge(t, replaced(sections, r.change...)...))
	err := read(f)
	var se *format.SectionError
	if !errors.As(err, &se) || se.Kind != r.kind || se.Key != r.key || !errors.Is(err, r.want) ||
		!strings.Contains(err.Error(), r.text) {
		t.Fatalf("err = %v\nwant %v in %s, key %d: %s", err, r.want, layout.KindName(r.kind), r.key, r.text)
	}
	s, ok := f.Lookup(r.kind, r.key)
	if !ok {
		s.Source = -1
	}
	if ok == r.missing || se.Offset != s.Source && se.Offset != -1 {
		t.Errorf("offset = %d, want that of %+v", se.Offset, s)
	}
}

// readTrace reads all of a trace.
func readTrace(f *format.Reader) error {
	tr, err := Open(f)
	if err == nil {
		_, err = readAll(tr)
	}
	return err
}

// The first bytes of numbers that are too long, of columns that are no column and
// of grammars that are no grammar.
const (
	huge   = "\xff\xff\xff\xff\xff\xff\xff\xff\x7f" // 2⁶³−1
	broken = "\x2f"
)

// changedRun returns a run that differs from that of the forged trace.
func changedRun(change func(*forgedTrace)) []section {
	f := newForgedTrace()
	change(&f)
	return []section{{layout.KindRun, 0, f.run()}}
}

func TestRefuseRun(t *testing.T) {
	run := changedRun
	corrupt := func(name, text string, change ...section) refusal {
		return refusal{name, change, layout.KindRun, 0, false, format.ErrCorrupt, text}
	}
	two := func(s string) []section { return run(func(f *forgedTrace) { f.shapes = s }) }
	tests := []refusal{
		{"NoRun", []section{{layout.KindRun, 0, gone}}, layout.KindRun, 0, true, format.ErrCorrupt, "no such section"},
		{"RunEmpty", []section{{layout.KindRun, 0, ""}}, layout.KindRun, 0, false, io.ErrUnexpectedEOF,
			"ranks at offset 0"},
		corrupt("RanksTooMany", "ranks at offset 0: corrupt input: 2147483648", run(func(f *forgedTrace) {
			f.ranks = uvarint(1 << 31)
		})...),
		corrupt("SourceTooLong", "source at offset 1", run(func(f *forgedTrace) { f.source = huge })...),
		corrupt("Flags", "flags at offset 6: corrupt input: 0x40", run(func(f *forgedTrace) { f.flags = "\x40" })...),
		corrupt("FunctionUnknown", "function at offset 16: corrupt input: function 0 has number 16383",
			run(func(f *forgedTrace) { f.flags, f.functions = "\x10", "\x01\xff\x7f\x00\x00" })...),
		corrupt("ShapesTooMany", "shapes at offset 7", run(func(f *forgedTrace) { f.shapes = huge })...),
		corrupt("ShapeBroken", "set at offset 8", two("\x01\xfe\x01")...),
		corrupt("ShapeEmpty", "shape at offset 8: corrupt input: ranks", two("\x01\x00\x00")...),
		corrupt("ShapeBeyondRanks", "shape at offset 8: corrupt input: ranks 3 in a run of 3",
			two("\x01\x02\x0c\x00")...),
		corrupt("ShapesHaveMoreRanks", "shape at offset 11: corrupt input: ranks 1-2 in a run of 3",
			two("\x02\x02\x00\x01"+"\x02\x04\x01")...),
		corrupt("ShapesNotInOrder", "shape at offset 11: corrupt input: rank 0 follows rank 2",
			two("\x02\x02\x08\x00"+"\x02\x00\x00")...),
		corrupt("ShapeTwice", "rank 0 follows rank 0", two("\x02\x02\x00\x00"+"\x02\x00\x00")...),
		corrupt("FunctionsBroken", "functions at offset 13", run(func(f *forgedTrace) { f.functions = huge })...),
		corrupt("RunTrailing", "1 bytes after the last field", run(func(f *forgedTrace) { f.functions += "\x00" })...),
		{"RunKey", []section{{layout.KindRun, 1, ""}}, layout.KindRun, 1, false, format.ErrCorrupt, "the key is 1"},
		{"TextsKey", []section{{layout.KindTexts, 2, "\x00"}}, layout.KindTexts, 2, false, format.ErrCorrupt,
			"the key is 2"},
		{"SignaturesKey", []section{{layout.KindSignatures, 3, ""}}, layout.KindSignatures, 3, false,
			format.ErrCorrupt, "the key is 3"},
		{"NamesKey", []section{{layout.KindNames, 5, ""}}, layout.KindNames, 5, false, format.ErrCorrupt,
			"the key is 5"},
		{"InterleavingKey", []section{{layout.KindInterleaving, 7, ""}}, layout.KindInterleaving, 7, false,
			format.ErrCorrupt, "the key is 7"},
		{"TextsTooMany", []section{{layout.KindTexts, 0, "\x02\x00"}}, layout.KindTexts, 0, false,
			format.ErrCorrupt, "texts at offset 0"},
		{"TextTooLong", []section{{layout.KindTexts, 0, "\x01\x02a"}}, layout.KindTexts, 0, false,
			format.ErrCorrupt, "text at offset 1"},
		{"TextsTrailing", []section{{layout.KindTexts, 0, "\x01\x01ab"}}, layout.KindTexts, 0, false,
			format.ErrCorrupt, "1 bytes after"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.check(t, newForgedTrace().sections(), readTrace) })
	}
}

func TestRefuseInterleaving(t *testing.T) {
	order := func(s string) []section { return []section{{layout.KindInterleaving, 0, s}} }
	corrupt := func(name, text string, change ...section) refusal {
		return refusal{name, change, layout.KindInterleaving, 0, false, format.ErrCorrupt, text}
	}
	tests := []refusal{
		corrupt("RunHasNone", "the run has none", changedRun(func(f *forgedTrace) { f.flags = "\x00" })...),
		corrupt("Broken", "rules at offset 0", order(huge)...),
		corrupt("OfSilentRank", "the run has no calls of rank 1", order(encoded(0, 1, 2))...),
		corrupt("BeyondRanks", "the run has no calls of rank 3", order(encoded(0, 3, 2))...),
		corrupt("LacksRank", "1 ranks of 2 that made calls", order(encoded(2, 2))...),
		corrupt("OtherCalls", "4 calls of rank 0, which has 5", order(encoded(0, 2, 0, 0, 2, 2, 2, 0, 2))...),
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.check(t, newForgedTrace().sections(), readTrace) })
	}
}

// A tableRefusal is a reason to refuse the section of the signatures, which errors
// that are found when a rank is read name, too.
type tableRefusal struct {
	name   string
	change func(*forgedTrace)
	want   error
	text   string
}

func TestRefuseSignatures(t *testing.T) {
	tests := []tableRefusal{
		{"Empty", func(f *forgedTrace) { *f = forgedTrace{} }, io.ErrUnexpectedEOF, "signatures at offset 0"},
		{"TooMany", func(f *forgedTrace) {
			f.signatures = uvarint((1<<22 + 1) << 1)
		}, format.ErrLimit, "signatures at offset 0"},
		{"FunctionsBroken", func(f *forgedTrace) {
			f.signatures = "\x09" + broken
		}, format.ErrCorrupt, "encoding at offset 1"},
		{"FunctionTooLarge", func(f *forgedTrace) {
			f.signatures = "\x09" + "\xe1"
		}, format.ErrCorrupt, "functions at offset 1: corrupt input: 4 of 4"},
		{"FunctionNegative", func(f *forgedTrace) {
			f.signatures = "\x09" + "\xdf"
		}, format.ErrCorrupt, "functions at offset 1: corrupt input: -1 of 4"},
		{"DomainsTooMany", func(f *forgedTrace) { f.domains = huge }, format.ErrCorrupt, "domains at offset 2"},
		{"DomainBroken", func(f *forgedTrace) { f.domains = "\x01\xfe\x01" }, format.ErrCorrupt, "set at offset 3"},
		{"DomainEmpty", func(f *forgedTrace) {
			f.domains = "\x01\x00"
		}, format.ErrCorrupt, "domain at offset 3: corrupt input: of shapes"},
		{"DomainOfNoShape", func(f *forgedTrace) {
			f.domains = "\x01\x02\x04\x00"
		}, format.ErrCorrupt, "of shapes 1 of 1"},
		{"DomainOfMoreShapes", func(f *forgedTrace) {
			f.domains = "\x01\x02\x00\x01"
		}, format.ErrCorrupt, "of shapes 0-1 of 1"},
		{"ColumnsTooMany", func(f *forgedTrace) { f.columns = huge }, format.ErrCorrupt, "columns at offset 6"},
		{"ColumnOfNoDomain", func(f *forgedTrace) {
			f.columns = "\x02" + "\x02\x01" + "\x01\x03"
		}, format.ErrCorrupt, "column at offset 7: corrupt input: domain 1 of 1"},
		{"SlicesTooMany", func(f *forgedTrace) {
			f.columns = "\x02" + "\x00\x00" + huge
		}, format.ErrCorrupt, "slices at offset 9"},
		{"NoSlices", func(f *forgedTrace) {
			f.columns = "\x02" + "\x00\x00\x00" + "\x01\x03"
		}, format.ErrCorrupt, "slices at offset 9: corrupt input: 0"},
		{"OneSlice", func(f *forgedTrace) {
			f.columns = "\x02" + "\x00\x00\x01\x01" + "\x01\x03"
		}, format.ErrCorrupt, "slices at offset 9: corrupt input: 1"},
		{"SliceTooLong", func(f *forgedTrace) {
			f.columns = "\x02" + "\x00\x00\x02\x01\x01\x01" + "\x01\x03"
		}, format.ErrCorrupt,
			"slice at offset 10: corrupt input: 2 positions and 1 slices after 0 of 2"},
		{"SliceHuge", func(f *forgedTrace) {
			f.columns = "\x02" + "\x00\x00\x02" + huge
		}, format.ErrCorrupt, "slice at offset 10"},
		{"SlicesOfNoPosition", func(f *forgedTrace) {
			f.columns = "\x02" + "\x00\x00\x03\x00\x01\x00\x01\x01" + "\x01\x03"
		}, format.ErrCorrupt,
			"slice at offset 10: corrupt input: 1 positions and 2 slices after 0 of 2"},
		{"SliceOfNoSize", func(f *forgedTrace) {
			f.columns = "\x02" + "\x00\x00\x02\x00\x00\x01" + "\x01\x03"
		}, format.ErrCorrupt, "size at offset 11: corrupt input: 0"},
		{"SliceTooLarge", func(f *forgedTrace) {
			f.columns = "\x02" + "\x00\x00\x02\x00\x01" + uvarint(layout.MaxColumn+1) + "\x01\x03"
		}, format.ErrCorrupt, "size at offset 12"},
		{"ColumnTooLarge", func(f *forgedTrace) {
			f.columns = "\x02" + "\x00" + uvarint(layout.MaxColumn+1) + "\x01\x03"
		}, format.ErrCorrupt, "size at offset 8"},
		{"ColumnsCutOff", func(f *forgedTrace) {
			f.inline = f.inline[:3]
		}, format.ErrCorrupt, "columns at offset 42: corrupt input: 3 bytes, not 4"},
		{"ColumnsTrailing", func(f *forgedTrace) { f.inline += "\x00" }, format.ErrCorrupt, "5 bytes, not 4"},
		{"SignaturesTrailing", func(f *forgedTrace) {
			f.columns = "\x02" + "\x00" + uvarint(1<<17) + "\x01\x03"
		}, format.ErrCorrupt, "4 bytes after the last field"},
		{"LengthsTooMany", func(f *forgedTrace) {
			f.vectorLengths = uvarint(1<<24 + 1)
		}, format.ErrLimit, "lengths at offset 32"},
		{"LengthsBroken", func(f *forgedTrace) {
			f.vectorLengths = "\x01" + broken
		}, format.ErrCorrupt, "encoding at offset 33"},
		{"LengthNegative", func(f *forgedTrace) {
			f.vectorLengths = "\x01\x4f"
		}, format.ErrCorrupt, "an array of -1 elements"},
		{"LengthTooLarge", func(f *forgedTrace) {
			f.vectorLengths = "\x01\x00" + uvarint(2*(layout.MaxSlots+1))
		}, format.ErrCorrupt, "an array of 50331649 elements"},
		{"LengthMissing", func(f *forgedTrace) {
			f.vectorLengths = "\x00" + "\x50"
		}, format.ErrCorrupt, "0 do not suit 1 signatures of vector"},
		{"LengthTooMany", func(f *forgedTrace) {
			f.vectorLengths = "\x02" + c2
		}, format.ErrCorrupt, "1 more than 1 signatures of vector have"},
		{"MaskBroken", func(f *forgedTrace) { f.sendMask = broken }, format.ErrCorrupt, "encoding at offset 29"},
		{"MaskOfNoSlot", func(f *forgedTrace) {
			f.sendMask = c2
		}, format.ErrCorrupt, "streams at offset 29: corrupt input: slots 0x2 of 1"},
		{"MaskNegative", func(f *forgedTrace) {
			f.sendMask = "\x4f"
		}, format.ErrCorrupt, "slots 0xffffffffffffffff of 1"},
		{"WrittenBroken", func(f *forgedTrace) { f.sendWritten = broken }, format.ErrCorrupt, "encoding at offset 30"},
		{"WrittenTooLarge", func(f *forgedTrace) {
			f.sendWritten = "\x55"
		}, format.ErrCorrupt, "slot at offset 30: corrupt input: written as 5"},
		{"WrittenNegative", func(f *forgedTrace) { f.sendWritten = "\x4f" }, format.ErrCorrupt, "written as -1"},
		{"NoSuchColumn", func(f *forgedTrace) {
			f.sendValues = c2
		}, format.ErrCorrupt, "column at offset 31: corrupt input: 2 is none of the 2 columns"},
		{"NegativeColumn", func(f *forgedTrace) {
			f.sendValues = "\x4f"
		}, format.ErrCorrupt, "-1 is none of the 2 columns"},
		{"ColumnIsMatrix", func(f *forgedTrace) { f.sendValues = c1 }, format.ErrCorrupt, "1 is none of the 2 columns"},
		{"MatrixIsColumn", func(f *forgedTrace) {
			f.vectorMatrices = c0
		}, format.ErrCorrupt, "0 is none of the 2 columns"},
		{"ExpressionBroken", func(f *forgedTrace) {
			f.sendWritten, f.sendValues = "\x54", broken
		}, format.ErrCorrupt, "family at offset 31"},
		{"ConstantAsExpression", func(f *forgedTrace) {
			f.sendWritten, f.sendValues = "\x54", c0
		}, format.ErrCorrupt, "family at offset 31: corrupt input: 0 is written otherwise"},
		{"GroupWithoutSizes", func(f *forgedTrace) {
			f.sendWritten, f.sendValues = c3, c0+c0
		}, format.ErrCorrupt, "group at offset 31: corrupt input: column 0 of 2 has no sizes"},
		{"GroupOfNoColumn", func(f *forgedTrace) {
			f.sendWritten, f.sendValues = c3, c2+c0
		}, format.ErrCorrupt, "2 is none of the 2 columns"},
		{"GroupExpressionBroken", func(f *forgedTrace) {
			f.sendWritten, f.sendValues = c3, c0+broken
		}, format.ErrCorrupt, "group at offset 31"},
		{"ValueBroken", func(f *forgedTrace) { f.computeValues = broken }, format.ErrCorrupt, "encoding at offset 38"},
		{"ArgumentsTooMany", func(f *forgedTrace) { f.arguments = huge }, format.ErrCorrupt, "arguments at offset 11"},
		{"ArgumentOfNoFunction", func(f *forgedTrace) {
			f.arguments = "\x02\x04\x00\x00"
		}, format.ErrCorrupt, "argument at offset 12: corrupt input: slot 0 of function 4"},
		{"ArgumentOfHugeFunction", func(f *forgedTrace) {
			f.arguments = "\x02\x05\x00\x00"
		}, format.ErrCorrupt, "function at offset 12"},
		{"ArgumentOfNoSlot", func(f *forgedTrace) {
			f.arguments = "\x02\x03\x01\x00"
		}, format.ErrCorrupt, "slot 1 of function 3"},
		{"ArgumentOfArray", func(f *forgedTrace) {
			f.arguments = "\x02\x02\x00\x00"
		}, format.ErrCorrupt, "slot 0 of function 2"},
		{"ArgumentTwice", func(f *forgedTrace) {
			f.arguments = "\x04" + "\x03\x00\x01\x01" + "\x03\x00\x01\x01"
		}, format.ErrCorrupt, "argument at offset 16: corrupt input: slot 0 of function 3 again"},
		{"ValuesTooMany", func(f *forgedTrace) {
			f.arguments = "\x02\x03\x00" + huge
		}, format.ErrCorrupt, "values at offset 14"},
		{"ValueNotShort", func(f *forgedTrace) {
			f.arguments = "\x02\x03\x00\x01" + uvarint(1<<54+1)
		}, format.ErrCorrupt, "9007199254740992 is not an integer of 53 bits"},
		{"NegativeValueNotShort", func(f *forgedTrace) {
			f.arguments = "\x02\x03\x00\x01" + uvarint(1<<54)
		}, format.ErrCorrupt, "-9007199254740992 is not an integer of 53 bits"},
		{"StreamsTooMany", func(f *forgedTrace) { f.streams = huge }, format.ErrCorrupt, "streams at offset 25"},
		{"StreamOfNoArgument", func(f *forgedTrace) {
			f.streams = "\x01\x01\x03"
		}, format.ErrCorrupt, "stream at offset 26: corrupt input: 3 bytes of argument 1 of 1"},
		{"StreamEmpty", func(f *forgedTrace) {
			f.streams = "\x01\x00\x00"
		}, format.ErrCorrupt, "0 bytes of argument 0 of 1"},
		{"StreamTooLarge", func(f *forgedTrace) {
			f.streams = "\x01\x00" + uvarint(layout.MaxColumn+1)
		}, format.ErrCorrupt, "size at offset 27"},
		{"NoSuchStream", func(f *forgedTrace) {
			f.computeValues = c1
		}, format.ErrCorrupt, "stream 1 is none of an argument"},
		{"NegativeStream", func(f *forgedTrace) {
			f.computeValues = "\x4f"
		}, format.ErrCorrupt, "stream -1 is none of an argument"},
		{"StreamOfOtherArgument", func(f *forgedTrace) {
			f.arguments = "\x04" + "\x01\x00\x00" + "\x03\x00\x01\x01"
		}, format.ErrCorrupt, "stream 0 is none of an argument"},
		{"NoStreams", func(f *forgedTrace) {
			f.streams = "\x00"
		}, format.ErrCorrupt, "stream 0 is none of an argument"},
		{"StreamsInNoBlocks", func(f *forgedTrace) {
			f.arguments, f.streams = "\x03"+"\x03\x00"+"\x02"+"\x01\x02\x02", ""
		}, format.ErrCorrupt, "slot 0 of function 3 has no streams"},
		{"NoIntegers", func(f *forgedTrace) {
			f.arguments, f.streams = "\x03"+"\x03\x00"+"\x02"+"\x02", ""
		}, format.ErrCorrupt, "integers at offset 15"},
		{"ColumnBroken", func(f *forgedTrace) {
			f.inline = broken + f.inline[1:]
		}, format.ErrCorrupt, "encoding at offset 0: corrupt input: 47"},
		{"MatrixBroken", func(f *forgedTrace) {
			f.inline = c1 + "\x2f\x02" + c3
		}, format.ErrCorrupt, "encoding at offset 0: corrupt input: 47"},
		{"RowTooShort", func(f *forgedTrace) {
			f.inline = c1 + "\x03\x01" + c3
		}, format.ErrCorrupt, "column 1 has a row of 1, not 2"},
		{"SecondRowTooShort", func(f *forgedTrace) {
			m, _ := columns.NewMatrix(columns.Over(rankenc.SetOf(0, 2), 3), [][]int64{{5, 6}, {5}}, nil,
				columns.Options{}).AppendBinary(nil)
			f.columns = "\x02" + "\x00\x01" + "\x01" + uvarint(uint64(len(m)))
			f.inline = c1 + string(m)
		}, format.ErrCorrupt, "column 1 has a row of 1, not 2"},
		{"ShapeNotInDomain", func(f *forgedTrace) {
			f.shapes = "\x02" + "\x02\x00\x00" + "\x02\x08\x00"
			f.grammars = sharedGrammars(orderOf(0, 1, 2, 3, 3), orderOf(0, 1, 2, 3, 3))
		}, format.ErrCorrupt, "shape 1 is none of those of column 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newForgedTrace()
			tt.change(&f)
			change := []section{{layout.KindSignatures, 0, f.table()}}
			if f.ranks != "" {
				change = append(change, section{layout.KindRun, 0, f.run()},
					section{layout.KindGrammars, 0, f.grammars})
			}
			refusal{tt.name, change, layout.KindSignatures, 0, false, tt.want, tt.text}.check(t,
				newForgedTrace().sections(), readTrace)
		})
	}
	refusal{"Missing", []section{{layout.KindSignatures, 0, gone}}, layout.KindSignatures, 0, true,
		format.ErrCorrupt, "no such section"}.
		check(t, newForgedTrace().sections(), readTrace)
}

// TestRefuseColumns has columns in sections of their own.
func TestRefuseColumns(t *testing.T) {
	const large = layout.MaxInline + 1
	f := newForgedTrace()
	f.columns, f.inline = "\x02"+"\x00"+uvarint(large)+"\x01\x03", ""
	column := "\x20" + uvarint(1) + "\x02" + strings.Repeat("\x00", large-3) // runs, and bytes after them
	tests := []refusal{
		{"Missing", nil, layout.KindColumns, 0, true, format.ErrCorrupt, "no such section"},
		{"CutOff", []section{{layout.KindColumns, 0, column[:100]}}, layout.KindColumns, 0, false,
			format.ErrCorrupt, "1025 bytes at 0 of a section of 100"},
		{"Broken", []section{{layout.KindColumns, 0, column + "\x03\x02" + c3}}, layout.KindColumns, 0, false,
			format.ErrCorrupt, "1022 bytes after the last field"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sections := replaced(newForgedTrace().sections(), section{layout.KindSignatures, 0, f.table()})
			tt.check(t, sections, readTrace)
		})
	}
}

// TestRefuseSlices has a column and a matrix in slices.
func TestRefuseSlices(t *testing.T) {
	corrupt := func(name string, key uint64, content, text string) refusal {
		return refusal{name, []section{{layout.KindColumns, key, content}}, layout.KindColumns, key,
			content == gone, format.ErrCorrupt, text}
	}
	tests := []refusal{
		corrupt("Missing", 0, gone, "no such section"),
		corrupt("CutOff", 0, c1, "1 bytes at 1 of a section of 1"),
		corrupt("Broken", 0, broken+c1, "encoding at offset 0: corrupt input: 47"),
		corrupt("SecondBroken", 0, c1+broken, "encoding at offset 0: corrupt input: 47"),
		corrupt("MatrixMissing", 1, gone, "no such section"),
		corrupt("RowTooShort", 1, "\x03\x02"+c3+"\x03\x01"+c3, "column 1 has a row of 1, not 2"),
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.check(t, slicedTrace().sections(), readTrace) })
	}

	changed := func(name string, key uint64, text string, change func(f *forgedTrace)) {
		t.Run(name, func(t *testing.T) {
			f := slicedTrace()
			change(&f)
			refusal{name, nil, layout.KindColumns, key, false, format.ErrCorrupt, text}.check(t, f.sections(),
				readTrace)
		})
	}
	changed("Trailing", 0, "column at offset 1: corrupt input: 1 bytes after the last field", func(f *forgedTrace) {
		f.columns = strings.Replace(f.columns, "\x00\x00\x02\x00\x01\x01", "\x00\x00\x02\x00\x02\x01", 1)
		f.slices[0] += c1
	})
	// to one before it, in section 0
	changed("Refers", 2, "matrix at offset 1: corrupt input: number 0 of 0", func(f *forgedTrace) {
		f.columns = "\x03" + "\x01\x03" + "\x00\x00\x02\x00\x01\x01" + "\x01\x00\x02\x00\x02\x02"
		f.sendValues, f.vectorMatrices = c1, c2
		f.slices = [2]string{"\x03\x02" + c3, c1 + c1}
		f.more = "\x00\x00" + "\x00\x00"
	})
	changed("ReferredTo", 2, "matrix at offset 1: corrupt input: number 0 has another form", func(f *forgedTrace) {
		f.columns = "\x03" + f.columns[1:] + "\x01\x02"
		f.vectorMatrices = c2
		f.more = "\x00\x00"
	})
}

func TestRefuseStreams(t *testing.T) {
	corrupt := func(name, stream, text string, want error) refusal {
		return refusal{name, []section{{layout.KindStreams, 0, stream}}, layout.KindStreams, 0, false, want, text}
	}
	tests := []refusal{
		{"Missing", []section{{layout.KindStreams, 0, gone}}, layout.KindStreams, 0, true, format.ErrCorrupt,
			"no such section"},
		corrupt("CutOff", "\x00\x00", "3 bytes at 0 of a section of 2", format.ErrCorrupt),
		corrupt("Unknown", "\x02\x00\x01", "stream 0 is encoded as 2", format.ErrCorrupt),
		corrupt("NoSuchValue", "\x00\x00\x02", "value 2 of 2 in a stream", format.ErrCorrupt),
		corrupt("NumbersTooShort", "\x00\x01\x80", "number at offset 1: unexpected EOF", io.ErrUnexpectedEOF),
		corrupt("GrammarBroken", "\x01\x7f\x00", "rules at offset 1", format.ErrCorrupt),
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.check(t, newForgedTrace().sections(), readTrace) })
	}
	long := newForgedTrace()
	long.stream += "\x00"
	long.streams = "\x01\x00" + uvarint(uint64(len(long.stream)))
	refusal{"", nil, layout.KindStreams, 0, false, format.ErrCorrupt, "a stream is too long"}.
		check(t, replaced(long.sections(), section{layout.KindSignatures, 0, long.table()}), readTrace)
	for n := 1; n <= 3; n++ { // calls in a stream that is a grammar
		f := newForgedTrace()
		f.stream = "\x01" + encoded(slices.Repeat([]int{1}, n)...)
		f.streams = "\x01\x00" + uvarint(uint64(len(f.stream)))
		sections := replaced(f.sections(), section{layout.KindSignatures, 0, f.table()})
		if n != 2 {
			text := map[int]string{1: "a stream is too short", 3: "a stream is too long"}[n]
			refusal{"", nil, layout.KindStreams, 0, false, format.ErrCorrupt, text}.check(t, sections, readTrace)
		} else if err := readTrace(container(t, forge(t, sections...))); err != nil {
			t.Error(err)
		}
	}
}

func TestRefuseGrammars(t *testing.T) {
	repeated := func(symbol sequitur.Symbol, n uint64) *sequitur.Grammar {
		var b sequitur.Builder
		b.AppendRun(symbol, n)
		return b.Finish()
	}
	silent := func(f *forgedTrace) { f.flags = "\x00" }
	corrupt := func(name, grammars, text string) refusal {
		return refusal{name, []section{{layout.KindGrammars, 0, grammars}}, layout.KindGrammars, 0, false,
			format.ErrCorrupt, text}
	}
	f := newForgedTrace()
	tests := []refusal{
		{"Missing", []section{{layout.KindGrammars, 0, gone}}, layout.KindGrammars, 0, true,
			format.ErrCorrupt, "no such section"},
		{"Empty", []section{{layout.KindGrammars, 0, ""}}, layout.KindGrammars, 0, false, io.ErrUnexpectedEOF,
			"members at offset 0"},
		corrupt("TooMany", sharedGrammars(orderOf(0), orderOf(1)), "2 grammars of 1 shapes"),
		corrupt("Trailing", f.grammars+"\x00", "1 bytes after the last field"),
		corrupt("SizeHuge", "\x00"+uvarint(layout.MaxColumn+1), "size at offset 1"),
		corrupt("NoSuchTerminal", sharedGrammars(orderOf(0, 1, 4)), "terminal 4 of 4 signatures"),
		corrupt("NoCalls", sharedGrammars(orderOf()), "no calls of ranks that made calls"),
		{"TooManyCallsWithStreams", append(changedRun(silent), section{layout.KindInterleaving, 0, gone},
			section{layout.KindGrammars, 0, sharedGrammars(repeated(3, layout.MaxStreamCalls+1))}),
			layout.KindGrammars, 0, false, format.ErrCorrupt,
			fmt.Sprint(layout.MaxStreamCalls+1, " calls of a rank with streams")},
		{"NoPiece", []section{{layout.KindGrammars, 0, "\x00\x02"}}, layout.KindGrammars, 1, true,
			format.ErrCorrupt, "no such section"},
		{"PieceCutOff", []section{{layout.KindGrammars, 0, "\x00\x02"}, {layout.KindGrammars, 1, "\x00"}},
			layout.KindGrammars, 1, false, format.ErrCorrupt, "2 bytes at 0 of a section of 1"},
		{"PieceThatCannotBe", []section{{layout.KindGrammars, 0, "\x00\x01"},
			{layout.KindGrammars, 1, "\x00"}}, layout.KindGrammars, 1, false, format.ErrCorrupt,
			"but all 0 are in the shared piece"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.check(t, newForgedTrace().sections(), readTrace) })
	}
}

// TestRefuseBlocks does the same for grammars in blocks: the section of the run says that they are.
func TestRefuseBlocks(t *testing.T) {
	blocked := changedRun(func(f *forgedTrace) { f.flags = "\x02" })
	alphabet := mixing.Plain(4)
	block := func(grammars ...*sequitur.Grammar) string {
		var members []mixing.Member
		for _, g := range grammars {
			members = append(members, mixing.Member{Grammar: g})
		}
		blocks, ok := mixing.Append(context.Background(), nil, members, alphabet, math.MaxInt, nil)
		if !ok {
			t.Fatal("no block")
		}
		return string(blocks[0])
	}
	one := string(layout.AppendBlocks(nil, []int{1}))
	refuse := func(name, first string, err error, text string) refusal {
		return refusal{name, append(slices.Clone(blocked), section{layout.KindInterleaving, 0, gone},
			section{layout.KindGrammars, 0, first}), layout.KindGrammars, 0, false, err, text}
	}
	tests := []refusal{
		refuse("Empty", "", io.ErrUnexpectedEOF, "blocks at offset 0"),
		refuse("OfNoShapes", "\x01\x00", format.ErrCorrupt, "shapes of a block at offset 1"),
		refuse("OfMoreShapes", "\x01\x02", format.ErrCorrupt, "shapes of a block at offset 1"),
		refuse("TooManyBlocks", uvarint(layout.MaxBlocks+1)+strings.Repeat("\x01", layout.MaxBlocks+1),
			format.ErrLimit, fmt.Sprintf("blocks at offset 0: input exceeds limit: %d, more than %[2]d",
				layout.MaxBlocks+1, layout.MaxBlocks)),
		refuse("NoBlocks", "\x00", format.ErrCorrupt, "of 0 shapes, not 1"),
		refuse("NoBlock", one, io.ErrUnexpectedEOF, "table at offset 2"),
		refuse("TooManyMembers", one+block(orderOf(), orderOf()), format.ErrCorrupt, "2 grammars in a block of 1"),
		refuse("NoCalls", one+block(orderOf()), format.ErrCorrupt, "no calls of ranks that made calls"),
		refuse("Garbage", one+"\x14\x01garbage", format.ErrCorrupt, "member at offset 4"),
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.check(t, newForgedTrace().sections(), readTrace) })
	}
}

// TestNoSuchText checks that the number of a text that is not there is the empty
// text.
func TestNoSuchText(t *testing.T) {
	f := alone(numbered("f", cst.Type{Kind: cst.KindString}))
	for text, want := range map[string]string{c0: "a", c1: "", "\x4f": ""} {
		f.signatures = uvarint(1<<1) + c0 + "\x00\x00"
		f.sendValues = c0 + text
		tr := open(t, forge(t, append(present(f.sections()...), section{layout.KindTexts, 0, "\x01\x01a"})...))
		if _, args := readPart(t, tr, 0).Table.Signature(0); args[0].Text() != want {
			t.Errorf("text %x is %v, want %q", text, args[0], want)
		}
	}
}

// TestErrorText shows what a person is told.
func TestErrorText(t *testing.T) {
	tests := []struct {
		change section
		want   string
	}{
		{section{layout.KindGrammars, 0, gone},
			"grammars, number 0: merge: corrupt input: the file has no such section"},
		{section{layout.KindStreams, 0, "\x00\x00\x02"},
			"streams, number 0: merge: corrupt input: value 2 of 2 in a stream"},
		{section{layout.KindRun, 0, ""}, "run, section at offset 8: merge: ranks at offset 0: unexpected EOF"},
		{section{layout.KindInterleaving, 0, huge},
			"interleaving, section at offset 168: sequitur: rules at offset 0: corrupt input: 9223372036854775807 elements in 0 bytes"},
	}
	for _, tt := range tests {
		err := readTrace(container(t, forge(t, replaced(newForgedTrace().sections(), tt.change)...)))
		if err == nil || err.Error() != tt.want {
			t.Errorf("err = %v\nwant  %s", err, tt.want)
		}
	}
}

func TestKindName(t *testing.T) {
	var names []string
	for k := layout.KindRun; k <= layout.KindKept+1; k++ {
		names = append(names, layout.KindName(k))
	}
	if got := strings.Join(names,
		", "); got != "run, texts, signatures, columns, grammars, interleaving, part, shape, streams, time summaries, time series, names, origin, worlds, times of ranks, bounded, clocks, unordered threads, exact times, kept data, kind 21" {
		t.Error(got)
	}
}

// describe returns all that a file holds as text, or the first error.
func describe(file []byte) (string, error) {
	f, err := format.NewReader(bytes.NewReader(file), int64(len(file)), format.Options{})
	if err != nil {
		return "", err
	}
	tr, err := Open(f)
	if err != nil {
		return "", err
	}
	parts, err := readAll(tr)
	if err != nil {
		return "", err
	}
	run := tr.Run()
	text := fmt.Sprintf("%d ranks of %q, lost %v, names %v\n", run.Ranks, run.Source, tr.Content().LostOrder, run.Names)
	if run.Interleaving != nil {
		text += run.Interleaving.String()
	}
	for _, p := range parts {
		text += fmt.Sprintf("rank %d\n", p.Rank)
		functions := p.Table.Functions()
		for _, s := range p.Grammar.All() {
			fn, args := p.Table.Signature(s)
			text += string(cst.AppendCall(nil, functions[fn], args)) + "\n"
		}
	}
	return text, nil
}

// damageStep is the distance of the bits that are changed.
var damageStep = 1

// TestDamaged checks that no prefix and no one-bit change of a file is read as
// another: of a trace with streams, columns and an interleaving, of one with its
// columns in slices, and of a part file.
func TestDamaged(t *testing.T) {
	for _, sections := range [][]section{newForgedTrace().sections(), slicedTrace().sections(),
		newForgedFile().sections()} {
		file := forge(t, sections...)
		want, err := describe(file)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(file); n += damageStep {
			if _, err := describe(file[:n]); err == nil {
				t.Errorf("accepted the first %d of %d bytes", n, len(file))
			}
		}
		for bit := 0; bit < len(file)*8; bit += damageStep {
			bad := bytes.Clone(file)
			bad[bit/8] ^= 1 << (bit % 8)
			if got, err := describe(bad); err == nil && got != want {
				t.Errorf("a change of bit %d gives\n%s", bit, got)
			}
		}
	}
}

// TestFlippedContent changes the bits of contents, under checksums that hold: what
// is read is another trace or an error, and whatever is read can be written.
func TestFlippedContent(t *testing.T) {
	for _, sections := range [][]section{newForgedTrace().sections(), slicedTrace().sections(),
		newForgedFile().sections()} {
		for i, s := range sections {
			for bit := 0; bit < len(s.content)*8; bit += damageStep * tier.Number(5, 1) {
				bad := []byte(s.content)
				bad[bit/8] ^= 1 << (bit % 8)
				changed := slices.Clone(sections)
				changed[i].content = string(bad)
				checkAccepted(t, forge(t, changed...))
			}
		}
	}
}

// checkAccepted checks what is accepted of a file, if it is: every rank can be
// read, or an error names a section, and what is read can be written and read
// again. Of runs of many ranks or calls it looks at a few.
func checkAccepted(t rapid.TB, file []byte) {
	t.Helper()
	tr, err := Open(container(t, file))
	if err != nil {
		return
	}
	const most = 16 // ranks
	var parts []Part
	for _, rank := range tr.RankSet().All() {
		if len(parts) == most {
			break
		}
		p, err := tr.Part(rank)
		if err != nil {
			var se *format.SectionError
			if !errors.As(err, &se) {
				t.Fatalf("rank %d: %v", rank, err)
			}
			return
		}
		if p.Grammar.Len() == 0 || p.Grammar.Len() > math.MaxInt32 {
			return
		}
		parts = append(parts, p)
	}
	for n := range min(tr.Signatures(), most) {
		if _, err := tr.Printer(trace.PrintOptions{}).Signature(nil, tr.Signature(n)); err != nil {
			var se *format.SectionError
			if !errors.As(err, &se) {
				t.Fatalf("signature %d: %v", n, err)
			}
		}
	}
	tr.Forms()
	again := open(t, write(t, Run{Ranks: tr.Run().Ranks, Names: tr.Run().Names}, parts))
	if got, want := again.Run().Names, tr.Run().Names; !slices.Equal(got, want) {
		t.Fatalf("names %v, written again %v", want, got)
	}
	for _, p := range parts {
		if err := sameCalls(readPart(t, again, p.Rank), p); err != nil {
			t.Fatalf("rank %d, written again: %v", p.Rank, err)
		}
	}
}
