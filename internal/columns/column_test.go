package columns

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/allocated"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// columnTests are patterns that no expression yields.
var columnTests = []struct {
	name  string
	n     int
	in    func(r int) bool
	value func(r int) int64
	text  string
	bytes int
}{
	{"Runs", 64, all, func(r int) int64 { return []int64{3, 7, 4, 1}[r/20] }, "4 runs", 9},
	{"Deltas", 200, all, func(r int) int64 { return int64(1_000_000*r + r*r%7) }, "4 blocks of deltas", 105},
	{"Dictionary", 64, all, func(r int) int64 { return []int64{5, 1e6, 1e12}[r*r%29%3] }, "3 distinct values", 28},
	{"Packed", 64, all, func(r int) int64 { return int64(r*r%29) + 1e9 }, "5 bits a value", 47},
	{"RimAndInterior", 64, all, func(r int) int64 {
		if r%8 == 0 {
			return 0
		}
		return int64(r + 1)
	}, "rank+1 at (1-7)+8×8; 0 elsewhere", 9},
	{"Butterfly", 64, all, func(r int) int64 {
		if r == 0 {
			return -1
		}
		return int64(r ^ 5)
	}, "rank xor 5 at 1-63; -1 elsewhere", 8},
	{"GridAndSpecial", 64, all, func(r int) int64 {
		switch {
		case r < 8:
			return -1
		case r%8 == 7:
			return -2
		}
		return int64(r - 7)
	}, "grid 8: column+1, row-1 or -2 at 8-63; -1 elsewhere", 11},
	{"SpecialsFirst", 64, all, func(r int) int64 {
		switch {
		case r == 5 || r == 17:
			return -1
		case r == 30:
			return -2
		}
		return int64(r*37%64) + 1e9
	}, "-1 at 5-17:12; -2 at 30; 6 bits a value elsewhere", 65},
	{"Outliers", 4096, all, func(r int) int64 {
		if r == 77 || r == 3000 {
			return int64(r) / 2
		}
		return int64(r%64*64 + r/64)
	}, "(rank div 64) + 64·(rank mod 64) at 0-76, 78-2999, 3001-4095; 1 blocks of deltas elsewhere", 22},
}

// TestColumnRelative has neighbours at random on one side or the other, and
// special values.
func TestColumnRelative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(64, 300).Draw(t, "n")
		d := Over(rankenc.World(n), n)
		steps := rapid.SliceOfN(rapid.SampledFrom([]int64{1, -1, 7, 0}), n, n).Draw(t, "steps")
		values := make([]int64, n)
		for i, step := range steps {
			if values[i] = floorMod(int64(i)+step, int64(n)); step == 0 {
				values[i] = rapid.SampledFrom([]int64{-1, -2, int64(n), 1 << 40}).Draw(t, "special")
			}
		}
		checkColumn(t, d, values, NewColumn(d, values, Options{Ranks: true}))
	})
	d, values := sampleOf(256, all, func(r int) int64 { return int64(r) + 1 - int64(r*r/7%2)*2 })
	values[0], values[255] = 1, 254
	c := NewColumn(d, values, Options{Ranks: true})
	if want := "2 distinct values relative to the rank"; c.String() != want || len(marshal(c)) > 256/8+5 {
		t.Errorf("%v in %d bytes, want %v", c, len(marshal(c)), want)
	}
}

func TestColumn(t *testing.T) {
	for _, tt := range columnTests {
		t.Run(tt.name, func(t *testing.T) {
			d, values := sampleOf(tt.n, tt.in, tt.value)
			c := NewColumn(d, values, Options{Ranks: true})
			enc := marshal(c)
			if c.String() != tt.text || len(enc) != tt.bytes {
				t.Errorf("%v in %d bytes, want %v in %d", c, len(enc), tt.text, tt.bytes)
			}
			checkColumn(t, d, values, c)
			if got, want := c.Plain(), !strings.Contains(tt.text, " elsewhere") &&
				!strings.Contains(tt.text, " relative"); got != want {
				t.Errorf("Plain = %v, want %v", got, want)
			}
			plain := NewColumn(d, values, Options{Ranks: true, Plain: true})
			if !plain.Plain() || c.Plain() && !bytes.Equal(marshal(plain), enc) {
				t.Errorf("plain: %v", plain)
			}
			checkColumn(t, d, values, plain)
		})
	}
}

