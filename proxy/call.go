package proxy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A call is a signature as the ranks of a shape have it.
type call struct {
	shape     int
	signature reprise.Signature
	function  *spec.Function // nil if it is not known
	ranks     []int
	args      []*values // nil for what is not read
	times     uint64    // how often each rank makes it
	gap       float64   // seconds before it

	left string // why it is left out
}

// apart are functions that reach other programs, or end this one.
var apart = []string{
	"MPI_Abort", "MPI_Comm_spawn", "MPI_Comm_spawn_multiple", "MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join", "MPI_Comm_get_parent",
	"MPI_Open_port", "MPI_Close_port", "MPI_Publish_name", "MPI_Unpublish_name", "MPI_Lookup_name", "MPI_Register_datarep",
	"MPI_Grequest_start", "MPI_Alloc_mem", "MPI_Free_mem", "MPI_Type_get_contents", "MPI_Type_get_envelope",
}

// isInit reports whether a function begins MPI.
func isInit(name string) bool { return name == "MPI_Init" || name == "MPI_Init_thread" }

// unable says why a call cannot be made, or nothing, from its function alone.
func (c *call) unable() string {
	name := c.signature.Function.Name
	switch {
	case c.function == nil:
		return "is not known"
	case spec.OutcomeOf(c.signature.Function) == spec.Failed:
		return "failed"
	case spec.OutcomeOf(c.signature.Function) == spec.InFlight:
		return "did not return"
	case isInit(name):
		return ""
	case slices.Contains(apart, name):
		return "reaches beyond the calls of these processes, or has no meaning for them"
	case c.function.Result.Kind != 0 && name != "MPI_Wtime" && name != "MPI_Wtick":
		return "returns a value"
	}
	for _, p := range c.function.Declared() {
		if t := c.typeOf(p.Name); t.Kind != 0 && !t.Equal(p.Type) && t.Class != spec.PlaceholderClass {
			return "has an argument " + p.Name + " of another type: an address in place of a distance, if nothing is damaged"
		}
		t := p.Element()
		for t.Kind == cst.KindArray {
			t = *t.Elem
		}
		switch {
		case t.Kind == cst.KindHandle && t.Class == "function" && name == "MPI_Op_create":
		case t.Kind == cst.KindHandle && classes[t.Class] == "":
			return "needs an object of class " + t.Class
		case p.Form == spec.Texts || p.Form == spec.TextLists || t.Kind == cst.KindBytes || t.Kind == cst.KindFloat:
			return "has arguments of a kind that is not made again"
		case p.Form == spec.Array && strings.HasSuffix(name, "_c") && t.Kind == cst.KindInt:
			return "has arrays of large counts"
		}
	}
	return ""
}

// argument returns the values of a parameter, or nil if the trace has none.
func (c *call) argument(name string) *values {
	for i, p := range c.signature.Function.Params {
		if p.Name == name {
			return c.args[i]
		}
	}
	return nil
}

