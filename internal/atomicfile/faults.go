package atomicfile

import (
	"io/fs"
	"sync"
	"sync/atomic"
)

// faults is what [Inject] was given, or nil.
var faults atomic.Pointer[func(operation string) error]

// failingMu is held while faults is called.
var failingMu sync.Mutex

// Inject makes operations fail, for tests of what writes files: fault is called before each one, by one
// goroutine at a time, which is create, write, sync, link, rename, remove, clean or discard, and returns the
// error that it ends with, or nil. A write that fails has written half; what cannot be cleaned or discarded
// is no error. The function that Inject returns ends this.
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
	failingMu.Lock()
	defer failingMu.Unlock()
	if err := (*fault)(operation); err != nil {
		return &fs.PathError{Op: operation, Path: path, Err: err}
	}
	return nil
}
