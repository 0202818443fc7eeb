package merging

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/launching"
	"github.com/reprise-trace/reprise/internal/atomicfile"
	"github.com/reprise-trace/reprise/internal/regular"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/collect"
)

// A SpoolPlace says where the raw records of a part are. It is a file in the directory of the
// parts. record makes it before the program runs, and removes it with the records. Until then
// record, and the process that collects, hold the lock of the file: if nobody holds it and the
// records are there, both were killed.
type SpoolPlace struct {
	Host  string `json:"host"`
	Spool string `json:"spool"`

	path string // of the file
}

// placePattern matches the names of these files.
const placePattern = ".records-*.json"

// collectingLock begins the name of the file in a directory of parts that is locked while a machine collects.
const collectingLock = ".collecting-"

// maxPlace is how many bytes of one are read.
const maxPlace = 1 << 16

// KeepPlace writes where raw records are into a directory of parts, and returns the file, locked.
func KeepPlace(parts, spool string) (*os.File, error) {
	data, err := json.Marshal(SpoolPlace{Host: launching.Host(), Spool: spool})
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(parts, placePattern)
	if err != nil {
		return nil, err
	}
	_ = unix.Flock(int(f.Fd()), unix.LOCK_EX) // without locks, no merge says that the recorder was killed
	if _, err := f.Write(data); err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, err
	}
	return f, nil
}

// leftRecords returns the places of the raw records of killed recorders, for the parts of a
// directory. Records on other machines may be gone.
func leftRecords(parts string) (list []SpoolPlace) {
	paths, _ := filepath.Glob(filepath.Join(parts, placePattern))
	for _, path := range paths {
		if p, ok := leftPlace(path); ok {
			list = append(list, p)
		}
	}
	return list
}

func leftPlace(path string) (p SpoolPlace, ok bool) {
	f, err := regular.Open(path)
	if err != nil {
		return p, false
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil {
		return p, false
	}
	data, err := io.ReadAll(io.LimitReader(f, maxPlace))
	if err != nil || json.Unmarshal(data, &p) != nil {
		return p, false
	}
	p.path = path
	if _, err := os.Lstat(p.Spool); p.Host == launching.Host() && errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(path) // the recorder was killed, and what collects was not
	}
	ours := strings.HasPrefix(filepath.Base(p.Spool), cli.SpoolPrefix) && collect.IsSpool(p.Spool) &&
		!cli.IsLeftover(p.Spool)
	return p, ours || p.Host != launching.Host()
}

func (p *SpoolPlace) String() string {
	where, spool := text.Printable(p.Host), cli.Quoted(p.Spool)
	if p.Host != launching.Host() {
		return fmt.Sprintf(
			"a recorder on %s has not made its part: if it was killed, its raw records are there in %s, "+
				"and merge --collect makes a part of them, there or with a launcher after --", where, spool)
	}
	return fmt.Sprintf("a recorder on %s was killed before it removed its raw records, which are in %s; "+
		"merge --collect merges them, too", where, spool)
}

// leftOf returns a sentence about each killed recorder, for the parts of some directories.
func leftOf(directories []string) (list []string) {
	for _, directory := range directories {
		for _, p := range leftRecords(directory) {
			list = append(list, p.String())
		}
	}
	return list
}

// withLeft adds the sentences of leftOf to an error of merging.
func withLeft(err error, directories []string) error {
	for _, left := range leftOf(directories) {
		err = fmt.Errorf("%w; %s", err, left)
	}
	return err
}

// collectLeft makes parts of raw records in the directories among the inputs, if that is asked for.
func (o *TreeOptions) collectLeft(cmd *cobra.Command, inputs []string) error {
	if !o.raw {
		return nil
	}
	for _, path := range inputs {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			continue
		}
		if err := collectLeft(cmd.Context(), path, cmd.ErrOrStderr()); err != nil {
			return err
		}
	}
	return nil
}

// collectLeft makes parts of the raw records of killed recorders on this machine. The records stay:
// a process of the program may still write some. If some cannot be collected, it warns and goes on.
func collectLeft(ctx context.Context, parts string, stderr io.Writer) error {
	if len(leftRecords(parts)) == 0 {
		return nil
	}
	// One process of a node does it, and the others wait and find nothing left.
	lock := filepath.Join(parts, collectingLock+text.Printable(launching.Host()))
	unlock, err := atomicfile.Lock(ctx, lock)
	if err != nil {
		return err
	}
	defer unlock()
	defer os.Remove(lock)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, p := range leftRecords(parts) {
		if p.Host != launching.Host() {
			continue
		}
		c := exec.CommandContext(ctx, self, "collect", "--quiet", "--parts", parts, "--", p.Spool)
		c.Stderr = stderr
		c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
		err := c.Run()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			cli.Warn(stderr, "%s is not collected: %v", cli.Quoted(p.Spool), err)
			continue
		}
		fmt.Fprintf(stderr,
			"reprise: %s: collected into %s; once the program has ended, this removes it: rm -r %[1]s\n",
			cli.Quoted(p.Spool), cli.Quoted(parts))
		_ = os.Remove(p.path)
	}
	return nil
}
