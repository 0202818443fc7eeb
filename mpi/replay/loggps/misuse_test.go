package loggps_test

import (
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/replay/loggps"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	p := programs.Stencil2D(2, 2, 4).Timed()
	recorded, err := replay.NewRecorded(testtrace.Write(t, p.Run(), p.Parts()))
	if err != nil {
		t.Fatal(err)
	}
	misuse.Walk{
		Package:   "loggps",
		Functions: []any{loggps.ParseFactor, loggps.New, loggps.Default},
		Values: []any{
			recorded, loggps.Default(), loggps.Algorithm("binomial"), loggps.Besides{}, loggps.Factor{},
			loggps.Larger{}, loggps.Link{},
			&loggps.Measured{}, loggps.OfSize{}, loggps.OneWay{}, loggps.RankFactor{}, replay.Instant{},
			&replay.Collective{},
		},
	}.Run(t)
}
