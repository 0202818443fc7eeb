package layout

import (
	"bytes"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/tier"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

var everyRank = rankenc.World(MaxRanks)

// A knownRank is the times of a rank as they are.
type knownRank struct {
	rank       int
	begin, end int64
	gaps       int64
	sum, max   []int64 // by function
}

// drawRanks draws times of some ranks of n functions, of which some take far less time than others.
func drawRanks(t *rapid.T, n int) []knownRank {
	var known []knownRank
	scale := rapid.SliceOfN(rapid.IntRange(0, 61), n, n).Draw(t, "scales")
	for _, rank := range rapid.SliceOfNDistinct(rapid.IntRange(0, 1000), 1, 90, rapid.ID).Draw(t, "ranks") {
		k := knownRank{rank: rank, begin: rapid.OneOf(rapid.Int64Range(1<<60, 1<<60+1<<30),
			rapid.Int64()).Draw(t, "begin")}
		k.end = k.begin + min(rapid.Int64Range(0, 1<<scale[0]).Draw(t, "span"), math.MaxInt64-max(0, k.begin))
		k.gaps = rapid.Int64Range(-5, 1<<scale[0]).Draw(t, "gaps")
		for _, s := range scale {
			sum := rapid.Int64Range(-1, 1<<s).Draw(t, "sum")
			k.sum, k.max = append(k.sum, sum), append(k.max, rapid.Int64Range(min(0, sum), max(0, sum)).Draw(t, "max"))
		}
		known = append(known, k)
	}
	return known
}

func rankTimesOf(known []knownRank) *RankTimes {
	r := new(RankTimes)
	for _, k := range known {
		r.Add(k.rank, k.begin, k.end, k.gaps, len(k.sum), func(f int) (int64, int64) { return k.sum[f], k.max[f] })
	}
	return r
}

// written returns r as it is in a trace.
func written(t *rapid.T, r *RankTimes, n int) *RankTimes {
	enc := r.Coarse().Append(nil, n)
	read, err := ParseRankTimes(enc, n, everyRank)
	if err != nil {
		t.Fatal(err)
	}
	if again := read.Coarse().Append(nil, n); !bytes.Equal(again, enc) {
		t.Fatalf("%x is read, and written as %x", enc, again)
	}
	if again := read.Append(nil, n); !bytes.Equal(again, enc) {
		t.Fatalf("%x is read, and written for a part file as %x", enc, again)
	}
	return read
}

// TestRankTimes checks that the ranges of times that went through traces, which were merged, have
// the times in them, and are as narrow as it is said.
func TestRankTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "functions")
		known := drawRanks(t, n)
		cut := rapid.IntRange(0, len(known)).Draw(t, "cut")
		same := make([]int, n)
		for i := range same {
			same[i] = i
		}
		merged := new(RankTimes)
		for _, part := range [][]knownRank{known[:cut], known[cut:]} {
			if len(part) > 0 {
				merged.Merge(written(t, rankTimesOf(part), n), same, nil)
			}
		}
		read := written(t, merged, n)
		if read.Len() != len(known) || read.Ranks().Len() != len(known) {
			t.Fatalf("%d ranks of %d", read.Len(), len(known))
		}
		for _, k := range known {
			got, ok := read.Find(k.rank)
			if !ok {
				t.Fatalf("rank %d is not there", k.rank)
			}
			checkRankTime(t, got, k)
		}
	})
}

