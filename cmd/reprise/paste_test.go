package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/forged"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/tracer"
)

// runs returns a text that a shell would run of a line if someone pasted it, from where a command begins in
// it: words outside of quotes, and what is in double quotes. It is empty if there is none. In $'…' nothing
// ends the quotes but the next one, in no shell.
func runs(line string) string {
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == 0 && c == '\\':
			i++
		case quote == '\'' && c == '\'', quote == '"' && c == '"':
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote != '\'' && (c == '`' || c == '$' && i+1 < len(line) && line[i+1] == '('), quote == 0 &&
			strings.IndexByte("|&;<>", c) >= 0:
			return line[i:]
		}
	}
	return ""
}

// nasty draws a name of a file of which a shell would run a part.
var nasty = rapid.Map(
	rapid.SliceOfN(rapid.SampledFrom([]string{"$(touch P)", "`touch P`", ";touch P;", "|touch P", "&touch P",
		">P", "'", "\"", "\\", "\n", "\ntouch P\n", "\r", " ", "-", "~",
		"=", "\x1b[2J", "#", "a", "é", "\u202e", "\xff", "!!", "./proxy", "make"}), 1, 5),
	func(parts []string) string { return strings.Join(parts, "") })

// TestPaste has commands name files of nasty names, and checks that nothing of these runs if a command that they print is pasted.
func TestPaste(t *testing.T) {
	cases := []struct{ content, args string }{
		{"0 init\n", "info NAME"}, {"0 init\n", "verify t.rpz NAME"}, {"0 init\n", "match NAME"},
		{"BZh91AY&SY", "compress NAME -o o.rpz"}, {"\xfd7zXZ\x00\x00\x04", "compress NAME -o o.rpz"},
		{"BZh91AY&SY", "verify t.rpz NAME"}, {"\x7fELF", "info NAME"},
		{"\xfd7zXZ\x00", "info NAME"}, {"trace", "compress NAME -o o.rpz"}, {"trace", "verify t.rpz NAME"},
		{"damaged", "info NAME"}, {"cut", "info NAME"}, {"cut", "merge NAME -o o.rpz"},
		{"trace", "export t.rpz -o NAME --format csv"}, {"trace", "export t.rpz -o NAME --format paraver"},
		{"trace", "export t.rpz -o NAME --format pprof"}, {"trace", "report t.rpz -o NAME"},
		{"trace", "matrix t.rpz -o NAME --format csv"}, {"mpi", "proxy m.rpz -o NAME"},
		{"mpi", "proxy NAME -o o.proxy"}, {"directory", "info NAME"}, {"directory", "collect NAME -o o.rpz"},
		{"spool", "info NAME"},
	}
	each := 20
	if !tier.Nightly {
		each = 1
	}
	for k := range each * len(cases) {
		name, tt := nasty.Example(k), cases[k%len(cases)]
		if name == "-" {
			continue // which is standard output
		}
		t.Chdir(t.TempDir())
		var err error
		file, _ := forged.AllCalling(1)
		writeFile(t, "t.rpz", string(file))
		writeNastyProgram(t, name)
		content := tt.content
		switch whole := readFile(t, "t.rpz"); content {
		case "trace":
			content = whole
		case "mpi":
			content = readFile(t, "m.rpz")
		case "damaged":
			content = "xxxx" + whole[4:]
		case "cut":
			content = whole[:len(whole)-6]
		}
		path := name
		os.MkdirAll(filepath.Dir(path), 0o777)
		if content == "directory" || content == "spool" {
			err = os.MkdirAll(filepath.Join(path, "below"), 0o777)
		} else if !strings.Contains(tt.args, "-o NAME") {
			err = os.WriteFile(path, []byte(content), 0o666)
		}
		if err != nil {
			continue // there is no such name
		}
		args := strings.Fields(tt.args)
		for i := range args {
			if args[i] == "NAME" {
				args[i] = name
			}
		}
		r := invoke(t, "", args...)
		for line := range strings.SplitSeq(r.stdout+r.stderr, "\n") {
			for _, begin := range []string{"next: ", ": reprise ", "; reprise ", "| reprise ",
				"as in reprise ", "such as: reprise ", "reprise repair ", "wxparaver ", "go tool ", "duckdb ",
				"instance ", "first: "} {
				if _, command, ok := strings.Cut(line, begin); ok {
					// those of ours
					command = strings.NewReplacer(" | reprise", "", " && mpirun -n ", " ").Replace(command)
					if what := runs(command); what != "" {
						t.Fatalf("%q of %q prints %q: %q runs", tt.args, name, line, what)
					}
				}
			}
		}
		for _, readme := range []string{filepath.Join(name, "README"), "o.proxy/README"} {
			text, _ := os.ReadFile(readme)
			for line := range strings.SplitSeq(string(text), "\n") {
				if what := runs(line); what != "" {
					t.Fatalf("README %q: %q runs", line, what)
				}
			}
		}
	}
}

// writeNastyProgram writes the trace of an MPI program, whose command and functions have a name in them.
func writeNastyProgram(t *testing.T, name string) {
	var r tracer.Recorder
	for _, f := range []string{"MPI_Init", name, "MPI_Finalize"} {
		r.Call(r.Declare(cst.Function{Name: f}))
	}
	run := merge.Run{Ranks: 1, Source: "MPI",
		Origin: format.Origin{Commands: []string{name + "/mpirun -n 1 " + name, "/tmp/x" + name + "/mpirun"},
			Assumptions: []string{name}}}
	writeTrace(t, "m.rpz", run, r.Finish(0))
}
