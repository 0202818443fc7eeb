package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
)

// TemporaryDirectory makes a directory among temporary files, which nobody else may read, with a prefix in
// its name, and removes those with that prefix that processes of the same user left when they were killed.
// The caller calls remove.
func TemporaryDirectory(prefix string) (path string, remove func(), err error) {
	removeTemporary(prefix)
	if path, err = os.MkdirTemp("", prefix); err != nil {
		return "", nil, err
	}
	d, err := os.Open(path)
	if err != nil {
		os.Remove(path)
		return "", nil, err
	}
	hold(d)
	return path, func() { os.RemoveAll(path); d.Close() }, nil
}

// removeTemporary removes directories that [TemporaryDirectory] made for processes that are gone.
func removeTemporary(prefix string) {
	for _, path := range mine(os.TempDir(), prefix, "") {
		removeLeftover(path)
	}
}

// mine returns the directories of the user in a directory that have a prefix, a number and a suffix for a
// name.
func mine(directory, prefix, suffix string) (paths []string) {
	d, err := os.Open(directory)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		number, begins := strings.CutPrefix(name, prefix)
		number, ends := strings.CutSuffix(number, suffix)
		if !begins || !ends || number == "" || strings.Trim(number, "0123456789") != "" {
			continue
		}
		path := filepath.Join(directory, name)
		if info, err := os.Lstat(path); err == nil && info.IsDir() && isMine(info) {
			paths = append(paths, path)
		}
	}
	return paths
}

// doneSuffix ends the name of a directory that is being removed.
const doneSuffix = ".done"

// Discard removes a directory that is done with, and what a process left of it that was killed while it did.
// Meanwhile the directory has another name: nobody takes half of it for the whole.
func Discard(path string) {
	_ = os.Rename(path, path+doneSuffix)
	if failing("discard", path) == nil {
		os.RemoveAll(path + doneSuffix)
		os.RemoveAll(path)
	}
}

// Discarded reports whether a path has the name of a directory while [Discard] removes it.
func Discarded(path string) bool { return strings.HasSuffix(filepath.Clean(path), doneSuffix) }

// RemoveDiscarded removes what processes of the same user left that were killed in [Discard], of directories
// that [os.MkdirTemp] made with a prefix in a directory.
func RemoveDiscarded(directory, prefix string) {
	for _, path := range mine(directory, prefix, doneSuffix) {
		os.RemoveAll(path)
	}
}