// placeholder returns the name of what stands for an argument that is not there, or nothing.
func placeholder(v *values) string {
	x, ok := v.same()
	if !ok || x.Kind() != cst.KindHandle || x.Int() >= 0 {
		return ""
	}
	if n := -1 - x.Int(); n < int64(len(spec.Placeholders())) {
		return spec.Placeholders()[n]
	}
	return ""
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

// uses calls use with the handles of a call, and whether it makes what these stand for.
func (c *call) uses(use func(class string, id int64, makes bool)) {
	for _, p := range c.function.Declared() {
		v := c.argument(p.Name)
		t := p.Element()
		if v == nil || t.Kind != cst.KindHandle || classes[t.Class] == "" || c.typeOf(p.Name).Class == spec.PlaceholderClass {
			continue
		}
		v.each(func(x cst.Value) {
			if x.Kind() != cst.KindArray {
				use(t.Class, x.Int(), p.Direction == cst.Out)
				return
			}
			for i := range x.Len() {
				if x.Index(i).Kind() == cst.KindHandle {
					use(t.Class, x.Index(i).Int(), p.Direction == cst.Out)
				}
			}
		})
	}
}

// A statement is a call as it is written.
type statement struct {
	*generator
	*call
	args    []string
	before  []string // lines
	after   []string
	outputs int
}

// errKind is the error of an argument that is not known how to write.
var errKind = errors.New("has arguments of a kind that is not made again")

// statement returns the lines of a call.
func (g *generator) statement(c *call) ([]string, error) {
	s := &statement{generator: g, call: c}
	for _, p := range c.function.Declared() {
		text, err := s.parameter(&p)
		if err != nil {
			return nil, err
		}
		s.args = append(s.args, text)
	}
	name := c.signature.Function.Name
	line := fmt.Sprintf("%s(%s);", name, strings.Join(s.args, ", "))
	if c.function.Result.Kind != 0 {
		line = "(void)" + line
	}
	if polls(name) {
		flag, err := s.flag()
		switch {
		case err != nil:
			return nil, err
		case flag == "0":
			return nil, nil
		case flag == "1":
			line = "do " + line + " while (!flag);"
		default:
			line = fmt.Sprintf("if (%s) do %s while (!flag);", flag, line)
		}
	}
	lines := append(append(s.before, line), s.after...)
	if len(lines) > 1 {
		for i := range lines {
			lines[i] = "    " + lines[i]
		}
		lines = append(append([]string{"{"}, lines...), "}")
	}
	return lines, nil
}

// polls reports whether a function is called again and again until its flag is set.
func polls(name string) bool {
	switch spec.Base(name) {
	case "Test", "Testall", "Testany", "Iprobe", "Improbe", "Request_get_status":
		return true
	}
	return false
}

// flag returns an expression in C for the flag that was recorded.
func (s *statement) flag() (string, error) {
	v := s.argument("flag")
	if v == nil {
		return "0", nil
	}
	return s.number(v, s.key("flag"), "flag", cst.Value.Int, numberName(""))
}

func (s *statement) key(name string) string {
	return fmt.Sprint(s.shape, s.signature.Number, name)
}

// unused returns memory that MPI writes to and nobody reads.
func (s *statement) unused() string {
	s.outputs++
	s.mostOutputs = max(s.mostOutputs, s.outputs)
	return fmt.Sprintf("(void *)&unused[%d]", s.outputs-1)
}

// parameter returns what is written for a parameter.
func (s *statement) parameter(p *spec.Param) (string, error) {
	v := s.argument(p.Name)
	if v == nil {
		return s.absent(p), nil
	}
	if s.typeOf(p.Name).Class == spec.PlaceholderClass {
		switch name := placeholder(v); name {
		case "":
			return "", errKind
		case "MPI_STATUSES_IGNORE":
			return "no_statuses", nil
		default:
			return name, nil
		}
	}
	switch p.Form {
	case spec.ByValue:
		return s.byValue(p, v)
	case spec.Indirect:
		return s.indirect(p, v)
	case spec.Array:
		return s.array(p, v)
	case spec.Text:
		if p.Direction == cst.Out {
			return s.unused(), nil
		}
		if x, ok := v.same(); ok && x.Kind() == cst.KindString {
			return quote(x.Text()), nil
		}
	}
	return "", errKind
}

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

func (s *statement) byValue(p *spec.Param, v *values) (string, error) {
	switch p.Type.Kind {
	case cst.KindInt, cst.KindRank, cst.KindTag:
		return s.number(v, s.key(p.Name), p.Name, cst.Value.Int, numberName(classOf(p.Type)))
	case cst.KindPointer:
		if p.Use == spec.Word {
			return "NULL", nil
		}
		return s.buffer(p, v)
	case cst.KindHandle:
		if p.Type.Class == "function" {
			return "operation", nil
		}
		return s.handle(p, v, p.Type.Class)
	}
	return "", errKind
}

func (s *statement) indirect(p *spec.Param, v *values) (string, error) {
	switch p.Type.Kind {
	case cst.KindHandle:
		text, err := s.handle(p, v, p.Type.Class)
		if strings.HasPrefix(text, "MPI_") {
			return fmt.Sprintf("&(%s){%s}", classes[p.Type.Class], text), err
		}
		return "&" + text, err
	case cst.KindStatus:
		return "&status", nil
	case cst.KindInt, cst.KindRank, cst.KindTag:
		switch {
		case p.Name == "flag":
			return "&flag", nil
		case p.Direction == cst.Out:
			return s.unused(), nil
		}
		text, err := s.number(v, s.key(p.Name), p.Name, cst.Value.Int, numberName(classOf(p.Type)))
		return fmt.Sprintf("&(%s){%s}", s.integer(p), text), err
	case cst.KindPointer:
		if p.Direction == cst.Out {
			return s.unused(), nil
		}
	}
	return "", errKind
}

// integer returns the type in C of the numbers that a parameter points to.
func (s *statement) integer(p *spec.Param) string {
	name := s.function.Name
	switch {
	case p.Use == spec.Distances, p.Name == "position" && strings.HasSuffix(name, "_external"),
		strings.HasSuffix(p.Name, "displs") && strings.Contains(strings.ToLower(name), "neighbor_alltoallw"):
		return "MPI_Aint"
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
	text, err := s.number(&plain, s.key(p.Name), p.Name, func(x cst.Value) int64 {
		if !isObject(x.Int()) {
			o.add(x.Int())
		}
		return o.place(x.Int())
	}, numberName(""))
	return fmt.Sprintf("%s[%s]", class, text), err
}

// buffer returns an expression in C for an address.
func (s *statement) buffer(p *spec.Param, v *values) (string, error) {
	constant, memory := false, false
	v.each(func(x cst.Value) {
		_, named := constants["pointer"][x.Pointer().Segment]
		constant, memory = constant || named, memory || !named
	})
	segment := func(x cst.Value) int64 { return s.buffers.place(x.Pointer().Segment) }
	plain := *v
	plain.expr = nil
	if x, ok := v.same(); ok && constant {
		return constants["pointer"][x.Pointer().Segment], nil
	}
	number, err := s.number(&plain, s.key(p.Name+" segment"), p.Name, segment, numberName(""))
	if err != nil {
		return "", err
	}
	if constant {
		return fmt.Sprintf("buffer[%s]", number), nil
	}
	displacement, err := s.number(&plain, s.key(p.Name+" displacement"), p.Name+"_displacement",
		func(x cst.Value) int64 { return x.Pointer().Displacement }, numberName(""))
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

// array returns an expression in C for the first of several values.
func (s *statement) array(p *spec.Param, v *values) (string, error) {
	element := p.Element()
	nested := element.Kind == cst.KindArray
	for element.Kind == cst.KindArray {
		element = *element.Elem
	}
	switch element.Kind {
	case cst.KindStatus:
		return "statuses", nil
	case cst.KindHandle:
		return s.handles(p, v, element.Class)
	case cst.KindInt, cst.KindRank, cst.KindTag:
		if p.Direction == cst.Out {
			return s.unused(), nil
		}
		typ := s.integer(p)
		text, err := s.row(v, p.Name, typ, cst.Value.Int, numberName(classOf(element)))
		switch {
		case nested || p.Name == "ranges": // MPI has arrays of arrays
			text = "(void *)(" + text + ")"
		case p.Direction == cst.InOut:
			n := v.of[0][0].Len()
			s.before = append(s.before, fmt.Sprintf("%s %s[%d];", typ, identifier(p.Name), max(1, n)),
				fmt.Sprintf("memcpy(%s, %s, sizeof %s);", identifier(p.Name), text, identifier(p.Name)))
			text = identifier(p.Name)
		}
		return text, err
	}
	return "", errKind
}

// handles returns an expression in C for several objects.
func (s *statement) handles(p *spec.Param, v *values, class string) (string, error) {
	o := s.objects[class]
	count := v.of[0][0].Len()
	if count == 0 {
		return "NULL", nil
	}
	x, same := v.same()
	if same && class != "request" {
		var list []string
		for i := range count {
			id := x.Index(i).Int()
			if name := constants[class][id]; !isObject(id) && name != "" {
				list = append(list, name)
			} else {
				list = append(list, fmt.Sprintf("%s[%d]", class, o.place(id)))
			}
		}
		return fmt.Sprintf("(%s[]){%s}", classes[class], strings.Join(list, ", ")), nil
	}
	if class != "request" {
		return "", errKind
	}
	v.each(func(x cst.Value) {
		for i := range x.Len() {
			o.add(x.Index(i).Int())
		}
	})
	chosen, completed, err := s.chosen()
	if err != nil {
		return "", err
	}
	if same && chosen == "" {
		first, consecutive := o.place(x.Index(0).Int()), true
		for i := range count {
			consecutive = consecutive && o.place(x.Index(i).Int()) == first+int64(i)
		}
		if consecutive {
			return fmt.Sprintf("&request[%d]", first), nil
		}
	}
	numbers, err := s.row(v, "requests", "int", func(x cst.Value) int64 { return o.place(x.Int()) }, numberName(""))
	if err != nil {
		return "", err
	}
	s.before = append(s.before, fmt.Sprintf("MPI_Request list[%d];", count), fmt.Sprintf("take(list, request, %s, %d);", numbers, count))
	if chosen != "" {
		s.before = append(s.before, fmt.Sprintf("await(list, %d, %s, %s);", count, chosen, completed))
	} else {
		chosen, completed = "NULL", "0"
	}
	s.after = append(s.after, fmt.Sprintf("put(list, request, %s, %d, %s, %s);", numbers, count, chosen, completed))
	return "list", nil
}

// chosen returns expressions in C for the indices of the requests that a call completed that
// completes some of them, and how many they are, or nothing for other calls.
func (s *statement) chosen() (indices, completed string, err error) {
	switch spec.Base(s.signature.Function.Name) {
	case "Waitany", "Testany":
		v := s.argument("index")
		if v == nil {
			return "NULL", "0", nil
		}
		index, err := s.number(v, s.key("index"), "index", cst.Value.Int, numberName("int"))
		s.before = append(s.before, fmt.Sprintf("const int chosen = %s;", index))
		return "&chosen", "1", err
	case "Waitsome", "Testsome":
		v := s.argument("array_of_indices")
		if v == nil {
			return "NULL", "0", nil
		}
		n := 0
		for _, list := range v.of {
			if n = list[0].Len(); n != v.of[0][0].Len() {
				return "", "", errKind
			}
		}
		indices, err := s.row(v, "indices", "int", cst.Value.Int, numberName("int"))
		return indices, fmt.Sprint(n), err
	}
	return "", "", nil
}
