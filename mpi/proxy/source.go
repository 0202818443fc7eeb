package proxy

import (
	"errors"
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

// A body is the lines of a function of the program.
type body struct {
	lines  []string
	indent int
}

func (b *body) add(lines ...string) {
	for _, l := range lines {
		b.lines = append(b.lines, strings.Repeat("    ", b.indent)+l)
	}
}

// A shapeWriter writes what the ranks of a shape call.
type shapeWriter struct {
	*generator
	calls      map[uint32]*call
	grammar    *sequitur.Grammar
	uses       []int    // of each rule, in how many places
	names      []string // of the functions of rules
	inFunction []bool   // rules that stand too deep in others
	begun      bool     // MPI_Init is behind
	printer    *trace.Printer
}

// writeShape writes the functions of a shape, and returns the name of that of all its calls.
func (g *generator) writeShape(number int) (string, error) {
	shape, err := g.trace.Shape(number)
	if err != nil {
		return "", err
	}
	w := &shapeWriter{generator: g, calls: g.calls[number], grammar: g.grammars[number],
		printer: g.trace.Printer(trace.PrintOptions{})}
	n := w.grammar.Rules()
	w.uses, w.names, w.inFunction = make([]int, n), make([]string, n), make([]bool, n)
	for r := range w.grammar.Rules() {
		for t := range w.grammar.Body(r) {
			if t.Rule >= 0 {
				w.uses[t.Rule]++
			}
		}
	}
	w.cutDeep()
	last := w.grammar.Rules() - 1
	for r := range w.grammar.Rules() {
		if !w.isFunction(r) && r != last {
			continue
		}
		var b body
		b.indent = 1
		if r == last {
			for _, l := range g.leftOut(number) {
				b.add(comment(fmt.Sprintf("left out: %s of %s, which %s", text.Plural(l.Calls, "call"),
					l.Function, l.Reason)))
			}
		}
		w.begun = r != last // other rules are behind it
		if err := w.rule(&b, r, 0); err != nil {
			return "", err
		}
		title := fmt.Sprintf("%s, used in %s: %s", text.Plural(w.grammar.RuleLen(r), "call"),
			text.Plural(uint64(w.uses[r]), "place"), text.Ranks(shape.Ranks))
		if r == last {
			title = fmt.Sprintf("%s of %s", text.Plural(w.grammar.RuleLen(r), "call"), text.Ranks(shape.Ranks))
		} else if len(b.lines) == 0 {
			continue
		}
		lines := strings.Join(b.lines, "\n")
		if name := g.bodies[lines]; name != "" && r != last {
			w.names[r] = name // ranks of several shapes do this
			continue
		}
		if r == last {
			w.names[r] = g.named(ranksName(shape.Ranks, g.size))
		} else {
			w.names[r] = w.nameOf(r)
			g.bodies[lines] = w.names[r]
		}
		fmt.Fprintf(&g.functions, "%s\nstatic void %s(void)\n{\n%s\n}\n\n", comment(title), w.names[r], lines)
	}
	return w.names[last], nil
}

// maxDepth is how deep loops stand in each other in one function.
const maxDepth = 16

// cutDeep makes functions of rules that stand too deep in others.
func (w *shapeWriter) cutDeep() {
	height := make([]int, w.grammar.Rules())
	for r := range w.grammar.Rules() { // rules refer to those below them
		for t := range w.grammar.Body(r) {
			if t.Rule >= 0 && !w.isFunction(t.Rule) {
				height[r] = max(height[r], height[t.Rule]+1)
			}
		}
		if height[r] >= maxDepth && r < w.grammar.Rules()-1 {
			w.inFunction[r] = true
			height[r] = 0
		}
	}
}

// isFunction reports whether a rule is a function of its own.
func (w *shapeWriter) isFunction(r int) bool { return w.uses[r] > 1 || w.inFunction[r] }

// rule writes the right-hand side of a rule.
func (w *shapeWriter) rule(b *body, r, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	for t := range w.grammar.Body(r) {
		var inner body
		inner.indent = b.indent
		looped := t.Count > 1
		if looped {
			inner.indent++
			w.loops = append(w.loops, loop{loopVariable(depth), t.Count})
		}
		switch {
		case t.Rule < 0:
			if err := w.call(&inner, w.calls[t.Symbol]); err != nil {
				return err
			}
		case w.isFunction(t.Rule):
			if name := w.names[t.Rule]; name != "" {
				inner.add(name + "();")
			}
		default:
			d := depth
			if looped {
				d++
			}
			if err := w.rule(&inner, t.Rule, d); err != nil {
				return err
			}
		}
		if looped {
			w.loops = w.loops[:len(w.loops)-1]
		}
		switch {
		case !looped:
			b.lines = append(b.lines, inner.lines...)
		case made(inner.lines):
			header := loopHeader(loopVariable(depth), t.Count)
			if len(inner.lines) == 1 {
				b.add(header)
				b.lines = append(b.lines, inner.lines...)
				break
			}
			b.add(header + " {")
			b.lines = append(b.lines, inner.lines...)
			b.add("}")
		default:
			b.lines = append(b.lines, inner.lines...)
		}
	}
	return nil
}

// loopVariable returns the index of a loop that stands in others.
func loopVariable(depth int) string {
	if depth > 5 {
		return fmt.Sprintf("n%d", depth)
	}
	return string("ijklmn"[depth])
}

// loopHeader returns the beginning of a loop.
func loopHeader(variable string, count uint64) string {
	if count > math.MaxInt32 {
		return fmt.Sprintf("for (unsigned long long %s = 0; %s < %dULL; %s++)", variable, variable, count, variable)
	}
	return fmt.Sprintf("for (int %s = 0; %s < %d; %s++)", variable, variable, count, variable)
}

// made reports whether there are lines that are no comments.
func made(lines []string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return !strings.HasPrefix(strings.TrimSpace(l), "/*") })
}

