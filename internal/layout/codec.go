package layout

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/timing/grammar"
)

// CodecByFunction returns a codec that encodes the values of calls of some
// functions, by their names, with codecs of their own, and those of all others with
// the codec others: durations of a function with a smaller error, say. Function
// returns the name of the function of a terminal; whoever reads a trace finds it in
// the trace. The codecs must be of package timing, or its grammar.
func CodecByFunction(others timing.Codec, own map[string]timing.Codec, function func(terminal uint32) string) timing.Codec {
	names := slices.Sorted(maps.Keys(own))
	codecs := []timing.Codec{others}
	number := make(map[string]int, len(own))
	var text strings.Builder
	text.WriteString(OfFunctions)
	for i, name := range names {
		codecs = append(codecs, own[name])
		number[name] = i + 1
		text.WriteString(quotedName.Replace(strconv.Quote(name)) + "=" + own[name].Name() + "|")
	}
	text.WriteString(others.Name() + "}")
	which := func(terminal uint32) int { return number[function(terminal)] }
	return functionCodec{timing.NewSplit(codecs, which), text.String()}
}

// A functionCodec is a codec whose name says what is encoded with which.
type functionCodec struct {
	timing.Codec
	name string
}

func (c functionCodec) Name() string { return c.name }

// CheckCodec returns an error unless a trace can have series of a codec: it must be
// known by its name, as those of package timing and its grammar are, but for Split,
// and those that [CodecByFunction] returns.
func CheckCodec(c *timing.SeriesCodec) error {
	if c.Durations == nil || c.Deltas == nil {
		return errors.New("merge: a codec of series without one of a column")
	}
	_, err := SeriesCodec(c.Name(), nil)
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
// the function of a terminal, for what decodes; it may be nil for what does not.
func SeriesCodec(name string, function func(terminal uint32) string) (*timing.SeriesCodec, error) {
	return timing.ParseSeriesCodec(name, func(name string) (timing.Codec, error) {
		body, ok := strings.CutPrefix(name, OfFunctions)
		if !ok {
			return ColumnCodec(name)
		}
		c, err := parseByFunction(body, function)
		if err == nil && c.Name() != name {
			err = fmt.Errorf("the codec is called %q", c.Name())
		}
		if err != nil {
			return nil, fmt.Errorf("merge: codec %q: %w", name, err)
		}
		return c, nil
	})
}

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
	words := timing.Word(durations)
	switch deltas := timing.Word(parts[2]); {
	case deltas != words:
		words += "," + parts[0] + "=" + deltas
	case parts[0] == timing.Intervals.String():
		words += "," + parts[0]
	}
	return words + own + starts
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
	codec, err := ColumnCodec(strings.TrimPrefix(text[len(quoted):], "="))
	function, e := strconv.Unquote(quoted)
	if err != nil || e != nil {
		return text
	}
	if codec.Guarantee() == timing.Exact {
		return function + "=0"
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
	k.codecs[name] = c
	return c, nil
}

// ColumnCodec returns the codec of a column with a name.
func ColumnCodec(name string) (timing.Codec, error) {
	var epsilon float64
	if n, _ := fmt.Sscanf(name, "grammar,epsilon=%g", &epsilon); n == 1 {
		if c, err := grammar.New(epsilon); err == nil && c.Name() == name {
			return c, nil
		}
	}
	return timing.NewCodec(name)
}

// parseByFunction returns the codec whose name has a body.
func parseByFunction(body string, function func(terminal uint32) string) (timing.Codec, error) {
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
		if own[name], err = ColumnCodec(codec); err != nil {
			return nil, err
		}
	}
	others, err := ColumnCodec(parts[len(parts)-1])
	if err != nil {
		return nil, err
	}
	return CodecByFunction(others, own, function), nil
}
