package cst_test

import (
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/misuse"
)

// TestMisuse calls the package as it must not be called.
func TestMisuse(t *testing.T) {
	f := cst.Function{Name: "f", Params: []cst.Param{{Name: "a", Type: cst.Type{Kind: cst.KindInt}}}}
	var empty, one cst.Table
	fn := one.Declare(f)
	one.Intern(fn, cst.Int(1))
	array := cst.Array(cst.Int(1))
	misuse.Panic(t, "cst", map[string]func(){
		"signature of an empty table":      func() { empty.Signature(0) },
		"signature after the last":         func() { one.Signature(1) },
		"appending one of an empty table":  func() { empty.AppendSignature(nil, 0) },
		"count of an empty table":          func() { empty.Count(0) },
		"a function that is not declared":  func() { empty.Intern(0) },
		"a function before":                func() { one.Intern(-1) },
		"a run of a function not declared": func() { one.InternRun(7, 3) },
		"too few arguments":                func() { one.Intern(fn) },
		"too many arguments":               func() { one.Intern(fn, cst.Int(1), cst.Int(2)) },
		"an argument of another kind":      func() { one.Intern(fn, cst.String("a")) },
		"an argument of no kind":           func() { one.Intern(fn, cst.Value{}) },
		"a parameter of no type": func() {
			one.Declare(cst.Function{Name: "g", Params: make([]cst.Param, 1)})
		},
		"merging nil":             func() { cst.Merge(&one, nil) },
		"merging into nil":        func() { cst.Merge(nil, &one) },
		"numbers of strings":      func() { cst.Numbers(cst.KindString, nil) },
		"integer of a string":     func() { cst.String("a").Int() },
		"integer of nothing":      func() { cst.Value{}.Int() },
		"float of an integer":     func() { cst.Int(1).Float() },
		"text of an integer":      func() { cst.Int(1).Text() },
		"pointer of an integer":   func() { cst.Int(1).Pointer() },
		"status of an integer":    func() { cst.Int(1).Status() },
		"length of an integer":    func() { cst.Int(1).Len() },
		"element of an integer":   func() { cst.Int(1).Index(0) },
		"element before":          func() { array.Index(-1) },
		"element after":           func() { array.Index(1) },
		"number after":            func() { cst.Numbers(cst.KindInt, []int64{1}).Index(1) },
		"appending few arguments": func() { cst.AppendCall(nil, f, nil) },
	})
	misuse.Refused(t, "cst", map[string]func() error{
		"trying a function not declared": func() error { _, err := one.TryIntern(7); return err },
		"trying a function before":       func() error { _, err := one.TryIntern(-1); return err },
		"trying few arguments":           func() error { _, err := one.TryIntern(fn); return err },
		"an empty file":                  func() error { _, err := cst.Parse(nil); return err },
	})
	misuse.Harmless(t, map[string]func(){
		"texts of nothing": func() {
			_ = cst.Value{}.String() + cst.Kind(99).String() + cst.Type{}.String() + cst.Direction(99).String()
			_ = cst.Type{Kind: cst.KindArray}.String()
			cst.Value{}.Equal(cst.Int(1))
			cst.Function{}.Validate()
			cst.Function{}.Equal(f)
			cst.Array()
			cst.Bytes(nil)
		},
		"empty tables": func() {
			cst.Merge(&empty, &empty)
			empty.Functions()
			if empty.Equal(nil) || one.Equal(nil) {
				t.Error("a table is equal to none")
			}
			empty.Declare(cst.Function{})
			empty.AppendBinary(empty.AppendFunctions(nil))
			for range empty.All() {
			}
		},
		"parsing nothing": func() { cst.Parse(nil); cst.ParseFunctions(nil) },
	})
}
