package skeleton

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// program returns what ranks call, one letter for each call.
func program(calls string, ranks ...int) Program {
	var b sequitur.Builder
	for _, c := range calls {
		b.Append(sequitur.Symbol(c))
	}
	return Program{rankenc.SetOf(ranks...), b.Finish()}
}

func itself(s sequitur.Symbol) sequitur.Symbol { return s }

// lower has letters of both cases as one kind.
func lower(s sequitur.Symbol) sequitur.Symbol { return s | 0x20 }

// compare has letters of both cases as peers.
func compare(a, b sequitur.Symbol) Likeness {
	if a|0x20 == b|0x20 {
		return Peers
	}
	return Different
}

// written writes parts in a line, such as A 3(B [1/2 0-3 C]): C is called in half of the
// iterations on ranks 0-3.
func written(parts []*Part) string {
	var words []string
	for _, p := range parts {
		word := p.Call
		if p.Body != nil {
			word = "(" + written(p.Body) + ")"
		}
		switch trips := p.Trips; {
		case trips.Expression != "1" && trips.Expression != "":
			word = trips.Expression + word
		case trips.Expression == "":
			word = fmt.Sprintf("%d…%d", trips.Min, trips.Max) + word
		}
		if p.Optional() {
			at := ""
			if p.In < p.Iterations {
				at = fmt.Sprintf("%d/%d ", p.In, p.Iterations)
			}
			if p.SomeRanks {
				at += p.Ranks.String() + " "
			}
			word = "[" + at + word + "]"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// name names a call node by its letters.
func name(n *Node) (letters string, fails bool) {
	var list []string
	for _, c := range n.Calls {
		list = append(list, string(rune(c.Call)))
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), "|"), false
}

func TestMake(t *testing.T) {
	times := func(n int, s string) string { return strings.Repeat(s, n) }
	var counts, trips []Program // by rank
	for rank := range 1024 {
		counts = append(counts, program("I"+times(50+rank, "SRW")+"F", rank))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for rank := range 32 {
		var b strings.Builder
		for range 10 {
			b.WriteString("A" + times(1+r.IntN(5), "BC") + "D")
		}
		trips = append(trips, program("I"+b.String()+"F", rank))
	}
	var sparse []Program // polling that seldom succeeds
	seldom := 0
	for rank := range 64 {
		var b strings.Builder
		for range 60 {
			polls := max(0, r.IntN(6)-3)
			b.WriteString("A" + times(polls, "T") + "B")
			seldom += min(1, polls)
		}
		sparse = append(sparse, program("I"+b.String()+"F", rank))
	}
	var polls strings.Builder
	for i := range 100 {
		polls.WriteString("S" + times([]int{0, 1, 0, 0, 3, 0, 0, 2}[i*37/100%8], "T") + "WX")
	}
	for _, tt := range []struct {
		name     string
		programs []Program
		want     string
	}{
		{"Nothing", nil, ""},
		{"NoCalls", []Program{program("", 0)}, ""},
		{"Loop", []Program{program(times(5, "AB"), 0)}, "5(A B)"},
		{"Optional", []Program{program("ABCACABCABBC", 0)}, "4(A [3/4 1…2B] C)"},
		{"Several", []Program{program("IABCDABCDADABCDADF", 0)}, "I 5(A [3/5 B] [3/5 C] D) F"},
		{"TripCounts", counts, "I 50+rank(S R W) F"},
		{"RandomTripCounts", trips, "I 10(A 1…5(B C) D) F"},
		{"Polling", []Program{program("I"+polls.String()+"F", 0)}, "I 100(S [38/100 1…3T] W X) F"},
		{"Nested", []Program{program("I"+times(30, times(5, times(20, "AB")+"C")+"D")+"E"+
			times(3, times(20, "AB")+"C")+"F", 0)}, "I 30(5(20(A B) C) D) E 3(20(A B) C) F"},
		{"SparsePolling", sparse, fmt.Sprintf("I 60(A [%d/3840 1…2T] B) F", seldom)},
		{"SomeRanks", []Program{program("IABCF", 0), program("IACF", 1, 2, 3), program("IABCF", 4)},
			"I A [0-4:4 B] C F"},
		{"Peers", []Program{program("IABF", 0), program("IaBF", 1)}, "I A|a B F"},
		{"OtherCalls", []Program{program("IABCDEF", 0), program("GHKLMN", 1), program("IABDEF", 2)},
			"[0-2:2 I] [0-2:2 A] [0-2:2 B] [0 C] [0-2:2 D] [0-2:2 E] [0-2:2 F] [1 G] [1 H] [1 K] [1 L] [1 M] [1 N]"},
		{"LoopAndIteration", []Program{program("I"+times(9, "ABC")+"F", 0), program("IABCF", 1)}, "I 1…9(A B C) F"},
		{"OptionalLoop", []Program{program("ISS"+times(9, "ABC")+"EF", 0), program("ISSEF", 1)},
			"I 2S [0 9(A B C)] E F"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Make(context.Background(), tt.programs, Options{Compare: compare})
			if err != nil {
				t.Fatal(err)
			}
			if got := written(s.Parts(tt.programs, len(tt.programs), name)); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestMakeLimits(t *testing.T) {
	long := program(strings.Repeat("ABCDBCADCBADBCDAACBD", 10)+strings.Repeat("ABC", 1<<20), 0)
	if _, err := Make(context.Background(), []Program{long}, Options{MaxNodes: 100}); !errors.Is(err, ErrLimit) {
		t.Errorf("of too many calls: %v", err)
	}
	if _, err := Make(context.Background(), []Program{long}, Options{MaxWork: 100}); !errors.Is(err, ErrLimit) {
		t.Errorf("of too much work: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Make(ctx, []Program{long}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestProcessors checks that programs have the same in common, or are too long, on however many processors
// their loops are found.
func TestProcessors(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var programs []Program
	for rank := range 7 {
		calls := ""
		for range 20 * (1 + rank) {
			calls += "A" + strings.Repeat("bc", 1+random.IntN(4)) + "DE"
			if random.IntN(3) == 0 {
				calls += "F"
			}
		}
		programs = append(programs, program(calls, rank))
	}
	make := func(processors, work int) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		s, err := Make(context.Background(), programs, Options{Kind: lower, Compare: compare, MaxWork: work})
		if err != nil {
			return err.Error()
		}
		return written(s.Parts(programs, len(programs), name))
	}
	failed := 0
	for work := 1 << 12; work <= 1<<20; work += work / 8 {
		want := make(1, work)
		if got := make(4, work); got != want {
			t.Fatalf("with work %d, %s, on one processor %s", work, got, want)
		}
		if want == ErrLimit.Error() {
			failed++
		}
	}
	if failed < 5 || make(2, 1<<20) == ErrLimit.Error() {
		t.Errorf("%d limits are too low", failed)
	}
}

// drawCalls draws the text of a program of nested loops, and a function that returns what a rank
// calls, in which trip counts and optional calls depend on it or on chance.
func drawCalls(t *rapid.T) func(rank int, chance *rand.Rand) string {
	type item struct {
		call   rune
		body   []item
		trips  func(rank int, chance *rand.Rand) int
		always int // of 4
	}
	var draw func(depth int) []item
	draw = func(depth int) []item {
		var items []item
		for range rapid.IntRange(1, 4).Draw(t, "items") {
			i := item{call: rapid.RuneFrom([]rune("ABCDEFab")).Draw(t, "call"),
				always: rapid.IntRange(1, 4).Draw(t, "always")}
			first, spread := rapid.IntRange(1, 6).Draw(t, "trips"), rapid.IntRange(1, 4).Draw(t, "spread")
			switch rapid.IntRange(0, 3).Draw(t, "how") {
			case 0:
				i.trips = func(int, *rand.Rand) int { return first }
			case 1:
				i.trips = func(rank int, _ *rand.Rand) int { return first + rank }
			case 2:
				i.trips = func(_ int, chance *rand.Rand) int { return first + chance.IntN(spread) }
			case 3:
				i.trips = func(int, *rand.Rand) int { return 1 }
			}
			if depth < 3 && rapid.Bool().Draw(t, "loop") {
				i.body = draw(depth + 1)
			}
			items = append(items, i)
		}
		return items
	}
	whole := draw(0)
	return func(rank int, chance *rand.Rand) string {
		var b strings.Builder
		var write func(items []item)
		write = func(items []item) {
			for _, i := range items {
				if chance.IntN(4) >= i.always || b.Len() > 3000 {
					continue
				}
				for range i.trips(rank, chance) {
					if i.body != nil {
						write(i.body)
					} else {
						b.WriteRune(i.call)
					}
				}
			}
		}
		write(whole)
		return b.String()
	}
}

// TestInstances checks that skeletons have each call of programs drawn at random as often as
// these, and that each program is one of those that its skeleton stands for.
func TestInstances(t *testing.T) { rapid.Check(t, testInstances) }

func FuzzInstances(f *testing.F) { mutate.Fuzz(f, rapid.MakeFuzz(testInstances)) }

func testInstances(t *rapid.T) {
	calls := drawCalls(t)
	chance := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	var programs []Program
	var texts []string
	next := 0
	for p := range rapid.IntRange(1, 5).Draw(t, "programs") {
		text := calls(p, chance)
		var ranks []int
		for range rapid.IntRange(1, 3).Draw(t, "ranks") {
			ranks = append(ranks, next)
			next++
		}
		programs, texts = append(programs, program(text, ranks...)), append(texts, text)
	}
	kind := rapid.SampledFrom([]func(sequitur.Symbol) sequitur.Symbol{itself, lower}).Draw(t, "kind")
	o := Options{Kind: kind, Compare: compare, MaxNodes: 1 << 16, MaxWork: 1 << 26}
	s, err := o.make(context.Background(), programs, rapid.SampledFrom([]how{mostly, evenly, inner}).Draw(t,
		"how"), nil)
	if err != nil {
		t.Fatal(err)
	}
	total, want := make(map[rune]uint64), make(map[rune]uint64)
	for p := range programs {
		own := make(map[rune]uint64)
		countCalls(s.Body, p, own)
		for _, c := range texts[p] {
			own[c]--
			want[c|0x20] += uint64(programs[p].Ranks.Len())
		}
		for c, n := range own {
			if n != 0 {
				t.Fatalf("program %d: %+d times %c\n%s", p, int64(n), c, texts[p])
			}
		}
		checkTimes(t, s.Body, p, 1)
		m := matcher{p, texts[p], make(map[step]places)}
		if !m.body(s.Body, m.places(0), 1).has(len(texts[p])) {
			t.Fatalf("program %d is no instance: %s\n%s", p, texts[p], written(s.Parts(programs, next, name)))
		}
	}
	countParts(s.Parts(programs, next, func(n *Node) (string, bool) {
		return string(rune(n.Calls[0].Call | 0x20)), false
	}), total)
	for c, n := range want {
		if total[c] != n {
			t.Fatalf("all ranks: %d times %c, want %d", total[c], c, n)
		}
	}
}

func countCalls(body []*Node, program int, calls map[rune]uint64) {
	for _, n := range body {
		sum := uint64(0)
		for _, c := range n.Calls {
			if c.Program == program {
				calls[rune(c.Call)] += c.Count
				sum += c.Count
			}
		}
		if !n.IsLoop() && sum != n.of(program).Total {
			panic("the calls are not the total")
		}
		countCalls(n.Body, program, calls)
	}
}

func countParts(parts []*Part, calls map[rune]uint64) {
	for _, p := range parts {
		if p.Body == nil {
			calls[rune(p.Call[0])] += p.Calls
		}
		countParts(p.Body, calls)
	}
}

// checkTimes checks that numbers of iterations and trip counts agree.
func checkTimes(t *rapid.T, body []*Node, program int, iterations uint64) {
	for _, n := range body {
		x := n.of(program)
		if x.In > iterations || x.Total < x.In*x.Min || x.Total > x.In*x.Max || x.In > 0 && x.Min == 0 {
			t.Fatalf("%+v in %d iterations", x, iterations)
		}
		checkTimes(t, n.Body, program, x.Total)
	}
}

// A matcher finds where in a text there are instances of what a skeleton has of a program.
type matcher struct {
	program int
	text    string
	once    map[step]places // where what a node is executed once for ends, by where it begins
}

type step struct {
	node *Node
	from int
}

// Places are bits for those in a text.
type places []uint64

func (m *matcher) places(list ...int) places {
	p := make(places, len(m.text)/64+1)
	for _, i := range list {
		p[i/64] |= 1 << (i % 64)
	}
	return p
}

func (p places) add(q places) {
	for i, bits := range q {
		p[i] |= bits
	}
}

func (p places) has(i int) bool { return p[i/64]>>(i%64)&1 != 0 }

// body returns where instances of a body end that begin at some places of the text, which come so many times
// altogether.
func (m *matcher) body(body []*Node, from places, iterations uint64) places {
	for _, n := range body {
		x := n.of(m.program)
		if x.In == 0 {
			continue
		}
		next := m.places()
		if x.In < iterations {
			next.add(from)
		}
		at, some := from, true
		for k := uint64(1); k <= x.Max && some; k++ {
			if at, some = m.nodes(n, at); k >= x.Min {
				next.add(at)
			}
		}
		from = next
	}
	return from
}

// nodes returns where the text may go on when a node was executed once from each of some places, and whether
// there are any.
func (m *matcher) nodes(n *Node, at places) (after places, some bool) {
	after = m.places()
	for i := range len(m.text) + 1 {
		if at.has(i) {
			after.add(m.node(n, i))
		}
	}
	return after, slices.ContainsFunc(after, func(bits uint64) bool { return bits != 0 })
}

func (m *matcher) node(n *Node, from int) places {
	ends, known := m.once[step{n, from}]
	if known {
		return ends
	}
	if n.IsLoop() {
		ends = m.body(n.Body, m.places(from), n.of(m.program).Total)
	} else if from < len(m.text) && slices.ContainsFunc(n.Calls, func(c Calls) bool {
		return c.Program == m.program && c.Call == sequitur.Symbol(m.text[from])
	}) {
		ends = m.places(from + 1)
	}
	m.once[step{n, from}] = ends
	return ends
}
