package proxy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
)

// A call is a signature as the ranks of a shape have it.
type call struct {
	shape     int
	signature trace.Signature
	function  *spec.Function // nil if it is not known
	ranks     []int
	args      []*values // nil for what is not read
	times     uint64    // how often each rank makes it
	gap       float64   // seconds before it, in the mean
	draws     []int64   // nanoseconds before it, of which one is drawn
	gaps      *values   // nanoseconds before each
	members   []uint32  // the signatures of the calls that it stands for, if they are several

	left    string // why it is left out
	dropped bool   // it does not stand in the grammar of the program

	missed uint64          // calls of all ranks that need an object which is not there
	lacks  map[string]bool // the classes of these objects
	fits   *reach          // what may come where a receive is smaller, from any source; nil for others
	maybe  bool            // missed is not counted, but the most that it can be
	vain   uint64          // calls of all ranks that found nothing and are not made
	sure   bool            // it asks, and finds the same each time
}

// usesWords reports whether addresses that are no buffers count for a function.
func usesWords(name string) bool {
	return name == "MPI_Aint_add" || name == "MPI_Aint_diff" || allocates(name)
}

// allocates reports whether a function allocates memory, or frees it.
func allocates(name string) bool { return name == "MPI_Alloc_mem" || name == "MPI_Free_mem" }

// isInit reports whether a function begins MPI.
func isInit(name string) bool {
	return name == "MPI_Init" || name == "MPI_Init_thread" || name == "init"
}

// recorded returns what the trace has of a parameter, or nil if it has nothing.
func (c *call) recorded(name string) *values {
	for i, p := range c.signature.Function.Params {
		if p.Name == name {
			return c.args[i]
		}
	}
	return nil
}

// argument returns the values of a parameter, or nil if the trace has none, or what stands for an argument
// that is not there.
func (c *call) argument(name string) *values {
	if c.typeOf(name).Class == spec.PlaceholderClass {
		return nil
	}
	return c.recorded(name)
}

// placeholder returns the name of what stands for an argument that is not there, or nothing if it is there.
func (c *call) placeholder(p *spec.Param) (string, error) {
	if c.typeOf(p.Name).Class != spec.PlaceholderClass {
		return "", nil
	}
	x, _ := c.recorded(p.Name).same()
	for i, name := range spec.Placeholders() {
		if x.Equal(cst.Handle(int64(-1-i))) && p.Form != spec.ByValue &&
			(i == 0 || slices.Contains(p.Ignored(), name)) {
			return name, nil
		}
	}
	return "", errKind
}

// typeOf returns the type of a parameter in the trace.
func (c *call) typeOf(name string) cst.Type {
	for _, p := range c.signature.Function.Params {
		if p.Name == name {
			return p.Type
		}
	}
	return cst.Type{}
}

// A statement is a call as it is written.
type statement struct {
	*generator
	*call
	args    []string
	before  []string // lines
	after   []string
	outputs int

	block    bool     // it has variables of its own
	chose    bool     // some of several requests
	possible string   // whether it can
	needed   []string // conditions of objects that may not be there
}

// A refusal says why a call cannot be made.
type refusal string

func (r refusal) Error() string { return string(r) }

// errKind is the error of an argument that is not known how to write.
const errKind refusal = "has arguments of a kind that is not made again"

// statement returns the lines of a call.
func (g *generator) statement(c *call) ([]string, error) {
	s := &statement{generator: g, call: c}
	if c.function == nil {
		line, err := s.action()
		return []string{line}, err
	}
	for _, p := range c.function.Declared() {
		text, err := s.parameter(&p)
		if errors.Is(err, errKind) {
			err = refusal("has an argument " + p.Name + " of a kind that is not made again")
		}
		if err != nil {
			return nil, err
		}
		s.args = append(s.args, text)
	}
	s.fitting()
	name := c.signature.Function.Name
	line := fmt.Sprintf("%s(%s);", name, strings.Join(s.args, ", "))
	if c.function.Result.Kind != 0 {
		line = "(void)" + line
	}
	line, err := s.forced(line)
	if err != nil || line == "" {
		return nil, err
	}
	lines := append(append(s.before, line), s.after...)
	if s.needed != nil && len(lines) == 1 {
		return []string{fmt.Sprintf("if (%s)", strings.Join(s.needed, " && ")), "    " + lines[0]}, nil
	}
	if s.needed != nil || s.block {
		for i := range lines {
			lines[i] = "    " + lines[i]
		}
		first := "{"
		if s.needed != nil {
			first = fmt.Sprintf("if (%s) {", strings.Join(s.needed, " && "))
		}
		lines = append(append([]string{first}, lines...), "}")
	}
	return lines, nil
}

// key tells a call from others.
func (c *call) key() string { return fmt.Sprint(c.shape, " ", c.signature.Number) }

// unused returns memory that MPI writes to and nobody reads.
func (s *statement) unused() string {
	s.outputs++
	s.mostOutputs = max(s.mostOutputs, s.outputs)
	return fmt.Sprintf("(void *)&unused[%d]", s.outputs-1)
}

