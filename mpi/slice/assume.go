package slice

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// An Assumption is that a condition in the sources always has the same value.
type Assumption struct {
	Position
	Column int  `json:"source_column"` // 0 for the only condition of the line
	Always bool `json:"always"`        // true; otherwise never
}

func (a Assumption) String() string {
	place, often := a.Position.String(), "never"
	if a.Column > 0 {
		place = fmt.Sprint(place, ":", a.Column)
	}
	if a.Always {
		often = "always"
	}
	return fmt.Sprint(place, " ", often, " true")
}

// A condition is a branch of a module with two ways to go on.
type condition struct {
	Assumption
	line   int // of the module
	of     *textFunction
	labels [2]string // where it goes if it is true, and otherwise; of Flang, or by the names that Clang gives
	truth  int       // which of the labels in the text is the first of these
}

// A textFunction is what is seen of a function in the text of a module.
type textFunction struct {
	name       string
	blocks     []*textBlock
	conditions []*condition
	fails      bool // it always ends the program with an error
}

// A textBlock is a block of a textFunction.
type textBlock struct {
	label string
	calls []string // texts
	next  []string // labels
	lands string   // the one of them that an exception of its last call goes to, empty if there is none
	fails bool     // whatever it goes on with, it ends the program with an error
}

// Assume writes assumptions into the text of a module, which is as compilers write it, with the names of
// values that Clang gives. It returns what is assumed, in the order of the module. An error is an *Error that
// names a line that has no condition, or several.
func Assume(text []byte, list []Assumption) ([]byte, []Assumption, error) {
	s := newScanner(text)
	s.scan()
	var done []*condition
	for _, a := range list {
		found, err := s.find(a)
		if err != nil {
			return nil, nil, err
		}
		for _, c := range found {
			if slices.ContainsFunc(done, func(d *condition) bool { return d == c && d.Always != a.Always }) {
				return nil, nil, &Error{At: a.Position, What: "the condition is assumed to be true always, and never"}
			}
			c.Always = a.Always
		}
		done = append(done, found...)
	}
	slices.SortFunc(done, func(a, b *condition) int { return a.line - b.line })
	lines := slices.Clone(s.m.lines)
	var assumed []Assumption
	for _, c := range slices.Compact(done) {
		lines[c.line] = c.assumed(lines[c.line])
		assumed = append(assumed, c.Assumption)
	}
	return []byte(strings.Join(lines, "\n")), assumed, nil
}

// taken reports whether the first way in the text is taken if the condition has the value that is assumed.
func (c *condition) taken() bool { return c.Always == (c.truth == 0) }

// assumed returns the line of a condition as it is if the condition has the value that is assumed.
func (c *condition) assumed(line string) string {
	return branch.ReplaceAllString(line, fmt.Sprintf("${1}%t, label ", c.taken()))
}

// A scanner finds the conditions of a module.
type scanner struct {
	m         *Module
	functions []*textFunction
	byName    map[string]*textFunction
	failing   map[string]bool // texts of other calls that are errors than those that end the program with one

	exceptions *Exceptions // of the same text, nil if not known
}

func newScanner(text []byte) *scanner {
	s := &scanner{m: &Module{lines: strings.Split(string(text), "\n"), metadata: map[string]string{}},
		byName: map[string]*textFunction{}}
	s.m.readMetadata()
	return s
}

var (
	branch         = regexp.MustCompile(`^(\s+br i1 )(.+?), label `)
	constantBranch = regexp.MustCompile(`^\s+br i1 (true|false), `)
	labelOf        = regexp.MustCompile(`label %([-\w.$]+|"[^"]*")`)
	definition     = regexp.MustCompile(`^define [^@]*@([-\w.$]+|"[^"]*")\(`)
	fortranSource  = regexp.MustCompile(`(?i)\.f(or|tn|90|95|03|08)?$`)
	called         = regexp.MustCompile(`\b(?:call|invoke) [^@]*@([-\w.$]+|"[^"]*")\((.*)\)`)
)

func (s *scanner) scan() {
	var f *textFunction
	for n := 0; n < len(s.m.lines); n++ {
		line := s.m.lines[n]
		switch {
		case line == "":
		case strings.HasPrefix(line, "define "):
			f = &textFunction{blocks: []*textBlock{{}}}
			if found := definition.FindStringSubmatch(line); found != nil {
				f.name = found[1]
			}
			s.functions, s.byName[f.name] = append(s.functions, f), f
		case f == nil || line[0] == ';':
		case line == "}":
			f = nil
		case line[0] != ' ':
			label, _, _ := strings.Cut(line, ":")
			if b := f.blocks[0]; len(f.blocks) == 1 && b.next == nil && b.calls == nil {
				b.label = label // the first one has a name
			} else {
				f.blocks = append(f.blocks, &textBlock{label: label})
			}
		default:
			n = s.instruction(f, n)
		}
	}
}

