package layout

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/piecewise"
	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/rankenc"
)

// clocksOf draws clocks of so many ranks, of machines with names of one letter.
func clocksOf(t *rapid.T, ranks int) []format.Clock {
	of := make(map[string][]int)
	for rank := range ranks {
		if m := rapid.SampledFrom([]string{"", "a", "b", "c", "d"}).Draw(t, "machine"); m != "" {
			of[m] = append(of[m], rank)
		}
	}
	var list []format.Clock
	for m, ranks := range of {
		list = append(list, format.Clock{Machine: m, Ranks: rankenc.SetOf(ranks...), Error: -1})
	}
	list = ClocksOf(list, rankenc.World(ranks))
	for i := range list {
		if rapid.Bool().Draw(t, "aligned") {
			list[i].Alignment = format.Alignment{
				Offset: rapid.Int64().Draw(t, "offset"),
				Rate:   rapid.Int64Range(-piecewise.MaxRate, piecewise.MaxRate).Draw(t, "rate"),
				Since:  rapid.Int64().Draw(t, "since"),
			}
			list[i].Error = rapid.Int64Range(0, math.MaxInt64-1).Draw(t, "error")
			for _, since := range rapid.SliceOfNDistinct(rapid.Int64Range(math.MinInt64+1, math.MaxInt64), 0,
				3, rapid.ID).Draw(t, "later") {
				list[i].Later = append(list[i].Later,
					format.Alignment{Offset: rapid.Int64().Draw(t, "offset"), Since: since})
			}
			slices.SortFunc(list[i].Later, func(a, b format.Alignment) int { return cmp.Compare(a.Since, b.Since) })
			if n := len(list[i].Later); n > 0 && rapid.Bool().Draw(t, "own") {
				list[i].Errors = rapid.SliceOfN(rapid.Int64Range(0, math.MaxInt64-1), n+1, n+1).Draw(t, "errors")
				list[i].Error = slices.Max(list[i].Errors)
			}
			list[i].Contradicted = rapid.Bool().Draw(t, "contradicted")
			if rapid.Bool().Draw(t, "jumps") {
				list[i].Jumps = jumpsUpTo(t, list[i].Error)
			}
			if rapid.Bool().Draw(t, "early") {
				list[i].Early = rapid.Uint64().Draw(t, "messages")
			}
		}
		readings := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) format.ClockReading {
			return format.ClockReading{Time: rapid.Int64().Draw(t, "time"),
				Offset: rapid.Int64().Draw(t, "offset"), Error: rapid.Int64Range(0, math.MaxInt64).Draw(t, "error")}
		}), 0, 3).Draw(t, "readings")
		if len(readings) > 0 {
			list[i].Readings = mergeReadings(readings, nil)
		}
	}
	return list
}

// jumpsUpTo draws jumps that are ahead by so much at most.
func jumpsUpTo(t *rapid.T, most int64) (list piecewise.Jumps) {
	times := rapid.SliceOfNDistinct(rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, 1000)), 0, 4,
		rapid.ID).Draw(t, "times")
	slices.Sort(times)
	for _, since := range times {
		if left := list.Ahead(since); left < most {
			list = append(list, format.Jump{Since: since, Ahead: rapid.Int64Range(left+1, most).Draw(t, "ahead")})
		}
	}
	return list
}

// TestClocks checks that clocks are read as they were written, and that those of parts of them make them
// again, in whatever order they come.
func TestClocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ranks = 9
		list := clocksOf(t, ranks)
		if len(list) == 0 {
			return
		}
		if got, err := parseClocks(AppendClocks(nil, list)); err != nil || !reflect.DeepEqual(got, list) {
			t.Fatalf("%+v, %v, want %+v", got, err, list)
		}
		if err := CheckClocks(list, ranks); err != nil {
			t.Fatal(err)
		}
		var parts []format.Clock
		for _, c := range list {
			for _, rank := range c.Ranks.All() {
				part := c
				part.Ranks = rankenc.SetOf(rank)
				parts = append(parts, part)
			}
		}
		var merged []format.Clock
		for _, part := range rapid.Permutation(parts).Draw(t, "parts") {
			merged = MergeClocks(merged, []format.Clock{part})
		}
		if got := ClocksOf(merged, rankenc.World(ranks)); !bytes.Equal(AppendClocks(nil, got),
			AppendClocks(nil, list)) {
			t.Fatalf("%+v, want %+v", got, list)
		}
	})
}

