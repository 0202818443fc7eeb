package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
)

// TestNearlyEqual merges the parts of programs whose ranks nearly have the same control flow, in
// random order and grouping, and compares the bytes, and every call with what was recorded.
func TestNearlyEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranks := rapid.IntRange(2, 24).Draw(t, "ranks")
		run, parts := testtrace.Nearly(t, rapid.Uint64().Draw(t, "program"), ranks, "")
		var alone []*Accumulator
		for _, part := range parts {
			alone = append(alone, accumulate(t, run, []Part{part}))
		}
		want := write(t, run, parts)
		if got := traceFile(t, mergeAll(t, alone)); !bytes.Equal(got, want) {
			t.Fatalf("%d bytes, %d when all parts are added in order", len(got), len(want))
		}
		checkCalls(t, open(t, want), parts)
	})
}

// TestNearlyForms merges the same programs every time, until a trace had its grammars in blocks
// and another one its shapes as a column: TestNearlyEqual tests these forms too.
func TestNearlyForms(t *testing.T) {
	const ranks, programs = 20, 100
	blocks, columns := false, false
	for seed := range programs {
		run, parts := testtrace.Nearly(t, uint64(seed), ranks, "")
		flags := accumulate(t, run, parts).Flags()
		blocks = blocks || flags&layout.FlagBlocks != 0
		columns = columns || flags&layout.FlagShapes != 0
		if blocks && columns {
			return
		}
	}
	t.Errorf("of %d programs, none was written with blocks (%v) or a column of shapes (%v)", programs,
		!blocks, !columns)
}
