package slice

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ExecutedSymbol is the name of the variable of a sliced program that has the groups of operations that are
// executed, each between two spaces, "open" among them if that depends on which messages come first, and "any:"
// with each tag with which only one process sends to a receive from any source.
const ExecutedSymbol = "reprise_slice_executed"

// AppendText appends the text of the module with what is needed. It fails only if the
// slice is not consistent.
func (s *Slice) AppendText(dst []byte) ([]byte, error) {
	w := writer{Slice: s, dst: dst}
	begins := map[int]*function{}
	for _, f := range s.m.defined() {
		begins[f.line] = f
	}
	for n := 0; n < len(s.m.lines); n++ {
		f := begins[n]
		if f == nil {
			w.outside(s.m.lines[n])
			continue
		}
		if err := w.function(f); err != nil {
			return nil, err
		}
		n = f.end
	}
	w.printf("\nattributes #0 = { noinline nounwind uwtable }\n")
	executed := s.executedGroups()
	if s.open != nil {
		executed = append(executed, "open")
	}
	for _, source := range s.sources {
		for _, tag := range source.Tags {
			executed = append(executed, fmt.Sprint("any:", tag))
		}
	}
	return s.m.appendEnd(w.dst, executed), nil
}

// AppendWhole appends the text of the module with nothing left out, for a program to compare with:
// all operations are executed, and static variables are where they are in a slice.
func (m *Module) AppendWhole(dst []byte) []byte {
	for _, line := range m.lines {
		dst = fmt.Appendf(dst, "%s\n", line)
	}
	return m.appendEnd(dst, []string{"open"})
}

// appendEnd appends what a module has besides that of the program: the groups that are executed, and
// uses of all variables and of all functions of others, so that a linker finds the same in each slice.
func (m *Module) appendEnd(dst []byte, executed []string) []byte {
	groups := " " + strings.Join(executed, " ") + " "
	dst = fmt.Appendf(dst, "@%s = constant [%d x i8] c\"%s\\00\"\n", ExecutedSymbol, len(groups)+1, groups)
	var used []string
	for _, g := range m.globals {
		if !strings.HasPrefix(g.name, "@llvm.") {
			used = append(used, "ptr "+g.name)
		}
	}
	for k, f := range m.functions {
		if len(f.blocks) == 0 && !strings.HasPrefix(f.name, "@llvm.") {
			dst = fmt.Appendf(dst,
				"define internal void @reprise_slice_use%d() {\nbb:\n  call void %s()\n  ret void\n}\n", k, f.name)
			used = append(used, fmt.Sprint("ptr @reprise_slice_use", k))
		}
	}
	if m.named["@llvm.compiler.used"] == nil && used != nil {
		dst = fmt.Appendf(dst,
			"@llvm.compiler.used = appending global [%d x ptr] [%s], section \"llvm.metadata\"\n", len(used),
			strings.Join(used, ", "))
	}
	return dst
}

// A writer writes a slice.
type writer struct {
	*Slice
	dst []byte
}

func (w *writer) printf(format string, args ...any) { w.dst = fmt.Appendf(w.dst, format, args...) }

// What is left out: promises that no longer hold where arguments and branches are left out.
var (
	groups   = regexp.MustCompile(` #\d+`)
	promises = regexp.MustCompile(
		` (noundef|nonnull|noalias|nocapture|readonly|readnone|writeonly|returned|nofree|immarg|allocptr|allocalign|` +
			`dereferenceable\(\d+\)|dereferenceable_or_null\(\d+\))\b`)
	dereferenceable = regexp.MustCompile(` dereferenceable(_or_null)?\(\d+\)`)
	notes           = regexp.MustCompile(`, !([A-Za-z_][\w.]*) !\d+`)
)

func stripped(text string) string {
	text = dereferenceable.ReplaceAllString(groups.ReplaceAllString(text, ""), "")
	text = promises.ReplaceAllString(text, "")
	return notes.ReplaceAllStringFunc(text, func(note string) string {
		if strings.HasPrefix(note, ", !dbg ") {
			return note
		}
		return ""
	})
}

// outside writes a line outside of functions that are defined.
func (w *writer) outside(line string) {
	switch {
	case strings.HasPrefix(line, "attributes #"):
	case strings.HasPrefix(line, "declare "):
		w.printf("%s\n", stripped(line))
	default:
		w.printf("%s\n", line)
	}
}

var head = regexp.MustCompile(`((?: section "[^"]*")?(?: comdat(?:\([^)]*\))?)?(?: align \d+)?(?: !dbg !\d+)?) \{$`)

