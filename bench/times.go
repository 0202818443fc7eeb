package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"
	"time"

	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/recorded"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/timing"
)

// reportTimes reports what the codecs of times make of the recorded runs in a directory,
// files named *.tar.zst.
func reportTimes(w io.Writer, dir string) error {
	ranks, err := readTimes(dir)
	if err != nil {
		return err
	}
	long, short := longAndShort(ranks)
	fmt.Fprintf(w, "Errors are |d̂−d|/|d| of values d that are not 0; a value of 0 comes back as 0. PSNR is 20·log₁₀(range of the values / root of the mean squared error). Ratios are to values of 8 bytes. Times of encoding and decoding are the shortest of ten.\n\n")
	fmt.Fprintf(w, "In the order *signatures*, a codec that makes use of signatures has those of the calls, and for the others (bins, grammar, zstd) the column is sorted by signature, which is not part of the time. In the order *calls*, nothing is known of signatures. Each rank has a column of its own, in blocks of 65,536 values, and an encoder that begins empty.\n\n")
	fmt.Fprintf(w, "*Entropy of bins* is the empirical entropy of the bins given the signature, rank by rank: what a codec needs that knows beforehand how often each bin occurs for each signature, and uses nothing else. With few values for a signature, none can know that.\n")
	for kind := range kinds[:2] {
		if err := codecTable(w, "runs of 10,000 calls and more", long, kind); err != nil {
			return err
		}
	}
	for kind := range kinds[:2] {
		if err := codecTable(w, "shorter runs", short, kind); err != nil {
			return err
		}
	}
	summaryTable(w, long)
	for _, table := range []func(io.Writer, []*recorded.Rank) error{statisticsTable, runTable, startsTable, peerTable} {
		if err := table(w, ranks); err != nil {
			return err
		}
	}
	return nil
}

// codecTable reports size, errors and times of all codecs on the columns of a kind.
func codecTable(w io.Writer, title string, ranks []*recorded.Rank, kind int) error {
	if len(ranks) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\n### Codecs: %s of %s (%d values)\n\n", kinds[kind].name, title, calls(ranks))
	heads(w, "codec", "order", "bytes/value", "ratio", "worst error", "mean error", "PSNR, dB",
		"encoding, ns/value", "decoding, ns/value")
	list, _, err := contenders(epsilon)
	if err != nil {
		return err
	}
	in := columns(ranks, kind)
	for _, c := range list {
		for _, o := range orders {
			k, err := c.keep(in, o, rounds)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "| %s | %v | %s | %s |\n", c.name, o, k.cells(), k.times())
		}
	}
	return limits(w, in)
}

// limits reports the rows of a table that no codec of ours is: what zstd -19 makes
// of the bytes of the values, where it is installed, and the entropy of bins.
func limits(w io.Writer, in []column) error {
	for _, o := range orders {
		k, err := keepZstd(in, o)
		switch {
		case errors.Is(err, exec.ErrNotFound):
			fmt.Fprintf(w, "| zstd -19: not installed | %v | – | – | – | – | – | – | – |\n", o)
		case err != nil:
			return err
		default:
			fmt.Fprintf(w, "| zstd -19 | %v | %s | – | – |\n", o, k.cells())
		}
	}
	bits, err := conditionalEntropy(epsilon, in)
	if err != nil {
		return err
	}
	k := kept{Comparison: timing.Comparison{Bytes: int(math.Ceil(bits / 8))}}
	for _, c := range in {
		k.Values += len(c.Values)
	}
	fmt.Fprintf(w, "| *entropy of bins* | signatures | %s | – | – | – | – |\n", k.cells())
	return nil
}

// keepZstd compresses the bytes of the values of columns with the program zstd.
func keepZstd(columns []column, o order) (kept, error) {
	k := kept{Comparison: timing.Comparison{Errors: new(timing.Errors)}}
	for _, in := range (contender{}).arranged(columns, o) {
		var raw []byte
		for _, v := range in.Values {
			raw = wire.AppendUint64(raw, uint64(v))
		}
		n, err := compressedLen([]string{"zstd", "-19"}, raw)
		if err != nil {
			return k, err
		}
		k.Values += len(in.Values)
		k.Bytes += n
	}
	return k, nil
}

