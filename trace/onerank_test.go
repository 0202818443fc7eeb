//go:build !race

package trace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
)

// A countingReader counts the bytes that are read of a file.
type countingReader struct {
	io.ReaderAt
	bytes atomic.Int64
}

func (r *countingReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	r.bytes.Add(int64(n))
	return n, err
}

// foldProgram returns the trace of a program.
func foldProgram(t *testing.T, p programs.Program) []byte {
	t.Helper()
	const leaf = 4096 // ranks
	a, err := merge.Tree(context.Background(), (p.Ranks+leaf-1)/leaf,
		func(_ context.Context, i int) (*merge.Accumulator, error) {
			a := new(merge.Accumulator)
			for rank := i * leaf; rank < min((i+1)*leaf, p.Ranks); rank++ {
				if err := a.Add(p.Part(rank)); err != nil {
					return nil, err
				}
			}
			return a, nil
		}, merge.TreeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Describe(p.Run()); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := a.Write(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// checkPart compares the calls of a rank with those of a part.
func checkPart(t *testing.T, r *Rank, want merge.Part) {
	t.Helper()
	var calls []string
	for _, terminal := range want.Grammar.All() {
		fn, args := want.Table.Signature(terminal)
		calls = append(calls, string(cst.AppendCall(nil, want.Table.Functions()[fn], args)))
	}
	if r.Len() != uint64(len(calls)) {
		t.Fatalf("rank %d has %d calls, want %d", want.Rank, r.Len(), len(calls))
	}
	for got, err := range r.Calls(0) {
		if err != nil {
			t.Fatal(err)
		}
		i := got.Position
		if got.String() != calls[i] {
			t.Fatalf("rank %d: call %d is %v, want %s", want.Rank, i, got, calls[i])
		}
	}
}

// TestOneRankOfAMillion checks how much of the trace of a million ranks is read for
// one of them: kilobytes, be the peers regular or not.
func TestOneRankOfAMillion(t *testing.T) {
	tier.Long(t, "makes traces of a million ranks")
	for _, p := range []programs.Program{
		programs.PermutationSend(1<<20, 10, 1),
		programs.Stencil2D(1024, 1024, 1000),
	} {
		t.Run(p.Name, func(t *testing.T) {
			file := foldProgram(t, p)
			for _, rank := range []int{0, 1<<19 + 12_345, 1<<20 - 1} {
				r := countingReader{ReaderAt: bytes.NewReader(file)}
				trace, err := OpenReader(&r, int64(len(file)), Options{})
				if err != nil {
					t.Fatal(err)
				}
				opened := r.bytes.Load()
				checkPart(t, readRank(t, trace, rank), p.Part(rank))
				t.Logf("rank %d: %d bytes of %d are read, %d of them to open it", rank, r.bytes.Load(),
					len(file), opened)
				if most := int64(100_000); r.bytes.Load() > most {
					t.Errorf("rank %d: %d bytes of %d are read, want at most %d", rank, r.bytes.Load(), len(file), most)
				}
			}
		})
	}
}

// TestLostSlice checks that damage to a slice of a long column costs the ranks whose
// values it has, and no other.
func TestLostSlice(t *testing.T) {
	tier.Long(t, "makes a trace of many ranks")
	p := programs.PermutationSend(1<<16, 10, 1)
	whole := foldProgram(t, p)
	checkLostSlice(t, p, whole)
	var a merge.Accumulator // of a run in which the last rank is silent, so that the column is of some ranks
	if err := openBytes(t, whole).AddTo(t.Context(), &a); err != nil {
		t.Fatal(err)
	}
	if err := a.Describe(merge.Run{Ranks: p.Ranks + 1}); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := a.Write(&file); err != nil {
		t.Fatal(err)
	}
	checkLostSlice(t, p, file.Bytes())
}

func checkLostSlice(t *testing.T, p programs.Program, file []byte) {
	t.Helper()
	for key, lost := range []string{"0-32767", "32768-65535"} {
		checkLost(t, p, salvage(t, flip(t, file, layout.KindColumns, uint64(key))), lost)
	}
}

func checkLost(t *testing.T, p programs.Program, trace *Trace, want string) {
	t.Helper()
	var lost []int
	for rank := range p.Ranks {
		r, err := trace.Rank(rank)
		switch {
		case err == nil && rank%1000 == 0:
			checkPart(t, r, p.Part(rank))
		case err != nil && !errors.Is(err, format.ErrCorrupt):
			t.Fatalf("rank %d: %v", rank, err)
		case err != nil:
			lost = append(lost, rank)
		}
	}
	list := trace.Damage()
	if set := rankenc.SetOf(lost...); set.String() != want || len(list) != 1 || !list[0].Ranks.Equal(set) {
		t.Errorf("ranks %v are lost, of %v", set, list)
	}
	trace.leaveOutDamage()
	for _, rank := range []int{0, 1, 30_000, 32_767, 32_768, 40_000, 65_535} {
		if !slices.Contains(lost, rank) {
			checkPart(t, readRank(t, trace, rank), p.Part(rank))
		}
	}
}
