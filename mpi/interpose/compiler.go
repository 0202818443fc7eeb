package interpose

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

	"github.com/reprise-trace/reprise/internal/group"
)

// linkingPrefix begins the names of temporary directories in which a program is linked.
const linkingPrefix = "reprise-link-"

// Compiler returns the compiler command of the MPI that the program uses: one that links with
// the same library. If no argument of the command is linked with MPI, as with a script, it
// goes by the name of the launcher. What compiler commands link with is kept in cacheDir, see [Build].
func (c *Command) Compiler(ctx context.Context, cacheDir string) (string, error) {
	return c.compiler(ctx, cache{directory: cacheDir})
}

func (c *Command) compiler(ctx context.Context, k cache) (string, error) {
	if len(c.arguments) == 0 {
		return "", errors.New("interpose: no command")
	}
	candidates := besides(c.arguments[0])
	if !slices.Contains(launcherNames, strings.SplitN(filepath.Base(c.arguments[0]), ".", 2)[0]) {
		for _, launcher := range c.launchers() {
			candidates = append(besides(launcher), candidates...)
		}
	}
	candidates = append(candidates, "mpicc", "mpicc.openmpi", "mpicc.mpich")
	candidates = slices.DeleteFunc(candidates, func(c string) bool { return executable(c) == "" })
	if len(candidates) == 0 {
		return "", fmt.Errorf(
			"interpose: there is no mpicc: the interposer is built with that of the program's MPI%s", c.packages())
	}
	if c.Library == "" {
		return candidates[0], nil
	}
	for _, mpicc := range candidates {
		if library, err := k.links(ctx, mpicc); err != nil {
			return "", err
		} else if library == c.Library {
			return mpicc, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("interpose: %w", err)
	}
	return "", fmt.Errorf("interpose: %s is linked with %s: none of %s is the compiler command of that MPI%s",
		c.Program, c.Library, strings.Join(candidates, ", "), c.packages())
}

// CheckCompiler returns an error if the program is linked with another MPI than that of a
// compiler command. What that links with is kept in cacheDir, see [Build].
func (c *Command) CheckCompiler(ctx context.Context, mpicc, cacheDir string) error {
	return c.checkCompiler(ctx, mpicc, cache{directory: cacheDir})
}

func (c *Command) checkCompiler(ctx context.Context, mpicc string, k cache) error {
	if c.Library == "" {
		return nil
	}
	library, err := k.links(ctx, mpicc)
	if err != nil {
		return err
	}
	if library == "" || library == c.Library {
		return nil // the build of the interposer says what is wrong with a compiler
	}
	return fmt.Errorf(
		"interpose: %s is linked with %s, and what %s builds with %s: take the compiler command of the program's MPI", c.Program, c.Library, mpicc, library)
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
	libraries = strings.Fields(string(listLibraries(ctx, file, path)))
	if i := slices.IndexFunc(libraries, isMPI); i >= 0 {
		return libraries[i]
	}
	return ""
}

// listLibraries has the dynamic linker list the libraries of a program, without running it.
func listLibraries(ctx context.Context, file *elf.File, path string) []byte {
	linker := interpreter(file)
	if linker == "" {
		return nil
	}
	list, err := exec.CommandContext(ctx, linker, "--list", path).Output()
	if err != nil {
		return nil
	}
	return list
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

// linked returns the library of MPI that a compiler command links with, or "", and the files that it
// compiles. What it links is in a directory.
func linked(ctx context.Context, mpicc, directory string) (library string, files []string) {
	output, list := filepath.Join(directory, "link.so"), filepath.Join(directory, "files")
	c := group.Command(ctx, mpicc, "-shared", "-fPIC", "-w", "-MD", "-MF", list, "-o", output, "-x", "c", "-")
	c.Stdin = bytes.NewReader([]byte("#include <mpi.h>\nint f(void) { return MPI_Finalize(); }\n"))
	if c.Run() != nil {
		return "", nil
	}
	text, _ := os.ReadFile(list)
	for _, file := range strings.Fields(string(text)) {
		if filepath.IsAbs(file) && !strings.HasSuffix(file, ":") { // which ends the target
			files = append(files, file)
		}
	}
	return mpiLibrary(ctx, output), files
}
