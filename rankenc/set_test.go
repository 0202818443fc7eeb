package rankenc

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/allocated"

	"github.com/RoaringBitmap/roaring/v2"
	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/wire"
)

// where returns the ranks below n for which f holds.
func where(n int, f func(r int) bool) []int {
	var ranks []int
	for r := range n {
		if f(r) {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

func interior(n, k int) []int {
	return where(n, func(r int) bool { return r%k > 0 && r%k < k-1 && r/k > 0 && r/k < n/k-1 })
}

// random returns about a fraction p of the ranks below n.
func random(n int, p float64) []int {
	rnd := rand.New(rand.NewPCG(1, 2))
	return where(n, func(int) bool { return rnd.Float64() < p })
}

var setTests = []struct {
	name  string
	ranks []int
	bytes int // of the encoding
	text  string
}{
	{"Empty", nil, 1, ""},
	{"One", []int{5}, 3, "5"},
	{"World", where(64, func(int) bool { return true }), 3, "0-63"},
	{"Even", where(64, func(r int) bool { return r%2 == 0 }), 5, "0-62:2"},
	{"List", []int{0, 1, 2, 5, 9, 11, 13}, 11, "0-2, 5-9:4, 11-13:2"},
	{"Column", where(64, func(r int) bool { return r%8 == 7 }), 5, "7-63:8"},
	{"Interior", interior(64, 8), 5, "(9-14)+8×6"},
	{"Corners", []int{0, 7, 56, 63}, 5 + 2, "(0-7:7)+56×2"},
	{"Cube", where(512, func(r int) bool {
		return r%8 > 0 && r%8 < 7 && r/8%8 > 0 && r/8%8 < 7 && r/64 > 0 && r/64 < 7
	}), 8, "((73-78)+8×6)+64×6"},
	{"FourDimensions", where(256, func(r int) bool {
		return r%4 > 1 && r/4%4 > 1 && r/16%4 > 1 && r/64 > 1
	}), 10, "(((170-171)+4×2)+16×2)+64×2"},
	{"Rim", where(64, func(r int) bool {
		return r%8 == 0 || r%8 == 7 || r < 8 || r >= 56
	}), 9, "0-8, (15-16)+8×5, 55-63"},
	{"Digits", where(2048, func(r int) bool { return r&0b10101 == 0 }), 9, "((0-2:2)+8×2)+32×64"},
}

func TestSet(t *testing.T) {
	for _, tt := range setTests {
		t.Run(tt.name, func(t *testing.T) {
			s := SetOf(tt.ranks...)
			enc, _ := s.AppendBinary(nil)
			if len(enc) != tt.bytes || s.String() != tt.text {
				t.Errorf("%d bytes, %q, want %d, %q", len(enc), s, tt.bytes, tt.text)
			}
			checkSet(t, s, tt.ranks)
		})
	}
}

// checkSet checks s against its ranks in ascending order.
func checkSet(t rapid.TB, s Set, ranks []int) {
	t.Helper()
	if s.Len() != len(ranks) {
		t.Fatalf("Len = %d, want %d", s.Len(), len(ranks))
	}
	for i, r := range s.All() {
		if r != ranks[i] || i%(1+len(ranks)/1000) == 0 && s.At(i) != r {
			t.Fatalf("rank number %d = %d in All, %d in At, want %d", i, r, s.At(i), ranks[i])
		}
	}
	limit := 3
	if len(ranks) > 0 {
		limit += ranks[len(ranks)-1]
	}
	for r := -1; r < limit; r += 1 + limit/1000 {
		want, ok := slices.BinarySearch(ranks, r)
		if got, in := s.Index(r); got != want || in != ok || s.Contains(r) != ok {
			t.Fatalf("Index(%d) = %d, %v, want %d, %v", r, got, in, want, ok)
		}
	}
	enc, err := s.AppendBinary([]byte("prefix"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := parseSet(enc[len("prefix"):])
	if err != nil || !got.Equal(s) {
		t.Fatalf("parsed %v, %v, want %v", got, err, s)
	}
}

// ranksGen draws ascending ranks: blocks with strides, cut and mixed with noise.
var ranksGen = rapid.Custom(func(t *rapid.T) []int {
	in := make(map[int]bool)
	for range rapid.IntRange(0, 4).Draw(t, "blocks") {
		start, length := rapid.IntRange(0, 300).Draw(t, "start"), rapid.IntRange(1, 5).Draw(t, "length")
		var strides, counts [4]int
		for k := range counts {
			counts[k], strides[k] = rapid.IntRange(1, 3).Draw(t, "count"), rapid.IntRange(1, 60).Draw(t, "stride")
		}
		for i := range length * counts[0] * counts[1] * counts[2] * counts[3] {
			r, i := start+i%length, i/length
			for k := range counts {
				r, i = r+i%counts[k]*strides[k], i/counts[k]
			}
			in[r] = true
		}
	}
	for _, r := range rapid.SliceOfN(rapid.IntRange(0, 500), 0, 5).Draw(t, "flipped") {
		in[r] = !in[r]
	}
	return where(1200, func(r int) bool { return in[r] })
})

func testSet(t *rapid.T) {
	ranks := ranksGen.Draw(t, "ranks")
	s := SetOf(ranks...)
	checkSet(t, s, ranks)
	other := ranksGen.Draw(t, "other")
	u := s.Union(SetOf(other...))
	want := SetOf(append(slices.Clone(ranks), other...)...)
	if !u.Equal(want) || !(Set{}).Union(Set{}, SetOf(other...), s).Equal(want) || (Set{}).Union().Len() > 0 {
		t.Fatalf("union of %v and %v = %v, want %v", ranks, other, u, want)
	}
	var rest, both []int
	for _, r := range ranks {
		if slices.Contains(other, r) {
			both = append(both, r)
		} else {
			rest = append(rest, r)
		}
	}
	if got, want := s.Difference(SetOf(other...)), SetOf(rest...); !got.Equal(want) {
		t.Fatalf("%v without %v = %v, want %v", ranks, other, got, want)
	}
	if got, want := s.Intersection(SetOf(other...)), SetOf(both...); !got.Equal(want) {
		t.Fatalf("%v and %v = %v, want %v", ranks, other, got, want)
	}
	if a, b := marshal(s), marshal(want); bytes.Equal(a, b) != s.Equal(want) {
		t.Fatalf("%v and %v are equal or not, and so are not %x and %x", s, want, a, b)
	}
}

func marshal(m interface{ AppendBinary([]byte) ([]byte, error) }) []byte {
	enc, err := m.AppendBinary(nil)
	if err != nil {
		panic(err)
	}
	return enc
}

func TestSetRoundTrip(t *testing.T) { rapid.Check(t, testSet) }

// TestSetBitmap checks irregular sets, which are bitmaps, of several densities
// that take several kinds of container.
func TestSetBitmap(t *testing.T) {
	for _, p := range []float64{0.001, 0.05, 0.5, 0.9, 0.999} {
		ranks := random(140_000, p)
		s := SetOf(ranks...)
		checkSet(t, s, ranks)
		enc, list := marshal(s), appendItems(nil, itemsOf(ranks))
		t.Logf("density %v: %d bytes, %d as a list, %d ranks", p, len(enc), len(list), len(ranks))
		if want := p == 0.001 || p == 0.5 || p == 0.9; (s.bitmap != nil) != want || len(enc) > len(list) {
			t.Errorf("density %v: %d bytes, %d as a list, bitmap %v", p, len(enc), len(list), !want)
		}
		if s.bitmap == nil {
			continue
		}
		if _, err := parseSet(list); !errors.Is(err, wire.ErrCorrupt) {
			t.Errorf("density %v: the list, which is larger, gave %v", p, err)
		}
		if got := s.Union(SetOf(ranks[:len(ranks)/2]...)); !got.Equal(s) {
			t.Errorf("density %v: union with a subset differs", p)
		}
	}
}

// TestSetBitmapCanonical checks that of two bitmaps of the same ranks only the
// smaller one is accepted.
func TestSetBitmapCanonical(t *testing.T) {
	ranks := append(random(1<<16, 0.5), where(1<<17, func(r int) bool { return r >= 1<<16+100 })...)
	s := SetOf(ranks...)
	if s.bitmap == nil {
		t.Fatal("not a bitmap")
	}
	checkSet(t, s, ranks)
	large := roaring.New()
	for _, r := range ranks {
		large.Add(uint32(r)) // no run containers
	}
	enc := appendBitmap(nil, large)
	_, err := parseSet(enc)
	checkError(t, err, 3, wire.ErrCorrupt)
	if len(enc) <= len(marshal(s)) {
		t.Errorf("%d bytes, not more than %d", len(enc), len(marshal(s)))
	}
}

// itemsOf returns the list of items even if a bitmap is smaller.
func itemsOf(ranks []int) []item {
	var b SetBuilder
	for _, r := range ranks {
		b.Add(r)
	}
	for k := range b.pending {
		b.push(k)
	}
	return append(slices.Collect(b.full.all()), b.items...)
}

// TestSetLarge checks that the largest regular sets take constant space.
func TestSetLarge(t *testing.T) {
	world := World(math.MaxInt)
	if world.Len() != MaxRank+1 || world.At(MaxRank) != MaxRank || len(marshal(world)) != 1+1+5 {
		t.Errorf("world of %d ranks, %d bytes", world.Len(), len(marshal(world)))
	}
	// Every other rank of all rows but the first and the last of 2³¹.
	it := item{start: 1 << 16, length: 1, depth: 2, dims: [maxDepth]dim{{2, 1 << 15}, {1 << 16, 1<<15 - 2}}}
	enc := appendItems(nil, []item{it})
	if _, err := parseSet(enc); err == nil {
		t.Error("accepted a stride that goes on across rows")
	}
	it.dims[0].count--
	s, err := parseSet(appendItems(nil, []item{it}))
	if err != nil || s.Len() != (1<<15-1)*(1<<15-2) {
		t.Fatalf("%v, %d ranks", err, s.Len())
	}
	last := s.Len() - 1
	if r := s.At(last); r != (1<<15-1)<<16-4 {
		t.Errorf("last rank %d", r)
	}
	if i, ok := s.Index(s.At(last)); i != last || !ok {
		t.Errorf("last rank has number %d, %v", i, ok)
	}
	if World(-1).Len() != 0 || !World(0).Equal(Set{}) {
		t.Error("a world of no ranks is not empty")
	}
	if n := testing.AllocsPerRun(10, func() { World(1 << 20) }); n > 4 {
		t.Errorf("a large world takes %v allocations", n)
	}
}

// TestSetBuilder adds ranks and ranges in any order, some of them repeatedly.
func TestSetBuilder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b SetBuilder
		in := make(map[int]bool)
		for range rapid.IntRange(0, 40).Draw(t, "ranges") {
			lo := rapid.IntRange(0, 300).Draw(t, "lo")
			hi := lo + rapid.IntRange(-1, 9).Draw(t, "length")
			b.AddRange(lo, hi)
			for r := lo; r <= hi; r++ {
				in[r] = true
			}
		}
		checkSet(t, b.Finish(), where(400, func(r int) bool { return in[r] }))
		b.Add(7)
		if s := b.Finish(); s.String() != "7" {
			t.Fatalf("%v after Finish", s)
		}
	})
}

// TestSetOfMany builds sets of more items than a builder holds plain, of runs so long that they are a list,
// and so short that they are a bitmap.
func TestSetOfMany(t *testing.T) {
	for _, tt := range []struct {
		name   string
		runs   int
		length int // of the shortest run; those side by side differ, so that none is a repetition
		bitmap bool
	}{{"long", 3 * maxPlain, 100, false}, {"short", 3 * maxPlain, 1, true}, {"as many", maxPlain, 100, false},
		{"one more", maxPlain + 1, 100, false}} {
		var b SetBuilder
		var ranks []int
		for i := range tt.runs {
			lo := b.next + 2
			hi := lo + tt.length + i%3
			b.AddRange(lo, hi)
			for rank := lo; rank <= hi; rank++ {
				ranks = append(ranks, rank)
			}
		}
		s := b.Finish()
		if (s.bitmap != nil) != tt.bitmap || !tt.bitmap && len(s.items) != tt.runs {
			t.Errorf("%s: %d items, a bitmap: %t", tt.name, len(s.items), s.bitmap != nil)
		}
		enc, _ := s.AppendBinary(nil)
		if read, err := parseSet(enc); err != nil || !read.Equal(s) || s.Len() != len(ranks) {
			t.Errorf("%s: %d ranks, want %d: %v", tt.name, s.Len(), len(ranks), err)
		}
		for i, rank := range s.All() {
			if at, ok := s.Index(rank); rank != ranks[i] || at != i || !ok {
				t.Fatalf("%s: number %d is %d, want %d; its index is %d, %t", tt.name, i, rank, ranks[i], at, ok)
			}
		}
		if b.Add(7); b.Finish().String() != "7" {
			t.Errorf("%s: something is left in the builder", tt.name)
		}
	}
}

func TestSetBuilderPanics(t *testing.T) {
	for _, r := range [][2]int{{-1, 0}, {0, MaxRank + 1}, {MaxRank + 1, MaxRank + 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("ranks %v were added", r)
				}
			}()
			var b SetBuilder
			b.AddRange(r[0], r[1])
		}()
	}
}

func TestSetAtPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("At beyond the last rank returned")
		}
	}()
	World(3).At(3)
}

// parseSet parses a set that is to fill data.
func parseSet(data []byte) (Set, error) { return whole(ParseSet(data)) }

func TestParseSetErrors(t *testing.T) {
	tests := []struct {
		name string
		data string
		off  int64
		want error
	}{
		{"Empty", "", 0, io.ErrUnexpectedEOF},
		{"CutOff", "\x02\x00", 0, wire.ErrCorrupt},
		{"NoItem", "\x02\x03\x00", 3, io.ErrUnexpectedEOF},
		{"HugeCount", "\xfe\xff\xff\xff\x0f", 0, wire.ErrCorrupt},
		{"Adjacent", "\x04\x00\x00\x00\x00", 3, wire.ErrCorrupt},          // 0, 2 is one item
		{"Continued", "\x04\x01\x00\x00\x00\x00\x00", 5, wire.ErrCorrupt}, // 0-2:2, then 4
		{"PastTheEnd", "\x02\x04\xfe\xff\xff\xff\x07", 1, wire.ErrCorrupt},
		{"StartPastTheEnd", "\x04\x00\xfe\xff\xff\xff\x07\x00\x00", 7, wire.ErrCorrupt},
		{"StridePastTheEnd", "\x02\x01\x00\xfe\xff\xff\xff\x07\x00", 3, wire.ErrCorrupt},
		{"CountPastTheEnd", "\x02\x01\x00\x01\xfe\xff\xff\xff\x07", 1, wire.ErrCorrupt},
		{"InnerStride", "\x02\x02\x00\x00\x00\x00\x00", 1, wire.ErrCorrupt}, // 0, 2, 4, 6 in two dimensions
		{"NoBitmap", "\x03", 0, wire.ErrCorrupt},
		{"BadBitmap", "\x09abcd", 1, wire.ErrCorrupt},
		{"SmallBitmap", "\x25" + string(bitmapOf(5)), 1, wire.ErrCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseSet([]byte(tt.data))
			checkError(t, err, tt.off, tt.want)
		})
	}
}

