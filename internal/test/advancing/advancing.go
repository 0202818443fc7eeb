// Package advancing draws programs whose arguments advance with the indices of their loops, and makes their
// calls.
package advancing

import (
	"math/rand/v2"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn
)

// A Call is one call of a rank.
type Call struct {
	Function int // of Functions
	Args     []cst.Value
}

// Functions are those that are called.
var Functions = []cst.Function{
	{Name: "send", Params: []cst.Param{
		{Name: "buffer", Type: cst.Type{Kind: cst.KindPointer}}, {Name: "count", Type: cst.Type{Kind: cst.KindInt}},
		{Name: "to", Type: cst.Type{Kind: cst.KindRank}}, {Name: "tag", Type: cst.Type{Kind: cst.KindTag}},
		{Name: "site", Type: cst.HandleOf("site")},
	}},
	{Name: "write", Params: []cst.Param{
		{Name: "file", Type: cst.HandleOf("file")}, {Name: "sizes", Type: cst.ArrayOf(cst.Type{Kind: cst.KindInt})},
		{Name: "offset", Type: cst.Type{Kind: cst.KindInt}}, {Name: "weight", Type: cst.Type{Kind: cst.KindFloat}},
	}},
	{Name: "wait"},
}

// A Program is loops and calls, the same for all ranks but for values.
type Program struct{ body []statement }

// A statement is a call or, if it has a body, a loop.
type statement struct {
	times, more int // iterations, and more of them in each iteration of the loop around it
	body        []statement

	function int
	numbers  [4]number // of arguments
	sizes    int
	skip     int // 0, or every which iteration leaves it out
}

// A number is a sum of products of indices and the rank, of which the remainder by a modulus is taken unless
// that is 0; or anything.
type number struct {
	constant, rank int64
	by             [3]int64 // indices of the loops around, the outermost first
	modulus        int64
	any            bool
}

// Draw draws a program.
func Draw(t *rapid.T) *Program { return &Program{drawBody(t, 0)} }

func drawBody(t *rapid.T, depth int) []statement {
	var body []statement
	for range rapid.IntRange(1, 3).Draw(t, "statements") {
		if depth < 3 && rapid.IntRange(0, 2).Draw(t, "loop") > 0 {
			body = append(body, statement{
				times: rapid.SampledFrom([]int{1, 2, 3, 5, 13, 40}).Draw(t, "times"),
				more:  rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "more"), body: drawBody(t, depth+1),
			})
			continue
		}
		s := statement{
			function: rapid.IntRange(0, len(Functions)-1).Draw(t, "function"),
			sizes:    rapid.IntRange(0, 2).Draw(t, "sizes"),
			skip:     rapid.SampledFrom([]int{0, 0, 0, 2, 3}).Draw(t, "skip"),
		}
		for i := range s.numbers {
			s.numbers[i] = drawNumber(t)
		}
		body = append(body, s)
	}
	return body
}

func drawNumber(t *rapid.T) number {
	step := rapid.SampledFrom([]int64{0, 0, 0, 1, -1, 8, 408, 1 << 40, -1 << 63})
	n := number{
		constant: rapid.SampledFrom([]int64{0, 0, 1, 7, -2, 1<<63 - 1}).Draw(t, "constant"),
		rank:     rapid.SampledFrom([]int64{0, 0, 1, 16}).Draw(t, "rank"),
		modulus:  rapid.SampledFrom([]int64{0, 0, 0, 2, 13, 30}).Draw(t, "modulus"),
		any:      rapid.IntRange(0, 15).Draw(t, "any") == 0,
	}
	for i := range n.by {
		n.by[i] = step.Draw(t, "step")
	}
	return n
}

// Calls returns the calls of a rank, which are not many more than most.
func (p *Program) Calls(rank, most int) []Call {
	m := maker{rank: int64(rank), most: most, random: rand.New(rand.NewPCG(uint64(rank), 0))}
	m.run(p.body, 0)
	return m.calls
}

// A maker makes the calls of a rank.
type maker struct {
	rank    int64
	most    int
	indices [3]int64
	calls   []Call
	random  *rand.Rand
}

func (m *maker) run(body []statement, depth int) {
	for _, s := range body {
		if s.body == nil {
			m.call(&s, depth)
			continue
		}
		n := s.times
		if depth > 0 {
			n += s.more * int(m.indices[depth-1])
		}
		for i := range n {
			if len(m.calls) >= m.most {
				return
			}
			m.indices[depth] = int64(i)
			m.run(s.body, depth+1)
		}
		m.indices[depth] = 0
	}
}

func (m *maker) call(s *statement, depth int) {
	if s.skip > 0 && depth > 0 && m.indices[depth-1]%int64(s.skip) == 0 {
		return
	}
	var v [4]int64
	for i, n := range s.numbers {
		v[i] = m.value(n)
	}
	var args []cst.Value
	switch s.function {
	case 0:
		args = []cst.Value{
			cst.PointerTo(cst.Pointer{Segment: v[3] & 3, Displacement: v[0]}), cst.Int(v[1]),
			cst.Rank(v[2] & 7), cst.Tag(v[3]),
			cst.Handle(int64(depth)),
		}
	case 1:
		args = []cst.Value{cst.Handle(v[0] & 1), cst.Numbers(cst.KindInt, v[:s.sizes]), cst.Int(v[2]),
			cst.Float(float64(v[3]))}
	}
	m.calls = append(m.calls, Call{s.function, args})
}

func (m *maker) value(n number) int64 {
	if n.any {
		return int64(m.random.Uint64() >> m.random.IntN(64))
	}
	v := n.constant + n.rank*m.rank
	for i, by := range n.by {
		v += by * m.indices[i]
	}
	if n.modulus > 0 {
		v %= n.modulus
	}
	return v
}