// TestClocksOlder checks that a clock whose pieces have no errors of their own is read as before: they have
// that of the clock.
func TestClocksOlder(t *testing.T) {
	older := []byte("\x02" + "\x02\x00\x00" + "\x01a" + "\x00" + "\x01\x00\x00\x00\x00" +
		"\x02\x04\x00" + "\x01b" + "\x00" + "\x08\x02\x00\x00\x01" + "\x64\x00\xc8\x01")
	want := format.Clock{Machine: "b", Ranks: rankenc.SetOf(1), Alignment: format.Alignment{Offset: 1},
		Later: []format.Alignment{{Offset: 50, Since: 100}}, Error: 7}
	list, err := parseClocks(older)
	if err != nil || len(list) != 2 || !reflect.DeepEqual(list[1], want) {
		t.Fatalf("%+v, %v", list, err)
	}
	if ClockError(&list[1], 0, 0) != 7 || ClockError(&list[1], 1000, 1000) != 7 || ClockError(&list[0], 3, 4) != 0 {
		t.Errorf("%+v", list)
	}
	if got := AppendClocks(nil, list); !bytes.Equal(got, older) {
		t.Errorf("%x", got)
	}
	list[1].Errors = []int64{7, 3}
	newer := AppendClocks(nil, list)
	if got, err := parseClocks(newer); err != nil || !reflect.DeepEqual(got, list) {
		t.Errorf("%+v, %v", got, err)
	}
	one := bytes.Replace(newer[:len(newer)-5], []byte("\x08\x02\x00\x00\x41"), []byte("\x08\x02\x00\x00\x40"), 1)
	if got, err := parseClocks(one); err == nil {
		t.Errorf("one piece has an error of its own: %+v", got)
	}
	early := list[1]
	if early.Error, early.Early = -1, 1; CheckClocks([]format.Clock{early}, 2) == nil {
		t.Error("messages are early by a clock that is not aligned")
	}
	for _, bad := range []string{"\x08\x00", "\x06", "\x0e\x01", "\x16", "\x20"} {
		if got, err := parseClocks([]byte("\x01\x02\x00\x00\x01a" + bad +
			"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")); err == nil || !strings.Contains(err.Error(), "readings") {
			t.Errorf("%x: %+v, %v", bad, got, err)
		}
	}
	for _, errors := range [][]int64{{7}, {6, 3}, {7, -1}, {7, 3, 2}} {
		list[1].Errors = errors
		if CheckClocks(list, 2) == nil {
			t.Errorf("accepted %d", errors)
		}
	}
}

