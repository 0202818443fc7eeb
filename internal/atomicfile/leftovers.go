package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// leftAfter is how long a file has not been written that nobody holds before it is a leftover: one that
// was made just now may not be held yet.
const leftAfter = time.Minute

// RemoveLeftovers removes what processes left that were killed while they wrote a file at a path. It
// reads the names in the directory of the file. Where files cannot be locked, it removes nothing.
func RemoveLeftovers(path string) {
	directory := filepath.Dir(path)
	d, err := os.Open(directory)
	if err != nil {
		return
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(1 << 10)
		for _, name := range names {
			if isTemporary(name, filepath.Base(path)) {
				removeLeftover(filepath.Join(directory, name))
			}
		}
		if err != nil {
			return
		}
	}
}

// isTemporary reports whether name is one that [temporary] gives for a file called base.
func isTemporary(name, base string) bool {
	rest, is := strings.CutPrefix(name, "."+base+".")
	number, ends := strings.CutSuffix(rest, ".new")
	return is && ends && len(number) == 16 && strings.Trim(number, "0123456789abcdef") == ""
}

func removeLeftover(name string) {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < leftAfter {
		return
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer f.Close()
	if hold(f) {
		os.Remove(name)
	}
}
