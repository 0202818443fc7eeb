package rankenc

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
	"github.com/reprise-trace/reprise/internal/wire"
)

// all selects every rank.
func all(int) bool { return true }

// parseExpr parses an expression that is to fill data.
func parseExpr(data []byte) (Expr, error) { return whole(ParseExpr(data)) }

// whole requires that nothing is left after a value that was parsed.
func whole[T any](v T, rest []byte, err error) (T, error) {
	if err == nil && len(rest) > 0 {
		err = errors.New("bytes are left")
	}
	return v, err
}

// A domain is ranks that have values, and the size of their group.
type domain struct {
	ranks []int64
	size  int64
}

func (d domain) fit(values []int64, o Options) (Expr, bool) { return Fit(d.ranks, values, d.size, o) }

// world returns the domain of a group of n ranks.
func world(n int) domain {
	d, _ := sampleOf(n, all, func(int) int64 { return 0 })
	return d
}

// neighbour returns a function for the process d further in a grid of the given
// extents, the last of which is open, with wrap or with −1 at the rim.
func neighbour(n int, wrap bool, extents []int, d ...int) func(r int) int64 {
	return func(r int) int64 {
		v, stride := 0, 1
		for k := range d {
			extent := n / stride
			if k < len(extents) {
				extent = extents[k]
			}
			x := r/stride%extent + d[k]
			if !wrap && (x < 0 || x >= extent) {
				return -1
			}
			v += (x + extent) % extent * stride
			stride *= extent
		}
		return int64(v)
	}
}

