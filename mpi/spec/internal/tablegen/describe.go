package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/reprise-trace/reprise/internal/header"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A row is a function of the table, in the words of the generated source.
type row struct {
	name, result string
	params       []column
}

type column struct {
	name, kind, direction, form, use, length, given, asked string
}

// describe returns the row of a function. The error has a line for each parameter that nothing describes.
func describe(f header.Function, m manual) (row, error) {
	r := row{name: f.Name}
	var problems []error
	if f.Result != "int" || strings.HasSuffix(f.Name, "_c2f") {
		result, err := resultKind(f)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", f.Name, err))
		}
		r.result = result
	}
	for _, p := range f.Params {
		if p.Name == "" {
			p.Name = unnamed(p)
		}
		c, err := describeParam(f.Name, p, m)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %s: %w", f.Name, p.Name, err))
		}
		r.params = append(r.params, c)
	}
	for _, a := range asked {
		if matches(a.function, f.Name) {
			r.params = append(r.params, a.column)
		}
	}
	return r, errors.Join(problems...)
}

// unnamed returns a name for the parameter of a declaration without names,
// which only conversions of handles have.
func unnamed(p header.Param) string {
	if class := spec.ClassOf(p.Type); class != "" {
		return class
	}
	return "handle"
}

func resultKind(f header.Function) (string, error) {
	if f.Result == "double" {
		return "float", nil
	}
	return scalar(f.Name, header.Param{Name: "result", Type: f.Result})
}

func describeParam(function string, p header.Param, m manual) (column, error) {
	// Pages give the names of the standard or of mpi.h, whichever.
	direction := m[p.Name]
	if r, ok := names.find(function, p.Name); ok {
		p.Name = r.value
	}
	if direction == "" {
		direction = m[p.Name]
	}
	c := column{name: p.Name}
	var err error
	if c.form, err = form(function, p); err != nil {
		return column{}, err
	}
	if c.direction, err = directionOf(function, p, direction); err != nil {
		return column{}, err
	}
	if c.kind, err = kind(function, p, c.form); err != nil {
		return column{}, err
	}
	if r, ok := lengths.find(function, p.Name); ok {
		c.length, c.given = r.value, r.given
	}
	if c.length == "" && (c.form == "Array" || c.form == "Texts" || c.form == "TextLists" ||
		c.form == "Text" && c.direction != "In") {
		return column{}, errors.New("no rule for its length: rules.go, lengths")
	}
	if r, ok := uses.find(function, p.Name); ok && (r.value != "ErrorCode" || c.kind == "integer") {
		c.use = r.value
	} else if c.kind == "pointer" && c.form == "Indirect" {
		c.use = "Word"
	}
	return c, nil
}

// form returns how C passes the argument. Where it is declared as a pointer,
// that there is a rule for its length makes it an array.
func form(function string, p header.Param) (string, error) {
	stars := p.Indirections()
	length, _ := lengths.find(function, p.Name)
	switch base := p.Base(); {
	case base == "void" && stars == 1:
		if _, ok := pointers.find(function, p.Name); ok {
			return "Indirect", nil
		}
		return "ByValue", nil
	case opaque[base] || callback.MatchString(base):
		return "ByValue", nil
	case base == "char":
		if stars == 3 && p.Suffix != "" {
			return "TextLists", nil
		}
		return map[int]string{1: "Text", 2: "Texts", 3: "Texts"}[stars], nil
	case stars == 0:
		return "ByValue", nil
	case p.Suffix != "" || length.value != "":
		return "Array", nil
	case stars == 1:
		return "Indirect", nil
	}
	return "", fmt.Errorf("%s%s is of no known form: describe.go, form", p.Type, p.Suffix)
}

func directionOf(function string, p header.Param, manual string) (string, error) {
	if r, ok := directions.find(function, p.Name); ok {
		manual = r.value
	}
	if p.Constant() || p.Indirections() == 0 || callback.MatchString(p.Base()) {
		manual = "in"
	}
	switch manual {
	case "in":
		return "In", nil
	case "out":
		return "Out", nil
	case "inout":
		return "InOut", nil
	}
	return "", errors.New("no direction in the manual and no rule for it: rules.go, directions")
}

// kind returns the type of what is recorded of an argument.
func kind(function string, p header.Param, form string) (string, error) {
	if form == "Text" {
		return "text", nil
	}
	if form == "Texts" || form == "TextLists" {
		return "cst.ArrayOf(text)", nil
	}
	if p.Base() == "void" || opaque[p.Base()] {
		return "pointer", nil
	}
	element, err := scalar(function, p)
	if err == nil && form == "Array" {
		return "cst.ArrayOf(" + element + ")", nil
	}
	return element, err
}

// scalar returns the type of one value.
func scalar(function string, p header.Param) (string, error) {
	base := p.Base()
	if class := spec.ClassOf(base); class != "" {
		return fmt.Sprintf("cst.HandleOf(%q)", class), nil
	}
	if base == "MPI_Status" {
		return "status", nil
	}
	if callback.MatchString(base) {
		return `cst.HandleOf("function")`, nil
	}
	if !integers[base] {
		return "", fmt.Errorf("%s is of no known kind: rules.go, integers or opaque", base)
	}
	r, ok := kinds.find(function, p.Name)
	switch {
	case !ok:
		return "integer", nil
	case strings.HasSuffix(r.value, "keyval"):
		return fmt.Sprintf("cst.HandleOf(%q)", r.value), nil
	case r.value == "int":
		return "integer", nil
	}
	return r.value, nil
}

// write appends the row as Go source.
func (r row) write(text *bytes.Buffer) {
	fmt.Fprintf(text, "\t{Name: %q", r.name)
	if r.result != "" {
		fmt.Fprintf(text, ", Result: %s", r.result)
	}
	if r.params == nil {
		text.WriteString("},\n")
		return
	}
	text.WriteString(", Params: []Param{\n")
	for _, c := range r.params {
		fmt.Fprintf(text, "\t\t{Name: %q, Type: %s, Direction: cst.%s, Form: %s", c.name, c.kind, c.direction, c.form)
		if c.use != "" {
			fmt.Fprintf(text, ", Use: %s", c.use)
		}
		if c.length != "" {
			fmt.Fprintf(text, ", Length: %q", c.length)
		}
		if c.given != "" {
			fmt.Fprintf(text, ", Given: %q", c.given)
		}
		if c.asked != "" {
			fmt.Fprintf(text, ", Asked: %q", c.asked)
		}
		text.WriteString("},\n")
	}
	text.WriteString("\t}},\n")
}
