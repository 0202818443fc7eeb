package slice

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Exceptions of C++ are made control flow of branches before a module is sliced, so that nothing else needs to
// know of them: a function that an exception may leave sets a flag, and returns; behind each call of it, the
// flag decides whether control goes on or to a handler. What is thrown is kept in variables. The exceptions of
// functions outside of the module are not seen, but for those that only throw, such as of std::vector::at.

// A thrower is a function of the library of C++ that throws an exception of a type, made of a text if it has
// one.
type thrower struct {
	class   string
	hasText bool
}

// throwers has those that a program may catch exceptions of, by name.
var throwers = map[string]thrower{
	"_ZSt20__throw_length_errorPKc":       {"St12length_error", true},
	"_ZSt19__throw_logic_errorPKc":        {"St11logic_error", true},
	"_ZSt20__throw_out_of_rangePKc":       {"St12out_of_range", true},
	"_ZSt24__throw_out_of_range_fmtPKcz":  {"St12out_of_range", true},
	"_ZSt24__throw_invalid_argumentPKc":   {"St16invalid_argument", true},
	"_ZSt20__throw_domain_errorPKc":       {"St12domain_error", true},
	"_ZSt21__throw_runtime_errorPKc":      {"St13runtime_error", true},
	"_ZSt19__throw_range_errorPKc":        {"St11range_error", true},
	"_ZSt22__throw_overflow_errorPKc":     {"St14overflow_error", true},
	"_ZSt23__throw_underflow_errorPKc":    {"St15underflow_error", true},
	"_ZSt17__throw_bad_allocv":            {"St9bad_alloc", false},
	"_ZSt28__throw_bad_array_new_lengthv": {"St20bad_array_new_length", false},
	"_ZSt25__throw_bad_function_callv":    {"St17bad_function_call", false},
	"_ZSt16__throw_bad_castv":             {"St8bad_cast", false},
	"__cxa_bad_cast":                      {"St8bad_cast", false}, "__cxa_bad_typeid": {"St10bad_typeid", false},
	"__cxa_throw_bad_array_new_length": {"St20bad_array_new_length", false},
}

// bases has the classes that those of exceptions in the library of C++ inherit from.
var bases = map[string]string{
	"St11logic_error": "St9exception", "St13runtime_error": "St9exception", "St9bad_alloc": "St9exception",
	"St8bad_cast": "St9exception", "St10bad_typeid": "St9exception", "St17bad_function_call": "St9exception",
	"St20bad_array_new_length": "St9bad_alloc", "St12length_error": "St11logic_error",
	"St12out_of_range": "St11logic_error", "St16invalid_argument": "St11logic_error",
	"St12domain_error": "St11logic_error",
	"St11range_error":  "St13runtime_error", "St14overflow_error": "St13runtime_error",
	"St15underflow_error": "St13runtime_error", "St12system_error": "St13runtime_error",
	"NSt8ios_base7failureB5cxx11E": "St12system_error", "St9bad_weak_ptr": "St9exception",
	"St19bad_optional_access": "St9exception", "St18bad_variant_access": "St9exception",
	"St12bad_any_cast": "St8bad_cast",
}

// An Exceptions is the text of a module in which exceptions are thrown or caught, or nothing of the kind.
type Exceptions struct {
	m         *Module
	functions []*catcher
	byName    map[string]*catcher
	aliases   map[string]string
	types     map[string]int // those that are thrown or caught, with numbers from 1
	inherits  map[string][]string
	refuses   map[string]string // a class, and why it cannot be said which handlers take it
	sites     []*site
	known     map[string]bool // names that the text has lines of
	declared  []string        // lines for others that are used
	indirect  bool            // an exception may leave a call by address

	dst  []byte
	next int // numbers of values and labels that are new
}

// A site is a place where exceptions are thrown.
type site struct {
	line  int
	class string // empty for one that is caught and thrown again
	goes  bool   // there may be a handler that goes on
}

// A catcher is a function as exceptions see it.
type catcher struct {
	name       string
	start, end int // lines of the module
	number     int
	taken      bool // calls may be indirect
	starts     bool // nobody is there to catch what leaves it
	handed     int  // the line where it is passed to a function outside, 0 if it is not
	throws     bool // an exception may leave it
	result     string
	calls      []ehCall
	resumes    bool
	passes     bool // a landing pad does not take all exceptions
	pads       []pad
	blocks     map[string]*ehBlock
	order      []*ehBlock
}

