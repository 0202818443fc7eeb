package query

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/forged"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/trace"
)

// ranksOf returns the ranks that a query with options is about.
func ranksOf(t interface {
	Helper()
	Fatal(...any)
}, tr *trace.Trace, o Options) []int {
	t.Helper()
	ranks, err := o.ranks(tr, 1)
	if err != nil {
		t.Fatal(err)
	}
	return ranks
}

// TestManyRanks asks of a trace of hundred bytes that names 2³¹−1 ranks with calls what holds something for
// each of them.
func TestManyRanks(t *testing.T) {
	file, err := forged.AllCalling(math.MaxInt32)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := trace.OpenReader(bytes.NewReader(file), int64(len(file)), trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	model, err := semantics.Open(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := OpenProfile(t.Context(), tr, Options{})
	if err != nil {
		t.Fatal(err)
	}
	times, err := OpenTimes(tr)
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]func() error{
		"match":     func() error { _, err := OpenMatch(t.Context(), model, Options{}); return err },
		"messages":  func() error { _, err := OpenMessages(t.Context(), model, 0, Options{}); return err },
		"numbering": func() error { _, err := OpenNumbering(t.Context(), model, Options{}); return err },
		"diff":      func() error { _, err := OpenDiff(t.Context(), tr, tr, DiffOptions{}); return err },
		"at":        func() error { _, err := times.At(t.Context(), 0, Options{}); return err },
		"activity":  func() error { _, err := times.Activity(t.Context(), 0, 1, Options{}); return err },
		"by rank":   func() error { _, err := times.ByRank(t.Context(), profile, false, Options{}); return err },
		"series":    func() error { _, err := times.ReadSeries(t.Context(), Options{}); return err },
	} {
		var memory *format.MemoryError
		if err := ask(); !errors.As(err, &memory) || memory.N != math.MaxInt32 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
