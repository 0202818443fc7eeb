package format_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/misuse"
)

// TestMisuse calls the package as it must not be called.
func TestMisuse(t *testing.T) {
	var file bytes.Buffer
	w := format.NewWriter(&file, format.Options{})
	if err := errors.Join(w.Add(1, 2, []byte("content")), w.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := format.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	misuse.Refused(t, "format", map[string]func() error{
		"adding to nothing": func() error { return format.NewWriter(nil, format.Options{}).Add(1, 2, nil) },
		"closing nothing":   func() error { return format.NewWriter(nil, format.Options{}).Close() },
		"a primed nothing": func() error {
			return format.NewWriter(nil, format.Options{Encoding: format.Primed}).Close()
		},
		"another encoding": func() error {
			return format.NewWriter(new(bytes.Buffer), format.Options{Encoding: 99}).Close()
		},
		"reading from nothing": func() error {
			_, err := format.NewReader(nil, 100, format.Options{})
			return err
		},
		"salvaging from nothing": func() error {
			_, _, err := format.Salvage(nil, 100, format.Options{})
			return err
		},
		"reading a negative size": func() error {
			_, err := format.NewReader(bytes.NewReader(nil), -1, format.Options{})
			return err
		},
		"salvaging a negative size": func() error {
			_, _, err := format.Salvage(bytes.NewReader(nil), -1, format.Options{})
			return err
		},
		"adding to a closed writer": func() error { return w.Add(1, 3, nil) },
	})
	misuse.Harmless(t, map[string]func(){
		"a section of nowhere": func() { r.Content(format.Section{}); r.Check(format.Section{}) },
		"a closed writer":      func() { w.Add(1, 3, nil); w.Close(); w.Written() },
		"text":                 func() { _ = format.Encoding(99).String() + format.Loss{}.String() },
		"a file that is shorter than its size": func() {
			format.NewReader(bytes.NewReader(file.Bytes()), 1<<40, format.Options{})
			format.Salvage(bytes.NewReader(file.Bytes()), 1<<40, format.Options{})
		},
	})
	for name, open := range map[string]func() error{
		"NewReader": func() error {
			_, err := format.NewReader(bytes.NewReader(nil), 0, format.Options{})
			return err
		},
		"Salvage": func() error {
			_, _, err := format.Salvage(bytes.NewReader(nil), 0, format.Options{})
			return err
		},
	} {
		if err := open(); !errors.Is(err, format.ErrFormat) || errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s of an empty file: %v", name, err)
		}
	}
}
