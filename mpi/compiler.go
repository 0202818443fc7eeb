package mpi

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/atomicfile"
)

// linkingPrefix begins the names of temporary directories in which a program is linked.
const linkingPrefix = "reprise-link-"

// Compiler returns the compiler command of the MPI that the program uses: one that links with
// the same library. If no argument of the command is linked with MPI, as with a script, it
// goes by the name of the launcher.
func (c *Command) Compiler(ctx context.Context) (string, error) {
	if len(c.arguments) == 0 {
		return "", errors.New("mpi: no command")
	}
	candidates := besides(c.arguments[0])
	candidates = append(candidates, "mpicc", "mpicc.openmpi", "mpicc.mpich")
	candidates = slices.DeleteFunc(candidates, func(c string) bool { return executable(c) == "" })
	if len(candidates) == 0 {
		return "", fmt.Errorf("mpi: there is no mpicc: the interposer is built with that of the program's MPI%s", c.packages())
	}
	if c.Library == "" {
		return candidates[0], nil
	}
	directory, remove, err := atomicfile.TemporaryDirectory(linkingPrefix)
	if err != nil {
		return "", temporaryError(err)
	}
	defer remove()
	for _, mpicc := range candidates {
		if linksWith(ctx, mpicc, c.Library, directory) {
			return mpicc, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("mpi: %w", err)
	}
	return "", fmt.Errorf("mpi: %s is linked with %s: none of %s is the compiler command of that MPI%s", c.Program, c.Library, strings.Join(candidates, ", "), c.packages())
}

// CheckCompiler returns an error if the program is linked with another MPI than that of a
// compiler command.
func (c *Command) CheckCompiler(ctx context.Context, mpicc string) error {
	if c.Library == "" {
		return nil
	}
	directory, remove, err := atomicfile.TemporaryDirectory(linkingPrefix)
	if err != nil {
		return temporaryError(err)
	}
	defer remove()
	library := linked(ctx, mpicc, directory)
	if library == "" || library == c.Library {
		return nil // the build of the interposer says what is wrong with a compiler
	}
	return fmt.Errorf("mpi: %s is linked with %s, and what %s builds with %s: take the compiler command of the program's MPI", c.Program, c.Library, mpicc, library)
}

// besides returns the compiler commands that may belong to a launcher, by its
// directory and its name: mpirun.mpich goes with mpicc.mpich, although it may be a
// link to mpiexec.hydra.
func besides(launcher string) []string {
	path, err := exec.LookPath(launcher)
	if err != nil {
		return nil
	}
	var named, plain []string
	for _, p := range []string{path, executable(path)} {
		directory, name := filepath.Split(p)
		if _, suffix, ok := strings.Cut(name, "."); ok {
			named = append(named, filepath.Join(directory, "mpicc."+suffix))
		}
		plain = append(plain, filepath.Join(directory, "mpicc"))
	}
	return append(named, plain...)
}

// executable returns the path of a command from the root, without symbolic links, or "" if there
// is none.
func executable(name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if whole, err := filepath.Abs(path); err == nil {
		path = whole // the dynamic linker looks for a name without a slash elsewhere
	}
	return path
}

// mpiLibrary returns the library of MPI's C interface that a file is linked with,
// itself or through other libraries, such as that of MPI's interface for Fortran,
// or "".
func mpiLibrary(ctx context.Context, path string) string {
	file, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	libraries, err := file.ImportedLibraries()
	if err != nil {
		return ""
	}
	if i := slices.IndexFunc(libraries, isMPI); i >= 0 {
		return libraries[i]
	}
	linker := interpreter(file)
	if linker == "" {
		return ""
	}
	// The dynamic linker lists them and does not run the program.
	list, err := exec.CommandContext(ctx, linker, "--list", path).Output()
	if err != nil {
		return ""
	}
	libraries = strings.Fields(string(list))
	if i := slices.IndexFunc(libraries, isMPI); i >= 0 {
		return libraries[i]
	}
	return ""
}

func isMPI(library string) bool {
	name, _, found := strings.Cut(library, ".so")
	return found && (name == "libmpi" || name == "libmpich")
}

// interpreter returns the path of the dynamic linker of a program, or "".
func interpreter(file *elf.File) string {
	i := slices.IndexFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	if i < 0 {
		return ""
	}
	path := make([]byte, min(file.Progs[i].Filesz, 4096))
	if _, err := file.Progs[i].ReadAt(path, 0); err != nil {
		return ""
	}
	return string(bytes.TrimRight(path, "\x00"))
}

// linksWith reports whether a compiler command links with a library of MPI. What it
// links is in a directory.
func linksWith(ctx context.Context, mpicc, library, directory string) bool {
	return linked(ctx, mpicc, directory) == library
}

// linked returns the library of MPI that a compiler command links with, or "".
func linked(ctx context.Context, mpicc, directory string) string {
	output := filepath.Join(directory, "link.so")
	c := exec.CommandContext(ctx, mpicc, "-shared", "-fPIC", "-w", "-o", output, "-x", "c", "-")
	c.Stdin = bytes.NewReader([]byte("#include <mpi.h>\nint f(void) { return MPI_Finalize(); }\n"))
	if c.Run() != nil {
		return ""
	}
	return mpiLibrary(ctx, output)
}
