package otf2

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/exporttest"
	"github.com/reprise-trace/reprise/trace"
)

// BenchmarkRecords measures making the records, without OTF2's library.
func BenchmarkRecords(b *testing.B) {
	exporttest.BenchmarkWrite(b, func(ctx context.Context, w io.Writer, tr *trace.Trace, o export.Options) error {
		choice, err := choose(ctx, tr, o)
		if err != nil {
			return err
		}
		return newWriter(&sizer{w: w}, choice).write(ctx)
	})
}

// BenchmarkWrite measures making archives.
func BenchmarkWrite(b *testing.B) {
	bridge := bridge(b)
	exporttest.BenchmarkWrite(b, func(ctx context.Context, _ io.Writer, tr *trace.Trace, o export.Options) error {
		_, err := Write(ctx, filepath.Join(b.TempDir(), "run.otf2"), tr, Options{Options: o, Bridge: bridge})
		return err
	})
}
