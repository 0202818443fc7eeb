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
