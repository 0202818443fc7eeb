package mpi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// privateDirectory returns the directory to keep libraries in: the one that is
// wanted, which it makes if need be and if it can. Another user may neither own it nor write to it,
// and LD_PRELOAD must be able to name what is in it: otherwise it is one below the
// directory for temporary files.
func privateDirectory(wanted string) (string, error) {
	if err := os.MkdirAll(wanted, 0o700); err == nil {
		if path, err := absolute(wanted); err == nil && canPreload(path) && isPrivate(path, fs.ModeDir) {
			return path, nil
		}
	}
	temporary, err := absolute(os.TempDir())
	if err != nil {
		return "", temporaryError(err)
	}
	if !canPreload(temporary) {
		return "", fmt.Errorf("mpi: the interposer can be neither in %q nor in %q (TMPDIR): LD_PRELOAD takes no path with a space, a colon or a dollar sign, and nobody else may write there", wanted, temporary)
	}
	path := filepath.Join(temporary, fmt.Sprintf("reprise-%d", os.Getuid()))
	if err := os.Mkdir(path, 0o700); err == nil || errors.Is(err, fs.ErrExist) && isPrivate(path, fs.ModeDir) {
		return path, nil
	}
	if path, err = os.MkdirTemp(temporary, "reprise-"); err != nil {
		return "", temporaryError(err)
	}
	return path, nil
}

// absolute returns the path of a file from the root, without symbolic links.
func absolute(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// temporaryError says of an error that it is about the directory for temporary files.
func temporaryError(err error) error {
	return fmt.Errorf("mpi: the directory for temporary files, TMPDIR: %w", err)
}

// canPreload reports whether LD_PRELOAD can name a path: the dynamic linker splits it
// at spaces and colons, and replaces what follows a dollar sign.
func canPreload(path string) bool { return !strings.ContainsAny(path, " :$\t\n") }

// isPrivate reports whether a file or a directory, not a symbolic link, is there that
// belongs to the user and that nobody else may write to.
func isPrivate(path string, kind fs.FileMode) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type() != kind || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(status.Uid) == os.Getuid()
}

// lock waits until no other process has the lock of a directory, and returns the
// function that gives it back. Where files cannot be locked, it does not wait.
func lock(ctx context.Context, directory string) (unlock func(), err error) {
	file, err := os.OpenFile(filepath.Join(directory, "lock"), os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("mpi: %w", err)
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return func() { file.Close() }, nil
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, fmt.Errorf("mpi: another process builds in %s: %w", directory, ctx.Err())
		case <-time.After(wait):
		}
	}
}