// fitTests are patterns of real programs: NPB is the NAS Parallel Benchmarks.
var fitTests = []struct {
	name  string
	n     int
	in    func(r int) bool
	value func(r int) int64
	text  string
	bytes int
}{
	{"Root", 64, all, func(int) int64 { return 0 }, "0", 1},
	{"LargeCount", 64, all, func(int) int64 { return 1 << 20 }, "1048576", 5},
	{"ProcNull", 64, all, func(int) int64 { return -2 }, "-2", 1},
	{"One", 1 << 20, func(r int) bool { return r == 70_000 }, func(r int) int64 { return 70_001 }, "rank+1", 1},
	{"Next", 64, func(r int) bool { return r < 63 }, func(r int) int64 { return int64(r + 1) }, "rank+1", 1},
	{"FarBehind", 64, func(r int) bool { return r > 32 }, func(r int) int64 { return int64(r - 33) }, "rank-33", 2},
	{"Ring", 64, all, func(r int) int64 { return int64(r+63) % 64 }, "(rank-1) mod N", 2},
	{"Chain", 64, all, neighbour(64, false, nil, 1), "rank+1 or -1", 3},
	{"North", 64, all, neighbour(64, false, []int{8}, 0, -1), "rank-8 or -1", 3},
	{"Scaled", 64, all, func(r int) int64 { return int64(3*r + 5) }, "3·rank+5", 3},
	{"Mirror", 64, all, func(r int) int64 { return int64(63 - r) }, "rank xor 63", 2},
	{"MirrorOdd", 63, all, func(r int) int64 { return int64(62 - r) }, "-1·rank+62", 3},
	{"CGReduce", 64, all, func(r int) int64 { return int64(r ^ 4) }, "rank xor 4", 2},
	{"CGTranspose", 64, all, func(r int) int64 { return int64(r%8*8 + r/8) }, "(rank div 8) + 8·(rank mod 8)", 5},
	{"CGTransposeOblong", 128, all, func(r int) int64 {
		return int64(2*(r/2%8*8+r/2/8) + r%2)
	}, "2·(rank div 16) + 16·(rank div 2 mod 8) + (rank mod 2)", 7},
	{"Row", 64, all, func(r int) int64 { return int64(r / 8) }, "(rank div 8)", 5},
	{"Column", 48, all, func(r int) int64 { return int64(r % 12) }, "(rank mod 12)", 5},
	{"Plane", 512, all, func(r int) int64 { return int64(r / 64) }, "(rank div 64)", 5},
	{"RowOfPlane", 512, all, func(r int) int64 { return int64(r / 8 % 8) }, "(rank div 8 mod 8)", 7},
	{"RowLeader", 64, all, func(r int) int64 { return int64(r / 8 * 8) }, "8·(rank div 8)", 5},
	{"ColumnOfInterior", 64, func(r int) bool {
		return r%8 > 0 && r%8 < 7 && r/8 > 0 && r/8 < 7
	}, func(r int) int64 { return int64(r % 8) }, "(rank mod 8)", 5},
	{"BTSuccessorX", 64, all, neighbour(64, true, []int{8}, 1, 0), "torus 8: column+1, row", 4},
	{"BTPredecessorX", 64, all, neighbour(64, true, []int{8}, -1, 0), "torus 8: column-1, row", 4},
	{"BTSuccessorZ", 64, all, neighbour(64, true, []int{8}, 1, -1), "torus 8: column+1, row-1", 4},
	{"BTPredecessorZ", 64, all, neighbour(64, true, []int{8}, -1, 1), "torus 8: column-1, row+1", 4},
	{"Torus3X", 512, all, neighbour(512, true, []int{8, 8}, -1, 0, 0), "torus 8: column-1, row", 4},
	{"Torus3Y", 512, all, neighbour(512, true, []int{8, 8}, 0, 1, 0), "torus 64: column+8, row", 4}, // the plane is a longer row
	{"Torus3YBack", 240, all, neighbour(240, true, []int{6, 5}, 0, -1, 0), "torus 30: column-6, row", 4},
	{"Torus3Far", 512, all, neighbour(512, true, []int{8, 8}, 2, 0, 0), "torus 8: column+2, row", 4},
	{"Torus3Diagonal", 240, all, neighbour(240, true, []int{6, 5}, 1, -1, 1), "torus 6×5: column+1, row-1, plane+1", 6},
	{"East", 64, all, neighbour(64, false, []int{8}, 1, 0), "grid 8: column+1, row or -1", 5},
	{"West", 48, all, neighbour(48, false, []int{12}, -1, 0), "grid 12: column-1, row or -1", 5},
	{"NorthEast", 48, all, neighbour(48, false, []int{12}, 1, -1), "grid 12: column+1, row-1 or -1", 5},
	{"Grid3Y", 240, all, neighbour(240, false, []int{6, 5}, 0, 1, 0), "grid 30: column+6, row or -1", 5},
	{"Grid3YBack", 240, all, neighbour(240, false, []int{6, 5}, 0, -1, 0), "grid 30: column-6, row or -1", 5},
	{"Grid3Edge", 240, all, neighbour(240, false, []int{6, 5}, -1, 1, 0), "grid 6×5: column-1, row+1, plane or -1", 7},
	{"Grid3Corner", 240, all, neighbour(240, false, []int{6, 5}, 1, 1, 1),
		"grid 6×5: column+1, row+1, plane+1 or -1", 7},
	{"Grid3CornerBack", 240, all, neighbour(240, false, []int{6, 5}, -1, -1, -1),
		"grid 6×5: column-1, row-1, plane-1 or -1", 7},
	{"Grid3DepthEdge", 240, all, neighbour(240, false, []int{6, 5}, 1, 0, -1), "grid 6: column+1, row-5 or -1", 5},
	{"FourDimensions", 256, all, neighbour(256, true, []int{4, 4, 4}, 0, 0, 1, 0), "torus 64: column+16, row", 4},
}

// sampleOf returns the ranks below n for which in holds, and their values.
func sampleOf(n int, in func(r int) bool, value func(r int) int64) (d domain, values []int64) {
	d.size = int64(n)
	for _, r := range where(n, in) {
		d.ranks = append(d.ranks, int64(r))
		values = append(values, value(r))
	}
	return d, values
}

func TestFit(t *testing.T) {
	for _, tt := range fitTests {
		t.Run(tt.name, func(t *testing.T) {
			d, values := sampleOf(tt.n, tt.in, tt.value)
			e, ok := d.fit(values, Options{Ranks: true})
			if !ok {
				t.Fatal("no fit")
			}
			if enc := marshal(e); e.String() != tt.text || len(enc) != tt.bytes {
				t.Errorf("%v in %d bytes, want %s in %d", e, len(enc), tt.text, tt.bytes)
			}
			checkExpr(t, e)
			for i, v := range values {
				if got := e.Eval(d.ranks[i], d.size); got != v {
					t.Fatalf("%v of %d = %d, want %d", e, d.ranks[i], got, v)
				}
			}
		})
	}
}

