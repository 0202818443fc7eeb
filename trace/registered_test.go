package trace_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/codectest"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// A shifted codec is a user's own: it has values in zstd, shifted by a number.
type shifted struct {
	timing.Codec
	by int64
}

func (s shifted) Name() string               { return fmt.Sprintf("shifted,by=%d", s.by) }
func (s shifted) NewEncoder() timing.Encoder { return shiftedEncoder{s.Codec.NewEncoder(), s.by} }

func (s shifted) NewDecoder(block []byte, o timing.Options) (timing.Decoder, error) {
	d, err := s.Codec.NewDecoder(block, o)
	return shiftedDecoder{d, s.by}, err
}

type shiftedEncoder struct {
	timing.Encoder
	by int64
}

func (e shiftedEncoder) Append(terminal uint32, v int64) int64 {
	return e.Encoder.Append(terminal, v-e.by) + e.by
}

type shiftedDecoder struct {
	timing.Decoder
	by int64
}

func (d shiftedDecoder) Decode(dst []int64, terminals []uint32) error {
	err := d.Decoder.Decode(dst, terminals)
	for i := range dst {
		dst[i] += d.by
	}
	return err
}

// forgotten says that a program reads that does not know the codec.
var forgotten atomic.Bool

func init() { timing.Register("shifted", newShifted) }

func newShifted(name string) (timing.Codec, error) {
	if forgotten.Load() {
		return nil, fmt.Errorf("%w %q", timing.ErrUnknownCodec, name)
	}
	exact, err := timing.NewCodec("lossless,compressor=zstd")
	if err != nil {
		return nil, err
	}
	s := shifted{Codec: exact}
	_, err = fmt.Sscanf(name, "shifted,by=%d", &s.by)
	return s, err
}

// TestRegisteredCodec merges a trace, of all calls and of a function alone, with a user's codec. A program
// that does not know the codec still merges, and reads all but the times.
func TestRegisteredCodec(t *testing.T) {
	own, err := timing.NewCodec("shifted,by=7")
	if err != nil {
		t.Fatal(err)
	}
	codectest.Test(t, own)
	exact, err := timing.NewCodec("lossless,compressor=lz4")
	if err != nil {
		t.Fatal(err)
	}
	defer forgotten.Store(false)
	for _, o := range []tracer.Options{
		{Series: &timing.SeriesCodec{Durations: own, Deltas: own}},
		{Series: &timing.SeriesCodec{Durations: exact, Deltas: exact},
			DurationsOf: map[string]timing.Codec{"step": own}},
	} {
		forgotten.Store(false)
		r, err := tracer.New(o)
		if err != nil {
			t.Fatal(err)
		}
		step := r.Declare(cst.Function{Name: "step"})
		for i := range int64(1000) {
			r.CallAt(step, 1e6+i*100, i%50)
		}
		forgotten.Store(true)
		var file bytes.Buffer
		if err := merge.Write(&file, merge.Run{Ranks: 1, Source: "test"}, []merge.Part{r.Finish(0)}); err != nil {
			t.Fatal(err)
		}
		without, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()),
			trace.Options{LeaveOutDamage: true})
		if err != nil {
			t.Fatal(err)
		}
		rank, err := without.Rank(0)
		if err != nil || rank.Len() != 1000 || rank.Series() != nil ||
			!without.Content().Foreign.Contains(0) || len(without.Damage()) > 0 {
			t.Errorf("left out: rank of %v, %v, %v", rank, err, without.Content())
		}
		if timed, codecs, err := without.SeriesRanks(); err != nil || timed.Len() > 0 || len(codecs) != 1 {
			t.Errorf("left out: times of %v in %q, %v", timed, codecs, err)
		}
		open := func() *trace.Rank {
			tr, err := trace.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()), trace.Options{})
			if err != nil {
				t.Fatal(err)
			}
			rank, err := tr.Rank(0)
			if err != nil || rank.Len() != 1000 || rank.Series() == nil {
				t.Fatalf("rank of %v, %v", rank, err)
			}
			return rank
		}
		told := false
		for _, err := range open().Times(0) {
			if told = true; !errors.Is(err, timing.ErrUnknownCodec) || errors.Is(err, timing.ErrCorrupt) ||
				!strings.Contains(err.Error(), "shifted,by=7") {
				t.Errorf("times of a codec that is not known: %v", err)
			}
			break
		}
		if !told {
			t.Error("no error of times that cannot be read")
		}
		forgotten.Store(false)
		n := int64(0)
		for at, err := range open().Times(0) {
			if err != nil || at.Start != 1e6+n*100 || at.Duration != n%50 {
				t.Fatalf("call %d is at %+v, %v", n, at, err)
			}
			n++
		}
	}
	forgotten.Store(true)
	if _, err := tracer.New(
		tracer.Options{Series: &timing.SeriesCodec{Durations: own, Deltas: own}}); !errors.Is(err,
		timing.ErrUnknownCodec) {
		t.Errorf("recording with a codec that is not known: %v", err)
	}
}
