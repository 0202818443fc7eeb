package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/compress"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/content"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// compared returns what codecs --json prints.
func compared(t *testing.T, stdin string, args ...string) compress.CodecsTable {
	t.Helper()
	r := invoke(t, stdin, append([]string{"codecs", "--json"}, args...)...)
	if r.status != cli.ExitOK || r.stderr != "" {
		t.Fatalf("codecs %q: status %d, %s", args, r.status, r.stderr)
	}
	var table compress.CodecsTable
	d := json.NewDecoder(strings.NewReader(r.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&table); err != nil {
		t.Fatal(err)
	}
	return table
}

// TestCodecsInputs checks that one column is the same however it is written.
func TestCodecsInputs(t *testing.T) {
	t.Chdir(t.TempDir())
	var lines, milli, table, semicolons strings.Builder
	table.WriteString("name,took\n")
	for i := range 2000 {
		ns := 1_000_000 + i%13*125
		fmt.Fprintln(&lines, ns)
		fmt.Fprintf(&milli, "%d.%06dms\n\n", ns/1_000_000, ns%1_000_000)
		fmt.Fprintf(&table, "\"a,b\",%g\n", float64(ns)/1e9)
		fmt.Fprintf(&semicolons, "%d; %d\n", i, ns)
	}
	writeFile(t, "lines.txt", lines.String())
	writeFile(t, "milli", milli.String())
	writeFile(t, "table.csv", table.String())
	writeFile(t, "semicolons.csv", semicolons.String())
	want := compared(t, "", "lines.txt")
	if want.Schema != 1 || want.Error != 0.1 || len(want.Columns) != 1 || want.Columns[0].Values != 2000 ||
		want.Columns[0].Name != "lines.txt" {
		t.Fatalf("%+v", want)
	}
	for _, args := range [][]string{
		{"-"}, {"milli"}, {"milli", "--unit", "s"}, {"table.csv", "--column", "took", "--unit", "s"},
		{"table.csv", "--column", "2", "--unit", "s"}, {"semicolons.csv", "--column", "2"},
	} {
		got := compared(t, lines.String(), args...)
		for i, c := range got.Columns[0].Codecs {
			w := want.Columns[0].Codecs[i]
			if c.Codec != w.Codec || c.Values != w.Values || c.Bytes != w.Bytes ||
				(c.Errors == nil) != (w.Errors == nil) || c.Errors != nil && *c.Errors != *w.Errors || c.Encode <= 0 {
				t.Errorf("codecs %q: %+v, want %+v", args, c, w)
			}
		}
	}
	names := strings.Fields("exponential hist grammar entropy entropy-fast zstd lz4 statistics histograms paths")
	for i, c := range want.Columns[0].Codecs {
		if c.Codec != names[i] || c.Bytes <= 0 {
			t.Errorf("codec %d is %+v, want %s", i, c, names[i])
		}
	}
	text := must(t, "codecs", "lines.txt", "--error", "1%")
	if !strings.Contains(text,
		"lines.txt: 2,000 values, 16.0 kB as they are; codecs with an error: at most 1 % off\n") ||
		strings.Count(text, "mean error") != 1 {
		t.Errorf("printed\n%s", text)
	}
	const words = "exponential hist grammar entropy entropy-fast zstd lz4 statistics histograms paths"
	for word := range strings.FieldsSeq(words) {
		if !strings.Contains(text, "  "+word+"\n") {
			t.Errorf("no %s in\n%s", word, text)
		}
	}
}

// TestCodecsFew checks that only codecs without an error are called exact, also of values that all
// come back.
func TestCodecsFew(t *testing.T) {
	exact := []string{"zstd", "lz4"}
	for line := range strings.Lines(invoke(t, "1000\n", "codecs", "-").stdout) {
		fields := strings.Fields(line)
		if codec := fields[len(fields)-1]; slices.Contains(exact, codec) != strings.Contains(line, "exact") {
			t.Errorf("%s", line)
		}
	}
}

// TestCodecsFirstLine checks that the first line of a table without names is data, whatever
// numbers it has.
func TestCodecsFirstLine(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "numbers", "1\n2\n3\n")
	writeFile(t, "words.csv", "read,2\nwrite,1\n")
	writeFile(t, "names.csv", "2,took\n7,1\n")
	writeFile(t, "title.csv", "function,took\nread,1\n")
	for args, want := range map[string]int{
		"numbers --column 1": 3, "words.csv --column 2": 2, "names.csv --column 2": 0,
		"title.csv --column 2": 1, "title.csv --column took": 1,
	} {
		r := invoke(t, "", append([]string{"codecs", "--json"}, strings.Fields(args)...)...)
		if want == 0 {
			if !strings.Contains(r.stderr, `line 1: "took" is not a time, such as 1500 or 1.5us`) {
				t.Errorf("codecs %s: %+v", args, r)
			}
		} else if !strings.Contains(r.stdout, fmt.Sprintf(`"values": %d,`, want)) {
			t.Errorf("codecs %s: %+v, want %d values", args, r, want)
		}
	}
}

