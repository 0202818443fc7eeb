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
	launcher := executable(command[0])
	var candidates []string
	if launcher != "" {
		directory, name := filepath.Split(launcher)
		if _, suffix, ok := strings.Cut(name, "."); ok {
			candidates = append(candidates, filepath.Join(directory, "mpicc."+suffix))
		}
		candidates = append(candidates, filepath.Join(directory, "mpicc"))
	}
	candidates = append(candidates, "mpicc", "mpicc.openmpi", "mpicc.mpich")
	candidates = slices.DeleteFunc(candidates, func(c string) bool { return executable(c) == "" })
	if len(candidates) == 0 {
		return "", errors.New("mpi: there is no mpicc: the interposer is built with that of the program's MPI")
	}
	program, library := linkedWith(command)
	if library == "" {
		return candidates[0], nil
	}
	for _, c := range candidates {
		if linksWith(ctx, c, library) {
			return c, nil
		}
	}
	return "", fmt.Errorf("mpi: %s is linked with %s: none of %s is the compiler command of that MPI", program, library, strings.Join(candidates, ", "))
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
func linkedWith(command []string) (program, library string) {
	for _, a := range command {
		path := executable(a)
		if path == "" {
			continue
		}
		if library := mpiLibrary(path); library != "" {
			return a, library
		}
	}
	return "", ""
}

// mpiLibrary returns the library of MPI's C interface that a file is linked with,
// or "".
func mpiLibrary(path string) string {
	file, err := elf.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	libraries, err := file.ImportedLibraries()
	if err != nil {
		return ""
	}
	for _, l := range libraries {
		if name, _, _ := strings.Cut(l, ".so"); name == "libmpi" || name == "libmpich" {
			return l
		}
	}
	return ""
}

// linksWith reports whether a compiler command links with a library of MPI.
func linksWith(ctx context.Context, mpicc, library string) bool {
	directory, err := os.MkdirTemp("", "reprise-")
	if err != nil {
		return false
	}
	defer os.RemoveAll(directory)
	output := filepath.Join(directory, "link.so")
	c := exec.CommandContext(ctx, mpicc, "-shared", "-fPIC", "-w", "-o", output, "-x", "c", "-")
	c.Stdin = bytes.NewReader([]byte("#include <mpi.h>\nint f(void) { return MPI_Finalize(); }\n"))
	return c.Run() == nil && mpiLibrary(output) == library
}
