package proxy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// checkInit checks that a shape begins MPI, and notes how.
func (g *generator) checkInit(number int) error {
	for _, n := range slices.Sorted(maps.Keys(g.calls[number])) {
		c := g.calls[number][n]
		if !isInit(c.signature.Function.Name) {
			continue
		}
		line := "MPI_Init(&argc, &argv);"
		if c.signature.Function.Name == "MPI_Init_thread" {
			s := &statement{generator: g, call: c}
			required, err := s.number(c.argument("required"), s.key(), "required", cst.Value.Int, s.constantName(&spec.Param{Name: "required"}))
			if err != nil || strings.Contains(required, "[") {
				required = "MPI_THREAD_SINGLE"
			}
			line = fmt.Sprintf("int provided;\n    MPI_Init_thread(&argc, &argv, %s, &provided);", required)
		}
		if g.init == "" {
			g.init = line
		}
		return nil
	}
	return fmt.Errorf("proxy: MPI_Init is not among the calls of %s: MPI was there before, or it is no trace of an MPI program", text.Ranks(g.trace.ShapeRanks(number)))
}

// asks are the functions that only ask for what is known before MPI_Init.
var asks = []string{"MPI_Initialized", "MPI_Finalized", "MPI_Get_version", "MPI_Get_library_version"}

// maxEarly is the most calls before MPI_Init that are made there.
const maxEarly = 16

// countEarly returns how many calls all ranks make before MPI_Init, none unless these are the same and only ask.
func (g *generator) countEarly() int {
	var all []string
	first := true
	for number, calls := range g.calls {
		if len(calls) == 0 {
			continue
		}
		var names []string
		for i, symbol := range g.grammars[number].All() {
			c := calls[symbol]
			name := c.signature.Function.Name
			if isInit(name) {
				break
			}
			if i == maxEarly || !slices.Contains(asks, name) || c.left != "" {
				return 0
			}
			names = append(names, name)
		}
		if !first && !slices.Equal(names, all) {
			return 0
		}
		first, all = false, names
	}
	return len(all)
}

// writeEarly returns the lines of calls before MPI_Init.
func (g *generator) writeEarly() (string, error) {
	var lines []string
	number := slices.IndexFunc(g.calls, func(calls map[uint32]*call) bool { return len(calls) > 0 })
	for i := range g.early {
		line, err := g.statement(g.calls[number][g.grammars[number].At(uint64(i))])
		if err != nil {
			return "", err
		}
		lines = append(lines, line...)
	}
	return strings.Join(lines, "\n"), nil
}

// entry returns the function main. Early is what stands before MPI_Init.
func (g *generator) entry(names []string, early string) string {
	var b body
	b.add("int main(int argc, char **argv)", "{")
	b.indent++
	if early != "" {
		b.add(strings.Split(early, "\n")...)
	}
	b.add(g.init, "begin(RANKS);")
	for i := range g.files {
		b.add(fmt.Sprintf("forget(%s);", quote(scratch(i))))
	}
	if g.simgrid {
		b.add("SENT = reserve(0, UNKNOWN);", "RECEIVED = reserve(0, UNKNOWN);")
	}
	g.reserve(&b)
	for _, class := range sortedClasses() {
		ids := g.objects[class].ids
		if len(ids) == 0 {
			continue
		}
		b.add(fmt.Sprintf("for (int i = 0; i < %d; i++)", len(ids)), fmt.Sprintf("    %s[i] = %s;", class, nulls[class]))
		for i, id := range ids {
			if name := constants[class][id]; name != "" && name != nulls[class] {
				b.add(fmt.Sprintf("%s[%d] = %s;", class, i, name))
			}
		}
	}
	g.choose(&b, names)
	b.add("return 0;")
	b.indent--
	b.add("}")
	return strings.Join(b.lines, "\n") + "\n"
}

// maxRanges is the most ranges of ranks in a condition.
const maxRanges = 3

// choose calls the function of the shape of the rank.
func (g *generator) choose(b *body, names []string) {
	called, most := 0, 0
	for number, name := range names {
		if name != "" {
			ranges := 0
			for range g.trace.ShapeRanks(number).Ranges() {
				ranges++
			}
			called, most = called+1, max(most, ranges)
		}
	}
	if called == 1 && g.trace.ShapeRanks(slices.IndexFunc(names, func(n string) bool { return n != "" })).Len() == g.size {
		b.add(strings.Join(names, "") + "();")
		return
	}
	if most > maxRanges {
		b.add("switch (kind[rank]) {")
		for number, name := range names {
			if name != "" {
				b.add(fmt.Sprintf("case %d:", number), fmt.Sprintf("    %s();", name), "    break;")
			}
		}
		b.add("}")
		return
	}
	first := "if"
	for number, name := range names {
		if name == "" {
			continue
		}
		var conditions []string
		for low, high := range g.trace.ShapeRanks(number).Ranges() {
			switch {
			case low == high:
				conditions = append(conditions, fmt.Sprintf("rank == %d", low))
			case most == 1:
				conditions = append(conditions, fmt.Sprintf("rank >= %d && rank <= %d", low, high))
			default:
				conditions = append(conditions, fmt.Sprintf("(rank >= %d && rank <= %d)", low, high))
			}
		}
		b.add(fmt.Sprintf("%s (%s)", first, strings.Join(conditions, " || ")), "    "+name+"();")
		first = "else if"
	}
}

// kinds returns a table of the shapes of ranks, if main needs it.
func (g *generator) kinds(entry string) string {
	if !strings.Contains(entry, "switch (kind[rank])") {
		return ""
	}
	cells := slices.Repeat([]string{"0"}, g.size)
	for number := range g.trace.Shapes() {
		for _, rank := range g.trace.ShapeRanks(number).All() {
			cells[rank] = fmt.Sprint(number)
		}
	}
	return fmt.Sprintf("/* Which of the functions each rank calls. */\nstatic const short kind[RANKS] = {\n    %s};\n\n", wrap(cells))
}