// call writes a call.
func (w *shapeWriter) call(b *body, c *call) error {
	name := c.signature.Function.Name
	if isInit(name) {
		w.begun = true
		if w.begins.sessionBefore {
			b.add(w.initLine(c, "argument_count", "argument_list"))
		}
		return nil
	}
	if !w.begun && w.early > 0 {
		return nil // main has it
	}
	if c.left != "" {
		b.add(comment("left out: " + name + " " + c.left))
		return nil
	}
	lines, err := w.statement(c)
	if why := refusal(""); errors.As(err, &why) {
		c.left = string(why)
		w.refused++
		return nil
	}
	if err != nil {
		return err
	}
	if len(lines) == 0 {
		return nil
	}
	gap, err := w.compute(c)
	if err != nil {
		return err
	}
	if gap != "" {
		b.add(gap)
	}
	if c.missed > 0 {
		b.add(comment(fmt.Sprintf("left out at times: %s, which %s", text.Plural(c.missed, "call"), c.misses())))
	}
	if site := w.site(c); site != "" {
		lines[0] += " " + comment(site)
	}
	b.add(lines...)
	if cursor := w.tables.cursors[c.key()]; cursor != "" {
		b.add(cursor + "++;")
	}
	return nil
}

// site returns where a call was made, if it is known.
func (w *shapeWriter) site(c *call) string {
	params := c.signature.Function.Params
	i := slices.IndexFunc(params, func(p cst.Param) bool { return p.Name == "site" })
	if i < 0 || params[i].Type.Class != "site" {
		return ""
	}
	if x, same := c.args[i].same(); same {
		args := make([]cst.Value, len(params))
		args[i] = x
		return strings.Trim(
			string(w.printer.AppendArgument(nil, trace.Call{Function: c.signature.Function, Args: args}, i)), `"`)
	}
	args, err := w.printer.Arguments(nil, c.signature)
	if err != nil {
		return ""
	}
	return strings.Trim(args[i], `"`)
}

// main returns the source of the program.
func (g *generator) main() (string, error) {
	if err := g.findBeginnings(); err != nil {
		return "", err
	}
	g.early = g.countEarly()
	var names []string
	for number := range g.calls {
		name := ""
		if len(g.calls[number]) > 0 {
			g.findInit(number)
			var err error
			if name, err = g.writeShape(number); err != nil {
				return "", err
			}
		}
		names = append(names, name)
	}
	early, err := g.writeEarly()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n",
		comment(fmt.Sprintf("The calls of %s, of %s.", g.options.Name, text.Plural(uint64(g.size), "rank"))))
	for _, a := range g.trace.Run().Origin.Assumptions {
		fmt.Fprintf(&b, "%s\n", comment("conditional on "+a))
	}
	b.WriteString("#include \"proxy.h\"\n\n")
	functions := g.functions.String() + early
	if strings.Contains(functions, "memcpy(") {
		b.WriteString("#include <string.h>\n\n")
	}
	fmt.Fprintf(&b, "enum { RANKS = %d };\n\n", g.size)
	if strings.Contains(functions, "NO_TAG") {
		fmt.Fprintf(&b, "enum { NO_TAG = %d }; /* which no message has: asked for where a probe found nothing, and may find something here */\n\n", g.noTag())
	}
	if g.simgrid {
		b.WriteString("#include \"simgrid.h\"\n")
	}
	if g.begins.session {
		b.WriteString("#include \"sessions.h\"\n")
	}
	entry := g.entry(names, early)
	if g.begins.sessionBefore && g.begins.world {
		b.WriteString("static int argument_count;\nstatic char **argument_list;\n")
	}
	if strings.Contains(functions+entry, "&provided") {
		b.WriteString("static int provided;\n")
	}
	for _, class := range sortedClasses() {
		if n := len(g.objects[class].ids); n > 0 {
			fmt.Fprintf(&b, "static %s %s[%d];\n", classes[class], class, n)
		}
	}
	if n := len(g.buffers); n > 0 {
		fmt.Fprintf(&b, "static char *buffer[%d];\n", n)
	}
	if strings.Contains(functions, "allocated[") {
		fmt.Fprintf(&b, "static void *allocated[%d];\n", len(g.buffers))
	}
	if strings.Contains(functions, "&status") {
		b.WriteString("static MPI_Status status;\n")
	}
	if strings.Contains(functions, ", statuses)") {
		fmt.Fprintf(&b, "static MPI_Status statuses[%d];\n", max(1, g.mostArray))
	}
	if strings.Contains(functions, "&flag") {
		b.WriteString("static int flag;\n")
	}
	if g.mostOutputs > 0 {
		fmt.Fprintf(&b, "static union { MPI_Count align; char bytes[%d]; } unused[%d]; /* for what nobody reads */\n", max(1<<16, 16*g.mostArray), g.mostOutputs)
	}
	if len(g.texts) > 0 {
		fmt.Fprintf(&b, "static const char *const text[] = {%s};\n", wrap(g.texts))
	}
	if g.tables.apart() {
		b.WriteString("\n#include \"tables.h\"\n")
	} else if g.tables.text.Len() > 0 {
		fmt.Fprintf(&b, "\n%s", g.tables.text.String())
	}
	fmt.Fprintf(&b, "\n%s%s%s", g.functions.String(), g.kinds(entry), entry)
	return b.String(), nil
}

