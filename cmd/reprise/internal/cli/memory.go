package cli

import (
	"bytes"
	"context"
	"errors"
	"math"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/trace"
)

// memoryFlag is the name of the flag that says how much memory a trace may take.
const memoryFlag = "memory"

// A memoryLimit is the value of that flag, in bytes: zero if it is not given.
type memoryLimit int64

func (m *memoryLimit) String() string {
	if *m == 0 {
		return ""
	}
	return text.Bytes(int64(*m))
}

func (m *memoryLimit) Type() string { return "SIZE" }

func (m *memoryLimit) Set(value string) error {
	n, err := Quantity(value, ByteUnits)
	if err == nil && n == 0 {
		err = errors.New("it must be more than 0")
	}
	if err == nil {
		*m = memoryLimit(n)
	}
	return err
}

type memoryKey struct{}

// withMemory returns the context of a command with the limit that it was given.
func withMemory(cmd *cobra.Command) context.Context {
	f := cmd.Flags().Lookup(memoryFlag)
	if f == nil || !f.Changed {
		return cmd.Context()
	}
	return context.WithValue(cmd.Context(), memoryKey{}, int64(*f.Value.(*memoryLimit)))
}

// MemoryOf returns that limit, zero if there is none.
func MemoryOf(ctx context.Context) int64 {
	n, _ := ctx.Value(memoryKey{}).(int64)
	return n
}

// FileOptions returns the options for reading a file of size bytes.
func FileOptions(ctx context.Context, size int64) format.Options {
	return layout.FileOptions(size, MemoryOf(ctx))
}

// Reopen opens a trace that the program itself has just made: it may take any memory.
func Reopen(file []byte) (*trace.Trace, error) {
	return trace.OpenReader(bytes.NewReader(file), int64(len(file)), trace.Options{Memory: math.MaxInt64})
}