// An ehCall is a call of a function, by name or empty for one by address.
type ehCall struct {
	callee string
	unwind string // label, empty if there is none
	in     *ehBlock
}

// A pad is where exceptions are caught or pass by.
type pad struct {
	label   string
	classes []string // empty for all
	cleanup bool
}

type ehBlock struct {
	label  string
	next   []string
	calls  []string
	stops  bool // a return or a call that ends the program
	fails  bool
	runs   bool   // it may be reached
	unwind ehCall // at its end, that an exception may leave
}

var (
	calleeOf   = regexp.MustCompile(`\b(?:call|invoke) .*?([@%](?:[-\w.$]+|"[^"]*"))\(`)
	unwindsTo  = regexp.MustCompile(`to label (%[-\w.$]+|%"[^"]*") unwind label (%[-\w.$]+|%"[^"]*")`)
	typeInfo   = regexp.MustCompile(`@_ZTI([\w.$]+)`)
	catches    = regexp.MustCompile(`catch ptr (null|@_ZTI[\w.$]+)`)
	resumed    = regexp.MustCompile(`^  resume \{ ptr, i32 \} (%\S+?)(, !dbg .*)?$`)
	groupOf    = regexp.MustCompile(` #\d+`)
	someName   = regexp.MustCompile(globalName)
	debugOf    = regexp.MustCompile(`, !dbg !\d+`)
	phiOf      = regexp.MustCompile(`(, )(%[-\w.$]+|%"[^"]*")( \])`)
	labelLine  = regexp.MustCompile(`^([-\w.$]+|"[^"]*"):`)
	thrownHere = regexp.MustCompile(
		`@__cxa_throw\(ptr[^,]* (%\S+|@\S+), ptr[^,]* @_ZTI([\w.$]+), ptr[^,)]* ([@%\w.$]+)\)`)
	multiple = regexp.MustCompile(`ptr @_ZTI([\w.$]+), i64 (-?\d+)`)
)

// ReadExceptions finds what throws and catches exceptions in the text of a module that has the names of values
// that Clang gives. It returns nil if there is nothing. An error is an *Error that names what is not supported.
func ReadExceptions(text []byte) (*Exceptions, error) {
	if !strings.Contains(string(text), "personality ") && !strings.Contains(string(text), "@__cxa_throw(") &&
		!strings.Contains(string(text), "__throw_") {
		return nil, nil
	}
	x := &Exceptions{m: &Module{lines: strings.Split(string(text), "\n"), metadata: map[string]string{}},
		byName: map[string]*catcher{}, aliases: map[string]string{}, types: map[string]int{},
		inherits: map[string][]string{},
		refuses:  map[string]string{}, known: map[string]bool{}}
	x.m.readMetadata()
	for _, line := range x.m.lines {
		if found := aliasLine.FindStringSubmatch(line); found != nil {
			x.aliases[found[1]] = found[2]
		}
	}
	if err := x.read(); err != nil {
		return nil, err
	}
	x.spread()
	return x, x.judge()
}

func (x *Exceptions) errorf(line int, format string, args ...any) error {
	e := &Error{Line: line + 1, What: fmt.Sprintf(format, args...)}
	if found := scope.FindStringSubmatch(x.m.lines[line]); found != nil {
		e.At = x.m.position(found[1])
	}
	return e
}

// read reads the lines.
func (x *Exceptions) read() error {
	var f *catcher
	var b *ehBlock
	for n := 0; n < len(x.m.lines); n++ {
		line := x.m.lines[n]
		switch {
		case strings.HasPrefix(line, "@"):
			x.global(line)
		case strings.HasPrefix(line, "declare "):
			if name := someName.FindString(line); name != "" {
				x.known[name] = true
			}
		case strings.HasPrefix(line, "define "):
			name := resolved(x.aliases, someName.FindString(line))
			f = &catcher{name: name, start: n, number: len(x.functions), blocks: map[string]*ehBlock{}}
			f.result = resultOf(line, someName.FindString(line))
			x.known[name] = true
			if known := x.byName[name]; known != nil {
				f.taken, f.starts, f.handed = known.taken, known.starts, known.handed
			}
			f.starts = f.starts || name == "@main"
			x.functions, x.byName[name] = append(x.functions, f), f
			b = nil
		case f == nil || line == "" || line[0] == ';':
		case line == "}":
			f.end, f = n, nil
		case line[0] != ' ':
			if label := labelLine.FindStringSubmatch(line); label != nil {
				b = f.block(label[1])
			}
		default:
			if b == nil {
				b = f.block("")
			}
			end, err := x.instruction(f, b, n)
			if err != nil {
				return err
			}
			n = end
		}
	}
	return nil
}

