package record

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/launching"
	"github.com/reprise-trace/reprise/internal/atomicfile"
	"github.com/reprise-trace/reprise/internal/regular"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/interpose"
)

// library returns the interposer: the one that another process hands over, or lays beside the parts, or the
// one that it finds or builds. Afterwards, done is to be called.
func (o *Options) library(cmd *cobra.Command, command *interpose.Command) (library *interpose.Interposer,
	done func(), err error) {
	done = func() {}
	switch {
	case o.handed.Wanted():
		library = &interpose.Interposer{MPI: o.handed.MPI}
		library.Path, err = o.handed.Take(cmd.Context())
	case o.Output.Parts != "" && underLauncher():
		s := sharing{cmd: cmd, command: command, o: o, directory: filepath.Join(o.Output.Parts,
			sharedDirectory), done: done}
		library, err = s.library()
		done = s.done
	default:
		library, err = interposer(cmd, command, o)
	}
	return library, done, err
}

// warnOfUnrecorded names the functions of MPI that the program uses and the library does not record, once for
// all processes.
func warnOfUnrecorded(cmd *cobra.Command, library *interpose.Interposer, command *interpose.Command) {
	if rank, ok := rankOfLauncher(); ok && rank != 0 {
		return
	}
	if names := library.Unrecorded(cmd.Context(), command); len(names) > 0 {
		cli.Warn(cmd.ErrOrStderr(),
			"the program uses %s that reprise does not know (%s): calls of them are not in the trace",
			text.Plural(len(names), "MPI function"), cli.FirstOf(names))
	}
}

// A sharing is how the recorders that a launcher starts come to a library, of which the first builds one and
// lays it beside the parts.
type sharing struct {
	cmd       *cobra.Command
	command   *interpose.Command
	o         *Options
	directory string
	failed    bool // to build here
	done      func()
}

// sharedDirectory is in that of the parts while the program runs.
const sharedDirectory = ".recorder"

// An attempt to build the library has failed.
type attempt struct {
	Host  string `json:"host"`
	Error string `json:"error"`
}

// mostAttempts is how many recorders try to build the library before all give up.
const mostAttempts = 3

// How long a recorder waits for a library that is being built, and for another node to begin if its own
// cannot.
const (
	buildingTime = 3 * time.Minute
	claimingTime = 5 * time.Second
)

// library returns the library. It is looked for without a compiler first; one process at a time tries to
// build it.
func (s *sharing) library() (*interpose.Interposer, error) {
	if kept, ok := interpose.Kept(s.cmd.Context(), s.command, cmp.Or(s.o.Mpicc, os.Getenv("MPICC")),
		launching.CacheDirectory()); ok {
		s.lay(kept)
		return kept, nil
	}
	if err := os.MkdirAll(s.directory, 0o700); err != nil {
		return nil, err
	}
	begun := time.Now()
	active := begun // when another process was last seen to build
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		if h, ok := s.laid(); ok {
			path, err := h.Take(s.cmd.Context())
			return &interpose.Interposer{Path: path, MPI: h.MPI}, err
		}
		library, building, failures := s.try()
		if library != nil {
			s.lay(library)
			return library, nil
		}
		if building {
			active = time.Now()
		}
		if len(failures) >= mostAttempts || time.Since(active) > claimingTime || time.Since(begun) > buildingTime {
			s.done = s.remove
			return nil, errors.Join(
				append(failures, fmt.Errorf("no recorder has put the library into %s", s.directory))...)
		}
		select {
		case <-s.cmd.Context().Done():
			return nil, s.cmd.Context().Err()
		case <-time.After(wait):
		}
	}
}

// try builds the library if nobody does, and this machine has not failed to yet. Else it says whether another
// builds, and why others could not.
func (s *sharing) try() (library *interpose.Interposer, building bool, failures []error) {
	for i := range mostAttempts {
		claim := filepath.Join(s.directory, fmt.Sprint("attempt-", i))
		var a attempt
		if text, err := regular.ReadFile(claim+".failed", maxOrigin); err == nil && json.Unmarshal(text, &a) == nil {
			s.failed = s.failed || a.Host == launching.Host()
			failures = append(failures, fmt.Errorf("%s: %s", a.Host, a.Error))
			continue
		}
		if s.failed {
			_, err := os.Lstat(claim)
			return nil, err == nil, failures
		}
		f, err := os.OpenFile(claim, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return nil, true, failures
		}
		if err == nil {
			f.Close()
			if library, err = interposer(s.cmd, s.command, s.o); err == nil {
				return library, false, nil
			}
		}
		s.failed = true
		if text, err := json.Marshal(attempt{launching.Host(), err.Error()}); err == nil {
			_ = writeWhole(claim+".failed", text)
		}
		failures = append(failures, fmt.Errorf("%s: %w", launching.Host(), err))
	}
	return nil, false, failures
}

// remove removes the directory, once the program has ended.
func (s *sharing) remove() { os.RemoveAll(s.directory) }

// lay lays the library beside the parts, unless another has. The directory is removed when the program has
// ended.
func (s *sharing) lay(library *interpose.Interposer) {
	if err := os.MkdirAll(s.directory, 0o700); err != nil {
		return // nobody else gets it, and says so
	}
	f, err := os.OpenFile(filepath.Join(s.directory, "laying"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	f.Close()
	s.done = s.remove
	h, err := launching.Hand(library.Path, library.MPI, s.directory)
	if err == nil {
		_ = writeWhole(filepath.Join(s.directory, laidFile), []byte(h.String()))
	}
}

// laidFile says what was laid, as JSON.
const laidFile = "library.json"

// laid returns what was laid. Only the user can have written it.
func (s *sharing) laid() (h launching.Handed, ok bool) {
	path := filepath.Join(s.directory, laidFile)
	text, err := regular.ReadFile(path, maxOrigin)
	return h, err == nil && interpose.IsPrivate(path) && json.Unmarshal(text, &h) == nil && h.Wanted()
}

// writeWhole writes a file that is complete when it is there.
func writeWhole(path string, text []byte) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// runUnrecorded runs a command without a recorder, for want of the library.
func runUnrecorded(cmd *cobra.Command, args []string, cause error) error {
	cli.Warn(cmd.ErrOrStderr(), "%s: the program runs and is not recorded here: %v", launching.Host(), cause)
	status, err := runCommand(cmd.Context(), args, os.Environ(), nil, nil)
	if err != nil {
		return launching.NotStarted(cmd, args[0], err)
	}
	return statusError(status)
}

// interposer builds the library that records, or finds it.
func interposer(cmd *cobra.Command, command *interpose.Command, o *Options) (*interpose.Interposer, error) {
	ctx := cmd.Context()
	mpicc, err := launching.CompilerOf(ctx, command, o.Mpicc)
	if err != nil {
		return nil, err
	}
	cache := launching.CacheDirectory()
	b := launching.Building{Stderr: cmd.ErrOrStderr()}
	defer b.End()
	if o.Quiet || o.json {
		return interpose.Build(ctx, mpicc, cache, nil)
	}
	return interpose.Build(ctx, mpicc, cache, b.Begin)
}
