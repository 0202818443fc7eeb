// Package recorded reads the times of recorded runs, for tests and benchmarks.
package recorded

import (
	"archive/tar"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

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

// read finds the runs beside the project, from wherever in it the test runs.
var read = sync.OnceValues(func() ([]*Rank, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	for ; folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			break
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "../shared/traces/timing/*.tar.zst"))
	if err != nil || len(files) == 0 {
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	var all []*Rank
	for _, file := range files {
		ranks, err := readRun(file)
		if err != nil {
			return nil, err
		}
		all = append(all, ranks...)
	}
	return all, nil
})

// Ranks returns the ranks of the recorded runs, in the order of runs and ranks,
// and skips the test where the runs are missing.
func Ranks(t testing.TB) []*Rank {
	t.Helper()
	ranks, err := read()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no recorded runs in ../shared/traces/timing from the project's root")
	}
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