// TestRankTimesOrder merges times of ranks in any order, and in groups that go through part
// files or not, which gives the same bytes: of ranks as they were recorded, and as each of some
// traces has them.
func TestRankTimesOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "functions")
		same := []int{0, 1, 2, 3}
		known := drawRanks(t, n)
		var pieces []*RankTimes
		for len(known) > 0 {
			cut := rapid.IntRange(1, len(known)).Draw(t, "ranks of a piece")
			piece := rankTimesOf(known[:cut])
			if rapid.Bool().Draw(t, "a trace") {
				piece = written(t, piece, n)
			}
			pieces, known = append(pieces, piece), known[cut:]
		}
		all := new(RankTimes)
		for _, p := range pieces {
			all.Merge(p, same, nil)
		}
		want := all.Coarse().Append(nil, n)
		pieces = rapid.Permutation(pieces).Draw(t, "order")
		for len(pieces) > 1 {
			i := rapid.IntRange(0, len(pieces)-2).Draw(t, "pair")
			pair := new(RankTimes)
			pair.Merge(pieces[i], same, nil)
			pair.Merge(pieces[i+1], same, nil)
			if rapid.Bool().Draw(t, "a part file") {
				read, err := ParseRankTimes(pair.Append(nil, n), n, everyRank)
				if err != nil {
					t.Fatal(err)
				}
				pair = read
			}
			pieces = slices.Replace(pieces, i, i+2, pair)
		}
		if got := pieces[0].Coarse().Append(nil, n); !bytes.Equal(got, want) {
			t.Fatalf("%x, in another order %x", want, got)
		}
	})
}

func checkRankTime(t *rapid.T, got RankTime, k knownRank) {
	in := func(r Range, v int64, width float64) bool {
		return r.Low <= v && v <= r.High && float64(r.High-r.Low) <= width*float64(r.Low)
	}
	if later := k.begin - got.Begin; later < 0 || later >= BeginError ||
		!in(got.Span, max(0, k.end-k.begin), 1.0/2048) || !in(got.Gaps, max(0, k.gaps), 1.0/2048) {
		t.Fatalf("%+v is read as %+v", k, got)
	}
	for f, sum := range k.sum {
		i := slices.IndexFunc(got.Functions, func(of FunctionTime) bool { return of.Function == f })
		switch {
		case (i >= 0) != (sum > 0):
			t.Fatalf("function %d of %+v is read as %+v", f, k, got)
		case i < 0:
			continue
		}
		of := got.Functions[i]
		if !in(of.Sum, sum, 1) || of.Max.Low > max(0, k.max[f]) || of.Max.High < k.max[f] || of.Max.High > of.Sum.High {
			t.Fatalf("function %d, sum %d, max %d, is read as %+v", f, sum, k.max[f], of)
		}
	}
}

// TestRankTimesLarge checks how exact the sums are of functions that take much of the time.
func TestRankTimesLarge(t *testing.T) {
	for _, tt := range []struct {
		ranks int
		width float64
	}{{64, 1.0 / 128}, {512, 1.0 / 64}, {513, 1.0 / 32}} {
		var known []knownRank
		for rank := range tt.ranks {
			sum := int64(1_000_000 + 7919*rank%100_003)
			known = append(known, knownRank{rank, 0, 10_000_000, 1000, []int64{sum, 9 * int64(rank)},
				[]int64{sum / 10, int64(rank)}})
		}
		read, err := ParseRankTimes(rankTimesOf(known).Coarse().Append(nil, 2), 2, everyRank)
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range known {
			of := read.At(i).Functions[0].Sum
			if float64(of.High-of.Low) > tt.width*float64(of.Low) || of.Low > k.sum[0] ||
				of.High < k.sum[0] || of.Error() > of.High-of.Middle() {
				t.Errorf("%d is read as %+v", k.sum[0], of)
			}
		}
	}
}

// FuzzParseRankTimes checks that what is read is written as it is.
func FuzzParseRankTimes(f *testing.F) {
	known := []knownRank{
		{0, 5e9, 6e9, 5e8, []int64{0, 1e8, 3000}, []int64{0, 1e6, 3000}},
		{1, 5e9, 6e9, 5e8, []int64{0, 2e8, 3000}, []int64{0, 1e7, 3000}},
		{3, 6e9, 6e9 + 1, 0, []int64{0, 1 << 62, 2}, []int64{0, 1, 1}},
	}
	f.Add(rankTimesOf(known).Coarse().Append(nil, 3), 3)
	f.Add(rankTimesOf(known).Append(nil, 3), 3)
	f.Add(rankTimesOf(known[:1]).Append(nil, 3), 3)
	mutate.Fuzz(f, func(t *testing.T, data []byte, n int) {
		if n < 0 || n > 1<<10 {
			return
		}
		r, err := ParseRankTimes(data, n, everyRank)
		if err != nil {
			if r != nil {
				t.Fatalf("%+v, %v", r, err)
			}
			return
		}
		if again := r.Append(nil, n); !bytes.Equal(again, data) {
			t.Fatalf("%x is read, and written as %x", data, again)
		}
	})
}

