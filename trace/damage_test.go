package trace

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

var damageable struct {
	made  sync.Once
	files map[string][]byte
}

// damageFiles returns traces that have sections of all kinds, which nobody may change.
func damageFiles(t *testing.T) map[string][]byte {
	damageable.made.Do(func() { damageable.files = makeDamageFiles(t) })
	return damageable.files
}

func makeDamageFiles(t *testing.T) map[string][]byte {
	files := make(map[string][]byte)
	files["uneven"] = unevenModel(600, 2).record(t)
	files["interleaved"] = unevenModel(600, 2).roundRobin().record(t)
	files["times"], _ = timed(t, exactTimes(), 40, 3000)
	files["long times"], _ = timed(t, exactTimes(), 2, 3*blockLen+100)
	entropy := tracer.Options{Series: entropySeries(0.1, timing.Gaps)}
	files["shared times"] = written(t, alikeRanks(entropy, 300, 500, 300, 1))
	number := numbered("f", cst.Type{Kind: cst.KindInt})
	var streams []merge.Part
	for rank := range 20 {
		streams = append(streams, recordedCalls(rank, 16_000, func(i int) (cst.Function, cst.Value) {
			if i%2 == 1 {
				return numbered("step", number.Params[0].Type), cst.Int(1)
			}
			return number, cst.Int(int64(irregular(rank, i) % 200))
		}))
	}
	files["streams"] = writeTrace(t, 20, streams...)
	var shapes []merge.Part
	for rank := range 300 {
		shapes = append(shapes, recordedCalls(rank, 700, func(i int) (cst.Function, cst.Value) {
			return numbered(fmt.Sprint("f", irregular(rank, i)%7), number.Params[0].Type), cst.Int(1)
		}))
	}
	files["grammars"] = writeTrace(t, 300, shapes...)
	for _, p := range []programs.Program{programs.RandomPartners(64, 20, 1), programs.Stencil2D(8, 8, 100).Timed()} {
		var file bytes.Buffer
		if err := merge.Write(&file, p.Run(), p.Parts()); err != nil {
			t.Fatal(err)
		}
		files[p.Name] = file.Bytes()
	}
	return files
}

// TestDamage flips a bit in each section of traces: where the trace can be opened, the
// ranks that are told are those that cannot be read, and all else is as it was when
// they are left out.
func TestDamage(t *testing.T) {
	kinds := make(map[string]int)
	some := make(map[string]bool) // kinds of which a section is needed by some ranks only
	for name, file := range damageFiles(t) {
		file = records(t, file)
		whole := openBytes(t, file)
		if list := whole.Damage(); len(list) > 0 {
			t.Fatalf("%s is not damaged, but %v", name, list)
		}
		seen := make(map[format.Kind]int)
		for _, s := range whole.file.All() {
			if seen[s.Kind]++; seen[s.Kind] > tier.Number(2, math.MaxInt) {
				continue
			}
			what := fmt.Sprintf("%s: %s, number %d", name, layout.KindName(s.Kind), s.Key)
			damaged := bytes.Clone(file)
			damaged[s.Offset+s.Size-1] ^= 1
			trace, err := OpenReader(bytes.NewReader(damaged), int64(len(damaged)), Options{})
			if err != nil {
				continue
			}
			kinds[layout.KindName(s.Kind)]++
			for _, d := range trace.Damage() {
				if n := d.Ranks.Len(); n > 0 && n < trace.RankSet().Len() {
					some[layout.KindName(d.Err.Kind)] = true
				}
			}
			checkDamage(t, what, whole, trace, 1)
			checkDamage(t, what+", salvaged", whole, salvage(t, damaged), 0)
		}
	}
	for _, kind := range []string{"columns", "grammars", "streams", "time series"} {
		if kinds[kind] == 0 || !some[kind] {
			t.Errorf("%d sections of %s are damaged, some ranks' alone: %v", kinds[kind], kind, some[kind])
		}
	}
	if kinds["time summaries"] == 0 {
		t.Error("no trace has summaries")
	}
}

