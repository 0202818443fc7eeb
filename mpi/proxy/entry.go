package proxy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// initLine returns the call of a function that begins MPI_COMM_WORLD, with what main was given.
func (g *generator) initLine(c *call, argc, argv string) string {
	if c.signature.Function.Name != "MPI_Init_thread" {
		return fmt.Sprintf("MPI_Init(&%s, &%s);", argc, argv)
	}
	s := &statement{generator: g, call: c}
	required, err := s.number(c.argument("required"), s.key(), "required", cst.Value.Int,
		s.constantName(&spec.Param{Name: "required"}))
	if err != nil || strings.Contains(required, "[") {
		required = "MPI_THREAD_SINGLE"
	}
	return fmt.Sprintf("MPI_Init_thread(&%s, &%s, %s, &provided);", argc, argv, required)
}

// findInit notes how a shape begins MPI_COMM_WORLD, if none before did.
func (g *generator) findInit(number int) {
	for _, n := range slices.Sorted(maps.Keys(g.calls[number])) {
		if c := g.calls[number][n]; isInit(c.signature.Function.Name) && g.init == "" {
			g.init = g.initLine(c, "argc", "argv")
		}
	}
}

// asks are the functions that only ask for what is known before MPI_Init.
var asks = []string{"MPI_Initialized", "MPI_Finalized", "MPI_Get_version", "MPI_Get_library_version"}

// maxEarly is the most calls before MPI_Init that are made there.
const maxEarly = 16

// countEarly returns how many calls all ranks make before MPI_Init, none unless these are the same and only
// ask.
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
	b.add(g.beginLines()...)
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
		b.add(fmt.Sprintf("for (int i = 0; i < %d; i++)", len(ids)),
			fmt.Sprintf("    %s[i] = %s;", class, nulls[class]))
		for i, id := range ids {
			if name := constants[class][id]; name != "" && name != nulls[class] {
				b.add(fmt.Sprintf("%s[%d] = %s;", class, i, name))
			}
			if of := g.foreign[id]; of != "" && class == "errhandler" {
				b.add(fmt.Sprintf("PMPI_%s_create_errhandler(%s_error, &errhandler[%d]);", of, strings.ToLower(of), i))
			}
		}
	}
	g.choose(&b, names)
	if g.begins.sessionBefore {
		b.add("end_session();")
	}
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
	if called == 1 && g.trace.ShapeRanks(slices.IndexFunc(names, func(n string) bool {
		return n != ""
	})).Len() == g.size {
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
	return fmt.Sprintf(
		"/* Which of the functions each rank calls. */\nstatic const short kind[RANKS] = {\n    %s};\n\n", wrap(cells))
}
