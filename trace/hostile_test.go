package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/allocated"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

// smallTrace is a trace of some hundred bytes, with a silent rank, loops and an
// interleaving.
func smallTrace(t rapid.TB) []byte { return ringModel(4, 5).roundRobin().record(t) }

// save writes a file for a test.
func save(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// flip returns a trace with records of which the last byte of one is changed.
func flip(t rapid.TB, data []byte, kind format.Kind, key uint64) []byte {
	t.Helper()
	data = records(t, data)
	s, ok := openBytes(t, data).file.Lookup(kind, key)
	if !ok {
		t.Fatalf("no section of kind %d and key %d", kind, key)
	}
	data[s.Offset+s.Size-1] ^= 1
	return data
}

// TestLostTexts opens traces without the texts that their calls have, and with no text in their arrays.
func TestLostTexts(t *testing.T) {
	texts := cst.ArrayOf(cst.Type{Kind: cst.KindString})
	for _, tt := range []struct {
		typ   cst.Type
		value cst.Value
		lost  bool
	}{
		{cst.Type{Kind: cst.KindString}, cst.String("text"), true},
		{cst.Type{Kind: cst.KindBytes}, cst.Bytes(nil), true},
		{texts, cst.Array(cst.String("a")), true},
		{texts, cst.Array(), false},
		{cst.ArrayOf(texts), cst.Array(cst.Array(), cst.Array(cst.String("b"))), true},
		{cst.ArrayOf(texts), cst.Array(cst.Array(), cst.Array()), false},
	} {
		var table cst.Table
		f := table.Declare(cst.Function{Name: "f", Params: []cst.Param{{Name: "x", Type: tt.typ}}})
		var b sequitur.Builder
		b.Append(table.Intern(f, tt.value))
		var file bytes.Buffer
		if err := merge.Write(&file, merge.Run{Ranks: 1},
			[]merge.Part{{Rank: 0, Table: &table, Grammar: b.Finish()}}); err != nil {
			t.Fatal(err)
		}
		without := replaceSection(t, file.Bytes(), layout.KindTexts, nil)
		_, err := OpenReader(bytes.NewReader(without), int64(len(without)), Options{})
		var section *format.SectionError
		if lost := errors.As(err, &section) && section.Kind == layout.KindTexts &&
			errors.Is(err, format.ErrCorrupt); lost != tt.lost || err != nil != tt.lost {
			t.Errorf("%v: %v", tt.typ, err)
		}
	}
}

// records returns a trace with a record for each section, however small they are.
func records(t rapid.TB, file []byte) []byte {
	t.Helper()
	return replaceSection(t, file, math.MaxUint32, nil) // there is none of this kind
}

// TestErrors checks that errors of reading a file name it, and can be told apart.
func TestErrors(t *testing.T) {
	file := records(t, smallTrace(t))
	later := bytes.Clone(file)
	later[7] = format.Version + 1
	var (
		sectionError *format.SectionError
		versionError *format.VersionError
		parseError   *format.ParseError
	)
	tests := []struct {
		name string
		data []byte
		text string // wanted in the message
		is   error
		as   any
	}{
		{"empty.rpz", nil, "header", format.ErrFormat, &parseError},
		{"text.rpz", []byte("a text, which is longer than any header"), "not a container", format.ErrFormat,
			&parseError},
		{"later.rpz", later, "version 3", nil, &versionError},
		{"cut.rpz", file[:len(file)-5], "salvaged", format.ErrCorrupt, &parseError},
		{"cut-small.rpz", smallTrace(t)[:50], "cut off or damaged", format.ErrCorrupt, &parseError},
		{"run.rpz", flip(t, file, layout.KindRun, 0), "run, section at offset 8", format.ErrCorrupt, &sectionError},
		{"signatures.rpz", flip(t, file, layout.KindSignatures, 0), "signatures, section", format.ErrCorrupt,
			&sectionError},
		{"order.rpz", flip(t, file, layout.KindInterleaving, 0), "interleaving, section", format.ErrCorrupt,
			&sectionError},
		{"no-order.rpz", replaceSection(t, file, layout.KindInterleaving, nil), "interleaving: ",
			format.ErrCorrupt, &sectionError},
		{"rank.rpz", flip(t, file, layout.KindGrammars, 0), "grammars, number 0, section", format.ErrCorrupt,
			&sectionError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := save(t, tt.name, tt.data)
			trace, err := Open(path, Options{})
			if err == nil {
				defer trace.Close()
				_, err = trace.Rank(1)
			}
			if err == nil || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), tt.text) {
				t.Fatalf("err = %v, want %s: … %s", err, path, tt.text)
			}
			if tt.is != nil && !errors.Is(err, tt.is) || !errors.As(err, tt.as) {
				t.Errorf("err = %v of type %T, want %v, %T", err, err, tt.is, tt.as)
			}
		})
	}
}