func sortedClasses() []string {
	var list []string
	for class := range classes {
		list = append(list, class)
	}
	slices.Sort(list)
	return list
}

// makefile returns the Makefile.
func (g *generator) makefile() string {
	flags := ""
	if g.options.Compute == Sleep {
		flags = " -DPROXY_SLEEP"
	}
	return "CC = mpicc\nCFLAGS = -std=c11 -O2 -Wall -Wextra\n\nproxy: main.c proxy.c $(wildcard *.h)\n\t$(CC) $(CFLAGS)" + flags + " -o $@ main.c proxy.c\n\n" +
		"clean:\n\trm -f proxy\n\n.PHONY: clean\n"
}

// readme returns the README.
func (g *generator) readme(p *Program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "This program makes the MPI calls of the trace %s.\n\n    %s\n\nmake CC=... takes another compiler of MPI. main.c has the calls, in the loops of the trace.\n",
		text.Quoted(g.options.Name), strings.Replace(p.Command, " && ", "\n    ", 1))
	if list := g.trace.Run().Origin.Assumptions; len(list) > 0 {
		b.WriteString("\nThe trace is that of a program that was sliced, on conditions that nobody has checked:\n\n")
		for _, a := range list {
			fmt.Fprintf(&b, "    %s\n", text.Quoted(a))
		}
	}
	if len(p.LeftOut) > 0 {
		b.WriteString("\nLeft out:\n\n")
		for _, l := range p.LeftOut {
			fmt.Fprintf(&b, "    %s of %s, which %s\n", text.Plural(l.Calls, "call"),
				identifierOf(l.Function), l.Reason)
		}
	}
	return b.String()
}

// launchers are what starts the programs of an MPI that has a compiler beside it.
var launchers = regexp.MustCompile(`^(/[A-Za-z0-9_./+-]*/)?(mpirun|mpiexec)([.-][A-Za-z0-9_.-]+)?$`)

// systemDirectories are those whose programs nobody writes but who installs them: a command names no other
// program by its path because a trace has it.
var systemDirectories = regexp.MustCompile(`^/(usr|opt)/`)

// command returns what builds and runs the program, with the launcher and the compiler of the MPI that was
// recorded as far as the trace tells.
func (g *generator) command() string {
	launcher, make := "mpirun", "make"
	for _, c := range g.trace.Run().Origin.Commands {
		first, _, _ := strings.Cut(strings.TrimSpace(c), " ")
		if parts := launchers.FindStringSubmatch(first); parts != nil {
			if !systemDirectories.MatchString(parts[1]) || path.Clean(parts[1])+"/" != parts[1] {
				parts[1] = ""
			}
			launcher = parts[1] + parts[2] + parts[3]
			if parts[1]+parts[3] != "" {
				make = fmt.Sprintf("make CC=%smpicc%s", parts[1], parts[3])
			}
		} else if path.Base(first) == "srun" {
			launcher = "srun"
		}
	}
	return fmt.Sprintf("%s && %s -n %d ./proxy", make, launcher, g.size)
}

// identifierOf returns the name of a function as far as it is one in C.
func identifierOf(name string) string {
	if identifier(name) != strings.ToLower(name) {
		return quote(name)
	}
	return name
}
