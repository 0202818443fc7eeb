package slice

import (
	"strings"
	"testing"
)

// throwing returns a module with a function that throws and one that catches.
func throwing(class, handler string) string {
	return strings.NewReplacer("CLASS", class, "HANDLER", handler).Replace(`
@_ZTI1B = constant { ptr, ptr } { ptr null, ptr null }
@_ZTI1D = constant { ptr, ptr, ptr } { ptr null, ptr null, ptr @_ZTI1B }
@_ZTI1V = constant { ptr, ptr, i32, i32, ptr, i64 } { ptr @_ZTVN10__cxxabiv121__vmi_class_type_infoE, ptr null, i32 0, i32 1, ptr @_ZTI1B, i64 -8189 }
@_ZTI1P = constant { ptr, ptr, i32, i32, ptr, i64 } { ptr @_ZTVN10__cxxabiv121__vmi_class_type_infoE, ptr null, i32 0, i32 1, ptr @_ZTI1B, i64 0 }
@_ZTVN10__cxxabiv121__vmi_class_type_infoE = external global ptr
@_ZTIPKc = external constant ptr
@_ZTIPi = external constant ptr
declare ptr @__cxa_allocate_exception(i64)
declare void @__cxa_throw(ptr, ptr, ptr)
declare ptr @__cxa_begin_catch(ptr)
declare void @__cxa_end_catch()
declare i32 @__gxx_personality_v0(...)

define i32 @thrower(i32 %x) {
entry:
  %cmp = icmp eq i32 %x, 0
  br i1 %cmp, label %if.then, label %if.end, !dbg !1

if.then:
  %e = call ptr @__cxa_allocate_exception(i64 8)
  call void @__cxa_throw(ptr %e, ptr @_ZTICLASS, ptr null) #1
  unreachable

if.end:
  ret i32 %x
}

define i32 @main() personality ptr @__gxx_personality_v0 {
entry:
  %call = invoke i32 @thrower(i32 1)
          to label %cont unwind label %lpad

cont:
  ret i32 %call

lpad:
  %0 = landingpad { ptr, i32 }
          catch ptr HANDLER
  %1 = extractvalue { ptr, i32 } %0, 0
  %2 = call ptr @__cxa_begin_catch(ptr %1)
  call void @__cxa_end_catch()
  ret i32 7
}

!1 = !DILocation(line: 7, column: 3, scope: !2)
!2 = !DISubprogram(file: !3)
!3 = !DIFile(filename: "a.cc")
`)
}

