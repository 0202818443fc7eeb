package proxy

import (
	"fmt"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// array returns an expression in C for the first of several values.
func (s *statement) array(p *spec.Param, v *values) (string, error) {
	element := p.Element()
	if t := s.typeOf(p.Name); t.Elem != nil && t.Elem.Kind == cst.KindPointer {
		return s.addresses(p, v)
	}
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
		text, err := s.row(v, s.key(), p.Name, typ, cst.Value.Int, s.constantName(p))
		switch {
		case nested || p.Name == "ranges": // MPI has arrays of arrays
			text = "(void *)(" + text + ")"
		case p.Direction == cst.InOut:
			n := 1
			v.each(func(x cst.Value) { n = max(n, x.Len()) })
			s.block = true
			s.before = append(s.before, fmt.Sprintf("%s %s[%d];", typ, identifier(p.Name), n),
				fmt.Sprintf("memcpy(%s, %s, sizeof %s);", identifier(p.Name), text, identifier(p.Name)))
			text = identifier(p.Name)
		}
		return text, err
	}
	return "", errKind
}

// addresses returns an expression in C for several addresses in place of distances.
func (s *statement) addresses(p *spec.Param, v *values) (string, error) {
	x, same := v.same()
	if !same {
		return "", refusal("has an argument " + p.Name +
			" of addresses in place of distances, which differ between ranks or calls")
	}
	var list []string
	for i := range x.Len() {
		if x.Index(i).Kind() != cst.KindPointer {
			return "", errKind
		}
		at := x.Index(i).Pointer()
		d, ok := s.buffers.displacement(at)
		if !ok {
			return "", errKind
		}
		list = append(list, fmt.Sprintf("address(buffer[%d] + %d)", s.buffers.place(at), d))
	}
	return fmt.Sprintf("(MPI_Aint[]){%s}", strings.Join(list, ", ")), nil
}

// handles returns an expression in C for several objects.
func (s *statement) handles(p *spec.Param, v *values, class string) (string, error) {
	o := s.objects[class]
	count, length := 0, ""
	v.each(func(x cst.Value) { count = max(count, x.Len()) })
	if count == 0 { // which is not the same as no array
		return fmt.Sprintf("(%s[]){%s}", classes[class], nulls[class]), nil
	}
	x, same := v.same()
	if length = fmt.Sprint(count); !same {
		length = s.argumentText(p.Length) // it may differ
	}
	if s.lacks[class] {
		return "", refusal(s.misses())
	}
	if same && p.Direction == cst.Out && class != "request" {
		return s.made(o, x, class)
	}
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
		return s.list(p, v, class, count)
	}
	var chosen, completed string
	if !s.sure {
		var err error
		if chosen, completed, err = s.chosen(); err != nil {
			return "", err
		}
	}
	if same && chosen == "" {
		if first, ok := consecutive(o, x); ok {
			return fmt.Sprintf("&request[%d]", first), nil
		}
	}
	numbers, err := s.row(v, s.key(), "requests", "int", func(x cst.Value) int64 {
		return o.place(x.Int())
	}, numberName(""))
	if err != nil {
		return "", err
	}
	s.block = true
	s.before = append(s.before, fmt.Sprintf("const int *numbers = %s;", numbers),
		fmt.Sprintf("MPI_Request list[%d];", count),
		fmt.Sprintf("take(list, request, numbers, %s);", length))
	if chosen != "" {
		list := fmt.Sprintf("(list, %s, %s, %s)", length, chosen, completed)
		s.chose, s.possible = true, "choose"+list
		if !tests(s.function.Name) {
			s.before = append(s.before, "choose_or_wait"+list+";")
		}
	}
	s.after = append(s.after, fmt.Sprintf("put(list, request, numbers, %s);", length))
	return "list", nil
}

// list returns an expression in C for several objects that differ between ranks or calls.
func (s *statement) list(p *spec.Param, v *values, class string, count int) (string, error) {
	if p.Direction != cst.In {
		return "", refusal("has an argument " + p.Name + " of objects that differ between ranks or calls")
	}
	o := s.objects[class]
	numbers, err := s.row(v, s.key(), p.Name, "int", func(x cst.Value) int64 {
		return o.place(x.Int())
	}, numberName(""))
	if err != nil {
		return "", err
	}
	name := "these_" + identifier(p.Name)
	s.block = true
	s.before = append(s.before, fmt.Sprintf("%s %s[%d];", classes[class], name, count),
		fmt.Sprintf("for (int i = 0; i < %d; i++)", count),
		fmt.Sprintf("    %s[i] = %s[%s[i]];", name, class, numbers))
	return name, nil
}

// consecutive returns the number of the first of several objects, if they follow each other.
func consecutive(o *objects, x cst.Value) (first int64, ok bool) {
	first = o.place(x.Index(0).Int())
	for i := range x.Len() {
		if o.place(x.Index(i).Int()) != first+int64(i) {
			return 0, false
		}
	}
	return first, true
}

// made returns an expression in C for where a call puts several objects.
func (s *statement) made(o *objects, x cst.Value, class string) (string, error) {
	none := true
	for i := range x.Len() {
		none = none && !isObject(x.Index(i).Int())
	}
	if none {
		return s.unused(), nil
	}
	if first, ok := consecutive(o, x); ok {
		return fmt.Sprintf("&%s[%d]", class, first), nil
	}
	return "", errKind
}