// TestClockJumps checks the encoding of jumps, which is that of other clocks and what follows, and which are
// refused.
func TestClockJumps(t *testing.T) {
	c := format.Clock{Machine: "b", Ranks: rankenc.SetOf(1), Alignment: format.Alignment{Offset: 1}, Error: 200}
	plain := AppendClocks(nil, []format.Clock{c})
	c.Jumps = piecewise.Jumps{{Since: -5, Ahead: 100}, {Since: 3195, Ahead: 1}, {Since: 3200, Ahead: 200}}
	data := AppendClocks(nil, []format.Clock{c})
	// Three from −5 on, by 100; of which nothing is left 3,200 later, and 1 by which that is ahead 5 later.
	want := bytes.Replace(append(plain, "\x03\x09\x63\xff\x18\x00\x04\xc6\x01"...), []byte("\x01b\x00"),
		[]byte("\x01b\x10"), 1)
	if !bytes.Equal(data, want) {
		t.Errorf("%x, want %x", data, want)
	}
	if list, err := parseClocks(data); err != nil || !reflect.DeepEqual(list, []format.Clock{c}) {
		t.Errorf("%+v, %v", list, err)
	}
	for _, bad := range []string{"\x00\x09", "\x01\x09\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
		"\x02\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00\x00"} {
		if list, err := parseClocks(append(bytes.Clone(want[:len(want)-9]), bad...)); err == nil {
			t.Errorf("%x: %+v", bad, list)
		}
	}
	for _, jumps := range []piecewise.Jumps{
		{{Since: 1, Ahead: 201}}, {{Since: 1, Ahead: 0}}, {{Since: 1, Ahead: -1}},
		{{Since: 1, Ahead: 5}, {Since: 1, Ahead: 6}}, {{Since: 1, Ahead: 5}, {Since: 0, Ahead: 6}},
		{{Since: 0, Ahead: 100}, {Since: 32, Ahead: 99}}, make(piecewise.Jumps, piecewise.MaxJumps+1),
	} {
		c.Jumps = jumps
		if CheckClocks([]format.Clock{c}, 2) == nil {
			t.Errorf("accepted %+v", jumps[:min(3, len(jumps))])
		}
	}
	if c.Jumps, c.Alignment, c.Error = (piecewise.Jumps{{Since: 1, Ahead: 1}}), (format.Alignment{}),
		-1; CheckClocks([]format.Clock{c}, 2) == nil {
		t.Error("a clock jumps that is not aligned")
	}
}

// TestClockError checks that the error at a time is that of its piece, and where two pieces meet, the
// greater one.
func TestClockError(t *testing.T) {
	// Times to 99 stay, those from 100 become 1100 and so on, and those from 200 stand still at 1199 until
	// 398.
	c := format.Clock{Later: []format.Alignment{{Offset: 1000, Since: 100}, {Offset: 800, Since: 200}},
		Errors: []int64{5, 9, 2}, Error: 9}
	for _, tt := range [][3]int64{
		{0, 0, 5}, {99, 99, 5}, {0, 1100, 9}, {1100, 1100, 9}, {1101, 1101, 9}, {1199, 1199, 9},
		{1200, 1200, 2}, {1200, math.MaxInt64, 2},
		{math.MinInt64, 0, 5}, {math.MinInt64, math.MaxInt64, 9},
	} {
		if got := ClockError(&c, tt[0], tt[1]); got != tt[2] {
			t.Errorf("from %d to %d it is %d, want %d", tt[0], tt[1], got, tt[2])
		}
	}
	c.Jumps = piecewise.Jumps{{Since: 1090, Ahead: 10}} // so that those from 100 become 1110 and so on
	for _, tt := range [][3]int64{{0, 99, 5}, {0, 1109, 5}, {0, 1110, 9}, {1110, 1110, 9}} {
		if got := ClockError(&c, tt[0], tt[1]); got != tt[2] {
			t.Errorf("with a jump, from %d to %d it is %d, want %d", tt[0], tt[1], got, tt[2])
		}
	}
	if got := ClockError(&format.Clock{Error: -1}, 1, 2); got != -1 {
		t.Errorf("of a clock that is not aligned it is %d", got)
	}
}

