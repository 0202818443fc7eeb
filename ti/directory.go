package ti

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// rankFileName matches the names of files of one rank. Its first group is the
// number of the rank, from 1.
var rankFileName = regexp.MustCompile(`_rank-([1-9][0-9]{0,8})\.txt(?:\.gz|\.zst)?$`)

// rankNumber returns the number of the rank of which a file is by its name, or 0.
func rankNumber(path string) int {
	m := rankFileName.FindStringSubmatch(path)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // it has nine digits at most
	return n
}

// expand sets the files to paths, with the files of ranks in place of directories
// and without lists of files that are given with these, in the order in which they
// are to be read.
func (r *Reader) expand(paths []string) error {
	expanded := false
	names := make(map[int]string)
	for _, p := range paths {
		if n := rankNumber(p); n > 0 {
			names[n] = filepath.Base(p)
		}
	}
	for _, p := range paths {
		if len(names) > 0 && rankNumber(p) == 0 {
			if n := r.countListed(p, names); n > 0 {
				r.size = max(r.size, n)
				continue
			}
		}
		if info, err := os.Stat(p); p == "-" || err != nil || !info.IsDir() {
			r.files = append(r.files, p)
			continue
		}
		files, err := r.readDirectory(p)
		if err != nil {
			return err
		}
		r.files = append(r.files, files...)
		expanded = true
	}
	if expanded && len(paths) > 1 {
		if err := refuseRepeated(r.files); err != nil {
			return err
		}
	}
	sortRankFiles(r.files)
	return refuseSameRank(r.files)
}

// refuseSameRank returns an error if two of the paths, in directories of several
// nodes or compressed and not, have one name of a file of a rank.
func refuseSameRank(paths []string) error {
	seen := make(map[string]string)
	for _, p := range paths {
		n := rankNumber(p)
		if n == 0 {
			continue
		}
		name := filepath.Base(p)
		name = name[:strings.LastIndex(name, ".txt")]
		if other, ok := seen[name]; ok {
			return fmt.Errorf("ti: both %s and %s are of number %d, which is one rank", other, p, n)
		}
		seen[name] = p
	}
	return nil
}

// sortRankFiles sorts those of the paths that name files of ranks by their
// numbers, and leaves the others where they are. If a number occurs twice, the
// numbers are not those of the ranks, and all stay.
func sortRankFiles(paths []string) {
	type file struct {
		number int
		path   string
	}
	var places []int
	var files []file
	for i, p := range paths {
		if n := rankNumber(p); n > 0 {
			places, files = append(places, i), append(files, file{n, p})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return a.number - b.number })
	for i := 1; i < len(files); i++ {
		if files[i-1].number == files[i].number {
			return
		}
	}
	for i, place := range places {
		paths[place] = files[i].path
	}
}

// readDirectory returns the paths of the files of ranks in dir. It takes the
// number of ranks from a list of these, if there is one, and notes what else is
// there, unless it is hidden.
func (r *Reader) readDirectory(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, readError(dir, err)
	}
	names := make(map[int]string)
	var files, others []string
	deep := false // there are directories in it
	for _, e := range entries {
		n := rankNumber(e.Name())
		switch {
		case n > 0 && !e.IsDir():
			if other, ok := names[n]; ok {
				return nil, fmt.Errorf("ti: %s: both %s and %s are of number %d", dir, other, e.Name(), n)
			}
			names[n] = e.Name()
			files = append(files, filepath.Join(dir, e.Name()))
		case !strings.HasPrefix(e.Name(), "."):
			path := filepath.Join(dir, e.Name())
			if e.IsDir() {
				path += string(filepath.Separator)
				deep = true
			}
			others = append(others, path)
		}
	}
	if len(files) == 0 {
		below := ""
		if deep {
			below = "; directories in it are not searched"
		}
		return nil, fmt.Errorf("ti: %s: no files named …_rank-1.txt and so on%s", dir, below)
	}
	for _, path := range others {
		if n := r.countListed(path, names); n > 0 {
			r.size = max(r.size, n)
		} else {
			r.ignored = append(r.ignored, path)
		}
	}
	sortRankFiles(files)
	return files, nil
}

// countListed returns the number of files that the file at path lists, at least
// one of which is, by number, among names, or 0 if it is no such list.
func (r *Reader) countListed(path string, names map[int]string) int {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return 0
	}
	list := newReader(r.options, []string{path})
	defer list.Close()
	if list.open() != nil || list.firstListed() == "" {
		return 0
	}
	count, found := 0, false
	err := list.eachListed(func(name string) error {
		base := filepath.Base(name)
		found = found || names[rankNumber(base)] == base
		count++
		return nil
	})
	if err != nil || !found {
		return 0
	}
	return count
}

// Files returns the paths of the files that are read, in their order: those that
// were given to [Open], or that directories or a list stand for.
func (r *Reader) Files() []string { return slices.Clone(r.files) }

// Ignored returns the paths of what is in the directories that were given to
// [Open], but is no file of a rank, and no list of such files. Those of directories,
// which are not searched, end in a separator. Hidden files are not among them.
func (r *Reader) Ignored() []string { return slices.Clone(r.ignored) }

// Ranks returns the number of ranks of the run as far as it is known without
// reading lines: [Options].Ranks or, if that is zero, the number of files that a
// list names which was given to [Open], alone or with some of them, or is in a
// directory that was. It returns zero if nothing says it.
func (r *Reader) Ranks() int {
	if r.options.Ranks > 0 {
		return r.options.Ranks
	}
	return r.size
}
