package atomicfile

import (
	"io/fs"
	"sync/atomic"
)

// faults is what [Inject] was given, or nil.
var faults atomic.Pointer[func(operation string) error]

// Inject makes operations fail, for tests of what writes files: fault is called before each one, which is
// create, write, sync or rename, and returns the error that it ends with, or nil. A write that fails
// has written half. The function that Inject returns ends this.
func Inject(fault func(operation string) error) (end func()) {
	faults.Store(&fault)
	return func() { faults.Store(nil) }
}

// failing returns the error with which an operation on a file shall end, or nil.
func failing(operation, path string) error {
	fault := faults.Load()
	if fault == nil {
		return nil
	}
	if err := (*fault)(operation); err != nil {
		return &fs.PathError{Op: operation, Path: path, Err: err}
	}
	return nil
}
