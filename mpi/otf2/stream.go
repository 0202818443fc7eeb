package otf2

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/reprise-trace/reprise/internal/group"
	"github.com/reprise-trace/reprise/internal/parallel"
	"github.com/reprise-trace/reprise/mpi/interpose"
)

// Options are of the bridge. The zero Options is the default.
type Options struct {
	// Compiler is the command of a compiler of C. Empty means cc, or gcc or clang if there is no cc.
	Compiler string

	// CacheDir is where the bridge is kept, as by [interpose.Build].
	CacheDir string

	// Building is called before the bridge is compiled, which takes some seconds; nil for nothing.
	Building func()
}

// ErrNoLibrary is wrapped by errors where a compiler of C or OTF2's library is missing.
var ErrNoLibrary = errors.New("OTF2's library and a C compiler are needed, " +
	"as in Debian's packages libotf2-trace-dev and gcc")

// bridge returns the path of the bridge.
func (o *Options) bridge(ctx context.Context) (string, error) {
	candidates := []string{"cc", "gcc", "clang"}
	if o.Compiler != "" {
		candidates = []string{o.Compiler}
	}
	for _, cc := range candidates {
		if _, err := exec.LookPath(cc); err != nil {
			continue
		}
		flags, libraries := configured(ctx)
		path, err := interpose.BuildTool(ctx, append([]string{cc, "-O2"}, flags...), libraries, o.CacheDir, "otf2",
			bridgeSource(), o.Building)
		if err != nil && ctx.Err() == nil && isMissing(err.Error()) {
			return "", fmt.Errorf("otf2: %w: %w", ErrNoLibrary, err)
		}
		return path, err
	}
	return "", fmt.Errorf("otf2: no %s: %w", strings.Join(candidates, ", "), ErrNoLibrary)
}

// isMissing reports whether a compiler says that it has not found the library.
func isMissing(said string) bool {
	return strings.Contains(said, "otf2/otf2.h: No such file") ||
		strings.Contains(said, "'otf2/otf2.h' file not found") ||
		strings.Contains(said, "-lotf2")
}

// configured returns the flags for a library that is not where compilers look for it.
func configured(ctx context.Context) (flags, libraries []string) {
	asked := []string{"--libs", "--ldflags", "--cflags"}
	said := make([][]string, len(asked))
	_ = parallel.Each(ctx, len(asked), len(asked), func(i int) error { // each takes 2 ms
		out, err := exec.CommandContext(ctx, "otf2-config", asked[i]).Output()
		if err == nil {
			said[i] = strings.Fields(string(out))
		}
		return nil
	})
	libraries = said[0]
	if libraries == nil {
		return nil, []string{"-lotf2"}
	}
	for _, f := range said[1] {
		if directory, ok := strings.CutPrefix(f, "-L"); ok {
			libraries = append([]string{f, "-Wl,-rpath," + directory}, libraries...)
		}
	}
	return said[2], libraries
}

// bridgeTunables let glibc give pages of 2 MB to the buffers of libotf2, three times 16 MB for any archive of
// EZTrace, and keep what is freed: the bridge reads 130,000 events in 20 ms instead of 50, as it touches 200
// pages instead of 12,400.
const bridgeTunables = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.mmap_max=0:" +
	"glibc.malloc.trim_threshold=1000000000"

// A process is a bridge that runs.
type process struct {
	command *exec.Cmd
	says    tail
	stop    context.CancelFunc
}

// A tail keeps the end of what a program says.
type tail struct{ kept []byte }

const mostSaid = 4 << 10 // bytes

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if n := len(t.kept); n > mostSaid {
		t.kept = t.kept[n-mostSaid:]
	}
	return len(p), nil
}

func startBridge(ctx context.Context, o *Options, connect func(*exec.Cmd) error, args ...string) (*process, error) {
	path, err := o.bridge(ctx)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	p := &process{command: group.Command(ctx, path, args...), stop: stop}
	p.command.Stderr = &p.says
	p.command.Env = append(os.Environ(), bridgeTunables)
	if err := cmp.Or(connect(p.command), p.command.Start()); err != nil {
		stop()
		return nil, fmt.Errorf("otf2: %w", err)
	}
	return p, nil
}

// wait returns the error of a bridge after it has ended, nil if there is none.
func (p *process) wait(ctx context.Context, what string) error {
	err := p.command.Wait()
	p.stop()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("otf2: %s: %w", what, ctx.Err())
	}
	said := string(bytes.TrimSpace(p.says.kept))
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() && said != "" {
		return fmt.Errorf("otf2: %s: %s", what, said)
	}
	return fmt.Errorf("otf2: %s: OTF2's library stopped: %w: is the archive damaged? %s", what, err, said)
}

// anchorOf returns the path of the anchor file of an archive, from its directory, the one above or from that path.
func anchorOf(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return path, err
	}
	anchors := Anchors(path)
	if len(anchors) != 1 {
		return "", fmt.Errorf("otf2: %s: %d files that end in .otf2: give the one to read", path, len(anchors))
	}
	return anchors[0], nil
}

// Anchors returns the paths of the anchor files in a directory, or where it has none, in the directories in it: EZTrace
// makes such a directory for each program.
func Anchors(directory string) []string {
	for _, pattern := range []string{"*.otf2", "*/*.otf2"} {
		anchors, _ := fs.Glob(os.DirFS(directory), pattern)
		for i, a := range anchors {
			anchors[i] = filepath.Join(directory, filepath.FromSlash(a))
		}
		if len(anchors) > 0 {
			return anchors
		}
	}
	return nil
}