func (f *catcher) block(label string) *ehBlock {
	b := &ehBlock{label: label}
	f.blocks["%"+label] = b
	f.order = append(f.order, b)
	return b
}

// resultOf returns the type of what a function returns, by its line.
func resultOf(line, name string) string {
	before := strings.TrimSpace(line[:strings.Index(line, name)])
	closing := before[len(before)-1]
	opening, ok := map[byte]byte{'}': '{', ']': '[', '>': '<'}[closing]
	if !ok {
		return before[strings.LastIndexByte(before, ' ')+1:]
	}
	depth := 0
	for k := len(before) - 1; k >= 0; k-- {
		switch before[k] {
		case closing:
			depth++
		case opening:
			if depth--; depth == 0 {
				return before[k:]
			}
		}
	}
	return before
}

// global notes what the line of a variable says of classes and of functions whose addresses are taken.
func (x *Exceptions) global(line string) {
	if aliasLine.MatchString(line) {
		return
	}
	name := someName.FindString(line)
	x.known[name] = true
	for _, used := range someName.FindAllString(line, -1) {
		if strings.HasPrefix(name, "@llvm.") {
			x.function(used).starts = true
		}
		x.function(used).taken = true
	}
	class, ok := strings.CutPrefix(name, "@_ZTI")
	_, value, defined := strings.Cut(line, "constant {")
	if !ok || !defined {
		return
	}
	if strings.Contains(value, "__vmi_class_type_info") {
		for _, base := range multiple.FindAllStringSubmatch(value, -1) {
			flags, _ := strconv.ParseInt(base[2], 10, 64)
			if flags&2 == 0 {
				continue // a handler of a private base takes nothing
			}
			if flags&1 != 0 || flags>>8 != 0 {
				x.refuses[class] = "has a base class that is virtual or not its first"
			}
			x.inherits[class] = append(x.inherits[class], base[1])
		}
		return
	}
	for _, base := range typeInfo.FindAllStringSubmatch(value, -1) {
		x.inherits[class] = append(x.inherits[class], base[1])
	}
}

// function returns what is known of a function by its name, also before it is defined.
func (x *Exceptions) function(name string) *catcher {
	name = resolved(x.aliases, name)
	f := x.byName[name]
	if f == nil {
		f = &catcher{name: name}
		x.byName[name] = f
	}
	return f
}

// unsupported has the functions that look at exceptions in other ways than a handler does.
var unsupported = regexp.MustCompile(`^@(_ZSt17current_exceptionv|_ZSt17rethrow_exception|_ZSt18uncaught_exceptionv|` +
	`_ZSt19uncaught_exceptionsv|_ZNSt15__exception_ptr)`)

