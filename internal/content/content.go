// Package content says what files and directories are that are not what a command takes, by what is in them.
package content

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/mpi/simgrid"
)

// A Content is what a file or a directory holds that is not a trace, and what helps: FILE in
// it stands for the name.
type Content struct{ What, Cure string }

// An Error is that of a file or a directory that is something else than a trace. It does not name it.
type Error struct {
	Path string
	Content
}

func (e Error) Error() string { return "this is " + e.What }

// Hint returns what helps.
func (e Error) Hint() string { return strings.ReplaceAll(e.Cure, "FILE", text.ShellFile(e.Path)) }

// TraceBegin is what a trace begins with.
const TraceBegin = "\x8frpz"

// TraceEnd is what it ends in.
const TraceEnd = "\x8fzpr"

// What helps with files that reprise cannot use.
const (
	OwnTraces = "reprise reads its own traces, which end in .rpz: reprise record makes one of an MPI program, and reprise compress makes one of an OTF2 archive or of SimGrid's text"
	onlyWrite = "reprise export writes such files, no command reads them: reprise record makes a trace of an MPI program"
)

// DamagedBeginning is what a trace is whose first bytes are something else.
var DamagedBeginning = Content{"a trace whose beginning is damaged",
	"reprise repair FILE -o saved.rpz saves what can be read"}

// Actions is what compress takes.
var Actions = Content{"SimGrid's text of a trace", "reprise compress FILE -o OUT.rpz makes a trace of it"}

// Archive is an archive of OTF2.
var Archive = Content{"an OTF2 trace", "reprise compress FILE -o OUT.rpz makes a trace of it"}

// Unknown is what files are that are nothing else here.
var Unknown = Content{"no trace", OwnTraces}

// recordsBegin is what raw records begin with.
const recordsBegin = "reprisp"

// RawRecords is what lies in the directory that collect takes.
var RawRecords = Content{"raw records of MPI calls",
	"reprise collect DIR -o OUT.rpz makes a trace of all in their directory"}

// beginnings are what files begin with.
var beginnings = []struct {
	begin string
	Content
}{
	{"#Paraver ", Content{"a Paraver trace", onlyWrite}},
	{"DEFAULT_OPTIONS", Content{"the .pcf file of a Paraver trace", onlyWrite}},
	{"LEVEL ", Content{"the .row file of a Paraver trace", onlyWrite}},
	{"PAR1", Content{"a Parquet file", onlyWrite}},
	{"<!doctype html", Content{"a page, such as a report",
		"open it in a browser; reprise needs the trace that it was made from"}},
	{"\x7fELF", Content{"a program", "reprise record -o OUT.rpz -- mpirun -n 4 FILE records its calls"}},
	{"SQLite format 3\x00", Content{"an SQLite database", OwnTraces}},
	{"PK\x03\x04", Content{"a zip archive", "unpack it first"}},
	{"\xfd7zXZ\x00", Content{"compressed by xz", "decompress it first: xz -d FILE"}},
	{recordsBegin, RawRecords},
	{"BZh", Content{"compressed by bzip2", "decompress it first: bzip2 -d FILE"}},
}

// endings are what the names of files end in whose content says less.
var endings = []struct {
	end string
	Content
}{
	{".rpz", DamagedBeginning},
	{".spool", RawRecords},
	{".kept", RawRecords},
	{".pftrace", Content{"a Perfetto trace", onlyWrite}},
	{".perfetto-trace", Content{"a Perfetto trace", onlyWrite}},
	{".pprof", Content{"a profile of pprof", onlyWrite}},
	{".pb.gz", Content{"a profile of pprof", onlyWrite}},
}

// NoTrace returns the error of a file that does not begin as a trace.
func NoTrace(path string) error { return Error{path, Of(path)} }

// Check returns an error of what is not read in any order, as a trace and a part are: a directory, a pipe, a
// device, and an empty file. It does not name it. That there is no file is left to who opens it.
func Check(path string) error {
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil
	case info.IsDir():
		return Error{path, OfDirectory(path)}
	case !info.Mode().IsRegular():
		return errors.New("is not a regular file: a trace is read in any order, so copy it to a file first")
	case info.Size() == 0:
		return errors.New("the file is empty: whatever wrote it did not come to its end")
	}
	return nil
}

// endsAsTrace reports whether a file ends as a trace does, or is a small one but for its first bytes.
func endsAsTrace(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	end := make([]byte, len(TraceEnd))
	f.ReadAt(end, max(0, info.Size()-int64(len(end))))
	if string(end) == TraceEnd {
		return true
	}
	const small = 64 << 10
	if info.Size() > small {
		return false
	}
	file, _, err := format.Salvage(f, info.Size(), layout.FileOptions(info.Size(), 0))
	if err != nil {
		return false
	}
	for range file.All() {
		return true
	}
	return false
}