// checkColumn checks c, and what is parsed of its encoding, against values.
func checkColumn(t rapid.TB, d Domain, values []int64, c Column) {
	t.Helper()
	enc, err := c.AppendBinary([]byte("prefix"))
	if err != nil || !bytes.HasPrefix(enc, []byte("prefix")) {
		t.Fatal(err)
	}
	enc = enc[len("prefix"):]
	parsed, err := ParseColumn(enc, d)
	if err != nil {
		t.Fatalf("%v: %v", c, err)
	}
	if again := marshal(parsed); !bytes.Equal(again, enc) || parsed.String() != c.String() {
		t.Fatalf("%v: encoded again %x, want %x", c, again, enc)
	}
	for _, c := range []Column{c, parsed} {
		if c.Len() != len(values) {
			t.Fatalf("Len = %d, want %d", c.Len(), len(values))
		}
		for i, v := range c.All() {
			if v != values[i] || i%(1+len(values)/1000) == 0 && c.At(i) != v {
				t.Fatalf("%v: value %d = %d in All, %d in At, want %d", c, i, v, c.At(i), values[i])
			}
		}
	}
	if e, ok := c.Expr(); ok && !fits(e, d, values) {
		t.Fatalf("%v is not %v", e, values)
	}
}

// drawColumn draws values of all shapes.
func drawColumn(t *rapid.T, d Domain) []int64 {
	values := drawValues(t, d)
	small := rapid.Int64Range(-3, 40)
	switch rapid.IntRange(0, 6).Draw(t, "shape") {
	case 0:
		for i := range values {
			values[i] = small.Draw(t, "value")
		}
	case 1:
		sum := rapid.Int64().Draw(t, "first")
		for i := range values {
			sum += small.Draw(t, "step")
			values[i] = sum
		}
	case 2:
		words := rapid.SliceOfN(rapid.Int64(), 1, 5).Draw(t, "words")
		for i := range values {
			values[i] = rapid.SampledFrom(words).Draw(t, "word")
		}
	case 3:
		other := drawValues(t, d)
		k := rapid.IntRange(1, 9).Draw(t, "k")
		for i := range values {
			if i%k == 0 || i < k {
				values[i] = other[i]
			}
		}
	}
	return values
}

func testColumn(t *rapid.T) {
	d := domainGen.Draw(t, "domain")
	values := drawColumn(t, d)
	o := Options{Ranks: rapid.Bool().Draw(t, "ranks")}
	c := NewColumn(d, values, o)
	checkColumn(t, d, values, c)
	if again := NewColumn(d, values, o); !bytes.Equal(marshal(again), marshal(c)) {
		t.Fatal("two encodings of the same values")
	}
	for _, encode := range plainEncodings { // each, not only the smallest
		if len(values) > 0 {
			checkColumn(t, d, values, newColumn(d, encode(values, math.MaxInt)))
			if got, least := len(marshal(c)), len(encode(values, math.MaxInt).append(nil)); got > least &&
				got > enough {
				t.Fatalf("%v in %d bytes, %d would do", c, got, least)
			}
		}
	}
	if len(values) > 0 {
		if b := fitPieces(d.List(), values, int64(d.Size), o, math.MaxInt); b != nil {
			checkColumn(t, d, values, newColumn(d, b))
			checkSpecial(t, b.(*pieces), values, o)
		}
	}
}

// TestElements compares what is decoded together of a column with its values one by one.
func TestElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "n")
		d := elements(n)
		values := drawColumn(t, d)
		from := rapid.IntRange(0, n).Draw(t, "from")
		count := rapid.IntRange(0, n-from).Draw(t, "count")
		columns := []Column{NewColumn(d, values, Options{})}
		for _, encode := range plainEncodings {
			columns = append(columns, newColumn(d, encode(values, math.MaxInt)))
		}
		for _, c := range columns {
			got := c.appendElements([]int64{-9}, from, count)
			if !slices.Equal(got[1:], values[from:from+count]) || got[0] != -9 {
				t.Fatalf("%v: %d values from %d are %v, want %v", c, count, from, got, values[from:from+count])
			}
		}
	})
}