// checkExpr checks that e is what its encoding is parsed to.
func checkExpr(t rapid.TB, e Expr) {
	t.Helper()
	enc, err := e.AppendBinary([]byte("prefix"))
	if err != nil || !bytes.HasPrefix(enc, []byte("prefix")) {
		t.Fatal(err)
	}
	if got, err := parseExpr(enc[len("prefix"):]); err != nil || got != e {
		t.Fatalf("parsed %v, %v, want %v", got, err, e)
	}
}

// TestFitRanks checks what the option says of special values.
func TestFitRanks(t *testing.T) {
	tests := []struct {
		name   string
		values []int64
		ranks  string // fitted as ranks, "" for refused
		number string // fitted as numbers
	}{
		{"Arithmetic", []int64{-1, 0, 1, 2}, "rank-1 or -1", "rank-1"},
		{"OtherSpecial", []int64{-2, 0, 1, 2}, "rank-1 or -2", "rank-1 or -2"},
		{"TwoSpecials", []int64{-2, 0, 1, -1}, "", ""},
		{"AllSpecial", []int64{-4, -3, -2, -1}, "", "rank-4"},
		{"SameSpecial", []int64{-3, -3, -3, -3}, "-3", "-3"},
		{"Scaled", []int64{-2, 0, 2, 4}, "", "2·rank-2"},
	}
	for _, tt := range tests {
		for _, o := range []Options{{Ranks: true}, {}} {
			want := tt.number
			if o.Ranks {
				want = tt.ranks
			}
			e, ok := world(4).fit(tt.values, o)
			if ok != (want != "") || ok && e.String() != want {
				t.Errorf("%s, ranks %v: %v, %v, want %q", tt.name, o.Ranks, e, ok, want)
			}
		}
	}
}

// TestFitBases checks ranks that are no set: those in rows of a grid, of which
// each is a group.
func TestFitBases(t *testing.T) {
	ranks := make([]int64, 64)
	values := make([]int64, 64)
	for i := range ranks {
		ranks[i] = int64(i % 8)
		values[i] = int64((i + 1) % 8)
	}
	if e, ok := Fit(ranks, values, 8, Options{Ranks: true}); !ok || e.String() != "(rank+1) mod N" {
		t.Errorf("%v, %v", e, ok)
	}
	values[9]++
	if e, ok := Fit(ranks, values, 8, Options{Ranks: true}); ok {
		t.Errorf("%v for two values of a rank", e)
	}
	if e, ok := Fit(nil, nil, 0, Options{}); !ok || e != Constant(0) {
		t.Errorf("%v, %v for nothing", e, ok)
	}
}

var exprGen = rapid.Custom(func(t *rapid.T) Expr {
	number := rapid.IntRange(0, len(families)-1).Draw(t, "family")
	e := Expr{family: uint8(number)}
	f := &families[number]
	for i := range f.params {
		switch {
		case i < f.extents:
			e.params[i] = rapid.OneOf(rapid.Int64Range(1, 20), rapid.Int64Range(1, maxExtent)).Draw(t, "extent")
		case f.rim && i == f.params-1:
			e.params[i] = rapid.Int64Range(-3, -1).Draw(t, "rim")
		default:
			e.params[i] = rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64Range(-100, 100),
				rapid.Int64()).Draw(t, "parameter")
		}
	}
	return e
})

func TestExprRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := exprGen.Draw(t, "e")
		checkExpr(t, e)
		if e.String() == "" {
			t.Fatal("no text")
		}
		rank, size := rapid.Int64().Draw(t, "rank"), rapid.Int64().Draw(t, "size")
		e.Eval(rank, size)
		e.Eval(math.MinInt64, 0)
	})
}