// TestMergeAlignments checks that of two alignments of a clock the better counts, in either order.
func TestMergeAlignments(t *testing.T) {
	clock := func(rank int, offset, off int64) format.Clock {
		return format.Clock{Machine: "a", Ranks: rankenc.SetOf(rank),
			Alignment: format.Alignment{Offset: offset}, Error: off}
	}
	for _, list := range [][]format.Clock{{clock(0, 0, -1), clock(1, 7, 3)}, {clock(0, 8, 9), clock(1, 7, 3)},
		{clock(0, 8, 3), clock(1, 7, 3)}} {
		a, b := MergeClocks(nil, list), MergeClocks(nil, []format.Clock{list[1], list[0]})
		if len(a) != 1 || a[0].Offset != 7 || a[0].Ranks.Len() != 2 || !reflect.DeepEqual(a, b) {
			t.Errorf("%+v and %+v", a, b)
		}
	}
	jumping := []format.Clock{clock(0, 0, 5), clock(1, 0, 5)}
	jumping[0].Jumps, jumping[1].Jumps = piecewise.Jumps{{Since: 1, Ahead: 2}}, piecewise.Jumps{{Since: 1, Ahead: 3}}
	if a, b := MergeClocks(nil, jumping), MergeClocks(nil,
		[]format.Clock{jumping[1], jumping[0]}); a[0].Jumps[0].Ahead != 2 || b[0].Jumps[0].Ahead != 2 {
		t.Errorf("%+v and %+v", a, b)
	}
	counted := []format.Clock{clock(0, 0, 5), clock(1, 0, 5)}
	counted[0].Early = 3
	if a, b := MergeClocks(nil, counted), MergeClocks(nil,
		[]format.Clock{counted[1], counted[0]}); a[0].Early != 0 || b[0].Early != 0 {
		t.Errorf("%+v and %+v", a, b)
	}
	contradicted := []format.Clock{clock(0, 0, 5), clock(1, 0, 5)}
	contradicted[0].Contradicted = true
	if a, b := MergeClocks(nil, contradicted), MergeClocks(nil,
		[]format.Clock{contradicted[1], contradicted[0]}); a[0].Contradicted || b[0].Contradicted {
		t.Errorf("%+v and %+v", a, b)
	}
	pieces := func(rank int, first, second int64) format.Clock {
		c := clock(rank, 0, max(first, second))
		c.Later, c.Errors = []format.Alignment{{Since: 1}}, []int64{first, second}
		return c
	}
	a, b := pieces(0, 2, 9), pieces(1, 1, 9)
	for _, merged := range [][]format.Clock{MergeClocks(nil, []format.Clock{a, b}),
		MergeClocks(nil, []format.Clock{b, a})} {
		if !slices.Equal(merged[0].Errors, b.Errors) {
			t.Errorf("%+v", merged)
		}
	}
}

// TestMergeReadings checks that the first and the last of all readings of a machine are left, in whatever
// order its parts are merged.
func TestMergeReadings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []format.Clock
		var all []format.ClockReading
		for rank := range rapid.IntRange(1, 6).Draw(t, "parts") {
			own := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) format.ClockReading {
				return format.ClockReading{Time: rapid.Int64Range(0, 9).Draw(t, "time"),
					Offset: rapid.Int64Range(0, 2).Draw(t, "offset"), Error: rapid.Int64Range(0, 2).Draw(t, "error")}
			}), 0, 2).Draw(t, "readings")
			all = append(all, own...)
			parts = append(parts, format.Clock{Machine: "a", Ranks: rankenc.SetOf(rank), Error: -1,
				Readings: mergeReadings(own, nil)})
		}
		var merged []format.Clock
		for _, p := range rapid.Permutation(parts).Draw(t, "order") {
			merged = MergeClocks(merged, []format.Clock{p})
		}
		var want []format.ClockReading
		if len(all) > 0 {
			want = []format.ClockReading{slices.MinFunc(all, compareReadings), slices.MaxFunc(all, compareReadings)}
		}
		if want = slices.Compact(want); !slices.Equal(merged[0].Readings, want) {
			t.Fatalf("%+v, want %+v", merged[0].Readings, want)
		}
	})
}

