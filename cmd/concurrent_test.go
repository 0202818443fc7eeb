package cmd_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/chrome"
	"github.com/reprise-trace/reprise/export/csv"
	"github.com/reprise-trace/reprise/export/paraver"
	"github.com/reprise-trace/reprise/export/parquet"
	"github.com/reprise-trace/reprise/export/perfetto"
	"github.com/reprise-trace/reprise/export/pprof"
	"github.com/reprise-trace/reprise/export/simgrid"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/efficiency"
	"github.com/reprise-trace/reprise/report"
	"github.com/reprise-trace/reprise/trace"
)

// readers are what is asked of a trace, and write their answers.
var readers = map[string]func(ctx context.Context, w io.Writer, t *trace.Trace) error{
	"calls": func(_ context.Context, w io.Writer, t *trace.Trace) error {
		for rank := range t.Ranks() {
			r, err := t.Rank(rank)
			if err != nil {
				return err
			}
			for call, err := range r.Calls(0) {
				if err != nil {
					return err
				}
				fmt.Fprintln(w, call.Position, call.Function.Name, call.Args)
			}
		}
		return nil
	},
	"profile": func(ctx context.Context, w io.Writer, t *trace.Trace) error {
		p, err := query.OpenProfile(ctx, t, query.Options{})
		return encode(w, p, err)
	},
	"match": ofModel(func(ctx context.Context, m *semantics.Model) (any, error) {
		return query.OpenMatch(ctx, m, query.Options{})
	}),
	"messages": ofModel(func(ctx context.Context, m *semantics.Model) (any, error) {
		return query.OpenMessages(ctx, m, 4, query.Options{})
	}),
	"hang": ofModel(func(ctx context.Context, m *semantics.Model) (any, error) {
		return query.OpenHang(ctx, m, query.Options{})
	}),
	"numbering": ofModel(func(ctx context.Context, m *semantics.Model) (any, error) {
		n, err := query.OpenNumbering(ctx, m, query.Options{})
		if err != nil {
			return nil, err
		}
		r, err := n.Rank(ctx, 1)
		return []any{n, r}, err
	}),
	"efficiency": ofModel(func(ctx context.Context, m *semantics.Model) (any, error) {
		return efficiency.Open(ctx, m, efficiency.Options{})
	}),
	"programs": func(ctx context.Context, w io.Writer, t *trace.Trace) error {
		p, err := query.Programs(ctx, t)
		return encode(w, p, err)
	},
	"without": func(ctx context.Context, w io.Writer, t *trace.Trace) error {
		without, err := query.RanksWithout(ctx, t, "MPI_Finalize", query.Options{})
		return encode(w, without.String(), err)
	},
	"times": func(ctx context.Context, w io.Writer, t *trace.Trace) error {
		times, err := query.OpenTimes(t)
		if err != nil {
			return err
		}
		at, err := times.At(ctx, 1000, query.Options{})
		if err := encode(w, at, err); err != nil {
			return err
		}
		activity, err := times.Activity(ctx, 0, 5000, query.Options{})
		if err := encode(w, activity, err); err != nil {
			return err
		}
		p, err := query.OpenProfile(ctx, t, query.Options{})
		if err != nil {
			return err
		}
		ranks, err := times.ByRank(ctx, p, true, query.Options{})
		return encode(w, ranks, err)
	},
	"waits": ofModel(func(ctx context.Context, m *semantics.Model) (any, error) {
		times, err := query.OpenTimes(m.Trace())
		if err != nil {
			return nil, err
		}
		match, err := query.OpenMatch(ctx, m, query.Options{})
		if err != nil {
			return nil, err
		}
		late, err := match.LateSenders(ctx, times, query.Options{})
		if err != nil {
			return nil, err
		}
		skew, err := match.Skew(ctx, times, query.Options{})
		return []any{late, skew}, err
	}),
	"report": func(ctx context.Context, w io.Writer, t *trace.Trace) error {
		return report.Write(ctx, w, t, report.Options{})
	},
	"diff": func(ctx context.Context, w io.Writer, t *trace.Trace) error {
		d, err := query.OpenDiff(ctx, t, t, query.DiffOptions{})
		return encode(w, d, err)
	},
	"chrome": func(ctx context.Context, w io.Writer, t *trace.Trace) error {
		return chrome.Write(ctx, w, t, export.Options{})
	},
	"perfetto": func(ctx context.Context, w io.Writer, t *trace.Trace) error {
		return perfetto.Write(ctx, w, t, export.Options{})
	},
	"pprof": func(ctx context.Context, w io.Writer, t *trace.Trace) error {
		return pprof.Write(ctx, w, t, export.Options{})
	},
	"simgrid": func(ctx context.Context, w io.Writer, t *trace.Trace) error {
		return simgrid.Write(ctx, w, t, simgrid.Options{})
	},
	"calls, csv": table(csv.Write, export.Calls), "signatures, csv": table(csv.Write, export.Signatures),
	"messages, csv": table(csv.Write, export.Messages),
	"parquet":       table(parquet.Write, export.Calls),
	"paraver": func(ctx context.Context, w io.Writer, t *trace.Trace) error {
		_, err := paraver.Write(ctx, w, t, export.Options{})
		return err
	},
}

func table(write func(context.Context, io.Writer, *trace.Trace, export.TableOptions) error,
	by export.By) func(context.Context, io.Writer, *trace.Trace) error {
	return func(ctx context.Context, w io.Writer, t *trace.Trace) error {
		return write(ctx, w, t, export.TableOptions{By: by})
	}
}

// ofModel returns what writes an answer about what calls do.
func ofModel(
	ask func(context.Context, *semantics.Model) (any, error),
) func(context.Context, io.Writer, *trace.Trace) error {
	return func(ctx context.Context, w io.Writer, t *trace.Trace) error {
		model, err := semantics.Open(ctx, t)
		if err != nil {
			return err
		}
		answer, err := ask(ctx, model)
		return encode(w, answer, err)
	}
}

func encode(w io.Writer, answer any, err error) error {
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(answer)
}

// TestConcurrent asks one trace everything from 64 goroutines at once: the answers are those that one
// goroutine gets.
func TestConcurrent(t *testing.T) {
	for _, c := range []struct {
		name string
		open func(t testing.TB, times string) *trace.Trace
	}{{"exact", testtrace.Stencil}, {"statistics", testtrace.Stencil}, {"exact", testtrace.SmallStencil},
		{"statistics", testtrace.SmallStencil}} {
		name, open := c.name, c.open
		file := open(t, name)
		want := make(map[string][]byte)
		for what, read := range readers {
			var b bytes.Buffer
			if err := read(t.Context(), &b, file); err != nil {
				t.Fatal(what, err)
			}
			want[what] = b.Bytes()
		}
		shared := open(t, name) // that nobody has asked anything yet
		var all sync.WaitGroup
		for range tier.Number(16, 64) {
			all.Go(func() {
				done := 0
				for what, read := range readers { // in another order each time
					var b bytes.Buffer
					if err := read(t.Context(), &b, shared); err != nil || !bytes.Equal(b.Bytes(), want[what]) {
						t.Errorf("%s, %s: another answer of %d bytes, not %d: %v", name, what, b.Len(),
							len(want[what]), err)
					}
					if done++; done == 2 {
						return
					}
				}
			})
		}
		all.Wait()
	}
}