// TestExprShort checks the expressions around the limits of those of one byte.
func TestExprShort(t *testing.T) {
	for c := int64(-300); c <= 300; c++ {
		for _, e := range []Expr{Constant(c), Shift(c)} {
			checkExpr(t, e)
			_, constant := e.Constant()
			want := constant && c >= -16 && c < 112 || !constant && c >= -32 && c < 32
			if enc := marshal(e); (len(enc) == 1) != want {
				t.Errorf("%v in %d bytes", e, len(enc))
			}
		}
	}
}

// domainGen draws subsets of a group: all, a colour class, interior, rim, some.
var domainGen = rapid.Custom(func(t *rapid.T) domain {
	n := rapid.IntRange(1, 130).Draw(t, "size")
	k, m := rapid.IntRange(1, 9).Draw(t, "k"), rapid.IntRange(0, 8).Draw(t, "m")
	chosen := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "chosen")
	in := rapid.SampledFrom([]func(r int) bool{
		all,
		func(r int) bool { return r%k == m%k },
		func(r int) bool { return r%k > 0 && r%k < k-1 && r/k > 0 && r/k < n/k-1 },
		func(r int) bool { return r%k == 0 || r%k == k-1 },
		func(r int) bool { return r/k%2 == 0 },
		func(r int) bool { return chosen[r] },
	}).Draw(t, "in")
	d, _ := sampleOf(n, in, func(int) int64 { return 0 })
	return d
})

// drawValues draws values over d: those of an expression, with noise at some
// positions.
func drawValues(t *rapid.T, d domain) []int64 {
	e := exprGen.Draw(t, "e")
	values := make([]int64, len(d.ranks))
	for i, r := range d.ranks {
		values[i] = e.Eval(r, d.size)
	}
	if len(values) > 0 {
		for range rapid.IntRange(0, 4).Draw(t, "noise") {
			i := rapid.IntRange(0, len(values)-1).Draw(t, "position")
			values[i] = rapid.OneOf(rapid.Int64Range(-2, 3), rapid.Int64()).Draw(t, "value")
		}
	}
	return values
}

// TestFitExact checks that an expression that was fitted is right, that nothing
// of one parameter is missed, and that special values are not computed.
func TestFitExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := domainGen.Draw(t, "domain")
		values := drawValues(t, d)
		o := Options{Ranks: rapid.Bool().Draw(t, "ranks")}
		e, ok := d.fit(values, o)
		if !ok {
			for _, c := range []Expr{Constant(0), Shift(0), {ringNumber, params{}}, {xorNumber, params{}}} {
				if len(values) > 0 {
					switch c.family {
					case constantNumber:
						c.params[0] = values[0]
					case xorNumber:
						c.params[0] = values[0] ^ d.ranks[0]
					default:
						c.params[0] = values[0] - d.ranks[0]
					}
				}
				if fits(c, d, values) && !(o.Ranks && slices.ContainsFunc(values, func(v int64) bool {
					return v < 0
				})) {
					t.Fatalf("%v was not found", c)
				}
			}
			return
		}
		if !fits(e, d, values) {
			t.Fatalf("%v is wrong for %v", e, values)
		}
		_, constant := e.Constant()
		f := &families[e.family]
		for _, v := range values {
			if o.Ranks && v < 0 && !constant && !(f.rim && v == e.params[f.params-1]) {
				t.Fatalf("%v computes %d", e, v)
			}
		}
	})
}

func fits(e Expr, d domain, values []int64) bool {
	for i, v := range values {
		if e.Eval(d.ranks[i], d.size) != v {
			return false
		}
	}
	return true
}

func TestParseExprErrors(t *testing.T) {
	tests := []struct {
		name string
		data string
		off  int64
		want error
	}{
		{"Empty", "", 0, io.ErrUnexpectedEOF},
		{"NoParameter", "\x00", 1, io.ErrUnexpectedEOF},
		{"UnknownFamily", "\x10\x00", 0, wire.ErrCorrupt},
		{"ColumnEncoding", "\x20\x00", 0, wire.ErrCorrupt},
		{"LongConstant", "\x00\x02", 0, wire.ErrCorrupt},
		{"LongShift", "\x01\x02", 0, wire.ErrCorrupt},
		{"LongVarint", "\x02\x80\x00", 1, wire.ErrCorrupt},
		{"LargeExtent", "\x06\x80\x80\x80\x80\x08\x00\x00\x00", 1, wire.ErrCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseExpr([]byte(tt.data))
			checkError(t, err, tt.off, tt.want)
		})
	}
}