// checkDamage checks what is told of a damaged trace of a whole one.
func checkDamage(t *testing.T, what string, whole, trace *Trace, least int) {
	t.Helper()
	list := trace.Damage()
	if len(list) < least {
		t.Errorf("%s: no damage", what)
	}
	var unreadable, untimed rankenc.Set
	for _, d := range list {
		if d.Err.Kind == layout.KindSeries {
			untimed = untimed.Union(d.Ranks)
		} else if !d.Times {
			unreadable = unreadable.Union(d.Ranks)
		}
		if d.What == "" || d.Err == nil || (d.Err.Offset < 0) == (least > 0) {
			t.Errorf("%s: %+v", what, d)
		}
	}
	var bad, late []int
	timed, _, _ := whole.SeriesRanks()
	for _, rank := range trace.RankSet().All() {
		if _, _, err := trace.expandedRank(rank); err != nil {
			bad = append(bad, rank)
		} else if timed.Contains(rank) && readSeries(trace, rank) != nil {
			late = append(late, rank)
		}
	}
	if got := rankenc.SetOf(bad...); !got.Equal(unreadable) {
		t.Errorf("%s: ranks %v cannot be read, Damage says %v", what, got, unreadable)
	}
	if got := rankenc.SetOf(late...); !got.Equal(untimed.Intersection(timed)) {
		t.Errorf("%s: the times of ranks %v cannot be read, Damage says %v", what, got, untimed)
	}
	trace.leaveOutDamage()
	if got, want := trace.RankSet(), whole.RankSet().Difference(unreadable); !got.Equal(want) {
		t.Errorf("%s: ranks %v are left, want %v", what, got, want)
	}
	left, _, err := trace.SeriesRanks()
	if want := timed.Difference(untimed).Difference(unreadable); err != nil || !left.Equal(want) {
		t.Errorf("%s: ranks %v have times, not %v, %v", what, left, want, err)
	}
	if _, _, err := trace.Summaries(); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	checkLeft(t, what, whole, trace, unreadable)
}

// checkLeft compares some of the ranks that are left of a trace with those of the whole,
// and its first calls.
func checkLeft(t *testing.T, what string, whole, trace *Trace, gone rankenc.Set) {
	t.Helper()
	for i, rank := range ranksOf(trace) {
		if i%50 > 1 {
			continue
		}
		r := readRank(t, trace, rank)
		have, want := r.Grammar(), readRank(t, whole, rank).Grammar()
		if !slices.Equal(have.AppendSymbols(nil), want.AppendSymbols(nil)) {
			t.Fatalf("%s: rank %d is another", what, rank)
		}
		if r.Len() > 0 && r.call(0).String() != readRank(t, whole, rank).call(0).String() {
			t.Fatalf("%s: rank %d makes another call", what, rank)
		}
	}
	for number := range trace.Shapes() {
		if ranks := trace.ShapeRanks(number); !ranks.Equal(whole.ShapeRanks(number).Difference(gone)) {
			t.Fatalf("%s: shape %d has ranks %v", what, number, ranks)
		}
	}
	all, want := readCalls(t, trace.Calls(0)), readCalls(t, whole.Calls(0))
	for range min(1000, trace.RankSet().Len()) {
		c, err := all.Read()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		w, err := want.Read()
		for gone.Contains(w.Rank) && err == nil {
			w, err = want.Read()
		}
		if err != nil || c.String() != w.String() || c.Rank != w.Rank {
			t.Fatalf("%s: %v of rank %d, want %v of rank %d, %v", what, c, c.Rank, w, w.Rank, err)
		}
	}
}

// readSeries reads the times of a rank.
func readSeries(t *Trace, rank int) error {
	r, err := t.Rank(rank)
	if err != nil {
		return err
	}
	for _, err := range r.Times(0) {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestDamagedPart damages each block of grammars of a trace with a rank whose calls take two: that rank
// cannot be read if one of them is damaged, while another one can.
func TestDamagedPart(t *testing.T) {
	number := numbered("f", cst.Type{Kind: cst.KindInt})
	var parts []merge.Part
	for rank, calls := range []int{400_000, 1000} {
		parts = append(parts, recordedCalls(rank, calls, func(i int) (cst.Function, cst.Value) {
			return number, cst.Int(int64(irregular(rank, i) % 4))
		}))
	}
	file := writeTrace(t, 2, parts...)
	whole := openBytes(t, file)
	var blocks []format.Section
	for _, s := range whole.file.All() {
		if s.Kind == layout.KindGrammars {
			blocks = append(blocks, s)
		}
	}
	if len(blocks) != 3 {
		t.Fatalf("%d blocks", len(blocks))
	}
	for i, readable := range [][]int{nil, {1}, {0}} {
		damaged := bytes.Clone(file)
		damaged[blocks[i].Offset+blocks[i].Size-1] ^= 1
		trace := openBytes(t, damaged)
		list := trace.Damage()
		if len(list) != 1 || list[0].Ranks.Len() != 2-len(readable) {
			t.Fatalf("block %d: %v", i, list)
		}
		for rank := range 2 {
			if got, want := !list[0].Ranks.Contains(rank), slices.Contains(readable, rank); got != want {
				t.Errorf("block %d: rank %d is readable: %v, not %v", i, rank, got, want)
			}
		}
		for _, rank := range readable {
			r, err := trace.Rank(rank)
			if err != nil || r.Len() != parts[rank].Grammar.Len() {
				t.Errorf("block %d: rank %d: %v", i, rank, err)
			}
		}
	}
}
