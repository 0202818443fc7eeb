package timing

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/drawn"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/mutate"
)

// learningCodecs are codecs of series of which a column learns.
func learningCodecs(t testing.TB) []*SeriesCodec {
	exact, tenth := must.Get(NewLossless(Zstd)), newEntropy(t, 0.1)
	return []*SeriesCodec{
		must.Get(NewSeriesCodec(tenth, tenth, Gaps)),
		must.Get(NewSeriesCodec(newEntropy(t, 0.5), newEntropy(t, 0.01), Intervals)),
		must.Get(NewSeriesCodec(exact, tenth, Gaps)),
		must.Get(NewSeriesCodec(tenth, newExponential(t, 0.1), Intervals)),
	}
}

// encoded returns a series of calls, and their terminals.
func encoded(c *SeriesCodec, blockLen int, calls []drawn.TimedCall) ([]byte, Terminals) {
	b := c.NewBuilder(blockLen)
	list := make([]uint32, len(calls))
	for i, x := range calls {
		b.Append(x.Terminal, x.Start, x.Duration)
		list[i] = x.Terminal
	}
	return b.Finish(nil), func(dst []uint32, first uint64) { copy(dst, list[first:]) }
}

// withPrior returns the series in data, which has a prior.
func withPrior(t rapid.TB, c *SeriesCodec, data []byte, p *Prior) *Series {
	s, err := c.Parse(data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.prior = func() (*Prior, error) { return p, nil }
	return s
}

// times returns the times of a series.
func times(s *Series, terminals Terminals) ([]Time, error) {
	list, all := make([]Time, s.Len()), make([]uint32, s.Len())
	terminals(all, 0)
	for i := range s.Blocks() {
		d, err := s.Block(i)
		if err == nil {
			err = d.Decode(list[s.First(i):s.First(i+1)], all[s.First(i):s.First(i+1)])
		}
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

// TestPrior recodes series with what others teach, and back.
func TestPrior(t *testing.T) {
	codecs := learningCodecs(t)
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(codecs).Draw(t, "codec")
		calls := drawn.TimedCalls()
		trainer := c.NewTrainer(rapid.SampledFrom([]uint64{0, 1000, 1 << 20}).Draw(t, "about"))
		for range rapid.IntRange(0, 3).Draw(t, "trainers") {
			data, terminals := encoded(c, 200, calls.Draw(t, "taught"))
			if err := trainer.Learn(must.Get(c.Parse(data, Options{})), terminals); err != nil {
				t.Fatal(err)
			}
		}
		p := trainer.Prior()
		data, terminals := encoded(c, rapid.IntRange(1, 600).Draw(t, "blockLen"), calls.Draw(t, "calls"))
		plain := must.Get(c.Parse(data, Options{}))
		shared := must.Get(plain.Recode(nil, terminals, p))
		if most := len(data) + 2*plain.Blocks() + 10; len(shared) > most {
			t.Fatalf("%d bytes became %d", len(data), len(shared))
		}
		s := withPrior(t, c, shared, p)
		want, got := must.Get(times(plain, terminals)), must.Get(times(s, terminals))
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("call %d is %+v, want %+v", i, got[i], want[i])
			}
		}
		if back := must.Get(s.Recode(nil, terminals, nil)); !bytes.Equal(back, data) {
			t.Fatalf("%x became %x and %x", data, shared, back)
		}
		if again := must.Get(s.Recode(nil, terminals, p)); !bytes.Equal(again, shared) {
			t.Fatalf("%x was recoded to %x", shared, again)
		}
		if err := trainer.Learn(s, terminals); err != nil { // p stays as it is
			t.Fatal(err)
		}
		if again := must.Get(plain.Recode(nil, terminals, p)); !bytes.Equal(again, shared) {
			t.Fatalf("%x became %x, and then %x", data, shared, again)
		}
	})
}

// taught returns a prior of calls that repeat, a series with it, and the terminals of its calls.
func taught(t testing.TB, c *SeriesCodec) (*Prior, []byte, Terminals) {
	var calls []drawn.TimedCall
	for i := range int64(200) {
		calls = append(calls, drawn.TimedCall{Terminal: uint32(i % 3), Start: 100 * i, Duration: 10 + i%3})
	}
	data, terminals := encoded(c, 0, calls)
	plain, trainer := must.Get(c.Parse(data, Options{})), c.NewTrainer(200)
	if err := trainer.Learn(plain, terminals); err != nil {
		t.Fatal(err)
	}
	p := trainer.Prior()
	shared := must.Get(plain.Recode(nil, terminals, p))
	if c.Learns() && len(shared) >= len(data) {
		t.Fatalf("%d bytes became %d", len(data), len(shared))
	}
	return p, shared, terminals
}

// TestPriorErrors reads a series whose prior is missing, or whose columns say what is not.
func TestPriorErrors(t *testing.T) {
	missing := errors.New("missing")
	for _, c := range learningCodecs(t) {
		p, data, terminals := taught(t, c)
		s := withPrior(t, c, data, p)
		s.prior = func() (*Prior, error) { return nil, missing }
		if _, err := s.Block(0); err != missing {
			t.Errorf("%v, want %v", err, missing)
		}
		for i := range data {
			for _, flip := range []byte{1, 0x80, 0xff} {
				damaged := bytes.Clone(data)
				damaged[i] ^= flip
				s, err := c.Parse(damaged, Options{})
				if err == nil {
					s.prior = func() (*Prior, error) { return p, nil }
					_, err = times(s, func(dst []uint32, first uint64) { terminals(dst[:min(200, len(dst))], first) })
				}
				if err != nil {
					checkParseError(t, err, nil)
				}
			}
			if s, err := c.Parse(data[:i], Options{}); err == nil {
				s.prior = func() (*Prior, error) { return p, nil }
				if _, err := times(s, terminals); err == nil {
					t.Fatalf("%d bytes of %d are a series", i, len(data))
				}
			}
		}
	}
}

// FuzzPrior decodes blocks of a series with a prior. Those that it accepts are encoded to the same bytes.
func FuzzPrior(f *testing.F) {
	c := learningCodecs(f)[0]
	p, data, _ := taught(f, c)
	s := withPrior(f, c, data, p)
	f.Add(must.Get(s.block(0)))
	for _, n := range []int64{1, 7} {
		var calls []drawn.TimedCall
		for i := range n {
			calls = append(calls, drawn.TimedCall{Terminal: uint32(i % 3), Start: 100 * i, Duration: 10})
		}
		data, terminals := encoded(c, 0, calls)
		plain := must.Get(c.Parse(data, Options{}))
		s := withPrior(f, c, must.Get(plain.Recode(nil, terminals, p)), p)
		f.Add(must.Get(s.block(0)))
	}
	mutate.Fuzz(f, func(t *testing.T, block []byte) {
		d, err := c.newDecoder(block, func() (*Prior, error) { return p, nil }, Options{MaxValues: 1 << 10})
		if err != nil {
			checkParseError(t, err, nil)
			return
		}
		terminals := make([]uint32, d.calls)
		for i := range terminals {
			terminals[i] = uint32(i % 3)
		}
		for k := range d.columns {
			column := &d.columns[k]
			e, ok := column.decoder.(*entropyDecoder)
			if !ok || !e.shared {
				continue
			}
			coded, err := e.read(terminals)
			if err != nil {
				checkParseError(t, err, nil)
				continue
			}
			if again := e.codec.appendShared(nil, coded, p.columns[k]); !bytes.Equal(again, column.block) {
				t.Fatalf("%x was encoded again as %x", column.block, again)
			}
		}
	})
}
