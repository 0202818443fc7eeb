package merge_test

import (
	. "github.com/reprise-trace/reprise/merge"

	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// exactIfSmall records times with an error, or exactly if these take little.
func exactIfSmall(form timing.Form) tracer.Options {
	entropy := must.Get(timing.NewEntropy(0.1))
	return tracer.Options{Series: must.Get(timing.NewSeriesCodec(entropy, entropy, form)), ExactIfSmall: true}
}

// noisyPart returns the part of a rank with calls of random times, of two threads if that is said, and their
// starts and durations.
func noisyPart(t rapid.TB, o tracer.Options, rank, calls int, threads bool) (Part, []moment) {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(rank), 7))
	now := int64(0)
	var want []moment
	record := func(thread int64) Part {
		r := must.Get(tracer.New(o))
		f := r.Declare(cst.Function{Name: "f",
			Params: []cst.Param{{Name: "thread", Type: cst.Type{Kind: cst.KindInt}}}})
		g := r.Declare(cst.Function{Name: "g",
			Params: []cst.Param{{Name: "thread", Type: cst.Type{Kind: cst.KindInt}}}})
		for i := range calls {
			m := moment{now + random.Int64N(1<<20), random.Int64N(1 << 20)}
			now = m.start + m.duration
			want = append(want, m)
			r.CallAt([]int{f, g}[i%2], m.start, m.duration, cst.Int(thread))
		}
		return r.Finish(rank)
	}
	if !threads {
		return record(0), want
	}
	return must.Get(Join(rank, new(ThreadOrder), record(0), record(1))), want
}

// TestExactIfSmall checks that times are exact in all ranks or in none, whatever the order in which parts are
// merged, from memory or from files, and that this depends on what exact ones take in all of them.
func TestExactIfSmall(t *testing.T) {
	const small, large = 300, 7000 // calls of a rank: some 2 and 36 kB of exact times
	for name, tt := range map[string]struct {
		calls [3]int
		block int
		form  timing.Form
		exact bool
	}{
		"small":     {[3]int{small, small, small}, 0, timing.Gaps, true},
		"intervals": {[3]int{small, 1, small}, 0, timing.Intervals, true},
		"one large": {[3]int{small, large, small}, 0, timing.Gaps, true},
		"two large": {[3]int{large, small, large}, 0, timing.Gaps, false},
		"block":     {[3]int{small, 2 * small, small}, 2 * small, timing.Gaps, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := exactIfSmall(tt.form)
			o.BlockLen = tt.block
			var parts []Part
			var want [][]moment
			for rank, n := range tt.calls {
				p, moments := noisyPart(t, o, rank, n, rank == 2 && n < 2*small)
				parts, want = append(parts, p), append(want, moments)
			}
			run := Run{Ranks: len(parts), Source: "test"}
			all := accumulate(t, run, parts)
			file := write(t, run, parts)
			trace := open(t, file)
			for rank := range parts {
				s := must.Get(trace.Series(rank))
				if got := s.Guarantee() == timing.Exact; got != tt.exact {
					t.Fatalf("rank %d is exact: %v, want %v", rank, got, tt.exact)
				}
				if !tt.exact {
					continue
				}
				i := 0
				for at, err := range must.Get(trace.Rank(rank)).Times(0) {
					if m := want[rank][i]; err != nil || at.Start != m.start || at.Duration != m.duration {
						t.Fatalf("call %d of rank %d: %+v, want %+v", i, rank, at, m)
					}
					i++
				}
			}
			part := partFile(t, all)
			for _, order := range [][]int{{0, 1, 2}, {2, 0, 1}, {1, 2, 0}} {
				merged := new(Accumulator)
				for _, rank := range order {
					one := accumulate(t, run, parts[rank:rank+1])
					if rank > 0 {
						one = throughFile(t, one)
					}
					if err := merged.Merge(throughFile(t, one)); err != nil {
						t.Fatal(err)
					}
				}
				if got := partFile(t, merged); !bytes.Equal(got, part) {
					t.Errorf("in the order %v, another part file", order)
				}
				if got := traceFile(t, merged); !bytes.Equal(got, file) {
					t.Errorf("in the order %v, another trace", order)
				}
			}
		})
	}
}

// TestExactBounded checks that a trace of a size has times with an error where exact ones are too much for it.
func TestExactBounded(t *testing.T) {
	p, _ := noisyPart(t, exactIfSmall(timing.Gaps), 0, 2000, false)
	a := accumulate(t, Run{Ranks: 1, Source: "test"}, []Part{p})
	whole := len(traceFile(t, a))
	for _, tt := range []struct {
		size  int
		exact bool
	}{{whole, true}, {whole - 1, false}} {
		var b bytes.Buffer
		if err := a.WriteBounded(context.Background(), &b, int64(tt.size), spec.Keep); err != nil {
			t.Fatal(err)
		}
		s := must.Get(open(t, b.Bytes()).Series(0))
		if s == nil || (s.Guarantee() == timing.Exact) != tt.exact {
			t.Errorf("in %d of %d bytes: %v", tt.size, whole, s)
		}
	}
}

// TestRefuseRecorded gives calls that are not those of the part.
func TestRefuseRecorded(t *testing.T) {
	p, _ := noisyPart(t, exactIfSmall(timing.Gaps), 0, 20, false)
	other, _ := noisyPart(t, exactIfSmall(timing.Gaps), 0, 21, false)
	for text, recorded := range map[string][]*timing.Recorded{
		"recorded times of 21 calls, not 20": other.Times.Recorded, "recorded times of no calls": {nil},
	} {
		times := *p.Times
		times.Recorded = recorded
		bad := p
		bad.Times = &times
		if err := new(Accumulator).Add(bad); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("err = %v, want %s", err, text)
		}
	}
}

// FuzzExactTimes puts a section with other series into a part file. What is accepted is written again as it was.
func FuzzExactTimes(f *testing.F) {
	var parts []Part
	for rank := range 2 {
		p, _ := noisyPart(f, exactIfSmall(timing.Gaps), rank, 30, rank == 1)
		parts = append(parts, p)
	}
	sections := contents(f, partFile(f, accumulate(f, Run{Ranks: 2, Source: "test"}, parts)))
	own := contentOf(sections, layout.KindExactTimes, 0)
	f.Add(own)
	f.Add(own[:len(own)-1])
	f.Add(own + own)
	f.Add("")
	f.Fuzz(func(t *testing.T, content string) {
		file := forge(t, replaced(sections, section{layout.KindExactTimes, 0, content})...)
		a, err := ReadPart(container(t, file))
		if content == own && err != nil || content == own+own && err == nil {
			t.Fatal(err)
		}
		if err != nil {
			return
		}
		first := partFile(t, a)
		if second := partFile(t, throughFile(t, mustRead(t, first))); !bytes.Equal(second, first) {
			t.Fatal("written again, it is another part file")
		}
		if _, err := readAll(open(t, traceFile(t, a))); err != nil {
			t.Fatal(err)
		}
	})
}