// summaryTable reports size and time of what is kept by signature.
func summaryTable(w io.Writer, ranks []*recorded.Rank) {
	fmt.Fprintf(w, "\n### Kept for each signature, of runs of 10,000 calls and more\n\nThere is no value for each call: statistics, or histograms of 8 bins, of each signature of a rank, or of each after another. Times are the shortest of ten, encoding included.\n\n")
	heads(w, "", "column", "values", "bytes", "bytes/value", "ns/value")
	for kind, k := range kinds[:2] {
		for _, s := range timing.Summarize(columns(ranks, kind), timing.CompareOptions{Rounds: rounds}) {
			fmt.Fprintf(w, "| %s | %s | %d | %d | %.3f | %s |\n", s.Codec, k.name, s.Values, s.Bytes,
				float64(s.Bytes)/float64(s.Values), nanoseconds(float64(s.Encode)/float64(s.Values)))
		}
	}
}

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
	fmt.Fprintf(w, "\n### Statistics in a trace\n\nDurations and gaps of each signature of each rank together, one by one, exactly, as in part files, and as a table, rounded, as in traces; nothing is known of the functions. Errors are those of the rounded ones: of the mean relative to the mean, of the deviation relative to it.\n\n")
	heads(w, "run", "calls", "signatures of ranks", "one by one, B/signature", "as a table, B/signature",
		"worst error of the mean", "mean error", "worst error of the deviation", "mean error")
	anyClass := func(int) uint32 { return 0 }
	for _, run := range byRun(ranks) {
		exact := rankStatistics(run)
		n := len(exact[0])
		var alone []byte
		for _, column := range exact {
			for i := range column {
				alone, _ = column[i].AppendBinary(alone) // never fails
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
			float64(len(alone))/float64(n), float64(len(table))/float64(n), mean, deviation)
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

// runTable reports, run by run, what Entropy takes for the times of a call, which
// are its duration and when it began, and what others take.
func runTable(w io.Writer, ranks []*recorded.Rank) error {
	fmt.Fprintf(w, "\n### Entropy-coded bins, bits per call\n\n")
	fmt.Fprintf(w, "Durations, and gaps since the end of the rank's call before or intervals since the start of the one before with the same signature; each with a relative error of at most 10 %%. *As a series* is all that it takes to give back start and duration of each call without drift, with an index, in blocks of 65,536 calls: no start is farther from the truth than a tenth of the longest gap of its block. *In a trace*, the series of all ranks together: short ones begin with what others taught. The last ratio to SZ3 is of that; SZ3 is in the better of its two orders, and HIST on durations, as in the last table.\n\n")
	heads(w, "run", "calls", "gaps or intervals", "duration", "gap or interval", "together", "as a series",
		"in a trace", "entropy of bins", "ratio", "SZ3", "ratio", "ratio in a trace", "ratio of the duration to HIST")
	for _, run := range byRun(ranks) {
		for _, form := range []timing.Form{timing.Gaps, timing.Intervals} {
			b, err := measureRun(run, form)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "| %s | %d | %v | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f ", b.run, calls(run),
				form, b.duration, b.delta, b.together(), b.series, b.shared, b.bound, b.together()/b.bound)
			if p, ok := b.peers(); ok {
				fmt.Fprintf(w, "| %.2f | %.3f | %.3f | %.3f |\n", p.sz3, b.together()/p.sz3, b.shared/p.sz3,
					b.duration/p.hist)
			} else {
				fmt.Fprintf(w, "| – | – | – | – |\n")
			}
		}
	}
	return nil
}

// startsTable reports what bounds of starts take, run by run.
func startsTable(w io.Writer, ranks []*recorded.Rank) error {
	fmt.Fprintf(w, "\n### Bounds of starts, bits per call\n\n")
	fmt.Fprintf(w, "The series of gaps of the table before with a further bound of starts, as `--error start=10us` has it, and how far starts are off on average and at most.\n\n")
	heads(w, "run", "calls", "bound", "as a series", "more", "mean error, µs", "worst error, µs")
	for _, run := range byRun(ranks) {
		least := 0.0
		for _, bound := range []time.Duration{0, time.Millisecond, 100 * time.Microsecond,
			10 * time.Microsecond, time.Microsecond} {
			bits, mean, worst, err := measureStarts(run, bound)
			if err != nil {
				return err
			}
			text := bound.String()
			if bound == 0 {
				least, text = bits, "–"
			}
			fmt.Fprintf(w, "| %s | %d | %s | %.3f | %.3f | %.2f | %.2f |\n", run[0].Run, calls(run), text,
				bits, bits-least, mean/1e3, worst/1e3)
		}
	}
	return nil
}

// measureStarts returns the bits per call of a series of gaps with a bound of starts, and how many
// nanoseconds these are off.
func measureStarts(run []*recorded.Rank, bound time.Duration) (bits, mean, worst float64, err error) {
	entropy, err := timing.NewEntropy(epsilon)
	if err != nil {
		return 0, 0, 0, err
	}
	codec, err := timing.NewSeriesCodec(entropy, entropy, timing.Gaps)
	if err != nil {
		return 0, 0, 0, err
	}
	codec.Starts = int64(bound)
	size, sum := 0, 0.0
	for _, r := range run {
		b := codec.NewBuilder(0)
		for i, terminal := range r.Terminals {
			b.Append(terminal, r.Starts[i], r.Durations[i])
		}
		data := b.Finish(nil)
		size += len(data)
		series, err := codec.Parse(data, timing.Options{})
		if err != nil {
			return 0, 0, 0, err
		}
		starts, err := startsOf(series, r.Terminals)
		if err != nil {
			return 0, 0, 0, err
		}
		for i, start := range starts {
			off := math.Abs(float64(start - r.Starts[i]))
			sum, worst = sum+off, max(worst, off)
		}
	}
	n := float64(calls(run))
	return float64(8*size) / n, sum / n, worst, nil
}

// startsOf returns the starts of a series.
func startsOf(s *timing.Series, terminals []uint32) ([]int64, error) {
	var starts []int64
	for i := range s.Blocks() {
		d, err := s.Block(i)
		if err != nil {
			return nil, err
		}
		times := make([]timing.Time, d.Len())
		if err := d.Decode(times, terminals[len(starts):][:d.Len()]); err != nil {
			return nil, err
		}
		for _, t := range times {
			starts = append(starts, t.Start)
		}
	}
	return starts, nil
}

// runBits are the bits per call that Entropy takes for a run.
type runBits struct {
	run, deltas     string // name of the run, and of the kind that the deltas are
	duration, delta float64
	series          float64 // all that a series takes, both included
	shared          float64 // the same in a trace, where series may have priors
	bound           float64 // entropy of the bins of both
}

func (b runBits) together() float64 { return b.duration + b.delta }

// peers returns the bits per call of SZ3, and of HIST for durations alone.
func (b runBits) peers() (bits struct{ sz3, hist float64 }, ok bool) {
	p, ok := measuredPeers[b.run]
	bits.sz3 = p["durations"].sz3Best() + p[b.deltas].sz3Best()
	bits.hist = p["durations"].hist
	return bits, ok
}

func measureRun(run []*recorded.Rank, form timing.Form) (runBits, error) {
	codec, err := timing.NewEntropy(epsilon)
	if err != nil {
		return runBits{}, err
	}
	c := contender{"entropy", codec, true}
	kind := 1 + int(form) // of the deltas
	b := runBits{run: run[0].Run, deltas: kinds[kind].name}
	durations, deltas := columns(run, 0), columns(run, kind)
	ofDurations, err := c.keep(durations, bySignature, 1)
	if err != nil {
		return b, err
	}
	ofDeltas, err := c.keep(deltas, bySignature, 1)
	if err != nil {
		return b, err
	}
	b.duration, b.delta = ofDurations.bits(), ofDeltas.bits()
	of, err := timing.NewSeriesCodec(codec, codec, form)
	if err != nil {
		return b, err
	}
	var all []layout.RankSeries
	for rank, r := range run {
		series := of.NewBuilder(0)
		for i, terminal := range r.Terminals {
			series.Append(terminal, r.Starts[i], r.Durations[i])
		}
		all = append(all, layout.RankSeries{Rank: rank, Codec: of.Name(), Data: series.Finish(nil)})
	}
	b.series = bitsOf(all) / float64(calls(run))
	b.shared = bitsOf(layout.ShareSeries(context.Background(), all, func(rank int) timing.Terminals {
		return func(dst []uint32, first uint64) { copy(dst, run[rank].Terminals[first:]) }
	}).Series) / float64(calls(run))
	bits, err := conditionalEntropy(epsilon, append(durations, deltas...))
	b.bound = bits / float64(calls(run))
	return b, err
}

// bitsOf returns the size of series.
func bitsOf(all []layout.RankSeries) (bits float64) {
	for _, s := range all {
		bits += float64(8 * len(s.Data))
	}
	return bits
}

// peerTable reports what others make of the columns that they were measured on.
func peerTable(w io.Writer, ranks []*recorded.Rank) error {
	fmt.Fprintf(w, "\n### Others, bits per value\n\n")
	fmt.Fprintf(w, "Measured once on the same runs, all ranks one after the other, on a machine of two cores with Debian 12; with a relative error of 10 %%, but for zstd, which keeps every bit, and ZFP, which was told to keep 10 µs. SZ3 (of February 2026) got the logarithms and an absolute bound of ln 1.1, in the order of the calls, then sorted by signature. HIST is that of Wang et al. as published: 100 samples, K = 5, escapes of 32 bits; *hist* is ours, which also writes the table of codes, and values in as many bytes as they need. zstd -19 got nanoseconds, and seconds in float64, in which gaps are noisy, perhaps from rounding. ZFP does 25 to 60 million values/s, and SZ3 15 to 30, the start of the program included. There are no figures of Pilgrim's grammar; ours has half as many bins.\n\n")
	heads(w, "run", "column", "entropy", "*entropy of bins*", "SZ3", "SZ3 by signature", "HIST", "hist",
		"lossless-zstd", "zstd -19", "zstd -19, float64", "ZFP")
	list, _, err := contenders(epsilon)
	if err != nil {
		return err
	}
	for _, run := range byRun(ranks) {
		for kind, k := range kinds {
			p, ok := measuredPeers[run[0].Run][k.name]
			if !ok {
				continue
			}
			in := columns(run, kind)
			bits, err := conditionalEntropy(epsilon, in)
			if err != nil {
				return err
			}
			ours := make(map[string]float64)
			for _, c := range list {
				kept, err := c.keep(in, bySignature, 1)
				if err != nil {
					return err
				}
				ours[c.name] = kept.bits()
			}
			fmt.Fprintf(w, "| %s | %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", run[0].Run, k.name,
				ours["entropy"], bits/float64(calls(run)), p.sz3, p.sz3Sorted, p.hist, ours["hist"],
				ours["lossless-zstd"], measuredZstd[run[0].Run][k.name].joined, p.zstd, p.zfp)
		}
	}
	return nil
}
