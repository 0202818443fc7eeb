package show

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/sequitur"
)

// writeDOT writes a grammar as a Graphviz graph: a record for each rule, and an edge from each symbol to
// the rule it refers to. Terminals are written by name.
func writeDOT(w io.Writer, g *sequitur.Grammar, name func(sequitur.Symbol) string) error {
	out := bufio.NewWriter(w)
	out.WriteString("digraph grammar {\n\tnode [shape=record];\n")
	ruleName := func(r int) string {
		if r == g.Rules()-1 {
			return "S"
		}
		return "R" + strconv.Itoa(r)
	}
	for r := g.Rules() - 1; r >= 0; r-- {
		fmt.Fprintf(out, "\tr%d [label=\"%s", r, ruleName(r))
		var edges strings.Builder
		i := 0
		for t := range g.Body(r) {
			text := ""
			if t.Rule >= 0 {
				text = ruleName(t.Rule)
				fmt.Fprintf(&edges, "\tr%d:s%d -> r%d;\n", r, i, t.Rule)
			} else {
				text = recordEscaper.Replace(name(t.Symbol))
			}
			fmt.Fprintf(out, "|<s%d> %s", i, text)
			if t.Count > 1 {
				fmt.Fprintf(out, " ×%d", t.Count)
			}
			i++
		}
		out.WriteString("\"];\n" + edges.String())
	}
	out.WriteString("}\n")
	return out.Flush()
}

// recordEscaper escapes what has a meaning in the label of a record.
var recordEscaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `{`, `\{`, `}`, `\}`, `|`, `\|`, `<`, `\<`, `>`,
	`\>`, "\n", `\n`)
