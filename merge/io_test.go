package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

func TestWriteErrors(t *testing.T) {
	one := func(rank int) Part { return oneCall(rank, barrier) }
	alien := one(1)
	alien.Table = new(cst.Table)
	tooMany := int64(layout.MaxRanks) + 1 // not an int where that has 32 bits
	tests := []struct {
		name  string
		run   Run
		parts []Part
		want  string
	}{
		{"NegativeRanks", Run{Ranks: -1}, nil, "a run of -1 ranks"},
		{"TooManyRanks", Run{Ranks: int(tooMany)}, nil, fmt.Sprintf("a run of %d ranks", int(tooMany))},
		{"NegativeRank", Run{Ranks: 1}, []Part{one(-1)}, "rank -1: a rank is at least 0"},
		{"RankTooLarge", Run{Ranks: 1}, []Part{one(1)}, "a part of rank 1 in a run of 1"},
		{"RankHuge", Run{Ranks: layout.MaxRanks}, []Part{{Rank: layout.MaxRanks}},
			"a part of rank 2147483647 in a run of"},
		{"Twice", Run{Ranks: 2}, []Part{one(1), one(0), one(1)}, "two parts of rank 1"},
		{"NoTable", Run{Ranks: 2}, []Part{{Rank: 1, Grammar: new(sequitur.Grammar)}},
			"rank 1: the part has no table or no grammar"},
		{"NoGrammar", Run{Ranks: 2}, []Part{{Rank: 1, Table: new(cst.Table)}},
			"rank 1: the part has no table or no grammar"},
		{"NoSignature", Run{Ranks: 2}, []Part{alien}, "rank 1: the grammar has terminal 0 of 0"},
		{"OrderTooShort", Run{Ranks: 2, Interleaving: orderOf(1, 0)},
			[]Part{one(0), repeatCall(1, 2, barrier)}, "rank 1 has 2 calls, 1 in the"},
		{"OrderTooLong", Run{Ranks: 2, Interleaving: orderOf(0, 1, 0)}, []Part{one(0), one(1)},
			"rank 0 has 1 calls, 2 in the"},
		{"OrderOfNoPart", Run{Ranks: 9, Interleaving: orderOf(7, 0, 5)}, []Part{one(0)},
			"rank 5 has 0 calls, 1 in the"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var file bytes.Buffer
			err := Write(&file, tt.run, tt.parts)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "merge: ") {
				t.Errorf("err = %v, want %q", err, tt.want)
			}
			if file.Len() > 0 {
				t.Errorf("wrote %d bytes", file.Len())
			}
		})
	}
	var a Accumulator
	if err := a.Add(Part{Rank: layout.MaxRanks, Table: new(cst.Table), Grammar: new(sequitur.Grammar)}); err == nil {
		t.Error("a rank that is too large was added")
	}
	if err := a.Describe(Run{Ranks: -1}); err == nil || a.Describe(Run{Ranks: layout.MaxRanks}) != nil {
		t.Errorf("err = %v", err)
	}
}

// A failingWriter fails after some writes.
type failingWriter struct{ left int }

var errWrite = errors.New("no space left")

func (w *failingWriter) Write(p []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, errWrite
	}
	return len(p), nil
}

// TestWriteFails checks that a failure of each write is reported: of traces with
// all kinds of sections, and of part files.
func TestWriteFails(t *testing.T) {
	text := make([]byte, 32<<10) // more than a small container holds
	for i := range text {
		text[i] = byte(irregular(0, i))
	}
	accumulator := func() *Accumulator {
		a := new(Accumulator)
		for rank := range 2 {
			noise := recorded(rank, 300, func(i int) (cst.Function, cst.Value) {
				return numbered("compute", cst.Type{Kind: cst.KindFloat}), cst.Float(float64(irregular(rank, i) % 30))
			})
			if err := a.Add(noise); err != nil {
				t.Fatal(err)
			}
		}
		for rank := 2; rank < 1000; rank++ {
			if err := a.Add(oneCall(rank, numbered("f", cst.Type{Kind: cst.KindInt}),
				cst.Int(int64(irregular(rank, 0))))); err != nil {
				t.Fatal(err)
			}
		}
		for rank := 1000; rank < 1002; rank++ {
			a.Add(oneCall(rank, numbered("g", cst.Type{Kind: cst.KindString}), cst.String(string(text))))
		}
		if err := a.Describe(Run{Interleaving: orderOf(1001, 1000)}); err != nil {
			t.Fatal(err)
		}
		return a
	}
	for name, write := range map[string]func(a *Accumulator, w *failingWriter) error{
		"Write":     func(a *Accumulator, w *failingWriter) error { return a.Write(w) },
		"WritePart": func(a *Accumulator, w *failingWriter) error { return a.WritePart(w) },
	} {
		writes := 0
		for ; writes < 100; writes++ {
			err := write(accumulator(), &failingWriter{writes})
			if err == nil {
				break
			}
			if !errors.Is(err, errWrite) {
				t.Errorf("%s, after %d writes: err = %v", name, writes, err)
			}
		}
		if writes < 6 || writes == 100 {
			t.Errorf("%s: %d writes", name, writes)
		}
	}
}

