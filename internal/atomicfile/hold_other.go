//go:build !unix || solaris || aix

package atomicfile

import (
	"context"
	"os"
)

// hold reports that it cannot lock a file.
func hold(*os.File) bool { return false }

// wait does not wait.
func wait(*os.File) {}

// Lock does not wait.
func Lock(context.Context, string) (unlock func(), err error) { return func() {}, nil }

// isMine reports that nothing is known to be of the user.
func isMine(os.FileInfo) bool { return false }

// numberOnDisk returns 0: no number tells a file from others.
func numberOnDisk(os.FileInfo) uint64 { return 0 }
