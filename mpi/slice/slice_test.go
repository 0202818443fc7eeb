package slice_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/mpi/slice"
)

// ring is made of testdata/ring.c by Clang and opt, as package slicing does it, with MPICH.
func ring(t testing.TB) []byte {
	text, err := os.ReadFile("testdata/ring.ll")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func cut(t testing.TB, text []byte) *slice.Slice {
	m, err := slice.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := slice.Cut(m, slice.Options{Wildcards: true, AnySource: -2, AnyTag: -1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCut checks which lines are kept: lengths, the test of them, the loop with the sum that it depends on,
// and no computation.
func TestCut(t *testing.T) {
	s := cut(t, ring(t))
	kept := func(line int) bool { return s.Explain(slice.Position{File: "ring.c", Line: line}) != nil }
	for _, line := range []int{18, 19, 20, 25, 26, 29, 30, 31, 33, 34, 38, 39} {
		if !kept(line) {
			t.Errorf("line %d is left out", line)
		}
	}
	for _, line := range []int{10, 11, 12, 13, 32, 36, 37} {
		if kept(line) {
			t.Errorf("line %d is kept: %v", line, s.Explain(slice.Position{File: "ring.c", Line: line}))
		}
	}
	for _, c := range s.Calls() {
		if want := c.Function != "MPI_Send" && c.Function != "MPI_Recv"; c.Executed != want {
			t.Errorf("%s at %v: executed: %v", c.Function, c.Position, c.Executed)
		}
	}
	if needed := s.Needed(); len(needed) != 1 || needed[0].Group != "Allreduce" ||
		needed[0].Reader.Line != 31 || needed[0].Call.Line != 30 {
		t.Errorf("needed: %v", needed)
	}
	counts := s.Counts()
	if len(counts) != 1 || counts[0].Kept == 0 || counts[0].Kept > counts[0].All*3/4 {
		t.Errorf("counts: %v", counts)
	}
}

// TestExplain checks that each chain begins at the line and ends at a call that is kept in any case.
func TestExplain(t *testing.T) {
	s := cut(t, ring(t))
	for line := range 45 {
		at := slice.Position{File: "ring.c", Line: line}
		chain := s.Explain(at)
		if chain == nil {
			continue
		}
		end := chain[len(chain)-1]
		if chain[0].Line != line || end.How != "is a call of MPI" && end.How != "ends the program" {
			t.Errorf("%v: %v", at, chain)
		}
	}
}

// TestAppendText checks that a slice is a module that can be read and sliced again, and that nothing of it is
// left out then.
func TestAppendText(t *testing.T) {
	s := cut(t, ring(t))
	text, err := s.AppendText([]byte("; before\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "@" + slice.ExecutedSymbol + ` = constant [12 x i8] c" Allreduce \00"`; !strings.Contains(
		string(text), want) {
		t.Errorf("the slice has no %s", want)
	}
	again := cut(t, text)
	if !slices.Equal(again.Needed(), s.Needed()) {
		t.Errorf("needed: %v, of the slice %v", s.Needed(), again.Needed())
	}
	if kept, before := again.Counts()[0], s.Counts()[0]; kept.Kept > before.Kept {
		t.Errorf("%d instructions are kept of a slice of %d", kept.Kept, before.Kept)
	}
}

// TestOpen checks that all operations are executed if a receive may be from any source.
func TestOpen(t *testing.T) {
	m, err := slice.Read(ring(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := slice.Cut(m, slice.Options{})
	if err != nil {
		t.Fatal(err)
	}
	open, ok := s.Open()
	if !ok || open.Function != "MPI_Recv" || open.Line != 34 {
		t.Errorf("open: %v %v", open, ok)
	}
	for _, c := range s.Calls() {
		if !c.Executed {
			t.Errorf("%v is not executed", c)
		}
	}
}

const (
	mainOf = "define i32 @main() {\nbb:\n%s\n  ret i32 0\n}\n"
	debug  = `!1 = distinct !DISubprogram(name: "main", file: !2)
!2 = !DIFile(filename: "a.c", directory: "/")
!3 = !DILocation(line: 7, column: 3, scope: !4)
!4 = distinct !DILexicalBlock(scope: !1, file: !2, line: 6)
`
)

// TestErrors checks that what cannot be read or sliced says where it is.
func TestErrors(t *testing.T) {
	in := func(instructions string) string { return strings.Replace(mainOf, "%s", instructions, 1) + debug }
	for _, tt := range []struct{ name, text, want string }{
		{"Nothing", "what\n", `line 1 of the module of LLVM: "what" is nothing that is known`},
		{"Assembly", "module asm \"nop\"\n", "line 1 of the module of LLVM: assembly in the module is not supported"},
		{"NoMain", "declare void @f()\n", "the program has no main: all of its sources must be given"},
		{"NoEnd", "define void @main() {\nbb:\n  ret void\n", "@main has no end"},
		{"NoLabel", "define void @main() {\n  ret void\n}\n",
			"line 2 of the module of LLVM: the first block of @main has no name"},
		{"NoBlock", in("  br label %x, !dbg !3"), "there is something behind the end of %bb"},
		{"BlockIsMissing", "define void @main() {\nbb:\n  br label %x\n}\n",
			"line 3 of the module of LLVM: there is no block %x"},
		{"Value", in("  store i32 %x, ptr null, !dbg !3"), "a.c:7: there is no value %x"},
		{"Twice", in("  %x = alloca i32\n  %x = alloca i32, !dbg !3"), "a.c:7: %x is there twice"},
		{"Type", in("  %x = alloca i33x, !dbg !3"), `a.c:7: "i33x" is no type that is known`},
		{"Cycle", "%a = type { %a }\n", "a type contains itself"},
		{"Deep", "@a = global " + strings.Repeat("[1 x ", 100) + "i8" + strings.Repeat("]", 100) +
			" zeroinitializer\n", "line 1 of the module of LLVM: types or constants are nested more than 50 deep"},
		{"Atomic", in("  %x = load atomic i32, ptr null seq_cst, align 4, !dbg !3"),
			"a.c:7: atomic operations are not supported"},
		{"Exchange", in("  %x = atomicrmw add ptr null, i32 1 seq_cst, !dbg !3"),
			"a.c:7: the instruction atomicrmw is not supported"},
		{"InlineAssembly", in("  call void asm sideeffect \"nop\", \"\"(), !dbg !3"),
			"a.c:7: assembly is not supported"},
		{"ThreadLocal", "@a = thread_local global i32 0\n", "threads are not supported"},
		{"Threads", "declare i32 @pthread_create(ptr)\n" +
			in("  %x = call i32 @pthread_create(ptr null), !dbg !3"),
			"a.c:7: pthread_create: threads are not supported"},
		{"LongJump", "declare i32 @_setjmp(ptr)\n" + in("  %x = call i32 @_setjmp(ptr null), !dbg !3"),
			"a.c:7: _setjmp: long jumps are not supported"},
		{"OneSided", "declare i32 @MPI_Win_fence(i32, i32)\n" +
			in("  %x = call i32 @MPI_Win_fence(i32 0, i32 0), !dbg !3"), "a.c:7: MPI_Win_fence is not supported"},
		{"File", "declare i32 @MPI_File_sync(ptr)\n" + in(
			"  %x = call i32 @MPI_File_sync(ptr null), !dbg !3"), "a.c:7: MPI_File_sync is not supported"},
		{"Unknown", "declare i32 @MPI_Telepathy()\n" + in("  %x = call i32 @MPI_Telepathy(), !dbg !3"),
			"a.c:7: MPI_Telepathy is no function of MPI that is known"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := slice.Read([]byte(tt.text))
			if err == nil {
				_, err = slice.Cut(m, slice.Options{})
			}
			var known *slice.Error
			if !errors.As(err, &known) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