// instruction reads an instruction of a block, and returns its last line.
func (x *Exceptions) instruction(f *catcher, b *ehBlock, n int) (end int, err error) {
	line := x.m.lines[n]
	end = n
	for end+1 < len(x.m.lines) && strings.HasPrefix(x.m.lines[end+1], "          ") {
		end++
		line += "\n" + x.m.lines[end]
	}
	if strings.HasPrefix(line, "  switch ") {
		for !strings.Contains(x.m.lines[end], "]") && end+1 < len(x.m.lines) {
			end++
			line += "\n" + x.m.lines[end]
		}
	}
	for _, l := range labelOf.FindAllStringSubmatch(line, -1) {
		b.next = append(b.next, "%"+l[1])
	}
	if strings.HasPrefix(line, "  br i1 true,") { // as Assume writes it
		b.next = b.next[:1]
	} else if strings.HasPrefix(line, "  br i1 false,") {
		b.next = b.next[1:]
	}
	call := calleeOf.FindStringSubmatch(line)
	isCall := call != nil && !strings.Contains(line, " asm ")
	for k, used := range someName.FindAllString(line, -1) {
		if isCall && k == 0 && used == call[1] {
			continue
		}
		x.function(used).taken = true
		if isCall && call[1][0] == '@' && !strings.HasPrefix(call[1], "@llvm.") {
			x.function(used).handed = n
		}
	}
	switch {
	case isCall:
		c := ehCall{in: b}
		if call[1][0] == '@' {
			c.callee = resolved(x.aliases, call[1])
		}
		if unsupported.MatchString(c.callee) {
			return end, x.errorf(n, "%s: exceptions that are kept or asked for are not supported", c.callee[1:])
		}
		if to := unwindsTo.FindStringSubmatch(line); to != nil {
			c.unwind = to[2]
			b.unwind = c
		}
		if strings.HasPrefix(c.callee, "@llvm.eh.typeid.for") {
			if of := typeInfo.FindStringSubmatch(line); of != nil {
				x.typeNumber(of[1])
			}
		}
		b.calls = append(b.calls, line)
		f.calls = append(f.calls, c)
		x.throwsAt(c, line, n)
	case strings.Contains(line, " = landingpad "):
		if strings.Contains(line, "\n          filter ") {
			return end, x.errorf(end, "exceptions that a function says that it throws are not supported")
		}
		p := pad{label: "%" + b.label, cleanup: strings.Contains(line, "\n          cleanup")}
		for _, c := range catches.FindAllStringSubmatch(line, -1) {
			class := strings.TrimPrefix(strings.TrimPrefix(c[1], "@_ZTI"), "null")
			if class != "" {
				x.typeNumber(class)
			}
			p.classes = append(p.classes, class)
		}
		f.pads = append(f.pads, p)
		f.passes = f.passes || !p.cleanup && !slices.Contains(p.classes, "")
	case strings.HasPrefix(line, "  resume "):
		f.resumes = true
		b.fails = true
	case strings.HasPrefix(line, "  ret "):
		b.stops = true
	}
	return end, nil
}

func (x *Exceptions) typeNumber(class string) int {
	if x.types[class] == 0 {
		x.types[class] = len(x.types) + 1
	}
	return x.types[class]
}

// throwsAt notes a call that throws.
func (x *Exceptions) throwsAt(c ehCall, line string, n int) {
	s := &site{line: n}
	switch t, ok := throwers[strings.TrimPrefix(c.callee, "@")]; {
	case ok:
		s.class = t.class
	case c.callee == "@__cxa_throw":
		if of := thrownHere.FindStringSubmatch(line); of != nil {
			s.class = of[2]
		}
	case c.callee == "@__cxa_rethrow":
	default:
		return
	}
	if s.class != "" {
		x.typeNumber(s.class)
	}
	x.sites = append(x.sites, s)
}

// isThrow reports whether a function does nothing but throw.
func isThrow(callee string) bool {
	_, ok := throwers[strings.TrimPrefix(callee, "@")]
	return ok || callee == "@__cxa_throw" || callee == "@__cxa_rethrow"
}

// mayThrow reports whether an exception may leave a call.
func (x *Exceptions) mayThrow(c ehCall) bool {
	if c.callee == "" {
		return x.indirect
	}
	if isThrow(c.callee) {
		return true
	}
	f := x.byName[c.callee]
	return f != nil && f.throws && !f.starts
}

// spread finds which functions exceptions may leave.
func (x *Exceptions) spread() {
	for changed := true; changed; {
		changed = false
		for _, f := range x.functions {
			if f.throws {
				continue
			}
			x.reach(f)
			for _, c := range f.calls {
				if c.in.runs && x.mayThrow(c) && (c.unwind == "" || f.resumes || f.passes) {
					f.throws, changed = true, true
					x.indirect = x.indirect || f.taken && !f.starts
					break
				}
			}
		}
	}
}

