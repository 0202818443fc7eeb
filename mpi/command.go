package mpi

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Command is a command line that starts an MPI program, such as mpirun -n 4 ./app, with what
// its files tell before it runs.
type Command struct {
	// Program is the first argument that is an executable linked with MPI, and Library the
	// library of MPI's C interface that it is linked with, itself or through others. Both are
	// empty if there is none, as with a script, which may load MPI while it runs.
	Program, Library string

	arguments []string
}

// Inspect looks at the files of a command line. The error says why the processes of the
// command cannot be recorded: the program is linked statically, is for another machine, or
// does not let a library be loaded into it, or the launcher is of another MPI.
func Inspect(ctx context.Context, arguments []string) (*Command, error) {
	c := &Command{arguments: arguments}
	for _, a := range arguments {
		path := executable(a)
		if path == "" {
			continue
		}
		if isStaticMPI(path) {
			return nil, fmt.Errorf("mpi: %s is linked statically: the recorder is a library that is loaded with LD_PRELOAD, which needs a dynamic program: link it without -static", a)
		}
		if library := mpiLibrary(ctx, path); library != "" {
			c.Program, c.Library = a, library
			if err := checkProgram(a, path); err != nil {
				return nil, err
			}
			return c, c.checkLauncher(ctx)
		}
	}
	return c, nil
}

// isStaticMPI reports whether a file is a program that has MPI in itself.
func isStaticMPI(path string) bool {
	file, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	symbols, err := file.Symbols()
	return err == nil && interpreter(file) == "" && slices.ContainsFunc(symbols, func(s elf.Symbol) bool {
		return s.Name == "PMPI_Init" && s.Section != elf.SHN_UNDEF
	})
}

// machines are those that the interposer can be built for.
var machines = map[string]elf.Machine{
	"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "ppc64le": elf.EM_PPC64, "riscv64": elf.EM_RISCV, "loong64": elf.EM_LOONGARCH,
}

// checkProgram returns an error if no library can be loaded into a program.
func checkProgram(name, path string) error {
	file, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("mpi: %w", err)
	}
	defer file.Close()
	if own := machines[runtime.GOARCH]; file.Class != elf.ELFCLASS64 || own != elf.EM_NONE && file.Machine != own {
		return fmt.Errorf("mpi: %s is a program for another machine (%v, %v): the recorder is for 64-bit programs of this one", name, file.Machine, file.Class)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("mpi: %w", err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if ok && (info.Mode()&os.ModeSetuid != 0 && int(owner.Uid) != os.Getuid() || info.Mode()&os.ModeSetgid != 0 && int(owner.Gid) != os.Getgid()) {
		return fmt.Errorf("mpi: %s runs with the rights of another user or group: LD_PRELOAD does not work with it: record a copy without them", name)
	}
	return nil
}

// Implementations of MPI.
const (
	openMPI = "Open MPI"
	mpich   = "MPICH" // and those made of it, which its launchers start as well
)

// implementationOf returns the MPI that a library is of, "" if its name does not tell.
func implementationOf(library string) string {
	name, version, _ := strings.Cut(library, ".so.")
	number, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(number)
	switch {
	case name == "libmpich" || err == nil && n == 12:
		return mpich
	case err == nil && n >= 20:
		return openMPI
	}
	return ""
}

// checkLauncher returns an error if the program is behind the launcher of another MPI than its
// own.
func (c *Command) checkLauncher(ctx context.Context) error {
	var launcher, is string
	for _, a := range c.arguments[:slices.Index(c.arguments, c.Program)] {
		if of := launcherOf(ctx, a); of != "" {
			launcher, is = a, of
		}
	}
	want := implementationOf(c.Library)
	if want == "" || is == "" || want == is {
		return nil
	}
	right := "the launcher of " + want
	for _, name := range []string{"mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.mpich", "mpiexec.hydra", "orterun", "prterun"} {
		if launcherOf(ctx, name) == want {
			right = name
			break
		}
	}
	return fmt.Errorf("mpi: %s is linked with %s (%s), and %s starts programs of %s: each process would be alone in a run of its own. Start it with %s", c.Program, want, c.Library, launcher, is, right)
}

// launcherOf returns the MPI of a launcher, by its name, that of the file it is a link to, or
// what it says of itself; "" for other commands, and if none tells.
func launcherOf(ctx context.Context, command string) string {
	path := executable(command)
	name, _, _ := strings.Cut(filepath.Base(command), ".") // without that of the MPI, as Debian has it
	if path == "" || !slices.Contains([]string{"mpirun", "mpiexec", "orterun", "prterun"}, name) {
		return ""
	}
	switch real := filepath.Base(path); {
	case real == "orterun" || real == "prterun" || strings.Contains(real, "openmpi"):
		return openMPI
	case strings.Contains(real, "hydra") || strings.Contains(real, "mpich"):
		return mpich
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	text, err := exec.CommandContext(ctx, path, "--version").CombinedOutput()
	switch {
	case err != nil:
		return ""
	case strings.Contains(string(text), "Open MPI"), strings.Contains(string(text), "OpenRTE"):
		return openMPI
	case strings.Contains(string(text), "HYDRA"):
		return mpich
	}
	return ""
}

// packages says where the compiler command of the program's MPI comes from.
func (c *Command) packages() string {
	name := map[string]string{openMPI: "libopenmpi-dev", mpich: "libmpich-dev"}[implementationOf(c.Library)]
	if name == "" {
		name = "libopenmpi-dev or libmpich-dev"
	}
	return fmt.Sprintf(" (on Debian in %s; on a cluster, load the module of the MPI)", name)
}

// Nothing says why no call of MPI may have been recorded of the command, which ended with a
// status.
func (c *Command) Nothing(status int) string {
	switch {
	case status != 0:
		return fmt.Sprintf("the command failed with status %d before any process called MPI", status)
	case c.Program == "":
		return fmt.Sprintf("no program of %q is linked with MPI, and none has loaded it", strings.Join(c.arguments, " "))
	}
	return fmt.Sprintf("%s did not come to call MPI where the recorder is loaded: its launcher must pass on LD_PRELOAD and REPRISE_SPOOL, and its processes must run on this node (on others: mpirun reprise record --parts DIR -- %s)", c.Program, c.Program)
}
