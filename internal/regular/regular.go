// Package regular opens files of directories in which a stranger may have put anything.
package regular

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ErrIrregular is wrapped by the error about what is a pipe, a device, a directory or the like.
var ErrIrregular = errors.New("it is no regular file")

// Open opens a file to read it. What is no regular file is an error, and is not waited for.
func Open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", path, ErrIrregular)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
