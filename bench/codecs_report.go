package bench

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os/exec"

	"github.com/reprise-trace/reprise/internal/recorded"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/timing"
)

// Times reports what the codecs of times make of the recorded runs in a directory,
// files named *.tar.zst.
func Times(w io.Writer, dir string) error {
	ranks, err := readTimes(dir)
	if err != nil {
		return err
	}
	long, short := longAndShort(ranks)
	fmt.Fprintf(w, "Errors are |d̂−d|/|d| of values d that are not 0; a value of 0 comes back as 0. PSNR is 20·log₁₀(range of the values / root of the mean squared error). Ratios are to values of 8 bytes.\n\n")
	fmt.Fprintf(w, "In the order *signatures*, a codec that makes use of signatures has those of the calls, and for the others (bins, grammar, zstd) the column is sorted by signature, which is not part of the time. In the order *calls*, nothing is known of signatures. Each rank has a column of its own, in blocks of 65,536 values, and an encoder that begins empty.\n\n")
	fmt.Fprintf(w, "*Entropy of bins* is the empirical entropy of the bins given the signature, rank by rank: what a codec needs that knows beforehand how often each bin occurs for each signature, and uses nothing else. With few values for a signature, none can know that.\n")
	for kind := range kinds[:2] {
		if err := codecTable(w, "runs of 10,000 calls and more", long, kind, true); err != nil {
			return err
		}
	}
	for kind := range kinds[:2] {
		if err := codecTable(w, "shorter runs", short, kind, false); err != nil {
			return err
		}
	}
	for _, table := range []func(io.Writer, []*recorded.Rank) error{summaryTable, statisticsTable, runTable, speedTable, peerTable} {
		if err := table(w, ranks); err != nil {
			return err
		}
	}
	return nil
}

// codecTable reports size, errors and, if they are timed, times of all codecs on
// the columns of a kind.
func codecTable(w io.Writer, title string, ranks []*recorded.Rank, kind int, timed bool) error {
	if len(ranks) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\n### Codecs: %s of %s (%d values)\n\n| codec | order | bytes/value | ratio | worst error | mean error | PSNR, dB |", kinds[kind].name, title, calls(ranks))
	if timed {
		fmt.Fprintf(w, " encoding, ns/value | range | decoding, ns/value | range |\n|---|---|---|---|---|---|---|---|---|---|---|\n")
	} else {
		fmt.Fprintf(w, "\n|---|---|---|---|---|---|---|\n")
	}
	list, err := contenders()
	if err != nil {
		return err
	}
	in := columns(ranks, kind)
	var results []result
	if timed {
		if results, err = measureCodecs(list, in, orders); err != nil {
			return err
		}
	}
	for i, c := range list {
		for k, o := range orders {
			kept, err := c.keep(in, o)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "| %s | %v | %s |", c.name, o, kept.cells())
			if timed {
				r := results[2*(i*len(orders)+k):]
				fmt.Fprintf(w, " %s | %s |", r[0].cells(), r[1].cells())
			}
			fmt.Fprintln(w)
		}
	}
	return limits(w, in, timed)
}

// limits reports the rows of a table that no codec of ours is: what zstd -19 makes
// of the bytes of the values, where it is installed, and the entropy of bins.
func limits(w io.Writer, in []column, timed bool) error {
	empty := ""
	if timed {
		empty = " – | – | – | – |"
	}
	for _, o := range orders {
		k, err := keepZstd(in, o)
		switch {
		case errors.Is(err, exec.ErrNotFound):
			fmt.Fprintf(w, "| zstd -19: not installed | %v | – | – | – | – | – |%s\n", o, empty)
		case err != nil:
			return err
		default:
			fmt.Fprintf(w, "| zstd -19 | %v | %s |%s\n", o, k.cells(), empty)
		}
	}
	bits, err := conditionalEntropy(epsilon, in)
	if err != nil {
		return err
	}
	k := kept{bytes: int(math.Ceil(bits / 8))}
	for _, c := range in {
		k.values += len(c.values)
	}
	fmt.Fprintf(w, "| *entropy of bins* | signatures | %.3f | %.1f | – | – | – |%s\n", k.bytesPerValue(), k.ratio(), empty)
	return nil
}

// keepZstd compresses the bytes of the values of columns with the program zstd.
func keepZstd(columns []column, o order) (kept, error) {
	var k kept
	for _, in := range columns {
		in = in.arranged(o, false)
		var raw []byte
		for _, v := range in.values {
			raw = wire.AppendUint64(raw, uint64(v))
		}
		n, err := compressedLen([]string{"zstd", "-19"}, raw)
		if err != nil {
			return k, err
		}
		k.add(in.values, in.values)
		k.bytes += n
	}
	return k, nil
}

// measureCodecs measures both directions of codecs on columns in orders: encoding
// and decoding by order by codec.
func measureCodecs(list []contender, columns []column, orders []order) ([]result, error) {
	var (
		tasks  []task
		failed error
	)
	for _, c := range list {
		for _, o := range orders {
			values := 0
			arranged, blocks := make([]column, len(columns)), make([][][]byte, len(columns))
			for i, in := range columns {
				arranged[i] = in.arranged(o, c.clusters)
				blocks[i] = c.encode(arranged[i])
				values += len(in.values)
			}
			got := make([]int64, values)
			encode := func() {
				for _, in := range arranged {
					c.encode(in)
				}
			}
			decode := func() {
				for i, in := range arranged {
					if err := c.decode(got[:len(in.values)], blocks[i], in.terminals); err != nil {
						failed = err
					}
				}
			}
			tasks = append(tasks, task{c.name, values, encode}, task{c.name, values, decode})
		}
	}
	return measure(tasks), failed
}

