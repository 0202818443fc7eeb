package merge

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/layout"
)

// TestMostBlocks checks that a reader accepts as many blocks as a writer makes: of any two that
// follow each other, the grammars have more symbols than a block has,
// or the streams more values.
func TestMostBlocks(t *testing.T) {
	if most := 2*maxMixed/blockSymbols + 1; most > layout.MaxBlocks {
		t.Errorf("%d blocks, but %d are accepted", most, layout.MaxBlocks)
	}
	if most := 2*(maxStretched/blockSymbols+maxValues/blockValues) + 1; most > layout.MaxBlocks {
		t.Errorf("%d blocks with streams, but %d are accepted", most, layout.MaxBlocks)
	}
}