// FuzzClocks checks that what is accepted is sound and encoded as it was, if by the shortest numbers.
func FuzzClocks(f *testing.F) {
	f.Add([]byte("\x01\x00"))
	f.Add(AppendClocks(nil, []format.Clock{
		{Machine: "a", Ranks: rankenc.SetOf(0, 2),
			Readings: []format.ClockReading{{Time: 1, Offset: -2, Error: 3},
				{Time: math.MaxInt64, Offset: math.MinInt64, Error: math.MaxInt64}}},
		{Machine: "b", Ranks: rankenc.SetOf(1, 3), Alignment: format.Alignment{Offset: math.MinInt64,
			Rate: -piecewise.MaxRate, Since: math.MaxInt64}, Error: math.MaxInt64 - 1},
		{Machine: "d", Ranks: rankenc.SetOf(4),
			Later: []format.Alignment{{Offset: 1, Since: math.MinInt64 + 1}, {Rate: 3, Since: math.MaxInt64}}},
		{Machine: "c", Ranks: rankenc.SetOf(MaxRanks - 1), Error: -1},
		{Machine: "e", Ranks: rankenc.SetOf(5), Later: []format.Alignment{{Offset: 1, Since: -5},
			{Rate: 3, Since: 7}}, Errors: []int64{0, math.MaxInt64 - 1, 8}, Error: math.MaxInt64 - 1,
			Early: math.MaxUint64},
		{Machine: "f", Ranks: rankenc.SetOf(6), Error: math.MaxInt64 - 1,
			Jumps: piecewise.Jumps{{Since: math.MinInt64, Ahead: 9}, {Since: math.MinInt64 + 32, Ahead: 9},
				{Since: math.MaxInt64, Ahead: math.MaxInt64 - 1}}},
	}))
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		list, err := parseClocks(data)
		if err != nil || CheckClocks(list, MaxRanks) != nil {
			return
		}
		if got := AppendClocks(nil, list); !bytes.Equal(got, data) && len(got) >= len(data) {
			t.Fatalf("%x of %x", got, data)
		}
		if merged := ClocksOf(MergeClocks(MergeClocks(nil, list), list),
			rankenc.World(MaxRanks)); len(merged) != len(list) {
			t.Fatalf("%+v merged with itself is %+v", list, merged)
		}
		for _, c := range list {
			last := int64(math.MinInt64)
			for _, j := range c.Jumps {
				for _, time := range []int64{wire.SubTimes(j.Since, 1), j.Since} {
					at := piecewise.Jumps(c.Jumps).Apply(time)
					if at < last {
						t.Fatalf("%d becomes %d, and before it was %d, by %+v", time, at, last, c.Jumps)
					}
					last = at
				}
			}
		}
	})
}

// TestClocksRuns reads clocks of two machines whose ranks are interleaved, as many as may be and two more.
func TestClocksRuns(t *testing.T) {
	for _, tt := range []struct {
		ranks int // of a machine
		want  error
	}{{MaxRuns / 2, nil}, {MaxRuns/2 + 1, wire.ErrLimit}} {
		var every [2]rankenc.SetBuilder
		for i := range tt.ranks {
			every[0].Add(4 * i)
			every[1].Add(4*i + 2)
		}
		data := AppendClocks(nil, []format.Clock{{Ranks: every[0].Finish(), Machine: "a", Error: -1},
			{Ranks: every[1].Finish(), Machine: "b", Error: -1}})
		if _, err := parseClocks(data); !errors.Is(err, tt.want) {
			t.Errorf("%d ranks of each: %v", tt.ranks, err)
		}
	}
}

// TestManyClocks checks that as many clocks as a small file may have are merged in no time, in whatever order
// they are, and that more of them are refused.
func TestManyClocks(t *testing.T) {
	n := tier.Number(1<<13, 1<<16)
	list := make([]format.Clock, n)
	for i := range list {
		list[i] = format.Clock{Machine: fmt.Sprintf("%06d", n-i), Ranks: rankenc.SetOf(i), Error: -1}
	}
	begin := time.Now()
	merged := MergeClocks(MergeClocks(nil, list[:n/2]), list)
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("merged in %v", took)
	}
	if len(merged) != n || !slices.IsSortedFunc(merged, compareMachines) {
		t.Errorf("%d clocks, or in another order", len(merged))
	}
	var out bytes.Buffer
	w := format.NewWriter(&out, format.Options{})
	w.Add(KindClocks, 0, AppendClocks(nil, list))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for memory, ok := range map[int64]bool{int64(n) * clockMemory: true, int64(n)*clockMemory - 1: false} {
		file, err := format.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()), format.Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		var refused *format.MemoryError
		if _, err := ReadClocks(file, n); ok != (err == nil) || !ok && !errors.As(err, &refused) {
			t.Errorf("%d bytes of memory: %v", memory, err)
		}
	}
}
