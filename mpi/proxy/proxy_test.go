package proxy

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/trace"
)

const heat = "../../examples/notebook/heat.rpz"

func generate(t *testing.T, data []byte, o Options) (*Program, error) {
	t.Helper()
	tr, err := trace.OpenReader(bytes.NewReader(data), int64(len(data)), trace.Options{})
	if err != nil {
		return nil, err
	}
	return Generate(context.Background(), tr, o)
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
