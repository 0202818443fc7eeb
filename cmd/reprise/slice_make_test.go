//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/slicing"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// TestSliceMake checks that make slices a program in C, with an archive, and one in Fortran, with a module,
// if it is given the command for its compilers.
func TestSliceMake(t *testing.T) {
	if err := slicing.Missing(); err != nil {
		t.Skip(err)
	}
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip(err)
	}
	mpitest.SkipUnderRace(t)
	m := mpitest.Installed(t)[0]
	for _, tt := range []struct{ name, compiler, want string }{
		{"app", "CC=./reprise-cc", "4 of 5 MPI calls executed"},
		{"fortran", "FC=./reprise-fc", "5 of 5 MPI calls executed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := exec.LookPath("flang-new-16"); tt.name == "fortran" && (err != nil || m.Name != "mpich") {
				t.Skip("Fortran takes Flang and MPICH")
			}
			directory := t.TempDir()
			if err := os.CopyFS(directory, os.DirFS(filepath.Join("testdata", "slice", "make"))); err != nil {
				t.Fatal(err)
			}
			self, err := os.Executable()
			if err == nil {
				err = os.Symlink(self, filepath.Join(directory, tt.compiler[len("CC=./"):]))
			}
			if err != nil {
				t.Fatal(err)
			}
			c := exec.Command("make", "-C", directory, tt.compiler, tt.name)
			c.Env = append(mpitest.Environment(t), runMain+"=1", "MPICC="+m.CC)
			if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), tt.want) {
				t.Fatalf("%v: %q is not in\n%s", err, tt.want, out)
			}
			for _, file := range []string{tt.name, tt.name + ".so"} {
				if _, err := os.Stat(filepath.Join(directory, file)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestSliceCommands checks that a compile_commands.json is read: a command, and arguments, each in its
// directory.
func TestSliceCommands(t *testing.T) {
	if err := slicing.Missing(); err != nil {
		t.Skip(err)
	}
	mpitest.SkipUnderRace(t)
	directory := t.TempDir()
	if err := os.CopyFS(directory, os.DirFS(filepath.Join("testdata", "slice", "make"))); err != nil {
		t.Fatal(err)
	}
	header := "#define LENGTH 10\n"
	main, err := os.ReadFile(filepath.Join(directory, "main.c"))
	if err != nil {
		t.Fatal(err)
	}
	inSub := filepath.Join(directory, "sub")
	for _, err := range []error{
		os.Mkdir(inSub, 0o755), os.WriteFile(filepath.Join(inSub, "length.h"), []byte(header), 0o600),
		os.WriteFile(filepath.Join(directory, "main.c"),
			[]byte("#include \"length.h\"\n"+strings.Replace(string(main), "10 + i", "LENGTH + ADDED", 1)), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	commands, err := json.Marshal([]map[string]any{
		{"directory": directory, "command": `/usr/bin/cc -Isub "-DADDED=(1 + i)" -O2 -o main.o -c main.c`,
			"file": "main.c"},
		{"directory": inSub, "arguments": []string{"cc", "-c", "-MD", "-MF", "parts.d", "../parts.c"},
			"file": "../parts.c", "output": "parts.o"},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(directory, "compile_commands.json")
	if err := os.WriteFile(path, commands, 0o600); err != nil {
		t.Fatal(err)
	}
	out := must(t, "slice", "--mpicc", mpitest.Installed(t)[0].CC, "-o", filepath.Join(directory, "app"),
		"--", path, "-lm")
	if want := "4 of 5 MPI calls executed"; !strings.Contains(out, want) || !strings.Contains(out, "../parts.c: ") {
		t.Errorf("%q is not in\n%s", want, out)
	}
	for _, tt := range []struct{ content, want string }{
		{"{", "unexpected end of JSON input"},
		{`[{"command": "cc 'a.c"}]`, "command 1: a ' is not closed"},
		{`[{"command": ""}]`, "command 1 is empty"},
		{`[{"command": "cc -c a.c b.c"}]`, "command 1 compiles 2 sources, not one"},
		{`[{"command": "cc -fopenmp -c a.c"}]`, "command 1: -fopenmp: threads are not supported"},
	} {
		if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := invoke(t, "", "slice", "-o", "app", "--", path); r.status != cli.ExitUsage ||
			!strings.Contains(r.stderr, tt.want) {
			t.Errorf("%s: status %d, %s", tt.content, r.status, r.stderr)
		}
	}
}
