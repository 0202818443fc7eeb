package bench

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestMeasure checks that every task runs once a round, in turn.
func TestMeasure(t *testing.T) {
	var order strings.Builder
	results := measure([]task{
		{"a", 2, func() { order.WriteString("a") }},
		{"b", 1, func() { order.WriteString("b") }},
	})
	if got, want := order.String(), strings.Repeat("ab", rounds); got != want {
		t.Errorf("ran %s, want %s", got, want)
	}
	for _, r := range results {
		if r.least > r.median || r.median > r.most || r.least <= 0 {
			t.Errorf("%s: median %f of %f to %f", r.name, r.median, r.least, r.most)
		}
	}
}

func TestSizes(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	if err := reportSizes(&out, dir); !errors.Is(err, ErrNoTraces) {
		t.Errorf("err = %v, want %v", err, ErrNoTraces)
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	text := "0 init\n" + strings.Repeat("0 barrier\n", 100) + "0 finalize\n1 init\n1 finalize\n"
	if err := os.WriteFile(filepath.Join(dir, "small.ti.zst"), enc.EncodeAll([]byte(text), nil), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := reportSizes(&out, dir); err != nil {
		t.Fatal(err)
	}
	if want := "| small | 2 | 104 | 1036 | "; !strings.Contains(out.String(), want) {
		t.Errorf("no row %s in\n%s", want, &out)
	}
	out.Reset()
	if err := reportWhole(&out, dir); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "| small | ") {
		t.Errorf("no row of the trace in\n%s", &out)
	}
}