// TestParseExprDamaged checks that no encoding is accepted but the one of what is
// returned.
func TestParseExprDamaged(t *testing.T) {
	for _, tt := range fitTests {
		d, values := sampleOf(tt.n, tt.in, tt.value)
		e, _ := d.fit(values, Options{Ranks: true})
		enc := marshal(e)
		for n := range enc {
			if _, err := parseExpr(enc[:n]); err == nil {
				t.Errorf("%v: accepted %d of %d bytes", e, n, len(enc))
			}
		}
		for bit := range len(enc) * 8 {
			bad := bytes.Clone(enc)
			bad[bit/8] ^= 1 << (bit % 8)
			if got, err := parseExpr(bad); err == nil && (got == e || !bytes.Equal(marshal(got), bad)) {
				t.Errorf("%v: accepted %x as %v", e, bad, got)
			}
		}
	}
}

// TestFitGroups fits values that refer to groups of several sizes: what it finds
// yields all of them, and it finds a ring, a line and a shift.
func TestFitGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ranks, sizes, values []int64
		c := rapid.Int64Range(-3, 3).Draw(t, "c")
		form := rapid.SampledFrom([]Expr{{ringNumber, params{c}}, {3, params{c, -2}}, Shift(c + 3),
			Constant(c)}).Draw(t, "form")
		for i := range rapid.IntRange(1, 4).Draw(t, "groups") {
			n := rapid.Int64Range(8, 40).Draw(t, "size")
			for r := range n {
				if i > 0 && rapid.IntRange(0, 3).Draw(t, "absent") == 0 {
					continue
				}
				ranks, sizes = append(ranks, r), append(sizes, n)
				values = append(values, form.Eval(r, n))
			}
		}
		e, ok := FitGroups(ranks, sizes, values, Options{})
		if !ok {
			t.Fatalf("no expression for %v", form)
		}
		at := rapid.IntRange(0, len(values)-1).Draw(t, "at")
		check := func() {
			for i, v := range values {
				if got := e.Eval(ranks[i], sizes[i]); got != v {
					t.Fatalf("%v yields %d for rank %d of %d, not %d", e, got, ranks[i], sizes[i], v)
				}
			}
		}
		check()
		values[at] += rapid.Int64Range(-2, 2).Draw(t, "change")
		if e, ok = FitGroups(ranks, sizes, values, Options{Ranks: true}); ok {
			check()
		}
	})
	if e, ok := FitGroups(nil, nil, nil, Options{}); !ok || e != (Expr{}) {
		t.Errorf("nothing fits %v, %v", e, ok)
	}
	if _, ok := FitGroups([]int64{0, 0}, []int64{2, 2}, []int64{0, 1}, Options{}); ok {
		t.Error("a rank has two values")
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	FitGroups([]int64{0}, []int64{1}, nil, Options{})
}

// TestFitResidues checks that sums of residues are found, whatever the factors, in square and other grids.
func TestFitResidues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.Int64Range(4, 24).Draw(t, "k")
		rows := rapid.OneOf(rapid.Just(k), rapid.Int64Range(2, 24)).Draw(t, "rows")
		number := rapid.Int64Range(0, 80).Filter(func(n int64) bool {
			f := factorsOf(n)
			return f[0] != (factors{}) && f[1] != (factors{})
		}).Draw(t, "factors")
		p := params{k, number, rapid.Int64Range(0, k-1).Draw(t, "c"),
			rapid.Int64Range(0, k-1).Draw(t, "c'"), rapid.Int64Range(-9, 5000).Draw(t, "base")}
		want := Expr{12, p}
		values := make([]int64, k*rows)
		for rank := range values {
			values[rank] = want.Eval(int64(rank), k*rows)
		}
		d := world(int(k * rows))
		if e, ok := d.fit(values, Options{}); (!ok || !fits(e, d, values)) && rows == k {
			t.Fatalf("%v of %d rows: found %v, %v", want, rows, e, ok)
		}
	})
}

