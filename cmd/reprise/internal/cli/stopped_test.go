package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/atomicfile"
)

// TestStopped abandons works while others wait for them, at each step: none waits for ever, and nothing is
// put in its place afterwards.
func TestStopped(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "o.rpz")
	for step := range 4 {
		var (
			w      works
			staged replacements
			ended  = make(chan struct{})
			at     = make(chan int)
		)
		outer, err := w.Begin(func() (func(), error) { return func() { <-ended }, nil })
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			defer outer()
			defer close(ended)
			inner, err := w.Begin(func() (func(), error) { return staged.stop, nil })
			if err != nil {
				return
			}
			defer inner()
			defer staged.abandon()
			for n := 0; n < step; n++ {
				if n == 1 {
					_, err = staged.create(path)
				}
				if err != nil {
					return
				}
			}
			at <- step
			<-at
			if _, err := staged.create(path + "2"); !errors.Is(err, context.Canceled) {
				t.Errorf("step %d: created, %v", step, err)
			}
			if err := staged.commit(); !errors.Is(err, context.Canceled) {
				t.Errorf("step %d: put in place, %v", step, err)
			}
		}()
		<-at
		undone := make(chan struct{})
		go func() {
			w.abandon()
			close(undone)
		}()
		for stopped := false; !stopped; time.Sleep(time.Millisecond) {
			staged.mu.Lock()
			stopped = staged.stopped
			staged.mu.Unlock()
		}
		at <- step
		<-undone
		if _, err := w.Begin(func() (func(), error) { return nil, nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("step %d: a work begins, %v", step, err)
		}
		if left, err := os.ReadDir(directory); err != nil || len(left) > 0 {
			t.Errorf("step %d: left %v, %v", step, left, err)
		}
	}
	d, err := atomicfile.CreateDirectory(filepath.Join(directory, "d"))
	if err != nil {
		t.Fatal(err)
	}
	d.Abandon()
	if err := d.Commit(t.Context()); err == nil {
		t.Error("an abandoned directory is put in place")
	}
	if left, err := os.ReadDir(directory); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