// TestCodecsTrace checks the columns of traces: sizes of the chosen ranks, with what
// signatures tell.
func TestCodecsTrace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "run.rpz")
	writeTimedRanks(t, path, noError(timing.NewLossless(timing.Zstd)))
	got := compared(t, "", path, "--ranks", "0,2")
	if len(got.Columns) != 2 || got.Columns[0].Name != path+", durations" ||
		got.Columns[1].Name != path+", gaps" || got.Columns[0].Values != 2000 || got.Columns[1].Values != 1998 {
		t.Fatalf("%+v", got)
	}
	var want []timing.Column[int64]
	for rank := range int64(2) {
		var c timing.Column[int64]
		for i := range int64(1000) {
			c.Values, c.Terminals = append(c.Values, 100+2*rank+i%2*(1000+i%7)), append(c.Terminals, uint32(i%2))
		}
		want = append(want, c)
	}
	all, err := timing.Compare(want, timing.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bytes := make(map[string]int)
	for _, c := range all {
		bytes[c.Codec] = c.Bytes
	}
	for _, c := range got.Columns[0].Codecs {
		if b, ok := bytes[c.Codec]; ok && b != c.Bytes {
			t.Errorf("%s takes %d bytes, want %d", c.Codec, c.Bytes, b)
		}
	}
	entropy, err := timing.NewEntropy(0.1)
	if err != nil {
		t.Fatal(err)
	}
	writeTimedRanks(t, path, entropy)
	if r := invoke(t, "", "codecs", path); r.status != cli.ExitFailure ||
		!strings.HasSuffix(r.stderr, "rank 0 has no exact times: record --times exact keeps them\n") {
		t.Errorf("status %d, %s", r.status, r.stderr)
	}
}

// writeTimedRanks writes a trace of three ranks with the times of their calls.
func writeTimedRanks(t *testing.T, path string, codec timing.Codec) {
	t.Helper()
	var a merge.Accumulator
	for rank := range int64(3) {
		r, err := tracer.New(tracer.Options{Series: noError(timing.NewSeriesCodec(codec, codec, timing.Gaps))})
		if err != nil {
			t.Fatal(err)
		}
		read, write := r.Declare(cst.Function{Name: "read"}), r.Declare(cst.Function{Name: "write"})
		now := int64(0)
		for i := range int64(1000) {
			now += 50 + i%5
			duration := 100 + rank + i%2*(1000+i%7)
			r.CallAt([]int{read, write}[i%2], now, duration)
			now += duration
		}
		if err := a.Add(r.Finish(int(rank))); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Describe(merge.Run{Ranks: 3}); err != nil {
		t.Fatal(err)
	}
	var file strings.Builder
	if err := a.Write(&file); err != nil {
		t.Fatal(err)
	}
	writeFile(t, path, file.String())
}

func TestCodecsErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "table.csv", "a,b\n1,2\n3\n")
	writeFile(t, "empty", "\n\n")
	writeFile(t, "numbers.csv", "1,2\n3,4\n")
	writeFile(t, "trace.rpz", content.TraceBegin)
	for _, tt := range []struct {
		args   string
		status int
		want   string
	}{
		{"", cli.ExitUsage, "codecs takes files with times"},
		{"empty --unit h", cli.ExitUsage, `invalid argument "h" for "--unit" flag: must be ns, us, ms or s`},
		{"empty --error 0", cli.ExitUsage, "--error is not 0: exact codecs are compared as well"},
		{"empty --error x", cli.ExitUsage, "--error is from 0.0001 to 0.5, not x"},
		{"missing", cli.ExitFailure, "missing: no such file or directory"},
		{".", cli.ExitFailure,
			".: this is a directory; codecs reads traces, text with a time on each line, and CSV with --column"},
		{"empty", cli.ExitFailure, "empty: no times in it"},
		{"table.csv", cli.ExitFailure, "table.csv: line 1 has several fields: --column chooses one"},
		{"table.csv --column c", cli.ExitFailure, `table.csv: no column "c": there are a, b`},
		{"table.csv --column 3", cli.ExitFailure, `table.csv: no column "3": there are a, b`},
		{"numbers.csv --column x", cli.ExitFailure,
			`numbers.csv: no column "x": there are 1 to 2, and the first line has no names`},
		{"table.csv --ranks 0", cli.ExitUsage, "--ranks goes with a trace"},
		{"trace.rpz --column 1", cli.ExitUsage, "--column does not go with a trace"},
		{"trace.rpz --unit s", cli.ExitUsage, "--unit does not go with a trace"},
		{"table.csv --column b", cli.ExitFailure, `table.csv: line 3 has no column "b"`},
		{"-", cli.ExitFailure, `-: line 2: "1e300" is not a time, such as 1500 or 1.5us`},
	} {
		r := invoke(t, "1\n1e300\n", append([]string{"codecs"}, strings.Fields(tt.args)...)...)
		if line, _, _ := strings.Cut(r.stderr, "\n"); r.status != tt.status || line != "reprise: "+tt.want ||
			r.stdout != "" {
			t.Errorf("codecs %s: status %d, %q, want %d, %q", tt.args, r.status, line, tt.status, tt.want)
		}
	}
}
