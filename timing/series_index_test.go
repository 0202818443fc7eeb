package timing

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/blockindex"
	"github.com/reprise-trace/reprise/internal/test/drawn"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/test/mutate"
)

// TestSeriesAt reads calls far behind in a long series, and checks that the same
// bytes are read as for its first.
func TestSeriesAt(t *testing.T) {
	c := must.Get(NewSeriesCodec(newExponential(t, 0.1), newExponential(t, 0.1), Gaps))
	b := c.NewBuilder(1 << 10)
	for i := range int64(100_000) {
		b.Append(0, 1000*i, 10)
	}
	data := b.Finish(nil)
	s, err := c.Parse(data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	block, first := s.Find(99_999)
	if block != 97 || first != 97<<10 {
		t.Fatalf("call 99,999 is in block %d, which begins with %d", block, first)
	}
	for i := s.offset(0); i < s.offset(block); i++ { // nothing before the block is read
		data[i] = 0xff
	}
	got, err := s.At(99_999, func(dst []uint32, _ uint64) { clear(dst) })
	if err != nil || got.Start < 99_999_000-100 || got.Start > 99_999_000+100 {
		t.Fatalf("call 99,999 is %+v, %v", got, err)
	}
	if _, err := s.At(0, func(dst []uint32, _ uint64) { clear(dst) }); err == nil {
		t.Error("a block of 0xff was accepted")
	}
}

func TestSeriesIndexErrors(t *testing.T) {
	c := must.Get(NewSeriesCodec(newExponential(t, 0.1), newExponential(t, 0.1), Gaps))
	e := c.newEncoder()
	e.Append(0, 1, 1)
	one := string(e.AppendBlock(nil))
	size := string(rune(len(one)))
	for _, tt := range []struct {
		name string
		data string
		off  int64
		want error
	}{
		{"Empty", "", 0, io.ErrUnexpectedEOF},
		{"NoneAndMore", "\x00\x00", 1, ErrCorrupt},
		{"BlockOfNothing", "\x01\x00" + size + one, 1, ErrCorrupt},
		{"PieceOfNothing", "\x02\x02" + size + "\x01" + size + one + one, 3, ErrCorrupt},
		{"FirstPiece", "\x01\x03" + size + one, 1, ErrCorrupt},
		{"SaidAgain", "\x02\x02" + size + "\x02" + size + one + one, 3, ErrCorrupt},
		{"BlockTooLong", "\x01\xfe\xff\xff\x03\x04\xff\xff\xff\x01", 6, ErrLimit},
		{"ManyBlocks", "\xff\xff\xff\xff\x01\x01\x01\x01", 0, ErrCorrupt},
		{"ManyCalls", "\x03\xfe" + strings.Repeat("\xff", 8) + "\x01\x00\x00\x00\x00\x00", 15, ErrLimit},
		{"Length", "\x01\x02\x7f" + one, 3 + int64(len(one)), ErrCorrupt},
		{"Trailing", "\x01\x02" + string(rune(len(one)-1)) + one, 3 + int64(len(one)) - 1, ErrCorrupt},
		{"OtherLength", "\x01\x04" + size + one, 3, ErrCorrupt},
		{"Block", "\x01\x02\x02\x01\x01", 5, io.ErrUnexpectedEOF},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := c.Parse([]byte(tt.data), Options{})
			if err == nil {
				_, err = s.Block(0)
			}
			checkParseError(t, err, tt.want)
			if e := (*ParseError)(nil); errors.As(err, &e) && e.Offset != tt.off {
				t.Fatalf("%v, want offset %d", err, tt.off)
			}
		})
	}
}

func FuzzParseSeries(f *testing.F) {
	c := must.Get(NewSeriesCodec(newExponential(f, 0.1), newExponential(f, 0.1), Intervals))
	for _, n := range []int64{0, 1, 7} {
		b := c.NewBuilder(3)
		for i := range n {
			b.Append(uint32(i%2), 100*i, 10)
		}
		f.Add(b.Finish(nil))
	}
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		s, err := c.Parse(data, Options{MaxValues: 1 << 10})
		if err != nil {
			checkParseError(t, err, nil)
			return
		}
		for i := range min(s.Blocks(), 10) {
			if _, err := s.Block(i); err != nil {
				checkParseError(t, err, nil)
			}
		}
		if s.Len() > 0 {
			if _, err := s.At(s.Len()-1, func(dst []uint32, _ uint64) { clear(dst) }); err != nil {
				checkParseError(t, err, nil)
			}
		}
	})
}

