package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/sequitur"
)

// readPartFile reads a part file.
func readPartFile(f *format.Reader) error {
	_, err := ReadPart(f)
	return err
}

// changedHead returns the head of a part file that differs from that of the forged one.
func changedHead(change func(*forgedFile)) []section {
	f := newForgedFile()
	change(&f)
	return []section{{layout.KindPart, 0, f.part()}}
}

func TestRefusePart(t *testing.T) {
	head := changedHead
	corrupt := func(name, text string, change ...section) refusal {
		return refusal{name, change, layout.KindPart, 0, false, format.ErrCorrupt, text}
	}
	same, other := newForgedFile(), newForgedFile()
	same.ranks, same.columns = "\x02\x04\x00", "\x02\x00\x02"                                           // 1
	other.ranks, other.forms, other.columns, other.grammar = "\x02\x08\x00", "\x01\x00", "", encoded(0) // 2
	tests := []refusal{
		{"NoPart", []section{{layout.KindPart, 0, gone}}, layout.KindPart, 0, true, format.ErrCorrupt,
			"no such section"},
		{"Empty", []section{{layout.KindPart, 0, ""}}, layout.KindPart, 0, false, io.ErrUnexpectedEOF,
			"ranks at offset 0"},
		corrupt("RanksTooMany", "ranks at offset 0", head(func(f *forgedFile) { f.size = uvarint(1 << 31) })...),
		corrupt("SourcesTooMany", "sources at offset 1", head(func(f *forgedFile) { f.sources = huge })...),
		corrupt("SourceTooLong", "source at offset 2", head(func(f *forgedFile) { f.sources = "\x01" + huge })...),
		corrupt("ShapesTooMany", "shapes at offset 7", head(func(f *forgedFile) { f.shapes = huge })...),
		corrupt("InterleavingsTooMany", "interleavings at offset 8", head(func(f *forgedFile) { f.orders = huge })...),
		corrupt("FunctionsBroken", "functions at offset 9", head(func(f *forgedFile) { f.functions = huge })...),
		corrupt("Trailing", "1 bytes after the last field", head(func(f *forgedFile) { f.functions += "\x00" })...),
		{"ShapeMissing", head(func(f *forgedFile) {
			f.shapes = "\x02"
		}), layout.KindShape, 1, true, format.ErrCorrupt, "no such section"},
		{"InterleavingMissing", head(func(f *forgedFile) {
			f.orders = "\x02"
		}), layout.KindInterleaving, 1, true, format.ErrCorrupt, "no such section"},
		{"TextsTooMany", []section{{layout.KindTexts, 0, "\x02\x00"}}, layout.KindTexts, 0, false,
			format.ErrCorrupt, "texts at offset 0"},
		{"TextTwice", []section{{layout.KindTexts, 0, "\x02\x01a\x01a"}}, layout.KindTexts, 0, false,
			format.ErrCorrupt, "a text occurs twice"},
		{"ShapeTwice", append(head(func(f *forgedFile) {
			f.shapes = "\x02"
		}), section{layout.KindShape, 1, same.shape()}), layout.KindShape, 1, false, format.ErrCorrupt,
			"the shape occurs twice"},
		{"RankTwice", append(head(func(f *forgedFile) {
			f.shapes = "\x02"
		}), section{layout.KindShape, 1, other.shape()}), layout.KindPart, 0, false, format.ErrCorrupt,
			"rank 2 is of two shapes"},
		{"InterleavingBroken", []section{{layout.KindInterleaving, 0, huge}}, layout.KindInterleaving, 0,
			false, format.ErrCorrupt, "rules at offset 0"},
		{"InterleavingRankByRank", []section{{layout.KindInterleaving, 0, encoded(0, 0, 0, 2, 2, 2)}},
			layout.KindInterleaving, 0, false, format.ErrCorrupt, "the order is rank by rank"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { tt.check(t, newForgedFile().sections(), readPartFile) })
	}
}

