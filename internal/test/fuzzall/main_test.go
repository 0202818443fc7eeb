package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"
)

// TestFind checks that all targets of a package are found, and nothing that is none.
func TestFind(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a_test.go")
	text := "package a\nfunc FuzzA(f *testing.F) {}\nfunc (x y) FuzzB(f *testing.F) {}\nfunc Fuzz() {}\nfunc TestA(t *testing.T) {}\nfunc FuzzC(f *testing.F) {}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := targetsOf(file); err != nil || strings.Join(got, " ") != "FuzzA FuzzC" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestExecutions(t *testing.T) {
	const log = "fuzz: elapsed: 0s, execs: 0 (0/sec), new interesting: 0 (total: 5)\nfuzz: elapsed: 3s, execs: 75121 (25040/sec), new interesting: 7 (total: 30)\nPASS\n"
	if n := executionsOf(log) + executionsOf("PASS\n") + executionsOf("mutate: executions: 12\nPASS\n"); n != 75133 {
		t.Error(n)
	}
}

// module writes a module with a target.
func module(t *testing.T, body string) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("GOWORK", "off")
	for name, text := range map[string]string{
		"go.mod":    "module example.com/a\n\ngo 1.25\n",
		"a_test.go": "package a\n\nimport \"testing\"\n\nfunc FuzzA(f *testing.F) {\n\tf.Fuzz(func(t *testing.T, b []byte) {\n" + body + "\t})\n}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRun checks what it says of a target that fails, and of one that does not.
func TestRun(t *testing.T) {
	tier.Long(t, "fuzzes")
	for _, tt := range []struct {
		body   string
		status int
		want   string
	}{
		{"", 0, "0 targets failed"},
		{"\t\tif len(b) > 1 {\n\t\t\tt.Error(\"long\")\n\t\t}\n", 1, "long"},
	} {
		module(t, tt.body)
		var out, errs bytes.Buffer
		status := run(t.Context(), []string{"-time", "1s"}, &out, &errs)
		if status != tt.status || !strings.Contains(out.String(), tt.want) ||
			!strings.Contains(out.String(), "example.com/a FuzzA") {
			t.Errorf("status %d: %s%s", status, &out, &errs)
		}
	}
}

// TestMutate runs a target without the fuzzer.
func TestMutate(t *testing.T) {
	tier.Long(t, "builds a test")
	var out, errs bytes.Buffer
	const target = "github.com/reprise-trace/reprise/internal/test/mutate"
	status := run(t.Context(), []string{"-mutate", "-time", "20ms", target}, &out, &errs)
	if status != 0 || !regexp.MustCompile(`(?m)^`+target+` FuzzBody [1-9]`).Match(out.Bytes()) {
		t.Errorf("status %d: %s%s", status, &out, &errs)
	}
}

func TestUsage(t *testing.T) {
	var out, errs bytes.Buffer
	if status := run(t.Context(), []string{"-nothing"}, &out, &errs); status != 2 ||
		!strings.Contains(errs.String(), "-total") {
		t.Errorf("status %d: %s", status, &errs)
	}
	if status := run(t.Context(), []string{"./nothing/..."}, &out, &errs); status != 1 {
		t.Errorf("status %d: %s", status, &errs)
	}
}

// TestChoose checks that the shares have each target once.
func TestChoose(t *testing.T) {
	packages := []fuzzed{{Dir: "a", targets: []string{"1", "2", "3"}}, {Dir: "b", targets: []string{"4"}},
		{Dir: "c", targets: []string{"5", "6", "7", "8", "9"}}}
	shares := make(map[string]string) // by the targets
	for text := range 100 {
		var share []string
		for _, p := range choose(packages, 4, strconv.Itoa(text)) {
			if len(p.targets) == 0 {
				t.Errorf("%s without a target", p.Dir)
			}
			share = append(share, p.targets...)
		}
		shares[strings.Join(share, "")] = ""
	}
	if got := slices.Sorted(maps.Keys(shares)); !slices.Equal(got, []string{"159", "26", "37", "48"}) {
		t.Errorf("shares %q", got)
	}
}

// TestKeep checks that few small inputs of different sizes are copied, and none twice.
func TestKeep(t *testing.T) {
	cache, dir := t.TempDir(), t.TempDir()
	from, to := filepath.Join(cache, "example.com/a/FuzzA"), filepath.Join(dir, "testdata/fuzz/FuzzA")
	for _, path := range []string{from, to} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path string, size int) {
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(to, "a-name-that-says-why"), 3)
	for i, size := range []int{5, 4, 4, 7, 6, 1024, 1025} {
		write(filepath.Join(from, strings.Repeat(strconv.Itoa(i), 16)), size)
	}
	packages := []fuzzed{{Dir: dir, ImportPath: "example.com/a", targets: []string{"FuzzA", "FuzzB"}}}
	for _, tt := range []struct {
		most, copied int
		kept         string
	}{
		{3, 3, "145"}, // 4, 6 and 1024 bytes
		{3, 0, "145"},
		{4, 1, "0145"}, // and 5 bytes
		{9, 1, "01345"},
	} {
		if n, err := keep(cache, packages, tt.most); err != nil || n != tt.copied {
			t.Errorf("%d copied, want %d, %v", n, tt.copied, err)
		}
		var names []string
		kept, err := inputs(to)
		for _, i := range kept {
			names = append(names, i.name[:1])
		}
		if got := strings.Join(names, ""); got != tt.kept || err != nil {
			t.Errorf("kept %s, want %s, %v", got, tt.kept, err)
		}
	}
}