// mayBeSpecial are the forms whose last parameter is a value that may stand for no rank.
var mayBeSpecial = map[string]bool{"constant": true, "rank+c or rim": true, "grid neighbour": true,
	"3D grid neighbour": true}

// checkSpecial checks that no piece computes a special value.
func checkSpecial(t rapid.TB, b *pieces, values []int64, o Options) {
	t.Helper()
	for _, p := range b.pieces {
		form, parameters := p.expr.Form()
		last := parameters[len(parameters)-1]
		for _, i := range p.positions.All() {
			if v := values[i]; o.Ranks && v < 0 && !(mayBeSpecial[form] && v == last) {
				t.Fatalf("%v computes %d", p.expr, v)
			}
		}
	}
}

// TestColumnSpecial checks that a special value is not taken for a rank, though
// the expression around it would have it.
func TestColumnSpecial(t *testing.T) {
	d, values := sampleOf(64, all, func(r int) int64 { return int64(r - 1) })
	values[7], values[9] = -2, -2
	b := fitPieces(d.List(), values, int64(d.Size), Options{Ranks: true}, math.MaxInt)
	checkSpecial(t, b.(*pieces), values, Options{Ranks: true})
	checkColumn(t, d, values, newColumn(d, b))
}

func TestColumnRoundTrip(t *testing.T) { rapid.Check(t, testColumn) }

// TestColumnPermutation checks that a random permutation takes no more than a
// tenth above its entropy.
func TestColumnPermutation(t *testing.T) {
	const n = 1 << 16
	values := permutation(n)
	d := Over(rankenc.World(n), n)
	c := NewColumn(d, values, Options{Ranks: true})
	checkColumn(t, d, values, c)
	lg, _ := math.Lgamma(n + 1)
	entropy := lg / math.Ln2 / 8
	size := len(marshal(c))
	t.Logf("%d bytes, entropy %.0f: %v", size, entropy, c)
	if float64(size) > 1.1*entropy {
		t.Errorf("%d bytes, more than 1.1 times %.0f", size, entropy)
	}
}

func permutation(n int) []int64 {
	values := make([]int64, n)
	for i, v := range rand.New(rand.NewPCG(1, 2)).Perm(n) {
		values[i] = int64(v)
	}
	return values
}

// TestColumnLarge checks that large regular columns are neither large nor
// expanded.
func TestColumnLarge(t *testing.T) {
	const n = 1 << 20
	d := Over(rankenc.World(n), n)
	values := make([]int64, n)
	for i := range values {
		values[i] = int64((i + 1) % n)
		if i%1024 == 0 {
			values[i] = -1
		}
	}
	c := NewColumn(d, values, Options{Ranks: true})
	enc := marshal(c)
	if len(enc) > 20 {
		t.Errorf("%d bytes: %v", len(enc), c)
	}
	if got := allocated.By(3, func() { ParseColumn(enc, d) }); got > 4<<10 {
		t.Errorf("parsing allocated %d bytes", got)
	}
	for _, i := range []int{0, 1, 1023, 1024, n - 1} {
		if c.At(i) != values[i] {
			t.Errorf("At(%d) = %d, want %d", i, c.At(i), values[i])
		}
	}
}

func TestColumnEmpty(t *testing.T) {
	var zero Column
	c := NewColumn(Domain{}, nil, Options{})
	for _, c := range []Column{zero, c} {
		if e, ok := c.Expr(); !ok || e != rankenc.Constant(0) || c.Len() != 0 || c.String() != "0" ||
			len(marshal(c)) != 1 {
			t.Errorf("empty column %v, %v, %v", c, e, ok)
		}
		checkColumn(t, Domain{}, nil, c)
	}
	if _, err := ParseColumn(marshal(rankenc.Constant(1)), Domain{}); err == nil {
		t.Error("accepted a value at no position")
	}
	defer func() {
		if recover() == nil {
			t.Error("At of an empty column returned")
		}
	}()
	c.At(0)
}