// TestRefuseShape gives every reason to refuse a shape of a part file.
func TestRefuseShape(t *testing.T) {
	const long = "\x02\x01\x00\x00\x01" // 0, 2, 4
	tests := []struct {
		name   string
		change func(*forgedFile)
		want   error
		text   string
	}{
		{"Empty", func(f *forgedFile) { *f = forgedFile{} }, io.ErrUnexpectedEOF, "set at offset 0"},
		{"RanksBroken", func(f *forgedFile) { f.ranks = "\xfe\x01" }, format.ErrCorrupt, "set at offset 0"},
		{"NoRanks", func(f *forgedFile) { f.ranks = "\x00" }, format.ErrCorrupt, "ranks at offset 0"},
		{"RankBeyondRun", func(f *forgedFile) {
			f.ranks = "\x02\x0c\x00"
		}, format.ErrCorrupt, "ranks at offset 0: corrupt input: 3 in a run of 3"},
		{"RanksTooMany", func(f *forgedFile) {
			f.size, f.ranks = uvarint(layout.MaxRanks), "\x02\x00"+uvarint(512<<20/PartRankMemory)
		}, format.ErrLimit,
			"ranks at offset 0: 16777217 ranks in a part file take some 513 MiB of memory, more than 512 MiB"},
		{"TerminalsTooMany", func(f *forgedFile) { f.forms = huge }, format.ErrCorrupt, "terminals at offset 5"},
		{"NoSuchFunction", func(f *forgedFile) {
			f.forms = "\x03\x06\x04\x02\x02"
		}, format.ErrCorrupt, "function at offset 6: corrupt input: 3 of 3"},
		{"LengthTooLarge", func(f *forgedFile) {
			f.forms = "\x03" + "\x00" + "\x04" + "\x02" + huge
		}, format.ErrCorrupt, "length at offset 9"},
		{"ColumnsTooMany", func(f *forgedFile) {
			f.forms, f.columns, f.grammar = "\x01\x04", "", ""
		}, format.ErrCorrupt, "columns at offset 7: corrupt input: 1 in 0 bytes"},
		{"RunsTooMany", func(f *forgedFile) { f.columns = huge }, format.ErrCorrupt, "runs at offset 10"},
		{"RunTooLong", func(f *forgedFile) {
			f.columns = "\x01\x02\x02\x00" + f.columns[3:]
		}, format.ErrCorrupt, "length at offset 11: corrupt input: 3 of 2 ranks"},
		{"RunsForNoRanks", func(f *forgedFile) {
			f.columns = "\x01\x01\x02\x02\x00" + f.columns[3:]
		}, format.ErrCorrupt, "length at offset 14: corrupt input: 0 of 0 ranks"},
		{"RunHuge", func(f *forgedFile) {
			f.columns = "\x01" + huge + f.columns[3:]
		}, format.ErrCorrupt, "length at offset 11"},
		{"ValueCutOff", func(f *forgedFile) {
			f.columns, f.grammar = f.columns[:6]+"\x80\x80\x80", ""
		}, io.ErrUnexpectedEOF, "value at offset 16"},
		{"LineContinues", func(f *forgedFile) {
			f.columns = "\x01\x00\x02\x04" + f.columns[3:]
		}, format.ErrCorrupt, "value at offset 13: corrupt input: continues the run before it"},
		{"LineOverflows", func(f *forgedFile) {
			f.columns = "\x00\x02" + uvarint(1<<64-2) + f.columns[3:]
		}, format.ErrCorrupt, "2 steps of 9223372036854775807 overflow"},
		{"LineOverflowsBelow", func(f *forgedFile) {
			f.columns = "\x00\x01" + uvarint(1<<64-1) + f.columns[3:]
		}, format.ErrCorrupt, "2 steps of -9223372036854775808 overflow"},
		{"NoSuchText", func(f *forgedFile) {
			f.columns = "\x00\x02\x02" + "\x01\x00\x00\x06" + "\x01\x00\x02\x01"
		}, format.ErrCorrupt, "text 3 or 3, not from 0 to 1"},
		{"NoSuchTextBelow", func(f *forgedFile) {
			f.columns = "\x00\x02\x02" + "\x00\x00\x01" + "\x01\x00\x02\x01"
		}, format.ErrCorrupt, "text 0 or -2, not from 0 to 1"},
		{"NoSuchTextWithin", func(f *forgedFile) {
			f.size, f.ranks = "\x05", long
			f.columns = "\x00\x02\x02" + "\x00\x00" + "\x06" + "\x00\x02\x01"
		}, format.ErrCorrupt, "text 0 or 12, not from 0 to 1"},
		{"GroupRankBelow", func(f *forgedFile) {
			f.group("\x00\x03\x00", "\x00\x06\x00")
		}, format.ErrCorrupt, "group rank -2 or -2, not from -1 to 2147483647"},
		{"GroupSizeTooLarge", func(f *forgedFile) {
			f.group("\x00\x00\x00", "\x00\x00"+uvarint(1<<31))
		}, format.ErrCorrupt, "group size 0 or 2147483648, not from -1 to 2147483647"},
		{"InnerLengthTooLarge", func(f *forgedFile) {
			f.functions = functionsOf(barrier, cst.Function{Name: "lines",
				Params: []cst.Param{{Name: "of", Type: cst.ArrayOf(cst.ArrayOf(cst.Type{Kind: cst.KindInt}))}}}, send)
			f.forms = "\x03" + "\x02" + "\x03" + huge
		}, format.ErrCorrupt, "length at offset 8"},
		{"SitesApart", func(f *forgedFile) {
			f.functions = functionsOf(barrier, lines, cst.Function{Name: "send", Params: []cst.Param{layout.Site}})
		}, format.ErrCorrupt, "site at offset 10: corrupt input: not of the same place in all ranks of a shape"},
		{"GrammarBroken", func(f *forgedFile) { f.grammar = "\x7f" }, format.ErrCorrupt, "rules at offset 21"},
		{"GrammarEmpty", func(f *forgedFile) {
			f.forms, f.columns, f.grammar = "\x00", "", encoded()
		}, format.ErrCorrupt, "grammar at offset 6: corrupt input: 0 terminals of 0 signatures"},
		{"TerminalUnused", func(f *forgedFile) {
			f.grammar = encoded(0, 1)
		}, format.ErrCorrupt, "grammar at offset 21: corrupt input: 2 terminals of 3 signatures"},
		{"TerminalTooLarge", func(f *forgedFile) {
			f.grammar = encoded(0, 1, 3)
		}, format.ErrCorrupt, "terminal 3 comes before 2"},
		{"TerminalsInOtherOrder", func(f *forgedFile) {
			f.grammar = encoded(0, 2, 1)
		}, format.ErrCorrupt, "terminal 2 comes before 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newForgedFile()
			tt.change(&f)
			change := []section{{layout.KindShape, 0, f.shape()}}
			if f.size != "" {
				change = append(change, section{layout.KindPart, 0, f.part()})
			}
			refusal{tt.name, change, layout.KindShape, 0, false, tt.want, tt.text}.check(t,
				newForgedFile().sections(), readPartFile)
		})
	}
}