// Of says what a file is that does not begin as a trace, by what is in it.
func Of(path string) Content {
	f, err := os.Open(path)
	if err != nil {
		return Unknown
	}
	defer f.Close()
	begin := make([]byte, 4096)
	n, _ := io.ReadFull(f, begin)
	begin = begin[:n]
	if endsAsTrace(f) {
		return DamagedBeginning
	}
	if c, ok := Known(begin); ok {
		return c
	}
	if hasActions(path) {
		return Actions
	}
	if n > 0 && bytes.Count(begin, []byte{0}) == n {
		return Content{"a file of zeros, as where a disk was full or a copy went wrong", OwnTraces}
	}
	for _, e := range endings {
		if strings.HasSuffix(path, e.end) && (!isText(begin) || strings.HasPrefix(recordsBegin, string(begin))) {
			return e.Content
		}
	}
	switch {
	case bytes.HasPrefix(begin, []byte("\x1f\x8b")):
		if r, err := gzip.NewReader(bytes.NewReader(begin)); err == nil {
			return compressed("gzip -d FILE", "gzip", r)
		}
	case bytes.HasPrefix(begin, []byte("\x28\xb5\x2f\xfd")):
		if r, err := zstd.NewReader(bytes.NewReader(begin), zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true)); err == nil {
			defer r.Close()
			return compressed("zstd -d FILE", "zstd", r)
		}
	}
	if isText(begin) {
		return Content{"a text file", OwnTraces}
	}
	return Unknown
}

// Known returns what begins so.
func Known(begin []byte) (Content, bool) {
	for _, b := range beginnings {
		if len(begin) >= len(b.begin) && strings.EqualFold(string(begin[:len(b.begin)]), b.begin) {
			return b.Content, true
		}
	}
	switch {
	case bytes.Contains(begin[:min(len(begin), 32)], []byte("OTF2")):
		return Archive, true
	case bytes.HasPrefix(begin, []byte("{")) && bytes.Contains(begin, []byte(`"traceEvents"`)):
		return Content{"a trace of Chrome's format", onlyWrite}, true
	}
	return Content{}, false
}

// compressed says what is compressed in a file, by its beginning.
func compressed(cure, by string, r io.Reader) Content {
	begin := make([]byte, 256)
	n, _ := io.ReadFull(r, begin)
	begin = begin[:n]
	c := Content{"compressed by " + by, "decompress it first: " + cure}
	inside, ok := Known(begin)
	switch {
	case bytes.HasPrefix(begin, []byte(TraceBegin)):
		c.What = "a trace, compressed by " + by
	case ok:
		return Content{inside.What + ", compressed by " + by, inside.Cure}
	}
	return c
}

// isText reports whether a file that begins so is text.
func isText(begin []byte) bool {
	for len(begin) > 0 {
		r, n := utf8.DecodeRune(begin)
		if r == utf8.RuneError && n == 1 && len(begin) > utf8.UTFMax ||
			r < ' ' && !strings.ContainsRune("\t\n\r\f", r) {
			return false
		}
		begin = begin[n:]
	}
	return true
}

// hasActions reports whether a file, or those that it lists, begins with actions of
// SimGrid.
func hasActions(path string) bool {
	r, err := simgrid.Open([]string{path}, simgrid.Options{})
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

// OfDirectory says what a directory holds.
func OfDirectory(path string) Content {
	if collect.IsSpool(path) {
		return Content{"a directory of raw records", "reprise collect FILE -o OUT.rpz makes a trace of it"}
	}
	for _, d := range []struct {
		pattern string
		Content
	}{
		{"*.part.rpz", Content{"a directory of part files", "reprise merge FILE -o OUT.rpz makes a trace of it"}},
		{"*.rpz", Content{"a directory with traces", "name one of them"}},
		{"*_rank-*.txt", Content{"a directory with SimGrid's text of a trace",
			"reprise compress FILE -o OUT.rpz makes a trace of it"}},
		{"*.otf2", Content{"a directory with an OTF2 trace", Archive.Cure}},
	} {
		if files, err := filepath.Glob(filepath.Join(escaped(path), d.pattern)); err == nil && len(files) > 0 {
			return d.Content
		}
	}
	return Content{"a directory", OwnTraces}
}

// escaped returns the pattern of a name.
func escaped(name string) string { return regexp.MustCompile(`[*?[\\]`).ReplaceAllString(name, `\$0`) }
