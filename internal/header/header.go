package header

import (
	"fmt"
	"regexp"
	"strings"
)

// A Function is a declared function. Result and the types of the parameters
// are spelled as they are in C, with one space between words and before the
// stars: "const int", "MPI_Request *", "char ***".
type Function struct {
	Name   string
	Result string
	Params []Param
	// Variadic is set if more arguments may follow the parameters.
	Variadic bool
}

// A Param is a declared parameter. Suffix is what follows its name, as in
// "[]" or "[][3]", and empty for most.
type Param struct {
	Name   string // empty if the declaration leaves it out
	Type   string
	Suffix string
}

// Declare returns the parameter as C declares it, with name for its name.
func (p Param) Declare(name string) string {
	separator := " "
	if strings.HasSuffix(p.Type, "*") {
		separator = ""
	}
	return p.Type + separator + name + p.Suffix
}

// Constant reports whether the function does not write through the parameter.
func (p Param) Constant() bool { return strings.HasPrefix(p.Type, "const ") }

// Base returns the type without const and stars.
func (p Param) Base() string {
	base, _, _ := strings.Cut(strings.TrimPrefix(p.Type, "const "), "*")
	return strings.TrimSpace(base)
}

// Indirections returns the number of stars and brackets of the parameter.
func (p Param) Indirections() int {
	return strings.Count(p.Type, "*") + strings.Count(p.Suffix, "[")
}

var (
	attribute   = regexp.MustCompile(`__(attribute__|asm__)\s*\(`)
	declaration = regexp.MustCompile(`^(?:extern\s+)?([A-Za-z_][\w\s*]*?[\s*])(MPIX?_\w+)\s*\((.*)\)$`)
	parameter   = regexp.MustCompile(`^(.*?[\s*]|)(\w+)((?:\s*\[\s*\w*\s*\])*)$`)
	spaces      = regexp.MustCompile(`\s+`)
)

// Parse returns the functions whose names begin with MPI_ or MPIX_ that the
// preprocessed source declares, in its order. One that is declared again is
// left out.
func Parse(source string) ([]Function, error) {
	var functions []Function
	known := make(map[string]bool)
	for _, statement := range statements(source) {
		if strings.HasPrefix(statement, "typedef") {
			continue
		}
		match := declaration.FindStringSubmatch(statement)
		if match == nil || known[match[2]] {
			continue
		}
		f := Function{Name: match[2], Result: normal(match[1])}
		if err := f.parseParams(match[3]); err != nil {
			return nil, fmt.Errorf("header: %s: %w", f.Name, err)
		}
		known[f.Name] = true
		functions = append(functions, f)
	}
	return functions, nil
}

func (f *Function) parseParams(list string) error {
	list = strings.TrimSpace(list)
	if list == "" || list == "void" {
		return nil
	}
	for text := range strings.SplitSeq(list, ",") {
		text = strings.TrimSpace(text)
		if text == "..." {
			f.Variadic = true
			continue
		}
		p, err := parseParam(text)
		if err != nil {
			return err
		}
		f.Params = append(f.Params, p)
	}
	return nil
}

func parseParam(text string) (Param, error) {
	match := parameter.FindStringSubmatch(text)
	if match == nil {
		if strings.HasSuffix(text, "*") {
			return Param{Type: normal(text)}, nil
		}
		return Param{}, fmt.Errorf("parameter %q is of no known form", text)
	}
	if t := normal(match[1]); t != "" && t != "const" {
		return Param{Name: match[2], Type: t, Suffix: strings.ReplaceAll(match[3], " ", "")}, nil
	}
	return Param{Type: normal(match[1] + match[2]), Suffix: match[3]}, nil
}

// normal returns a type with single spaces.
func normal(t string) string {
	t = strings.TrimSpace(spaces.ReplaceAllString(t, " "))
	t = strings.ReplaceAll(t, "* ", "*")
	if i := strings.IndexByte(t, '*'); i > 0 && t[i-1] != ' ' {
		t = t[:i] + " " + t[i:]
	}
	return t
}

// statements splits source at the semicolons outside braces, and drops the
// attributes, the bodies in braces and the lines of the preprocessor.
func statements(source string) []string {
	var lines []string
	for line := range strings.SplitSeq(source, "\n") {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			lines = append(lines, line)
		}
	}
	source = dropAttributes(strings.Join(lines, " "))
	var (
		list  []string
		text  strings.Builder
		depth int
	)
	for _, c := range source {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == ';' && depth == 0:
			list = append(list, strings.TrimSpace(text.String()))
			text.Reset()
		case depth == 0:
			text.WriteRune(c)
		}
	}
	return list
}

// dropAttributes removes what stands in __attribute__ and its parentheses.
func dropAttributes(source string) string {
	var text strings.Builder
	for {
		at := attribute.FindStringIndex(source)
		if at == nil {
			text.WriteString(source)
			return text.String()
		}
		text.WriteString(source[:at[0]])
		end, depth := at[1], 1
		for end < len(source) && depth > 0 {
			switch source[end] {
			case '(':
				depth++
			case ')':
				depth--
			}
			end++
		}
		source = source[end:]
	}
}
