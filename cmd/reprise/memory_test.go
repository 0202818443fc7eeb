package main

import (
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/allocated"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/test/forged"
)

// TestMemoryLimit asks for all of a file whose claims would take gigabytes, which is refused before
// it takes them, and allowed by --memory.
func TestMemoryLimit(t *testing.T) {
	t.Chdir(t.TempDir())
	file, err := forged.ManySignatures(1<<22 - 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(file) > 200 {
		t.Fatalf("the file has %d bytes", len(file))
	}
	writeFile(t, "F", string(file))
	for _, command := range blockCommands {
		var r result
		got := allocated.By(1, func() { r = invoke(t, "", strings.Fields(command)...) })
		if r.status == cli.ExitOK || !strings.Contains(r.stderr, "--memory 6144MiB allows it") || got > 16<<20 {
			t.Errorf("reprise %s: status %d, %d bytes, %s", command, r.status, got, r.stderr)
		}
	}
	must(t, "info", "F", "--memory", "7GiB")

	if file, err = forged.ManySignatures(1000); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "F", string(file))
	must(t, "info", "F")
	if r := invoke(t, "", "info", "F", "--memory", "1499KiB"); r.status != cli.ExitFailure ||
		!strings.Contains(r.stderr, "1000 signatures take") {
		t.Errorf("a limit of 1499 KiB: %+v", r)
	}
	for _, bad := range []string{"0", "-1", "many", "3m"} {
		if r := invoke(t, "", "info", "F", "--memory", bad); r.status != cli.ExitUsage {
			t.Errorf("--memory %s: %+v", bad, r)
		}
	}
}