// runTable reports, run by run, what Entropy takes for the times of a call, which
// are its duration and when it began, and what others take.
func runTable(w io.Writer, ranks []*recorded.Rank) error {
	fmt.Fprintf(w, "\n### Entropy-coded bins, bits per call\n\n")
	fmt.Fprintf(w, "Duration and lapse, which is the gap since the end of the rank's call before, or the interval since the start of the one before with the same signature; each with a relative error of at most 10 %%. *As a series* is all that it takes to give back start and duration of each call without drift, with an index, in blocks of 65,536 calls: no start is farther from the truth than a tenth of the longest gap of its block. SZ3 is in the better of its two orders, and HIST on durations, as in the last table.\n\n")
	fmt.Fprintf(w, "| run | calls | lapses | duration | lapse | together | as a series | entropy of bins | ratio | SZ3 | ratio | ratio of the duration to HIST |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, run := range byRun(ranks) {
		for _, form := range []timing.Form{timing.Gaps, timing.Intervals} {
			b, err := measureRun(run, form)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "| %s | %d | %v | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f ", run[0].Run, calls(run), form,
				b.duration, b.lapse, b.together(), b.series, b.bound, b.together()/b.bound)
			if p, ok := b.peers(); ok {
				fmt.Fprintf(w, "| %.2f | %.3f | %.3f |\n", p.sz3, b.together()/p.sz3, b.duration/p.hist)
			} else {
				fmt.Fprintf(w, "| – | – | – |\n")
			}
		}
	}
	return nil
}

// speedTable reports what Entropy takes for a value, run by run.
func speedTable(w io.Writer, ranks []*recorded.Rank) error {
	fmt.Fprintf(w, "\n### Entropy-coded bins, ns/value\n\nAn encoder or decoder of each rank begins with empty tables, which weighs where a rank has few calls.\n\n")
	fmt.Fprintf(w, "| run | column | values of a rank | encoding, ns/value | range | decoding, ns/value | range |\n|---|---|---|---|---|---|---|\n")
	codec, err := timing.NewEntropy(epsilon)
	if err != nil {
		return err
	}
	for _, run := range byRun(ranks) {
		for kind, k := range kinds {
			r, err := measureCodecs([]contender{{"entropy", codec, true}}, columns(run, kind), []order{bySignature})
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "| %s | %s | %d | %s | %s |\n", run[0].Run, k.name, calls(run)/len(run), r[0].cells(), r[1].cells())
		}
	}
	return nil
}

// runBits are the bits per call that Entropy takes for a run.
type runBits struct {
	run, lapses     string // name of the run, and of the kind that the lapses are
	duration, lapse float64
	series          float64 // all that a series takes, both included
	bound           float64 // entropy of the bins of both
}

func (b runBits) together() float64 { return b.duration + b.lapse }

// peers returns the bits per call of SZ3, and of HIST for durations alone.
func (b runBits) peers() (bits struct{ sz3, hist float64 }, ok bool) {
	p, ok := measuredPeers[b.run]
	bits.sz3 = p["durations"].sz3Best() + p[b.lapses].sz3Best()
	bits.hist = p["durations"].hist
	return bits, ok
}

func measureRun(run []*recorded.Rank, form timing.Form) (runBits, error) {
	codec, err := timing.NewEntropy(epsilon)
	if err != nil {
		return runBits{}, err
	}
	c := contender{"entropy", codec, true}
	kind := 1 + int(form) // of the lapses
	b := runBits{run: run[0].Run, lapses: kinds[kind].name}
	durations, lapses := columns(run, 0), columns(run, kind)
	kept, err := c.keep(durations, bySignature)
	if err != nil {
		return b, err
	}
	b.duration = kept.bits()
	if kept, err = c.keep(lapses, bySignature); err != nil {
		return b, err
	}
	b.lapse = kept.bits()
	size := 0
	for _, r := range run {
		series := timing.NewSeriesCodec(codec, codec, form).NewBuilder(0)
		for i, terminal := range r.Terminals {
			series.Append(terminal, r.Starts[i], r.Durations[i])
		}
		size += len(series.Finish(nil))
	}
	b.series = float64(8*size) / float64(calls(run))
	bits, err := conditionalEntropy(epsilon, append(durations, lapses...))
	b.bound = bits / float64(calls(run))
	return b, err
}

// peerTable reports what others make of the columns that they were measured on.
func peerTable(w io.Writer, ranks []*recorded.Rank) error {
	fmt.Fprintf(w, "\n### Others, bits per value\n\n")
	fmt.Fprintf(w, "Measured once on the same runs, all ranks one after the other, on a machine of two cores with Debian 12; with a relative error of 10 %%, but for zstd, which keeps every bit, and ZFP, which was told to keep 10 µs. SZ3 (of February 2026) got the logarithms and an absolute bound of ln 1.1, in the order of the calls, then sorted by signature. HIST is that of Wang et al. as published: 100 samples, K = 5, escapes of 32 bits; *hist* is ours, which also writes the table of codes, and values in as many bytes as they need. zstd -19 got nanoseconds, and seconds in float64, in which gaps are noisy, perhaps from rounding. ZFP does 25 to 60 million values/s, and SZ3 15 to 30, the start of the program included. There are no figures of Pilgrim's grammar; ours has half as many bins.\n\n")
	fmt.Fprintf(w, "| run | column | entropy | *entropy of bins* | SZ3 | SZ3 by signature | HIST | hist | lossless-zstd | zstd -19 | zstd -19, float64 | ZFP |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	list, err := contenders()
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
				kept, err := c.keep(in, bySignature)
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