// parameter returns what is written for a parameter.
func (s *statement) parameter(p *spec.Param) (string, error) {
	switch name, err := s.placeholder(p); {
	case err != nil:
		return "", err
	case standInNames[name] != "":
		return standInNames[name], nil
	case name != "":
		return name, nil
	}
	v := s.argument(p.Name)
	switch {
	case v != nil:
	case p.Direction != cst.Out && p.Form != spec.ByValue && p.Given == "":
		return "", refusal("has no argument " + p.Name + " in the trace")
	default:
		return s.absent(p), nil
	}
	switch p.Form {
	case spec.ByValue:
		if p.Name == "tag" && probes(s.function.Name) {
			return s.probedTag(p, v)
		}
		return s.byValue(p, v)
	case spec.Indirect:
		return s.indirect(p, v)
	case spec.Array:
		return s.array(p, v)
	case spec.Text:
		if p.Direction == cst.Out {
			return s.unused(), nil
		}
		return s.text(p, v)
	}
	return "", errKind
}

// standInNames are the variables of a program that have the values of placeholders: compilers warn of some of
// these.
var standInNames = map[string]string{"MPI_STATUSES_IGNORE": "no_statuses", "MPI_UNWEIGHTED": "unweighted",
	"MPI_WEIGHTS_EMPTY": "empty_weights"}

// absent returns what is written for a parameter that does not count, or is only written to.
func (s *statement) absent(p *spec.Param) string {
	switch {
	case p.Form == spec.ByValue && p.Type.Kind == cst.KindHandle:
		return nulls[p.Type.Class]
	case p.Form == spec.ByValue && p.Type.Kind != cst.KindPointer:
		return "0"
	case p.Element().Kind == cst.KindStatus && p.Form == spec.Array:
		return "no_statuses"
	case p.Element().Kind == cst.KindStatus:
		return "&status"
	case p.Name == "flag":
		return "&flag"
	case p.Direction != cst.In && p.Form != spec.ByValue:
		return s.unused()
	}
	return "NULL"
}

// text returns an expression in C for a string.
func (s *statement) text(p *spec.Param, v *values) (string, error) {
	strings := true
	v.each(func(x cst.Value) { strings = strings && x.Kind() == cst.KindString })
	if !strings {
		return "", errKind
	}
	write := quote
	if p.Name == "filename" {
		write = s.file
	}
	var text string
	if x, same := v.same(); same {
		text = write(x.Text())
	} else {
		plain := *v
		plain.expr = nil
		number, err := s.number(&plain, s.key(), p.Name, func(x cst.Value) int64 {
			return s.textNumber(write(x.Text()))
		}, numberName(""))
		if err != nil {
			return "", err
		}
		text = fmt.Sprintf("text[%s]", number)
	}
	if mode := s.argument("amode"); mode != nil && p.Name == "filename" {
		if mode, ok := mode.same(); ok && mode.Int()&1 == 0 { // MPI_MODE_CREATE
			s.before = append(s.before, fmt.Sprintf("provide(%s);", text))
		}
	}
	return text, nil
}

// textNumber returns the number of a string in the array of strings, as it is written.
func (g *generator) textNumber(text string) int64 {
	i, ok := g.textNumbers[text]
	if !ok {
		i = int64(len(g.texts))
		g.textNumbers[text] = i
		g.texts = append(g.texts, text)
	}
	return i
}

// file returns the name of a file that stands for one of the trace: the program writes no others.
func (g *generator) file(name string) string {
	i := slices.Index(g.files, name)
	if i < 0 {
		i = len(g.files)
		g.files = append(g.files, name)
	}
	return quote(scratch(i))
}

// scratch returns the name of a file of the program, by its number: one that nobody else has.
func scratch(number int) string { return fmt.Sprintf("reprise-proxy-file.%d", number) }

func (s *statement) byValue(p *spec.Param, v *values) (string, error) {
	if p.Use == spec.Target {
		far := false
		v.each(func(x cst.Value) { far = far || x.Int() > 1<<40 })
		if far {
			return "", refusal("has an address in place of a distance")
		}
	}
	switch p.Type.Kind {
	case cst.KindInt, cst.KindRank, cst.KindTag:
		if isImplemented(p) {
			plain := *v
			plain.expr = nil // of numbers that are others elsewhere
			v = &plain
		}
		text, err := s.number(v, s.key(), p.Name, cst.Value.Int, s.constantName(p))
		if err == nil && p.Name == "source" {
			text, err = s.from(text, v)
		}
		return text, err
	case cst.KindPointer:
		switch {
		case s.function.Name == "MPI_Free_mem":
			return s.allocated(p, v)
		case usesWords(s.function.Name):
			text, err := s.buffer(p, v)
			return fmt.Sprintf("address(%s)", text), err
		case p.Use == spec.Word:
			return "NULL", nil
		}
		return s.buffer(p, v)
	case cst.KindHandle:
		if p.Type.Class == "function" {
			return standIns[s.function.Name+" "+p.Name], nil
		}
		return s.handle(p, v, p.Type.Class)
	}
	return "", errKind
}

