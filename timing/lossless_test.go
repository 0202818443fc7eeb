package timing

import (
	"errors"
	"io"
	"math"
	"os/exec"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/drawn"
	"github.com/reprise-trace/reprise/internal/test/e2e"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/wire"
)

// TestResolutionSplit checks that values are put together from their parts again.
func TestResolutionSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := resolution(rapid.Uint64Range(1<<32, uint64(maxResolution)).Draw(t, "resolution"))
		v := rapid.OneOf(drawn.Values(), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, -1})).Draw(t, "value")
		k, rest, eighths := r.split(v)
		at, e := r.at(k)
		if at+int64(rest) != v || e != eighths {
			t.Fatalf("%d = %d + %d, %d and %d eighths", v, at, rest, e, eighths)
		}
		if rest > uint64(r>>32)+1 {
			t.Fatalf("%d is left of %d with resolution %d·2⁻³²", rest, v, r)
		}
	})
}

// TestFindResolution checks differences of readings of clocks with any
// resolution, and values that show none.
func TestFindResolution(t *testing.T) {
	r := newRandom(5)
	read := func(step float64) []int64 {
		var values []int64
		for range 5000 {
			start := r.float() * 1e6
			start -= math.Mod(start, step)
			d := math.Floor(math.Exp(r.float()*r.float()*9)) * step
			values = append(values, int64(start+d)-int64(start))
		}
		return values
	}
	for _, step := range []float64{5.5, 6.25, 10.0148751, 20.83, 41.0 + 2.0/3, 52.083, 100, 1000} {
		got := findResolution(read(step))
		if math.Abs(float64(got)/(1<<32)-step) > 1e-3*step {
			t.Errorf("resolution of %v ns found as %v ns", step, float64(got)/(1<<32))
		}
	}
	for _, values := range [][]int64{nil, {0}, {10, 20, 30}, read(1), slices.Repeat([]int64{0}, 100)} {
		if got := findResolution(values); got != 0 {
			t.Errorf("resolution of %d values found as %v ns", len(values), float64(got)/(1<<32))
		}
	}
}

// TestLosslessClock checks, for readings of a clock with a resolution, that they
// are kept and take little.
func TestLosslessClock(t *testing.T) {
	r := newRandom(7)
	values, terminals := make([]int64, 20_000), make([]uint32, 20_000)
	for i := range values {
		start := 1e6 * r.float()
		start -= math.Mod(start, 10.0148751)
		values[i], terminals[i] = int64(start+10.0148751*float64(10+r.next()%4))-int64(start), uint32(i%3)
	}
	values[777] = -5000
	for _, c := range []Compressor{Zstd, LZ4} {
		checkLossless(t, must.Get(NewLossless(c)), terminals, values, map[Compressor]float64{Zstd: 3.5, LZ4: 9}[c])
	}
}

func checkLossless(t *testing.T, c Codec, terminals []uint32, values []int64, most float64) {
	t.Helper()
	e := c.NewEncoder()
	for i, v := range values {
		e.Append(terminals[i], v)
	}
	block := e.AppendBlock(nil)
	d, err := c.NewDecoder(block, Options{})
	got := make([]int64, len(values))
	if err == nil {
		err = d.Decode(got, terminals)
	}
	if err != nil || !slices.Equal(got, values) {
		t.Fatalf("%s: decoded differently, %v", c.Name(), err)
	}
	if bits := 8 * float64(len(block)) / float64(len(values)); bits > most {
		t.Errorf("%s: %.2f bits per value, want at most %v", c.Name(), bits, most)
	}
}

// TestLosslessReal checks that durations and gaps of the first rank of each
// recorded run take at least a quarter less than zstd -19 makes of the columns.
func TestLosslessReal(t *testing.T) {
	testRealColumns(t, must.Get(NewLossless(Zstd)), "duration", "gap")
	testRealColumns(t, must.Get(NewLossless(LZ4)), "duration", "gap")
	e2e.Programs(t)
	if _, err := exec.LookPath("zstd"); err != nil {
		t.Skip("no command zstd to compare with")
	}
	ours, theirs := newSizes(), newSizes()
	for _, r := range realRanks(t) {
		if r.rank != "rank-00000" {
			continue
		}
		for _, name := range []string{"duration", "gap"} {
			e := must.Get(NewLossless(Zstd)).NewEncoder()
			var raw []byte
			for i, v := range r.column(name) {
				e.Append(r.terminals[i], v)
				raw = wire.AppendUint64(raw, uint64(v))
			}
			ours.add(r.run, len(r.terminals), len(e.AppendBlock(nil)))
			theirs.add(r.run, len(r.terminals), zstd19(t, raw))
		}
	}
	t.Logf("ours %v", ours)
	t.Logf("zstd -19 %v", theirs)
	for _, run := range ours.runs {
		if saved := 1 - ours.bits(run)/theirs.bits(run); saved < 0.25 && run != "is.W.8" {
			t.Errorf("%s: %.3f smaller than zstd -19", run, saved)
		}
	}
}

