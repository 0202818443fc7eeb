package interpose

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/e2e"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// TestCompiler starts programs as users do: those in Fortran need not be linked
// with the library for C themselves, and a script says nothing of MPI.
func TestCompiler(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		for _, source := range []string{"loop.c", "mpif.f", "usempif08.f90", script} {
			t.Run(filepath.Base(source), func(t *testing.T) {
				program := source
				if source != script {
					program = m.Build(t, source)
				}
				got, err := compilerOf(t, m.Command(2, t.TempDir(), program), mpitest.Cache())
				if err != nil || executable(got) != executable(m.CC) {
					t.Errorf("found %q, %v, want %s", got, err, m.CC)
				}
			})
		}
	})
}

// compilerOf returns the compiler command of the MPI of a command.
func compilerOf(t *testing.T, command []string, cache string) (string, error) {
	c, err := Inspect(t.Context(), command)
	if err != nil {
		return "", err
	}
	return c.Compiler(t.Context(), cache)
}

// TestCompilerErrors says what is missing.
func TestCompilerErrors(t *testing.T) {
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		program := m.Build(t, "loop.c")
		cache := t.TempDir()
		t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "missing"))
		if got, err := compilerOf(t, []string{program}, cache); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
			t.Errorf("found %q, %v", got, err)
		}
	})
}

// TestStatic finds a program that has MPI in itself.
func TestStatic(t *testing.T) {
	e2e.Programs(t)
	directory := t.TempDir()
	source := filepath.Join(directory, "program.c")
	if err := os.WriteFile(source,
		[]byte("int PMPI_Init(void) { return 0; }\nint main(void) { return PMPI_Init(); }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for flag, static := range map[string]bool{"-static": true, "-static-pie": true, "-pie": false, "-no-pie": false} {
		program := filepath.Join(directory, "program"+flag)
		if out, err := exec.Command("cc", flag, "-o", program, source).CombinedOutput(); err != nil {
			t.Skipf("%v\n%s", err, out)
		}
		_, err := Inspect(t.Context(), []string{"sh", program})
		if (err != nil) != static || static && !strings.Contains(err.Error(), "linked statically") {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// TestCheckProgram changes a program so that no library can be loaded into it.
func TestCheckProgram(t *testing.T) {
	m := mpitest.Installed(t)[0]
	data, err := os.ReadFile(m.Build(t, "loop.c"))
	if err != nil {
		t.Fatal(err)
	}
	program, own := filepath.Join(t.TempDir(), "program"), data[18]
	for _, tt := range []struct {
		mode    os.FileMode
		machine byte // at offset 18 of the header
		err     string
	}{{0o700, 21, "another machine"}, {0o700, own, ""}, {0o700 | os.ModeSetuid, own, ""}} {
		data[18] = tt.machine
		if err := os.WriteFile(program, data, tt.mode.Perm()); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(program, tt.mode); err != nil {
			t.Fatal(err)
		}
		_, err := Inspect(t.Context(), []string{program})
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%v, machine %d: %v", tt.mode, tt.machine, err)
		}
	}
	if os.Getuid() != 0 {
		t.Skip("not root: no file of another user")
	}
	if err := os.Chown(program, 1234, 1234); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(program, 0o755|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	if _, err := Inspect(t.Context(), []string{program}); err == nil ||
		!strings.Contains(err.Error(), "rights of another user") {
		t.Errorf("%v", err)
	}
}

// TestImplementations tells MPIs apart by their libraries and launchers.
func TestImplementations(t *testing.T) {
	for library, want := range map[string]string{
		"libmpi.so.40": openMPI, "libmpi.so.20.10.1": openMPI, "libmpich.so.12": mpich, "libmpi.so.12": mpich,
		"libmpi.so": "", "libmpi.so.1": "",
	} {
		if got := implementationOf(library); got != want {
			t.Errorf("%s is of %q, want %q", library, got, want)
		}
	}
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		want := map[string]string{"openmpi": openMPI, "mpich": mpich}[m.Name]
		if got := launcherOf(t.Context(), m.Launch(1, "true")[0]); got != want {
			t.Errorf("the launcher is of %q, want %q", got, want)
		}
	})
	directory := t.TempDir()
	for said, want := range map[string]string{"mpirun (Open MPI) 5.0": openMPI, "HYDRA build details:": mpich,
		"else": ""} {
		launcher := filepath.Join(directory, "mpirun")
		if err := os.WriteFile(launcher, []byte("#!/bin/sh\necho '"+said+"'\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if got := launcherOf(t.Context(), launcher); got != want {
			t.Errorf("a launcher that says %q is of %q", said, got)
		}
	}
}

// TestExecutable checks that a program in the working directory has a path that the dynamic linker finds.
func TestExecutable(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("program", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := executable("./program"); !filepath.IsAbs(got) || filepath.Base(got) != "program" {
		t.Error(got)
	}
}