// TestFile covers what has to do with a file: one that does not exist, one that
// is closed, one with a rank that does not exist.
func TestFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.rpz")
	if _, err := Open(missing, Options{}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("missing: err = %v", err)
	}
	path := save(t, "small.rpz", records(t, smallTrace(t)))
	trace, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, rank := range []int{-1, 4} {
		if _, err := trace.Rank(rank); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("rank %d: err = %v", rank, err)
		}
	}
	r := readRank(t, trace, 2)
	if err := trace.Close(); err != nil {
		t.Error(err)
	}
	checkRank(t, r, 2, ringModel(4, 5).ranks[2], 0)

	closed, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Error(err)
	}
	if _, err := closed.Rank(1); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed: err = %v", err)
	}
	if _, err := readCalls(t, closed.Calls(0)).Read(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed: err = %v", err)
	}
}

// describe returns all that a trace holds as text, or the first error. It reads
// at most limit calls.
func describe(trace *Trace, limit int) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%d ranks of %q\n", trace.Ranks(), trace.Run().Source)
	for _, rank := range trace.RankSet().All() {
		r, err := trace.Rank(rank)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "rank %d: %d\n", rank, r.Len())
	}
	for c, err := range trace.Calls(0) {
		if err != nil {
			return "", err
		}
		if limit--; limit < 0 {
			break
		}
		fmt.Fprintf(&b, "%d %v\n", c.Rank, c)
	}
	return b.String(), nil
}

// TestDamaged checks that no prefix and no one-bit change of a trace is read as
// another.
func TestDamaged(t *testing.T) {
	read := func(data []byte) (string, error) {
		trace, err := OpenReader(bytes.NewReader(data), int64(len(data)), Options{})
		if err != nil {
			return "", err
		}
		return describe(trace, 1000)
	}
	file := smallTrace(t)
	want, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	for n := range file {
		if _, err := read(file[:n]); err == nil {
			t.Errorf("accepted the first %d of %d bytes", n, len(file))
		}
	}
	for bit := range len(file) * 8 {
		bad := bytes.Clone(file)
		bad[bit/8] ^= 1 << (bit % 8)
		if got, err := read(bad); err == nil && got != want {
			t.Errorf("a change of bit %d gives\n%s", bit, got)
		}
	}
}

