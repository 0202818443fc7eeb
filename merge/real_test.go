package merge_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// TestRealTraces checks every call of real runs, and that the parts of their
// ranks give the same file in whatever order and grouping they are merged.
func TestRealTraces(t *testing.T) {
	for _, pattern := range []string{"ti/*.ti.zst", "kinds/*.ti.txt"} {
		paths, err := filepath.Glob("../../shared/traces/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(paths) == 0 {
			t.Skip("no traces in ../../shared/traces/" + pattern)
		}
		for _, path := range paths {
			t.Run(filepath.Base(path), func(t *testing.T) {
				if !tier.Nightly && !strings.Contains(path, "S.16.ti") && !strings.Contains(path, "kinds") {
					t.Skip("short: a large trace")
				}
				testRealTrace(t, path)
			})
		}
	}
}

// TestRealSizes writes real runs: no trace may become a hundredth larger than it once was.
func TestRealSizes(t *testing.T) {
	for name, most := range map[string]int{
		"cg.S.16.compute": 32_588, "cg.S.16": 104, "cg.S.64": 117, "is.S.16": 462, "is.S.64": 2_402, "lu.W.16": 388,
		"lu.W.64": 396, "mg.S.16.compute": 12_691, "mg.S.16": 264, "mg.S.64": 432, "sp.S.16": 266,
	} {
		t.Run(name, func(t *testing.T) {
			in, err := simgrid.Open([]string{"../../shared/traces/ti/" + name + ".ti.zst"}, simgrid.Options{})
			if errors.Is(err, fs.ErrNotExist) {
				t.Skip(err)
			} else if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			run, parts, err := simgrid.Record(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := merge.Write(&b, run, parts); err != nil {
				t.Fatal(err)
			}
			if n := b.Len(); n > most+most/100 {
				t.Errorf("%d bytes, not %d", n, most)
			}
		})
	}
}

func testRealTrace(t *testing.T, path string) {
	parts := readTI(t, path)
	run := merge.Run{Source: simgrid.Source}
	for _, p := range parts {
		run.Ranks = max(run.Ranks, p.Rank+1)
	}
	var b bytes.Buffer
	if err := merge.Write(&b, run, parts); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	container, err := format.NewReader(bytes.NewReader(file), int64(len(file)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tr, err := trace.OpenContainer(container, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range parts {
		got, err := tr.Part(want.Rank)
		if err == nil {
			err = sameCalls(got, want)
		}
		if err != nil {
			t.Fatalf("rank %d: %v", want.Rank, err)
		}
	}
	if merge.Racing {
		return
	}
	for seed := range uint64(2) {
		if again := mergeAtRandom(t, run, parts, rand.New(rand.NewPCG(seed, 0))); !bytes.Equal(again, file) {
			t.Fatalf("seed %d: %d bytes, %d when all parts are added in order", seed, len(again), len(file))
		}
	}
	t.Logf("%d ranks, %d shapes, %d bytes", run.Ranks, tr.Shapes(), len(file))
}

// mergeAtRandom returns the trace of parts that are merged in random order and
// grouping, now and then through a part file.
func mergeAtRandom(t *testing.T, run merge.Run, parts []merge.Part, rng *rand.Rand) []byte {
	t.Helper()
	var list []*merge.Accumulator
	for _, i := range rng.Perm(len(parts)) {
		if len(list) == 0 || rng.IntN(2) == 0 {
			list = append(list, new(merge.Accumulator))
		}
		if err := list[len(list)-1].Add(parts[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := list[0].Describe(run); err != nil {
		t.Fatal(err)
	}
	for len(list) > 1 {
		i := rng.IntN(len(list) - 1)
		if err := list[i].Merge(list[i+1]); err != nil {
			t.Fatal(err)
		}
		if list = slices.Delete(list, i+1, i+2); rng.IntN(4) > 0 {
			continue
		}
		var b bytes.Buffer
		if err := list[i].WritePart(&b); err != nil {
			t.Fatal(err)
		}
		f, err := format.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), format.Options{})
		if err == nil {
			list[i], err = merge.ReadPart(f)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := list[0].Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readTI returns the parts of a SimGrid trace.
func readTI(t *testing.T, path string) []merge.Part {
	t.Helper()
	in, err := simgrid.Open([]string{path}, simgrid.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	ranks := make(map[int]*tracer.Recorder)
	for {
		var c simgrid.Call
		if c, err = in.Read(); err != nil {
			break
		}
		r := ranks[c.Rank]
		if r == nil {
			r = new(tracer.Recorder)
			ranks[c.Rank] = r
			for _, f := range simgrid.Functions() {
				r.Declare(f)
			}
		}
		r.Call(c.Function, c.Args...)
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	var parts []merge.Part
	for _, rank := range slices.Sorted(maps.Keys(ranks)) {
		parts = append(parts, ranks[rank].Finish(rank))
	}
	return parts
}