// bitmapOf returns a bitmap of one rank without its length.
func bitmapOf(rank int) []byte {
	b := random(200_000, 0.5)
	s := SetOf(b...)
	if s.bitmap == nil {
		panic("no bitmap")
	}
	s.bitmap.Clear()
	s.bitmap.Add(uint32(rank))
	return appendBitmap(nil, s.bitmap)[1:]
}

func checkError(t *testing.T, err error, off int64, want error) {
	t.Helper()
	var pe *wire.Error
	if !errors.As(err, &pe) || pe.Offset != off || !errors.Is(err, want) {
		t.Errorf("err = %v, want %v at offset %d", err, want, off)
	}
}

// TestParseSetDamaged checks that whatever one-bit changes and prefixes of
// encodings are accepted are encodings of other sets.
func TestParseSetDamaged(t *testing.T) {
	encodings := [][]byte{marshal(SetOf(random(1000, 0.5)...))}
	for _, tt := range setTests {
		encodings = append(encodings, marshal(SetOf(tt.ranks...)))
	}
	for _, enc := range encodings {
		for n := range enc {
			if _, err := parseSet(enc[:n]); err == nil {
				t.Errorf("accepted %d of %d bytes", n, len(enc))
			}
		}
		for bit := range len(enc) * 8 {
			bad := bytes.Clone(enc)
			bad[bit/8] ^= 1 << (bit % 8)
			if s, err := parseSet(bad); err == nil && !bytes.Equal(marshal(s), bad) {
				t.Errorf("accepted %x, encoded as %x", bad, marshal(s))
			}
		}
	}
}

