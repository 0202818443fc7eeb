package chrome

import (
	"testing"

	"github.com/reprise-trace/reprise/export/internal/exporttest"
)

// Package perfetto tests what the calls and messages are.

func TestBounds(t *testing.T) { exporttest.CheckBounds(t, Write) }

func BenchmarkWrite(b *testing.B) { exporttest.BenchmarkWrite(b, Write) }
