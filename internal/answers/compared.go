package answers

import (
	"fmt"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/query"
	"github.com/reprise-trace/reprise/query/diagnosis"
)

// A Compared is a number of two runs: in A, in B, and how much more that is in per cent of A or, of shares, in points.
type Compared struct{ Name, A, B, Change string }

// Comparison returns what two runs took and how efficient they were, as far as that is known of both.
func Comparison(a, b *diagnosis.Diagnosis) (rows []Compared) {
	if a == nil || b == nil {
		return nil
	}
	time := func(name string, x, y, offX, offY query.Nanoseconds) {
		if x > 0 || y > 0 {
			rows = append(rows, Compared{name, text.Around(x, offX), text.Around(y, offY), text.Change(x, y)})
		}
	}
	share := func(name string, x, y float64) {
		rows = append(rows, Compared{name, Factor(x), Factor(y), fmt.Sprintf("%+.1f points", 100*(y-x))})
	}
	time("run", a.Run, b.Run, a.Error, b.Error)
	if a.Slowest != nil && b.Slowest != nil {
		time("computing, mean", a.Slowest.Mean, b.Slowest.Mean, a.Slowest.Error, b.Slowest.Error)
		time("computing, max", a.Slowest.Outside, b.Slowest.Outside, a.Slowest.Error, b.Slowest.Error)
	}
	if a.Waits != nil && b.Waits != nil && !a.Waits.LacksReceives && !b.Waits.LacksReceives {
		time("waits of all ranks", a.Waits.Wait, b.Waits.Wait, a.Waits.WaitError, b.Waits.WaitError)
	}
	time("startup", a.Startup, b.Startup, a.Error, b.Error)
	time("shutdown", a.Shutdown, b.Shutdown, a.Error, b.Error)
	if x, y := a.Factors, b.Factors; x != nil && y != nil {
		share("parallel efficiency", x.Parallel, y.Parallel)
		share("load balance", x.LoadBalance, y.LoadBalance)
		share("communication", min(1, x.Communication), min(1, y.Communication))
		if x.Serialization != nil && y.Serialization != nil && x.Transfer != nil && y.Transfer != nil {
			share("serialization", *x.Serialization, *y.Serialization)
			share("transfer", *x.Transfer, *y.Transfer)
		}
	}
	return rows
}