// TestParseSetMemory checks that what ParseSet allocates follows from the bytes
// it was given.
func TestParseSetMemory(t *testing.T) {
	hostile := [][]byte{
		[]byte("\xfe\xff\xff\xff\x0f"),
		[]byte("\x02\x00\xfd\xff\xff\xff\x07"),
		[]byte("\x02\x01\x00\x00\xfd\xff\xff\xff\x03"), // 2³⁰ ranks
		append([]byte("\x81\x01"), make([]byte, 64)...),
		append([]byte("\x81\x01\x3b\x30\xff\xff"), make([]byte, 64)...),
	}
	for _, data := range hostile {
		if got := allocated.By(3, func() { parseSet(data) }); got > 32<<10 {
			t.Errorf("ParseSet of %x allocated %d bytes", data, got)
		}
	}
	var items []item // a list that is long enough for a bitmap, of 2²⁷ ranks
	for k := range uint32(4) {
		items = append(items, item{start: k << 28, length: k + 1, depth: 1, dims: [maxDepth]dim{{8, 1 << 25}}})
	}
	list := appendItems(nil, items)
	if got := allocated.By(3, func() { parseSet(list) }); got > 4<<10 || len(list) <= minBitmap {
		t.Errorf("ParseSet of a list of %d bytes allocated %d bytes", len(list), got)
	}
	enc := marshal(SetOf(random(200_000, 0.5)...))
	if got := allocated.By(3, func() { parseSet(enc) }); got > uint64(500*len(enc)) {
		t.Errorf("ParseSet of %d bytes allocated %d bytes", len(enc), got)
	}
}

