package columns

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/rankenc"
)

// realColumn is what the processes of a run, which make the same kinds of calls
// in the same order, have as one argument of one of them.
type realColumn struct {
	domain Domain
	values []int64
}

// realColumns reads a trace in SimGrid's time-independent format and returns the
// columns of the numbers in its distinct lines, in order of first use.
func realColumns(t testing.TB, name string) []realColumn {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	dec, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	text, err := dec.DecodeAll(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	calls := make(map[int][][]string) // distinct ones of each rank, as fields
	seen := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		if seen[line] {
			continue
		}
		seen[line] = true
		fields := strings.Fields(line)
		rank, err := strconv.Atoi(fields[0])
		if err != nil {
			t.Fatal(err)
		}
		calls[rank] = append(calls[rank], fields[1:])
	}
	shapes := make(map[string][]int) // ranks with the same kinds of calls
	var names []string
	for rank := range len(calls) {
		var b strings.Builder
		for _, fields := range calls[rank] {
			b.WriteString(fields[0] + " " + strconv.Itoa(len(fields)) + "\n")
		}
		if shapes[b.String()] == nil {
			names = append(names, b.String())
		}
		shapes[b.String()] = append(shapes[b.String()], rank)
	}
	var columns []realColumn
	for _, name := range names {
		columns = append(columns, shapeColumns(t, shapes[name], calls)...)
	}
	return columns
}

func shapeColumns(t testing.TB, ranks []int, calls map[int][][]string) []realColumn {
	d := Over(rankenc.SetOf(ranks...), len(calls))
	var columns []realColumn
	for k, fields := range calls[ranks[0]] {
		for f := 1; f < len(fields); f++ {
			c := realColumn{d, make([]int64, len(ranks))}
			for i, rank := range ranks {
				v, err := strconv.ParseFloat(calls[rank][k][f], 64)
				if err != nil {
					t.Fatal(err)
				}
				c.values[i] = int64(v)
			}
			columns = append(columns, c)
		}
	}
	return columns
}

// TestRealColumns checks columns of real runs, and reports what they take, each
// distinct one counted once.
func TestRealColumns(t *testing.T) {
	names, err := filepath.Glob("../../../shared/traces/ti/*.ti.zst")
	if err != nil || len(names) == 0 {
		t.Skip("no traces beside the repository")
	}
	for _, name := range names {
		if strings.Contains(name, "compute") || !tier.Nightly && !strings.Contains(name, "S.16") {
			continue
		}
		distinct := make(map[string]bool)
		columns := realColumns(t, name)
		size := 0
		for _, rc := range columns {
			c := NewColumn(rc.domain, rc.values, Options{})
			checkColumn(t, rc.domain, rc.values, c)
			if enc := string(marshal(c)); !distinct[enc] {
				distinct[enc] = true
				size += len(enc)
			}
		}
		t.Logf("%s: %d columns, %d distinct in %d bytes", filepath.Base(name), len(columns), len(distinct), size)
	}
}
