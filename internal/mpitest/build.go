package mpitest

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

//go:embed programs
var sources embed.FS

// directory is where the sources and what is built from them are, until [Main]
// removes it.
var directory = sync.OnceValues(func() (string, error) {
	path, err := os.MkdirTemp("", "mpitest")
	if err != nil {
		return "", err
	}
	return path, os.CopyFS(path, sources)
})

// Main runs the tests of a package that builds programs, and returns the exit
// status: it is to be called from TestMain.
func Main(m *testing.M) int {
	code := m.Run()
	if path, err := directory(); err == nil {
		if err := os.RemoveAll(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// Cache returns a directory in which the tests of all packages keep what takes long
// to build and does not change, such as interposers. Nothing removes it.
func Cache() string {
	return filepath.Join(os.TempDir(), fmt.Sprint("reprise-test-", os.Getuid()), "reprise")
}

// builds are the files that an implementation has built.
type builds struct {
	mutex sync.Mutex
	files map[string]func() (string, error) // by what is built and how
}

// at most two compilers run at once.
var compilers = make(chan struct{}, 2)

// once returns what make returned when it was first called for key.
func (b *builds) once(key string, make func() (string, error)) (string, error) {
	b.mutex.Lock()
	if b.files == nil {
		b.files = map[string]func() (string, error){}
	}
	built := b.files[key]
	if built == nil {
		built = sync.OnceValues(func() (string, error) {
			compilers <- struct{}{}
			defer func() { <-compilers }()
			return make()
		})
		b.files[key] = built
	}
	b.mutex.Unlock()
	return built()
}

// Build compiles one of the programs and returns the path of the executable. It
// does so once for each set of flags. It skips the test of a program in Fortran
// if there is no compiler.
func (m *MPI) Build(t testing.TB, source string, flags ...string) string {
	t.Helper()
	compiler := m.CC
	options := []string{"-g", "-O1", "-Wall", "-Wno-stringop-overflow", "-Wno-deprecated-declarations", "-pthread"}
	if !strings.HasSuffix(source, ".c") {
		compiler, options = m.Fortran, []string{"-g", "-O1", "-fallow-argument-mismatch", "-w"}
	}
	if compiler == "" {
		t.Skip("no compiler for Fortran")
	}
	path, err := m.builds.once(strings.Join(append(flags, source), "\x00"), func() (string, error) {
		base, err := directory()
		if err != nil {
			return "", err
		}
		work, err := os.MkdirTemp(base, m.Name)
		if err != nil {
			return "", err
		}
		output := filepath.Join(work, strings.TrimSuffix(source, filepath.Ext(source)))
		arguments := append(append(options, flags...), "-o", output, filepath.Join(base, "programs", source))
		return output, compile(compiler, arguments, work)
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func compile(compiler string, arguments []string, directory string) error {
	c := exec.Command(compiler, arguments...)
	c.Dir = directory
	if output, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", c, err, output)
	}
	return nil
}
