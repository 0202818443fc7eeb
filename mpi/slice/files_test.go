package slice

import (
	"fmt"
	"strings"
	"testing"
)

// TestFiles checks that all messages are sent if a process reads a file that another one may write before,
// and not if all that is written is for the console, or read only.
func TestFiles(t *testing.T) {
	for _, tt := range []struct {
		name, write string
		open        bool
	}{
		{"Nothing", "", false},
		{"List", `  %a = call ptr @_FortranAioBeginExternalListOutput(i32 20, ptr null, i32 1)
  %b = call i1 @_FortranAioOutputInteger32(ptr %a, i32 7)
  %c = call i32 @_FortranAioEndIoStatement(ptr %a)`, true},
		{"Console", "  %a = call ptr @_FortranAioBeginExternalListOutput(i32 6, ptr null, i32 1)\n  %c = call i32 @_FortranAioEndIoStatement(ptr %a)", false},
		{"Unformatted", "  %a = call ptr @_FortranAioBeginUnformattedOutput(i32 20, ptr null, i32 1)\n  %c = call i32 @_FortranAioEndIoStatement(ptr %a)", true},
		{"Namelist", "  %a = call ptr @_FortranAioBeginExternalNamelistOutput(i32 20, ptr null, i32 1)\n  %c = call i32 @_FortranAioEndIoStatement(ptr %a)", true},
		{"New", `  %a = call ptr @_FortranAioBeginOpenUnit(i32 20, ptr null, i32 1)
  %b = call i1 @_FortranAioSetStatus(ptr %a, ptr @new, i64 3)
  %c = call i32 @_FortranAioEndIoStatement(ptr %a)`, true},
		{"Old", `  %a = call ptr @_FortranAioBeginOpenUnit(i32 20, ptr null, i32 1)
  %b = call i1 @_FortranAioSetStatus(ptr %a, ptr @old, i64 3)
  %c = call i32 @_FortranAioEndIoStatement(ptr %a)`, false},
		{"OpenForReading", "  %a = call ptr @fopen(ptr @old, ptr @r)", false},
		{"OpenForWriting", "  %a = call ptr @fopen(ptr @old, ptr @w)", true},
		{"Print", "  %a = call ptr @fopen(ptr @old, ptr @r)\n  %b = call i32 (ptr, ptr, ...) @fprintf(ptr %a, ptr @r)", true},
		{"Stream", "  call void @_ZNSt14basic_ofstreamIcSt11char_traitsIcEED1Ev(ptr null)", true},
		{"OtherUnit", `  %a = call ptr @_FortranAioBeginExternalListOutput(i32 21, ptr null, i32 1)
  %c = call i32 @_FortranAioEndIoStatement(ptr %a)`, false},
		{"ComputedUnit", `  %a = call ptr @_FortranAioBeginExternalListOutput(i32 %u, ptr null, i32 1)
  %c = call i32 @_FortranAioEndIoStatement(ptr %a)`, true},
		{"OtherName", `  %o1 = call ptr @_FortranAioBeginOpenUnit(i32 20, ptr null, i32 1)
  %p1 = call i1 @_FortranAioSetFile(ptr %o1, ptr @data, i64 4)
  %q1 = call i32 @_FortranAioEndIoStatement(ptr %o1)
  %o2 = call ptr @_FortranAioBeginOpenUnit(i32 21, ptr null, i32 1)
  %p2 = call i1 @_FortranAioSetFile(ptr %o2, ptr @other, i64 5)
  %q2 = call i32 @_FortranAioEndIoStatement(ptr %o2)
  %a = call ptr @_FortranAioBeginExternalListOutput(i32 21, ptr null, i32 1)
  %c = call i32 @_FortranAioEndIoStatement(ptr %a)`, false},
		{"SameName", `  %o1 = call ptr @_FortranAioBeginOpenUnit(i32 20, ptr null, i32 1)
  %p1 = call i1 @_FortranAioSetFile(ptr %o1, ptr @data, i64 4)
  %q1 = call i32 @_FortranAioEndIoStatement(ptr %o1)
  %o2 = call ptr @_FortranAioBeginOpenUnit(i32 21, ptr null, i32 1)
  %p2 = call i1 @_FortranAioSetFile(ptr %o2, ptr @path, i64 10)
  %q2 = call i32 @_FortranAioEndIoStatement(ptr %o2)
  %a = call ptr @_FortranAioBeginExternalListOutput(i32 21, ptr null, i32 1)
  %c = call i32 @_FortranAioEndIoStatement(ptr %a)`, true},
		{"NameOfUnit", `  %o2 = call ptr @_FortranAioBeginOpenUnit(i32 21, ptr null, i32 1)
  %p2 = call i1 @_FortranAioSetFile(ptr %o2, ptr @fort, i64 7)
  %q2 = call i32 @_FortranAioEndIoStatement(ptr %o2)
  %a = call ptr @_FortranAioBeginExternalListOutput(i32 21, ptr null, i32 1)
  %c = call i32 @_FortranAioEndIoStatement(ptr %a)`, true},
		{"ComputedName", `  %o1 = call ptr @_FortranAioBeginOpenUnit(i32 20, ptr null, i32 1)
  %p1 = call i1 @_FortranAioSetFile(ptr %o1, ptr @data, i64 4)
  %q1 = call i32 @_FortranAioEndIoStatement(ptr %o1)
  %o2 = call ptr @_FortranAioBeginOpenUnit(i32 21, ptr null, i32 1)
  %p2 = call i1 @_FortranAioSetFile(ptr %o2, ptr @computed, i64 4)
  %q2 = call i32 @_FortranAioEndIoStatement(ptr %o2)
  %a = call ptr @_FortranAioBeginExternalListOutput(i32 21, ptr null, i32 1)
  %c = call i32 @_FortranAioEndIoStatement(ptr %a)`, true},
		{"ComputedUnitIsOpened", `  %o1 = call ptr @_FortranAioBeginOpenUnit(i32 %u, ptr null, i32 1)
  %p1 = call i1 @_FortranAioSetFile(ptr %o1, ptr @data, i64 4)
  %q1 = call i32 @_FortranAioEndIoStatement(ptr %o1)
  %o2 = call ptr @_FortranAioBeginOpenUnit(i32 21, ptr null, i32 1)
  %p2 = call i1 @_FortranAioSetFile(ptr %o2, ptr @other, i64 5)
  %q2 = call i32 @_FortranAioEndIoStatement(ptr %o2)
  %a = call ptr @_FortranAioBeginExternalListOutput(i32 21, ptr null, i32 1)
  %c = call i32 @_FortranAioEndIoStatement(ptr %a)`, true},
		{"ConsoleIsAnotherFile", `  %o1 = call ptr @_FortranAioBeginOpenUnit(i32 20, ptr null, i32 1)
  %p1 = call i1 @_FortranAioSetFile(ptr %o1, ptr @data, i64 4)
  %q1 = call i32 @_FortranAioEndIoStatement(ptr %o1)
  %o2 = call ptr @_FortranAioBeginOpenUnit(i32 6, ptr null, i32 1)
  %p2 = call i1 @_FortranAioSetFile(ptr %o2, ptr @data, i64 4)
  %q2 = call i32 @_FortranAioEndIoStatement(ptr %o2)
  %a = call ptr @_FortranAioBeginExternalListOutput(i32 -1, ptr null, i32 1)
  %c = call i32 @_FortranAioEndIoStatement(ptr %a)`, true},
		{"ConsoleMayBeAnotherFile", `  %o1 = call ptr @_FortranAioBeginOpenUnit(i32 %u, ptr null, i32 1)
  %p1 = call i1 @_FortranAioSetFile(ptr %o1, ptr @data, i64 4)
  %q1 = call i32 @_FortranAioEndIoStatement(ptr %o1)
  %a = call ptr @_FortranAioBeginExternalListOutput(i32 -1, ptr null, i32 1)
  %c = call i32 @_FortranAioEndIoStatement(ptr %a)`, true},
		{"OtherFileOfC", `  %a = call ptr @fopen(ptr @old, ptr @w)
  %o1 = call ptr @_FortranAioBeginOpenUnit(i32 20, ptr null, i32 1)
  %p1 = call i1 @_FortranAioSetFile(ptr %o1, ptr @data, i64 4)
  %q1 = call i32 @_FortranAioEndIoStatement(ptr %o1)`, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Read(fmt.Appendf(nil, `@new = constant [3 x i8] c"NEW"
@old = constant [3 x i8] c"old"
@r = constant [2 x i8] c"r\00"
@w = constant [2 x i8] c"w\00"
@unit = global i32 20
@data = constant [4 x i8] c"data"
@path = constant [10 x i8] c"a/b/data  "
@other = constant [5 x i8] c"other"
@fort = constant [7 x i8] c"fort.20"
@computed = global [4 x i8] c"data"
declare ptr @_FortranAioBeginExternalListOutput(i32, ptr, i32)
declare ptr @_FortranAioBeginUnformattedOutput(i32, ptr, i32)
declare ptr @_FortranAioBeginExternalNamelistOutput(i32, ptr, i32)
declare ptr @_FortranAioBeginOpenUnit(i32, ptr, i32)
declare i1 @_FortranAioSetFile(ptr, ptr, i64)
declare i1 @_FortranAioSetStatus(ptr, ptr, i64)
declare i1 @_FortranAioOutputInteger32(ptr, i32)
declare ptr @_FortranAioBeginExternalListInput(i32, ptr, i32)
declare i1 @_FortranAioInputInteger(ptr, ptr, i32)
declare i32 @_FortranAioEndIoStatement(ptr)
declare ptr @fopen(ptr, ptr)
declare i32 @fprintf(ptr, ptr, ...)
declare void @_ZNSt14basic_ofstreamIcSt11char_traitsIcEED1Ev(ptr)
declare i32 @MPI_Barrier(i32)
declare i32 @MPI_Send(ptr, i32, i32, i32, i32, i32)
define i32 @main() {
bb:
  %%n = alloca i32
  %%u = load i32, ptr @unit
%s
  %%d = call i32 @MPI_Barrier(i32 0)
  %%e = call ptr @_FortranAioBeginExternalListInput(i32 20, ptr null, i32 1)
  %%f = call i1 @_FortranAioInputInteger(ptr %%e, ptr %%n, i32 4)
  %%g = call i32 @_FortranAioEndIoStatement(ptr %%e)
  %%h = load i32, ptr %%n
  %%i = call i32 @MPI_Send(ptr null, i32 %%h, i32 1, i32 0, i32 1, i32 2)
  ret i32 0
}
`, tt.write))
			if err != nil {
				t.Fatal(err)
			}
			s, err := Cut(m, Options{Wildcards: true, AnySource: -2, AnyTag: -1})
			if err != nil {
				t.Fatal(err)
			}
			if _, open := s.Open(); open != tt.open {
				t.Errorf("open: %v", open)
			}
		})
	}
}