// replaceSection returns a trace with other content in its first section of a
// kind, or without it if content is nil.
func replaceSection(t rapid.TB, file []byte, kind format.Kind, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := format.NewWriter(&out, format.Options{})
	trace := openBytes(t, file)
	for _, s := range trace.Sections() {
		data, err := trace.file.Content(s)
		if err != nil {
			t.Fatal(err)
		}
		if s.Kind == kind && s.Key == 0 {
			data = content
		}
		if data != nil {
			w.Add(s.Kind, s.Key, data)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// salvage opens what is intact of a damaged file.
func salvage(t *testing.T, data []byte) *Trace {
	t.Helper()
	salvaged, losses, err := format.Salvage(bytes.NewReader(data), int64(len(data)), format.Options{})
	if err != nil || len(losses) == 0 {
		t.Fatal(losses, err)
	}
	trace, err := OpenContainer(salvaged, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// TestOpenContainer reads what was salvaged of files without the columns of the
// odd ranks, and without their order, and a file under a limit.
func TestOpenContainer(t *testing.T) {
	m := unevenModel(600, 2)
	file := m.roundRobin().record(t)
	trace := salvage(t, flip(t, file, layout.KindColumns, 0))
	checkRank(t, readRank(t, trace, 2), 2, m.ranks[2], 0)
	if _, err := trace.Rank(1); !errors.Is(err, format.ErrCorrupt) {
		t.Errorf("rank 1: err = %v", err)
	}
	if _, err := describe(trace, 100); !errors.Is(err, format.ErrCorrupt) {
		t.Errorf("all ranks: err = %v", err)
	}
	if trace.Content().LostOrder {
		t.Error("the order is there")
	}

	trace = salvage(t, flip(t, file, layout.KindInterleaving, 0))
	if !trace.Content().LostOrder {
		t.Error("the order is lost")
	}
	checkOrder(t, trace, m.all(), 0)

	container, err := format.NewReader(bytes.NewReader(file), int64(len(file)), format.Options{MaxContent: 4})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenContainer(container, Options{}); !errors.Is(err, format.ErrLimit) {
		t.Errorf("content of at most 4 bytes: err = %v", err)
	}
}

// TestMemory checks that reading costs memory by what a file holds, not by what
// it claims: 2³¹−1 ranks, and 2⁶² calls of one of them.
func TestMemory(t *testing.T) {
	const rank = 1<<31 - 2
	var (
		table   cst.Table
		grammar sequitur.Builder
		file    bytes.Buffer
	)
	table.Intern(table.Declare(barrier))
	grammar.AppendRun(0, 1<<62)
	p := merge.Part{Rank: rank, Table: &table, Grammar: grammar.Finish()}
	if err := merge.Write(&file, merge.Run{Ranks: rank + 1}, []merge.Part{p}); err != nil {
		t.Fatal(err)
	}
	read := func() {
		trace := openBytes(t, file.Bytes())
		r := readRank(t, trace, rank)
		for range r.Calls(1<<62 - 3) {
		}
		calls := readCalls(t, trace.Calls(1<<62-3))
		for range 3 {
			if c, err := calls.Read(); err != nil || c.Rank != rank {
				t.Errorf("%v of rank %d, %v", c, c.Rank, err)
			}
		}
		if _, err := calls.Read(); err != io.EOF {
			t.Errorf("after the last call: err = %v", err)
		}
	}
	least := allocated.By(1, read)
	for range 20 { // what is kept for the next time is not always there
		least = min(least, allocated.By(1, read))
	}
	if least > 64<<10 {
		t.Errorf("a file of %d bytes allocated %d bytes", file.Len(), least)
	}
}

// TestBombs checks that a file of some kilobytes of which a section expands to
// many megabytes costs no more memory than the limits allow, and little if it is
// refused.
func TestBombs(t *testing.T) {
	file := ringModel(4, 5).record(t)
	for _, kind := range []format.Kind{layout.KindRun, layout.KindSignatures, layout.KindGrammars} {
		for _, fill := range tier.Some([]byte{0, 0xff, 1, 0x7f}, 3) {
			for _, tt := range []struct {
				size int
				most uint64
			}{
				{15 << 20, 128 << 20}, // content grows while it is decoded, and is read twice
				{18 << 20, 4 << 20},
			} {
				data := replaceSection(t, file, kind, bytes.Repeat([]byte{fill}, tt.size))
				var err error
				got := allocated.By(1, func() {
					var trace *Trace
					if trace, err = OpenReader(bytes.NewReader(data), int64(len(data)), Options{}); err == nil {
						_, err = trace.Rank(0)
					}
				})
				if tt.size > 16<<20 && !errors.Is(err, format.ErrLimit) {
					t.Errorf("%s of %d bytes: err = %v", layout.KindName(kind), tt.size, err)
				}
				if err == nil || got > tt.most {
					t.Errorf("%s of %d times %d: %d bytes for a file of %d, %v", layout.KindName(kind),
						tt.size, fill, got, len(data), err)
				}
			}
		}
	}
}

// TestPartFile checks that a part file is read like the trace of its ranks.
func TestPartFile(t *testing.T) {
	m := ringModel(5, 3).roundRobin()
	trace := openBytes(t, m.record(t))
	var a merge.Accumulator
	if err := a.Describe(trace.Run()); err != nil {
		t.Fatal(err)
	}
	for _, rank := range trace.RankSet().All() {
		p, err := trace.Part(rank)
		if err == nil {
			err = a.Add(p)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var file bytes.Buffer
	if err := a.WritePart(&file); err != nil {
		t.Fatal(err)
	}
	part := openBytes(t, file.Bytes())
	checkOrder(t, part, m.all(), 0)
	for i := range file.Len() {
		bad := bytes.Clone(file.Bytes())
		bad[i] ^= 1
		if _, err := OpenReader(bytes.NewReader(bad), int64(len(bad)), Options{}); err == nil {
			t.Errorf("accepted a change of byte %d", i)
		}
	}
}
