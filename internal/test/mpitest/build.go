package mpitest

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
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

// builds are the files that an implementation has built. They stay beside [Cache] for the
// tests of other packages and later runs, under a name of what they were made of.
type builds struct {
	mutex sync.Mutex
	files map[string]func() (string, error) // by what is built and how
}

// programs is the sum of all sources.
var programs = sync.OnceValues(func() (string, error) {
	h := sha256.New()
	err := fs.WalkDir(sources, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := sources.ReadFile(path)
		fmt.Fprintf(h, "%q %q\n", path, text)
		return err
	})
	return string(h.Sum(nil)), err
})

// at most two compilers run at once.
var compilers = make(chan struct{}, 2)

// once returns the file of a name that make makes of what from says. It is made once by all
// tests.
func (m *MPI) once(name string, from []string, make func(output string) error) (string, error) {
	key := strings.Join(append(from, name), "\x00")
	m.builds.mutex.Lock()
	if m.builds.files == nil {
		m.builds.files = map[string]func() (string, error){}
	}
	built := m.builds.files[key]
	if built == nil {
		built = sync.OnceValues(func() (string, error) {
			compilers <- struct{}{}
			defer func() { <-compilers }()
			return m.keep(name, key, make)
		})
		m.builds.files[key] = built
	}
	m.builds.mutex.Unlock()
	return built()
}

// keep returns the file that is kept under a key, and makes it if there is none.
func (m *MPI) keep(name, key string, make func(output string) error) (string, error) {
	all, err := programs()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", m.CC, m.version, all, key))
	kept := filepath.Join(filepath.Dir(Cache()), "mpitest", fmt.Sprintf("%x", sum[:12]), name)
	if _, err := os.Stat(kept); err == nil {
		return kept, nil
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		return "", err
	}
	// Made aside, so that no other test sees a file that is not complete.
	aside, err := os.MkdirTemp(filepath.Dir(kept), "")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(aside)
	if err := make(filepath.Join(aside, name)); err != nil {
		return "", err
	}
	return kept, os.Rename(filepath.Join(aside, name), kept)
}

// Build compiles one of the programs and returns the path of the executable, once for
// each set of flags. It skips the test of a program in Fortran
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
	path, err := m.once(strings.TrimSuffix(source, filepath.Ext(source)), append(flags, source),
		func(output string) error {
			base, err := directory()
			if err != nil {
				return err
			}
			arguments := append(append(options, flags...), "-o", output, filepath.Join(base, "programs", source))
			return compile(compiler, arguments, filepath.Dir(output))
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
