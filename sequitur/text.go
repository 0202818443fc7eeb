package sequitur

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/internal/need"
)

// decimal is how terminals are written where no other way is given.
func decimal(s Symbol) string { return strconv.FormatUint(uint64(s), 10) }

// String returns the text form of g with terminals as numbers.
func (g *Grammar) String() string {
	var b strings.Builder
	g.WriteText(&b, nil)
	return b.String()
}

// WriteText writes g for a person to read: one rule a line, the start rule
// first, as S, and the others by their numbers, as R0, in order of first use. A
// rule that is used in one place is a loop and stands there, as in (a b)^10.
// Terminals are written by name; nil means as numbers.
//
//	S → 0 (1 2 (3 4)^5)^100 R2 5 R2
//	R2 → 6 7
func (g *Grammar) WriteText(w io.Writer, name func(Symbol) string) error {
	need.That(w != nil, "sequitur: nothing to write to")
	if name == nil {
		name = decimal
	}
	out := bufio.NewWriter(w)
	t := texter{g: g, out: out, name: name, seen: make([]bool, len(g.ends)), uses: g.uses()}
	if len(g.ends) == 0 {
		out.WriteString("S →\n")
	} else {
		t.queue = append(t.queue, uint32(len(g.ends)-1))
	}
	for i := 0; i < len(t.queue); i++ {
		fmt.Fprintf(out, "%s →", g.ruleName(int(t.queue[i])))
		t.body(t.queue[i])
		out.WriteByte('\n')
	}
	return out.Flush()
}

// uses returns the number of symbols that refer to each rule.
func (g *Grammar) uses() []int {
	uses := make([]int, len(g.ends))
	for _, s := range g.symbols {
		if s.ref.isRule() {
			uses[s.ref.rule()]++
		}
	}
	return uses
}

// A texter is the state of WriteText.
type texter struct {
	g     *Grammar
	out   *bufio.Writer
	name  func(Symbol) string
	uses  []int
	seen  []bool   // the rules that are in queue
	queue []uint32 // rules with a line of their own, in the order of the lines
	path  []step   // the loops that are open on this line
}

// body writes the right-hand side of rule r and the loops in it.
func (t *texter) body(r uint32) {
	begin, end := t.g.span(r)
	t.path = append(t.path[:0], step{at: begin, end: end})
	space := true
	for len(t.path) > 0 {
		p := &t.path[len(t.path)-1]
		if p.at == p.end {
			if t.path = t.path[:len(t.path)-1]; len(t.path) > 0 {
				t.out.WriteByte(')')
				t.count(p.left)
			}
			continue
		}
		s := t.g.symbols[p.at]
		p.at++
		if space {
			t.out.WriteByte(' ')
		}
		space = true
		switch {
		case !s.ref.isRule():
			t.out.WriteString(t.name(s.ref.terminal()))
			t.count(s.count)
		case t.uses[s.ref.rule()] == 1:
			t.out.WriteByte('(')
			begin, end := t.g.span(s.ref.rule())
			t.path = append(t.path, step{begin, end, s.count})
			space = false
		default:
			if !t.seen[s.ref.rule()] {
				t.seen[s.ref.rule()] = true
				t.queue = append(t.queue, s.ref.rule())
			}
			t.out.WriteString(t.g.ruleName(int(s.ref.rule())))
			t.count(s.count)
		}
	}
}

func (t *texter) count(n uint64) {
	if n > 1 {
		fmt.Fprintf(t.out, "^%d", n)
	}
}

func (g *Grammar) ruleName(r int) string {
	if r == len(g.ends)-1 {
		return "S"
	}
	return "R" + strconv.Itoa(r)
}
