package slice

import (
	_ "embed" // for what exceptions are made of
	"fmt"
	"maps"
	"slices"
	"strings"
)

// support writes the variables and functions that what is written uses.
func (x *Exceptions) support() {
	x.printf("\n@reprise.exception = internal global ptr null\n@reprise.class = internal global i32 0\n" +
		"@reprise.caught = internal global ptr null\n@reprise.thrown = internal global i8 0\n")
	for _, f := range x.functions {
		if f.throws && !f.taken {
			x.printf("%s = internal global i8 0\n", f.flag())
		}
	}
	x.declare("@calloc", "declare ptr @calloc(i64, i64)")
	x.declare("@free", "declare void @free(ptr)")
	x.declare("@_ZSt9terminatev", "declare void @_ZSt9terminatev()")
	for _, line := range x.declared {
		x.printf("%s\n", line)
	}
	group := "" // functions are inlined in those that are for the same processor
	if main := x.byName["@main"]; main != nil && main.end > 0 {
		group = groupOf.FindString(x.m.lines[main.start])
	}
	x.printf("%s", strings.ReplaceAll(exceptionSupport, " #9999", group))
}

// Before an exception are 32 bytes: the number of its class, how many handlers have it, less than 0 if it is
// thrown again, the function that destroys it, the one that was caught before, and what a handler gets.
//
//go:embed exceptions.ll
var exceptionSupport string

// AppendText appends the text of the module without exceptions.
func (x *Exceptions) AppendText(dst []byte) []byte {
	x.dst, x.next, x.declared = dst, 0, nil
	n := 0
	for _, f := range x.functions {
		for ; n < f.start; n++ {
			x.printf("%s\n", x.m.lines[n])
		}
		x.write(f)
		n = f.end + 1
	}
	for ; n < len(x.m.lines); n++ {
		line := x.m.lines[n]
		if strings.HasPrefix(line, "attributes #") { // what throws returns
			line = strings.ReplaceAll(line, " noreturn ", " cold ")
		}
		x.printf("%s\n", line)
	}
	x.support()
	return x.dst
}

func (x *Exceptions) printf(format string, args ...any) { x.dst = fmt.Appendf(x.dst, format, args...) }

// fresh returns a name that is new.
func (x *Exceptions) fresh() string {
	x.next++
	return fmt.Sprint("reprise.", x.next)
}

// flag returns the variable that says that an exception has left a function.
func (f *catcher) flag() string {
	if f == nil || f.taken {
		return "@reprise.thrown"
	}
	return fmt.Sprint("@reprise.thrown.", f.number)
}

// leave writes that an exception leaves a function.
func (x *Exceptions) leave(f *catcher, debug string) {
	switch {
	case f.starts:
		x.printf("  call void @_ZSt9terminatev()%s\n  unreachable%s\n", debug, debug)
	case !f.throws:
		x.printf("  unreachable%s\n", debug)
	default:
		x.printf("  store i8 1, ptr %s%s\n", f.flag(), debug)
		if f.result == "void" {
			x.printf("  ret void%s\n", debug)
		} else {
			x.printf("  ret %s zeroinitializer%s\n", f.result, debug)
		}
	}
}

// write writes a function.
func (x *Exceptions) write(f *catcher) {
	begin := len(x.dst)
	head := strings.Replace(x.m.lines[f.start], " personality ptr @__gxx_personality_v0", "", 1)
	x.printf("%s\n", head)
	label, ended := "", false
	renamed := map[string]string{}
	for n := f.start + 1; n <= f.end; n++ {
		line := x.m.lines[n]
		if l := labelLine.FindStringSubmatch(line); l != nil {
			label, ended = "%"+l[1], false
		}
		switch {
		case ended && line != "}":
			continue
		case line == "" || line[0] != ' ':
			x.printf("%s\n", line)
			continue
		}
		end := n
		for strings.HasPrefix(x.m.lines[end+1], "          ") {
			end++
		}
		whole := strings.Join(x.m.lines[n:end+1], "\n")
		last := x.instructionOf(f, whole, &ended)
		if last != "" && label != "" {
			renamed[label] = last
		}
		n = end
	}
	if len(renamed) > 0 { // values of a block come from where it ends now
		lines := strings.Split(string(x.dst[begin:]), "\n")
		for k, line := range lines {
			if strings.Contains(line, " = phi ") {
				lines[k] = phiOf.ReplaceAllStringFunc(line, func(part string) string {
					of := phiOf.FindStringSubmatch(part)
					if to := renamed[of[2]]; to != "" {
						return of[1] + to + of[3]
					}
					return part
				})
			}
		}
		x.dst = append(x.dst[:begin], strings.Join(lines, "\n")...)
	}
}

