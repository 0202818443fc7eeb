package record

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/answer"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/compress"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/rankenc"
)

// A watch finds out whether a program that is being recorded hangs: whether a thread is in a
// call, and none has returned from one for some time.
type watch struct {
	cmd       *cobra.Command
	collector *collect.Collector
	path      string // of the trace
	timeout   time.Duration
	quiet     bool

	calls uint64    // that have returned
	since time.Time // they were so many
	told  bool
}

// look writes the trace and says who waits for whom, once, if the program hangs.
func (w *watch) look() {
	if calls := w.collector.Calls(); calls != w.calls || w.since.IsZero() {
		w.calls, w.since, w.told = calls, time.Now(), false
		return
	}
	if w.timeout <= 0 || w.told || time.Since(w.since) < w.timeout || !w.collector.InCall() {
		return
	}
	w.told = true
	if err := w.tell(); err != nil {
		cli.Warn(w.cmd.ErrOrStderr(), "%v", err)
	}
	fmt.Fprint(os.Stdout, hangs)
}

func (w *watch) tell() error {
	a, s, err := w.collector.Snapshot(w.cmd.Context())
	if err != nil {
		return err
	}
	if s.Calls == 0 {
		if !w.quiet {
			fmt.Fprintf(w.cmd.ErrOrStderr(),
				"reprise: no call has returned for %s: no process has left MPI_Init yet\n", w.timeout)
		}
		return nil
	}
	file, err := compress.EncodeTrace(w.cmd, a, false, 0)
	if err != nil {
		return err
	}
	err = cli.WriteOutput(w.cmd, w.path, nil, func(out io.Writer) error {
		_, err := out.Write(file)
		return err
	})
	if err != nil {
		return err
	}
	if w.quiet {
		return nil
	}
	stderr := w.cmd.ErrOrStderr()
	fmt.Fprintf(stderr, "reprise: no call has returned for %s\n", w.timeout)
	if len(s.Gone) > 0 {
		fmt.Fprintf(stderr, "reprise: gone without MPI_Finalize: %s\n", text.Ranks(rankenc.SetOf(s.Gone...)))
	}
	trace, err := cli.Reopen(file)
	if err != nil {
		return err
	}
	w.cmd.SetOut(&cli.Output{Ctx: w.cmd.Context(), W: stderr})
	q := &cli.Question{Command: w.cmd, Path: w.path, Trace: trace}
	h, err := answer.OpenHang(q, query.Options{})
	if err != nil {
		return err
	}
	q.Folded(func() { h.Print(q) })
	return nil
}