// A Reader reads the records of an archive.
type Reader struct {
	ctx     context.Context
	path    string
	process *process
	decoder
	ended bool
	err   error
}

// Open begins to read an archive: its anchor file, which is named traces.otf2 as a rule, or a directory with one of
// [Anchors].
// References are those of the definitions of the archive, and times are corrected by the offsets of clocks, as
// for all that reads with OTF2's library. Cancel the context or call [Reader.Close] to end before all is read.
func Open(ctx context.Context, path string, o Options) (*Reader, error) {
	anchor, err := anchorOf(path)
	if err != nil {
		return nil, err
	}
	r := &Reader{ctx: ctx, path: path}
	r.process, err = startBridge(ctx, &o, func(c *exec.Cmd) error {
		out, err := c.StdoutPipe()
		if err == nil {
			r.in = bufio.NewReaderSize(out, 1<<16)
		}
		return err
	}, "read", anchor)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Read returns the next record, which is valid until the next call: first what the anchor file says, then
// definitions, markers and the events of one location after the other. The error is [io.EOF] after the last.
func (r *Reader) Read() (*Record, error) {
	if r.err == nil {
		r.err = r.read()
	}
	if r.err != nil {
		return nil, r.err
	}
	return &r.record, nil
}

func (r *Reader) read() error {
	err := r.next()
	switch {
	case err == nil:
		return nil
	case err == io.EOF:
		r.ended = true
		if err := r.Close(); err != nil {
			return err
		}
		return err
	}
	p := r.process
	r.process = nil
	if ended := p.wait(r.ctx, r.path); ended != nil {
		return ended // which is why it ends early
	}
	return fmt.Errorf("otf2: %s: %w", r.path, err)
}

// Close ends a Reader, wherever it is. Its error is that of the last [Reader.Read].
func (r *Reader) Close() error {
	if r.process == nil {
		return nil
	}
	p := r.process
	r.process = nil
	if !r.ended {
		p.stop()
		p.command.Wait()
		return nil
	}
	return p.wait(r.ctx, r.path)
}

// A Writer makes an archive of records.
type Writer struct {
	ctx       context.Context
	directory string
	made      bool
	process   *process
	in        io.WriteCloser
	buffer    []byte
	encoder
	err error
}

// NewWriter begins to write an archive to a directory, which it makes unless it is there and empty. The anchor
// file will be traces.otf2. Cancel the context to end without one.
func NewWriter(ctx context.Context, directory string, o Options) (*Writer, error) {
	w := &Writer{ctx: ctx, directory: directory}
	switch err := os.Mkdir(directory, 0o777); {
	case err == nil:
		w.made = true
	case errors.Is(err, fs.ErrExist):
		files, err := os.ReadDir(directory)
		if err != nil {
			return nil, err
		}
		if len(files) > 0 {
			return nil, fmt.Errorf("otf2: %s: %w, and has files", directory, fs.ErrExist)
		}
	default:
		return nil, err
	}
	var err error
	w.process, err = startBridge(ctx, &o, func(c *exec.Cmd) (err error) {
		w.in, err = c.StdinPipe()
		return err
	}, "write", directory)
	if err != nil {
		w.remove()
		return nil, err
	}
	return w, nil
}

// remove removes what was written.
func (w *Writer) remove() {
	os.Remove(filepath.Join(w.directory, "traces.otf2"))
	os.Remove(filepath.Join(w.directory, "traces.def"))
	os.Remove(filepath.Join(w.directory, "traces.marker"))
	os.RemoveAll(filepath.Join(w.directory, "traces"))
	if w.made {
		os.Remove(w.directory)
	}
}

// Write writes a record, and keeps nothing of it. Records may come in any order, but the events of a location
// are together and their times do not decrease, and ChunkSizes is first if it is written. Errors of OTF2's
// library may come with a later record, or from [Writer.Close]. It panics if the record does not have the
// values and texts of its kind.
func (w *Writer) Write(r *Record) error {
	if w.err != nil {
		return w.err
	}
	w.buffer = w.append(w.buffer, r)
	if len(w.buffer) >= 1<<16 {
		return w.flush()
	}
	return nil
}

func (w *Writer) flush() error {
	_, err := w.in.Write(w.buffer)
	w.buffer = w.buffer[:0]
	if err != nil {
		w.err = cmp.Or(w.end(), err)
	}
	return w.err
}

// end waits for the bridge. If it has failed, nothing of the archive is left.
func (w *Writer) end() error {
	p := w.process
	if p == nil {
		return w.err
	}
	w.process = nil
	w.in.Close()
	err := p.wait(w.ctx, w.directory)
	if err != nil {
		w.remove()
	}
	return err
}

// abort ends the writer, and leaves nothing of the archive.
func (w *Writer) abort() {
	if p := w.process; p != nil {
		w.process = nil
		p.stop()
		w.in.Close()
		p.command.Wait()
		w.remove()
	}
}

// Close writes the rest, and ends the archive. After an error there is no archive.
func (w *Writer) Close() error {
	if w.err == nil {
		w.buffer = append(w.buffer, numberEnd)
		if err := w.flush(); err != nil {
			return err
		}
		w.err = w.end()
	}
	if w.err != nil {
		return w.err
	}
	w.err = errors.New("otf2: the writer is closed")
	return nil
}