// TestJoined checks that joined series have the times that each has alone, whatever
// numbers its terminals have in the whole.
func TestJoined(t *testing.T) {
	codecs := seriesCodecs(t)
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(codecs).Draw(t, "codec")
		var (
			all       [][]byte
			want      []Time
			terminals []uint32
			firsts    []uint64
			pieces    int
		)
		for piece := range rapid.IntRange(0, 4).Draw(t, "pieces") {
			calls := drawn.TimedCalls().Draw(t, "calls")
			numbers := rapid.Permutation([]uint32{0, 1, 2, 3, 4, 5, 6, 7, 8}).Draw(t, "numbers")
			blockLen := rapid.IntRange(1, 200).Draw(t, "blockLen")
			b := c.NewBuilder(blockLen)
			for _, call := range calls {
				b.Append(call.Terminal, call.Start, call.Duration)
			}
			data := b.Finish(nil)
			alone, err := c.Parse(data, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range alone.Blocks() {
				firsts = append(firsts, uint64(len(want)))
				d, err := alone.Block(i)
				if err != nil {
					t.Fatal(err)
				}
				times := make([]Time, d.Len())
				own := make([]uint32, d.Len())
				for k := range own {
					own[k] = calls[i*blockLen+k].Terminal
					terminals = append(terminals, numbers[own[k]]+uint32(20*piece))
				}
				if err := d.Decode(times, own); err != nil {
					t.Fatal(err)
				}
				want = append(want, times...)
			}
			all = append(all, data)
			if len(calls) > 0 {
				pieces++
			}
		}
		data, err := blockindex.Join(all...)
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Parse(data, Options{})
		if err != nil || s.Len() != uint64(len(want)) || s.Blocks() != len(firsts) || len(s.Pieces()) != pieces {
			t.Fatalf("%+v, %v, want %d calls, %d pieces", s, err, len(want), pieces)
		}
		for i, first := range append(firsts, uint64(len(want))) {
			if s.First(i) != first {
				t.Fatalf("block %d begins with call %d, want %d", i, s.First(i), first)
			}
		}
		for i, w := range want {
			block, first := s.Find(uint64(i))
			if first != firsts[block] || first > uint64(i) || s.First(block+1) <= uint64(i) {
				t.Fatalf("call %d is in block %d from %d on", i, block, first)
			}
			if uint64(i) != first {
				continue
			}
			d, err := s.Block(block)
			if err != nil {
				t.Fatal(err)
			}
			times := make([]Time, d.Len())
			if err := d.Decode(times, terminals[i:i+len(times)]); err != nil ||
				!slices.Equal(times, want[i:i+len(times)]) {
				t.Fatalf("block %d: %v, %v, want %v from %v on", block, err, times, want[i:i+len(times)], w)
			}
		}
		if again, err := blockindex.Join(data); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%x, joined with nothing, is %x, %v", data, again, err)
		}
	})
}

// TestBlockLen checks that blocks can be decoded whatever length is asked for.
func TestBlockLen(t *testing.T) {
	c := must.Get(NewSeriesCodec(newExponential(t, 0.1), newExponential(t, 0.1), Gaps))
	for blockLen, want := range map[int]int{math.MinInt: defaultBlockLen, 0: defaultBlockLen, 1: 1,
		DefaultMaxValues: DefaultMaxValues} {
		if b := c.NewBuilder(blockLen); b.blockLen != want {
			t.Errorf("blocks of %d calls, want %d", b.blockLen, want)
		}
	}
	b := c.NewBuilder(math.MaxInt)
	for i := range int64(DefaultMaxValues + 1) {
		b.Append(0, 2*i, 1)
	}
	s, err := c.Parse(b.Finish(nil), Options{})
	if err != nil || s.Blocks() != 2 {
		t.Fatalf("%d blocks, %v", s.Blocks(), err)
	}
	if _, err := s.Block(0); err != nil {
		t.Error(err)
	}
}

// TestNumbersOfTerminals checks that the times of calls do not depend on the numbers of their
// terminals: those of threads are others once they are joined.
func TestNumbersOfTerminals(t *testing.T) {
	for _, c := range seriesCodecs(t) {
		for seed := range uint64(20) {
			r := newRandom(seed)
			b, now := c.NewBuilder(100), int64(0)
			var terminals []uint32
			for range 300 {
				terminal := uint32(r.next() % 12)
				terminals = append(terminals, terminal)
				now += int64(math.Exp(r.float() * 8))
				duration := int64(math.Exp(float64(terminal) + r.float()*3))
				b.Append(terminal, now, duration)
				now += duration
			}
			s, err := c.Parse(b.Finish(nil), Options{})
			if err != nil {
				t.Fatal(err)
			}
			var want []Time
			for _, add := range []uint32{0, 1, 7, 1000, 1 << 20} {
				var got []Time
				for block := range s.Blocks() {
					d, err := s.Block(block)
					if err != nil {
						t.Fatal(err)
					}
					times, numbers := make([]Time, d.Len()), make([]uint32, d.Len())
					for i := range numbers {
						if numbers[i] = terminals[s.First(block)+uint64(i)]; add > 0 {
							numbers[i] = add + 11 - numbers[i]
						}
					}
					if err := d.Decode(times, numbers); err != nil {
						t.Fatalf("%s, seed %d, numbers from %d on: %v", c.Name(), seed, add, err)
					}
					got = append(got, times...)
				}
				if add == 0 {
					want = got
				} else if !slices.Equal(got, want) {
					t.Fatalf("%s, seed %d: other times with numbers from %d on", c.Name(), seed, add)
				}
			}
		}
	}
}
