package slice_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/mpi/slice"
)

// conditions is made of testdata/conditions.c by Clang, with the names of values.
func conditions(t *testing.T) []byte {
	text, err := os.ReadFile("testdata/conditions.ll")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestAssume checks which way branches go that something is assumed of: 0 is the first label, 1 the other
// one.
func TestAssume(t *testing.T) {
	text := conditions(t)
	for _, tt := range []struct {
		line, column int
		always       bool
		want         string // branch
	}{
		{13, 23, true, "br i1 true, label %land.rhs, label %land.end"},
		{13, 23, false, "br i1 false, label %land.rhs, label %land.end"},
		{13, 2, true, "br i1 true, label %while.body, label %while.end"},
		{14, 0, true, "br i1 false, label %if.end, label %if.then"}, // !ready
		{14, 7, false, "br i1 true, label %if.end, label %if.then"},
		{16, 13, false, "br i1 false, label %if.then4, label %lor.lhs.false"},
		{16, 7, false, "br i1 false, label %if.then4, label %if.end5"},
		{22, 0, true, "br i1 true, label %do.body, label %do.end"},
		{23, 6, true, "br i1 true, label %if.then8, label %if.else"},
		{26, 0, false, "br i1 false, label %cond.true, label %cond.false"},
		{29, 0, false, "br i1 false, label %for.body, label %for.end"},
	} {
		a := slice.Assumption{Position: slice.Position{File: "conditions.c", Line: tt.line},
			Column: tt.column, Always: tt.always}
		got, assumed, err := slice.Assume(text, []slice.Assumption{a})
		if err != nil {
			t.Errorf("%v: %v", a, err)
			continue
		}
		var changed []string
		before := strings.Split(string(text), "\n")
		for n, line := range strings.Split(string(got), "\n") {
			if line != before[n] {
				changed = append(changed, line)
			}
		}
		if len(changed) != 1 || !strings.Contains(changed[0], tt.want) {
			t.Errorf("%v: %q, want %q", a, changed, tt.want)
		}
		if len(assumed) != 1 || assumed[0].Line != tt.line || assumed[0].Column == 0 || assumed[0].Always != tt.always {
			t.Errorf("%v: %v", a, assumed)
		}
	}
}

// TestAssumeErrors checks what is said of lines that have no condition, or several.
func TestAssumeErrors(t *testing.T) {
	at := func(file string, line, column int, always bool) slice.Assumption {
		return slice.Assumption{Position: slice.Position{File: file, Line: line}, Column: column, Always: always}
	}
	other := "define void @f() {\n  br i1 %x, label %if.then, label %if.end, !dbg !900\n\nif.then:\n  br i1 %y, label %if.then, label %if.end, !dbg !900\n\nif.end:\n  ret void\n}\n" +
		"define void @g() {\n  br i1 %x, label %if.then, label %if.end, !dbg !903\n\nif.then:\n  ret void\n}\n" +
		"!900 = !DILocation(line: 7, column: 3, scope: !901)\n!901 = !DISubprogram(file: !902)\n!902 = !DIFile(filename: \"a/conditions.c\")\n" +
		"!903 = !DILocation(line: 14, column: 3, scope: !901)\n"
	text := append(conditions(t), other...)
	for _, tt := range []struct {
		list []slice.Assumption
		want string
	}{
		{[]slice.Assumption{at("conditions.c", 12, 0, false)}, "conditions.c:12: there is no condition"},
		{[]slice.Assumption{at("other.c", 13, 0, false)}, "other.c:13: there is no condition"},
		{[]slice.Assumption{at("conditions.c", 13, 4, false)}, "conditions.c:13: there is no condition in column 4"},
		{[]slice.Assumption{at("conditions.c", 16, 0, false)},
			"conditions.c:16: there are several conditions, in columns 13, 7: name one, such as conditions.c:16:13"},
		{[]slice.Assumption{at("conditions.c", 22, 0, false), at("conditions.c", 22, 2, true)},
			"conditions.c:22: the condition is assumed to be true always, and never"},
		{[]slice.Assumption{at("conditions.c", 7, 0, false)}, "conditions.c:7: a macro has several conditions here"},
		{[]slice.Assumption{at("conditions.c", 14, 0, false)},
			"conditions.c:14: conditions.c and a/conditions.c have that name"},
	} {
		_, _, err := slice.Assume(text, tt.list)
		if known := new(slice.Error); !errors.As(err, &known) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %s", tt.list, err, tt.want)
		}
	}
}

// TestAssumeHostile checks that what is no module is no matter.
func TestAssumeHostile(t *testing.T) {
	for _, text := range []string{
		"", "define", "define void @f() {", "}\n  br i1 %x, label %a, label %b, !dbg !1",
		"define void @f() {\n  switch i32 %x, label %a [",
		"define void @f() {\n  call void @exit(i32 1",
		"define void @f() {\n  br i1 x, label %\"\", label %\"\", !dbg !1\n}\n!1 = !DILocation(line: 1, scope: !1)",
	} {
		if _, _, err := slice.Assume([]byte(text), nil); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		e := slice.ReadErrors([]byte(text), nil)
		e.Probed()
		e.Assume(nil)
	}
}
