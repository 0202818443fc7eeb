package answer

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/answers"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
)

func NewHang() *cobra.Command {
	return cli.NewQuestion("hang", nil, hang, cli.OptJSON, cli.OptAll, cli.OptRanks).Command
}

// A hangAnswer is what ranks did when a recording ended.
type hangAnswer struct {
	cli.Header
	*query.Hang
}

func hang(q *cli.Question) error {
	var a *hangAnswer
	err := q.Query("hang", func(o query.Options) (err error) {
		a, err = OpenHang(q, o)
		return err
	})
	if err != nil {
		return err
	}
	return q.Answer(a, func() { a.Print(q) })
}

func OpenHang(q *cli.Question, o query.Options) (*hangAnswer, error) {
	model, err := q.Model()
	if err != nil {
		return nil, err
	}
	a := &hangAnswer{Header: q.Header()}
	if a.Hang, err = query.OpenHang(q.Context(), model, o); err != nil {
		return nil, err
	}
	answers.HangCalls(q.Trace, a.Hang)
	return a, nil
}

func (a *hangAnswer) Print(q *cli.Question) {
	suspects := answers.HangSuspects(a.Hang)
	if suspects != "" {
		suspects += "\n"
	}
	if a.InCall.Len() == 0 {
		q.Printf("%s: no rank was in a call when the recording ended\n%s", text.Printable(q.Path), suspects)
		return
	}
	q.Printf("%s: when the recording ended, %s\n%s", text.Printable(q.Path), answers.HangSummary(a.Hang), suspects)
	printDeadlocks(q.OutOrStdout(), a.Hang, q.Most())
	q.Printf("\n")
	t := q.Table("ranks", "elapsed", "<state").Wrapped()
	for _, g := range a.Groups {
		t.Row(text.Long(g.Ranks.String()), answers.HangDuration(&g), answers.HangPlace(&g))
		if g.State == query.InCall {
			waits := "  waits for "
			if g.Ranks.Len() > 1 {
				waits = "  each waits for "
			}
			t.Row("", "", waits+answers.HangWaits(&g))
		}
	}
	t.Close()
	for _, g := range a.Groups {
		for _, w := range g.Waits {
			a.printSent(q, &g, &w)
		}
	}
}

// printDeadlocks says which ranks wait for each other.
func printDeadlocks(w io.Writer, h *query.Hang, most int) {
	if h.Deadlocked.Len() == 0 {
		return
	}
	fmt.Fprintf(w, "deadlock: %s can never go on\n", text.Ranks(h.Deadlocked))
	for i, cycle := range h.Cycles {
		if i == most {
			fmt.Fprintf(w, "  and %s\n", text.Plural(len(h.Cycles)-i, "more cycle"))
			break
		}
		fmt.Fprintf(w, "  %s\n", answers.Cycle(cycle))
	}
}

// printSent tells of messages that were sent to a rank that waits for another one.
func (a *hangAnswer) printSent(q *cli.Question, g *query.HangGroup, w *query.HangWait) {
	for i := range w.Sent {
		if i == cli.MaxRows && !q.All {
			q.Printf("and %s\n", text.Plural(len(w.Sent)-i, "more message"))
			return
		}
		q.Printf("%s\n", answers.HangSent(g, &w.Sent[i]))
	}
}
