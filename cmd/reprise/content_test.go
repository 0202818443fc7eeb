package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/record"
	"github.com/reprise-trace/reprise/internal/test/e2e"
	"github.com/reprise-trace/reprise/internal/text"
)

// zipped returns a text as gzip and as zstd have it.
func zipped(t *testing.T, text string) (gz, zs string) {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), string(e.EncodeAll([]byte(text), nil))
}

// TestContents checks what is said of files and directories that are not traces: what they
// are, by what is in them, and what helps.
func TestContents(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	ring, trace := readFile(t, "ring.txt"), records(t, readFile(t, "ring.rpz"))
	small := readFile(t, "ring.rpz")
	const prv = "#Paraver (24/11/2026 at 10:00):1000_ns:1(4):1:4(1:1,1:1,1:1,1:1)\n"
	zippedRing, zstdRing := zipped(t, ring)
	zippedTrace, zstdTrace := zipped(t, trace)
	zippedPrv, _ := zipped(t, prv)
	_, zstdNote := zipped(t, "a note")
	for name, content := range map[string]string{
		"run.prv": prv, "run.pcf": "DEFAULT_OPTIONS\n\nLEVEL               THREAD\n", "run.row": "LEVEL CPU SIZE 4\n",
		"traces.otf2": "\x42OTF2\x00\x03\x00", "run.parquet": "PAR1\x15\x04",
		"run.json": "{\"displayTimeUnit\": \"ns\", \"traceEvents\": []}\n", "run.pftrace": "\n_P\x01",
		"run.pprof": zippedRing[:40],
		"run.html":  "<!DOCTYPE html>\n<title>run</title>", "app": "\x7fELF\x02\x01\x01",
		"run.nsys": "SQLite format 3\x00",
		"run.zip":  "PK\x03\x04\x14", "note.md": "Größe: 3 mm\n", "bytes": "\x00\x01\x02\xff", "empty.rpz": "",
		"it's.txt": ring,
		"ring.ti":  ring, "ring.ti.gz": zippedRing, "ring.ti.zst": zstdRing, "ring.rpz.gz": zippedTrace,
		"ring.rpz.zst": zstdTrace,
		"run.prv.gz":   zippedPrv, "note.zst": zstdNote,
		"short.rpz": trace[:len(trace)-3], "half.rpz": trace[:len(trace)/2], "head.rpz": trace[:9],
		"one.rpz":   trace[:1],
		"index.rpz": trace[:len(trace)-22] + "????" + trace[len(trace)-18:],
		"begin.rpz": "????????" + trace[8:], "later.rpz": trace[:7] + "\x09" + trace[8:],
		"small-short.rpz": small[:len(small)-3], "small-head.rpz": small[:9],
		"small.rpz": small[:30] + "?" + small[31:], "small-begin": "????????" + small[8:],
	} {
		writeFile(t, name, content)
	}
	for _, dir := range []string{"parts", "traces", "texts", "otf2", "nothing"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, "parts/rank0000000.part.rpz", readFile(t, "even.part.rpz"))
	writeFile(t, "traces/ring.rpz", trace)
	writeFile(t, "texts/x_rank-1.txt", ring)
	writeFile(t, "otf2/traces.otf2", "\x42OTF2")
	const (
		own     = "; reprise reads its own traces, which end in .rpz: reprise record makes one of an MPI program, and reprise compress makes one of an OTF2 archive or of SimGrid's text"
		writes  = "; reprise export writes such files, no command reads them: reprise record makes a trace of an MPI program"
		archive = "; reprise compress FILE -o OUT.rpz makes a trace of it"
		repair  = "; reprise repair FILE -o saved.rpz saves what can be read"
		again   = "the file is cut off or damaged, and nothing can be read of a file this small; make the trace again"
		makes   = "this is SimGrid's text of a trace; reprise compress FILE -o OUT.rpz makes a trace of it"
	)
	for _, tt := range []struct{ name, want string }{
		{"run.prv", "this is a Paraver trace" + writes},
		{"run.pcf", "this is the .pcf file of a Paraver trace" + writes},
		{"run.row", "this is the .row file of a Paraver trace" + writes},
		{"traces.otf2", "this is an OTF2 trace" + archive},
		{"run.parquet", "this is a Parquet file" + writes},
		{"run.json", "this is a trace of Chrome's format" + writes},
		{"run.pftrace", "this is a Perfetto trace" + writes},
		{"run.pprof", "this is a profile of pprof" + writes},
		{"run.html", "this is a page, such as a report; open it in a browser; reprise needs the trace that it was made from"},
		{"app", "this is a program; reprise record -o OUT.rpz -- mpirun -n 4 FILE records its calls"},
		{"run.nsys", "this is an SQLite database" + own},
		{"run.zip", "this is a zip archive; unpack it first"},
		{"note.md", "this is a text file" + own},
		{"bytes", "this is no trace" + own},
		{"missing.rpz", "no such file or directory"},
		{"empty.rpz", "the file is empty: whatever wrote it did not come to its end"},
		{"ring.ti", makes}, {"ring.ti.gz", makes}, {"ring.ti.zst", makes}, {"it's.txt", makes}, {"list.txt", makes},
		{"ring.rpz.gz", "this is a trace, compressed by gzip; decompress it first: gzip -d FILE"},
		{"ring.rpz.zst", "this is a trace, compressed by zstd; decompress it first: zstd -d FILE"},
		{"run.prv.gz", "this is a Paraver trace, compressed by gzip" + writes},
		{"note.zst", "this is compressed by zstd; decompress it first: zstd -d FILE"},
		{"ring.xz", "this is compressed by xz; decompress it first: xz -d FILE"},
		{"short.rpz", "the file is cut off: it ends at byte *, without the end of a trace" + repair},
		{"half.rpz", "the file is cut off: it ends at byte *, without the end of a trace" + repair},
		{"head.rpz", "the file is cut off: it ends at byte 9, without the end of a trace" + repair},
		{"one.rpz", "*"},
		{"index.rpz", "the file is damaged, as its * at byte * shows" + repair},
		{"begin.rpz", "this is a trace whose beginning is damaged" + repair},
		{"small-short.rpz", again}, {"small-head.rpz", again}, {"small.rpz", again},
		{"small-begin", "this is a trace whose beginning is damaged" + repair},
		{"later.rpz", "format: file has version 9, supported is version 2; a later reprise wrote it, and reads it"},
		{"parts", "this is a directory of part files; reprise merge FILE -o OUT.rpz makes a trace of it"},
		{"traces", "this is a directory with traces; name one of them"},
		{"texts", "this is a directory with SimGrid's text of a trace; reprise compress FILE -o OUT.rpz makes a trace of it"},
		{"otf2", "this is a directory with an OTF2 trace" + archive},
		{"nothing", "this is a directory" + own},
	} {
		name := tt.name
		if name == "it's.txt" {
			name = `'it'\''s.txt'`
		}
		want := "reprise: " + tt.name + ": " + strings.ReplaceAll(tt.want, "FILE", name) + "\n"
		for _, args := range [][]string{
			{"info", tt.name}, {"cat", tt.name}, {"profile", tt.name}, {"report", tt.name, "-o", "out"},
			{"export", tt.name, "-o", "out.csv"}, {"diff", "ring.rpz", tt.name},
			{"repair", tt.name, "-o", "out"},
		} {
			repairs := strings.Contains(tt.want, repair) || tt.name == "one.rpz" || tt.name == "later.rpz"
			if r := invoke(t, "", args...); !(args[0] == "repair" && repairs) &&
				(r.status != cli.ExitFailure || !matches(r.stderr, want)) {
				t.Errorf("reprise %s: status %d, %q, want %q", strings.Join(args, " "), r.status, r.stderr, want)
			}
		}
	}
}

