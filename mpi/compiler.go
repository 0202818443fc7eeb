package mpi

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// FindCompiler returns the compiler command of the MPI that a program uses, given
// the command line that starts it, such as mpirun -n 4 ./app. It looks for the
// first argument that is an executable linked with MPI, and for a compiler command
// that links with the same library. If there is no such argument, as with a
// script, it goes by the name of the launcher.
func FindCompiler(ctx context.Context, command []string) (string, error) {
	if len(command) == 0 {
		return "", errors.New("mpi: no command")
	}
	candidates := besides(command[0])
	candidates = append(candidates, "mpicc", "mpicc.openmpi", "mpicc.mpich")
	candidates = slices.DeleteFunc(candidates, func(c string) bool { return executable(c) == "" })
	if len(candidates) == 0 {
		return "", errors.New("mpi: there is no mpicc: the interposer is built with that of the program's MPI")
	}
	program, library := linkedWith(ctx, command)
	if library == "" {
		return candidates[0], nil
	}
	directory, err := os.MkdirTemp("", "reprise-")
	if err != nil {
		return "", temporaryError(err)
	}
	defer os.RemoveAll(directory)
	for _, c := range candidates {
		if linksWith(ctx, c, library, directory) {
			return c, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("mpi: %w", err)
	}
	return "", fmt.Errorf("mpi: %s is linked with %s: none of %s is the compiler command of that MPI", program, library, strings.Join(candidates, ", "))
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

// executable returns the path of a command without symbolic links, or "" if there
// is none.
func executable(name string) string {
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// linkedWith returns the first argument that is an executable linked with MPI, and
// the name of the library.
func linkedWith(ctx context.Context, command []string) (program, library string) {
	for _, a := range command {
		path := executable(a)
		if path == "" {
			continue
		}
		if library := mpiLibrary(ctx, path); library != "" {
			return a, library
		}
	}
	return "", ""
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
	output := filepath.Join(directory, "link.so")
	c := exec.CommandContext(ctx, mpicc, "-shared", "-fPIC", "-w", "-o", output, "-x", "c", "-")
	c.Stdin = bytes.NewReader([]byte("#include <mpi.h>\nint f(void) { return MPI_Finalize(); }\n"))
	return c.Run() == nil && mpiLibrary(ctx, output) == library
}
