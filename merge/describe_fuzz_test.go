package merge_test

import (
	"github.com/reprise-trace/reprise/internal/test/mutate"
	. "github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"

	"bytes"
	"errors"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
)

// FuzzShapeSignature puts sections into a sound container. Of what is accepted,
// every signature of a shape is described, for its ranks, by as many texts as the
// function has parameters, or an error names a section.
func FuzzShapeSignature(f *testing.F) {
	for _, parts := range seedPrograms(f) {
		s := contents(f, write(f, Run{Ranks: len(parts) + 2, Source: "test"}, parts))
		f.Add(contentOf(s, layout.KindRun, 0), contentOf(s, layout.KindSignatures, 0),
			contentOf(s, layout.KindGrammars, 0), contentOf(s, layout.KindTexts, 0))
	}
	mutate.Fuzz(f, func(t *testing.T, run, signatures, grammars, texts string) {
		data := forge(t, present(section{layout.KindRun, 0, run}, section{layout.KindSignatures, 0, signatures},
			section{layout.KindGrammars, 0, grammars}, section{layout.KindTexts, 0, texts})...)
		file, err := format.NewReader(bytes.NewReader(data), int64(len(data)), format.Options{})
		if err != nil {
			t.Fatal(err)
		}
		tr, err := Open(file)
		if err != nil {
			return
		}
		for number := range min(tr.Shapes(), 4) {
			shape, err := tr.Shape(number)
			if err != nil || shape.Ranks.Len() > 1<<8 {
				continue
			}
			for _, n := range shape.Grammar.FirstUse()[:min(len(shape.Grammar.FirstUse()), 8)] {
				s := shape.Signature(int(n))
				args, err := tr.Printer(trace.PrintOptions{}).Arguments(nil, s)
				if err != nil && !errors.As(err, new(*format.SectionError)) ||
					err == nil && len(args) != len(s.Function.Params) {
					t.Fatalf("signature %d of shape %d is %v, %v", n, number, s, err)
				}
			}
		}
	})
}
