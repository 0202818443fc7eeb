package layout

import (
	"errors"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/internal/mixing"
	"github.com/reprise-trace/reprise/internal/wire"
)

// TestBlocksTogether checks that no more blocks are read together than are written.
func TestBlocksTogether(t *testing.T) {
	for blocks := 1; blocks <= mixing.MaxParts+1; blocks++ {
		sizes := slices.Concat([]int{1, 2}, make([]int, blocks-1), []int{1})
		b, err := ParseBlocks(AppendBlocks(nil, sizes), 4)
		if blocks > mixing.MaxParts {
			if !errors.Is(err, wire.ErrLimit) {
				t.Errorf("%d: %v", blocks, err)
			}
			continue
		}
		if first, end, shapes := b.Run(1); err != nil || first != 1 || end != 1+blocks || shapes != 2 {
			t.Errorf("%d: blocks %d to %d of %d shapes, %v", blocks, first, end, shapes, err)
		}
	}
}