// reach finds which blocks may be reached if exceptions leave the functions that are known to let them.
func (x *Exceptions) reach(f *catcher) {
	stack := slices.Clone(f.order[:min(1, len(f.order))])
	seen := map[*ehBlock]bool{}
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[b] {
			continue
		}
		seen[b], b.runs = true, true
		for _, label := range b.next {
			if next := f.blocks[label]; next != nil && (label != b.unwind.unwind || x.mayThrow(b.unwind)) {
				stack = append(stack, next)
			}
		}
	}
}

// catches reports whether a handler of a class takes exceptions of another.
func (x *Exceptions) catches(handler, class string) bool {
	if handler == "" || handler == class {
		return true
	}
	for _, base := range append(slices.Clone(x.inherits[class]), bases[class]) {
		if base != "" && x.catches(handler, base) {
			return true
		}
	}
	return class == "PKc" && handler == "Pc" || class == "Pc" && handler == "PKc"
}

// judge finds for each site whether there may be a handler that goes on, and returns an error if it cannot be
// said which handlers take what is thrown.
func (x *Exceptions) judge() error {
	var goesOn []string
	var handlers []string
	for _, f := range x.functions {
		if f.throws && f.handed > 0 && !x.isDefined(x.m.lines[f.handed]) {
			return x.errorf(f.handed,
				"a function is called by a library, and exceptions that leave it are not supported")
		}
		x.fail(f)
		for _, p := range f.pads {
			handlers = append(handlers, p.classes...)
			if b := f.blocks[p.label]; len(p.classes) > 0 && !b.fails {
				goesOn = append(goesOn, p.classes...)
			}
		}
	}
	for _, s := range x.sites {
		for _, handler := range handlers {
			isPointer := func(class string) bool { return strings.HasPrefix(class, "P") }
			switch {
			case s.class == "" || handler == "" || handler == s.class:
			case isPointer(s.class) && isPointer(handler) && !x.catches(handler, s.class):
				return x.errorf(s.line,
					"an exception that is a pointer to another type than that of a handler is not supported")
			case x.refuses[s.class] != "" && x.catches(handler, s.class):
				return x.errorf(s.line, "the class of the exception %s: that is not supported", x.refuses[s.class])
			}
		}
		s.goes = s.class == "" || slices.ContainsFunc(goesOn, func(handler string) bool {
			return x.catches(handler, s.class)
		})
	}
	return nil
}

// isDefined reports whether a line calls a function of the module.
func (x *Exceptions) isDefined(line string) bool {
	call := calleeOf.FindStringSubmatch(line)
	return call != nil && x.byName[resolved(x.aliases, call[1])] != nil &&
		x.byName[resolved(x.aliases, call[1])].end > 0
}

// endsWithError matches calls that end the program with an error.
var endsWithError = regexp.MustCompile(
	`@(abort|P?MPI_Abort|__assert_fail|_ZSt9terminatev|__clang_call_terminate|__cxa_rethrow)\(|` +
		`@_?(e|E)xit\(i32 (noundef )?-?[1-9]`)

// fail finds the blocks of a function after which nothing comes but an end with an error, or that an exception
// goes on to others.
func (x *Exceptions) fail(f *catcher) {
	for again := true; again; {
		again = false
		for _, b := range slices.Backward(f.order) {
			if b.fails {
				continue
			}
			all := len(b.next) > 0 && !b.stops
			for _, label := range b.next {
				all = all && f.blocks[label] != nil && f.blocks[label].fails
			}
			if all || slices.ContainsFunc(b.calls, endsWithError.MatchString) {
				b.fails, again = true, true
			}
		}
	}
	x.failLoops(f)
}

// failLoops notes that loops fail that nothing leaves but to blocks that fail, such as those that destroy an array.
func (x *Exceptions) failLoops(f *catcher) {
	goes := map[*ehBlock]bool{}
	for _, c := range f.calls {
		goes[c.in] = goes[c.in] || c.unwind == "" && x.mayThrow(c)
	}
	for again := true; again; {
		again = false
		for _, b := range slices.Backward(f.order) {
			if b.fails || goes[b] {
				continue
			}
			if b.stops || len(b.next) == 0 || slices.ContainsFunc(b.next, func(label string) bool {
				next := f.blocks[label]
				return next == nil || !next.fails && goes[next]
			}) {
				goes[b], again = true, true
			}
		}
	}
	for _, b := range f.order {
		b.fails = b.fails || !goes[b]
	}
}