// TestOtherInputs checks what commands say of inputs that others take.
func TestOtherInputs(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	writeFile(t, "run.prv", "#Paraver (24/11/2026 at 10:00):1000_ns:1(4):1:4(1:1,1:1,1:1,1:1)\n")
	writeFile(t, "app", "\x7fELF\x02\x01\x01")
	if err := os.Mkdir("nothing", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("kept/node 1", 0o777); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "kept/node 1/7-5f.0.0.spool", "")
	for _, tt := range []struct{ args, want string }{
		{"compress run.prv -o out.rpz",
			"run.prv: this is a Paraver trace; reprise export writes such files, no command reads them: reprise record makes a trace of an MPI program"},
		{"merge app -o out.rpz",
			"app: this is a program; reprise record -o OUT.rpz -- mpirun -n 4 app records its calls"},
		{"collect ring.rpz -o out.rpz", "ring.rpz: this is a trace already; reprise info ring.rpz describes it"},
		{"collect ring.txt -o out.rpz",
			"ring.txt: this is SimGrid's text of a trace; reprise compress ring.txt -o OUT.rpz makes a trace of it"},
		{"collect nothing -o out.rpz",
			"nothing: this is a directory without raw records of MPI calls; reprise record --keep-raw DIR writes them"},
		{"collect kept -o out.rpz",
			"kept: this is a directory without raw records of MPI calls; they are in 'kept/node 1': reprise collect 'kept/node 1' -o OUT.rpz"},
		{"collect missing -o out.rpz", "missing: no such file or directory"},
	} {
		if r := invoke(t, "", strings.Fields(tt.args)...); r.status != cli.ExitFailure ||
			r.stderr != "reprise: "+tt.want+"\n" {
			t.Errorf("reprise %s: status %d, %q, want %q", tt.args, r.status, r.stderr, tt.want)
		}
	}
}

// TestStatusWords checks what is said of how a launcher ended.
func TestStatusWords(t *testing.T) {
	for status, want := range map[int]string{
		1: "status 1", 3: "status 3", 127: "status 127: a program was not found",
		126: "status 126: it cannot be executed", 128: "status 128",
		11:  "status 11: a launcher may mean signal 11 (segmentation fault)",
		139: "status 139: ended by signal 11 (segmentation fault)", 130: "status 130: ended by signal 2 (interrupt)",
		137: "status 137: ended by signal 9 (killed), by the system if memory ran out, or by a time limit",
		134: "status 134: ended by signal 6 (aborted), as MPI_Abort and assertions do", 255: "status 255",
	} {
		if got := record.StatusWords(status); got != want {
			t.Errorf("%d: %q, want %q", status, got, want)
		}
	}
}

// TestQuotedNames checks that bash takes quoted names for what they are, and that a terminal is shown nothing
// else.
func TestQuotedNames(t *testing.T) {
	e2e.Programs(t)
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"a.rpz", "a b", "it's", `a\b`, "esc\x1b[31m's", "line\nbreak", "bad\xff\\",
		"über\u202e"} {
		q := cli.Quoted(name)
		if text.Printable(q) != q {
			t.Errorf("%q: %q", name, q)
		}
		if got, err := exec.Command(bash, "-c", "printf %s "+q).Output(); err != nil || string(got) != name {
			t.Errorf("%q: %s is %q, %v", name, q, got, err)
		}
	}
}
