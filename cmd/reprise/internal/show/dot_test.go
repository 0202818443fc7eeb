package show

import (
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/sequitur"
)

// TestDOT draws a grammar of loops.
func TestDOT(t *testing.T) {
	g, err := sequitur.FromRules([][]sequitur.Term{
		{{Symbol: 0, Rule: -1, Count: 1}, {Symbol: 1, Rule: -1, Count: 1}},
		{{Rule: 0, Count: 1}, {Symbol: 2, Rule: -1, Count: 2}},
		{{Rule: 1, Count: 10}, {Symbol: 3, Rule: -1, Count: 1}},
		{{Rule: 2, Count: 3}, {Rule: 0, Count: 1}, {Symbol: 4, Rule: -1, Count: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var dot strings.Builder
	if err := writeDOT(&dot, g, func(s sequitur.Symbol) string { return "<" + string(rune('a'+s)) + ">" }); err != nil {
		t.Fatal(err)
	}
	want := `digraph grammar {
	node [shape=record];
	r3 [label="S|<s0> R2 ×3|<s1> R0|<s2> \<e\>"];
	r3:s0 -> r2;
	r3:s1 -> r0;
	r2 [label="R2|<s0> R1 ×10|<s1> \<d\>"];
	r2:s0 -> r1;
	r1 [label="R1|<s0> R0|<s1> \<c\> ×2"];
	r1:s0 -> r0;
	r0 [label="R0|<s0> \<a\>|<s1> \<b\>"];
}
`
	if dot.String() != want {
		t.Errorf("graph is\n%swant\n%s", &dot, want)
	}
}
