package chrome

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/export/internal/messagetest"
	"github.com/reprise-trace/reprise/internal/exporttest"
	"github.com/reprise-trace/reprise/internal/foreign"
)

// tracks says where the calls are.
const tracks = "SELECT track.id, process.name AS process, thread.name AS thread FROM thread_track AS track JOIN thread USING (utid) JOIN process USING (upid)"

// TestTraceProcessor has Perfetto's own trace processor read what is written.
func TestTraceProcessor(t *testing.T) {
	p := foreign.FindTraceProcessor(t)
	for _, c := range exporttest.Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "trace.json")
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if err := Write(context.Background(), f, c.Trace, c.Options); err != nil {
				t.Fatal(err)
			}
			exporttest.CheckSlices(t, p, path, c.Trace, c.Options, "args.", tracks)
		})
	}
}

// TestMessages has it find the messages.
func TestMessages(t *testing.T) { messagetest.Check(t, Write, "args.", tracks) }

func TestBounds(t *testing.T) { exporttest.CheckBounds(t, Write) }

func BenchmarkWrite(b *testing.B) { exporttest.BenchmarkWrite(b, Write) }
