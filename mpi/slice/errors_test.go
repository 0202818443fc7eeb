package slice_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/mpi/slice"
)

// TestReadErrors checks which conditions lead to an error only, through a function that does, and not to an exit
// with 0.
func TestReadErrors(t *testing.T) {
	_, assumed := slice.ReadErrors(conditions(t), nil).Assume(nil)
	if got := fmt.Sprint(assumed); got != "[conditions.c:23:6 never true]" {
		t.Errorf("%s", got)
	}
	text, _, err := slice.Assume(conditions(t),
		[]slice.Assumption{{Position: slice.Position{File: "conditions.c", Line: 23}}})
	if err != nil {
		t.Fatal(err)
	}
	if e := slice.ReadErrors(text, nil); e.Len() != 0 {
		t.Errorf("%d conditions that something is assumed of", e.Len())
	}
}

// TestReadErrorsFlang checks that the first label is where a condition of Flang leads that is true, and that
// errors of Fortran are known.
func TestReadErrorsFlang(t *testing.T) {
	text := "define void @f_() {\n  br i1 %1, label %2, label %3, !dbg !1\n\n2:\n" +
		"  %4 = call {} @_FortranAStopStatement(i32 CODE, i1 ERROR, i1 false), !dbg !1\n  unreachable\n\n3:\n  ret void\n}\n" +
		"!1 = !DILocation(line: 7, column: 3, scope: !2)\n!2 = !DISubprogram(file: !3)\n!3 = !DIFile(filename: \"a.f\")\n"
	for _, tt := range []struct {
		code, error string
		want        bool
	}{{"0", "false", false}, {"0", "true", true}, {"3", "false", true}} {
		of := strings.NewReplacer("CODE", tt.code, "ERROR", tt.error).Replace(text)
		got, assumed := slice.ReadErrors([]byte(of), nil).Assume(nil)
		if (len(assumed) == 1) != tt.want ||
			slices.Contains(strings.Split(string(got), "\n"), "  br i1 false, label %2, label %3, !dbg !1") != tt.want {
			t.Errorf("%v: %v\n%s", tt, assumed, got)
		}
	}
}

// erring returns a module that ends with an error if a value is less than 0, which instructions make.
func erring(instructions string) string {
	return `
declare i32 @MPI_Comm_rank(i32, ptr)
declare i32 @MPI_Bcast(ptr, i32, i32, i32, i32)
declare ptr @malloc(i64)
declare void @abort()
declare i32 @rand()

define i32 @main() {
entry:
  %rank = alloca i32
  %kept = alloca i32
  %left = alloca i32
  store i32 3, ptr %kept
  store i32 4, ptr %left
  %call = call i32 @MPI_Comm_rank(i32 1140850688, ptr %rank)
  %n = load i32, ptr %kept
  %call2 = call i32 @MPI_Bcast(ptr %left, i32 %n, i32 1275069445, i32 0, i32 1140850688)
  ` + strings.ReplaceAll(instructions, "; ", "\n  ") + `
  %cmp = icmp slt i32 %x, 0
  br i1 %cmp, label %if.then, label %if.end, !dbg !1

if.then:
  call void @abort()
  unreachable

if.end:
  ret i32 0
}

!1 = !DILocation(line: 7, column: 3, scope: !2)
!2 = !DISubprogram(file: !3)
!3 = !DIFile(filename: "a.c")
`
}

// TestNeedless checks which errors are assumed not to be met: those that are decided by more memory or messages
// than the calls of MPI need.
func TestNeedless(t *testing.T) {
	for _, tt := range []struct {
		name, instructions string
		needless           bool
	}{
		{"Number", "%x = load i32, ptr %rank", false},
		{"Kept", "%x = load i32, ptr %kept", false},
		{"Computed", "%a = load i32, ptr %kept; %b = load i32, ptr %rank; %x = sub i32 %a, %b", false},
		{"LeftOut", "store i32 %n, ptr %left; %x = load i32, ptr %left", true},
		{"Received", "%x = load i32, ptr %left", true},
		{"Allocated", "%p = call ptr @malloc(i64 8); %q = ptrtoint ptr %p to i64; %x = trunc i64 %q to i32", true},
		{"Library", "%x = call i32 @rand()", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := slice.ReadErrors([]byte(erring(tt.instructions)), nil)
			m, err := slice.Read(e.Probed())
			if err != nil {
				t.Fatal(err)
			}
			which, err := e.Needless(m, slice.Options{Wildcards: true, AnySource: -2, AnyTag: -1})
			if err != nil || (len(which) == 1) != tt.needless {
				t.Errorf("%v, %v", which, err)
			}
			if _, assumed := e.Assume(which); len(assumed) != len(which) {
				t.Errorf("%v", assumed)
			}
		})
	}
	e := slice.ReadErrors([]byte(erring("%x = load i32, ptr %kept")), nil)
	m, err := slice.Read([]byte(strings.ReplaceAll(string(e.Probed()), "i1 %cmp", "i1 false")))
	if err != nil {
		t.Fatal(err)
	}
	which, err := e.Needless(m, slice.Options{})
	if _, assumed := e.Assume(which); err != nil || len(which) != 1 || len(assumed) != 0 {
		t.Errorf("a condition that is a constant: %v, assumed %v, %v", which, assumed, err)
	}
}
