package timing

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

// A realRank holds the calls of one rank of a recorded run.
type realRank struct {
	run       string // as in "lu.W.8"
	rank      string // as in "rank-00000"
	terminals []uint32
	starts    []int64
	durations []int64
}

// gaps returns the time of each call since the end of the call before it; 0 for
// the first.
func (r *realRank) gaps() []int64 {
	gaps := make([]int64, len(r.starts))
	for i := range gaps[:max(len(gaps)-1, 0)] {
		gaps[i+1] = r.starts[i+1] - (r.starts[i] + r.durations[i])
	}
	return gaps
}

// intervals returns the time of each call since the start of the call before it
// that has its terminal, or, where there is none, since the start of the first.
func (r *realRank) intervals() []int64 {
	intervals := make([]int64, len(r.starts))
	last := make(map[uint32]int64)
	for i, t := range r.terminals {
		before, ok := last[t]
		if !ok {
			before = r.starts[0]
		}
		intervals[i] = r.starts[i] - before
		last[t] = r.starts[i]
	}
	return intervals
}

// column is one column of a rank by name: duration, gap or interval.
func (r *realRank) column(name string) []int64 {
	switch name {
	case "duration":
		return r.durations
	case "gap":
		return r.gaps()
	case "interval":
		return r.intervals()
	}
	panic("no column " + name)
}

const realTraces = "../../shared/traces/timing"

var readReal = sync.OnceValues(func() ([]*realRank, error) {
	files, err := filepath.Glob(realTraces + "/*.tar.zst")
	if err != nil || len(files) == 0 {
		return nil, errors.Join(err, fs.ErrNotExist)
	}
	var all []*realRank
	for _, file := range files {
		ranks, err := readRun(file)
		if err != nil {
			return nil, err
		}
		all = append(all, ranks...)
	}
	return all, nil
})

// realRanks returns the ranks of the recorded runs, in the order of runs and
// ranks, and skips the test where the runs are missing.
func realRanks(t testing.TB) []*realRank {
	t.Helper()
	ranks, err := readReal()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no recorded runs in %s", realTraces)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ranks
}

func readRun(file string) ([]*realRank, error) {
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
	byRank := make(map[string]*realRank)
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
			r = &realRank{run: strings.TrimSuffix(filepath.Base(file), ".tar.zst"), rank: name}
			byRank[name] = r
		}
		switch path.Base(h.Name) {
		case "sig.u32":
			for ; len(data) > 0; data = data[4:] {
				r.terminals = append(r.terminals, binary.LittleEndian.Uint32(data))
			}
		case "start.u64":
			r.starts = int64s(data)
		case "dur.u64":
			r.durations = int64s(data)
		}
	}
	ranks := make([]*realRank, 0, len(byRank))
	for _, r := range byRank {
		ranks = append(ranks, r)
	}
	slices.SortFunc(ranks, func(a, b *realRank) int { return strings.Compare(a.rank, b.rank) })
	return ranks, nil
}

func int64s(data []byte) []int64 {
	v := make([]int64, 0, len(data)/8)
	for ; len(data) > 0; data = data[8:] {
		v = append(v, int64(binary.LittleEndian.Uint64(data)))
	}
	return v
}

// TestRealRanks checks that the runs are as long as their description says.
func TestRealRanks(t *testing.T) {
	want := map[string]int{"lu.W.8": 391_743, "cg.W.8": 70_712, "mg.W.8": 15_832, "is.W.8": 341, "hpcc.4": 400_000}
	got := make(map[string]int)
	for _, r := range realRanks(t) {
		if len(r.terminals) != len(r.starts) || len(r.starts) != len(r.durations) {
			t.Errorf("%s %s: columns of %d, %d and %d", r.run, r.rank, len(r.terminals), len(r.starts), len(r.durations))
		}
		got[r.run] += len(r.starts)
	}
	for run, n := range want {
		if got[run] != n {
			t.Errorf("%s: %d calls, want %d", run, got[run], n)
		}
	}
}
