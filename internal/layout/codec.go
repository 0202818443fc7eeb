package layout

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reprise-trace/reprise/timing"
	_ "github.com/reprise-trace/reprise/timing/grammar" // a trace may have columns of it
)

// CodecByFunction returns a codec that encodes the values of calls of some
// functions, by their names, with codecs of their own, and those of all others with
// the codec others: durations of a function with a smaller error, say. Function
// returns the name of the function of a terminal; whoever reads a trace finds it in
// the trace. The codecs must be known to [timing.NewCodec]; the error is that one is nil.
func CodecByFunction(
	others timing.Codec, own map[string]timing.Codec, function func(terminal uint32) string,
) (timing.Codec, error) {
	names := slices.Sorted(maps.Keys(own))
	codecs := []timing.Codec{others}
	number := make(map[string]int, len(own))
	var text strings.Builder
	if others == nil {
		return nil, errors.New("merge: no codec of functions without one of their own")
	}
	text.WriteString(OfFunctions)
	for i, name := range names {
		if own[name] == nil {
			return nil, fmt.Errorf("merge: no codec of function %q", name)
		}
		codecs = append(codecs, own[name])
		number[name] = i + 1
		text.WriteString(quotedName.Replace(strconv.Quote(name)) + "=" + own[name].Name() + "|")
	}
	text.WriteString(others.Name() + "}")
	split, err := timing.NewSplit(codecs, func(terminal uint32) int { return number[function(terminal)] })
	return functionCodec{split, text.String()}, err
}

// A functionCodec is a codec whose name says what is encoded with which.
type functionCodec struct {
	timing.Codec
	name string
}

func (c functionCodec) Name() string { return c.name }

// CheckCodec returns an error unless a trace can have series of a codec: it must be
// known by its name, as those are that [timing.NewCodec] or [CodecByFunction] returns.
func CheckCodec(c *timing.SeriesCodec) error {
	if c.Durations == nil || c.Deltas == nil {
		return errors.New("merge: a codec of series without one of a column")
	}
	_, err := seriesCodec(c.Name(), nil, timing.NewCodec)
	return err
}

// OfFunctions begins the names of such codecs, as in
//
//	functions{"MPI_Wait"=bins,epsilon=0.01|bins,epsilon=0.1}
const OfFunctions = "functions{"

// quotedName replaces what separates the parts of a name of a codec in the quoted
// name of a function.
var quotedName = strings.NewReplacer(";", `\x3b`, "|", `\x7c`)

// SeriesCodec returns the codec of series with a name. Function returns the name of
// the function of a terminal, for what decodes; it may be nil for what does not. If a codec in it is
// neither of package timing nor registered, what decodes a block is told so.
func SeriesCodec(name string, function func(terminal uint32) string) (*timing.SeriesCodec, error) {
	return seriesCodec(name, function, columnCodec)
}

// KnownCodec reports whether this program knows all codecs in the name of a codec of series, or the name is none.
func KnownCodec(name string) bool {
	_, err := seriesCodec(name, nil, timing.NewCodec)
	return !errors.Is(err, timing.ErrUnknownCodec)
}

// seriesCodec is SeriesCodec with what returns the codec of a column with a name.
func seriesCodec(name string, function func(terminal uint32) string, column parseCodec) (*timing.SeriesCodec, error) {
	return timing.ParseSeriesCodec(name, func(name string) (timing.Codec, error) {
		body, ok := strings.CutPrefix(name, OfFunctions)
		if !ok {
			return column(name)
		}
		c, err := parseByFunction(body, function, column)
		if err == nil && c.Name() != name {
			err = fmt.Errorf("the codec is called %q", c.Name())
		}
		if err != nil {
			return nil, fmt.Errorf("merge: codec %q: %w", name, err)
		}
		return c, nil
	})
}

// A parseCodec returns the codec with a name, as [timing.NewCodec] does.
type parseCodec = func(name string) (timing.Codec, error)

// columnCodec is [timing.NewCodec], but for codecs that are not known.
func columnCodec(name string) (timing.Codec, error) {
	c, err := timing.NewCodec(name)
	if errors.Is(err, timing.ErrUnknownCodec) {
		return unknownCodec{name, err}, nil
	}
	return c, err
}

// An unknownCodec is in the place of a codec that is not registered in this program: all else of
// a trace can be read.
type unknownCodec struct {
	name string
	err  error
}

