package launching

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

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/interpose"
)

// Host returns the name of this machine.
func Host() string {
	name, err := os.Hostname()
	if err != nil {
		return "a node"
	}
	return name
}

// NotStarted returns the error of a command that did not start.
func NotStarted(cmd *cobra.Command, name string, err error) error {
	var search *exec.Error
	if errors.As(err, &search) {
		err = search.Err
	}
	err = cli.FileError(name, err)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		cli.Notice(cmd.ErrOrStderr(), "reprise:", text.Failure, err.Error())
		return cli.ExitStatus(127) // as shells have it
	}
	return err
}

// SocketPair returns two sockets that lead to each other.
func SocketPair() (mine, theirs *os.File, err error) {
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

// A Handed library or program is one that a process built for those on other nodes, which build nothing. They
// are passed it as JSON.
type Handed struct {
	Files  []string `json:"files"` // where it may be; the first has its name
	Digest string   `json:"digest"`
	MPI    string   `json:"mpi,omitempty"`
}

// String, Set and Type make a value of a flag of it.
func (h *Handed) String() string {
	if h == nil || !h.Wanted() {
		return ""
	}
	text, _ := json.Marshal(h)
	return string(text)
}

func (h *Handed) Set(text string) error { return json.Unmarshal([]byte(text), h) }

func (h *Handed) Type() string { return "json" }

// Wanted reports whether anything is handed.
func (h *Handed) Wanted() bool { return h.Digest != "" }

// Hand lays a copy of a file in a directory, for nodes that do not see the file itself.
func Hand(path, mpiName, directory string) (Handed, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return Handed{}, err
	}
	copied := filepath.Join(directory, filepath.Base(path))
	if err := os.WriteFile(copied, file, 0o600); err != nil {
		return Handed{}, err
	}
	return Handed{Files: []string{path, copied}, Digest: interpose.Digest(file), MPI: mpiName}, nil
}

// Take returns the path of the file on this node.
func (h *Handed) Take(ctx context.Context) (string, error) {
	path, err := interpose.Take(ctx, h.Digest, h.Files, CacheDirectory())
	if err != nil {
		err = fmt.Errorf(
			"%w: all nodes must see one of these files: their directories are those of XDG_CACHE_HOME and of the output", err)
	}
	return path, err
}

// Handing makes a directory beside an output for what is handed. It is removed when all is done.
func Handing(output string) (directory string, finish func(), err error) {
	remove := func() { os.RemoveAll(directory) }
	done, err := cli.Unfinished.Begin(func() (func(), error) {
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

// StartedFile is made beside a library that was handed when a process has started its program with it.
const StartedFile = "started"

// MarkStarted makes that file.
func (h *Handed) MarkStarted() {
	if h.Wanted() {
		_ = os.WriteFile(filepath.Join(filepath.Dir(h.Files[len(h.Files)-1]), StartedFile), nil, 0o600)
	}
}

// CompilerOf returns the compiler command of the MPI that a command line starts programs of, which is named
// unless it is empty.
func CompilerOf(ctx context.Context, command *interpose.Command, named string) (string, error) {
	mpicc := cmp.Or(named, os.Getenv("MPICC"))
	if mpicc != "" {
		return mpicc, command.CheckCompiler(ctx, mpicc, CacheDirectory())
	}
	mpicc, err := command.Compiler(ctx, CacheDirectory())
	if err != nil {
		return "", fmt.Errorf("%w; name it with --mpicc", err)
	}
	return mpicc, nil
}

// CacheDirectory returns the directory for what is built for an MPI.
func CacheDirectory() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return filepath.Join(os.TempDir(), fmt.Sprintf("reprise-%d", os.Getuid()))
	}
	return filepath.Join(cache, "reprise")
}

// WithoutProgram returns the arguments of a launcher without the program of MPI that it starts, if there is
// one.
func WithoutProgram(args []string, command *interpose.Command) []string {
	if i := slices.Index(args, command.Program); i >= 0 {
		args = args[:i]
	}
	return slices.Clone(args)
}

// Patience is how long a command may take to end that was asked to.
var Patience = 10 * time.Second
