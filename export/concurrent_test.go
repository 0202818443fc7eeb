package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/chrome"
	"github.com/reprise-trace/reprise/export/csv"
	"github.com/reprise-trace/reprise/export/paraver"
	"github.com/reprise-trace/reprise/export/parquet"
	"github.com/reprise-trace/reprise/export/perfetto"
	"github.com/reprise-trace/reprise/export/pprof"
	"github.com/reprise-trace/reprise/export/simgrid"
	"github.com/reprise-trace/reprise/internal/testtrace"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/semantics"
)

// readers are what is asked of a trace, and write their answers.
var readers = map[string]func(ctx context.Context, w io.Writer, t *reprise.Trace) error{
	"calls": func(_ context.Context, w io.Writer, t *reprise.Trace) error {
		for rank := range t.Ranks() {
			r, err := t.Rank(rank)
			if err != nil {
				return err
			}
			for call, err := range r.Calls() {
				if err != nil {
					return err
				}
				fmt.Fprintln(w, call.Position, call.Function.Name, call.Args)
			}
		}
		return nil
	},
	"profile": func(ctx context.Context, w io.Writer, t *reprise.Trace) error {
		p, err := query.OpenProfile(ctx, t, query.Options{})
		return encode(w, p, err)
	},
	"match": func(ctx context.Context, w io.Writer, t *reprise.Trace) error {
		model, err := semantics.Open(ctx, t)
		if err != nil {
			return err
		}
		m, err := query.OpenMatch(ctx, model, query.Options{})
		return encode(w, m, err)
	},
	"messages": func(ctx context.Context, w io.Writer, t *reprise.Trace) error {
		model, err := semantics.Open(ctx, t)
		if err != nil {
			return err
		}
		m, err := query.OpenMessages(ctx, model, 4, query.Options{})
		return encode(w, m, err)
	},
	"diff": func(ctx context.Context, w io.Writer, t *reprise.Trace) error {
		d, err := query.OpenDiff(ctx, t, t, query.DiffOptions{})
		return encode(w, d, err)
	},
	"chrome": func(ctx context.Context, w io.Writer, t *reprise.Trace) error {
		return chrome.Write(ctx, w, t, export.Options{})
	},
	"perfetto": func(ctx context.Context, w io.Writer, t *reprise.Trace) error {
		return perfetto.Write(ctx, w, t, export.Options{})
	},
	"pprof": func(ctx context.Context, w io.Writer, t *reprise.Trace) error {
		return pprof.Write(ctx, w, t, export.Options{})
	},
	"simgrid": func(ctx context.Context, w io.Writer, t *reprise.Trace) error {
		return simgrid.Write(ctx, w, t, simgrid.Options{})
	},
	"calls, csv": table(csv.Write, export.Calls), "signatures, csv": table(csv.Write, export.Signatures), "messages, csv": table(csv.Write, export.Messages),
	"parquet": table(parquet.Write, export.Calls),
	"paraver": func(ctx context.Context, w io.Writer, t *reprise.Trace) error {
		_, err := paraver.Write(ctx, w, t, export.Options{})
		return err
	},
}

func table(write func(context.Context, io.Writer, *reprise.Trace, export.TableOptions) error, by export.By) func(context.Context, io.Writer, *reprise.Trace) error {
	return func(ctx context.Context, w io.Writer, t *reprise.Trace) error {
		return write(ctx, w, t, export.TableOptions{By: by})
	}
}

func encode(w io.Writer, answer any, err error) error {
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(answer)
}

// TestConcurrent asks one trace everything from 64 goroutines at once: the answers are those that one goroutine gets.
func TestConcurrent(t *testing.T) {
	for _, name := range []string{"exact", "statistics"} {
		file := testtrace.Stencil(t, name)
		want := make(map[string][]byte)
		for what, read := range readers {
			var b bytes.Buffer
			if err := read(t.Context(), &b, file); err != nil {
				t.Fatal(what, err)
			}
			want[what] = b.Bytes()
		}
		shared := testtrace.Stencil(t, name) // that nobody has asked anything yet
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				done := 0
				for what, read := range readers { // in another order each time
					var b bytes.Buffer
					if err := read(t.Context(), &b, shared); err != nil || !bytes.Equal(b.Bytes(), want[what]) {
						t.Errorf("%s, %s: another answer of %d bytes, not %d: %v", name, what, b.Len(), len(want[what]), err)
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