func (c unknownCodec) Name() string                                              { return c.name }
func (c unknownCodec) Guarantee() timing.Guarantee                               { return timing.Guarantee(math.Inf(1)) }
func (c unknownCodec) NewEncoder() timing.Encoder                                { panic(c.err) }
func (c unknownCodec) NewDecoder([]byte, timing.Options) (timing.Decoder, error) { return nil, c.err }

// SeriesWords returns the name of a codec of series in the words of reprise record: those
// of --times and, of functions with codecs of their own and of starts with a bound, those of
// --error, as in entropy,intervals MPI_Wait=1% start=10µs.
func SeriesWords(name string) string {
	parts := strings.Split(name, ";")
	if len(parts) != 3 {
		return name
	}
	durations, own, starts := parts[1], "", ""
	if form, bound, ok := strings.Cut(parts[0], ",starts="); ok {
		parts[0], starts = form, startWords(bound)
	}
	if body, ok := strings.CutPrefix(durations, OfFunctions); ok {
		functions := strings.Split(strings.TrimSuffix(body, "}"), "|")
		last := len(functions) - 1
		for _, f := range functions[:last] {
			own += " " + functionWords(f)
		}
		durations = functions[last]
	}
	words := CodecWord(durations)
	switch deltas := CodecWord(parts[2]); {
	case deltas != words:
		words += "," + parts[0] + "=" + deltas
	case parts[0] == timing.Intervals.String():
		words += "," + parts[0]
	}
	return words + own + starts
}

// CodecWord returns the word of reprise record --times for the codec with a name, such as
// exponential for "bins,epsilon=0.1", and the name itself of a codec that has none.
func CodecWord(name string) string {
	kind, _, _ := strings.Cut(name, ",")
	for _, c := range timing.Codecs() {
		if c.Kind != kind {
			continue
		}
		if exact, err := c.New(0); !c.Exact || err == nil && exact.Name() == name {
			return c.Word
		}
	}
	return name
}

// startWords returns the bound of starts, as in 10000, in words.
func startWords(nanoseconds string) string {
	n, err := strconv.ParseInt(nanoseconds, 10, 64)
	if err != nil {
		return ""
	}
	return " start=" + time.Duration(n).String()
}

// functionWords returns the codec of a function, as in "MPI_Wait"=bins,epsilon=0.01, in
// words.
func functionWords(text string) string {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return text
	}
	codec, err := columnCodec(strings.TrimPrefix(text[len(quoted):], "="))
	function, e := strconv.Unquote(quoted)
	if err != nil || e != nil {
		return text
	}
	switch g := float64(codec.Guarantee()); {
	case g == 0:
		return function + "=0"
	case math.IsInf(g, 1):
		return function + "=" + codec.Name()
	}
	return fmt.Sprintf("%s=%.4g%%", function, 100*float64(codec.Guarantee()))
}

// KnownCodecs keeps the codecs of series that were used last, which take some
// memory and time to make, for ranks that all have the same.
var KnownCodecs codecCache

// A codecCache holds codecs of series by their names, a few at most.
type codecCache struct {
	mu     sync.Mutex
	codecs map[string]*timing.SeriesCodec
}

// maxCodecs is how many codecs are kept: one may take ten megabytes.
const maxCodecs = 4

// Get returns the codec with a name. It must not decode if that depends on the
// functions of terminals.
func (k *codecCache) Get(name string) (*timing.SeriesCodec, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c := k.codecs[name]; c != nil {
		return c, nil
	}
	c, err := SeriesCodec(name, nil)
	if err != nil {
		return nil, err
	}
	if k.codecs == nil || len(k.codecs) == maxCodecs {
		k.codecs = make(map[string]*timing.SeriesCodec)
	}
	if !math.IsInf(float64(c.Guarantee()), 1) { // it may be registered later
		k.codecs[name] = c
	}
	return c, nil
}

// parseByFunction returns the codec whose name has a body.
func parseByFunction(body string, function func(terminal uint32) string, column parseCodec) (timing.Codec, error) {
	body, ok := strings.CutSuffix(body, "}")
	if !ok {
		return nil, errors.New("there is no } at the end")
	}
	parts := strings.Split(body, "|")
	own := make(map[string]timing.Codec)
	for _, part := range parts[:len(parts)-1] {
		quoted, err := strconv.QuotedPrefix(part)
		if err != nil {
			return nil, err
		}
		name, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, err
		}
		codec, _ := strings.CutPrefix(part[len(quoted):], "=")
		if own[name], err = column(codec); err != nil {
			return nil, err
		}
	}
	others, err := column(parts[len(parts)-1])
	if err != nil {
		return nil, err
	}
	return CodecByFunction(others, own, function)
}
