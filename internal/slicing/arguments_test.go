package slicing

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestArguments(t *testing.T) {
	for _, tt := range []struct {
		args                      string
		sources, compiler, linker string
		want                      string // an error
	}{
		{"a.c b.cc c.f90", "a.c b.cc c.f90", "", "", ""},
		{"-O3 -g -I inc -DX=1 -U Y a.c -lm -L lib -l z", "a.c", "-I inc -DX=1 -U Y", "-lm -Llib -lz", ""},
		{"-MD -MF a.d -J mod x.F other.o lib.a -Wl,-z,now -rdynamic", "x.F", "-J mod",
			"other.o lib.a -Wl,-z,now -rdynamic", ""},
		{"-std=c11 -Wall a.c", "a.c", "-std=c11 -Wall", "", ""},
		{"-o app a.c", "", "", "", "-o is no argument"},
		{"-fopenmp a.c", "", "", "", "threads"},
		{"-shared a.c", "", "", "", "loaded with the program"},
		{"a.txt", "", "", "", "neither a source"},
		{"-lm", "", "", "", "no source"},
		{"missing/compile_commands.json", "", "", "", "CMake writes it"},
	} {
		var p Program
		err := p.Arguments(strings.Fields(tt.args))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.want)
		}
		if err != nil {
			continue
		}
		got := []string{strings.Join(p.Sources, " "), strings.Join(p.Compiler, " "), strings.Join(p.Linker, " ")}
		if want := []string{tt.sources, tt.compiler, tt.linker}; !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", tt.args, got, want)
		}
	}
}

func TestCommands(t *testing.T) {
	path := filepath.Join(t.TempDir(), "compile_commands.json")
	for _, tt := range []struct {
		name, text, want string
		commands         int
	}{
		{"Command", `[{"directory": "build", "command": "cc -DX=\"a b\" -c -o a.o 'a c.c'"}]`, "", 1},
		{"Arguments", `[{"directory": "/b", "arguments": ["cc", "-c", "a.c"]}, {"arguments": ["cc", "b.cc"]}]`, "", 2},
		{"NoList", `{`, "unexpected end", 0},
		{"Empty", `[{"command": ""}]`, "command 1 is empty", 0},
		{"NotClosed", `[{"command": "cc 'a.c"}]`, "is not closed", 0},
		{"Several", `[{"command": "cc a.c b.c"}]`, "compiles 2 sources", 0},
		{"Threads", `[{"command": "cc -pthread a.c"}]`, "threads", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var p Program
			err := p.Arguments([]string{path})
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%v, want %q", err, tt.want)
			}
			if len(p.Commands) != tt.commands {
				t.Errorf("%d commands, want %d", len(p.Commands), tt.commands)
			}
		})
	}
}

func TestWords(t *testing.T) {
	got, err := words(`cc -D"X=\"y\"" a\ b 'c "d' "e\f"` + "\t\n g")
	want := []string{"cc", `-DX="y"`, "a b", `c "d`, `e\f`, "g"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}
