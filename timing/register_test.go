package timing_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/timing"
)

// A plain codec has the values as integers, and a number that means nothing.
type plain struct {
	kind   string
	number int
}

func (p plain) Name() string              { return fmt.Sprintf("%s,n=%d", p.kind, p.number) }
func (plain) Guarantee() timing.Guarantee { return timing.Exact }
func (plain) NewEncoder() timing.Encoder  { return new(plainEncoder) }
func (plain) NewDecoder(block []byte, o timing.Options) (timing.Decoder, error) {
	d := plainDecoder{block: block}
	for rest := block; len(rest) > 0; d.left++ {
		_, n := binary.Varint(rest)
		if n <= 0 {
			return nil, &timing.ParseError{Package: "plain", Field: "value", Err: timing.ErrCorrupt}
		}
		rest = rest[n:]
	}
	return &d, nil
}

type plainEncoder struct{ block []byte }

func (e *plainEncoder) Append(_ uint32, v int64) int64 {
	e.block = binary.AppendVarint(e.block, v)
	return v
}

func (e *plainEncoder) AppendBlock(dst []byte) []byte {
	dst, e.block = append(dst, e.block...), e.block[:0]
	return dst
}

type plainDecoder struct {
	block []byte
	left  int
}

func (d *plainDecoder) Len() int { return d.left }

func (d *plainDecoder) Decode(dst []int64, _ []uint32) error {
	for i := range dst {
		v, n := binary.Varint(d.block)
		dst[i], d.block = v, d.block[n:]
	}
	return nil
}

// registerPlain registers plain codecs as a kind.
func registerPlain(kind string) {
	timing.Register(kind, func(name string) (timing.Codec, error) {
		p := plain{kind: kind}
		_, err := fmt.Sscanf(strings.TrimPrefix(name, kind), ",n=%d", &p.number)
		return p, err
	})
}

// TestRegister registers codecs while others are looked up, and finds each by its names alone.
func TestRegister(t *testing.T) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			kind := fmt.Sprintf("own.%d", i)
			if _, err := timing.NewCodec(kind + ",n=3"); !errors.Is(err, timing.ErrUnknownCodec) || !strings.Contains(err.Error(), kind+",n=3") {
				t.Errorf("before it is registered: %v", err)
			}
			registerPlain(kind)
			if c, err := timing.NewCodec(kind + ",n=3"); err != nil || c != (plain{kind, 3}) {
				t.Errorf("got %v, %v", c, err)
			}
			for _, name := range []string{kind, kind + ",n=", kind + ",n=03", kind + ",n=3 "} {
				if c, err := timing.NewCodec(name); err == nil || errors.Is(err, timing.ErrUnknownCodec) {
					t.Errorf("%q is %v, %v", name, c, err)
				}
			}
		})
	}
	all.Wait()
	open := func(string) (timing.Codec, error) { return nil, nil }
	calls := map[string]func(){"without a function": func() { timing.Register("nothing", nil) }}
	for _, kind := range []string{"own.1", "bins", "lossless", "split", "gaps", "functions", "", "a b", "a,b", "a;b", "a|b", "é"} {
		calls["of "+kind] = func() { timing.Register(kind, open) }
	}
	misuse.Panic(t, "timing", calls)
	timing.Register("none", open)
	if c, err := timing.NewCodec("none"); err == nil {
		t.Errorf("nil is codec %v", c)
	}
}
