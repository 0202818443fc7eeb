package proxy

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/testtrace"
	"github.com/reprise-trace/reprise/merge"
)

const heat = "../examples/notebook/heat.rpz"

func generate(t *testing.T, data []byte, o Options) (*Program, error) {
	t.Helper()
	trace, err := reprise.OpenReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	return Generate(context.Background(), trace, o)
}

// TestGenerate writes the program of a trace: the same each time, with loops and expressions, and
// as many lines as its loops need.
func TestGenerate(t *testing.T) {
	data, err := os.ReadFile(heat)
	if err != nil {
		t.Fatal(err)
	}
	for _, compute := range []Compute{None, Spin, Sleep} {
		o := Options{Name: "heat */ ??/.rpz", Compute: compute}
		p, err := generate(t, data, o)
		if err != nil {
			t.Fatal(err)
		}
		again, err := generate(t, data, o)
		if err != nil || !slices.Equal(p.Files, again.Files) {
			t.Errorf("another program: %v", err)
		}
		main := p.Files[0].Text
		for _, want := range []string{"for (", "MPI_Finalize();", "rank", "int main("} {
			if !strings.Contains(main, want) {
				t.Errorf("no %s in\n%s", want, main)
			}
		}
		if strings.Contains(main, "compute(") != (compute != None) {
			t.Errorf("%s:\n%s", compute, main)
		}
		if p.Lines > 300 || uint64(p.Lines) > p.Calls || len(p.LeftOut) > 0 {
			t.Errorf("%d lines for %d calls, left out: %v", p.Lines, p.Calls, p.LeftOut)
		}
	}
}

// TestAddresses writes the addresses of a segment of memory: also of one that is used far from its beginning only.
func TestAddresses(t *testing.T) {
	const far = 1 << 31
	for _, tt := range []struct {
		displacements []int64
		want          []string // nil for an error
	}{
		{[]int64{0, 8000}, []string{"buffer[0]", "buffer[0] + 8000"}},
		{[]int64{-8, 1 << 30}, []string{"buffer[0] - 8", "buffer[0] + 1073741824"}},
		{[]int64{far, far + 8000}, []string{"buffer[0]", "buffer[0] + 8000"}},
		{[]int64{far - 8, far + 4}, []string{"buffer[0] + 4088", "buffer[0] + 4100"}},
		{[]int64{-far - 8, -far}, []string{"buffer[0] + 4088", "buffer[0] + 4096"}},
		{[]int64{0, far}, nil},
		{[]int64{-1 << 63, 1<<63 - 1}, nil},
	} {
		calls := []testtrace.Call{{Function: cst.Function{Name: "MPI_Init"}}}
		for _, d := range tt.displacements {
			c := testtrace.MPICall("MPI_Send", "buf", 7, "count", 1, "datatype", "MPI_BYTE", "dest", "MPI_PROC_NULL", "tag", 0, "comm", "MPI_COMM_WORLD")
			c.Args[0] = cst.PointerTo(cst.Pointer{Segment: 7, Displacement: d})
			calls = append(calls, c)
		}
		p, err := Generate(context.Background(), testtrace.Record(t, merge.Run{Ranks: 1}, false, [][]testtrace.Call{calls}), Options{})
		if tt.want == nil || err != nil {
			if !errors.Is(err, errApart) || tt.want != nil {
				t.Errorf("%d: %v", tt.displacements, err)
			}
			continue
		}
		for _, want := range tt.want {
			if !strings.Contains(p.Files[0].Text, "MPI_Send("+want+", ") {
				t.Errorf("%d: no %s in\n%s", tt.displacements, want, p.Files[0].Text)
			}
		}
	}
}
