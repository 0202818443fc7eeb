package replay_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/internal/programs"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/replay"
	"github.com/reprise-trace/reprise/semantics"
)

// TestBounded replays a trace that was made to fit a size.
func TestBounded(t *testing.T) {
	p := programs.RandomMessages(4, 200, 1)
	var a merge.Accumulator
	for _, part := range p.Parts() {
		if err := a.Add(part); err != nil {
			t.Fatal(err)
		}
	}
	var file bytes.Buffer
	if err := a.WriteBounded(context.Background(), &file, 1200); err != nil {
		t.Fatal(err)
	}
	trace, err := reprise.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	model, err := semantics.Open(context.Background(), trace)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := replay.Run(context.Background(), model, replay.Instant{}); !errors.Is(err, replay.ErrNotExact) {
		t.Errorf("err = %v", err)
	}
}
