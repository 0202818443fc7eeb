package slicing

import (
	"bytes"
	"testing"
)

func TestPlainMembers(t *testing.T) {
	const call = "  %moved = getelementptr inbounds i8, ptr %this, i64 %memptr.adj3\n" +
		"  br i1 %memptr.isvirtual4, label %a, label %b\n"
	const plain = "@f = global { i64, i64 } { i64 ptrtoint (ptr @g to i64), i64 0 }\n"
	for _, tt := range []struct {
		name, constants string
		virtual, moved  bool
	}{
		{"None", "", false, false},
		{"Plain", plain, false, false},
		{"Virtual", plain + "@v = global { i64, i64 } { i64 17, i64 0 }\n", true, false},
		{"Moved", plain + "  store { i64, i64 } { i64 ptrtoint (ptr @h to i64), i64 8 }, ptr %p\n", false, true},
		{"Null", "@n = global { i64, i64 } { i64 0, i64 0 }\n", false, false},
		{"Converted", plain + "  %c = insertvalue { i64, i64 } %m, i64 %a, 1\n", true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := plainMembers([]byte(tt.constants + call))
			if virtual := bytes.Contains(got, []byte("br i1 %memptr")); virtual != tt.virtual {
				t.Errorf("virtual functions: %v, want %v", virtual, tt.virtual)
			}
			if moved := bytes.Contains(got, []byte("i64 %memptr.adj3")); moved != tt.moved {
				t.Errorf("objects that move: %v, want %v", moved, tt.moved)
			}
		})
	}
}

func TestWithoutAtomics(t *testing.T) {
	got := string(withoutAtomics([]byte("" +
		"  %0 = atomicrmw add ptr %p, i32 -1 acq_rel, align 4, !dbg !7\n  fence seq_cst\n" +
		"  %1 = load atomic i32, ptr %p monotonic, align 4\n  store atomic i64 %v, ptr %q seq_cst, align 8\n")))
	const want = "  %0 = load i32, ptr %p, align 4, !dbg !7\n  %reprise.count1 = add i32 %0, -1, !dbg !7\n" +
		"  store i32 %reprise.count1, ptr %p, align 4, !dbg !7\n\n  %1 = load i32, ptr %p, align 4\n" +
		"  store i64 %v, ptr %q, align 8\n"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestWithoutStatus checks that what functions of MPI return is MPI_SUCCESS, unless the program handles errors.
func TestWithoutStatus(t *testing.T) {
	call := "  %call = call i32 @MPI_Send(ptr %0, i32 (1)) #3, !dbg !7\n"
	invoke := "  %call2 = invoke i32 @MPI_Recv(ptr %0)\n          to label %cont unwind label %lpad, !dbg !8\n"
	other := "  %size = call i32 @MPIX_other(ptr %0)\n  %x = call double @MPI_Wtime()\n"
	for _, tt := range []struct{ text, want string }{
		{call, "  %call.status = call i32 @MPI_Send(ptr %0, i32 (1)) #3, !dbg !7\n  %call = add i32 0, 0, !dbg !7\n"},
		{invoke, "  %call2.status = call i32 @MPI_Recv(ptr %0), !dbg !8\n  %call2 = add i32 0, 0, !dbg !8\n" +
			"  br label %cont, !dbg !8\n"},
		{other, other},
		{call + "  call i32 @MPI_Comm_set_errhandler(i32 1, i32 2)\n",
			call + "  call i32 @MPI_Comm_set_errhandler(i32 1, i32 2)\n"},
	} {
		if got := string(withoutStatus([]byte(tt.text))); got != tt.want {
			t.Errorf("%s\nwant\n%s", got, tt.want)
		}
	}
}

func TestHasOwnAllocators(t *testing.T) {
	for text, want := range map[string]bool{
		"define ptr @_ZNSt15__new_allocatorIiE8allocateEmPKv(":     false,
		"call ptr @_ZN9__gnu_cxx13new_allocatorIiE8allocateEmPKv(": false,
		"define ptr @_ZN5ArenaIiE8allocateEm(":                     true,
		"call ptr @_ZNSt3pmr20get_default_resourceEv()":            true,
		"call ptr @_Znwm(": false,
	} {
		if got := hasOwnAllocators([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
