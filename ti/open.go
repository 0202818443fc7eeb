package ti

import (
	"bufio"
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

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// Open returns a Reader of the trace in the files that paths name. The path "-"
// is Options.Stdin. The only path may also name a list of the files of the ranks,
// or a directory of files named …_rank-1.txt, …_rank-2.txt and so on, which may
// end in .gz or .zst. A file is a list if it has text other than comments, and no
// line of its first 64 KiB begins with a rank. Several files are read in the order
// given; the lines say which ranks they hold.
//
// Open opens the first file; the others are opened when the Reader comes to them,
// one at a time.
func Open(paths []string, o Options) (*Reader, error) {
	if len(paths) == 0 {
		return nil, errors.New("ti: no files to open")
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
	if err == nil && len(r.files) == 1 && r.isList() {
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

// isList reports whether the open file, of which nothing was read yet, is a list
// of files. A failure to read it is left to the next fill.
func (r *Reader) isList() bool {
	content := false
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
			return content
		}
		if _, n := splitRank(line); n > 0 {
			return false
		}
		content = content || !isComment(string(line))
		if at += len(line); at >= listBlock {
			return content
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

// An input is the text of an open file. The zero input has none.
type input struct {
	text   io.Reader // nil if there is no more
	file   *os.File  // nil if the file is not ours
	raw    *bufio.Reader
	zstd   *zstd.Decoder // kept for the next file, or nil
	offset int64         // number of bytes of text read
	err    error         // of the last read, sticks
}

// maxWindow is the largest window of a zstd frame to accept, that of --long=27.
const maxWindow = 128 << 20

// open opens the next file, or returns io.EOF.
func (r *Reader) open() error {
	r.input.close()
	if r.next == len(r.files) {
		return io.EOF
	}
	path := r.files[r.next]
	r.next++
	r.pos, r.end, r.line, r.rank, r.state = 0, 0, 0, -1, nil
	src := r.options.Stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return readError(path, err)
		}
		r.input.file, src = f, f
	}
	if err := r.input.start(src); err != nil {
		return readError(r.fileName(r.next-1), err)
	}
	return nil
}

// fileName returns the name of input i in messages.
func (r *Reader) fileName(i int) string {
	if i < 0 || r.files[i] == "-" {
		return "input"
	}
	return r.files[i]
}

// readError returns the error of a file of which nothing was read.
func readError(name string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &ReadError{File: name, Err: err}
}

// start begins to read src, whose first bytes tell how it is compressed.
func (in *input) start(src io.Reader) error {
	if in.raw == nil {
		in.raw = bufio.NewReaderSize(nil, 64<<10)
	}
	in.raw.Reset(src)
	in.offset, in.err = 0, nil
	magic, err := in.raw.Peek(4)
	if err != nil && err != io.EOF {
		return err
	}
	switch {
	case strings.HasPrefix(string(magic), "\x1f\x8b"):
		in.text, err = gzip.NewReader(in.raw)
	case string(magic) == "\x28\xb5\x2f\xfd", len(magic) == 4 && magic[0]>>4 == 5 && string(magic[1:]) == "\x2a\x4d\x18":
		in.text, err = in.startZstd()
	default:
		in.text, err = in.raw, nil
	}
	return err
}

func (in *input) startZstd() (io.Reader, error) {
	if in.zstd != nil {
		return in.zstd, in.zstd.Reset(in.raw)
	}
	var err error
	in.zstd, err = zstd.NewReader(in.raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	return in.zstd, err
}

// close ends the text and closes the file.
func (in *input) close() {
	in.text = nil
	if in.file != nil {
		in.file.Close()
		in.file = nil
	}
}

// fill reads more text behind buf[pos:end], or returns io.EOF.
func (r *Reader) fill() error {
	if r.input.text == nil {
		return io.EOF
	}
	r.end = copy(r.buf, r.buf[r.pos:r.end])
	r.pos = 0
	if r.end == len(r.buf) {
		r.buf = append(r.buf, make([]byte, max(blockSize, len(r.buf)))...)
	}
	for range 100 {
		if r.input.err != nil {
			break
		}
		n, err := r.input.text.Read(r.buf[r.end:])
		r.end += n
		r.input.offset += int64(n)
		r.input.err = err
		if n > 0 {
			return nil
		}
	}
	switch r.input.err {
	case nil:
		r.input.err = io.ErrNoProgress
	case io.EOF:
		return io.EOF
	}
	return &ReadError{File: r.fileName(r.next - 1), Offset: r.input.offset, Err: r.input.err}
}

// Close releases what the Reader holds. It does not close the reader given to
// [NewReader] or in [Options].
func (r *Reader) Close() error {
	if r.err == nil {
		r.fail(os.ErrClosed)
	}
	r.input.close()
	if r.input.zstd != nil {
		r.input.zstd.Close()
		r.input.zstd = nil
	}
	return nil
}