func zstd19(t *testing.T, data []byte) int {
	cmd := exec.Command("zstd", "-19", "-q", "-c")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		in.Write(data)
		in.Close()
	}()
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return len(out)
}

func TestLosslessErrors(t *testing.T) {
	c := must.Get(NewLossless(Zstd))
	for _, tt := range []struct {
		name string
		data string
		off  int64
		want error
	}{
		{"Empty", "", 0, io.ErrUnexpectedEOF},
		{"TooMany", "\xff\xff\xff\x7f", 0, ErrLimit},
		{"Resolution", "\x02\x07\x01\x01\x00\x00\x00", 1, ErrCorrupt},
		{"NoClusters", "\x02\x00\x00\x00\x00\x00", 3, ErrCorrupt},
		{"Clusters", "\x02\x00\x03", 2, ErrCorrupt},
		{"Sizes", "\x02\x00\x02\x02\x00\x02\x00\x02\x01\x00\x00", 3, ErrCorrupt},
		{"SizesHuge", "\x02\x00\x02\x0b\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x02\x01\x00\x00", 3,
			ErrCorrupt},
		{"SizesTooLong", "\x02\x00\x02\x15\x01\x00", 3, ErrCorrupt},
		{"SizesCutOff", "\x02\x00\x02\x02\x01\x81", 3, ErrCorrupt},
		{"Least", "\x02\x00\x01\x02\x01\x00\x00", 3, ErrCorrupt},
		{"Planes", "\x02\x00\x01\x01\x00\x00\x0a", 6, ErrCorrupt},
		{"Plane", "\x02\x00\x01\x01\x00\x00\x01\x00\x07", 8, io.ErrUnexpectedEOF},
		{"PlaneLength", "\x02\x00\x01\x01\x00\x00\x01\x07\x07", 7, ErrCorrupt},
		{"PlaneNoFrame", "\x02\x00\x01\x01\x00\x00\x01\x02\x07", 7, ErrCorrupt},
		{"Integers", "\x02\x00\x01\x01\x00\x00\x09\x01\x00\x07", 7, ErrCorrupt},
		{"Flags", "\x02\x80\x80\x80\x80\x20\x01\x01\x00\x00\x00\x00\x04\x00", 11, ErrCorrupt},
		{"Exceptions", "\x02\x80\x80\x80\x80\x20\x01\x01\x00\x00\x00\x00\x00\x02\x01\x02", 13, ErrCorrupt},
		{"ExceptionsInPast", "\x02\x80\x80\x80\x80\x20\x01\x01\x00\x00\x00\x00\x00\x02\x00\x07\x01", 13, ErrCorrupt},
		{"Trailing", "\x02\x00\x01\x01\x00\x00\x00\x00", 7, ErrCorrupt},
		{"OtherTerminals", "\x02\x00\x02\x02\x01\x00\x02\x01\x00\x00", 10, io.ErrUnexpectedEOF},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := c.NewDecoder([]byte(tt.data), Options{})
			if err == nil {
				err = d.Decode(make([]int64, 2), []uint32{7, 7})
			}
			checkParseError(t, err, tt.want)
			if e := (*ParseError)(nil); errors.As(err, &e) && e.Offset != tt.off {
				t.Fatalf("%v, want offset %d", err, tt.off)
			}
		})
	}
	checkMemory(t, c, []byte("\xff\xff\x3f\x00\xff\xff\x3f\xff\xff\xff\x04\x01"), 8<<10)
	checkMemory(t, c, []byte("\x80\x80\x40\x00\x01\x01\x00\x00\x01\x02\x07"), 8<<10)
}

func BenchmarkLossless(b *testing.B) {
	for _, c := range []Compressor{Zstd, LZ4} {
		b.Run("compressor="+c.String(), func(b *testing.B) { benchmarkCodec(b, must.Get(NewLossless(c))) })
	}
}
