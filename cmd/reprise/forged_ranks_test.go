package main

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/allocated"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/forged"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/tracer"
)

// TestForgedRanks asks for all of small files that name more ranks than there is memory for: those that hold
// something for each are refused, with what allows them.
func TestForgedRanks(t *testing.T) {
	tier.SlowRace(t)
	t.Chdir(t.TempDir())
	for name, file := range map[string]func() ([]byte, error){
		"all ranks call": func() ([]byte, error) { return forged.AllCalling(math.MaxInt32) },
		"many runs":      forged.ManyRuns,
		"two worlds": func() ([]byte, error) {
			var r tracer.Recorder
			for _, name := range []string{"MPI_Init", "MPI_Finalize"} {
				r.Call(r.Declare(cst.Function{Name: name}))
			}
			run := merge.Run{Ranks: math.MaxInt32, Source: "MPI", Worlds: []format.World{{Parent: -1}, {First: 5}}}
			var file bytes.Buffer
			err := merge.Write(&file, run, []merge.Part{r.Finish(0)})
			return file.Bytes(), err
		},
	} {
		data, err := file()
		if err != nil || len(data) > 200 {
			t.Fatalf("%s: %d bytes, %v", name, len(data), err)
		}
		writeFile(t, "F", string(data))
		for _, command := range tier.Some([]string{"messages F", "match F", "matrix F -o out.csv", "diff F F",
			"at F 1ms", "predict F", "report F -o out.html", "export F -o out.csv"}, 5) {
			if name == "two worlds" && (strings.HasPrefix(command, "diff") || strings.HasPrefix(command, "at")) {
				continue // which need no messages, and one rank makes calls
			}
			if name == "many runs" && strings.HasPrefix(command, "export") {
				continue // which has room for so many
			}
			var r result
			got := allocated.By(1, func() { r = invoke(t, "", strings.Fields(command)...) })
			if r.status != cli.ExitFailure || !strings.Contains(r.stderr, "reprise: F: ") ||
				!strings.Contains(r.stderr, "; --memory ") || got > 128<<20 {
				t.Errorf("%s: reprise %s: status %d, %d bytes, %s", name, command, r.status, got, r.stderr)
			}
		}
		if r := invoke(t, "", "diff", "F", "F"); name == "all ranks call" && strings.Count(r.stderr, "F: ") != 1 {
			t.Errorf("%s: diff: %s", name, r.stderr)
		}
		if r := invoke(t, "", "profile", "F"); r.status != cli.ExitOK {
			t.Errorf("%s: profile: %+v", name, r)
		}
	}
}

// TestRepairExpanding repairs a file of a section that expands to more than memory has room for, which is
// left out.
func TestRepairExpanding(t *testing.T) {
	t.Chdir(t.TempDir())
	file, err := forged.AllCalling(4)
	if err != nil {
		t.Fatal(err)
	}
	of, err := format.NewReader(bytes.NewReader(file), int64(len(file)), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := format.NewWriter(&out, format.Options{Encoding: format.Zstd})
	for _, s := range of.All() {
		content, err := of.Content(s)
		if err != nil {
			t.Fatal(err)
		}
		w.Add(s.Kind, s.Key, content)
	}
	const unknown = 77 // a kind of section
	w.Add(unknown, 0, make([]byte, 128<<20))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "F", out.String())
	var r result
	got := allocated.By(1, func() { r = invoke(t, "", "repair", "F", "-o", "out.rpz") })
	if r.status != cli.ExitOK || !strings.Contains(r.stdout, "4 of 4 ranks saved") ||
		!strings.Contains(r.stdout, "exceeds limit") || got > 64<<20 {
		t.Errorf("status %d, %d bytes, %s%s", r.status, got, r.stdout, r.stderr)
	}
	must(t, "profile", "out.rpz")
}

// TestImpatient checks that commands that read traces or parts do not wait, once they are interrupted, for
// what does not notice it.
func TestImpatient(t *testing.T) {
	t.Chdir(t.TempDir())
	file, err := forged.AllCalling(4)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, "F", string(file))
	before := cli.Impatient.Load()
	defer cli.Impatient.Store(before)
	for _, command := range []string{"info F", "cat F", "export F -o out.csv", "repair F -o out.rpz",
		"merge F -o out.rpz"} {
		cli.Impatient.Store(false)
		must(t, strings.Fields(command)...)
		if !cli.Impatient.Load() {
			t.Errorf("reprise %s waits", command)
		}
	}
}
