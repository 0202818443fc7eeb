package main

import (
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/content"
)

// TestBeginning checks what is said of files that do not begin as a trace, and that
// those that are one can be repaired.
func TestBeginning(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	damaged := "????????" + records(t, readFile(t, "ring.rpz"))[8:]
	writeFile(t, "damaged", damaged)
	writeFile(t, "damaged.rpz", damaged[:len(damaged)-1])
	writeFile(t, "short", "?")
	const (
		ours    = ": this is a trace whose beginning is damaged; reprise repair FILE -o saved.rpz saves what can be read\n"
		actions = ": this is SimGrid's text of a trace; reprise compress FILE -o OUT.rpz makes a trace of it\n"
		other   = ": this is a text file; " + content.OwnTraces + "\n"
	)
	writeFile(t, "program.c", "// a program\nint main(void) { return 0; }\n")
	for _, tt := range []struct{ name, want string }{
		{"damaged", ours}, {"damaged.rpz", ours}, {"short", other}, {"program.c", other},
		{"ring.txt", actions}, {"list.txt", actions},
	} {
		for _, args := range [][]string{{"info", tt.name}, {"merge", tt.name, "-o", "out.rpz"}} {
			if r := invoke(t, "", args...); r.status != cli.ExitFailure ||
				r.stderr != "reprise: "+tt.name+strings.ReplaceAll(tt.want, "FILE", tt.name) {
				t.Errorf("%v: status %d, %q", args, r.status, r.stderr)
			}
		}
	}
	for _, name := range []string{"damaged", "damaged.rpz"} {
		must(t, "repair", name, "-o", "out.rpz")
		must(t, "verify", "out.rpz", "ring.txt")
	}
}
