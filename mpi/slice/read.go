package slice

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Read reads the text of a module. An error is an *Error that says in which line.
func Read(text []byte) (*Module, error) {
	r := reader{m: &Module{
		lines: withoutAliases(strings.Split(string(text), "\n")), types: map[string]*irType{}, named: map[string]any{},
		metadata: map[string]string{},
	}}
	r.m.readMetadata() // first, so that errors have lines of the sources
	for r.line = 0; r.line < len(r.m.lines); r.line++ {
		start := r.line
		if err := r.top(r.m.lines[start]); err != nil {
			var known *Error
			if errors.As(err, &known) {
				return nil, err
			}
			return nil, &Error{Line: r.line + 1, What: err.Error()}
		}
	}
	return r.m, r.link()
}

// A reader reads a module line by line.
type reader struct {
	m    *Module
	line int
}

var metadataLine = regexp.MustCompile(`^(!\d+) = (.*)$`)

func (m *Module) readMetadata() {
	for _, line := range m.lines {
		if found := metadataLine.FindStringSubmatch(line); found != nil {
			m.metadata[found[1]] = found[2]
		}
	}
}

// top reads what a line outside of functions begins.
func (r *reader) top(line string) error {
	switch {
	case strings.HasPrefix(line, "define "):
		return r.define()
	case strings.HasPrefix(line, "declare "):
		_, err := r.function(strings.TrimPrefix(line, "declare "))
		return err
	case strings.HasPrefix(line, "%"):
		return r.typeDefinition(line)
	case strings.HasPrefix(line, "@"):
		return r.global(line)
	case strings.HasPrefix(line, "module asm"):
		return errors.New("assembly in the module is not supported")
	}
	for _, prefix := range []string{"source_filename", "target ", "attributes ", ";", "$", "!"} {
		if strings.HasPrefix(line, prefix) {
			return nil
		}
	}
	if strings.TrimSpace(line) != "" {
		return fmt.Errorf("%.60q is nothing that is known", line)
	}
	return nil
}

func (r *reader) typeDefinition(line string) error {
	c := &cursor{m: r.m, text: line}
	t := r.m.namedType(c.name("%"))
	c.want("=")
	if !c.takeWord("type") {
		c.failf("type is expected at %q", c.rest())
	}
	if c.takeWord("opaque") || c.err != nil {
		return c.err
	}
	if len(t.fields) > 0 {
		c.failf("%s is defined twice", t.name)
	}
	t.fields = []*irType{c.typ()}
	return c.err
}

func (r *reader) global(line string) error {
	c := &cursor{m: r.m, text: line}
	g := &global{name: c.name("@"), line: r.line}
	c.want("=")
	words := c.head()
	g.external = slices.Contains(words, "external") || slices.Contains(words, "extern_weak")
	if slices.Contains(words, "thread_local") {
		c.failf("%s is a variable of each thread: threads are not supported", g.name)
	}
	switch w := c.word(); w {
	case "alias", "ifunc":
		c.failf("%s is an %s: they are not supported", g.name, w)
	case "global", "constant":
		g.constant = w == "constant"
	default:
		c.failf("global or constant is expected at %q", w+c.rest())
	}
	g.typ = c.typ()
	if !g.external && c.err == nil {
		v := c.value(g.typ)
		g.init = append(v.addresses, v)
	}
	if c.err == nil {
		c.err = r.declare(g.name, g)
		r.m.globals = append(r.m.globals, g)
	}
	return c.err
}

func (r *reader) declare(name string, what any) error {
	if r.m.named[name] != nil {
		return fmt.Errorf("%s is there twice", name)
	}
	r.m.named[name] = what
	return nil
}

var scope = regexp.MustCompile(`!dbg (!\d+)`)

