package query_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/trace"
)

// TestMessagesMemory asks for the messages of many ranks with little memory: what is needed is told, and with that
// much there is an answer.
func TestMessagesMemory(t *testing.T) {
	p := programs.Stencil3D(20, 20, 20, 1000)
	file := testtrace.File(t, p.Run(), p.Parts())
	open := func(limit int64) *semantics.Model {
		tr, err := trace.OpenReader(bytes.NewReader(file), int64(len(file)), trace.Options{Memory: limit})
		if err != nil {
			t.Fatal(err)
		}
		model, err := semantics.Open(context.Background(), tr)
		if err != nil {
			t.Fatal(err)
		}
		return model
	}
	for name, ask := range map[string]func(m *semantics.Model) error{
		"messages": func(m *semantics.Model) error {
			_, err := query.OpenMessages(context.Background(), m, 0, query.Options{Workers: 2})
			return err
		},
		"match": func(m *semantics.Model) error {
			_, err := query.OpenMatch(context.Background(), m, query.Options{Workers: 2})
			return err
		},
	} {
		var memory *format.MemoryError
		if err := ask(open(12 << 20)); !errors.As(err, &memory) {
			t.Errorf("%s: %v, and not that memory is short", name, err)
			continue
		}
		if err := ask(open(int64(memory.Need + memory.Need/8))); err != nil {
			t.Errorf("%s: with what it needs, %v", name, err)
		}
	}
}
