package merge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/wire"
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

// The contents of the sections of a trace of three ranks, of which rank 1 made
// no calls: 0 and 2 call barrier twice and three times.
const (
	someRun        = "\x03" + "\x04test" + "\x01" + "\x01\x01"
	someFunctions  = "\x01" + "\x0ebarrier" + "\x00"
	someSignatures = "\x01" + "\x00"
	twice          = "\x01" + "\x01\x01\x00"
	thrice         = "\x01" + "\x01\x01\x01"
	someOrder      = "\x01" + "\x03" + "\x00" + "\x09\x01" + "\x00" // 0 2 2 2 0
)

// someTrace returns the sections of that trace, changed by what changes hold: a
// section in place of the one of that kind and key, or a new one. One with the
// content gone is left out.
func someTrace(changes ...section) []section {
	sections := []section{
		{KindRun, 0, someRun},
		{KindFunctions, 0, someFunctions},
		{KindSignatures, 0, someSignatures},
		{KindGrammar, 0, twice},
		{KindSignatures, 2, someSignatures},
		{KindGrammar, 2, thrice},
		{KindInterleaving, 0, someOrder},
	}
	for _, c := range changes {
		i := slices.IndexFunc(sections, func(s section) bool { return s.kind == c.kind && s.key == c.key })
		switch {
		case i < 0:
			sections = append(sections, c)
		case c.content == gone:
			sections = slices.Delete(sections, i, i+1)
		default:
			sections[i] = c
		}
	}
	return sections
}

const gone = "gone"

