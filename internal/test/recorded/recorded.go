// Package recorded reads the times of recorded runs, for tests and benchmarks.
package recorded

import (
	"archive/tar"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// A Rank holds the calls of one rank of a run.
type Rank struct {
	Run       string // as in "lu.W.8"
	Rank      string // as in "rank-00000"
	Terminals []uint32
	Starts    []int64 // in nanoseconds, as the durations
	Durations []int64
}

// Gaps returns the time of each call since the end of the call before it; 0 for
// the first.
func (r *Rank) Gaps() []int64 {
	gaps := make([]int64, len(r.Starts))
	for i := range gaps[:max(len(gaps)-1, 0)] {
		gaps[i+1] = r.Starts[i+1] - (r.Starts[i] + r.Durations[i])
	}
	return gaps
}

// Intervals returns the time of each call since the start of the call before it
// that has its terminal, or, where there is none, since the start of the first.
func (r *Rank) Intervals() []int64 {
	intervals := make([]int64, len(r.Starts))
	last := make(map[uint32]int64)
	for i, t := range r.Terminals {
		before, ok := last[t]
		if !ok {
			before = r.Starts[0]
		}
		intervals[i] = r.Starts[i] - before
		last[t] = r.Starts[i]
	}
	return intervals
}

// ErrNoRuns means that a directory holds no recorded runs.
var ErrNoRuns = errors.New("no recorded runs")

// Read returns the ranks of the runs in a directory, files named *.tar.zst, in the
// order of runs and ranks.
func Read(dir string) ([]*Rank, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.tar.zst"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%w in %s", ErrNoRuns, dir)
	}
	var all []*Rank
	for _, file := range files {
		ranks, err := readRun(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, ranks...)
	}
	return all, nil
}

// Runs beside the project, and those in it, from wherever in it the test runs.
var (
	beside = sync.OnceValues(func() ([]*Rank, error) { return Read(inProject("../shared/traces/timing")) })
	inside = sync.OnceValues(func() ([]*Rank, error) { return Read(inProject(shipped)) })
)

// shipped is where the runs are that the project has itself.
const shipped = "bench/testdata/timing"

// inProject returns a path from the root of the project, in which there are several
// modules.
func inProject(path string) string {
	folder, err := os.Getwd()
	for ; err == nil && folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, shipped)); err == nil {
			break
		}
	}
	return filepath.Join(folder, path)
}

// A Test is what Ranks needs of a [testing.TB].
type Test interface {
	Helper()
	Skip(args ...any)
	Fatal(args ...any)
}

// Ranks returns the ranks of the runs in ../shared/traces/timing from the
// project's root, and skips the test where they are missing. Who calls it must not
// change them.
func Ranks(t Test) []*Rank {
	t.Helper()
	ranks, err := beside()
	if errors.Is(err, ErrNoRuns) {
		t.Skip("no recorded runs in ../shared/traces/timing from the project's root")
	}
	if err != nil {
		t.Fatal(err)
	}
	return ranks
}

// Shipped returns ranks of parts of the same runs, which the project has itself, in
// bench/testdata: benchmarks are of these, so that they run anywhere. Who calls it
// must not change them.
func Shipped(t Test) []*Rank {
	t.Helper()
	ranks, err := inside()
	if err != nil {
		t.Fatal(err)
	}
	return ranks
}

func readRun(file string) ([]*Rank, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	byRank := make(map[string]*Rank)
	for archive := tar.NewReader(z); ; {
		h, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		name := path.Base(path.Dir(h.Name))
		if h.Typeflag != tar.TypeReg || !strings.HasPrefix(name, "rank-") {
			continue
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			return nil, err
		}
		r := byRank[name]
		if r == nil {
			r = &Rank{Run: strings.TrimSuffix(filepath.Base(file), ".tar.zst"), Rank: name}
			byRank[name] = r
		}
		switch path.Base(h.Name) {
		case "sig.u32":
			for ; len(data) > 0; data = data[4:] {
				r.Terminals = append(r.Terminals, binary.LittleEndian.Uint32(data))
			}
		case "start.u64":
			r.Starts = int64s(data)
		case "dur.u64":
			r.Durations = int64s(data)
		}
	}
	ranks := make([]*Rank, 0, len(byRank))
	for _, r := range byRank {
		ranks = append(ranks, r)
	}
	slices.SortFunc(ranks, func(a, b *Rank) int { return strings.Compare(a.Rank, b.Rank) })
	return ranks, nil
}

func int64s(data []byte) []int64 {
	v := make([]int64, 0, len(data)/8)
	for ; len(data) > 0; data = data[8:] {
		v = append(v, int64(binary.LittleEndian.Uint64(data)))
	}
	return v
}
