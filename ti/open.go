package ti

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
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
// is a file that is given twice. [Reader.Ignored] says what else directories hold.
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
	err := r.eachListed(func(name string) error {
		path, err := locate(list, name)
		if err != nil {
			if len(files) == 0 { // perhaps it is no list
				err = fmt.Errorf("no line begins with a rank, so this is read as a list of files: %w", err)
			}
			return r.syntaxError(0, "rank %d: %w", len(files), err)
		}
		files = append(files, path)
		return nil
	})
	if err != nil {
		return err
	}
	r.input.close()
	r.files, r.listed, r.size, r.next, r.stats = files, true, len(files), 0, Stats{}
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
		if n++; n > r.options.MaxRanks {
			return r.syntaxError(0, "%w: more than %d files", ErrLimit, r.options.MaxRanks)
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