// readAll reads the parts of all ranks that made calls.
func readAll(trace *Trace) ([]Part, error) {
	var parts []Part
	for rank, ok := trace.Active(0); ok; rank, ok = trace.Active(rank + 1) {
		p, err := trace.Part(rank)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func TestForged(t *testing.T) {
	trace := openFile(t, forge(t, someTrace(section{9, 9, "a kind of a later version"})...))
	parts, err := readAll(trace)
	if err != nil || len(parts) != 2 {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	if !bytes.Equal(write(t, trace.Run(), parts...), write(t, Run{Ranks: 3, Source: "test", Interleaving: order(0, 2, 2, 2, 0)},
		part(0, nil, slices.Repeat([]call{{f: barrier}}, 2)...), part(2, nil, slices.Repeat([]call{{f: barrier}}, 3)...))) {
		t.Error("the forged trace is not the one it is meant to be")
	}
}

// TestErrors gives every reason to refuse a trace: which section is named, and
// with what error. The offset of a missing section is −1.
func TestErrors(t *testing.T) {
	silent := func(run string) section { return section{KindRun, 0, run} }
	tests := []struct {
		name    string
		changes []section
		kind    format.Kind
		key     uint64
		missing bool
		want    error
	}{
		{"NoRun", []section{{KindRun, 0, gone}}, KindRun, 0, true, ErrCorrupt},
		{"NoFunctions", []section{{KindFunctions, 0, gone}}, KindFunctions, 0, true, ErrCorrupt},
		{"NoSignatures", []section{{KindSignatures, 2, gone}}, KindSignatures, 2, true, ErrCorrupt},
		{"NoGrammar", []section{{KindGrammar, 2, gone}}, KindGrammar, 2, true, ErrCorrupt},
		{"EmptyRun", []section{silent("")}, KindRun, 0, false, io.ErrUnexpectedEOF},
		{"RunCutOff", []section{silent("\x03\x00\x01\x01")}, KindRun, 0, false, ErrCorrupt},
		{"RunTrailing", []section{silent(someRun + "\x00")}, KindRun, 0, false, ErrCorrupt},
		{"RanksTooMany", []section{silent("\x80\x80\x80\x80\x08\x00\x00")}, KindRun, 0, false, ErrCorrupt},
		{"SourceTooLong", []section{silent("\x03\xff\xff\xff\xff\x7f")}, KindRun, 0, false, ErrCorrupt},
		{"SilentTooMany", []section{silent("\x03\x00\xff\xff\xff\xff\x7f\x00\x01")}, KindRun, 0, false, ErrCorrupt},
		{"SilentEmpty", []section{silent("\x03\x00\x01\x01\x00")}, KindRun, 0, false, ErrCorrupt},
		{"SilentTouching", []section{silent("\x03\x00\x02\x00\x01\x00\x01")}, KindRun, 0, false, ErrCorrupt},
		{"SilentGapTooLong", []section{silent("\x03\x00\x01\x04\x01")}, KindRun, 0, false, ErrCorrupt},
		{"SilentTooLong", []section{silent("\x03\x00\x01\x01\x03")}, KindRun, 0, false, ErrCorrupt},
		{"SilentHuge", []section{silent("\x03\x00\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")}, KindRun, 0, false, ErrCorrupt},
		{"RunKey", []section{{KindRun, 1, someRun}}, KindRun, 1, false, ErrCorrupt},
		{"FunctionsKey", []section{{KindFunctions, 2, someFunctions}}, KindFunctions, 2, false, ErrCorrupt},
		{"InterleavingKey", []section{{KindInterleaving, 7, someOrder}}, KindInterleaving, 7, false, ErrCorrupt},
		{"GrammarOfSilentRank", []section{{KindGrammar, 1, twice}}, KindGrammar, 1, false, ErrCorrupt},
		{"SignaturesBeyondRanks", []section{{KindSignatures, 3, someSignatures}}, KindSignatures, 3, false, ErrCorrupt},
		{"GrammarOfHugeRank", []section{{KindGrammar, math.MaxUint64, twice}}, KindGrammar, math.MaxUint64, false, ErrCorrupt},
		{"BadFunctions", []section{{KindFunctions, 0, "\x01\x0ebarrier\x01"}}, KindFunctions, 0, false, ErrCorrupt},
		{"FewerFunctions", []section{{KindFunctions, 0, "\x00"}}, KindSignatures, 0, false, ErrCorrupt},
		{"SignatureOfNoFunction", []section{{KindSignatures, 2, "\x01\x01"}}, KindSignatures, 2, false, ErrCorrupt},
		{"SignaturesTwice", []section{{KindSignatures, 2, "\x02\x00\x00"}}, KindSignatures, 2, false, ErrCorrupt},
		{"NoSuchTerminal", []section{{KindGrammar, 2, "\x01\x01\x05\x01"}}, KindGrammar, 2, false, ErrCorrupt},
		{"NoSuchTerminalInRule", []section{{KindGrammar, 2, "\x02\x02\x00\x04\x01\x03\x00"}}, KindGrammar, 2, false, ErrCorrupt},
		{"GrammarTrailing", []section{{KindGrammar, 2, thrice + "\x00"}}, KindGrammar, 2, false, ErrCorrupt},
		{"GrammarEmpty", []section{{KindGrammar, 2, "\x00"}, {KindInterleaving, 0, gone}}, KindGrammar, 2, false, ErrCorrupt},
		{"MoreCallsThanInterleaving", []section{{KindGrammar, 2, "\x01\x01\x01\x02"}}, KindGrammar, 2, false, ErrCorrupt},
		{"FewerCallsThanInterleaving", []section{{KindGrammar, 2, twice}}, KindGrammar, 2, false, ErrCorrupt},
		{"InterleavingCutOff", []section{{KindInterleaving, 0, someOrder[:3]}}, KindInterleaving, 0, false, ErrCorrupt},
		{"InterleavingEmpty", []section{{KindInterleaving, 0, "\x00"}}, KindInterleaving, 0, false, ErrCorrupt},
		{"InterleavingRankByRank", []section{{KindInterleaving, 0, "\x01\x02\x01\x00\x09\x01"}}, KindInterleaving, 0, false, ErrCorrupt},
		{"InterleavingOfSilentRank", []section{{KindInterleaving, 0, "\x01\x03\x00\x04\x00"}}, KindInterleaving, 0, false, ErrCorrupt},
		{"InterleavingBeyondRanks", []section{{KindInterleaving, 0, "\x01\x03\x00\x0c\x00"}}, KindInterleaving, 0, false, ErrCorrupt},
		{"InterleavingLacksRank", []section{silent("\x03\x00\x00"), {KindSignatures, 1, someSignatures}, {KindGrammar, 1, twice}}, KindInterleaving, 0, false, ErrCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fr := reader(t, forge(t, someTrace(tt.changes...)...))
			trace, err := Open(fr)
			if err == nil {
				_, err = readAll(trace)
			}
			var se *SectionError
			if !errors.As(err, &se) || se.Kind != tt.kind || se.Key != tt.key || !errors.Is(err, tt.want) {
				t.Fatalf("err = %v, want %v in %s, key %d", err, tt.want, KindName(tt.kind), tt.key)
			}
			s, ok := fr.Lookup(tt.kind, tt.key)
			if !ok {
				s.Offset, s.Source = -1, -1
			}
			if ok == tt.missing || se.Offset != s.Offset && se.Offset != s.Source {
				t.Errorf("offset = %d, want that of %+v", se.Offset, s)
			}
		})
	}
}

// TestErrorText shows what a person is told.
func TestErrorText(t *testing.T) {
	tests := []struct {
		changes []section
		want    string
	}{
		{[]section{{KindGrammar, 2, gone}}, "grammar of rank 2: merge: corrupt input: the file has no such section"},
		{[]section{{KindGrammar, 2, "\x01\x01\x05\x01"}}, "grammar of rank 2, section at offset 86: merge: corrupt input: terminal 1 of 1 signatures"},
		{[]section{{KindRun, 0, ""}}, "run, section at offset 8: merge: ranks at offset 0: unexpected EOF"},
		{[]section{{KindSignatures, 0, "\x01\x07"}}, "signatures of rank 0, section at offset 49: cst: function at offset 1: corrupt input: function 7 of 1"},
	}
	for _, tt := range tests {
		trace, err := Open(reader(t, forge(t, someTrace(tt.changes...)...)))
		if err == nil {
			_, err = readAll(trace)
		}
		if err == nil || err.Error() != tt.want {
			t.Errorf("err = %v\nwant  %s", err, tt.want)
		}
	}
}

// TestLostRanks checks that the ranks of a file that was salvaged are read
// although others are lost, and that a small file does not claim many ranks.
func TestLostRanks(t *testing.T) {
	trace := openFile(t, forge(t, someTrace(section{KindGrammar, 0, gone}, section{KindInterleaving, 0, gone})...))
	if _, err := trace.Part(0); !errors.Is(err, ErrCorrupt) {
		t.Errorf("rank 0: err = %v", err)
	}
	if p := readPart(t, trace, 2); p.Grammar.Len() != 3 {
		t.Errorf("rank 2: %d calls", p.Grammar.Len())
	}
	for ranks, want := range map[uint64]error{maxLost: nil, maxLost + 1: ErrLimit, maxRanks: ErrLimit} {
		run := string(wire.AppendUvarint(nil, ranks)) + "\x00\x00"
		_, err := Open(reader(t, forge(t, section{KindRun, 0, run}, section{KindFunctions, 0, someFunctions})))
		if !errors.Is(err, want) {
			t.Errorf("%d ranks without sections: err = %v, want %v", ranks, err, want)
		}
	}
}

// describe returns all that a trace holds as text, or the first error.
func describe(file []byte, o format.Options) (string, error) {
	fr, err := format.NewReader(bytes.NewReader(file), int64(len(file)), o)
	if err != nil {
		return "", err
	}
	trace, err := Open(fr)
	if err != nil {
		return "", err
	}
	parts, err := readAll(trace)
	if err != nil {
		return "", err
	}
	run := trace.Run()
	text := fmt.Sprintf("%d ranks of %q\n", run.Ranks, run.Source)
	if run.Interleaving != nil {
		text += run.Interleaving.String()
	}
	for _, p := range parts {
		text += fmt.Sprintf("rank %d\n", p.Rank)
		for _, c := range expand(p) {
			text += string(cst.AppendCall(nil, c.f, c.args)) + "\n"
		}
	}
	return text, nil
}

// TestDamaged checks that no prefix and no one-bit change of a trace is read as
// another.
func TestDamaged(t *testing.T) {
	file := write(t, Run{Ranks: 3, Source: "test", Interleaving: order(0, 2, 0, 2, 0, 0)},
		part(0, nil, ring(0, 2)[:4]...), part(2, nil, ring(1, 3)[:2]...))
	want, err := describe(file, format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for n := range file {
		if _, err := describe(file[:n], format.Options{}); err == nil {
			t.Errorf("accepted the first %d of %d bytes", n, len(file))
		}
	}
	for bit := range len(file) * 8 {
		bad := bytes.Clone(file)
		bad[bit/8] ^= 1 << (bit % 8)
		if got, err := describe(bad, format.Options{}); err == nil && got != want {
			t.Errorf("a change of bit %d gives\n%s", bit, got)
		}
	}
}
