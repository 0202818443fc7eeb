package main

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// forgedSignatures returns a sound trace of some hundred bytes whose one rank makes calls that differ
// in a number that counts them, and claims to have n signatures.
func forgedSignatures(t *testing.T, n int) []byte {
	t.Helper()
	var (
		table cst.Table
		calls sequitur.Builder
		file  bytes.Buffer
	)
	f := table.Declare(cst.Function{Name: "f", Params: []cst.Param{{Name: "tag", Type: cst.Type{Kind: cst.KindInt}}}})
	table.Intern(f, cst.Int(0))
	calls.Append(0)
	if err := merge.Write(&file, merge.Run{Ranks: 1}, []merge.Part{{Table: &table, Grammar: calls.Finish()}}); err != nil {
		t.Fatal(err)
	}
	column := func(values []int64) []byte {
		data, err := rankenc.NewColumn(rankenc.Over(rankenc.World(n), n), values, rankenc.Options{}).AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	values := make([]int64, n)
	zeros := column(values)
	for i := range values {
		values[i] = int64(i)
	}
	counting := column(values)
	return rewritten(t, file.Bytes(), func(w *format.Writer, s format.Section, content []byte) {
		if s.Kind == layout.KindSignatures {
			content = wire.AppendUvarint(nil, uint64(n)<<1)
			content = append(content, zeros...) // the functions
			content = append(content, 0, 0)     // no domains, no columns
			content = append(content, zeros...) // all are constants
			content = append(content, counting...)
		}
		w.Add(s.Kind, s.Key, content)
	})
}

// TestMemoryLimit asks for all of a file whose claims would take gigabytes, which is refused before
// it takes them, and allowed by --memory.
func TestMemoryLimit(t *testing.T) {
	t.Chdir(t.TempDir())
	file := forgedSignatures(t, 1<<22-1)
	if len(file) > 200 {
		t.Fatalf("the file has %d bytes", len(file))
	}
	writeFile(t, "F", string(file))
	for _, command := range blockCommands {
		var r result
		got := allocatedBy(func() { r = invoke(t, "", strings.Fields(command)...) })
		if r.status == exitOK || !strings.Contains(r.stderr, "--memory 6144MiB allows it") || got > 16<<20 {
			t.Errorf("reprise %s: status %d, %d bytes, %s", command, r.status, got, r.stderr)
		}
	}
	must(t, "info", "F", "--memory", "7GiB")

	writeFile(t, "F", string(forgedSignatures(t, 1000)))
	must(t, "info", "F")
	if r := invoke(t, "", "info", "F", "--memory", "1499KiB"); r.status != exitFailure || !strings.Contains(r.stderr, "1000 signatures take") {
		t.Errorf("a limit of 1499 KiB: %+v", r)
	}
	for _, bad := range []string{"0", "-1", "many", "3m"} {
		if r := invoke(t, "", "info", "F", "--memory", bad); r.status != exitUsage {
			t.Errorf("--memory %s: %+v", bad, r)
		}
	}
}

// allocatedBy returns how many bytes f allocates.
func allocatedBy(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
