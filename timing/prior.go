package timing

import (
	"fmt"

	"github.com/reprise-trace/reprise/internal/blockindex"
	"github.com/reprise-trace/reprise/internal/wire"
)

// A Prior is what was learned from some series, with which the blocks of another can begin: ranks of a parallel
// program take much the same time for the same calls, and a short series is half of what has to be learned. Only
// columns of the codec entropy learn. A Prior is immutable.
type Prior struct {
	codec   *SeriesCodec
	columns [2]*entropyPrior // of durations and deltas; nil where the codec does not learn
}

// Learns reports whether one of the codecs of a series learns from other series.
func (c *SeriesCodec) Learns() bool {
	durations, deltas := c.learning()
	return durations != nil || deltas != nil
}

func (c *SeriesCodec) learning() (durations, deltas *entropyCodec) {
	durations, _ = c.Durations.(*entropyCodec)
	deltas, _ = c.Deltas.(*entropyCodec)
	return durations, deltas
}

// A Trainer learns from series what a [Prior] has. It must not be used by two goroutines at once.
type Trainer struct {
	codec   *SeriesCodec
	columns [2]*entropyTrainer
}

// NewTrainer returns a Trainer for series of a codec that learns, from series with about so many calls together, on
// which its memory depends: at most some 3 MB.
func (c *SeriesCodec) NewTrainer(calls uint64) *Trainer {
	t := &Trainer{codec: c}
	durations, deltas := c.learning()
	for i, column := range []*entropyCodec{durations, deltas} {
		if column != nil {
			t.columns[i] = column.newTrainer(int(min(calls, maxLines)))
		}
	}
	return t
}

// Prior returns what was learned so far, at first nothing. It takes at most some 3 MB.
func (t *Trainer) Prior() *Prior {
	p := &Prior{codec: t.codec}
	for i, c := range t.columns {
		if c != nil {
			p.columns[i] = c.prior()
		}
	}
	return p
}

// Terminals sets dst to the terminals of the calls of a series from first on.
type Terminals = func(dst []uint32, first uint64)

// Learn learns from a series, whose codec must have the name of that of t, and takes some 250 ns for each call. The
// error is one of the series; t must not be used after it.
func (t *Trainer) Learn(s *Series, terminals Terminals) error {
	for i := range s.Blocks() {
		b, err := s.coded(i, terminals)
		if err != nil {
			return err
		}
		for k, column := range b.columns {
			if t.columns[k] != nil && column.coded != nil {
				t.columns[k].learn(column.coded)
			}
		}
	}
	return nil
}

// A codedSeriesBlock is a block of a series as it is coded.
type codedSeriesBlock struct {
	head    []byte // before the columns
	calls   int
	columns [2]codedColumn
}

// A codedColumn is a column of a block.
type codedColumn struct {
	coded *codedBlock // nil if the codec does not learn
	plain []byte      // as it is without a prior; nil if it has one
}

// coded decodes block i.
func (s *Series) coded(i int, terminals Terminals) (*codedSeriesBlock, error) {
	data, err := s.block(i)
	if err != nil {
		return nil, err
	}
	d, err := s.Block(i)
	if err != nil {
		return nil, err
	}
	list := make([]uint32, d.calls)
	terminals(list, s.First(i))
	b := &codedSeriesBlock{calls: d.calls, head: data[:d.head]}
	for k := range d.columns {
		c := &d.columns[k]
		if e, ok := c.decoder.(*entropyDecoder); ok {
			b.columns[k].coded, err = e.read(list)
			if err = c.inBlock(err); err != nil {
				return nil, locate(err, s.offset(i), "block")
			}
			if e.shared {
				continue
			}
		}
		b.columns[k].plain = c.block
	}
	return b, nil
}

// Recode appends the encoding of s with a prior to dst, or without one if it is nil, and returns the extended slice.
// Times stay as they are, and recoded without a prior, s is as it was before it had one. The codec of the prior must
// have the name of that of s. It takes some 250 ns for each call. The error is one of s.
func (s *Series) Recode(dst []byte, terminals Terminals, p *Prior) ([]byte, error) {
	var index blockindex.Builder
	var blocks []byte
	pieces := s.Pieces()
	for i := range s.Blocks() {
		b, err := s.coded(i, terminals)
		if err != nil {
			return nil, err
		}
		piece := len(pieces) > 0 && pieces[0] == i
		if piece {
			pieces = pieces[1:]
		}
		at := len(blocks)
		blocks = s.codec.appendCoded(blocks, b, p)
		index.Add(uint64(b.calls), len(blocks)-at, piece && i > 0)
	}
	return append(index.Append(dst), blocks...), nil
}

// appendCoded appends a block with a prior, or without one if it is nil.
func (c *SeriesCodec) appendCoded(dst []byte, b *codedSeriesBlock, p *Prior) []byte {
	dst = append(dst, b.head...)
	durations, deltas := c.learning()
	var columns [2][]byte
	for k, codec := range []*entropyCodec{durations, deltas} {
		column := b.columns[k].plain
		coded := b.columns[k].coded
		if column == nil {
			column = codec.appendPlainBlock(nil, coded)
		}
		if p != nil {
			column = append([]byte{plainColumn}, column...)
			if coded != nil {
				shared := codec.appendShared([]byte{sharedColumn}, coded, p.columns[k])
				if len(shared) < len(column) {
					column = shared
				}
			}
		}
		columns[k] = column
	}
	dst = wire.AppendUvarint(dst, uint64(len(columns[0])))
	return append(append(dst, columns[0]...), columns[1]...)
}

// The first byte of a column of a block of a series with a prior says whether the column makes use of it.
const (
	plainColumn  = 0
	sharedColumn = 1
)

// HasPrior reports whether s was opened with a prior.
func (s *Series) HasPrior() bool { return s.prior != nil }

// A priorError is that of what returns a prior.
type priorError struct{ error }

// openWith opens the column of a block of so many values that is number k of a series with a prior.
func (c *column) openWith(codec Codec, k, values int, prior func() (*Prior, error), o Options) error {
	w := wire.NewDecoder("timing", c.block)
	kind := w.Byte("kind")
	if w.Err() == nil && kind > sharedColumn {
		w.Corrupt(0, "kind", "%d", kind)
	}
	entropy, ok := codec.(*entropyCodec)
	if w.Err() == nil && kind == sharedColumn && !ok {
		w.Corrupt(0, "kind", "a prior of %s", codec.Name())
	}
	if w.Err() != nil {
		return c.inBlock(w.Err())
	}
	c.block, c.offset = c.block[1:], c.offset+1
	if kind == plainColumn {
		return c.open(codec, c.block, values, o)
	}
	p, err := prior()
	if err != nil {
		return &priorError{err}
	}
	if p.columns[k] == nil || p.columns[k].codec != entropy.Name() {
		panic(fmt.Sprintf("timing: a prior of %s for %s", p.codec.Name(), codec.Name()))
	}
	d, err := entropy.openShared(c.block, values, p.columns[k])
	if err != nil {
		return c.inBlock(err)
	}
	c.decoder = d
	return nil
}
