package atomicfile

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// leftAfter is how long a file has not been written that nobody holds before it is a leftover: one that
// was made just now may not be held yet.
const leftAfter = time.Minute

// RemoveLeftovers removes what processes left that were killed while they wrote files, or a directory, at
// paths. If one was killed while it put files in their places together, it puts back what was there. It reads
// the names in the directories of the paths. Where files cannot be locked, it does nothing.
func RemoveLeftovers(paths ...string) {
	names := make(map[string][]string) // by directory
	for _, path := range paths {
		path = filepath.Clean(path)
		names[filepath.Dir(path)] = append(names[filepath.Dir(path)], stem(path))
	}
	for directory, bases := range names {
		found := hiddenIn(directory, bases)
		for _, name := range found {
			if _, _, is := cutHidden(name, "list"); is {
				undoLeft(filepath.Join(directory, name), bases)
			}
		}
		for _, name := range found {
			if _, _, is := cutHidden(name, "new"); is {
				removeLeftover(filepath.Join(directory, name))
			} else if _, number, is := cutHidden(name, "old"); is && !hasList(directory, number) {
				os.Remove(filepath.Join(directory, name))
			}
		}
	}
}

// hiddenIn returns the names in a directory that files whose stems are bases have in the midst of being written.
func hiddenIn(directory string, bases []string) (found []string) {
	d, err := os.Open(directory)
	if err != nil {
		return nil
	}
	defer d.Close()
	for {
		names, err := d.Readdirnames(1 << 10)
		for _, name := range names {
			for _, kind := range []string{"new", "old", "list"} {
				if base, _, is := cutHidden(name, kind); is && slices.Contains(bases, base) {
					found = append(found, name)
				}
			}
		}
		if err != nil {
			return found
		}
	}
}

// undoLeft restores the files that a killed process was replacing, by the list that it left. It ignores a list that
// names a file with another stem.
func undoLeft(list string, bases []string) {
	directory, err := os.Open(filepath.Dir(list))
	if err != nil {
		return
	}
	defer directory.Close()
	wait(directory)
	f, err := openRegular(list)
	if err != nil {
		return
	}
	defer f.Close()
	if !hold(f) {
		return
	}
	s, err := readSwap(list)
	if err != nil || slices.ContainsFunc(s.members, func(m member) bool {
		return !slices.Contains(bases, stem(m.path))
	}) {
		return
	}
	_ = s.undo() // or the next command does
}

// hasList reports whether a list of a number is in a directory: somebody may still put back what it kept.
func hasList(directory, number string) bool {
	d, err := os.Open(directory)
	if err != nil {
		return true
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	return err != nil || slices.ContainsFunc(names, func(name string) bool {
		_, n, is := cutHidden(name, "list")
		return is && n == number
	})
}

// removeLeftover removes a file or a directory that nobody holds.
func removeLeftover(name string) {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() || time.Since(info.ModTime()) < leftAfter {
		return
	}
	open := openRegular
	if info.IsDir() {
		open = os.Open
	}
	f, err := open(name)
	if err != nil {
		return
	}
	defer f.Close()
	if hold(f) {
		os.RemoveAll(name)
	}
}

// openRegular opens a file that is no pipe.
func openRegular(name string) (*os.File, error) {
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, os.ErrInvalid
	}
	return os.OpenFile(name, os.O_RDWR, 0)
}

// hidden returns the name beside a path that a file has for a time.
func hidden(path, number, kind string) string {
	return filepath.Join(filepath.Dir(path), "."+stem(path)+"."+number+"."+kind)
}

// maxStem is how long the part of a hidden name is that stands for the base of a path, so that file systems
// that take names of 255 bytes take it.
const maxStem = 255 - len("..0123456789abcdef.list")

// stem returns the base of a path, or, if it is too long, its beginning and a digest of all of it.
func stem(path string) string {
	base := filepath.Base(path)
	if len(base) <= maxStem {
		return base
	}
	digest := fnv.New64a()
	digest.Write([]byte(base))
	end := maxStem - len("~0123456789abcdef")
	for end > 0 && !utf8.RuneStart(base[end]) {
		end--
	}
	return fmt.Sprintf("%s~%016x", base[:end], digest.Sum64())
}

// cutHidden cuts a name that [hidden] gives for a kind of files.
func cutHidden(name, kind string) (base, number string, is bool) {
	name, dot := strings.CutPrefix(name, ".")
	name, ends := strings.CutSuffix(name, "."+kind)
	i := strings.LastIndexByte(name, '.')
	if !dot || !ends || i < 0 {
		return "", "", false
	}
	base, number = name[:i], name[i+1:]
	return base, number, len(number) == 16 && strings.Trim(number, "0123456789abcdef") == ""
}

// numberOf returns the number in the path of a temporary file.
func numberOf(path string) string {
	_, number, _ := cutHidden(filepath.Base(path), "new")
	return number
}
