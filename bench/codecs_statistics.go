package bench

import (
	"fmt"
	"io"
	"math"

	"github.com/reprise-trace/reprise/internal/recorded"
	"github.com/reprise-trace/reprise/timing"
)

// rankStatistics returns the statistics of the signatures of ranks, each of those
// of each rank, of durations and of gaps. There is no gap before a first call.
func rankStatistics(ranks []*recorded.Rank) [2][]timing.Statistics {
	var all [2][]timing.Statistics
	for rank, r := range ranks {
		rows := make(map[uint32]int)
		gaps := r.Gaps()
		for i, terminal := range r.Terminals {
			row, ok := rows[terminal]
			if !ok {
				row = len(all[0])
				rows[terminal] = row
				for k := range all {
					all[k] = append(all[k], timing.Statistics{})
				}
			}
			all[0][row].Add(uint32(rank), r.Durations[i])
			if i > 0 {
				all[1][row].Add(uint32(rank), gaps[i])
			}
		}
	}
	return all
}

// statisticsTable reports the size of statistics as they are in a trace, and how far
// they are off.
func statisticsTable(w io.Writer, ranks []*recorded.Rank) error {
	fmt.Fprintf(w, "\n### Statistics in a trace\n\nDurations and gaps of each signature of each rank together, one by one, exactly, as in part files, and as a table, rounded, as in traces; nothing is known of the functions. Errors are those of the rounded ones: of the mean relative to the mean, of the deviation relative to it.\n\n| run | calls | signatures of ranks | one by one, B/signature | as a table, B/signature | worst error of the mean | mean error | worst error of the deviation | mean error |\n|---|---|---|---|---|---|---|---|---|\n")
	anyClass := func(int) uint32 { return 0 }
	for _, run := range byRun(ranks) {
		exact := rankStatistics(run)
		n := len(exact[0])
		alone := 0
		for _, column := range exact {
			for i := range column {
				data, err := column[i].MarshalBinary()
				if err != nil {
					return err
				}
				alone += len(data)
			}
		}
		table := timing.AppendStatisticsTable(nil, n, anyClass, exact[:]...)
		rounded, err := timing.ParseStatisticsTable(table, n, anyClass, len(exact))
		if err != nil {
			return err
		}
		var mean, deviation deviations
		for k, column := range rounded {
			for i := range column {
				mean.add(column[i].Mean(), exact[k][i].Mean())
				deviation.add(column[i].StandardDeviation(), exact[k][i].StandardDeviation())
			}
		}
		fmt.Fprintf(w, "| %s | %d | %d | %.2f | %.2f | %s | %s |\n", run[0].Run, calls(run), n,
			float64(alone)/float64(n), float64(len(table))/float64(n), mean, deviation)
	}
	return nil
}

// Deviations are relative errors of values that are not 0.
type deviations struct {
	worst, sum float64
	values     int
}

// add adds that of a value, unless there is none, which is NaN.
func (d *deviations) add(got, want float64) {
	if want == 0 || math.IsNaN(want) {
		return
	}
	e := math.Abs(got-want) / math.Abs(want)
	d.worst, d.sum, d.values = max(d.worst, e), d.sum+e, d.values+1
}

// String returns the cells of a table.
func (d deviations) String() string {
	return fmt.Sprintf("%.4f %% | %.4f %%", 100*d.worst, 100*d.sum/float64(max(d.values, 1)))
}