func TestReadExceptions(t *testing.T) {
	for _, tt := range []struct {
		name, class, handler string
		errors               int // conditions of exceptions that no handler goes on from
		want                 string
	}{
		{"Same", "1B", "@_ZTI1B", 0, ""},
		{"Base", "1D", "@_ZTI1B", 0, ""},
		{"Derived", "1B", "@_ZTI1D", 1, ""},
		{"All", "1B", "null", 0, ""},
		{"Other", "1B", "@_ZTIPKc", 1, ""},
		{"VirtualBase", "1V", "@_ZTI1B", 0, "base class that is virtual or not its first"},
		{"PrivateBase", "1P", "@_ZTI1B", 1, ""},
		{"Pointers", "PKc", "@_ZTIPi", 0, "pointer to another type"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, err := ReadExceptions([]byte(throwing(tt.class, tt.handler)))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%v, want %q", err, tt.want)
			}
			if err != nil {
				return
			}
			e := ReadErrors([]byte(throwing(tt.class, tt.handler)), x)
			if got := e.Len(); got != tt.errors {
				t.Errorf("%d errors, want %d", got, tt.errors)
			}
			text := string(x.AppendText(nil))
			for _, gone := range []string{"invoke", "landingpad", "@__cxa_throw(ptr %", " personality "} {
				if strings.Contains(text, gone) {
					t.Errorf("%s is left", gone)
				}
			}
			if strings.Contains(string(e.Probed()), "call void @"+probe+"0(i1 %cmp), !dbg !1") != (tt.errors > 0) {
				t.Errorf("probes:\n%s", e.Probed())
			}
			if _, err := Read([]byte(text)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReadExceptionsRefused(t *testing.T) {
	for _, tt := range []struct{ name, old, new, want string }{
		{"Filter", "catch ptr null", "filter [0 x ptr] zeroinitializer", "a function says that it throws"},
		{"Pointer", "call void @__cxa_end_catch()", "call void @_ZSt17current_exceptionv(ptr %1)", "kept or asked for"},
		{"Callback", "@thrower(i32 1)", "@outside(ptr @thrower)", "called by a library"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(throwing("1B", "null"), tt.old, tt.new, 1)
			if _, err := ReadExceptions([]byte(text)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
	if x, err := ReadExceptions([]byte("define void @main() {\nentry:\n  ret void\n}\n")); x != nil || err != nil {
		t.Errorf("%v, %v without exceptions", x, err)
	}
}

// TestErrorsOfHandlers checks which handlers and constructors of exceptions lead to errors only.
func TestErrorsOfHandlers(t *testing.T) {
	const ends, throw = "call void @__cxa_end_catch()\n  ret i32 7", "  call void @__cxa_throw(ptr %e"
	loop := func(in string) string {
		return "br label %loop\n\nloop:\n  " + in + "\n  br i1 %c, label %end, label %loop\n\nend:\n" +
			"  call void @abort()\n  unreachable"
	}
	constructor := "  invoke void @make(ptr %e)\n          to label %made unwind label %pad\n\npad:\n" +
		"  %5 = landingpad { ptr, i32 }\n          cleanup\n  resume { ptr, i32 } %5\n\nmade:\n" + throw
	for _, tt := range []struct {
		name, handler, old, new, functions string
		errors                             int
	}{
		{"Abort", "null", ends, "call void @abort()\n  unreachable", "", 1},
		{"Loop", "null", ends, loop("%5 = call ptr @__cxa_begin_catch(ptr %1)"), "", 1},
		{"LoopThatExceptionsLeave", "null", ends, loop("%5 = call i32 @thrower(i32 1)"), "", 0},
		{"LoopThatReturns", "null", ends, strings.Replace(loop("call void @__cxa_end_catch()"),
			"call void @abort()\n  unreachable", "ret i32 7", 1), "", 0},
		{"Constructor", "@_ZTI1D", throw, constructor, "define void @make(ptr %p) {\n  ret void\n}\n", 1},
		{"ConstructorThatThrows", "@_ZTI1D", throw, constructor,
			"define void @make(ptr %p) {\n  %1 = call i32 @thrower(i32 0)\n  ret void\n}\n", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.Replace(throwing("1B", tt.handler), tt.old, tt.new, 1) + "declare void @abort()\n" +
				tt.functions
			x, err := ReadExceptions([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if got := ReadErrors([]byte(text), x).Len(); got != tt.errors {
				t.Errorf("%d errors, want %d", got, tt.errors)
			}
		})
	}
}

// TestNeedlessExceptions checks that an exception that is an error is assumed never to be thrown, unless it depends
// on a message and costs no data.
func TestNeedlessExceptions(t *testing.T) {
	for value, needless := range map[string]bool{"%count": false, "%r": true} {
		text := strings.Replace(`
@_ZTI1B = constant { ptr, ptr } { ptr null, ptr null }
declare ptr @__cxa_allocate_exception(i64)
declare void @__cxa_throw(ptr, ptr, ptr)
declare i32 @MPI_Comm_rank(i32, ptr)
declare i32 @MPI_Bcast(ptr, i32, i32, i32, i32)

define i32 @main() {
entry:
  %n = alloca i32
  %rank = alloca i32
  %call = call i32 @MPI_Bcast(ptr %n, i32 1, i32 1275069445, i32 0, i32 1140850688)
  %call2 = call i32 @MPI_Comm_rank(i32 1140850688, ptr %rank)
  %count = load i32, ptr %n
  %r = load i32, ptr %rank
  %call3 = call i32 @MPI_Bcast(ptr %n, i32 %count, i32 1275069445, i32 0, i32 1140850688)
  %call4 = call i32 @MPI_Bcast(ptr %n, i32 %r, i32 1275069445, i32 0, i32 1140850688)
  %cmp = icmp slt i32 VALUE, 0
  br i1 %cmp, label %if.then, label %if.end, !dbg !1

if.then:
  %e = call ptr @__cxa_allocate_exception(i64 8)
  call void @__cxa_throw(ptr %e, ptr @_ZTI1B, ptr null) #1
  unreachable

if.end:
  ret i32 0
}

!1 = !DILocation(line: 7, column: 3, scope: !2)
!2 = !DISubprogram(file: !3)
!3 = !DIFile(filename: "a.cc")
`, "VALUE", value, 1)
		x, err := ReadExceptions([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		e := ReadErrors([]byte(text), x)
		if x, err = ReadExceptions(e.Probed()); err != nil {
			t.Fatal(err)
		}
		m, err := Read(x.AppendText(nil))
		if err != nil {
			t.Fatal(err)
		}
		which, err := e.Needless(m, Options{Wildcards: true, AnySource: -2, AnyTag: -1})
		if err != nil || e.Len() != 1 || (len(which) == 1) != needless {
			t.Errorf("%s: %v of %d, %v", value, which, e.Len(), err)
		}
	}
}