func TestPartRange(t *testing.T) {
	trace := open(t, write(t, Run{Ranks: 2}, []Part{oneCall(0, barrier)}))
	for _, rank := range []int{-1, 2, 1 << 30} {
		if _, err := trace.Part(rank); err == nil {
			t.Errorf("rank %d: no error", rank)
		}
	}
	if p := readPart(t, trace, 1); p.Grammar.Len() != 0 || p.Table.Len() != 0 || len(p.Table.Functions()) != 1 {
		t.Errorf("silent rank has %d calls", p.Grammar.Len())
	}
	for _, number := range []int{-1, 1} {
		if _, err := trace.Shape(number); err == nil {
			t.Errorf("shape %d: no error", number)
		}
	}
	if ranks := trace.RankSet(); !ranks.Equal(rankenc.SetOf(0)) {
		t.Errorf("ranks %v made calls", ranks)
	}
}

// A badReader is a file with a bad spot.
type badReader struct {
	*bytes.Reader
	spot int64 // −1: none
}

var errRead = errors.New("input/output error")

func (r *badReader) ReadAt(p []byte, off int64) (int, error) {
	if off <= r.spot && r.spot < off+int64(len(p)) {
		return 0, errRead
	}
	return r.Reader.ReadAt(p, off)
}

// TestReadFails checks that failures of the file are handed on with the name of
// the section, not taken for damage.
func TestReadFails(t *testing.T) {
	f := newForgedTrace()
	for _, file := range [][]byte{forge(t, append(f.sections(), section{layout.KindTexts, 0, "\x00"})...),
		forge(t, newForgedFile().sections()...)} {
		for _, s := range container(t, file).All() {
			bad := &badReader{bytes.NewReader(file), -1}
			r, err := format.NewReader(bad, int64(len(file)), format.Options{})
			if err != nil {
				t.Fatal(err)
			}
			bad.spot = s.Offset
			err = readTrace(r)
			var se *format.SectionError
			if !errors.As(err, &se) || se.Kind != s.Kind || !errors.Is(err, errRead) ||
				errors.Is(err, format.ErrCorrupt) {
				t.Errorf("%s: err = %v", layout.KindName(s.Kind), err)
			}
		}
	}
}

// TestLost checks that what does not depend on a lost section can be read: a
// trace opens without an interleaving, columns, streams and pieces of grammars,
// and reads the ranks that need none of them.
func TestLost(t *testing.T) {
	tier.SlowRace(t)
	f := newForgedTrace()
	trace := open(t, forge(t, replaced(f.sections(), section{layout.KindInterleaving, 0, gone})...))
	if !trace.Content().LostOrder || trace.Run().Interleaving != nil {
		t.Error("the interleaving is not lost")
	}
	checkCalls(t, trace, []Part{forgedPart(0), forgedPart(2)})
	if open(t, forge(t, f.sections()...)).Content().LostOrder {
		t.Error("the interleaving is lost")
	}

	p := largePrograms[5]
	var parts []Part
	for rank := range p.ranks {
		parts = append(parts, p.part(rank))
	}
	sections := contents(t, write(t, Run{Ranks: p.ranks}, parts))
	trace = open(t, forge(t, replaced(sections, section{layout.KindGrammars, 2, gone})...))
	lost := 0
	for _, p := range parts {
		got, err := trace.Part(p.Rank)
		var se *format.SectionError
		switch {
		case err == nil:
			if err := sameCalls(got, p); err != nil {
				t.Errorf("rank %d: %v", p.Rank, err)
			}
		case !errors.As(err, &se) || se.Kind != layout.KindGrammars || se.Key != 2:
			t.Errorf("rank %d: %v", p.Rank, err)
		default:
			lost++
		}
	}
	if lost == 0 || lost > len(parts)-3 {
		t.Errorf("%d of %d ranks are lost with a piece", lost, len(parts))
	}
}