// replaced has what stands for functions of the library that handle exceptions.
var replaced = strings.NewReplacer("@__cxa_allocate_exception(", "@reprise.allocate(", "@__cxa_free_exception(",
	"@reprise.free(", "@__cxa_begin_catch(", "@reprise.begin(", "@__cxa_end_catch(", "@reprise.end(",
	"@__cxa_get_exception_ptr(", "@reprise.pointer(")

// instructionOf writes an instruction, and returns the label of the block that it goes on in if that is another
// one.
func (x *Exceptions) instructionOf(f *catcher, text string, ended *bool) (label string) {
	debug := debugOf.FindString(text)
	call := calleeOf.FindStringSubmatch(text)
	if call == nil || strings.Contains(text, " asm ") {
		switch resume := resumed.FindStringSubmatch(text); {
		case resume != nil:
			p := x.fresh()
			x.printf("  %%%s = extractvalue { ptr, i32 } %s, 0%s\n", p, resume[1], debug)
			x.printf("  call void @reprise.resume(ptr %%%s)%s\n", p, debug)
			x.leave(f, debug)
			*ended = true
		case strings.Contains(text, " = landingpad "):
			return x.landing(f, text, debug)
		default:
			x.printf("%s\n", text)
		}
		return ""
	}
	c := ehCall{}
	if call[1][0] == '@' {
		c.callee = resolved(x.aliases, call[1])
	}
	to := unwindsTo.FindStringSubmatch(text)
	plain := text
	if to != nil {
		plain = strings.Replace(text[:strings.Index(text, "\n")], "invoke ", "call ", 1) + debug
		c.unwind = to[2]
	}
	switch {
	case strings.HasPrefix(c.callee, "@llvm.eh.typeid.for"):
		name, _, _ := strings.Cut(plain, " = ")
		class := ""
		if of := typeInfo.FindStringSubmatch(plain); of != nil {
			class = of[1]
		}
		x.printf("%s = add i32 %d, 0%s\n", name, x.typeNumber(class), debug)
	case isThrow(c.callee):
		x.throw(c.callee, plain, debug)
		if to == nil {
			x.leave(f, debug)
			*ended = true
		} else {
			x.printf("  br label %s%s\n", c.unwind, debug)
		}
	case !x.mayThrow(c):
		x.printf("%s\n", replaced.Replace(plain))
		if to != nil {
			x.printf("  br label %s%s\n", to[1], debug)
		}
	default:
		x.printf("%s\n", groupOf.ReplaceAllString(plain, ""))
		var callee *catcher
		if c.callee != "" {
			callee = x.byName[c.callee]
		}
		is, test, out, on := x.fresh(), x.fresh(), x.fresh(), x.fresh()
		x.printf("  %%%s = load i8, ptr %s%s\n  %%%s = icmp ne i8 %%%s, 0%s\n", is, callee.flag(), debug,
			test, is, debug)
		if to != nil {
			x.printf("  br i1 %%%s, label %%%s, label %s%s\n", test, out, to[1], debug)
		} else {
			x.printf("  br i1 %%%s, label %%%s, label %%%s%s\n", test, out, on, debug)
		}
		x.printf("\n%s:\n  store i8 0, ptr %s%s\n", out, callee.flag(), debug)
		if to != nil {
			x.printf("  br label %s%s\n", to[2], debug)
			return ""
		}
		x.leave(f, debug)
		x.printf("\n%s:\n", on)
		return "%" + on
	}
	return ""
}

