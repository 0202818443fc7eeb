package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/internal/bins"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/timing"
)

// A TimesFlag is what --times and --error say.
type TimesFlag struct {
	Words  string
	Errors []string // as 0.1, 10%, MPI_Waitall=1% or start=10us
}

func (t *TimesFlag) AddTo(cmd *cobra.Command) {
	f := cmd.Flags()
	where := "as for record"
	if cmd.Name() == "record" {
		where = "as above"
	}
	f.StringVar(&t.Words, "times", "statistics", "`times` to keep, "+where)
	f.StringArrayVar(&t.Errors, "error", nil, "relative `error` of times (default 10%)")
	f.Lookup("times").DefValue = ""
	words := []string{"none", "statistics", "histograms", "paths", "intervals", "all", "exact"}
	for _, c := range timing.Codecs() {
		words = append(words, c.Word)
	}
	if err := cmd.RegisterFlagCompletionFunc("times", cobra.FixedCompletions(words,
		cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // the option is there
	}
}

// Args returns the flags as another command takes them.
func (t *TimesFlag) Args() []string {
	args := []string{"--times", t.Words}
	for _, e := range t.Errors {
		args = append(args, "--error", e)
	}
	return args
}

// defaultError is the relative error of times where none is given.
const defaultError = 0.1

// Options returns what to keep of times.
func (t *TimesFlag) Options() (o collect.Options, err error) {
	var chosen *timing.CodecKind
	form, histograms, starts := timing.Gaps, "", time.Duration(0)
	for _, word := range strings.Split(t.Words, ",") {
		switch word {
		case "all":
			word, starts, o.Times.ExactIfSmall = "entropy", startsOfAll, true
		case "exact":
			word = "zstd"
		}
		switch c := CodecOf(word); {
		case c != nil && chosen != nil:
			return o, fmt.Errorf("--times %s has two codecs", t.Words)
		case c != nil:
			chosen = c
		case word == "none" && t.Words == "none":
			o.Untimed = true
		case word == "statistics":
		case (word == "histograms" || word == "paths") && histograms == "":
			histograms = word
			o.Times.Histograms = &timing.HistogramOptions{PathSensitive: word == "paths"}
		case word == "intervals":
			form = timing.Intervals
		default:
			return o, fmt.Errorf(
				"--times is none, statistics, histograms, paths, all, exact or a codec, not %q", t.Words)
		}
	}
	if chosen == nil {
		if len(t.Errors) > 0 || form == timing.Intervals {
			return o, fmt.Errorf(
				"--times %s keeps no times of every call: --error and intervals do not go with it", t.Words)
		}
		return o, nil
	}
	return o, t.addSeries(&o, *chosen, form, starts)
}

// CodecOf returns the codec with a word, nil if there is none.
func CodecOf(word string) *timing.CodecKind {
	for _, c := range timing.Codecs() {
		if c.Word == word {
			return &c
		}
	}
	return nil
}

// startsOfAll is the error of starts with --times all: waits are the differences of starts.
const startsOfAll = 10 * time.Microsecond

// addSeries adds the codec of the times of every call, with an error of starts unless --error gives another,
// and those of functions.
func (t *TimesFlag) addSeries(o *collect.Options, chosen timing.CodecKind, form timing.Form,
	starts time.Duration) error {
	epsilon, own := defaultError, chosen.New
	if chosen.Exact {
		own = timing.NewEntropy // of functions whose times need not be exact
	}
	for _, text := range t.Errors {
		function, value, ok := strings.Cut(text, "=")
		if !ok {
			function, value = "", text
		}
		if function == startOf {
			var err error
			if starts, err = parseStart(value); err != nil {
				return err
			}
			continue
		}
		e, err := ParseError(value)
		switch {
		case err != nil:
			return err
		case ok && function == "":
			return fmt.Errorf("--error %s names no function", text)
		case !ok && chosen.Exact:
			return fmt.Errorf("--times %s is exact: --error does not go with it, but for functions", t.Words)
		case !ok && e == 0:
			return errors.New("--error 0 is --times exact")
		case !ok:
			epsilon = e
			continue
		}
		if o.Times.DurationsOf == nil {
			o.Times.DurationsOf = make(map[string]timing.Codec)
		}
		codec, err := timing.NewLossless(timing.Zstd)
		if e > 0 {
			codec, err = own(e)
		}
		if err != nil {
			return err
		}
		o.Times.DurationsOf[function] = codec
	}
	codec, err := chosen.New(epsilon)
	if err == nil {
		o.Times.Series, err = timing.NewSeriesCodec(codec, codec, form)
	}
	if err == nil {
		o.Times.Series.Starts = int64(starts)
	}
	if err == nil && starts > 0 && chosen.Exact && len(o.Times.DurationsOf) == 0 {
		return fmt.Errorf("--times %s is exact, and so are starts: --error %s=%v does not go with it",
			t.Words, startOf, starts)
	}
	return err
}

// startOf is the name for which --error has the absolute error of starts.
const startOf = "start"

// parseStart returns the error of starts that is given as 10us.
func parseStart(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("--error %s is a time above 0, such as 10us, not %q", startOf, text)
	}
	return d, nil
}

// ParseError returns the relative error that is given as 0.1 or 10%: 0, or one that
// codecs can have.
func ParseError(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	if percent {
		number += "e-2"
	}
	e, err := strconv.ParseFloat(number, 64)
	if err != nil || e != 0 && !(e >= bins.MinEpsilon && e <= bins.MaxEpsilon) {
		return 0, fmt.Errorf("--error is from %g to %g, not %s", bins.MinEpsilon, bins.MaxEpsilon, text)
	}
	return e, nil
}