// function writes a function.
func (w *writer) function(f *function) error {
	w.printf("%s\n", head.ReplaceAllString(stripped(w.m.lines[f.line]), " #0$1 {"))
	if !w.memory.seen[f] {
		w.printf("%s:\n  unreachable\n}\n", strings.TrimPrefix(f.blocks[0].name, "%"))
		return nil
	}
	edges := w.edges(f)
	for k, b := range f.blocks {
		if edges[k] == nil && k > 0 {
			continue
		}
		w.printf("%s\n", w.m.lines[b.line])
		for _, i := range b.instructions[:len(b.instructions)-1] {
			if !i.kept && !(k == 0 && i.op == "alloca" && len(i.operands) == 0) { // the others stay where they are on the stack
				continue
			}
			if err := w.instruction(i, edges); err != nil {
				return err
			}
		}
		w.end(b)
	}
	w.printf("}\n")
	return nil
}

// edges returns for each block of a function the blocks that may come before it, nil if it is left out.
func (w *writer) edges(f *function) [][]*block {
	edges := make([][]*block, len(f.blocks))
	stack, seen := []*block{f.blocks[0]}, map[*block]bool{f.blocks[0]: true}
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		next := b.succ
		if w.leavesOut(b) {
			if next = nil; b.after != nil {
				next = []*block{b.after}
			}
		}
		for _, n := range next {
			edges[n.number] = append(edges[n.number], b)
			if !seen[n] {
				seen[n] = true
				stack = append(stack, n)
			}
		}
	}
	return edges
}

// leavesOut reports whether a block goes on behind its branch whatever the condition is.
func (w *writer) leavesOut(b *block) bool { return len(b.succ) > 1 && !b.last().kept }

// end writes the terminator of a block.
func (w *writer) end(b *block) {
	i := b.last()
	switch {
	case i.op == "ret" && i.kept && (i.block.of.resultUsed || i.block.of.whole), i.op == "unreachable",
		i.op != "ret" && !w.leavesOut(b):
		w.printf("%s\n", stripped(i.text))
	case i.op != "ret" && b.after != nil:
		w.printf("  br label %s\n", b.after.name)
	case b.of.result.kind == voidType:
		w.printf("  ret void\n")
	default:
		w.printf("  ret %s zeroinitializer\n", w.resultText(b.of))
	}
}

// resultText returns the type of what a function returns as the module has it.
func (w *writer) resultText(f *function) string {
	c := &cursor{m: w.m, text: strings.TrimPrefix(w.m.lines[f.line], "define ")}
	c.head()
	c.space()
	start := c.at
	c.typ()
	return strings.TrimSpace(c.text[start:c.at])
}

// instruction writes an instruction that is kept.
func (w *writer) instruction(i *instruction, edges [][]*block) error {
	switch i.op {
	case "phi":
		return w.phi(i, edges)
	case "call":
		text := i.text
		for k, v := range slices.Backward(i.operands) {
			if !w.argumentNeeded(i, k) {
				text = text[:v.at] + "zeroinitializer" + text[v.end:]
			}
		}
		w.printf("%s\n", stripped(text))
	default:
		w.printf("%s\n", stripped(i.text))
	}
	return nil
}

// argumentNeeded reports whether a function that is called needs an argument.
func (w *writer) argumentNeeded(i *instruction, k int) bool {
	if len(i.targets) == 0 || i.operands[k].local == "" {
		return true
	}
	if i.effect != nil { // it may be of functions that are not of the module, too
		return true
	}
	return slices.ContainsFunc(i.targets, func(f *function) bool {
		return f.whole || f.restNeeded && k >= len(f.params) ||
			k < len(f.params) && (f.params[k].needed || f.params[k].object != nil)
	})
}

// phi writes a phi with the values of the blocks that still come before it.
func (w *writer) phi(i *instruction, edges [][]*block) error {
	var parts []string
	for _, from := range edges[i.block.number] {
		before := len(parts)
		for k, name := range i.labels {
			if name == from.name && (len(parts) == before || !w.leavesOut(from)) {
				parts = append(parts, fmt.Sprintf("[ %s, %s ]", i.operands[k].text, name))
			}
		}
		if len(parts) == before {
			return i.errorf("%s has no value for %s, which comes before it in the slice", i.name, from.name)
		}
	}
	at, end := i.operands[0].at, i.operands[len(i.operands)-1].end
	start := strings.LastIndex(i.text[:at], "[")
	behind := end + strings.IndexByte(i.text[end:], ']') + 1
	w.printf("%s\n", stripped(i.text[:start]+strings.Join(parts, ", ")+i.text[behind:]))
	return nil
}