// TestFitBlocks checks that sizes of blocks and of faces are found, whatever the directions, and
// those of interiors.
func TestFitBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.Int64Range(4, 24).Draw(t, "k")
		draw := func(label string) factors {
			f := rapid.SampledFrom([]factors{{1, 0}, {0, 1}, {1, 1}, {1, -1}}).Draw(t, label)
			if rapid.Bool().Draw(t, "negative") {
				f = factors{-f.x, -f.y}
			}
			return f
		}
		f := [2]factors{draw("first"), {}}
		if second := draw("second"); second != f[0] && second != (factors{-f[0].x, -f[0].y}) {
			f[1] = second
		}
		c := rapid.Int64Range(0, k-1)
		p := params{k, numberOf(f), c.Draw(t, "c"), c.Draw(t, "c'"),
			rapid.Int64Range(2*k, 20*k).Draw(t, "points"), rapid.Int64Range(1, 9).Draw(t, "factor")}
		want := Expr{uint8(rapid.IntRange(13, 14).Draw(t, "family")), p}
		d, values := sampleOf(int(k*k), all, func(r int) int64 { return want.Eval(int64(r), k*k) })
		// Where k is even, both diagonals of a rank meet again, or never.
		diagonals := f[0].x*f[0].y != 0 && f[1].x*f[1].y != 0 && k%2 == 0
		if e, ok := d.fit(values, Options{}); !ok && !diagonals || ok && !fits(e, d, values) {
			t.Fatalf("%v: found %v, %v", want, e, ok)
		}
	})
}

// TestFitCells checks that the sizes of the faces of all cells of a rank are found, of
// multipartitions with both ways of numbering cells.
func TestFitCells(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(3, 24).Draw(t, "k")
		n := rapid.IntRange(k, 20*k).Filter(func(n int) bool { return n%k != 0 }).Draw(t, "points")
		factor, side := rapid.IntRange(1, 100).Draw(t, "factor"), rapid.IntRange(0, 5).Draw(t, "side")
		sign := rapid.SampledFrom([]int{1, -1}).Draw(t, "sign")
		size := func(i int) int { return (n + k - 1 - i) / k }
		d, values := sampleOf(k*k, all, func(r int) int64 {
			sum := 0
			for c := range k {
				cell := [3]int{(r%k + c) % k, (r/k + sign*c + k) % k, c}
				if rim := (k - 1) * (side % 2); cell[side/2] != rim {
					sum += size(cell[(side/2+1)%3]) * size(cell[(side/2+2)%3])
				}
			}
			return int64(factor * sum)
		})
		if e, ok := d.fit(values, Options{}); !ok || !fits(e, d, values) {
			t.Fatalf("side %d of %d cells of %d points: found %v, %v", side, k, n, e, ok)
		}
	})
}

// TestLargeBlocks fits values whose blocks have 2³¹ points and more, and whose squares wrap.
func TestLargeBlocks(t *testing.T) {
	for _, size := range []int64{1<<31 - 1, 1 << 31, 1 << 32, 3 << 32, 1 << 62} {
		for _, third := range []int64{size + 1, size + 2, math.MaxInt64} {
			d, values := sampleOf(9, all, func(r int) int64 { return []int64{size, size + 1, third}[r%3] })
			if e, ok := d.fit(values, Options{}); ok && !fits(e, d, values) {
				t.Fatalf("%v for %v", e, values)
			}
		}
	}
}

// TestBlocksText checks what an expression is called, and its values.
func TestBlocksText(t *testing.T) {
	e := Expr{13, params{4, numberOf([2]factors{{1, 0}, {-1, 1}}), 2, 3, 50, 5}}
	if got := e.String(); got != "5·block(column+2)·block(-1·column + row+3) of 50 in 4 blocks" {
		t.Error(got)
	}
	if got := e.Eval(5, 16); got != 5*12*12 { // column 1, row 1
		t.Error(got)
	}
	if got := e.Eval(2, 16); got != 5*13*13 { // column 2, row 0
		t.Error(got)
	}
	inner := e
	inner.family = 14
	if got := inner.String(); got != "5·interior(column+2)·interior(-1·column + row+3) of 50 in 4 blocks" {
		t.Error(got)
	}
	if got := inner.Eval(5, 16); got != 5*11*11 { // the last of all, twice
		t.Error(got)
	}
	e.params[1] = numberOf([2]factors{{0, 1}, {}})
	if got := e.String(); got != "5·block(row+2) of 50 in 4 blocks" || e.Eval(4, 16) != 5*12 || e.Eval(8, 16) != 5*13 {
		t.Error(got, e.Eval(4, 16), e.Eval(8, 16))
	}
}