// TestColumnBases checks columns of processes that have their ranks in groups of
// their own.
func TestColumnBases(t *testing.T) {
	bases, values := make(list, 64), make([]int64, 64)
	for i := range values {
		bases[i], values[i] = i%8, int64((i+1)%8)
	}
	inRow := Domain{bases, 8}
	c := NewColumn(inRow, values, Options{Ranks: true})
	if c.String() != "(rank+1) mod N" {
		t.Errorf("column %v", c)
	}
	checkColumn(t, inRow, values, c)
}

func TestParseColumnErrors(t *testing.T) {
	tests := []struct {
		name string
		data string
		off  int64
		want error
	}{
		{"Empty", "", 0, io.ErrUnexpectedEOF},
		{"UnknownEncoding", "\x26", 0, wire.ErrCorrupt},
		{"RelativeInRelative", "\x25\x25\x50", 1, wire.ErrCorrupt},
		{"PiecesInRelative", "\x25\x24\x01", 1, wire.ErrCorrupt},
		{"NoRuns", "\x20\x00", 1, wire.ErrCorrupt},
		{"ManyRuns", "\x20\x41" + strings.Repeat("\x02\x00", 65), 1, wire.ErrCorrupt},
		{"EqualRuns", "\x20\x02\x02\x00\x00", 4, wire.ErrCorrupt},
		{"LongRun", "\x20\x02\x02\x3f\x02", 3, wire.ErrCorrupt}, // 64 values, then one more run
		{"CutOffRun", "\x20\x02\x02\x3e", 4, io.ErrUnexpectedEOF},
		{"PackedWidth", "\x21\x00\x41", 2, wire.ErrCorrupt},
		{"PackedShort", "\x21\x00\x01\x00\x00\x00\x00\x00\x00\x00", 3, wire.ErrCorrupt},
		{"DictionaryCount", "\x22\x05\x00\x00", 1, wire.ErrCorrupt},
		{"DictionaryOrder", "\x22\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\x7f" + strings.Repeat("\x00", 8), 3,
			wire.ErrCorrupt},
		{"DictionaryIndex", "\x22\x02\x00\x00\x00\xff" + strings.Repeat("\x00", 15), 5, wire.ErrCorrupt},
		{"DeltasShort", "\x23\x00", 1, wire.ErrCorrupt},
		{"DeltasBits", "\x23\x00\x00\x01" + strings.Repeat("\x00", 7) + "\x80", 4, wire.ErrCorrupt}, // the 64th of 63 bits
		{"NoPieces", "\x24\x00\x40", 1, wire.ErrCorrupt},
		{"ManyPieces", "\x24\x09", 1, wire.ErrCorrupt},
		{"PieceBeyond", "\x24\x01\x02\x80\x02\x00\x40\x41", 2, wire.ErrCorrupt},
		{"PieceOfAll", "\x24\x01\x02\x00\x3f\x40\x41", 2, wire.ErrCorrupt},
		{"PieceOfNone", "\x24\x01\x00\x40\x41", 2, wire.ErrCorrupt},
		{"NestedPieces", "\x24\x01\x02\x00\x00\x40\x24", 6, wire.ErrCorrupt},
		{"Trailing", "\x40\x00", 1, wire.ErrCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseColumn([]byte(tt.data), Over(rankenc.World(64), 64))
			checkError(t, err, tt.off, tt.want)
		})
	}
}

// TestColumnOverlap checks that pieces of hostile input that overlap, so that
// other positions are more than was said, are read without a failure.
func TestColumnOverlap(t *testing.T) {
	data := "\x24\x02" + "\x02\x00\x3d\x40" + "\x02\x00\x00\x41" + "\x21\x08\x01\x01"
	c, err := ParseColumn([]byte(data), Over(rankenc.World(64), 64))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range c.All() {
		if i < 62 && v != -16 || i >= 62 && v != 5 {
			t.Errorf("value %d = %d", i, v)
		}
	}
}

