package traceos_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tracertest"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
	"github.com/reprise-trace/reprise/tracer/traceos"
)

func Example() {
	dir, err := os.MkdirTemp("", "traceos")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "program.rpz")
	process, err := tracer.Open(tracer.Config{Path: path})
	if err != nil {
		log.Fatal(err)
	}

	files := traceos.New(process)
	name := filepath.Join(dir, "out")
	for i := range 100 { // replace the file, safely
		f, err := files.Create(name + ".new")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Fprintln(f, "round", i%10)
		if err := errors.Join(f.Sync(), f.Close(), files.Rename(name+".new", name)); err != nil {
			log.Fatal(err)
		}
	}
	end, err := files.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprintln(end, "done")
	in, err := files.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	in.Read(make([]byte, 100))
	if err := errors.Join(end.Close(), in.Close(), files.Remove(name)); err != nil {
		log.Fatal(err)
	}

	if err := process.Close(); err != nil {
		log.Fatal(err)
	}
	tr, err := trace.Open(path, trace.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tr.Close()
	rank, err := tr.Rank(0)
	if err != nil {
		log.Fatal(err)
	}
	var text strings.Builder
	rank.Grammar().WriteText(&text, func(terminal uint32) string { return rank.Call(terminal).String() + "\n" })
	fmt.Print(strings.NewReplacer(dir, "DIR", "\n ", "\n", "^100 ", "^100\n").Replace(text.String()))
	// Output:
	// S → (os.open(path="DIR/out.new", flags=578, mode=438, file=0, error="")
	// os.write(file=0, bytes=8, error="")
	// os.sync(file=0, error="")
	// os.close(file=0, error="")
	// os.rename(from="DIR/out.new", to="DIR/out", error="")
	// )^100
	// os.open(path="DIR/out", flags=1025, mode=0, file=0, error="")
	// os.write(file=0, bytes=5, error="")
	// os.open(path="DIR/out", flags=0, mode=0, file=1, error="")
	// os.read(file=1, bytes=100, read=13, error="")
	// os.close(file=0, error="")
	// os.close(file=1, error="")
	// os.remove(path="DIR/out", error="")
}

// TestFiles checks every call of a File, and what goes wrong.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	p := tracertest.Open(t, tracer.Config{})
	files := traceos.New(p.Process)
	a := filepath.Join(dir, "a")
	f, err := files.Create(a)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("hello")
	f.ReadFrom(strings.NewReader(" world"))
	f.WriteAt([]byte("J"), 0)
	f.Seek(1, io.SeekStart)
	b := make([]byte, 4)
	f.Read(b)
	var rest strings.Builder
	f.WriteTo(&rest)
	f.ReadAt(b, 100)
	f.Sync()
	f.Close()
	f.Close()
	if _, err := files.Open(filepath.Join(dir, "none")); err == nil {
		t.Error("a file that is not there was opened")
	}
	files.Rename(a, a+"2")
	files.Remove(a)
	if string(b) != "ello" || rest.String() != " world" {
		t.Errorf("read %q, %q", b, rest.String())
	}
	p.Check(t,
		fmt.Sprintf(`os.open(path="`+dir+`/a", flags=%d, mode=438, file=0, error="")`,
			os.O_RDWR|os.O_CREATE|os.O_TRUNC),
		`os.write(file=0, bytes=5, error="")`,
		`os.write(file=0, bytes=6, error="")`,
		`os.writeat(file=0, bytes=1, offset=0, error="")`,
		`os.seek(file=0, offset=1, whence=0, position=1, error="")`,
		`os.read(file=0, bytes=4, read=4, error="")`,
		`os.read(file=0, bytes=32768, read=6, error="")`,
		`os.read(file=0, bytes=32768, read=0, error="EOF")`,
		`os.readat(file=0, bytes=4, offset=100, read=0, error="EOF")`,
		`os.sync(file=0, error="")`,
		`os.close(file=0, error="")`,
		`os.close(file=0, error="file already closed")`,
		`os.open(path="`+dir+`/none", flags=0, mode=0, file=-1, error="no such file or directory")`,
		`os.rename(from="`+dir+`/a", to="`+dir+`/a2", error="")`,
		`os.remove(path="`+dir+`/a", error="no such file or directory")`,
	)
}
