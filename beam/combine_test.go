package beam

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"pgregory.net/rapid"

	_ "github.com/reprise-trace/reprise/internal/test/tier" // how many cases are drawn

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/merge"
)

func init() { register.Function1x2(groupOf) }

func TestMain(m *testing.M) {
	if most := os.Getenv(asWorker); most != "" {
		work(most, os.Args[1:])
	}
	ptest.MainWithDefault(m, "prism")
}

// writeParts writes part files of so many ranks each, and returns their paths and the trace that
// merge.Files makes of them.
func writeParts(t testing.TB, p programs.Program, ofFile int) (paths []string, tr []byte) {
	t.Helper()
	dir := t.TempDir()
	for first := 0; first < p.Ranks; first += ofFile {
		a := new(merge.Accumulator)
		err := a.Describe(p.Run())
		for rank := first; rank < min(first+ofFile, p.Ranks) && err == nil; rank++ {
			err = a.Add(p.Part(rank))
		}
		var file bytes.Buffer
		if err == nil {
			err = a.WritePart(&file)
		}
		paths = append(paths, filepath.Join(dir, fmt.Sprintf("rank%07d.part.rpz", first)))
		if err == nil {
			err = os.WriteFile(paths[len(paths)-1], file.Bytes(), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "run.trace")
	if err := merge.Files(out, 0, paths...); err != nil {
		t.Fatal(err)
	}
	return paths, readFile(t, out)
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestTrace merges with the Prism runner.
func TestTrace(t *testing.T) {
	for _, p := range []programs.Program{programs.Stencil2D(8, 8, 1000),
		programs.Stencil2D(8, 8, 1000).Timed(), programs.RandomPartners(40, 20, 1)} {
		paths, want := writeParts(t, p, 3)
		pipeline, s := beam.NewPipelineWithRoot()
		passert.Equals(s, Trace(s, Read(s, paths)), want)
		if err := ptest.Run(pipeline); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

// groupOf returns the number of a group of files.
func groupOf(f File) (int, File) {
	return len(f.Content) + int(f.Path[len(f.Path)-len("0.part.rpz")]), f
}

// TestTracePerKey merges the files of each of several keys.
func TestTracePerKey(t *testing.T) {
	paths, _ := writeParts(t, programs.RandomPartners(12, 20, 1), 1)
	var want []any
	dir := t.TempDir()
	byKey := make(map[int][]string)
	for _, path := range paths {
		key, _ := groupOf(File{path, readFile(t, path)})
		byKey[key] = append(byKey[key], path)
	}
	for _, group := range byKey {
		out := filepath.Join(dir, "out")
		if err := merge.Files(out, 0, group...); err != nil {
			t.Fatal(err)
		}
		want = append(want, readFile(t, out))
	}
	pipeline, s := beam.NewPipelineWithRoot()
	files := beam.ParDo(s, groupOf, Read(s, paths))
	passert.Equals(s, beam.DropKey(s, beam.CombinePerKey(s, &Combine{}, files)), want...)
	if err := ptest.Run(pipeline); err != nil {
		t.Error(err)
	}
}

// TestTraceErrors merges what cannot be merged: errors name the file.
func TestTraceErrors(t *testing.T) {
	paths, _ := writeParts(t, programs.Stencil2D(2, 2, 10), 1)
	damaged := filepath.Join(t.TempDir(), "damaged.rpz")
	content := readFile(t, paths[3])
	content[len(content)/2] ^= 1
	if err := os.WriteFile(damaged, content, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		paths []string
		want  string
	}{
		{[]string{paths[0], damaged}, damaged + ": "},
		{[]string{paths[0], "none.rpz"}, "none.rpz: no such file"},
		{[]string{paths[0], paths[1], paths[0]}, paths[0] + ": merge: two parts of rank 0"},
	} {
		pipeline, s := beam.NewPipelineWithRoot()
		Trace(s, Read(s, tt.paths))
		if err := ptest.Run(pipeline); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt.paths, err, tt.want)
		}
	}
}

// TestAnyOrder does what an engine may do, and Prism does not: it adds files in any order to any number of
// bundles, throws bundles away as if a worker had died, does them again, sends accumulators from worker to
// worker, and merges them in any order.
func TestAnyOrder(t *testing.T) {
	var all [][]File
	var traces [][]byte
	for _, p := range []programs.Program{programs.Stencil2D(4, 4, 100), programs.RandomPartners(12, 10, 1).Timed()} {
		paths, tr := writeParts(t, p, 1)
		var files []File
		for _, path := range paths {
			files = append(files, File{path, readFile(t, path)})
		}
		all, traces = append(all, files), append(traces, tr)
	}
	rapid.Check(t, func(t *rapid.T) {
		program := rapid.IntRange(0, len(all)-1).Draw(t, "program")
		files := rapid.Permutation(all[program]).Draw(t, "files")
		var fn Combine
		var ready []parts
		for len(files) > 0 {
			n := rapid.IntRange(1, len(files)).Draw(t, "bundle")
			if lost := rapid.IntRange(0, n).Draw(t, "lost after"); lost < n {
				bundle(t, &fn, files[:lost])
			}
			ready = append(ready, bundle(t, &fn, files[:n]))
			files = files[n:]
		}
		for len(ready) > 1 {
			i := rapid.IntRange(0, len(ready)-2).Draw(t, "merged")
			a, b := ready[i], ready[len(ready)-1]
			if rapid.Bool().Draw(t, "swapped") {
				a, b = b, a
			}
			merged, err := fn.MergeAccumulators(sent(t, a), sent(t, b))
			if err != nil {
				t.Fatal(err)
			}
			ready[i], ready = merged, ready[:len(ready)-1]
		}
		got, err := fn.ExtractOutput(sent(t, ready[0]))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, traces[program]) {
			t.Fatalf("%d bytes, not the %d of merge.Files", len(got), len(traces[program]))
		}
	})
}

// bundle returns the accumulator of files.
func bundle(t *rapid.T, fn *Combine, files []File) parts {
	a := fn.CreateAccumulator()
	for _, f := range files {
		var err error
		if a, err = fn.AddInput(a, f); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// sent returns a as another worker has it.
func sent(t *rapid.T, a parts) parts {
	file, err := encode(a)
	if err == nil {
		a, err = decode(file)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// BenchmarkMerge merges the part files of a stencil with the Prism runner and without Beam, with and without
// times: the quotient of the two is the cost of Beam.
func BenchmarkMerge(b *testing.B) {
	for name, p := range map[string]programs.Program{
		"times=none": programs.Stencil2D(128, 128, 100), "times=all": programs.Stencil2D(32, 32, 100).Timed(),
	} {
		paths, _ := writeParts(b, p, p.Ranks/64)
		b.Run(name+"/engine=prism", func(b *testing.B) {
			for b.Loop() {
				pipeline, s := beam.NewPipelineWithRoot()
				Write(s, filepath.Join(b.TempDir(), "run.trace"), Trace(s, Read(s, paths)))
				if err := ptest.Run(pipeline); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/engine=none", func(b *testing.B) {
			for b.Loop() {
				if err := merge.Files(filepath.Join(b.TempDir(), "run.trace"), 0, paths...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
