package timing

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// A Column is the values of calls, in the order of the calls: durations, say. V may
// be [time.Duration]. What uses a column panics if it has not as many terminals as values.
type Column[V ~int64] struct {
	Values    []V
	Terminals []uint32 // of the calls; nil if nothing is known of these
}

// Encode returns the blocks of a column, each of 65,536 values but for
// the last. It panics if there is no codec.
func (c Column[V]) Encode(codec Codec) [][]byte {
	c.check()
	checkCodec(codec)
	e := codec.NewEncoder()
	var blocks [][]byte
	for first := 0; first < len(c.Values); first += defaultBlockLen {
		last := min(first+defaultBlockLen, len(c.Values))
		terminals := c.terminals(first, last)
		for i, v := range c.Values[first:last] {
			e.Append(terminals[i], int64(v))
		}
		blocks = append(blocks, e.AppendBlock(nil))
	}
	return blocks
}

// Decode sets the values to those in the blocks that Encode returned for a column of
// as many values with these terminals. The error is a [*ParseError]. Decode panics if there is no codec.
func (c Column[V]) Decode(codec Codec, blocks [][]byte) error {
	c.check()
	checkCodec(codec)
	if want := (len(c.Values) + defaultBlockLen - 1) / defaultBlockLen; len(blocks) != want {
		return lengthError("%d blocks of %d values, which are in %d", len(blocks), len(c.Values), want)
	}
	for i, block := range blocks {
		first := i * defaultBlockLen
		last := min(first+defaultBlockLen, len(c.Values))
		d, err := codec.NewDecoder(block, Options{})
		if err == nil && d.Len() > last-first {
			err = lengthError("%d values, where %d are expected", d.Len(), last-first)
		}
		if err == nil {
			err = decodeInto(d, c.Values[first:last], c.terminals(first, last))
		}
		if err != nil {
			return locate(err, 0, fmt.Sprintf("block %d", i))
		}
	}
	return nil
}

// decodeInto decodes values of any type.
func decodeInto[V ~int64](d Decoder, dst []V, terminals []uint32) error {
	if values, ok := any(dst).([]int64); ok {
		return d.Decode(values, terminals)
	}
	values := make([]int64, min(len(dst), portionLen))
	for len(dst) > 0 {
		n := min(len(dst), portionLen)
		if err := d.Decode(values[:n], terminals[:n]); err != nil {
			return err
		}
		for i, v := range values[:n] {
			dst[i] = V(v)
		}
		dst, terminals = dst[n:], terminals[n:]
	}
	return nil
}

// lengthError is the error of a block, or blocks, of more or fewer values than are asked for.
func lengthError(format string, args ...any) error {
	return &ParseError{Package: "timing", Field: "values",
		Err: fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)}
}

// check panics if the column has not as many terminals as values.
func (c Column[V]) check() {
	if c.Terminals != nil {
		checkTerminals(len(c.Values), c.Terminals)
	}
}

// checkTerminals panics if there are not as many terminals as values.
func checkTerminals(values int, terminals []uint32) {
	if len(terminals) != values {
		panic(fmt.Sprintf("timing: %d terminals of %d values", len(terminals), values))
	}
}

// errNoCodec is that of what is made of codecs, without one.
var errNoCodec = errors.New("timing: no codec")

// checkCodec panics if there is no codec.
func checkCodec(c Codec) {
	if c == nil {
		panic(errNoCodec.Error())
	}
}

// noTerminals are the terminals of a block of which nothing is known.
var noTerminals [defaultBlockLen]uint32

func (c Column[V]) terminals(first, last int) []uint32 {
	if c.Terminals == nil {
		return noTerminals[:last-first]
	}
	return c.Terminals[first:last]
}

// A Comparison is what a codec makes of columns.
type Comparison struct {
	Codec  string `json:"codec"` // its name, see [Codec]
	Values int    `json:"values"`
	Bytes  int    `json:"bytes"`

	// Errors are how far the values come back from what they were; nil for what keeps
	// no single values, as statistics do.
	Errors *Errors `json:"errors"`

	// Encode and Decode are the times for all values, on one processor. Unlike all
	// else they are not the same whenever they are measured.
	Encode time.Duration `json:"encode_ns"`
	Decode time.Duration `json:"decode_ns,omitempty"`
}

// Errors say how far values are from what they were. Max and Mean are relative,
// |d̂−d|/|d|, of the values d that are not 0; a value of 0 always comes back.
type Errors struct {
	Max  float64 `json:"max"`
	Mean float64 `json:"mean"`
	Root float64 `json:"root_mean_square"` // of the differences
}

