package merge_test

import (
	"github.com/reprise-trace/reprise/internal/test/tier"
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/sequitur"
)

// A doomed context is done when it has been asked a number of times.
type doomed struct {
	context.Context
	left int
}

func (d *doomed) Err() error {
	if d.left--; d.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestWriteCanceled cancels the writing of a trace with everything that there may
// be in one at each moment: either it fails and writes nothing, or the trace is
// complete.
func TestWriteCanceled(t *testing.T) {
	var a Accumulator
	for _, p := range append(rings(16, func(r int) int {
		return r % 3
	}, []int{7, 2, 5, 0, 1, 3, 4, 6, 15, 14, 9, 8, 10, 13, 11, 12}, true), variedPart(16), variedPart(17)) {
		if err := a.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	want := traceFile(t, &a)
	moments, step := 0, tier.Number(31, 3)
	if Racing {
		step = 211
	}
	for ; ; moments += step {
		var b bytes.Buffer
		err := a.WriteContext(&doomed{context.Background(), moments}, &b)
		if err == nil {
			if !bytes.Equal(b.Bytes(), want) {
				t.Fatal("another trace")
			}
			break
		}
		if !errors.Is(err, context.Canceled) || b.Len() > 0 {
			t.Fatalf("moment %d: err = %v, %d bytes", moments, err, b.Len())
		}
	}
	if moments < 100 {
		t.Errorf("the context was asked %d times", moments)
	}
}

// variedPart returns a part of varying arguments and of arrays.
func variedPart(rank int) Part {
	var (
		table   cst.Table
		grammar sequitur.Builder
	)
	compute, vector := table.Declare(compute), table.Declare(vector)
	for i := range 200 {
		grammar.Append(table.Intern(compute, cst.Float(float64(i*i%1009))))
		grammar.Append(table.Intern(vector, cst.Array(cst.Int(int64(rank)), cst.Int(int64(i%2*rank)))))
	}
	return Part{Rank: rank, Table: &table, Grammar: grammar.Finish()}
}

// TestMergeCanceled cancels a merge at each shape.
func TestMergeCanceled(t *testing.T) {
	const shapes = 5
	for moments := range shapes + 1 {
		var a, b Accumulator
		for rank := range shapes {
			if err := b.Add(repeatCall(rank, uint64(rank+1), barrier)); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.MergeContext(&doomed{context.Background(), moments}, &b); errors.Is(err,
			context.Canceled) != (moments < shapes) {
			t.Errorf("moment %d: err = %v", moments, err)
		}
	}
}
