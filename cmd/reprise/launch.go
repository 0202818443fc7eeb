package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/interpose"
)

// host returns the name of this machine.
func host() string {
	name, err := os.Hostname()
	if err != nil {
		return "a node"
	}
	return name
}

// notStarted returns the error of a command that did not start.
func notStarted(cmd *cobra.Command, name string, err error) error {
	var search *exec.Error
	if errors.As(err, &search) {
		err = search.Err
	}
	err = fileError(name, err)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		notice(cmd.ErrOrStderr(), "reprise:", text.Failure, err.Error())
		return exitStatus(127) // as shells have it
	}
	return err
}

// socketPair returns two sockets that lead to each other.
func socketPair() (mine, theirs *os.File, err error) {
	syscall.ForkLock.RLock() // no process starts that gets them, too
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(pair[0])
		unix.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("making a socket: %w", err)
	}
	return os.NewFile(uintptr(pair[0]), "socket"), os.NewFile(uintptr(pair[1]), "socket"), nil
}

// A handed library or program is one that a process built for those on other nodes, which build nothing. They
// are passed it as JSON.
type handed struct {
	Files  []string `json:"files"` // where it may be; the first has its name
	Digest string   `json:"digest"`
	MPI    string   `json:"mpi,omitempty"`
}

// String, Set and Type make a value of a flag of it.
func (h *handed) String() string {
	if h == nil || !h.wanted() {
		return ""
	}
	text, _ := json.Marshal(h)
	return string(text)
}

func (h *handed) Set(text string) error { return json.Unmarshal([]byte(text), h) }

func (h *handed) Type() string { return "json" }

// wanted reports whether anything is handed.
func (h *handed) wanted() bool { return h.Digest != "" }

// hand lays a copy of a file in a directory, for nodes that do not see the file itself.
func hand(path, mpiName, directory string) (handed, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return handed{}, err
	}
	copied := filepath.Join(directory, filepath.Base(path))
	if err := os.WriteFile(copied, file, 0o600); err != nil {
		return handed{}, err
	}
	return handed{Files: []string{path, copied}, Digest: interpose.Digest(file), MPI: mpiName}, nil
}

// take returns the path of the file on this node.
func (h *handed) take(ctx context.Context) (string, error) {
	path, err := interpose.Take(ctx, h.Digest, h.Files, cacheDirectory())
	if err != nil {
		err = fmt.Errorf("%w: all nodes must see one of these files: their directories are those of XDG_CACHE_HOME and of the output", err)
	}
	return path, err
}

// handing makes a directory beside an output for what is handed. It is removed when all is done.
func handing(output string) (directory string, finish func(), err error) {
	remove := func() { os.RemoveAll(directory) }
	done, err := unfinished.begin(func() (func(), error) {
		if directory, err = os.MkdirTemp(filepath.Dir(output), ".reprise-"); err == nil {
			directory, err = filepath.Abs(directory)
		}
		return remove, err
	})
	if err != nil {
		return "", nil, err
	}
	return directory, func() { remove(); done() }, nil
}

// startedFile is made beside a library that was handed when a process has started its program with it.
const startedFile = "started"

// markStarted makes that file.
func (h *handed) markStarted() {
	if h.wanted() {
		_ = os.WriteFile(filepath.Join(filepath.Dir(h.Files[len(h.Files)-1]), startedFile), nil, 0o600)
	}
}

// compilerOf returns the compiler command of the MPI that a command line starts programs of, which is named unless it is
// empty.
func compilerOf(ctx context.Context, command *interpose.Command, named string) (string, error) {
	mpicc := cmp.Or(named, os.Getenv("MPICC"))
	if mpicc != "" {
		return mpicc, command.CheckCompiler(ctx, mpicc, cacheDirectory())
	}
	mpicc, err := command.Compiler(ctx, cacheDirectory())
	if err != nil {
		return "", fmt.Errorf("%w; name it with --mpicc", err)
	}
	return mpicc, nil
}

// cacheDirectory returns the directory for what is built for an MPI.
func cacheDirectory() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return filepath.Join(os.TempDir(), fmt.Sprintf("reprise-%d", os.Getuid()))
	}
	return filepath.Join(cache, "reprise")
}

// withoutProgram returns the arguments of a launcher without the program of MPI that it starts, if there is one.
func withoutProgram(args []string, command *interpose.Command) []string {
	if i := slices.Index(args, command.Program); i >= 0 {
		args = args[:i]
	}
	return slices.Clone(args)
}

// patience is how long a command may take to end that was asked to.
var patience = 10 * time.Second