func TestSetOfText(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"0", "0"},
		{"3,1 , 2", "1-3"},
		{"0-3,8", "0-3, 8"},
		{"0-6:3", "0-6:3"},
		{"0-8:3", "0-6:3"},
		{"(1-6)+8×7", "(1-6)+8×7"},
		{"(1-6)+8x7", "(1-6)+8×7"},
		{"( (1,3)+4*2 ) + 16 * 2", "(1-7:2)+16×2"},
		{"5-5", "5"},
		{"63", "63"},
	} {
		s, err := SetOfText(tt.text, 64)
		if err != nil || s.String() != tt.want {
			t.Errorf("SetOfText(%q) = %v, %v, want %s", tt.text, s, err, tt.want)
		}
	}
	if s, err := SetOfText("2147483600-2147483646", MaxRank+1); err != nil || s.Len() != 47 {
		t.Errorf("the highest ranks: %v, %v", s, err)
	}
}

func TestSetOfTextErrors(t *testing.T) {
	for _, tt := range []struct {
		text string
		size int
		want string
	}{
		{"", 64, "names no rank"},
		{"a", 64, `"a" is no rank`},
		{"-1", 64, `"-1" is no rank`},
		{"1,", 64, "a rank is missing at the end"},
		{"1 2", 64, `"2" is not expected`},
		{"64", 64, "the rank 64 is beyond 63"},
		{"99999999999999999999", 64, "the rank 99999999999999999999 is beyond 63"},
		{"0", 0, "there are no ranks"},
		{"5-3", 64, "5-3 is backwards"},
		{"0-9:0", 64, "a step is 1 at least"},
		{"(1-6", 64, ") is missing"},
		{"(1-6)", 64, "+ is missing"},
		{"(1-6)+8", 64, "× is missing"},
		{"(1-6)+8×0", 64, "there is a copy at least"},
		{"(1-6)+8×9", 64, "the rank 70 is beyond 63"},
		{"(0-9)+0×99999999", 64, "more than 16777216 ranks"},
		{"0-2147483646", MaxRank + 1, "more than 16777216 ranks"},
		{strings.Repeat("(", 9) + "1", 64, "deeper than 8"},
	} {
		if s, err := SetOfText(tt.text, tt.size); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("SetOfText(%q) = %v, %v, want %q", tt.text, s, err, tt.want)
		}
	}
}

// TestSetOfTextInverse checks that the text of any set is read as that set.
func TestSetOfTextInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := SetOf(rapid.SliceOfN(rapid.IntRange(0, 300), 1, 200).Draw(t, "ranks")...)
		if got, err := SetOfText(want.String(), 301); err != nil || !got.Equal(want) {
			t.Fatalf("%v is read as %v, %v", want, got, err)
		}
	})
}

// TestAbbreviated cuts lists off, of items and of a bitmap, which takes nothing for what is left out.
func TestAbbreviated(t *testing.T) {
	for _, tt := range []struct {
		ranks []int
		most  int
		want  string
	}{
		{nil, 0, ""},
		{[]int{7}, 1, "7"},
		{[]int{0, 10, 11, 12, 17}, 8, "0, …"},
		{[]int{0, 10, 11, 12, 17}, 12, "0, 10-12, 17"},
		{[]int{0, 10, 11, 12, 17}, 11, "0, 10-12, …"},
	} {
		if got := SetOf(tt.ranks...).Abbreviated(tt.most); got != tt.want {
			t.Errorf("%v in %d bytes: %q, want %q", tt.ranks, tt.most, got, tt.want)
		}
	}
	var b SetBuilder
	for i := range 1 << 20 {
		b.Add(4*i + i*i%3)
	}
	s := b.Finish()
	if got := s.Abbreviated(12); got != s.String()[:9]+"…" {
		t.Errorf("%q of %q", got, s.String()[:20])
	}
	if n := testing.AllocsPerRun(10, func() { s.Abbreviated(200) }); n > 300 {
		t.Errorf("%.0f allocations", n)
	}
}
