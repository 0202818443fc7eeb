package perfetto

import (
	"testing"

	"github.com/reprise-trace/reprise/export/internal/exporttest"
)

func TestBounds(t *testing.T) { exporttest.CheckBounds(t, Write) }

func BenchmarkWrite(b *testing.B) { exporttest.BenchmarkWrite(b, Write) }