// CompareOptions configures [Compare]. The zero CompareOptions is the default
// configuration.
type CompareOptions struct {
	// Epsilon is the relative error of codecs that have one. Zero means 0.1.
	Epsilon float64

	// Codecs are the codecs to compare. Nil means those of this package, with
	// Epsilon.
	Codecs []Codec

	// Rounds is how often times are measured, of which the shortest counts. Zero
	// means 1.
	Rounds int
}

// Compare encodes and decodes columns with several codecs, and returns what each of
// them makes of all columns together, in the order of the codecs: its size, its errors
// and its speed. Every column has an encoder of its own.
func Compare[V ~int64](columns []Column[V], o CompareOptions) ([]Comparison, error) {
	if o.Codecs == nil {
		var err error
		if o.Codecs, err = ownCodecs(o.Epsilon); err != nil {
			return nil, err
		}
	}
	var all []Comparison
	for _, codec := range o.Codecs {
		c := Comparison{Codec: codec.Name()}
		var sum errorSum
		for _, in := range columns {
			var blocks [][]byte
			c.Encode += shortest(o.Rounds, func() { blocks = in.Encode(codec) })
			for _, b := range blocks {
				c.Bytes += len(b)
			}
			out := Column[V]{make([]V, len(in.Values)), in.Terminals}
			var err error
			c.Decode += shortest(o.Rounds, func() { err = out.Decode(codec, blocks) })
			if err != nil {
				return nil, fmt.Errorf("%s: %w", codec.Name(), err)
			}
			for i, v := range in.Values {
				sum.add(float64(v), float64(out.Values[i]-v))
			}
			c.Values += len(in.Values)
		}
		c.Errors = sum.errors(c.Values)
		all = append(all, c)
	}
	return all, nil
}

// shortest returns the shortest time that f takes of some.
func shortest(rounds int, f func()) time.Duration {
	least := time.Duration(math.MaxInt64)
	for range max(rounds, 1) {
		begin := time.Now()
		f()
		least = min(least, time.Since(begin))
	}
	return least
}

// An errorSum adds up errors.
type errorSum struct {
	max, relative, squares float64
	nonzero                int
}

// add adds that of a value, which came back so far off.
func (s *errorSum) add(v, off float64) {
	if v != 0 {
		s.nonzero++
	}
	if off != 0 {
		relative := math.Abs(off / v)
		s.max, s.relative = max(s.max, relative), s.relative+relative
		s.squares += float64(off * off)
	}
}

func (s *errorSum) errors(values int) *Errors {
	return &Errors{s.max, s.relative / float64(max(s.nonzero, 1)), math.Sqrt(s.squares / float64(max(values, 1)))}
}

// Summarize returns what is kept of columns where no single values are: statistics of
// each signature, histograms of each, and of each after another, in this order.
// Columns count as those of ranks from 0 on.
func Summarize[V ~int64](columns []Column[V], o CompareOptions) []Comparison {
	all := []Comparison{{Codec: "statistics"}, {Codec: "histograms"}, {Codec: "paths"}}
	for rank, c := range columns {
		c.check()
		for i := range all {
			all[i].Values += len(c.Values)
			var enc []byte
			all[i].Encode += shortest(o.Rounds, func() {
				if i == 0 {
					enc = c.statistics(uint32(rank))
				} else {
					enc = c.histograms(uint32(rank), i == 2)
				}
			})
			all[i].Bytes += len(enc)
		}
	}
	return all
}

// statistics returns the encoding of the statistics of each signature.
func (c Column[V]) statistics(rank uint32) (enc []byte) {
	var (
		index terminalIndex
		all   []Statistics
	)
	for first := 0; first < len(c.Values); first += defaultBlockLen {
		last := min(first+defaultBlockLen, len(c.Values))
		terminals := c.terminals(first, last)
		for i, v := range c.Values[first:last] {
			k := index.number(terminals[i])
			if k == len(all) {
				all = append(all, Statistics{})
			}
			all[k].Add(rank, int64(v))
		}
	}
	for i := range all {
		enc, _ = all[i].AppendBinary(enc) // never fails
	}
	return enc
}

// histograms returns the encoding of the histograms of each signature or path.
func (c Column[V]) histograms(rank uint32, paths bool) []byte {
	b := HistogramsBuilder{options: HistogramOptions{PathSensitive: paths}}
	for first := 0; first < len(c.Values); first += defaultBlockLen {
		last := min(first+defaultBlockLen, len(c.Values))
		terminals := c.terminals(first, last)
		for i, v := range c.Values[first:last] {
			b.Append(terminals[i], int64(v))
		}
	}
	enc, _ := b.Finish(rank).AppendBinary(nil) // never fails
	return enc
}
