package record

import (
	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
)

// An ending shows the progress of what comes after the last call of a program: what is left of its records is
// collected, the ranks are merged, and the trace is written.
type ending struct {
	cmd   *cobra.Command
	quiet bool
	what  string // is done, empty before the end
	bar   *cli.Progress
}

// show shows how much is done, of how much at most.
func (e *ending) show(what string, done, most int64) {
	if e.what == "" {
		e.cmd.SetContext(cli.Together(e.cmd.Context(), e.quiet))
	}
	if what != e.what {
		e.done()
		things := map[string]string{"collect": "bytes", "merge": "ranks"}[what]
		e.what, e.bar = what, cli.NewCounter(e.cmd.Context(), e.cmd.ErrOrStderr(), what, most, things)
	}
	e.bar.Show(uint64(done))
}

// done takes the line off the screen.
func (e *ending) done() {
	if e.bar != nil {
		e.bar.Done()
	}
}
