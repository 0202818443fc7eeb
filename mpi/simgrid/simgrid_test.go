package simgrid

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// traces is the folder of real traces, beside the project.
const traces = "../../../shared/traces"

// readSome reads the calls before an error, which is nil at the end.
func readSome(r *Reader) (calls []Call, err error) {
	for {
		c, err := r.Read()
		if err == io.EOF {
			return calls, nil
		}
		if err != nil {
			return calls, err
		}
		calls = append(calls, c)
	}
}

// readAll reads all calls.
func readAll(t rapid.TB, r *Reader) []Call {
	t.Helper()
	calls, err := readSome(r)
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

// write writes calls to one file.
func write(t rapid.TB, calls []Call) string {
	t.Helper()
	var b strings.Builder
	w := NewWriter(&b)
	for _, c := range calls {
		if err := w.Write(c); err != nil {
			t.Fatalf("%v: %v", c, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func decompressed(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(path, ".zst") {
		return data
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderMaxWindow(128<<20))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	data, err = d.DecodeAll(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestRealTraces(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(traces, "*", "*.ti.*"))
	if len(paths) == 0 {
		t.Skip("no traces in " + traces)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if !tier.Nightly && !strings.Contains(path, ".16.ti") && !strings.Contains(path, "kinds") {
				t.Skip("short: a large trace")
			}
			want := decompressed(t, path)
			r, err := Open([]string{path}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var got bytes.Buffer
			w := NewWriter(&got)
			for {
				c, err := r.Read()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if err := w.Write(c); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("written back differently")
			}
			if s := r.Stats(); s.Foreign+s.Comments > 0 || s.Bytes != uint64(len(want)) {
				t.Errorf("Stats = %+v", s)
			}
			if list := r.Report(true).Incomplete; list != nil {
				t.Errorf("Incomplete = %v", list)
			}
		})
	}
}