// TestOpenPart checks that a part file that cannot become a trace is refused when
// it is opened as one: its orders must be those of the calls.
func TestOpenPart(t *testing.T) {
	for _, order := range []string{encoded(0, 2, 0), encoded(0, 2, 0, 2, 0, 2, 2), encoded(0, 7, 0, 2, 2, 0, 2)} {
		_, err := Open(container(t,
			forge(t, replaced(newForgedFile().sections(), section{layout.KindInterleaving, 0, order})...)))
		if err == nil || !strings.Contains(err.Error(), "in the interleaving") {
			t.Errorf("order %x: err = %v", order, err)
		}
	}
	var b bytes.Buffer
	if err := new(Accumulator).WritePart(&b); err != nil {
		t.Fatal(err)
	}
	if trace := open(t, b.Bytes()); trace.Run().Ranks != 0 || trace.Shapes() != 0 || len(trace.Functions()) != 0 {
		t.Errorf("an empty part file gives %+v", trace.Run())
	}
	if _, err := Open(container(t, forge(t, section{layout.KindPart, 0, ""}))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("err = %v", err)
	}
}

// TestPartFileOrder checks that functions, texts, shapes and interleavings are in
// an order of their own, whatever that of the file that is read.
func TestPartFileOrder(t *testing.T) {
	f := newForgedFile()
	want := contents(t, forge(t, f.sections()...))
	f.functions = functionsOf(send, lines, barrier)
	f.forms = "\x03" + "\x04" + "\x00" + "\x02\x02"
	f.texts = "\x02" + "\x01b" + "\x01a"
	f.columns = "\x00\x02\x02" + "\x01\x00\x02\x01" + "\x01\x00\x00\x02"
	a, err := ReadPart(container(t, forge(t, f.sections()...)))
	if err != nil {
		t.Fatal(err)
	}
	if got := contents(t, partFile(t, a)); !slices.Equal(got, want) {
		t.Errorf("the part file has %q\nwant %q", got, want)
	}
}

// TestMergeErrors checks what cannot be merged.
func TestMergeErrors(t *testing.T) {
	f := cst.Function{Name: "f"}
	a, b := new(Accumulator), new(Accumulator)
	for rank := range 5 {
		a.Add(oneCall(2*rank, f))
		b.Add(oneCall(2*rank+1, f))
	}
	b.Add(oneCall(6, f))
	if err := a.Merge(b); err == nil || err.Error() != "merge: two parts of rank 6" {
		t.Errorf("err = %v", err)
	}
	if err := a.Add(oneCall(2, f)); err == nil || err.Error() != "merge: two parts of rank 2" {
		t.Errorf("err = %v", err)
	}
	a = new(Accumulator)
	a.Add(oneCall(2, f))
	if err := a.Add(Part{Rank: 2, Table: new(cst.Table), Grammar: new(sequitur.Grammar)}); err != nil ||
		a.RankSet().Len() != 1 {
		t.Errorf("an empty part of a rank that has one: %v", err)
	}
}
