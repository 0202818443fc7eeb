package replay_test

import (
	"context"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	p := programs.Stencil2D(2, 2, 4).Timed()
	trace := testtrace.Write(t, p.Run(), p.Parts())
	model, err := semantics.Open(context.Background(), trace)
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := replay.NewRecorded(trace)
	if err != nil {
		t.Fatal(err)
	}
	misuse.Walk{
		Package: "replay",
		Functions: []any{replay.NewRecorded, replay.Run, replay.RunWith, replay.Events, replay.Waits, replay.MayWait,
			replay.LacksReceives},
		Values: []any{
			trace, model, recorded, &semantics.Operation{}, replay.Instant{}, &replay.DeadlockError{},
			replay.Waiting{}, replay.Wait{}, replay.ForLock, &replay.Collective{},
			replay.LateSender, &replay.Waited{}, &recording{t: t},
		},
	}.Run(t)
}
