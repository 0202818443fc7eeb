package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/reprise-trace/reprise/internal/atomicfile"
	"github.com/reprise-trace/reprise/internal/content"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/collect"
)

// Quoted returns the name of a file as a shell takes it, and a command as a name.
func Quoted(name string) string { return text.ShellFile(name) }

// CheckInputs returns an error if one of the inputs of a command is something that another
// command takes, or none.
func CheckInputs(paths []string) error {
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case info.IsDir():
			if collect.IsSpool(path) {
				return Named(ContentIn(path, content.OfDirectory(path)))
			}
		case info.Mode().IsRegular():
			f, err := os.Open(path)
			if err != nil {
				continue
			}
			begin := make([]byte, 64)
			n, _ := io.ReadFull(f, begin)
			f.Close()
			if c, ok := content.Known(begin[:n]); ok && !strings.HasPrefix(c.What, "compressed") {
				return Named(ContentIn(path, c))
			}
		}
	}
	return nil
}

// ContentIn returns the error of what a file holds, with its name.
func ContentIn(path string, c content.Content) error {
	return FileError(path, content.Error{Path: path, Content: c})
}

// IsLeftover reports whether a path is that of what a recorder left of its raw records that was killed while
// it removed them.
func IsLeftover(path string) bool {
	return strings.HasPrefix(filepath.Base(path), SpoolPrefix) && atomicfile.Discarded(path)
}

// spoolBelow returns the first directory in another that has raw records, empty if there is none.
func spoolBelow(path string) string {
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if below := filepath.Join(path, e.Name()); e.IsDir() && collect.IsSpool(below) && !IsLeftover(below) {
			return below
		}
	}
	return ""
}

const noRecords = "a directory without raw records of MPI calls"

var aTrace = content.Content{What: "a trace already", Cure: "reprise info FILE describes it"}

// NotSpool returns the error of what is given as a directory of raw records and is none.
func NotSpool(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return FileError(path, err)
	case IsLeftover(path):
		c := content.Content{What: "a leftover of raw records that are in a trace already", Cure: "it may be removed"}
		return ContentIn(path, c)
	case info.IsDir():
		c := content.OfDirectory(path)
		if below := spoolBelow(path); below != "" {
			cure := fmt.Sprintf("they are in %[1]s: reprise collect %[1]s -o OUT.rpz", Quoted(below))
			c = content.Content{What: noRecords, Cure: cure}
		}
		if c.Cure == content.OwnTraces {
			c = content.Content{What: noRecords, Cure: "reprise record --keep-raw DIR writes them"}
		}
		return ContentIn(path, c)
	case info.Mode().IsRegular() && info.Size() == 0:
		return CheckSeekable(path)
	case IsTrace(path):
		return ContentIn(path, aTrace)
	}
	return ContentIn(path, content.Of(path))
}

// InPlaceOfRecords returns the error of what is in the place of a file of raw records, nil if it
// may be such a file that is damaged.
func InPlaceOfRecords(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil || !info.IsDir() && !info.Mode().IsRegular():
		return nil
	case info.IsDir() || info.Size() == 0:
		return content.Check(path)
	case IsTrace(path):
		return content.Error{Path: path, Content: aTrace}
	}
	if c := content.Of(path); c != content.RawRecords && c != content.Unknown {
		return content.Error{Path: path, Content: c}
	}
	return nil
}

// IsTrace reports whether a file is a trace, by its beginning or its name.
func IsTrace(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // what is read of a pipe is gone
		return strings.HasSuffix(path, ".rpz")
	}
	f, err := os.Open(path)
	if err != nil {
		return strings.HasSuffix(path, ".rpz")
	}
	defer f.Close()
	begin := make([]byte, len(content.TraceBegin))
	n, _ := io.ReadFull(f, begin)
	return string(begin[:n]) == content.TraceBegin || strings.HasSuffix(path, ".rpz")
}

// SpoolPrefix begins the name of a spool that is removed when there is a trace.
const SpoolPrefix = "reprise-spool-"
