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
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/timing"
)

// Functions whose ranks are those in a communicator.
var groupSend = cst.Function{Name: "send", Params: []cst.Param{
	{Name: "destination", Type: cst.Type{Kind: cst.KindRank}},
	{Name: "source", Type: cst.Type{Kind: cst.KindRank}},
	{Name: "tag", Type: cst.Type{Kind: cst.KindTag}},
	{Name: "communicator", Type: cst.HandleOf("comm")},
}}

// rings returns the parts of ranks that send around rings: those of a color in
// the order of a permutation.
func rings(ranks int, color func(rank int) int, order []int, grouped bool) []Part {
	members := make(map[int][]int)
	for _, r := range order {
		members[color(r)] = append(members[color(r)], r)
	}
	parts := make([]Part, ranks)
	for c, list := range members {
		for i, rank := range list {
			var (
				table   cst.Table
				grammar sequitur.Builder
			)
			n := len(list)
			to, from := int64(list[(i+1)%n]), int64(list[(i+n-1)%n])
			if grouped {
				to, from = int64((i+1)%n), int64((i+n-1)%n)
			}
			send := table.Intern(table.Declare(groupSend), cst.Rank(to), cst.Rank(from), cst.Tag(7), cst.Handle(5))
			grammar.AppendRun(send, 1000)
			parts[rank] = Part{Rank: rank, Table: &table, Grammar: grammar.Finish()}
			if grouped {
				parts[rank].Groups = map[GroupHandle]Group{{Class: "comm", Value: 5}: {Rank: i, Size: n},
					{Class: "win", Value: 5}: {Rank: 0, Size: c + 1}}
			}
		}
	}
	return parts
}

