package timing

import "testing"

func TestNewCodec(t *testing.T) {
	for _, name := range []string{
		"bins,epsilon=0.1", "bins,epsilon=0.0123456789", "hist,epsilon=0.001,samples=7,bits=12",
		"entropy,epsilon=0.1", "lossless,compressor=zstd", "lossless,compressor=lz4",
	} {
		if c, err := NewCodec(name); err != nil || c.Name() != name {
			t.Errorf("codec %q is %v, %v", name, c, err)
		}
		for _, form := range []Form{Gaps, Intervals} {
			series := form.String() + ";" + name + ";bins,epsilon=0.5"
			if c, err := ParseSeriesCodec(series, NewCodec); err != nil || c.Name() != series ||
				c.Form != form || c.Starts != 0 {
				t.Errorf("codec %q is %v, %v", series, c, err)
			}
			series = form.String() + ",starts=10000;" + name + ";bins,epsilon=0.5"
			if c, err := ParseSeriesCodec(series, NewCodec); err != nil || c.Name() != series ||
				c.Form != form || c.Starts != 10000 {
				t.Errorf("codec %q is %v, %v", series, c, err)
			}
		}
	}
	for _, form := range []string{
		"gaps,", "gaps,starts", "gaps,starts=", "gaps,starts=0", "gaps,starts=-1", "gaps,starts=+1",
		"gaps,starts=01", "gaps,starts=1,", "gaps,starts=9223372036854775808",
	} {
		if c, err := ParseSeriesCodec(form+";bins,epsilon=0.1;bins,epsilon=0.1", NewCodec); err == nil || c != nil {
			t.Errorf("accepted %q as %v", form, c)
		}
	}
	for _, name := range []string{
		"", "bins", "bins,epsilon=", "bins,epsilon=0.10", "bins,epsilon=0", "bins,epsilon=NaN",
		"bins,epsilon=0.1,", "hist,epsilon=0.1",
		"hist,epsilon=0,samples=100,bits=5", "hist,epsilon=0.1,samples=0,bits=5",
		"hist,epsilon=0.1,samples=100,bits=99", "lossless", "lossless,compressor=gzip",
	} {
		if c, err := NewCodec(name); err == nil || c != nil {
			t.Errorf("accepted %q as %v", name, c)
		}
		for _, series := range []string{name, "gaps;" + name + ";bins,epsilon=0.1",
			"gaps;bins,epsilon=0.1;" + name, "sums;bins,epsilon=0.1;bins,epsilon=0.1"} {
			if c, err := ParseSeriesCodec(series, NewCodec); err == nil || c != nil {
				t.Errorf("accepted %q as %v", series, c)
			}
		}
	}
}
