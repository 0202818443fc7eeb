package simgrid

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-trace/reprise/internal/wire"
)

// Open returns a Reader of the trace in the files that paths name. The path "-"
// is Options.Stdin. A path may also name a directory of files named …_rank-1.txt,
// …_rank-2.txt and so on, which may end in .gz or .zst, and stands for these; the
// only path may name a list of the files of the ranks. A file is a list if it has
// text other than comments, and no line of its first 64 KiB begins with a rank.
//
// Several files are read in the order given, but those with names of ranks in the
// order of the numbers in these, unless two have the same; the lines say which
// ranks they hold. Two with the same name, in different directories or compressed
// and not, are an error, for they are of one rank. A list among them says how many
// ranks there are, see [Reader.Ranks], if it names one of the others by the name of
// a rank; any other list is an error, which the Reader finds when it opens it. So
// is a file that is given twice. [Reader.Report] says what else directories hold.
//
// Of what lists and directories name, only regular files below them are read: else it is an error that is
// [ErrOutside], unless Options.Outside allows it.
//
// Open opens the first file; the others are opened when the Reader comes to them,
// one at a time.
func Open(paths []string, o Options) (*Reader, error) {
	if len(paths) == 0 {
		return nil, errors.New("simgrid: no files to open")
	}
	if err := refuseRepeated(paths); err != nil {
		return nil, err
	}
	r := newReader(o, nil)
	if r.options.Stdin == nil {
		r.options.Stdin = os.Stdin
	}
	if err := r.expand(paths); err != nil {
		return nil, err
	}
	err := r.open()
	if err == nil && len(r.files) == 1 && r.firstListed() != "" {
		if err = r.readList(); err == nil {
			err = r.open()
		}
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// refuseRepeated returns an error if two of the paths name the same file, whose
// lines would be read twice.
func refuseRepeated(paths []string) error {
	type traits struct {
		size int64
		time time.Time
	}
	type opened struct {
		path string
		info fs.FileInfo
	}
	seen := make(map[traits][]opened) // only files that share these can be the same
	stdin := false
	for _, p := range paths {
		if p == "-" {
			if stdin {
				return errors.New("simgrid: the standard input is given twice")
			}
			stdin = true
			continue
		}
		info, err := os.Stat(p)
		if err != nil {
			continue // left to who opens it
		}
		t := traits{info.Size(), info.ModTime()}
		for _, o := range seen[t] {
			if os.SameFile(o.info, info) {
				return fmt.Errorf("simgrid: %s: is given twice, the first time as %s", p, o.path)
			}
		}
		seen[t] = append(seen[t], opened{p, info})
	}
	return nil
}

// refuseList returns an error if the open file, of which nothing was read yet, is
// one of several and names files that are there.
func (r *Reader) refuseList() error {
	if len(r.files) == 1 || r.listed {
		return nil
	}
	name, path := r.firstListed(), r.files[r.next-1]
	if name == "" {
		return nil
	}
	if _, err := locate(path, name); err != nil {
		return nil
	}
	return readError(r.fileName(r.next-1), errors.New("is a list of files; give it alone"))
}

// listBlock is how much of a file is looked at to tell a list from a trace.
const listBlock = 64 << 10

// firstListed returns the first file that the open file names, of which nothing
// was read yet, or an empty string if it is not a list of files. A failure to
// read it is left to the next fill.
func (r *Reader) firstListed() string {
	first := ""
	for at := r.pos; ; {
		line := r.buf[at:r.end]
		i := slices.Index(line, '\n')
		if i < 0 && len(line)+at < listBlock && r.fill() == nil {
			continue
		}
		if i >= 0 {
			line = line[:i+1]
		}
		if len(line) == 0 {
			return first
		}
		if _, n := splitRank(line); n > 0 {
			return ""
		}
		if first == "" && !isComment(string(line)) {
			first = strings.Trim(string(line), " \t\r\n")
		}
		if at += len(line); at >= listBlock {
			return first
		}
	}
}

// isComment reports whether readers skip a line without a rank.
func isComment(line string) bool { return line[0] == '#' || strings.Trim(line, " \t\r\n") == "" }

// readList reads the open file as a list and puts the files that it names in its
// place.
func (r *Reader) readList() error {
	list := r.files[0]
	dir := filepath.Dir(list)
	var files []string
	below := make(map[string]string)
	err := r.eachListed(func(name string) error {
		path, err := locate(list, name)
		if err != nil {
			if len(files) == 0 { // perhaps it is no list
				err = fmt.Errorf("no line begins with a rank, so this is read as a list of files: %w", err)
			}
			return r.syntaxError(0, "rank %d: %w", len(files), err)
		}
		if err := r.refuseOutside(dir, path); err != nil {
			return r.syntaxError(0, "rank %d: %s: %w", len(files), name, err)
		}
		files = append(files, path)
		below[path] = dir
		return nil
	})
	if err != nil {
		return err
	}
	r.input.close()
	r.files, r.below, r.listed, r.size, r.next, r.stats = files, below, true, len(files), 0, Stats{}
	return nil
}

// eachListed calls visit with each of the names in the open file, which is a list,
// until it returns an error.
func (r *Reader) eachListed(visit func(name string) error) error {
	for n := 0; ; {
		line, err := r.readLine()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = r.checkText(line)
		}
		if err != nil {
			return err
		}
		if isComment(string(line)) {
			continue
		}
		if n++; n > r.options.maxRanks {
			return r.syntaxError(0, "%w: more than %d files", wire.ErrLimit, r.options.maxRanks)
		}
		if err := visit(strings.Trim(string(line), " \t\r\n")); err != nil {
			return err
		}
	}
}

// locate returns the path of a file that a list names.
func locate(list, name string) (string, error) {
	if filepath.IsAbs(name) {
		_, err := os.Stat(name)
		return name, err
	}
	path := filepath.Join(filepath.Dir(list), name)
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(name); err == nil {
			return name, nil
		}
	}
	return path, err
}

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
		for _, file := range files {
			r.below[file] = p
		}
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
			return fmt.Errorf("simgrid: both %s and %s are of number %d, which is one rank", other, p, n)
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
				return nil, fmt.Errorf("simgrid: %s: both %s and %s are of number %d", dir, other, e.Name(), n)
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
		return nil, fmt.Errorf("simgrid: %s: no files named …_rank-1.txt and so on%s", dir, below)
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
