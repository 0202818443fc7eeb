package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
)

// TemporaryDirectory makes a directory among temporary files, which nobody else may read, with a prefix in its name, and
// removes those with that prefix that processes of the same user left when they were killed. The caller calls remove.
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
	d, err := os.Open(os.TempDir())
	if err != nil {
		return
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		number, is := strings.CutPrefix(name, prefix)
		if !is || number == "" || strings.Trim(number, "0123456789") != "" {
			continue
		}
		path := filepath.Join(os.TempDir(), name)
		if info, err := os.Lstat(path); err == nil && info.IsDir() && isMine(info) {
			removeLeftover(path)
		}
	}
}
