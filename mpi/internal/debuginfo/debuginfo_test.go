package debuginfo

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/e2e"
)

// program has functions whose calls of mark are on lines of their own.
const program = `
__attribute__((noinline)) void mark(void) { __asm__ volatile(""); }
static inline __attribute__((always_inline)) void inlined(void)
{
	mark(); // inlined
}
__attribute__((noinline)) void plain(void)
{
	mark(); // plain
	inlined(); // within
	mark(); // plain
}
int main(void)
{
	plain(); // main
	return 0;
}
`

// build compiles the program, and returns the file and the lines that end in a word.
func build(t *testing.T, flags ...string) (file string, lines func(word string) []int) {
	t.Helper()
	e2e.Programs(t)
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip(err)
	}
	directory := t.TempDir()
	source, file := filepath.Join(directory, "source.c"), filepath.Join(directory, "program")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command("gcc", append(flags, "-fno-optimize-sibling-calls", "-o", file,
		source)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return file, func(word string) (list []int) {
		for i, line := range strings.Split(program, "\n") {
			if strings.HasSuffix(line, "// "+word) {
				list = append(list, i+1)
			}
		}
		return list
	}
}

// calls returns the addresses of the calls in a function of a file, in their order.
func calls(t *testing.T, file, function string) (list []uint64) {
	t.Helper()
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Machine != elf.EM_X86_64 {
		t.Skip("another machine")
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	text := f.Section(".text")
	for _, s := range symbols {
		if s.Name != function {
			continue
		}
		section := text
		if int(s.Section) < len(f.Sections) {
			section = f.Sections[s.Section]
		}
		data, err := section.Data()
		if err != nil {
			t.Fatal(err)
		}
		code := data[s.Value-section.Addr:][:s.Size]
		for i, b := range code {
			if b == 0xe8 && i+5 <= len(code) { // call
				list = append(list, s.Value+uint64(i))
			}
		}
	}
	return list
}

// TestLines finds the lines and functions of calls, with and without optimization, and in the
// order of the question.
func TestLines(t *testing.T) {
	for _, flags := range []string{"-g -O0", "-g -O2", "-g -O2 -gdwarf-4", "-g -O2 -ffunction-sections"} {
		file, line := build(t, strings.Fields(flags)...)
		addresses := calls(t, file, "plain")
		slices.Reverse(addresses)
		plain := line("plain")
		want := [][]string{
			{fmt.Sprintf("source.c:%d plain", plain[1])},
			{fmt.Sprintf("source.c:%d inlined", line("inlined")[0]),
				fmt.Sprintf("source.c:%d plain", line("within")[0])},
			{fmt.Sprintf("source.c:%d plain", plain[0])},
		}
		if got := Lines(file, addresses); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s: %q, want %q", flags, got, want)
		}
		in := calls(t, file, "main")
		if got, want := Lines(file, in), fmt.Sprintf("source.c:%d main", line("main")[0]); len(got) != 1 ||
			!slices.Equal(got[0], []string{want}) {
			t.Errorf("%s: %q, want %q", flags, got, want)
		}
	}
}

// TestLess asks about files that tell less, or nothing.
func TestLess(t *testing.T) {
	file, _ := build(t, "-O1")
	a := calls(t, file, "plain")[0]
	if got := Lines(file, []uint64{a}); !strings.HasPrefix(got[0][0], "plain+0x") {
		t.Errorf("%q", got)
	}
	if output, err := exec.Command("strip", file).CombinedOutput(); err != nil {
		t.Skipf("%v\n%s", err, output)
	}
	want := fmt.Sprintf("program+%#x", a)
	if got := Lines(file, []uint64{a}); got[0][0] != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Lines(file+"x", []uint64{a}); got[0][0] != fmt.Sprintf("programx+%#x", a) {
		t.Errorf("%q", got)
	}
	if err := os.WriteFile(file, []byte("\x7fELF no more"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := Lines(file, []uint64{a, 0, 1 << 63}); got[0][0] != want || len(got) != 3 {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestDamaged changes bytes of the information for debuggers: there must be an answer.
func TestDamaged(t *testing.T) {
	file, _ := build(t, "-g", "-O1")
	a := calls(t, file, "plain")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range f.Sections {
		if !strings.HasPrefix(s.Name, ".debug") {
			continue
		}
		for i := uint64(0); i < s.FileSize; i += 1 + s.FileSize/40 {
			changed := slices.Clone(data)
			changed[s.Offset+i] ^= 0x55
			if err := os.WriteFile(file, changed, 0o600); err != nil {
				t.Fatal(err)
			}
			if got := Lines(file, a); len(got) != len(a) ||
				slices.ContainsFunc(got, func(names []string) bool { return len(names) == 0 || names[0] == "" }) {
				t.Errorf("%q", got)
			}
		}
	}
	f.Close()
}