// TestParseColumnDamaged checks that every prefix is rejected, and that whatever
// one-bit change is accepted can be read.
func TestParseColumnDamaged(t *testing.T) {
	for _, tt := range columnTests {
		d, values := sampleOf(tt.n, tt.in, tt.value)
		enc := marshal(NewColumn(d, values, Options{Ranks: true}))
		for n := range enc {
			if _, err := ParseColumn(enc[:n], d); err == nil {
				t.Errorf("%s: accepted %d of %d bytes", tt.name, n, len(enc))
			}
		}
		for bit := range len(enc) * 8 {
			bad := bytes.Clone(enc)
			bad[bit/8] ^= 1 << (bit % 8)
			if c, err := ParseColumn(bad, d); err == nil {
				readColumn(t, c, bad)
			}
		}
	}
}

// readColumn reads the first values of c, which was parsed from data.
func readColumn(t testing.TB, c Column, data []byte) {
	t.Helper()
	if again := marshal(c); !bytes.Equal(again, data) {
		t.Fatalf("encoded again %x, want %x", again, data)
	}
	for i, v := range c.All() {
		if i == 1000 {
			break
		}
		if c.At(i) != v {
			t.Fatalf("value %d = %d in All, %d in At", i, v, c.At(i))
		}
	}
	if n := c.Len(); n > 0 {
		c.At(n - 1)
	}
}

// TestParseColumnMemory checks that what ParseColumn allocates follows from the
// bytes it was given.
func TestParseColumnMemory(t *testing.T) {
	d := Over(rankenc.World(rankenc.MaxRank+1), rankenc.MaxRank+1)
	for _, data := range []string{
		"\x20\x80\x80\x80\x04", "\x21\x00\x01", "\x21\x00\x00", "\x22\x80\x80\x80\x04\x00",
		"\x23" + strings.Repeat("\x00", 90),
		"\x24\x01\x02\x01\x00\x00\xfd\xff\xff\xff\x03\x40\x41",
	} {
		if got := allocated.By(3, func() { ParseColumn([]byte(data), d) }); got > 16<<10 {
			t.Errorf("ParseColumn of %x allocated %d bytes", data, got)
		}
	}
	small, values := sampleOf(1<<16, all, func(r int) int64 { return int64(r*r%7) + int64(r)*1e6 })
	enc := marshal(NewColumn(small, values, Options{}))
	if got := allocated.By(3, func() { ParseColumn(enc, small) }); got > uint64(20*len(enc)) {
		t.Errorf("ParseColumn of %d bytes allocated %d bytes", len(enc), got)
	}
}

func TestBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := uint(rapid.IntRange(0, 64).Draw(t, "width"))
		values := rapid.SliceOf(rapid.Uint64()).Draw(t, "values")
		for i := range values {
			values[i] &= 1<<w - 1
		}
		data := appendBits(nil, len(values), w, func(i int) uint64 { return values[i] })
		if uint64(len(data)) != bitsLen(len(values), w) {
			t.Fatalf("%d bytes, want %d", len(data), bitsLen(len(values), w))
		}
		for i, v := range values {
			if got := bitsAt(data, i*int(w), w); got != v {
				t.Fatalf("number %d = %x, want %x", i, got, v)
			}
		}
	})
}

func TestRelative(t *testing.T) {
	tests := []struct{ value, rank, size, want int64 }{
		{3, 2, 8, 1}, {2, 3, 8, -1}, {0, 7, 8, 1}, {7, 0, 8, -1}, {4, 0, 8, 4}, {0, 4, 8, 4}, {5, 5, 8, 0},
		{-1, 5, 8, -9}, {8, 5, 8, 8}, {-2, 0, 0, -2},
	}
	for _, tt := range tests {
		if got := Relative(tt.value, tt.rank, tt.size); got != tt.want {
			t.Errorf("Relative(%d, %d, %d) = %d, want %d", tt.value, tt.rank, tt.size, got, tt.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Int64Range(0, 40).Draw(t, "size")
		rank, value := rapid.Int64Range(0, max(0, size-1)).Draw(t, "rank"), rapid.Int64Range(-50, 50).Draw(t, "value")
		if got := absolute(Relative(value, rank, size), rank, size); got != value {
			t.Fatalf("absolute = %d, want %d", got, value)
		}
	})
}
