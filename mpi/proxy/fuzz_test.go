package proxy

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/e2e"
	"github.com/reprise-trace/reprise/internal/test/mutate"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// drawn are values that are drawn from bytes.
type drawn struct {
	data []byte
	text string
}

func (d *drawn) next() int {
	if len(d.data) == 0 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return int(b)
}

// value returns a value of a type.
func (d *drawn) value(t cst.Type) (cst.Value, bool) {
	numbers := []int64{0, 1, 2, -1, -2, -3, 100, -32766, 1 << 31, -1 << 63, 1<<63 - 1, 1 << 41}
	n := numbers[d.next()%len(numbers)]
	switch t.Kind {
	case cst.KindInt:
		return cst.Int(n), true
	case cst.KindRank:
		return cst.Rank(n % (1 << 30)), true
	case cst.KindTag:
		return cst.Tag(n % (1 << 30)), true
	case cst.KindHandle:
		return cst.Handle(n % 64), true
	case cst.KindPointer:
		return cst.PointerTo(cst.Pointer{Segment: n % 4, Displacement: n}), true
	case cst.KindString:
		return cst.String(d.text), true
	case cst.KindFloat:
		return cst.Float(float64(n)), true
	case cst.KindStatus:
		return cst.StatusOf(cst.Status{Source: n % 4}), true
	case cst.KindArray:
		var list []cst.Value
		for range d.next() % 5 {
			x, ok := d.value(*t.Elem)
			if !ok {
				return cst.Value{}, false
			}
			list = append(list, x)
		}
		return cst.Array(list...), true
	}
	return cst.Value{}, false
}

// call returns a call of some function of MPI, or of one of a name that no format likes.
func (d *drawn) call() testtrace.Call {
	functions := spec.Functions()
	f := &functions[(d.next()<<8|d.next())%len(functions)]
	call := testtrace.Call{Function: cst.Function{Name: f.Name}}
	if d.next() == 255 {
		call.Function.Name = d.text
	}
	for _, p := range f.Declared() {
		v, ok := d.value(p.Type)
		if skipped := d.next() == 254; !ok || skipped {
			continue
		}
		call.Function.Params = append(call.Function.Params,
			cst.Param{Name: p.Name, Type: p.Type, Direction: p.Direction})
		call.Args = append(call.Args, v)
	}
	return call
}

// syntax returns what a compiler of MPI says of files, or skips the test if there is none. Files with
// sessions may take another.
func syntax(t *testing.T, files []File) string {
	t.Helper()
	e2e.Programs(t)
	said := ""
	for _, compiler := range []string{"mpicc", "mpicc.mpich"} {
		path, err := exec.LookPath(compiler)
		if err != nil {
			t.Skip(err)
		}
		if said = saidBy(t, path, files); !strings.Contains(said, "the program has sessions") {
			break
		}
	}
	return said
}

// saidBy returns what a compiler says of files.
func saidBy(t *testing.T, compiler string, files []File) string {
	t.Helper()
	directory := t.TempDir()
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(directory, f.Name), []byte(f.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// Functions that MPI has declared as deprecated, or removed, are called as the program called them.
	c := exec.Command(compiler, "-std=c11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
		"-Wno-deprecated-declarations", "-DOMPI_OMIT_MPI1_COMPAT_DECLS=0", "main.c")
	c.Dir = directory
	out, err := c.CombinedOutput()
	if err == nil {
		return ""
	}
	return string(out)
}

// missing is what a compiler says of a function or a constant that its MPI does not have.
var missing = regexp.MustCompile(
	`implicit declaration of function .(P?MPI_|MPIX_)|.MPI[X_][A-Z0-9_]+. undeclared|was removed in MPI-`)

// FuzzSource writes programs of traces that nobody vouches for. Whatever they hold, it is one in C, without
// warnings: a text that were more than a text would not be.
func FuzzSource(f *testing.F) {
	for _, text := range []string{"plain", `"); system("x"); ("`, "*/ int x; /*", "??/\"??/",
		"\\\n#include \"x\"\n", "a\x00b\xff", "//\\\n*/", "%s%n", "é */"} {
		var data []byte
		for i := range 240 {
			data = append(data, byte(i*37+len(text)*11))
		}
		f.Add(data, text)
	}
	mutate.Fuzz(f, func(t *testing.T, data []byte, text string) {
		if len(data) > 1000 || len(text) > 1000 {
			return
		}
		d := &drawn{data, text}
		var calls []testtrace.Call
		for len(d.data) > 0 {
			calls = append(calls, d.call())
		}
		texts := []testtrace.Call{
			{Function: cst.Function{Name: "MPI_Init"}},
			testtrace.MPICall("MPI_Comm_set_name", "comm", "MPI_COMM_WORLD", "comm_name", cst.String(text)),
			testtrace.MPICall("MPI_File_delete", "filename", cst.String(text), "info", "MPI_INFO_NULL"),
		}
		trace := testtrace.Record(t, merge.Run{Ranks: 2}, false, [][]testtrace.Call{append(texts, calls...), texts})
		p, err := Generate(context.Background(), trace, Options{Name: text})
		if errors.Is(err, errLimit) || errors.Is(err, errApart) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		main := p.Files[0].Text
		if strings.Contains(main, "??") || strings.ContainsFunc(main, func(r rune) bool {
			return r != '\n' && (r < ' ' || r > '~')
		}) {
			t.Errorf("bytes that mean something else in\n%s", main)
		}
		checkSyntax(t, p)
	})
}

// checkSyntax checks that a compiler takes a program, but for what its MPI does not have.
func checkSyntax(t *testing.T, p *Program) {
	t.Helper()
	for line := range strings.SplitSeq(syntax(t, p.Files), "\n") {
		if strings.Contains(line, "error:") && !missing.MatchString(line) {
			t.Errorf("%s\n%s", line, p.Files[0].Text)
		}
	}
}

// TestSpecialSource writes the proxies of traces that hold each function of MPI with special values of its
// parameters, and compiles them.
func TestSpecialSource(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 8))
	rounds := 8
	if !tier.Nightly {
		rounds = 1
	}
	for round := range rounds {
		at := 0
		forms := func(n int) int { at++; return (round + at*at) % n }
		trace := testtrace.Record(t, merge.Run{}, false,
			testtrace.SpecialRanks(testtrace.SpecialFunctions(), forms, r.IntN))
		p, err := Generate(t.Context(), trace, Options{Name: "special.rpz"})
		if err != nil {
			t.Fatal(err)
		}
		t.Run("Compile", func(t *testing.T) {
			e2e.Programs(t)
			checkSyntax(t, p)
		})
	}
}
