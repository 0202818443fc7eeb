package merge_test

import (
	"github.com/reprise-trace/reprise/internal/test/mutate"
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
)

// contentOf returns the content of a section of those of a file, or nothing.
func contentOf(sections []section, kind format.Kind, key uint64) string {
	for _, s := range sections {
		if s.kind == kind && s.key == key {
			return s.content
		}
	}
	return ""
}

// present returns the sections that have a content.
func present(sections ...section) []section {
	var list []section
	for _, s := range sections {
		if s.content != "" {
			list = append(list, s)
		}
	}
	return list
}

// seedPrograms are programs of which the files are seeds.
func seedPrograms(f *testing.F) [][]Part {
	list := [][]Part{{forgedPart(0), forgedPart(2)}}
	for seed := range 10 {
		p := genProgram.Example(seed)
		if p.ranks > 8 {
			p.ranks = 8
		}
		list = append(list, p.parts())
	}
	return list
}

// FuzzSections puts sections into a sound container. Of what is accepted, every
// rank is read or an error names a section, and what is read can be written.
func FuzzSections(f *testing.F) {
	add := func(s []section) {
		f.Add(contentOf(s, layout.KindRun, 0), contentOf(s, layout.KindTexts, 0),
			contentOf(s, layout.KindSignatures, 0), contentOf(s, layout.KindColumns, 0),
			contentOf(s, layout.KindColumns, 1),
			contentOf(s, layout.KindStreams, 0), contentOf(s, layout.KindGrammars, 0),
			contentOf(s, layout.KindGrammars, 1), contentOf(s, layout.KindInterleaving, 0),
			contentOf(s, layout.KindNames, 0))
	}
	add(newForgedTrace().sections())
	add(slicedTrace().sections())
	for _, parts := range seedPrograms(f) {
		add(contents(f, write(f, Run{Ranks: len(parts) + 2, Source: "test"}, parts)))
	}
	mutate.Fuzz(f, func(t *testing.T, run, texts, signatures, columns, slices, streams, grammars, piece, order, names string) {
		checkAccepted(t, forge(t, present(
			section{layout.KindRun, 0, run}, section{layout.KindTexts, 0, texts},
			section{layout.KindSignatures, 0, signatures}, section{layout.KindColumns, 0, columns},
			section{layout.KindColumns, 1, slices},
			section{layout.KindStreams, 0, streams}, section{layout.KindGrammars, 0, grammars},
			section{layout.KindGrammars, 1, piece}, section{layout.KindInterleaving, 0, order},
			section{layout.KindNames, 0, names},
		)...))
	})
}

// FuzzPartFile puts sections into a sound container. What is accepted is written
// as a part file that is read as the same, and as a trace of which every rank can
// be read.
func FuzzPartFile(f *testing.F) {
	add := func(s []section) {
		f.Add(contentOf(s, layout.KindPart, 0), contentOf(s, layout.KindTexts, 0),
			contentOf(s, layout.KindShape, 0), contentOf(s, layout.KindShape, 1),
			contentOf(s, layout.KindInterleaving, 0),
			contentOf(s, layout.KindNames, 0))
	}
	add(newForgedFile().sections())
	for _, parts := range seedPrograms(f) {
		add(contents(f, partFile(f, accumulate(f, Run{Ranks: len(parts), Source: "test"}, parts))))
	}
	mutate.Fuzz(f, func(t *testing.T, part, texts, shape0, shape1, order, names string) {
		if part == "" {
			return
		}
		file := forge(t, present(section{layout.KindPart, 0, part}, section{layout.KindTexts, 0, texts},
			section{layout.KindShape, 0, shape0}, section{layout.KindShape, 1, shape1},
			section{layout.KindInterleaving, 0, order}, section{layout.KindNames, 0, names})...)
		a, err := ReadPart(container(t, file))
		if err != nil || a.RankSet().Len() > 1<<12 {
			return
		}
		first := partFile(t, a)
		if second := partFile(t, throughFile(t, mustRead(t, first))); !bytes.Equal(second, first) {
			t.Fatalf("written again, the part file is\n%x\nnot\n%x", second, first)
		}
		var b bytes.Buffer
		if err := mustRead(t, file).Write(&b); err != nil {
			if !strings.Contains(err.Error(), "in the interleaving") {
				t.Fatal(err)
			}
			return
		}
		checkAccepted(t, b.Bytes())
		if _, err := readAll(open(t, b.Bytes())); err != nil {
			t.Fatal(err)
		}
	})
}

// mustRead reads a part file that is sound.
func mustRead(t rapid.TB, file []byte) *Accumulator {
	t.Helper()
	a, err := ReadPart(container(t, file))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// FuzzRoundTrip gives the property in roundtrip_test.go to the coverage-guided
// fuzzer.
func FuzzRoundTrip(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testRoundTrip)) }