// TestGroupTimes checks that an accumulator keeps the times of shapes that differ in what they know of groups, and are
// one in what it writes.
func TestGroupTimes(t *testing.T) {
	all := func(int) int { return 0 }
	parts := append(rings(4, all, []int{0, 1, 2, 3}, true)[:2], rings(4, all, []int{0, 1, 2, 3}, false)[2:]...)
	var a Accumulator
	for rank, p := range parts {
		var s timing.Statistics
		s.Add(uint32(rank), 7)
		p.Times = &Times{Durations: timing.Summary{Statistics: []timing.Statistics{s}}}
		if err := a.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	var files [2]bytes.Buffer
	for i := range files {
		if err := a.Write(&files[i]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(files[0].Bytes(), files[1].Bytes()) {
		t.Error("the second trace differs from the first")
	}
}

// traceOf returns the trace of parts, and its size in bytes.
func traceOf(t *testing.T, parts []Part) (*Trace, int) {
	t.Helper()
	file := write(t, Run{Ranks: len(parts)}, parts)
	return open(t, file), len(file)
}

// TestGroups checks that ranks in the arguments of a call are expressions of the
// rank in the communicator that it names, of whatever size that is: peers in
// communicators of random members then take what the members do, once.
func TestGroups(t *testing.T) {
	const ranks = 4096
	order := rand.New(rand.NewPCG(1, 2)).Perm(ranks)
	tests := []struct {
		name  string
		color func(rank int) int
		order []int
		most  int // bytes
	}{
		{"One", func(int) int { return 0 }, order, ranks*12/8 + 300},
		{"Three", func(rank int) int { return rank * 7919 % 3 }, order, ranks*12/8 + 300},
		{"Unequal", func(rank int) int { return rank * rank % 5 % 3 }, order, ranks*12/8 + 1000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			parts := rings(ranks, tt.color, tt.order, true)
			trace, n := traceOf(t, parts)
			checkCalls(t, trace, parts)
			if n > tt.most || trace.Shapes() != 1 {
				t.Errorf("%d bytes, %d shapes; want at most %d, 1", n, trace.Shapes(), tt.most)
			}
			var again Accumulator
			if err := trace.AddTo(context.Background(), &again); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(traceFile(t, &again), write(t, Run{Ranks: ranks}, parts)) {
				t.Error("another trace, made of this one")
			}
			s := trace.Signature(0).String()
			if want := "send(destination=(rank+1) mod N in group, source=(rank-1) mod N in group, tag=7, communicator="; !strings.HasPrefix(s, want) {
				t.Error(s)
			}
			if f := argumentForms(trace); f[0].Name != "(rank+c) mod N in group" || f[0].Count != 2 {
				t.Errorf("forms %v", f)
			}
		})
	}
}

// TestNeedlessGroups checks that groups take nothing in a trace where ranks are
// expressions of those in the run, nor where they make it larger.
func TestNeedlessGroups(t *testing.T) {
	const ranks = 64
	order := make([]int, ranks)
	for i := range order {
		order[i] = i
	}
	parts := rings(ranks, func(int) int { return 0 }, order, true)
	with, n := traceOf(t, parts)
	for i := range parts {
		parts[i].Groups = nil
	}
	without, m := traceOf(t, parts)
	if n != m {
		t.Errorf("%d bytes with groups, %d without", n, m)
	}
	if a, b := signatureText(with), signatureText(without); a != b {
		t.Errorf("%s with groups, %s without", a, b)
	}
	// Groups that say nothing of the peers.
	random := rand.New(rand.NewPCG(3, 4))
	for i := range parts {
		parts[i].Groups = map[GroupHandle]Group{{Class: "comm", Value: 5}: {Rank: int(random.Int32N(1 << 20)),
			Size: 1 << 20}}
	}
	if _, m := traceOf(t, parts); n != m {
		t.Errorf("%d bytes with random groups, %d without", m, n)
	}
}

func signatureText(trace *Trace) string { return trace.Signature(0).String() }

// TestGroupsOfOneRank checks that signatures of different shapes are one where
// they agree in the communicator that they name.
func TestGroupsOfOneRank(t *testing.T) {
	var parts []Part
	for rank, p := range rings(4, func(int) int { return 0 }, []int{2, 0, 3, 1}, true) {
		var b sequitur.Builder
		b.AppendRun(0, uint64(rank+1)) // another shape for each
		p.Grammar = b.Finish()
		parts = append(parts, p)
	}
	trace, _ := traceOf(t, parts)
	checkCalls(t, trace, parts)
	if trace.Shapes() != 4 || trace.Signatures() > 3 {
		t.Errorf("%d signatures of %d shapes", trace.Signatures(), trace.Shapes())
	}
}

// TestRefuseGroups gives groups that there cannot be.
func TestRefuseGroups(t *testing.T) {
	for _, g := range []Group{{Rank: -1, Size: 1}, {Rank: 0, Size: -1}, {Rank: 0, Size: -5}, {Rank: -2, Size: 3}} {
		p := oneCall(0, groupSend, cst.Rank(0), cst.Rank(0), cst.Tag(0), cst.Handle(5))
		p.Groups = map[GroupHandle]Group{{Class: "comm", Value: 5}: g}
		if err := new(Accumulator).Add(p); err == nil || !strings.Contains(err.Error(), `in group 5, of class "comm"`) {
			t.Errorf("%+v: err = %v", g, err)
		}
	}
}

// TestGroupsNeverLarger checks that a trace is not larger for what is known of
// groups, whatever that is.
func TestGroupsNeverLarger(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := genProgram.Draw(t, "program")
		parts := p.parts()
		for i := range parts {
			if rapid.IntRange(0, 3).Draw(t, "says nothing") == 0 {
				parts[i].Groups = nil
			}
		}
		with := len(write(t, Run{Ranks: p.ranks}, parts))
		for i := range parts {
			parts[i].Groups = nil
		}
		if without := len(write(t, Run{Ranks: p.ranks}, parts)); with > without {
			t.Fatalf("%d bytes with groups, %d without", with, without)
		}
	})
}

// TestGroupsOfSome checks that ranks which know different groups are one shape.
func TestGroupsOfSome(t *testing.T) {
	var parts []Part
	for rank := range 64 {
		p := oneCall(rank, groupSend, cst.Rank(1), cst.Rank(2), cst.Tag(3), cst.Handle(5))
		p.Groups = map[GroupHandle]Group{{Class: "comm", Value: int64(5 + rank%2)}: {Rank: rank / 2, Size: 32}}
		parts = append(parts, p)
	}
	trace, n := traceOf(t, parts)
	checkCalls(t, trace, parts)
	for i := range parts {
		parts[i].Groups = nil
	}
	if _, m := traceOf(t, parts); trace.Shapes() != 1 || n != m {
		t.Errorf("%d shapes, %d bytes, %d without groups", trace.Shapes(), n, m)
	}
}