// BenchmarkFiles cuts modules in which all of some calls read what all of them write to files: the
// time of a call does not grow with their number.
func BenchmarkFiles(b *testing.B) {
	for _, calls := range []int{1000, 10000} {
		var text strings.Builder
		text.WriteString(`@f = external global ptr
@w = constant [2 x i8] c"w\00"
declare i32 @fprintf(ptr, ptr, ...)
declare i32 @fscanf(ptr, ptr, ...)
declare i32 @MPI_Barrier(i32)
define i32 @main() {
bb:
  %n = alloca i32
  %s = call i32 @MPI_Barrier(i32 1)
`)
		for i := range calls {
			fmt.Fprintf(&text,
				"  %%f%d = load ptr, ptr @f\n  %%w%d = call i32 (ptr, ptr, ...) @fprintf(ptr %%f%d, ptr @w)\n  %%r%d = call i32 (ptr, ptr, ...) @fscanf(ptr %%f%d, ptr @w, ptr %%n)\n", i, i, i, i, i)
		}
		text.WriteString("  %v = load i32, ptr %n\n  %b = call i32 @MPI_Barrier(i32 %v)\n  ret i32 0\n}\n")
		b.Run(fmt.Sprintf("calls=%d", calls), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				m, err := Read([]byte(text.String()))
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if _, err := Cut(m, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*calls), "ns/call")
		})
	}
}