// TestResiduesText checks what an expression is called, and its values.
func TestResiduesText(t *testing.T) {
	e := Expr{12, params{4, numberOf([2]factors{{1, 0}, {-1, 1}}), 2, 3, 100}}
	if got := e.String(); got != "(column+2) mod 4 + 4·((-1·column + row+3) mod 4)+100" {
		t.Error(got)
	}
	if got := e.Eval(5, 16); got != 100+3+4*3 { // column 1, row 1
		t.Error(got)
	}
}

// TestForms checks that every family has a form of its own, and says its parameters.
func TestForms(t *testing.T) {
	known := make(map[string]bool)
	for i := range families {
		e := Expr{family: uint8(i)}
		for k := range families[i].params {
			e.params[k] = int64(k + 1)
		}
		form, parameters := e.Form()
		if known[form] || form == "" || !slices.Equal(parameters, e.params[:families[i].params]) {
			t.Errorf("family %d has the form %q, and the parameters %v", i, form, parameters)
		}
		known[form] = true
	}
}

// TestParseRest checks what is left after an expression, and after a set.
func TestParseRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tail := rapid.SliceOf(rapid.Byte()).Draw(t, "tail")
		want := exprGen.Draw(t, "e")
		if e, rest, err := ParseExpr(append(marshal(want), tail...)); err != nil || e != want ||
			!bytes.Equal(rest, tail) {
			t.Fatalf("%v, %x, %v, want %v, %x", e, rest, err, want, tail)
		}
		ranks := SetOf(rapid.SliceOf(rapid.IntRange(0, 100)).Draw(t, "ranks")...)
		if s, rest, err := ParseSet(append(marshal(ranks), tail...)); err != nil || !s.Equal(ranks) ||
			!bytes.Equal(rest, tail) {
			t.Fatalf("%v, %x, %v, want %v, %x", s, rest, err, ranks, tail)
		}
	})
}

// TestFitGrids counts in how many of many small process grids the neighbour in a
// random direction is found, for all processes and for parts of them. Small ones
// are the hard ones: their rows show only once or twice.
func TestFitGrids(t *testing.T) {
	parts := []struct {
		name        string
		in          func(x, y, z int) bool
		open, wraps float64 // least shares that must be found
	}{
		{"All", func(_, _, _ int) bool { return true }, 0.99, 1},
		{"Interior", func(x, y, _ int) bool { return x > 0 && y > 0 }, 0.96, 1},
		{"Faces", func(x, y, _ int) bool { return x == 0 || y == 0 }, 0.99, 1},
		{"Colour", func(x, y, z int) bool { return (x+y+z)%2 == 0 }, 0.94, 0.99},
	}
	for _, tt := range parts {
		t.Run(tt.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, 2))
			for _, wrap := range []bool{false, true} {
				want := tt.open
				if wrap {
					want = tt.wraps
				}
				found, total := 0, 0
				for range tier.Number(250, 1000) {
					k, m := 2+rnd.IntN(9), 2+rnd.IntN(9)
					n := k * m * (2 + rnd.IntN(5))
					value := neighbour(n, wrap, []int{k, m}, rnd.IntN(5)-2, rnd.IntN(5)-2, rnd.IntN(5)-2)
					d, values := sampleOf(n, func(r int) bool { return tt.in(r%k, r/k%m, r/k/m) }, value)
					e, ok := d.fit(values, Options{Ranks: true})
					if total++; ok {
						found++
					}
					if ok && !fits(e, d, values) {
						t.Fatalf("%v is not %v", e, values)
					}
				}
				share := float64(found) / float64(total)
				t.Logf("wrap %v: %.3f", wrap, share)
				if share < want {
					t.Errorf("wrap %v: found %.3f of %d, want %.2f", wrap, share, total, want)
				}
			}
		})
	}
}
