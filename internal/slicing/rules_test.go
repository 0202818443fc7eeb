//go:build linux

package slicing

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"
)

// Tests that see most rules: programs in C with all kinds of data, and random ones.
const (
	someTests   = "TestPrograms/^(exchange|memory|strides|text|addresses|is|bt|worker)[.]|TestRandom$"
	sourceTests = "TestSources"
	unitTests   = "slice" // those of package slice

	preciseTests   = "TestPrograms/^(halo|operators|minife)" // which say how much is kept
	classTests     = preciseTests + "|TestRandomClasses"
	exceptionTests = "TestPrograms/^exceptions|TestRandomClasses"
)

// rules are the rules by which package slice finds what is needed, each with the text that carries it and what
// that is without the rule, in a file of the package, and the tests that see that it is missing.
var rules = []struct{ name, file, old, without, by string }{
	{"Control", "slice.go", `s.need(b.last(), i, "decides whether it runs")`, "_ = b", someTests},
	{"Phi", "slice.go", `s.need(c.last(), i, "decides which value it has")`, "_ = c", classTests},
	{"Operand", "slice.go", `s.needValue(i, v, "uses it")`, "_ = v", someTests},
	{"Argument", "slice.go", `s.needValue(i, i.operands[p.number], "is an argument")`, "", someTests},
	{"Parameter", "slice.go", "		if i.kept {\n			s.needArgument(i, p)",
		"		if false {\n			s.needArgument(i, p)", someTests},
	{"Result", "slice.go", `s.need(i, from, "returns its result")`, "", someTests},
	{"Calls", "slice.go", `s.need(i, by, "is in a function that it calls")`, "", someTests},
	{"Variadic", "slice.go", "		s.needValue(i, v, \"is an argument\")\n		if v.byval {", "		if v.byval {",
		someTests},
	{"Ends", "effects.go", `__stack_chk_fail", effect{arguments: "r", ends: true, kept: true})`,
		`__stack_chk_fail", effect{arguments: "r", ends: true})`, someTests},
	{"Memory", "writes.go", "later || s.order.precedes(i, reader)", "later", someTests},
	{"Before", "order.go", " || o.after[first.piece].has(second.piece)", "", someTests},
	{"Received", "writes.go", "s.needData(e, i, reader)", "_ = e", someTests},
	{"Sent", "messages.go", "s.needReads(from, reads)", "_ = reads", someTests},
	{"Tags", "messages.go", "return !a.known || !b.known ||", "return a.known && b.known &&", someTests},
	{"Order", "slice.go", "	if e.open {", "	if false {", someTests},
	{"Uniform", "sources.go", "	if !s.isUniform(i, second) {", "	if false {", sourceTests},
	{"Once", "sources.go", "s.order.precedes(at, at) ||", "", sourceTests},
	{"Stores", "memory.go", "a.storeAll(of(1), i.element.bytes(), of(0))", "", someTests},
	{"Copies", "access.go", "a.copyBytes(of(0), of(1), i.length())", "", someTests},
	{"Callbacks", "access.go", "			a.connect(i, g)\n", "", someTests},
	{"Trees", "containers.go", "a.storeAll(all, linkBytes, all)", "", "TestPrograms/^minife|TestRandomClasses"},
	{"Throws", "exceptions.go", "c.in.runs && x.mayThrow(c)", "c.in.runs && isThrow(c.callee)",
		exceptionTests},
	{"Handlers", "exceptions.go", `base != "" && x.catches(handler, base)`, `base != "" && false`,
		exceptionTests},
	{"Errors", "errors.go", " || s.costs(k):", ":", "TestPrograms/^lulesh.cc$"},
	{"ErrorsThatMessagesDecide", "errors.go", "return len(s.got) > 0 ||", "return", unitTests},
	{"Nodes", "memory.go", "from = a.nodes(from)", "_ = from", preciseTests},
	{"ElementsOfContainers", "containers.go", `p.object.made != nil && p.object.made.op == "call"`, "false",
		classTests},
	{"FieldsOfCopies", "stored.go", "behind, length = at(lo-b.lo), hi-lo", "_, _ = lo, hi", unitTests},
	{"FieldsOfElements", "stored.go", "behind, length = at(offset), c.width", "_ = offset", unitTests},
	{"Bounds", "messages.go", "if a.tags.and(b.tags).isNone() {", "if false {", unitTests},
	{"Copied", "writes.go", "	if i.isCopy() {", "	if false {", unitTests},
	{"PartsOfCopies", "copies.go", "case part.lo >= part.hi:", "case true:\n				s.needAllCopied(i)",
		"TestPrograms/^halo"},
	{"Growing", "bounds.go", "all.most = mostNumber", "_ = all", unitTests},
	{"Wraps", "bounds.go", "if i.wraps() {", "if false {", unitTests},
	{"Conditions", "bounds.go", "return b.and(conditionsOn(i.block, v))", "return b", unitTests},
	{"Buckets", "memory.go", "from = a.withoutBuckets(i, from)", "", "TestPrograms/^migrate"},
	{"Frees", "slice.go", `made.op == "call" && made.kept && !i.kept && p.contain(at(0))`, "made.kept && !i.kept",
		"TestPrograms/^migrate"},
	{"Constructors", "errors.go", "return s.exceptions != nil && ", "return s.exceptions == nil && ",
		"TestPrograms/^heat"},
	{"Assignments", "fortran.go", `case name == "Assign" && len(i.operands) > 1:`, "case false:",
		"TestPrograms/^poisson"},
	{"Assigned", "assign.go", "add(writes, to, maxSize, false)", "_ = to", unitTests},
	{"Shapes", "fortran.go", "case readsShapes.MatchString(name):", "case false:", "TestPrograms/^poisson"},
	{"ArraysOfFortran", "fortran.go", `e.arguments, e.result = "wv", arrayResult`, "return nil",
		"TestPrograms/^arrays"},
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
			of, run := ".", rule.by
			if rule.by == unitTests {
				of, run = directory, "."
			}
			build := exec.CommandContext(t.Context(), "go", "test", "-c", "-tags", "e2e,nightly", "-overlay", overlay,
				"-o", binary, of)
			if said, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, said)
			}
			test := exec.CommandContext(t.Context(), binary, "-test.failfast", "-test.timeout", "30m", "-test.run", run)
			if rule.by != unitTests {
				test.Args = append(test.Args, "-programs", "8")
			}
			test.Dir = of
			said, err := test.CombinedOutput()
			if err == nil || bytes.Contains(said, []byte("panic: test timed out")) {
				t.Errorf("no test fails without the rule: %v", err)
			}
			t.Logf("%.300s", said)
		})
	}
}
