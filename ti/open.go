package ti

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
)

// Open returns a Reader of the trace in the files that paths name. The path "-"
// is Options.Stdin. The only path may also name a list of the files of the ranks,
// or a directory of files named …_rank-1.txt, …_rank-2.txt and so on, which may
// end in .gz or .zst. A file is a list if it has text other than comments, and no
// line of its first 64 KiB begins with a rank. Several files are read in the order
// given; the lines say which ranks they hold. None of them may be a list, which
// the Reader finds when it opens it, nor be given twice.
//
// Open opens the first file; the others are opened when the Reader comes to them,
// one at a time.
func Open(paths []string, o Options) (*Reader, error) {
	if len(paths) == 0 {
		return nil, errors.New("ti: no files to open")
	}
	if err := refuseRepeated(paths); err != nil {
		return nil, err
	}
	r := newReader(o, slices.Clone(paths))
	if r.options.Stdin == nil {
		r.options.Stdin = os.Stdin
	}
	if len(paths) == 1 && paths[0] != "-" {
		if info, err := os.Stat(paths[0]); err == nil && info.IsDir() {
			if r.files, err = rankFiles(paths[0]); err != nil {
				return nil, err
			}
		}
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
				return errors.New("ti: the standard input is given twice")
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
				return fmt.Errorf("ti: %s: is given twice, the first time as %s", p, o.path)
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

// rankFileName matches the names of files of one rank. Its first group is the
// number of the rank, from 1.
var rankFileName = regexp.MustCompile(`_rank-([1-9][0-9]{0,8})\.txt(?:\.gz|\.zst)?$`)

// rankFiles returns the paths of the files of ranks in dir, in the order of their
// numbers.
func rankFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, readError(dir, err)
	}
	byNumber := make(map[int]string)
	var numbers []int
	for _, e := range entries {
		m := rankFileName.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return nil, readError(dir, err)
		}
		if other, ok := byNumber[n]; ok {
			return nil, fmt.Errorf("ti: %s: both %s and %s are of number %d", dir, other, e.Name(), n)
		}
		byNumber[n] = e.Name()
		numbers = append(numbers, n)
	}
	if len(numbers) == 0 {
		return nil, fmt.Errorf("ti: %s: no files named …_rank-1.txt and so on", dir)
	}
	slices.Sort(numbers)
	files := make([]string, len(numbers))
	for i, n := range numbers {
		files[i] = filepath.Join(dir, byNumber[n])
	}
	return files, nil
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
	var files []string
	for {
		line, err := r.readLine()
		if err == io.EOF {
			break
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
		if len(files) == r.options.MaxRanks {
			return r.syntaxError(0, "%w: more than %d files", ErrLimit, r.options.MaxRanks)
		}
		path, err := locate(list, strings.Trim(string(line), " \t\r\n"))
		if err != nil {
			if len(files) == 0 { // perhaps it is no list
				err = fmt.Errorf("no line begins with a rank, so this is read as a list of files: %w", err)
			}
			return r.syntaxError(0, "rank %d: %w", len(files), err)
		}
		files = append(files, path)
	}
	r.input.close()
	r.files, r.listed, r.next, r.stats = files, true, 0, Stats{}
	return nil
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
