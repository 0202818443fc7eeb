package timing

import (
	"fmt"
	"strings"
)

// NewCodec returns the codec of this package whose Name is name. Those of other
// packages, such as the one of timing/grammar, and [Split] codecs are not among
// them; who has such makes them with their own constructors.
func NewCodec(name string) (Codec, error) {
	c, err := newCodec(name)
	if err != nil {
		return nil, err
	}
	if c == nil || c.Name() != name {
		return nil, fmt.Errorf("timing: no codec is called %q", name)
	}
	return c, nil
}

// newCodec returns a codec that may be called name, or nil for none.
func newCodec(name string) (Codec, error) {
	var epsilon float64
	var o HISTOptions
	if n, _ := fmt.Sscanf(name, "bins,epsilon=%g", &epsilon); n == 1 {
		return asCodec(NewExponential(epsilon))
	}
	if n, _ := fmt.Sscanf(name, "entropy,epsilon=%g", &epsilon); n == 1 {
		return asCodec(NewEntropy(epsilon))
	}
	if n, _ := fmt.Sscanf(name, "hist,epsilon=%g,samples=%d,bits=%d", &o.Epsilon, &o.Samples, &o.Bits); n == 3 {
		return asCodec(NewHIST(o))
	}
	for _, c := range []Compressor{Zstd, LZ4} {
		if c := NewLossless(c); c.Name() == name {
			return c, nil
		}
	}
	return nil, nil
}

// asCodec keeps a nil pointer from becoming a codec.
func asCodec(c Codec, err error) (Codec, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}

// ParseSeriesCodec returns the codec of series whose Name is name. The codecs in
// it come from the function codec, such as [NewCodec] or one that knows others, too.
func ParseSeriesCodec(name string, codec func(name string) (Codec, error)) (*SeriesCodec, error) {
	parts := strings.Split(name, ";")
	if len(parts) == 3 {
		for _, form := range []Form{Gaps, Intervals} {
			if parts[0] != form.String() {
				continue
			}
			durations, err := codec(parts[1])
			if err != nil {
				return nil, err
			}
			deltas, err := codec(parts[2])
			if err != nil {
				return nil, err
			}
			return NewSeriesCodec(durations, deltas, form), nil
		}
	}
	return nil, fmt.Errorf("timing: no codec of series is called %q", name)
}
