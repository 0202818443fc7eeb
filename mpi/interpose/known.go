package interpose

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/reprise-trace/reprise/internal/atomicfile"
	"github.com/reprise-trace/reprise/internal/header"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/regular"
)

// A cache keeps what is built for an MPI, and what its compiler command says. As long as the files
// are the same that this depends on, no compiler is run again.
type cache struct {
	directory string
	kept      bool // only what is kept is wanted: nothing is run
}

// errNotKept is that of a cache that would have to run a compiler.
var errNotKept = errors.New("interpose: it is not built yet")

// header returns the mpi.h of a compiler command.
func (c cache) header(ctx context.Context, mpicc string) (*header.Header, error) {
	return remember(c, mpicc, "header", func() (*header.Header, []string, error) {
		h, err := header.Read(ctx, mpicc)
		if err != nil {
			return nil, nil, fmt.Errorf("interpose: %w", err)
		}
		return h, h.Files, nil
	})
}

// links returns the library of MPI that a compiler command links with, "" if there is none.
func (c cache) links(ctx context.Context, mpicc string) (string, error) {
	return remember(c, mpicc, "links", func() (string, []string, error) {
		directory, remove, err := atomicfile.TemporaryDirectory(linkingPrefix)
		if err != nil {
			return "", nil, temporaryError(err)
		}
		defer remove()
		library, files := linked(ctx, mpicc, directory)
		return library, files, context.Cause(ctx)
	})
}

// A knowledge is what a compiler command said, and of which files.
type knowledge[T any] struct {
	Files []fileState `json:"files"`
	Says  T           `json:"says"`
}

// A fileState tells a file from what is there after a change.
type fileState struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	Time int64  `json:"time_ns"`
}

func stateOf(path string) (fileState, error) {
	info, err := os.Stat(path)
	if err != nil {
		return fileState{}, err
	}
	return fileState{path, info.Size(), info.ModTime().UnixNano()}, nil
}

// remember returns what a compiler command says: what is kept of it if its files are the same, and else
// what find finds, which is kept unless it depends on no file.
func remember[T any](c cache, mpicc, what string, find func() (T, []string, error)) (says T, err error) {
	key, own, err := keyOf(mpicc)
	if err != nil && !c.kept {
		says, _, err = find() // it says what is wrong with the compiler
	}
	if err != nil || key == ([sha256.Size]byte{}) {
		return says, err
	}
	directory, err := privateDirectory(c.directory)
	if err != nil {
		return says, err
	}
	path := filepath.Join(directory, fmt.Sprintf("%s-%x.json", what, key[:8]))
	if says, ok := recall[T](path); ok {
		return says, nil
	}
	if c.kept {
		return says, errNotKept
	}
	k := knowledge[T]{}
	var files []string
	if k.Says, files, err = find(); err != nil || files == nil {
		return k.Says, err
	}
	for _, f := range append(own, files...) {
		state, err := stateOf(f)
		if err != nil {
			return k.Says, nil // it is gone again
		}
		k.Files = append(k.Files, state)
	}
	text, err := json.Marshal(k)
	if err != nil {
		return k.Says, err
	}
	_ = place(path, text) // where it cannot be kept, it is asked again
	return k.Says, nil
}

// mostKept is how long a file may be that keeps what a compiler command says.
const mostKept = 16 << 20

// recall reads what is kept, and reports whether all of its files are the same.
func recall[T any](path string) (says T, ok bool) {
	if !isPrivate(path, 0) {
		return says, false
	}
	text, err := regular.ReadFile(path, mostKept)
	var k knowledge[T]
	if err != nil || json.Unmarshal(text, &k) != nil || len(k.Files) == 0 {
		return says, false
	}
	for _, f := range k.Files {
		if now, err := stateOf(f.Path); err != nil || now != f {
			return says, false
		}
	}
	return k.Says, true
}

// ofCompilers are the variables that change what the compiler commands of MPIs do.
var ofCompilers = []string{
	"OMPI_CC", "OMPI_CFLAGS", "OMPI_CPPFLAGS", "OMPI_LDFLAGS", "OMPI_LIBS", "OPAL_PREFIX", "MPICH_CC",
	"MPICH_CFLAGS", "I_MPI_CC", "I_MPI_ROOT",
	"CC", "CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "LOADEDMODULES",
	"PE_ENV", "CRAY_MPICH_DIR",
}

// keyOf returns what tells a compiler command from others, and the files that it is of: itself, the compilers
// that it may run, and this program, which understands what it says.
func keyOf(mpicc string) (key [sha256.Size]byte, files []string, err error) {
	path, err := exec.LookPath(mpicc)
	if err != nil {
		return key, nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return key, nil, err
	}
	files = []string{executable(path), self}
	if path, err = filepath.Abs(path); err != nil { // by its name, a program may be several
		return key, nil, err
	}
	for _, compiler := range []string{"cc", "gcc", os.Getenv("OMPI_CC"), os.Getenv("MPICH_CC")} {
		if found := executable(compiler); compiler != "" && found != "" {
			files = append(files, found)
		}
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q %q\n", path, files)
	for _, name := range ofCompilers {
		fmt.Fprintf(h, "%q %q\n", name, os.Getenv(name))
	}
	return [sha256.Size]byte(h.Sum(nil)), files, nil
}

// Kept returns the interposer that [Command.Compiler], or [Command.CheckCompiler] of a compiler
// command that is named, and [Build] return, if it is there and is known to be the right one, and
// runs no compiler.
func Kept(ctx context.Context, command *Command, named, cacheDir string) (*Interposer, bool) {
	need.That(command != nil, "interpose: no command")
	c := cache{cacheDir, true}
	mpicc, err := named, error(nil)
	if named == "" {
		mpicc, err = command.compiler(ctx, c)
	} else {
		err = command.checkCompiler(ctx, named, c)
	}
	if err != nil {
		return nil, false
	}
	library, err := c.interposer(ctx, mpicc, nil)
	return library, err == nil
}

// Take returns the path of a copy in cacheDir, see [Build], of a library or program that another
// process has built. Its name says what it is; unless the copy is there already, it is made of the
// first file of some that can be read and that has the digest.
func Take(ctx context.Context, digest string, files []string, cacheDir string) (string, error) {
	if len(files) == 0 {
		return "", errors.New("interpose: no file is named")
	}
	return buildOnce(ctx, cache{directory: cacheDir}, filepath.Base(files[0]), func() {}, func(path string) error {
		var problems []error
		for _, from := range files {
			text, err := regular.ReadFile(from, mostLibrary)
			if err == nil && Digest(text) != digest {
				err = &fs.PathError{Op: "read", Path: from, Err: errors.New("it is not what was built")}
			}
			if err == nil {
				return place(path, text)
			}
			problems = append(problems, err)
		}
		return fmt.Errorf("interpose: %w", errors.Join(problems...))
	})
}

// mostLibrary is how long a library or program may be that is taken.
const mostLibrary = 256 << 20

// Digest returns what [Take] tells files by.
func Digest(file []byte) string { return fmt.Sprintf("%x", sha256.Sum256(file)) }

// place makes a program of a file, which is there when it is complete.
func place(path string, file []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), unfinished+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(file)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return install(f.Name(), path)
}

// install puts a file in its place, as one that may be run.
func install(made, path string) error {
	if err := os.Chmod(made, 0o755); err != nil {
		return fmt.Errorf("interpose: %w", err)
	}
	if err := os.Rename(made, path); err != nil {
		return fmt.Errorf("interpose: %w", err)
	}
	return nil
}
