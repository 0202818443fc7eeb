package main

import (
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/text"
)

// TestWritten checks what report, matrix and export say of the files that they wrote.
func TestWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	const duckdb = "duckdb -c \"select * from 'NAME' limit 5\"\n"
	for _, tt := range []struct{ command, file, want string }{
		{"report ring.rpz -o", "run.html", "run.html: a report of 4 ranks, SIZE; open it in a browser\n"},
		{"matrix ring.rpz -o", "m.svg",
			"m.svg: matrix of 4 ranks, point-to-point and collective, SIZE; open it in a browser\n"},
		{"matrix ring.rpz -o", "m.png",
			"m.png: matrix of 4 ranks, point-to-point and collective, SIZE; open it in a picture viewer\n"},
		{"matrix ring.rpz -o", "m.csv", "m.csv: matrix of 4 ranks, point-to-point and collective, SIZE; " +
			strings.Replace(duckdb, "NAME", "m.csv", 1)},
		{"export ring.rpz -o", "run.parquet", "\n  to look into it: " +
			strings.Replace(duckdb, "NAME", "run.parquet", 1)},
		{"export ring.rpz -o", "it's.csv", "\n  to look into it: " + strings.Replace(duckdb, "NAME", "OUT.csv", 1)},
		{"export ring.rpz -o", "run.pftrace", "\n  to look into it: open it at https://ui.perfetto.dev\n"},
		{"export ring.rpz -o", "run.json", "\n  to look into it: open it at https://ui.perfetto.dev\n"},
		{"export ring.rpz -o", "my run.prv", "\n  to look into it: wxparaver 'my run.prv'\n"},
		{"export ring.rpz -o", "run.pprof", "\n  to look into it: go tool pprof -http : run.pprof\n"},
		{"export ring.rpz -o", "run.ti", "\n  to look into it: reprise help export says how SimGrid replays it\n"},
	} {
		got := must(t, append(strings.Fields(tt.command), tt.file)...)
		want := strings.Replace(tt.want, "SIZE", text.Bytes(int64(len(readFile(t, tt.file)))), 1)
		if !strings.HasSuffix("\n"+got, want) {
			t.Errorf("reprise %s %s: %q, want %q", tt.command, tt.file, got, want)
		}
	}
	for _, args := range [][]string{{"export", "ring.rpz", "--format", "csv", "-o", "-"},
		{"report", "ring.rpz", "-o", "-"}, {"matrix", "ring.rpz", "-o", "-", "--format", "csv"}} {
		if r := invoke(t, "", args...); strings.Contains(r.stdout+r.stderr, "to look into it") ||
			strings.Contains(r.stdout+r.stderr, "open it in") {
			t.Errorf("%q: standard output is no file to open: %q, %q", args, r.stdout, r.stderr)
		}
	}
}