// TestRankTimesRefused has tables of more ranks, or more numbers, than there may be, which are
// refused before they are read.
func TestRankTimesRefused(t *testing.T) {
	const functions = 20
	table := func(ranks rankenc.Set) []byte {
		enc, _ := ranks.AppendBinary(nil)
		enc = append(wire.AppendVarint(enc, 0), bytes.Repeat([]byte{1<<4 | 1}, functions)...)
		return append(enc, make([]byte, 1<<18)...)
	}
	for _, tt := range []struct {
		ranks, among rankenc.Set
		want         string
	}{
		{rankenc.World(1 << 20), everyRank, "44 columns of 1048576 ranks"},
		{rankenc.World(1 << 20), rankenc.World(1), "ranks 1-1048575, which made no calls"},
		{rankenc.World(1<<31 - 1), everyRank, "44 columns of"},
	} {
		if r, err := ParseRankTimes(table(tt.ranks), functions, tt.among); r != nil || err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%d ranks: %v, want %s", tt.ranks.Len(), err, tt.want)
		}
	}
	var many RankTimes
	for rank := range maxRankNumbers/6 + 1 {
		many.Add(rank, 0, 1, 0, 1, func(int) (int64, int64) { return 1, 1 })
	}
	if many.Fits(1) || rankTimesOf(nil).Fits(1) ||
		!rankTimesOf([]knownRank{{sum: []int64{1}, max: []int64{1}}}).Fits(1) {
		t.Error("what fits a table is another")
	}
}

// TestRankTimesMemory reads the longest table there may be, of equal ranks, which is short.
func TestRankTimesMemory(t *testing.T) {
	tier.Long(t, "it writes 8 million numbers")
	const functions = 20
	r := new(RankTimes)
	for rank := range maxRankNumbers / (4 + 2*functions) {
		r.Add(rank, 0, 1000, 0, functions, func(int) (int64, int64) { return 5, 1 })
	}
	enc := r.Append(nil, functions)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	read, err := ParseRankTimes(enc, functions, everyRank)
	runtime.ReadMemStats(&after)
	if err != nil || read.Len() != r.Len() {
		t.Fatal(err)
	}
	allocated := after.TotalAlloc - before.TotalAlloc
	if t.Logf("%d bytes: %d MB, %v", len(enc), allocated>>20, time.Since(start)); allocated > 128<<20 {
		t.Errorf("%d bytes take %d MB", len(enc), allocated>>20)
	}
}

// TestRankTimesSize checks what ranks take whose times of 15 functions vary by a tenth, and the
// longest calls of which by a factor of two or so.
func TestRankTimesSize(t *testing.T) {
	for _, tt := range []struct{ ranks, most int }{{4, 130}, {16, 380}, {64, 1350}, {512, 8000}, {1024, 10000}} {
		random := rand.New(rand.NewPCG(1, 2))
		var known []knownRank
		for rank := range tt.ranks {
			k := knownRank{rank: rank, begin: 1e18 + random.Int64N(2e6),
				gaps: int64(4e10 * math.Exp(random.NormFloat64()/20))}
			inCalls := int64(0)
			for f := range 15 {
				// From 20 s down to 1 µs.
				sum := int64(2e10 * math.Pow(0.3, float64(f)) * math.Exp(random.NormFloat64()/10))
				k.sum = append(k.sum, sum)
				k.max = append(k.max, min(sum, int64(float64(sum)/100*math.Exp2(random.NormFloat64()))))
				inCalls += sum
			}
			k.end = k.begin + k.gaps + inCalls
			known = append(known, k)
		}
		enc := rankTimesOf(known).Coarse().Append(nil, 15)
		if t.Logf("%d ranks: %d bytes, %.1f each", tt.ranks, len(enc),
			float64(len(enc))/float64(tt.ranks)); len(enc) > tt.most {
			t.Errorf("%d ranks take %d bytes", tt.ranks, len(enc))
		}
	}
}
