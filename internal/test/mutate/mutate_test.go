package mutate

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/tier"
)

// set sets what the flags say.
func set(t *testing.F, d time.Duration, directory string) {
	oldDuration, oldCached := *duration, *cached
	*duration, *cached = d, directory
	t.Cleanup(func() { *duration, *cached = oldDuration, oldCached })
}

// FuzzBody runs a body that fails for none, and skips many: inputs are those that are known, with changes,
// and few twice in a row.
func FuzzBody(f *testing.F) {
	tier.Long(f, "takes time")
	found := f.TempDir()
	if err := os.MkdirAll(filepath.Join(found, "FuzzBody"), 0o777); err != nil {
		f.Fatal(err)
	}
	for name, content := range map[string]string{
		"a": magic + "[]byte(\"cached\\xff\")\nuint64(18446744073709551615)\nstring(\"\\n\")\nbool(true)\nint(-3)\n",
		"b": magic + "[]byte(\"older\")\n",
	} {
		if err := os.WriteFile(filepath.Join(found, "FuzzBody", name), []byte(content), 0o666); err != nil {
			f.Fatal(err)
		}
	}
	set(f, 50*time.Millisecond, found)
	f.Add([]byte("added"), uint64(7), "text", false, 5)
	executions, repeated, lasting, last := 0, 0, make(map[string]bool), ""
	f.Cleanup(func() {
		if fuzz := flag.Lookup("test.fuzz"); fuzz != nil && fuzz.Value.String() != "" {
			return // other processes run the body
		}
		if executions < 2*batch || repeated > executions/4 || !lasting["cached\xff"] || !lasting["added"] ||
			lasting["older"] || len(lasting) < 100 {
			f.Errorf("%d executions, %d of them of the input before, %d inputs", executions, repeated, len(lasting))
		}
	})
	Fuzz(f, func(t *testing.T, b []byte, n uint64, s string, is bool, i int) {
		executions++
		lasting[string(b)] = true
		input := fmt.Sprintf("%q %d %q %t %d", b, n, s, is, i)
		if input == last {
			repeated++
		}
		last = input
		if len(b) > maxBytes || len(s) > maxBytes {
			t.Errorf("%d and %d bytes", len(b), len(s))
		}
		if executions%3 == 0 {
			t.Skip("skipped")
		}
	})
}

// FuzzNothing runs a body of which nothing is known.
func FuzzNothing(f *testing.F) {
	set(f, time.Millisecond, "")
	Fuzz(f, func(_ *testing.T, _ string, _ int64) {})
}

// TestKeep checks that an input is read as it was written.
func TestKeep(t *testing.T) {
	t.Chdir(t.TempDir())
	l := newLoop("FuzzX", func(*testing.T, []byte, uint16, string, bool) {})
	const content = magic + "[]byte(\"\\x00\\xff\\\"\")\nuint16(9)\nstring(\"a\\n\\xfe\")\nbool(true)\n"
	input, err := parse(content, l.body.Type())
	if err != nil {
		t.Fatal(err)
	}
	l.keep(t, input)
	names, err := filepath.Glob("testdata/fuzz/FuzzX/*")
	if err != nil || len(names) != 1 {
		t.Fatalf("%q, %v", names, err)
	}
	if got, err := os.ReadFile(names[0]); err != nil || string(got) != content {
		t.Errorf("%q, %v, want %q", got, err, content)
	}
	for _, bad := range []string{"", magic, strings.Replace(content, "9", "x", 1),
		strings.Replace(content, "uint16", "int", 1), content + "int(1)\n"} {
		if _, err := parse(bad, l.body.Type()); err == nil {
			t.Errorf("%q is parsed", bad)
		}
	}
}
