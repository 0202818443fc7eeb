package traceos_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/misuse"
	"github.com/reprise-trace/reprise/tracer"
	"github.com/reprise-trace/reprise/tracer/traceos"
)

// TestMisuse calls all of the package as it must not be called.
func TestMisuse(t *testing.T) {
	files := traceos.New(nil)
	file, err := files.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	misuse.Walk{
		Package:   "traceos",
		Functions: []any{traceos.New},
		Values: []any{new(tracer.Process), files, file, new(traceos.File), strings.NewReader("x"),
			new(bytes.Buffer)},
		Left: map[string]string{"File.Name": "it is that of os, which fails as that of an os.File that nothing opened"},
	}.Run(t)
}

// TestNil uses the file of an open that failed: as with os, which programs rely on that close files
// whether there is one or not.
func TestNil(t *testing.T) {
	f, err := traceos.New(nil).Open(filepath.Join(t.TempDir(), "missing"))
	if f != nil || err == nil {
		t.Fatal(f, err)
	}
	buffer := make([]byte, 1)
	for name, use := range map[string]func() error{
		"Read":        func() error { _, err := f.Read(buffer); return err },
		"ReadAt":      func() error { _, err := f.ReadAt(buffer, 0); return err },
		"Write":       func() error { _, err := f.Write(buffer); return err },
		"WriteAt":     func() error { _, err := f.WriteAt(buffer, 0); return err },
		"WriteString": func() error { _, err := f.WriteString("x"); return err },
		"ReadFrom":    func() error { _, err := f.ReadFrom(strings.NewReader("x")); return err },
		"WriteTo":     func() error { _, err := f.WriteTo(new(bytes.Buffer)); return err },
		"Seek":        func() error { _, err := f.Seek(0, io.SeekStart); return err },
		"Sync":        f.Sync,
		"Close":       f.Close,
	} {
		if err := use(); !errors.Is(err, os.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
