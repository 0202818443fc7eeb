package beam

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"reflect"
	"sync/atomic"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/atomicfile"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/query"
)

func init() {
	beam.RegisterType(reflect.TypeFor[File]())
	beam.RegisterCoder(reflect.TypeFor[parts](), encode, decode)
	register.DoFn1x2[string, File, error](&read{})
	register.DoFn1x1[[]byte, error](&write{})
	register.Combiner3[parts, File, []byte](&Combine{})
}

// A File is a part file.
type File struct {
	Path    string // for errors
	Content []byte
}

// Read returns the files of paths, which all workers must see, as a collection of [File].
func Read(s beam.Scope, paths []string) beam.PCollection {
	s = s.Scope("reprise.Read")
	// Without Reshuffle, one worker would read all of them.
	return beam.ParDo(s, &read{}, beam.Reshuffle(s, beam.CreateList(s, paths)))
}

type read struct{}

func (*read) ProcessElement(path string) (File, error) {
	content, err := os.ReadFile(path)
	return File{path, content}, err
}

// Parts are the parts of ranks, merged. Between workers they are a part file.
type parts struct{ all *merge.Accumulator }

func encode(p parts) ([]byte, error) {
	var file bytes.Buffer
	_, err := layout.Unread(p.all.WritePart(&file))
	return file.Bytes(), err
}

func decode(file []byte) (parts, error) {
	return decodePart(file, layout.FileOptions(int64(len(file)), math.MaxInt64)) // as a worker has written it
}

func decodePart(file []byte, options format.Options) (parts, error) {
	r, err := format.NewReader(bytes.NewReader(file), int64(len(file)), options)
	if err != nil {
		return parts{}, err
	}
	a, err := merge.ReadPart(r)
	return parts{a}, err
}

// Trace returns the trace of a collection of [File], as a collection of one []byte. The pipeline fails
// with an error that names the file if one cannot be read.
func Trace(s beam.Scope, files beam.PCollection) beam.PCollection {
	return beam.Combine(s.Scope("reprise.Trace"), &Combine{}, files)
}

// Write writes the trace of a collection to the file at path, and replaces an earlier file. The worker that
// writes must see that path. If a worker dies, the earlier file stays as it was.
func Write(s beam.Scope, path string, tr beam.PCollection) {
	beam.ParDo0(s.Scope("reprise.Write"), &write{path}, tr)
}

type write struct{ Path string }

func (w *write) ProcessElement(tr []byte) error {
	return atomicfile.Write(w.Path, func(file io.Writer) error {
		_, err := file.Write(tr)
		return err
	})
}

// Combine is a CombineFn from [File] to the trace of all of them, a []byte. Two parts of a rank are an
// error. The clocks of several machines are aligned, as the command does.
type Combine struct {
	Ranks int // of the run; zero if as many as the parts say, or have
}

// CreateAccumulator returns the parts of no ranks.
func (*Combine) CreateAccumulator() parts { return parts{new(merge.Accumulator)} }

// AddInput adds the parts in a file to a.
func (*Combine) AddInput(a parts, f File) (parts, error) {
	p, err := decodePart(f.Content, layout.FileOptions(int64(len(f.Content)), 0))
	if err == nil {
		err = a.all.Merge(p.all)
	}
	if err != nil {
		return parts{}, fmt.Errorf("%s: %w", f.Path, err)
	}
	return a, nil
}

// MergeAccumulators adds what b has to a. It leaves b empty.
func (*Combine) MergeAccumulators(a, b parts) (parts, error) { return a, a.all.Merge(b.all) }

// ExtractOutput returns the trace.
func (c *Combine) ExtractOutput(a parts) ([]byte, error) {
	ctx := context.Background() // the SDK has none here
	if err := c.describe(a); err != nil {
		return nil, err
	}
	peer, names := a.all.HighestPeer()
	a.all.Align(nil) // what traces say is by the messages of each alone
	severalClocks := len(a.all.Clocks()) > 1
	var file bytes.Buffer
	unread, err := layout.Unread(a.all.WriteContext(ctx, &file))
	if unread != nil {
		log.Printf("reprise: %v", unread)
	}
	if err != nil {
		return nil, err
	}
	tr := file.Bytes()
	if severalClocks {
		var err error
		if tr, _, err = query.AlignTrace(ctx, tr); err != nil {
			return nil, err
		}
	}
	made.Store(&madeTrace{sha256.Sum256(tr), peer, names})
	return tr, nil
}

// A madeTrace describes a trace besides what is in it.
type madeTrace struct {
	digest [sha256.Size]byte
	peer   merge.Peer
	names  bool
}

// made is the trace that this process has made last, if the pipeline runs in it.
var made atomic.Pointer[madeTrace]

// HighestPeer returns what [merge.Accumulator.HighestPeer] does of the parts of a trace, if this process made
// it last: if the pipeline runs in it. To find it in the trace takes longer than to make that.
func HighestPeer(tr []byte) (peer merge.Peer, names, known bool) {
	m := made.Load()
	if m == nil || m.digest != sha256.Sum256(tr) {
		return merge.Peer{}, false, false
	}
	return m.peer, m.names, true
}

// describe says how many ranks the run has, which is an error if a rank is none of them.
func (c *Combine) describe(a parts) error {
	if c.Ranks == 0 {
		return nil
	}
	ranks := a.all.RankSet()
	if n := ranks.Len(); n > 0 && ranks.At(n-1) >= c.Ranks {
		return fmt.Errorf("a part is of rank %d, in a run of %s", ranks.At(n-1), text.Plural(c.Ranks, "rank"))
	}
	return a.all.Describe(merge.Run{Ranks: c.Ranks})
}
