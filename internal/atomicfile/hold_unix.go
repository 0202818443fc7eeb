//go:build unix && !solaris && !aix

package atomicfile

import (
	"os"
	"syscall"
)

// hold takes the lock of a file, until it is closed, and reports whether nobody else has it.
func hold(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// wait takes the lock of a file as soon as nobody else has it, until it is closed. Where there are no such locks it does
// not wait.
func wait(f *os.File) {
	for syscall.Flock(int(f.Fd()), syscall.LOCK_EX) == syscall.EINTR {
		continue
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
