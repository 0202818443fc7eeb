package interpose

import (
	"context"
	"errors"
	"testing"
)

// TestLockCancelled checks that a directory whose lock comes when nobody waits any more is not locked.
func TestLockCancelled(t *testing.T) {
	directory := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := lock(ctx, directory); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	unlock, err := lock(t.Context(), directory)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}
