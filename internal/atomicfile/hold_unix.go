//go:build unix && !solaris && !aix

package atomicfile

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// hold takes the lock of a file, until it is closed, and reports whether nobody else has it.
func hold(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// wait takes the lock of a file as soon as nobody else has it, until it is closed. Where there are no such
// locks it does not wait.
func wait(f *os.File) {
	for syscall.Flock(int(f.Fd()), syscall.LOCK_EX) == syscall.EINTR {
		continue
	}
}

// Lock waits until no other process has the lock of a file, which it makes, and returns the
// function that gives it back. Where files cannot be locked, it does not wait.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil || !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return func() { f.Close() }, nil
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// isMine reports whether a file is of the user.
func isMine(info os.FileInfo) bool {
	status, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(status.Uid) == os.Geteuid()
}

// numberOnDisk returns a number that tells a file from others of its directory, 0 if none is known.
func numberOnDisk(info os.FileInfo) uint64 {
	if status, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(status.Ino)
	}
	return 0
}
