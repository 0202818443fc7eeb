package slice

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// pointing returns where a value of a function points to, in the order of the objects.
func pointing(t *testing.T, text, name, value string, o Options) string {
	t.Helper()
	m, err := Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSlicer(m, o)
	if err != nil {
		t.Fatal(err)
	}
	f, ok := m.named[name].(*function)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	var list []string
	for p := range s.memory.places(f.values[value].value().pts) {
		list = append(list, fmt.Sprintf("%s+%d", p.object.shown(), p.lo))
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

// classes has two classes with a virtual function each, and calls it for objects of both.
const classes = `
@_ZTV1A = constant { [4 x ptr] } { [4 x ptr] [ptr null, ptr null, ptr @__cxa_pure_virtual, ptr @a] }
@_ZTV1B = constant { [4 x ptr] } { [4 x ptr] [ptr null, ptr null, ptr @other, ptr @b] }
declare void @__cxa_pure_virtual()
declare i32 @MPI_Barrier(i32)

define void @a(ptr %this) {
entry:
  store i32 1, ptr %this
  ret void
}

define void @b(ptr %this) {
entry:
  store i32 2, ptr %this
  ret void
}

define void @other(ptr %this) {
entry:
  %call = call i32 @MPI_Barrier(i32 1)
  ret void
}

define void @each(ptr %object) {
entry:
  %table = load ptr, ptr %object
  %entry1 = getelementptr inbounds ptr, ptr %table, i64 1
  %f = load ptr, ptr %entry1
  call void %f(ptr %object)
  ret void
}

define i32 @main() {
entry:
  %x = alloca { ptr, i32 }
  %y = alloca { ptr, i32 }
  store ptr getelementptr inbounds ({ [4 x ptr] }, ptr @_ZTV1A, i32 0, inrange i32 0, i32 2), ptr %x
  store ptr getelementptr inbounds ({ [4 x ptr] }, ptr @_ZTV1B, i32 0, inrange i32 0, i32 2), ptr %y
  call void @each(ptr %x)
  call void @each(ptr %y)
  ret i32 0
}
`

// TestDispatch checks that an entry of a table of virtual functions is that function alone.
func TestDispatch(t *testing.T) {
	for function, want := range map[string]string{"@a": "x+0 y+0", "@b": "x+0 y+0", "@other": ""} {
		if got := pointing(t, classes, function, "%this", Options{}); got != want {
			t.Errorf("%s is called for %q, want %q", function, got, want)
		}
	}
	changed := strings.Replace(classes, "  %table = load", "  store ptr @b, ptr @_ZTV1A\n  %table = load", 1)
	if got := pointing(t, changed, "@b", "%this", Options{}); got != "x+0 y+0" {
		t.Errorf("a constant is written: %q", got)
	}
}

// TestNodes checks that an element of a list is where an allocation begins, unless the program has allocators.
func TestNodes(t *testing.T) {
	const text = `
%"struct.std::_List_node" = type { ptr, ptr, ptr }
declare ptr @_Znwm(i64)

define void @payload(ptr %node) {
entry:
  %at = getelementptr inbounds %"struct.std::_List_node", ptr %node, i32 0, i32 2
  store i32 1, ptr %at
  ret void
}

define i32 @main() {
entry:
  %list = alloca { ptr, ptr, ptr, ptr }
  %new = call ptr @_Znwm(i64 24)
  %inside = getelementptr i8, ptr %new, i64 40
  call void @payload(ptr %list)
  call void @payload(ptr %new)
  call void @payload(ptr %inside)
  ret i32 0
}
`
	if got := pointing(t, text, "@payload", "%at", Options{}); got != "memory allocated at an unknown line+16" {
		t.Error(got)
	}
	if got := pointing(t, text, "@payload", "%at", Options{OwnAllocators: true}); !strings.Contains(got, "list+16") ||
		!strings.Contains(got, "line+56") {
		t.Error(got)
	}
}

// TestCopies checks that parts of structures that are copied stay apart, also those of elements of arrays, and of
// loops with addresses that count on.
func TestCopies(t *testing.T) {
	const text = `
%pair = type { ptr, ptr }
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare ptr @malloc(i64)

define i32 @main() {
entry:
  %a = alloca i32
  %b = alloca i32
  %from = alloca %pair
  %to = alloca { i64, %pair }
  %first = getelementptr inbounds %pair, ptr %from, i32 0, i32 0
  %second = getelementptr inbounds %pair, ptr %from, i32 0, i32 1
  store ptr %a, ptr %first
  store ptr %b, ptr %second
  %target = getelementptr inbounds { i64, %pair }, ptr %to, i32 0, i32 1
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %from, i64 16, i1 false)
  %there = getelementptr inbounds { i64, %pair }, ptr %to, i32 0, i32 1, i32 1
  %copied = load ptr, ptr %there
  %array = call ptr @malloc(i64 160)
  br label %loop

loop:
  %at = phi ptr [ %array, %entry ], [ %next, %loop ]
  call void @llvm.memcpy.p0.p0.i64(ptr %at, ptr %from, i64 16, i1 false)
  %field = getelementptr inbounds %pair, ptr %at, i32 0, i32 0
  %of = load ptr, ptr %field
  %next = getelementptr inbounds %pair, ptr %at, i32 1
  %out = alloca %pair
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %next, i64 16, i1 false)
  %last = getelementptr inbounds %pair, ptr %out, i32 0, i32 1
  %element = load ptr, ptr %last
  %more = icmp ne ptr %of, null
  br i1 %more, label %loop, label %end

end:
  ret i32 0
}
`
	for value, want := range map[string]string{"%copied": "b+0", "%of": "a+0", "%element": "b+0"} {
		if got := pointing(t, text, "@main", value, Options{}); got != want {
			t.Errorf("%s points to %q, want %q", value, got, want)
		}
	}
}