func (s *statement) indirect(p *spec.Param, v *values) (string, error) {
	switch p.Type.Kind {
	case cst.KindHandle:
		text, err := s.handle(p, v, p.Type.Class)
		again := false
		v.each(func(x cst.Value) {
			again = again || s.objects[p.Type.Class] != nil && s.objects[p.Type.Class].got[x.Int()]
		})
		if strings.HasPrefix(text, "MPI_") || again && strings.HasSuffix(s.function.Name, "_free") {
			return fmt.Sprintf("&(%s){%s}", classes[p.Type.Class], text), err
		}
		return "&" + text, err
	case cst.KindStatus:
		if p.Direction == cst.In {
			return s.told(v)
		}
		return "&status", nil
	case cst.KindInt, cst.KindRank, cst.KindTag:
		switch {
		case p.Name == "flag":
			return "&flag", nil
		case p.Direction == cst.Out:
			return s.unused(), nil
		}
		text, err := s.number(v, s.key(), p.Name, cst.Value.Int, s.constantName(p))
		return fmt.Sprintf("&(%s){%s}", s.integer(p), text), err
	case cst.KindPointer:
		if s.function.Name == "MPI_Alloc_mem" {
			text, err := s.allocated(p, v)
			return "&" + text, err
		}
		if p.Direction == cst.Out {
			return s.unused(), nil
		}
	}
	return "", errKind
}

// allocated returns an expression in C for memory that MPI has allocated.
func (s *statement) allocated(p *spec.Param, v *values) (string, error) {
	plain := *v
	plain.expr = nil
	number, err := s.number(&plain, s.key(), p.Name, func(x cst.Value) int64 {
		return s.buffers.place(x.Pointer())
	}, numberName(""))
	return fmt.Sprintf("allocated[%s]", number), err
}

// integer returns the type in C of the numbers that a parameter points to.
func (s *statement) integer(p *spec.Param) string {
	name := s.function.Name
	large := strings.HasSuffix(name, "_c")
	switch displacements := strings.HasSuffix(p.Name, "displs"); {
	case large && (p.Use == spec.Distances || strings.HasPrefix(name, "MPI_Type_")):
		switch p.Name {
		case "array_of_distribs", "array_of_dargs", "array_of_psizes":
			return "int"
		}
		return "MPI_Count"
	case p.Use == spec.Distances, p.Name == "position" && strings.HasSuffix(name, "_external"), displacements && large,
		displacements && strings.Contains(strings.ToLower(name), "neighbor_alltoallw"):
		return "MPI_Aint"
	case large:
		return "MPI_Count"
	}
	return "int"
}

// handle returns an expression in C for an object.
func (s *statement) handle(p *spec.Param, v *values, class string) (string, error) {
	constant, object := false, false
	v.each(func(x cst.Value) {
		object = object || isObject(x.Int()) || p.Direction == cst.Out
		constant = constant || !isObject(x.Int())
	})
	if !object {
		if x, ok := v.same(); ok {
			if name := constants[class][x.Int()]; name != "" {
				return name, nil
			}
			return "", errKind
		}
	}
	o := s.objects[class]
	plain := *v
	plain.expr = nil
	text, err := s.number(&plain, s.key(), p.Name, func(x cst.Value) int64 {
		if !isObject(x.Int()) {
			o.add(x.Int())
		}
		return o.place(x.Int())
	}, numberName(""))
	text = fmt.Sprintf("%s[%s]", class, text)
	s.guard(p, class, text)
	return text, err
}

// buffer returns an expression in C for an address.
func (s *statement) buffer(p *spec.Param, v *values) (string, error) {
	constant, memory := false, false
	v.each(func(x cst.Value) {
		_, named := constants["pointer"][x.Pointer().Segment]
		constant, memory = constant || named, memory || !named
	})
	segment := func(x cst.Value) int64 { return s.buffers.place(x.Pointer()) }
	plain := *v
	plain.expr = nil
	if x, ok := v.same(); ok && constant {
		return constants["pointer"][x.Pointer().Segment], nil
	}
	number, err := s.number(&plain, s.key(), p.Name, segment, numberName(""))
	if err != nil {
		return "", err
	}
	if constant {
		return fmt.Sprintf("buffer[%s]", number), nil
	}
	if v.each(func(x cst.Value) {
		if _, ok := s.buffers.displacement(x.Pointer()); !ok {
			at := s.buffers[s.buffers.place(x.Pointer())]
			err = fmt.Errorf("%w: from %d to %d bytes from its beginning, at most %d", errApart, at.first,
				at.last, int64(farthest))
		}
	}); err != nil {
		return "", err
	}
	displacement, err := s.number(&plain, s.key(), p.Name+"_displacement",
		func(x cst.Value) int64 { d, _ := s.buffers.displacement(x.Pointer()); return d }, numberName(""))
	switch {
	case err != nil:
		return "", err
	case displacement == "0":
		return fmt.Sprintf("buffer[%s]", number), nil
	case displacement[0] == '-':
		return fmt.Sprintf("buffer[%s] - %s", number, displacement[1:]), nil
	}
	return fmt.Sprintf("buffer[%s] + %s", number, displacement), nil
}
