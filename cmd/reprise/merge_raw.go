package main

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
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/reprise-trace/reprise/internal/regular"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/collect"
)

// A spoolPlace says where raw records are of which a part is to come into a directory. It is there, as a file, from before
// the program runs until the records are removed, and whoever will make the part holds a lock of it. If nobody does and the
// records are there, the recorder was killed.
type spoolPlace struct {
	Host  string `json:"host"`
	Spool string `json:"spool"`

	path string // of the file
}

// placePattern matches the names of these files.
const placePattern = ".records-*.json"

// collectingLock begins the name of a file in a directory of parts that is locked while raw records of a machine are collected.
const collectingLock = ".collecting-"

// maxPlace is how many bytes of one are read.
const maxPlace = 1 << 16

// keepPlace writes where raw records are into a directory of parts, and returns the file, locked.
func keepPlace(parts, spool string) (*os.File, error) {
	data, err := json.Marshal(spoolPlace{Host: host(), Spool: spool})
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(parts, placePattern)
	if err != nil {
		return nil, err
	}
	_ = unix.Flock(int(f.Fd()), unix.LOCK_EX) // where files cannot be locked, it is not known of a recorder that it was killed
	if _, err := f.Write(data); err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, err
	}
	return f, nil
}

// leftRecords returns where raw records may be whose recorder was killed, of parts of a directory. Of other machines it is not
// known whether they are still there.
func leftRecords(parts string) (list []spoolPlace) {
	paths, _ := filepath.Glob(filepath.Join(parts, placePattern))
	for _, path := range paths {
		if p, ok := leftPlace(path); ok {
			list = append(list, p)
		}
	}
	return list
}

func leftPlace(path string) (p spoolPlace, ok bool) {
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
	if _, err := os.Lstat(p.Spool); p.Host == host() && errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(path) // the recorder was killed, and what collects was not
	}
	return p, p.Host != host() || strings.HasPrefix(filepath.Base(p.Spool), spoolPrefix) && collect.IsSpool(p.Spool) && !isLeftover(p.Spool)
}

func (p *spoolPlace) String() string {
	if p.Host != host() {
		return fmt.Sprintf("a recorder on %s has not made its part: if it was killed, its raw records are there in %s, and merge --collect makes a part of them, there or with a launcher behind --", text.Printable(p.Host), quoted(p.Spool))
	}
	return fmt.Sprintf("a recorder on %s was killed before it removed its raw records, which are in %s; merge --collect merges them, too", text.Printable(p.Host), quoted(p.Spool))
}

// leftOf returns what is said of the raw records of which parts are missing in directories.
func leftOf(directories []string) (list []string) {
	for _, directory := range directories {
		for _, p := range leftRecords(directory) {
			list = append(list, p.String())
		}
	}
	return list
}

// withLeft adds to an error of merging directories where raw records are.
func withLeft(err error, directories []string) error {
	for _, left := range leftOf(directories) {
		err = fmt.Errorf("%w; %s", err, left)
	}
	return err
}

// collectLeft makes parts of raw records in the directories among the inputs, if that is asked for.
func (o *treeOptions) collectLeft(cmd *cobra.Command, inputs []string) error {
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

// collectLeft makes parts of the raw records on this machine whose recorders were killed. The records stay, as a process of the
// program may still write some. One that cannot be collected keeps no other from that.
func collectLeft(ctx context.Context, parts string, stderr io.Writer) error {
	if len(leftRecords(parts)) == 0 {
		return nil
	}
	unlock, err := lockCollecting(ctx, parts)
	if err != nil {
		return err
	}
	defer unlock()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, p := range leftRecords(parts) {
		if p.Host != host() {
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
			warn(stderr, "%s is not collected: %v", quoted(p.Spool), err)
			continue
		}
		fmt.Fprintf(stderr, "reprise: %s: collected into %s; once no process of the program is left on %s, this removes it: rm -r %[1]s\n", quoted(p.Spool), quoted(parts), text.Printable(p.Host))
		_ = os.Remove(p.path)
	}
	return nil
}

// lockCollecting takes a lock of those that collect what is left on this machine: one process of a node does, and others wait.
func lockCollecting(ctx context.Context, parts string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(parts, collectingLock+text.Printable(host())), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK) {
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return func() {
		_ = os.Remove(f.Name()) // who waits for it finds nothing left
		f.Close()
	}, nil
}