// instruction takes an instruction of a function, and returns its last line.
func (s *scanner) instruction(f *textFunction, n int) int {
	line, b := s.m.lines[n], f.blocks[len(f.blocks)-1]
	if strings.HasPrefix(line, "  switch ") {
		for n+1 < len(s.m.lines) && !strings.Contains(s.m.lines[n], "]") {
			n++
			line += s.m.lines[n]
		}
	}
	if strings.Contains(line, "@") && called.MatchString(line) {
		b.calls = append(b.calls, line)
	}
	if !strings.Contains(line, "label %") {
		return n
	}
	for _, l := range labelOf.FindAllStringSubmatch(line, -1) {
		b.next = append(b.next, l[1])
	}
	if strings.Contains(line, " unwind label %") {
		b.lands = b.next[len(b.next)-1]
	}
	if decided := constantBranch.FindStringSubmatch(line); decided != nil && len(b.next) == 2 {
		if b.next = b.next[:1]; decided[1] == "false" {
			b.next = []string{labelOf.FindAllStringSubmatch(line, -1)[1][1]}
		}
	}
	debug := scope.FindStringSubmatch(line)
	if len(b.next) != 2 || debug == nil || !branch.MatchString(line) {
		return n
	}
	c := &condition{line: n, of: f, labels: [2]string(b.next), truth: truth(b.next)}
	c.Position, c.Column = s.m.place(debug[1])
	if c.truth == 1 {
		slices.Reverse(c.labels[:])
	}
	if c.truth >= 0 && c.Line > 0 {
		f.conditions = append(f.conditions, c)
	}
	return n
}

// truth returns which of the labels of a branch is the one for a condition that is true, or −1 if that is not
// known. Clang swaps them for a condition with ! before it. Flang does not, and its labels are numbers.
func truth(labels []string) int {
	if labels[0] == "" || labels[0][0] >= '0' && labels[0][0] <= '9' {
		return 0
	}
	for _, known := range []struct {
		names string
		truth int
	}{
		{"lor.lhs.false lor.rhs", 1}, {"land.lhs.true land.rhs", 0},
		{"if.then while.body for.body do.body cond.true", 0},
	} {
		for k, label := range labels {
			if slices.Contains(strings.Fields(known.names), strings.TrimRight(label, "0123456789")) {
				return k ^ known.truth
			}
		}
	}
	return -1
}

// find returns the branches of a condition.
func (s *scanner) find(a Assumption) ([]*condition, error) {
	var found []*condition
	var columns []string
	for _, f := range s.functions {
		for _, c := range f.conditions {
			if c.Line != a.Line || !sameFile(c.File, a.File) || a.Column > 0 && c.Column != a.Column {
				continue
			}
			if k := len(found) - 1; k >= 0 && found[k].File != c.File {
				return nil, &Error{At: a.Position, What: fmt.Sprintf(
					"%s and %s have that name: a longer one is needed", found[k].File, c.File)}
			}
			if slices.ContainsFunc(found, func(other *condition) bool {
				return other.of == f && other.Column == c.Column
			}) {
				what := "a macro has several conditions here"
				if fortranSource.MatchString(c.File) {
					what = "a statement of Fortran has several conditions or loops here, as assignments of arrays have"
				}
				return nil, &Error{At: a.Position, What: what + ": nothing can be assumed of them"}
			}
			found = append(found, c)
			if column := strconv.Itoa(c.Column); !slices.Contains(columns, column) {
				columns = append(columns, column)
			}
		}
	}
	switch {
	case found == nil && a.Column > 0:
		return nil, &Error{At: a.Position, What: fmt.Sprintf(
			"there is no condition in column %d that the program branches on", a.Column)}
	case found == nil:
		return nil, &Error{At: a.Position, What: "there is no condition that the program branches on"}
	case len(columns) > 1:
		return nil, &Error{At: a.Position, What: fmt.Sprintf(
			"there are several conditions, in columns %s: name one, such as %v:%s",
			strings.Join(columns, ", "), a.Position, columns[0])}
	}
	return found, nil
}
