package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/atomicfile"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/ti"
)

// A content is what a file or a directory holds that is not a trace, and what helps: FILE in
// it stands for the name.
type content struct{ what, cure string }

// A notTrace is the error of a file or a directory that is something else than a trace.
type notTrace struct {
	path string
	content
}

func (e notTrace) Error() string { return "this is " + e.what }

// hint returns what helps.
func (e notTrace) hint() string { return strings.ReplaceAll(e.cure, "FILE", quoted(e.path)) }

// quoted returns the name of a file as a shell takes it, and a command as a name.
func quoted(name string) string {
	if strings.HasPrefix(name, "-") && name != "-" {
		name = "./" + name
	}
	return text.Shell(name)
}

// What helps with files that reprise cannot use.
const (
	ownTraces = "reprise reads traces of its own, which end in .rpz: reprise record makes one of an MPI program, reprise compress of SimGrid's text"
	onlyWrite = "reprise export writes such files, no command reads them: reprise record makes a trace of an MPI program"
)

// damagedBeginning is what a trace is whose first bytes are something else.
var damagedBeginning = content{"a trace whose beginning is damaged", "reprise repair FILE -o saved.rpz saves what can be read"}

// actions is what compress takes.
var actions = content{"SimGrid's text of a trace", "reprise compress FILE -o OUT.rpz makes a trace of it"}

// beginnings are what files begin with.
var beginnings = []struct {
	begin string
	content
}{
	{"#Paraver ", content{"a Paraver trace", onlyWrite}},
	{"DEFAULT_OPTIONS", content{"the .pcf file of a Paraver trace", onlyWrite}},
	{"LEVEL ", content{"the .row file of a Paraver trace", onlyWrite}},
	{"PAR1", content{"a Parquet file", onlyWrite}},
	{"<!doctype html", content{"a page, such as a report", "open it in a browser; reprise needs the trace that it was made from"}},
	{"\x7fELF", content{"a program", "reprise record -o OUT.rpz -- mpirun -n 4 FILE records its calls"}},
	{"SQLite format 3\x00", content{"an SQLite database", ownTraces}},
	{"PK\x03\x04", content{"a zip archive", "unpack it first"}},
	{"\xfd7zXZ\x00", content{"compressed by xz", "decompress it first: xz -d FILE"}},
	{"BZh", content{"compressed by bzip2", "decompress it first: bzip2 -d FILE"}},
}

// endings are what the names of files end in whose content says less.
var endings = []struct {
	end string
	content
}{
	{".rpz", damagedBeginning},
	{".pftrace", content{"a Perfetto trace", onlyWrite}},
	{".perfetto-trace", content{"a Perfetto trace", onlyWrite}},
	{".pprof", content{"a profile of pprof", onlyWrite}},
	{".pb.gz", content{"a profile of pprof", onlyWrite}},
}

// noTrace returns the error of a file that does not begin as a trace.
func noTrace(path string) error { return notTrace{path, contentOf(path)} }

// endsAsTrace reports whether a file ends as a trace does, or is a small one but for its first bytes.
func endsAsTrace(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	end := make([]byte, len(traceEnd))
	f.ReadAt(end, max(0, info.Size()-int64(len(end))))
	if string(end) == traceEnd {
		return true
	}
	const small = 64 << 10
	if info.Size() > small {
		return false
	}
	file, _, err := format.Salvage(f, info.Size(), reprise.FileOptions(info.Size(), 0))
	if err != nil {
		return false
	}
	for range file.All() {
		return true
	}
	return false
}

// contentOf says what a file is that does not begin as a trace, by what is in it.
func contentOf(path string) content {
	f, err := os.Open(path)
	if err != nil {
		return content{"no trace", ownTraces}
	}
	defer f.Close()
	begin := make([]byte, 4096)
	n, _ := io.ReadFull(f, begin)
	begin = begin[:n]
	if endsAsTrace(f) {
		return damagedBeginning
	}
	if c, ok := known(begin); ok {
		return c
	}
	if hasActions(path) {
		return actions
	}
	if n > 0 && bytes.Count(begin, []byte{0}) == n {
		return content{"a file of zeros, as where a disk was full or a copy went wrong", ownTraces}
	}
	for _, e := range endings {
		if strings.HasSuffix(path, e.end) && !isText(begin) {
			return e.content
		}
	}
	switch {
	case bytes.HasPrefix(begin, []byte("\x1f\x8b")):
		if r, err := gzip.NewReader(bytes.NewReader(begin)); err == nil {
			return compressed("gzip -d FILE", "gzip", r)
		}
	case bytes.HasPrefix(begin, []byte("\x28\xb5\x2f\xfd")):
		if r, err := zstd.NewReader(bytes.NewReader(begin), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true)); err == nil {
			defer r.Close()
			return compressed("zstd -d FILE", "zstd", r)
		}
	}
	if isText(begin) {
		return content{"a text file", ownTraces}
	}
	return content{"no trace", ownTraces}
}

