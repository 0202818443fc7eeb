package interpose

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/reprise-trace/reprise/internal/regular"
)

// A Command is a command line that starts an MPI program, such as mpirun -n 4 ./app, with what
// its files tell before it runs.
type Command struct {
	// Program is the first argument that is an executable linked with MPI, and Library the
	// library of MPI's C interface that it is linked with, itself or through others. Both are
	// empty if there is none, as with a script, which may load MPI while it runs.
	Program, Library string

	arguments []string
	within    []string // words of shell scripts among them
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
			return nil, fmt.Errorf(
				"interpose: %s is linked statically: the recorder is a library that is loaded with LD_PRELOAD, which needs a dynamic program: link it without -static", a)
		}
		if library := mpiLibrary(ctx, path); library != "" {
			c.Program, c.Library = a, library
			if err := checkProgram(a, path); err != nil {
				return nil, err
			}
			return c, c.checkLauncher(ctx)
		}
	}
	c.within = wordsOf(arguments)
	for _, word := range c.within {
		path := executable(word)
		if path == "" || isStaticMPI(path) {
			continue
		}
		if library := mpiLibrary(ctx, path); library != "" {
			c.Program, c.Library = word, library
			break
		}
	}
	return c, nil
}

// mostWords is how many words of scripts are looked at.
const mostWords = 1000

// wordsOf returns the words of shell scripts among the arguments of a command line: of what stands behind -c,
// and of files.
func wordsOf(arguments []string) (words []string) {
	for i, a := range arguments {
		if script := scriptOf(arguments[:i], a); script != "" {
			words = append(words, strings.FieldsFunc(script, func(r rune) bool {
				return unicode.IsSpace(r) || strings.ContainsRune(";|&()<>'\"`", r)
			})...)
		}
	}
	return words[:min(len(words), mostWords)]
}

// scriptOf returns the text of an argument that is a shell script, or a file with one, and "" of others.
func scriptOf(before []string, argument string) string {
	if n := len(before); n > 0 && strings.HasPrefix(before[n-1], "-") &&
		strings.HasSuffix(before[n-1], "c") && strings.ContainsAny(argument, " ;=") {
		return argument
	}
	path := executable(argument)
	if path == "" {
		path = argument // of sh FILE
	}
	text, err := regular.ReadFile(path, 1<<20)
	if err != nil || !bytes.HasPrefix(text, []byte("#!")) || bytes.IndexByte(text, 0) >= 0 {
		return ""
	}
	return string(text)
}

// launchers are the words of the command that may be launchers, the first behind all others.
func (c *Command) launchers() (names []string) {
	for _, word := range append(c.arguments[1:len(c.arguments):len(c.arguments)], c.within...) {
		name, _, _ := strings.Cut(filepath.Base(word), ".")
		if slices.Contains(launcherNames, name) {
			names = append(names, word)
		}
	}
	return names
}

// launcherNames are those of launchers that belong to an MPI.
var launcherNames = []string{"mpirun", "mpiexec", "orterun", "prterun"}

// sanitizer matches what the dynamic linker lists of the libraries of sanitizers that have to be the first that are loaded.
var sanitizer = regexp.MustCompile(`(?m)^\s*lib(?:a|l|t|hwa)san\.so\S* => (/\S+) `)

// Line returns the command line that starts the processes with libraries that LD_PRELOAD names. Programs with a sanitizer get its
// library in front of these; launchers do not, which it would look for leaks in.
func (c *Command) Line(ctx context.Context, preload string) (line []string) {
	for i, a := range c.arguments {
		path := executable(a)
		if path != "" && (i == 0 || !strings.HasPrefix(c.arguments[i-1], "-")) {
			if file, err := elf.Open(path); err == nil {
				list := listLibraries(ctx, file, path)
				file.Close()
				if found := sanitizer.FindSubmatch(list); found != nil {
					line = append(line, "env", "LD_PRELOAD="+string(found[1])+":"+preload)
				}
			}
		}
		line = append(line, a)
	}
	return line
}

// preloads returns the part of the command that sets LD_PRELOAD itself, "" if none does.
func (c *Command) preloads() string {
	for i, a := range c.arguments {
		script := scriptOf(c.arguments[:i], a)
		switch {
		case strings.HasPrefix(a, "LD_PRELOAD="):
			return a
		case setsPreload.MatchString(script):
			return strings.TrimSpace(setsPreload.FindString(script))
		case a == "LD_PRELOAD":
			return strings.Join(c.arguments[max(i-1, 0):min(i+2, len(c.arguments))], " ")
		}
	}
	return ""
}

// setsPreload matches where a script sets LD_PRELOAD without what it was.
var setsPreload = regexp.MustCompile(
	`(?m)(?:^|[\s;&|('"])(?:unset\s+LD_PRELOAD|(?:LD_PRELOAD=|setenv\s+LD_PRELOAD\s)[^\s;&|$]*)(?:$|[\s;&|)'"])`)

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
	"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "ppc64le": elf.EM_PPC64, "riscv64": elf.EM_RISCV,
	"loong64": elf.EM_LOONGARCH,
}

// checkProgram returns an error if no library can be loaded into a program.
func checkProgram(name, path string) error {
	file, err := elf.Open(path)
	if err != nil {
		return fmt.Errorf("interpose: %w", err)
	}
	defer file.Close()
	if own := machines[runtime.GOARCH]; file.Class != elf.ELFCLASS64 || own != elf.EM_NONE && file.Machine != own {
		return fmt.Errorf(
			"interpose: %s is a program for another machine (%v, %v): the recorder is for 64-bit programs of this one", name, file.Machine, file.Class)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("interpose: %w", err)
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if ok && (info.Mode()&os.ModeSetuid != 0 && int(owner.Uid) != os.Getuid() ||
		info.Mode()&os.ModeSetgid != 0 && int(owner.Gid) != os.Getgid()) {
		return fmt.Errorf(
			"interpose: %s runs with the rights of another user or group: LD_PRELOAD does not work with it: record a copy without them", name)
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
	for _, name := range []string{"mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.mpich", "mpiexec.hydra",
		"orterun", "prterun"} {
		if launcherOf(ctx, name) == want {
			right = name
			break
		}
	}
	return fmt.Errorf(
		"interpose: %s is linked with %s (%s), and %s starts programs of %s: each process would be alone in a run of its own. Start it with %s", c.Program, want, c.Library, launcher, is, right)
}

// launcherOf returns the MPI of a launcher, by its name, that of the file it is a link to, or
// what it says of itself; "" for other commands, and if none tells.
func launcherOf(ctx context.Context, command string) string {
	path := executable(command)
	name, _, _ := strings.Cut(filepath.Base(command), ".") // without that of the MPI, as Debian has it
	if path == "" || !slices.Contains(launcherNames, name) {
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
	preloads := c.preloads()
	switch {
	case status != 0:
		return fmt.Sprintf("the command failed with status %d before any process called MPI", status)
	case preloads != "":
		return fmt.Sprintf(
			"the command sets LD_PRELOAD itself (%s), in place of the recorder's: leave it out there, and set it for record, which adds its own: LD_PRELOAD=LIBRARY reprise record …", preloads)
	case c.Program == "":
		return fmt.Sprintf("no program of %q is linked with MPI, and none has loaded it",
			strings.Join(c.arguments, " "))
	}
	return fmt.Sprintf(
		"%s did not come to call MPI where the recorder is loaded: its launcher must pass on LD_PRELOAD and REPRISE_SPOOL, and its processes must run on this node (on others: mpirun reprise record --parts DIR -- %s)", c.Program, c.Program)
}
