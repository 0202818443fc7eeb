//go:build !unix || solaris || aix

package atomicfile

import "os"

// hold reports that it cannot lock a file.
func hold(*os.File) bool { return false }

// wait does not wait.
func wait(*os.File) {}

// isMine reports that nothing is known to be of the user.
func isMine(os.FileInfo) bool { return false }

// numberOnDisk returns 0: no number tells a file from others.
func numberOnDisk(os.FileInfo) uint64 { return 0 }