// function reads the line of a function, behind its first word.
func (r *reader) function(line string) (*function, error) {
	c := &cursor{m: r.m, text: line}
	f := &function{module: r.m, line: r.line, values: map[string]operand{}}
	c.head()
	f.result = c.typ()
	f.name = c.name("@")
	c.want("(")
	c.list(")", func() {
		if c.take("...") {
			f.variadic = true
			return
		}
		p := &param{typ: c.typ(), of: f, number: len(f.params)}
		p.byval = c.attributes()
		if c.next() == '%' {
			p.name = c.name("%")
			if f.values[p.name] != nil {
				c.failf("%s is there twice", p.name)
			}
			f.values[p.name] = p
		}
		f.params = append(f.params, p)
	})
	if found := scope.FindStringSubmatch(c.text[min(c.at, len(c.text)):]); found != nil {
		f.scope = found[1]
	}
	if c.err != nil {
		return nil, c.err
	}
	r.m.functions = append(r.m.functions, f)
	return f, r.declare(f.name, f)
}

// define reads a function with its body.
func (r *reader) define() error {
	line := strings.TrimPrefix(r.m.lines[r.line], "define ")
	if strings.Contains(line, " personality ") {
		return errors.New("exceptions are not supported")
	}
	f, err := r.function(line)
	if err != nil {
		return err
	}
	var b *block
	for r.line++; r.line < len(r.m.lines); r.line++ {
		text := r.m.lines[r.line]
		switch trimmed := strings.TrimSpace(text); {
		case text == "}":
			f.end = r.line
			if b == nil {
				return fmt.Errorf("%s has no blocks", f.name)
			}
			return nil
		case trimmed == "" || trimmed[0] == ';':
		case text[0] != ' ':
			label, _, ok := strings.Cut(text, ":")
			if !ok {
				return fmt.Errorf("%.60q is no label", text)
			}
			b = f.newBlock("%"+label, r.line)
		default:
			if b == nil {
				return fmt.Errorf("the first block of %s has no name: instnamer gives it one", f.name)
			}
			if err := r.instruction(b); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("%s has no end", f.name)
}

func (f *function) newBlock(name string, line int) *block {
	b := &block{name: name, of: f, number: len(f.blocks), line: line}
	f.blocks = append(f.blocks, b)
	return b
}

// instruction reads an instruction of a block, which may take several lines.
func (r *reader) instruction(b *block) error {
	i := &instruction{line: r.line, end: r.line + 1, block: b, position: len(b.instructions), typ: void}
	text := r.m.lines[r.line]
	if strings.Contains(text, "[") && strings.HasPrefix(strings.TrimSpace(text), "switch ") {
		for !strings.Contains(text, "]") {
			if r.line++; r.line == len(r.m.lines) {
				return errors.New("a switch has no end")
			}
			text += "\n" + r.m.lines[r.line]
		}
		i.end = r.line + 1
	}
	i.text = text
	if found := strings.LastIndex(text, ", !"); found >= 0 {
		if debug := scope.FindStringSubmatch(text[strings.Index(text, ", !"):]); debug != nil {
			i.debug = debug[1]
		}
	}
	c := &cursor{m: r.m, text: text}
	if c.next() == '%' {
		i.name = c.name("%")
		c.want("=")
	}
	if c.err == nil {
		c.instruction(i)
	}
	if c.err != nil {
		return i.errorf("%v", c.err)
	}
	if n := len(b.instructions); n > 0 && b.instructions[n-1].terminates() {
		return i.errorf("there is something behind the end of %s", b.name)
	}
	b.instructions = append(b.instructions, i)
	if i.name == "" {
		return nil
	}
	if b.of.values[i.name] != nil {
		return i.errorf("%s is there twice", i.name)
	}
	b.of.values[i.name] = i
	return nil
}

func (i *instruction) terminates() bool {
	return slices.Contains([]string{"br", "switch", "ret", "unreachable"}, i.op)
}

// link connects what stands for one another by names, and checks that it is there.
func (r *reader) link() error {
	m := r.m
	seen := map[*irType]int{}
	for _, t := range m.types {
		if !t.checkCycles(seen, 0) {
			return &Error{What: "a type contains itself, or types are nested too deeply"}
		}
	}
	for _, g := range m.globals {
		for _, v := range g.init {
			if name := m.unknown(v); name != "" || v.local != "" {
				return &Error{Line: g.line + 1, What: fmt.Sprintf("%s begins with %s, which is not there",
					g.name, cmp.Or(name, v.local))}
			}
		}
	}
	for _, f := range m.defined() {
		labels := map[string]*block{}
		for _, b := range f.blocks {
			if labels[b.name] != nil {
				return &Error{Line: b.line + 1, What: b.name + " is there twice"}
			}
			labels[b.name] = b
			if len(b.instructions) == 0 || !b.last().terminates() {
				return &Error{Line: b.line + 1, What: b.name + " has no end"}
			}
		}
		for _, b := range f.blocks {
			for _, name := range b.last().labels {
				to := labels[name]
				if to == nil {
					return b.last().errorf("there is no block %s", name)
				}
				if !slices.Contains(b.succ, to) {
					b.succ, to.pred = append(b.succ, to), append(to.pred, b)
				}
			}
			for _, i := range b.instructions {
				if err := m.check(i, labels); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// unknown returns the name of a global or a function in a value that is not there, if there is one.
func (m *Module) unknown(v value) string {
	for _, a := range append(v.addresses, v) {
		if a.global != "" && m.named[a.global] == nil {
			return a.global
		}
	}
	return ""
}

// check returns an error if the operands of an instruction are not there.
func (m *Module) check(i *instruction, labels map[string]*block) error {
	operands := i.operands
	if i.op == "call" {
		operands = append(slices.Clone(operands), i.callee)
	}
	for _, v := range operands {
		if v.local != "" && i.block.of.values[v.local] == nil {
			return i.errorf("there is no value %s", v.local)
		}
		if name := m.unknown(v); name != "" {
			return i.errorf("there is no %s", name)
		}
	}
	if i.op == "phi" {
		for _, name := range i.labels {
			if labels[name] == nil {
				return i.errorf("there is no block %s", name)
			}
		}
	}
	return nil
}

var (
	location = regexp.MustCompile(`^!DILocation\(line: (\d+),(?: column: (\d+),)?.* scope: (!\d+)`)
	scopeOf  = regexp.MustCompile(`scope: (!\d+)`)
	fileOf   = regexp.MustCompile(`file: (!\d+)`)
	filename = regexp.MustCompile(`filename: "([^"]*)"`)
)

var (
	nameOf = regexp.MustCompile(`@([-\w.$]+)`)
	lineOf = regexp.MustCompile(`line: (\d+)`)
)

// labelError returns the error for a label that is used as a value: text says of which function.
func (m *Module) labelError(text string) error {
	e := &Error{What: "labels that are values, as goto * takes them, are not supported"}
	name := nameOf.FindStringSubmatch(text)
	for _, line := range m.lines {
		if name == nil || !strings.HasPrefix(line, "define ") || !strings.Contains(line, name[0]+"(") {
			continue
		}
		if debug := scope.FindStringSubmatch(line); debug != nil {
			function := m.metadata[debug[1]]
			if begin := lineOf.FindStringSubmatch(function); begin != nil {
				e.At.File = m.fileOf(function)
				e.At.Line, _ = strconv.Atoi(begin[1])
			}
		}
	}
	return e
}

// fileOf returns the name of the file that a function is in, by its metadata.
func (m *Module) fileOf(function string) string {
	if file := fileOf.FindStringSubmatch(function); file != nil {
		if name := filename.FindStringSubmatch(m.metadata[file[1]]); name != nil {
			return filepath.Clean(name[1])
		}
	}
	return ""
}

// position returns the line of the sources that a location in the metadata stands for.
func (m *Module) position(number string) Position {
	p, _ := m.place(number)
	return p
}

// place returns the line and the column of the sources that a location in the metadata stands for.
func (m *Module) place(number string) (Position, int) {
	found := location.FindStringSubmatch(m.metadata[number])
	if found == nil {
		return Position{}, 0
	}
	line, err := strconv.Atoi(found[1])
	if err != nil {
		return Position{}, 0
	}
	column, _ := strconv.Atoi(found[2]) // 0 if there is none
	scope := found[3]
	for range maxDepth {
		text := m.metadata[scope]
		if fileOf.MatchString(text) {
			if file := m.fileOf(text); file != "" {
				return Position{file, line}, column
			}
			return Position{}, 0
		}
		outer := scopeOf.FindStringSubmatch(text)
		if outer == nil {
			break
		}
		scope = outer[1]
	}
	return Position{}, 0
}
