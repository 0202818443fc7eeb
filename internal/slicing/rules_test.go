//go:build linux

package slicing

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"
)

// rules are the rules by which package slice finds what is needed, each with the text that carries it and what
// that is without the rule, in a file of the package.
var rules = []struct{ name, file, old, without string }{
	{"Control", "slice.go", `s.need(b.last(), i, "decides whether it runs")`, "_ = b"},
	{"Phi", "slice.go", `s.need(c.last(), i, "decides which value it has")`, "_ = c"},
	{"Operand", "slice.go", `s.needValue(i, v, "uses it")`, "_ = v"},
	{"Argument", "slice.go", `s.needValue(i, i.operands[p.number], "is an argument")`, ""},
	{"Parameter", "slice.go", "		if i.kept {\n			s.needArgument(i, p)",
		"		if false {\n			s.needArgument(i, p)"},
	{"Result", "slice.go", `s.need(i, from, "returns its result")`, ""},
	{"Calls", "slice.go", `s.need(i, by, "is in a function that it calls")`, ""},
	{"Variadic", "slice.go", "		s.needValue(i, v, \"is an argument\")\n		if v.byval {", "		if v.byval {"},
	{"Ends", "effects.go", `effect{arguments: "r", ends: true, kept: true})`, `effect{arguments: "r", ends: true})`},
	{"Memory", "writes.go", "later || s.order.precedes(i, reader)", "later"},
	{"Before", "order.go", " || o.after[first.piece].has(second.piece)", ""},
	{"Received", "writes.go", "s.needData(e, i, reader)", "_ = e"},
	{"Sent", "messages.go", "s.needReads(from, reads)", "_ = reads"},
	{"Tags", "messages.go", "return !a.known || !b.known ||", "return a.known && b.known &&"},
	{"Order", "slice.go", "	if e.open {", "	if false {"},
	{"Uniform", "sources.go", "	if !s.isUniform(i, second) {", "	if false {"},
	{"Once", "sources.go", "s.order.precedes(at, at) ||", ""},
	{"Stores", "memory.go", "a.storeAll(of(1), i.element.bytes(), of(0))", ""},
	{"Copies", "access.go", "a.copyBytes(of(0), of(1), i.length())", ""},
	{"Callbacks", "access.go", "			a.connect(i, g)\n", ""},
	{"Trees", "access.go", "a.storeAll(all, linkBytes, all)", ""},
	{"Throws", "exceptions.go", "c.in.runs && x.mayThrow(c)", "c.in.runs && isThrow(c.callee)"},
	{"Handlers", "exceptions.go", `base != "" && x.catches(handler, base)`, `base != "" && false`},
	{"Errors", "errors.go", " || s.costs(k):", ":"},
	{"ErrorsThatMessagesDecide", "errors.go", "return len(s.got) > 0 ||", "return"},
	{"Classes", "memory.go", "pts = a.ofClass(pts, slot, target)", "_ = slot"},
	{"ObjectsOfClasses", "memory.go", "if q.object.function == function {", "if false {"},
	{"Nodes", "memory.go", "from = a.nodes(from)", "_ = from"},
	{"ElementsOfContainers", "memory.go", `p.object.made != nil && p.object.made.op == "call"`, "false"},
	{"Links", "access.go", "		a.storeAll(all, linkBytes, all)\n", ""},
	{"FieldsOfCopies", "stored.go", "behind, length = at(lo-b.lo), hi-lo", "_, _ = lo, hi"},
	{"FieldsOfElements", "stored.go", "behind, length = at(offset), c.width", "_ = offset"},
	{"Bounds", "messages.go", "if a.tags.and(b.tags).isNone() {", "if false {"},
	{"Growing", "bounds.go", "all.most = mostNumber", "_ = all"},
	{"Wraps", "bounds.go", "if i.wraps() {", "if false {"},
	{"Conditions", "bounds.go", "return b.and(conditionsOn(i.block, v))", "return b"},
	{"Arrays", "access.go", "add(writes, to(i.object.all()), maxSize, false)\n", "_ = writes\n"},
	{"Buckets", "memory.go", "from = a.withoutBuckets(i, from)", ""},
	{"Frees", "slice.go", `made.op == "call" && `, ""},
	{"Constructors", "errors.go", "return s.exceptions != nil && ", "return s.exceptions == nil && "},
	{"ArraysOfFortran", "fortran.go", `e.arguments, e.result = "wv", arrayResult`, "return nil"},
}

// TestRules checks that the tests of this package see that a rule is missing, of each rule of dependence.
func TestRules(t *testing.T) {
	tier.Long(t, "builds the package once for each rule")
	newBench(t)
	directory, err := filepath.Abs(filepath.Join("..", "..", "mpi", "slice"))
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		t.Run(rule.name, func(t *testing.T) {
			path := filepath.Join(directory, rule.file)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), rule.old); n != 1 {
				t.Fatalf("the text of the rule is in %s %d times", rule.file, n)
			}
			work := t.TempDir()
			mutant, overlay := filepath.Join(work, rule.file), filepath.Join(work, "overlay.json")
			binary := filepath.Join(work, "test")
			files, err := json.Marshal(map[string]any{"Replace": map[string]string{path: mutant}})
			if err != nil {
				t.Fatal(err)
			}
			for name, data := range map[string][]byte{
				mutant: []byte(strings.Replace(string(text), rule.old, rule.without, 1)), overlay: files,
			} {
				if err := os.WriteFile(name, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			build := exec.CommandContext(t.Context(), "go", "test", "-c", "-tags", "e2e,nightly", "-overlay", overlay,
				"-o", binary, ".")
			if said, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			said, err := exec.CommandContext(t.Context(), binary, "-test.failfast", "-test.timeout", "10m",
				"-test.run", "^(TestPrograms|TestSources|TestRandom|TestRandomClasses|TestRandomFortran)$",
				"-programs", "6").CombinedOutput()
			if err == nil {
				t.Errorf("no test fails without the rule")
			}
			t.Logf("%.300s", said)
		})
	}
}