// landing writes what a landing pad gives: the exception, and the number of the type of the handler that takes
// it, 0 if none does.
func (x *Exceptions) landing(f *catcher, text, debug string) (label string) {
	name, _, _ := strings.Cut(strings.TrimSpace(text), " = ")
	exception, class := x.fresh(), x.fresh()
	x.printf("  %%%s = load ptr, ptr @reprise.exception%s\n  %%%s = load i32, ptr @reprise.class%s\n", exception, debug,
		class, debug)
	var handlers []string
	for _, c := range catches.FindAllStringSubmatch(text, -1) {
		handlers = append(handlers, strings.TrimPrefix(strings.TrimPrefix(c[1], "@_ZTI"), "null"))
	}
	selected := "0"
	for _, handler := range slices.Backward(handlers) {
		if handler == "" {
			selected = fmt.Sprint(x.typeNumber(""))
			continue
		}
		for _, thrown := range slices.Sorted(maps.Keys(x.types)) {
			if thrown == "" || !x.catches(handler, thrown) {
				continue
			}
			same, next := x.fresh(), x.fresh()
			x.printf("  %%%s = icmp eq i32 %%%s, %d%s\n", same, class, x.types[thrown], debug)
			x.printf("  %%%s = select i1 %%%s, i32 %d, i32 %s%s\n", next, same, x.typeNumber(handler), selected, debug)
			selected = "%" + next
		}
	}
	if f.throws && !strings.Contains(text, "\n          cleanup") && !slices.Contains(handlers, "") {
		none, out, on := x.fresh(), x.fresh(), x.fresh()
		x.printf("  %%%s = icmp eq i32 %s, 0%s\n  br i1 %%%s, label %%%s, label %%%s%s\n\n%s:\n", none, selected, debug,
			none, out, on, debug, out)
		x.leave(f, debug)
		x.printf("\n%s:\n", on)
		label = "%" + on
	}
	part := x.fresh()
	x.printf("  %%%s = insertvalue { ptr, i32 } poison, ptr %%%s, 0%s\n", part, exception, debug)
	x.printf("  %s = insertvalue { ptr, i32 } %%%s, i32 %s, 1%s\n", name, part, selected, debug)
	return label
}

// throw writes that something is thrown.
func (x *Exceptions) throw(callee, text, debug string) {
	if callee == "@__cxa_rethrow" {
		x.printf("  call void @reprise.rethrow()%s\n", debug)
		return
	}
	if of := thrownHere.FindStringSubmatch(text); of != nil {
		pointer := of[1]
		if strings.HasPrefix(of[2], "P") {
			pointer = "%" + x.fresh()
			x.printf("  %s = load ptr, ptr %s%s\n", pointer, of[1], debug)
		}
		x.printf("  call void @reprise.raise(ptr %s, i32 %d, ptr %s, ptr %s)%s\n", of[1], x.typeNumber(of[2]), of[3],
			pointer, debug)
		return
	}
	t := throwers[strings.TrimPrefix(callee, "@")]
	object := x.fresh()
	x.printf("  %%%s = call ptr @reprise.allocate(i64 64)%s\n", object, debug)
	destructor := className(t.class, "D1Ev")
	if t.hasText {
		constructor := className(t.class, "C1EPKc")
		_, arguments, _ := strings.Cut(text, callee+"(")
		message, _, _ := strings.Cut(arguments[:strings.LastIndex(arguments, ")")], ", ")
		x.printf("  call void @%s(ptr %%%s, %s)%s\n", constructor, object, message, debug)
		x.declare("@"+constructor, "declare void @"+constructor+"(ptr, ptr)")
	} else { // its class has no constructor in the library: its table is all that it has
		table := "@_ZTV" + t.class
		x.printf("  store ptr getelementptr inbounds (i8, ptr %s, i64 16), ptr %%%s%s\n", table, object, debug)
		x.declare(table, table+" = external constant { [5 x ptr] }")
	}
	x.declare("@"+destructor, "declare void @"+destructor+"(ptr)")
	x.printf("  call void @reprise.raise(ptr %%%s, i32 %d, ptr @%s, ptr %%%s)%s\n", object, x.typeNumber(t.class),
		destructor, object, debug)
}

// className returns the name of a member of a class.
func className(class, member string) string { return "_ZN" + class + member }

func (x *Exceptions) declare(name, line string) {
	if !x.known[name] {
		x.known[name] = true
		x.declared = append(x.declared, line)
	}
}
