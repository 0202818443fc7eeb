package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/show"
	"github.com/reprise-trace/reprise/internal/test/e2e"
	"github.com/reprise-trace/reprise/internal/test/foreign"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/trace"
)

// recordedRun is the trace of a run of an MPI program with the time of every call.
var recordedRun = filepath.Join("..", "..", "internal", "test", "testtrace", "testdata", "stencil.exact.rpz")

// TestExportChoice checks that the options choose the calls of a recorded run that they
// say, and that DuckDB finds the same in both tables.
func TestExportChoice(t *testing.T) {
	tr, err := trace.Open(recordedRun, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	const from, to = 267_500_000, 270_000_000
	want := wantChoice(t, tr, from, to, 1, 3)
	if len(want) < 10 {
		t.Fatalf("%d calls", len(want))
	}
	dir := t.TempDir()
	for _, format := range []string{"csv", "parquet"} {
		out := filepath.Join(dir, "out."+format)
		said := must(t, "export", recordedRun, "-o", out, "--ranks", "1,3", "--from",
			fmt.Sprintf("%dns", from), "--to", fmt.Sprint(to/1e9), "--columns", "rank,position,start_ns,function")
		if !strings.HasPrefix(said, out+": "+text.Plural(len(want), "call")+", ") {
			t.Errorf("%s, want %d calls", said, len(want))
		}
	}
	f, err := os.Open(filepath.Join(dir, "out.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range records[1:] {
		got = append(got, strings.Join(r, " "))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
	r := foreign.DuckDB(t,
		fmt.Sprintf("SELECT count(*), sum(a = b) FROM '%[1]s/out.csv' AS a JOIN '%[1]s/out.parquet' AS b USING (rank, position)", dir))
	if n := strconv.Itoa(len(want)); *r.Rows[0][0] != n || *r.Rows[0][1] != n {
		t.Errorf("%s rows, %s equal, want %s", *r.Rows[0][0], *r.Rows[0][1], n)
	}
}

// wantChoice returns the calls of ranks that are between two times after the first call
// of the run.
func wantChoice(t *testing.T, tr *trace.Trace, from, to int64, ranks ...int) []string {
	t.Helper()
	begin := int64(0)
	for number := range tr.Ranks() {
		r, err := tr.Rank(number)
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			if begin == 0 || c.Start < begin {
				begin = c.Start
			}
			break
		}
	}
	var want []string
	for _, number := range ranks {
		r, err := tr.Rank(number)
		if err != nil {
			t.Fatal(err)
		}
		for c, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			position := c.Position
			if start := c.Start - begin; start < to && (start+c.Duration > from || start == from) {
				want = append(want, fmt.Sprintf("%d %d %d %s", number, position, c.Start-begin, c.Function.Name))
			}
		}
	}
	return want
}

// TestExportMessages checks that there is a row for each message that match finds.
func TestExportMessages(t *testing.T) {
	out := filepath.Join(t.TempDir(), "messages.csv")
	if said, want := must(t, "export", recordedRun, "-o", out, "--by", "message"),
		out+": 800 messages, "; !strings.HasPrefix(said, want) {
		t.Errorf("%s, want %s…", said, want)
	}
	if matched := must(t, "match", recordedRun, "--json"); !strings.Contains(matched, `"messages": 800`) {
		t.Errorf("match: %s", matched)
	}
	first, _, _ := strings.Cut(readFile(t, out), "\n")
	if want := "message,send_rank,recv_rank,tag,communicator,bytes,"; !strings.HasPrefix(first, want) {
		t.Errorf("columns %s, want %s…", first, want)
	}
}

// TestExportFormats checks that each format goes by its name and by the names of its
// files.
func TestExportFormats(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	for _, f := range show.ExportFormats {
		if f.Name == "otf2" {
			continue // a directory, which OTF2's library writes: see TestExportOTF2
		}
		var files []string
		must(t, "export", "ring.rpz", "-o", "named.out", "--format", f.Name)
		for _, suffix := range f.Suffixes {
			must(t, "export", "ring.rpz", "-o", "File"+strings.ToUpper(suffix))
			files = append(files, "File"+strings.ToUpper(suffix))
		}
		for _, name := range files {
			if readFile(t, name) != readFile(t, "named.out") {
				t.Errorf("%s is not as of --format %s", name, f.Name)
			}
		}
	}
}

// TestHelpOnReplay runs what the help says that replays a trace, and checks what is said
// of a part of one.
func TestHelpOnReplay(t *testing.T) {
	e2e.Programs(t)
	if _, err := exec.LookPath("smpirun"); err != nil {
		t.Skip("SimGrid, which is Debian's libsimgrid-dev, is not installed: ", err)
	}
	t.Chdir(t.TempDir())
	writeInputs(t)
	help := must(t, "export", "--help")
	_, replay, _ := strings.Cut(help, "on 4 hosts:\n\n")
	replay, _, ok := strings.Cut(replay, "\n\n")
	if !ok {
		t.Fatal("the help does not have the commands that replay a trace")
	}
	const note = "may wait for partners that were left out"
	if text := must(t, "export", "ring.rpz", "-o", "run.ti"); strings.Contains(text, note) {
		t.Errorf("of all ranks: %s", text)
	}
	out, err := exec.Command("sh", "-e", "-c", replay).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Simulation time") {
		t.Errorf("%v: %s", err, out)
	}
	if text := must(t, "export", "ring.rpz", "-o", "run.ti", "--ranks", "0"); !strings.Contains(text, note) {
		t.Errorf("of one rank: %s", text)
	}
}

// TestExportOTF2 checks what the command says of an archive, and that it does not write to a directory with files.
func TestExportOTF2(t *testing.T) {
	e2e.Programs(t)
	t.Chdir(t.TempDir())
	writeInputs(t)
	r := invoke(t, "", "export", "ring.rpz", "-o", "run.otf2")
	if strings.Contains(r.stderr, "libotf2") {
		t.Skip(r.stderr)
	}
	if want := "run.otf2: 848 calls, "; r.status != cli.ExitOK || !strings.HasPrefix(r.stdout, want) ||
		!strings.Contains(r.stdout, "otf2-print run.otf2/traces.otf2") {
		t.Errorf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}
	for _, tt := range [][]string{
		{"run.otf2", "run.otf2: the directory is not empty"},
		{"ring.rpz", "ring.rpz: not a directory"},
		{"-", "otf2 is a directory"},
	} {
		if r := invoke(t, "", "export", "ring.rpz", "--format", "otf2", "-o", tt[0]); r.status == cli.ExitOK ||
			!strings.Contains(r.stderr, tt[1]) {
			t.Errorf("-o %s: status %d: %s", tt[0], r.status, r.stderr)
		}
	}
}