// known returns what begins so.
func known(begin []byte) (content, bool) {
	for _, b := range beginnings {
		if len(begin) >= len(b.begin) && strings.EqualFold(string(begin[:len(b.begin)]), b.begin) {
			return b.content, true
		}
	}
	switch {
	case bytes.Contains(begin[:min(len(begin), 32)], []byte("OTF2")):
		return content{"an OTF2 trace", ownTraces}, true
	case bytes.HasPrefix(begin, []byte("{")) && bytes.Contains(begin, []byte(`"traceEvents"`)):
		return content{"a trace of Chrome's format", onlyWrite}, true
	}
	return content{}, false
}

// compressed says what is compressed in a file, by its beginning.
func compressed(cure, by string, r io.Reader) content {
	begin := make([]byte, 256)
	n, _ := io.ReadFull(r, begin)
	begin = begin[:n]
	c := content{"compressed by " + by, "decompress it first: " + cure}
	inside, ok := known(begin)
	switch {
	case bytes.HasPrefix(begin, []byte(traceBegin)):
		c.what = "a trace, compressed by " + by
	case ok:
		return content{inside.what + ", compressed by " + by, inside.cure}
	}
	return c
}

// isText reports whether a file that begins so is text.
func isText(begin []byte) bool {
	for len(begin) > 0 {
		r, n := utf8.DecodeRune(begin)
		if r == utf8.RuneError && n == 1 && len(begin) > utf8.UTFMax || r < ' ' && !strings.ContainsRune("\t\n\r\f", r) {
			return false
		}
		begin = begin[n:]
	}
	return true
}

// hasActions reports whether a file, or those that it lists, begins with actions of
// SimGrid.
func hasActions(path string) bool {
	r, err := ti.Open([]string{path}, ti.Options{})
	if err != nil {
		return false
	}
	defer r.Close()
	const most = 100 // lines, which may be comments
	for range most {
		if _, err := r.Read(); err != nil {
			return false
		}
		if s := r.Stats(); s.Calls > s.Comments+s.Foreign {
			return true
		}
	}
	return false
}

// contentOfDirectory says what a directory holds.
func contentOfDirectory(path string) content {
	if collect.IsSpool(path) {
		return content{"a directory of raw records", "reprise collect FILE -o OUT.rpz makes a trace of it"}
	}
	for _, d := range []struct {
		pattern string
		content
	}{
		{"*.part.rpz", content{"a directory of part files", "reprise merge FILE -o OUT.rpz makes a trace of it"}},
		{"*.rpz", content{"a directory with traces", "name one of them"}},
		{"*_rank-*.txt", content{"a directory with SimGrid's text of a trace", "reprise compress FILE -o OUT.rpz makes a trace of it"}},
		{"*.otf2", content{"a directory with an OTF2 trace", ownTraces}},
	} {
		if files, err := filepath.Glob(filepath.Join(escaped(path), d.pattern)); err == nil && len(files) > 0 {
			return d.content
		}
	}
	return content{"a directory", ownTraces}
}

// escaped returns the pattern of a name.
func escaped(name string) string { return regexp.MustCompile(`[*?[\\]`).ReplaceAllString(name, `\$0`) }

// checkInputs returns an error if one of the inputs of a command is something that another
// command takes, or none.
func checkInputs(paths []string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case info.IsDir():
			if collect.IsSpool(path) {
				return named(contentIn(path, contentOfDirectory(path)))
			}
		case info.Mode().IsRegular():
			f, err := os.Open(path)
			if err != nil {
				continue
			}
			begin := make([]byte, 64)
			n, _ := io.ReadFull(f, begin)
			f.Close()
			if c, ok := known(begin[:n]); ok && !strings.HasPrefix(c.what, "compressed") {
				return named(contentIn(path, c))
			}
		}
	}
	return nil
}

// contentIn returns the error of what a file holds, with its name.
func contentIn(path string, c content) error { return fileError(path, notTrace{path, c}) }

// isLeftover reports whether a path is that of what a recorder left of its raw records that was killed while it removed them.
func isLeftover(path string) bool {
	return strings.HasPrefix(filepath.Base(path), spoolPrefix) && atomicfile.Discarded(path)
}

// spoolBelow returns the first directory in another that has raw records, empty if there is none.
func spoolBelow(path string) string {
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if below := filepath.Join(path, e.Name()); e.IsDir() && collect.IsSpool(below) && !isLeftover(below) {
			return below
		}
	}
	return ""
}

// notSpool returns the error of what is given as a directory of raw records and is none.
func notSpool(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fileError(path, err)
	case isLeftover(path):
		return contentIn(path, content{"what is left of raw records whose trace is written", "it may be removed"})
	case info.IsDir():
		c := contentOfDirectory(path)
		if below := spoolBelow(path); below != "" {
			c = content{"a directory without raw records of MPI calls", "they are in " + quoted(below) + ": reprise collect " + quoted(below) + " -o OUT.rpz"}
		}
		if c.cure == ownTraces {
			c = content{"a directory without raw records of MPI calls", "reprise record --keep-raw DIR writes them"}
		}
		return contentIn(path, c)
	case isTrace(path):
		return contentIn(path, content{"a trace already", "reprise info FILE describes it"})
	}
	return contentIn(path, contentOf(path))
}
