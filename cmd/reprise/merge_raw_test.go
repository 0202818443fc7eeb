package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/launching"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/merging"
	"github.com/reprise-trace/reprise/internal/test/e2e"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// orphan makes a directory of parts of two ranks in which that of rank 1 is missing, as its recorder was
// killed, and returns the spool of that and the trace of both.
func orphan(t *testing.T) (spool, whole string) {
	t.Helper()
	for rank, directory := range []string{"spool0", "reprise-spool-1"} {
		writeSpool(t, directory, 2, rank)
		must(t, "collect", directory, "--parts", "both", "--quiet")
	}
	must(t, "merge", "both", "-o", "both.rpz")
	must(t, "collect", "spool0", "--parts", "parts", "--quiet")
	spool, err := filepath.Abs("reprise-spool-1")
	if err != nil {
		t.Fatal(err)
	}
	return spool, readFile(t, "both.rpz")
}

// placeSpool says in a directory of parts where raw records are, of a recorder that is gone.
func placeSpool(t *testing.T, p merging.SpoolPlace) {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join("parts", ".records-1.json"), string(data))
}

// TestMergeRaw merges parts of which one is missing, as its recorder was killed: its raw records are named,
// and merged if that is asked for.
func TestMergeRaw(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv(runMain, "1")
	spool, whole := orphan(t)
	placeSpool(t, merging.SpoolPlace{Host: launching.Host(), Spool: spool})
	r := invoke(t, "", "merge", "parts", "-o", "out.rpz")
	for _, want := range []string{"in no part: rank 1",
		"was killed before it removed its raw records, which are in " + spool, "merge --collect merges them, too"} {
		if r.status != cli.ExitOK || !strings.Contains(r.stderr, want) {
			t.Errorf("%+v, want %q", r, want)
		}
	}
	if part := "parts/rank0000000.part.rpz"; os.Rename(part, "part") != nil {
		t.Fatal(part)
	}
	if r := invoke(t, "", "merge", "parts", "-o", "out.rpz"); r.status != cli.ExitFailure ||
		!strings.Contains(r.stderr, spool) {
		t.Errorf("%+v", r)
	}
	if err := os.Rename("part", "parts/rank0000000.part.rpz"); err != nil {
		t.Fatal(err)
	}
	if r := invoke(t, "", "merge", "parts", "-o", "out.rpz", "--collect",
		"--remove"); r.status != cli.ExitOK || !strings.Contains(r.stderr, "collected into parts") ||
		strings.Contains(r.stderr, "warning") {
		t.Errorf("%+v", r)
	}
	if readFile(t, "out.rpz") != whole {
		t.Error("another trace than that of both parts")
	}
	if _, err := os.Stat("parts"); err == nil {
		t.Error("the directory of parts is still there")
	}
	if _, err := os.Stat(spool); err != nil { // the program may still run
		t.Error(err)
	}
}

// TestMergeRawOthers has raw records that are none of a killed recorder on this machine.
func TestMergeRawOthers(t *testing.T) {
	t.Setenv(runMain, "1")
	for _, tt := range []struct {
		name  string
		place func(spool string) merging.SpoolPlace
		want  string // of what is said
	}{
		{"OtherHost", func(spool string) merging.SpoolPlace {
			return merging.SpoolPlace{Host: "else\x1bwhere", Spool: spool}
		}, `a recorder on "else\x1bwhere" has not made its part`},
		{"OtherDirectory", func(spool string) merging.SpoolPlace {
			return merging.SpoolPlace{Host: launching.Host(), Spool: filepath.Join(filepath.Dir(spool), "spool0")}
		}, ""},
		{"Gone", func(spool string) merging.SpoolPlace {
			return merging.SpoolPlace{Host: launching.Host(), Spool: spool + "2"}
		}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			spool, _ := orphan(t)
			placeSpool(t, tt.place(spool))
			r := invoke(t, "", "merge", "parts", "-o", "out.rpz", "--collect")
			if r.status != cli.ExitOK || !strings.Contains(r.stderr, "in no part: rank 1") ||
				strings.Contains(r.stderr, "a recorder") != (tt.want != "") || !strings.Contains(r.stderr, tt.want) {
				t.Errorf("%+v", r)
			}
			for _, path := range []string{spool, "spool0"} {
				if _, err := os.Stat(path); err != nil {
					t.Error(err)
				}
			}
		})
	}
	t.Run("AtWork", func(t *testing.T) {
		t.Chdir(t.TempDir())
		spool, _ := orphan(t)
		f, err := merging.KeepPlace("parts", spool)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r := invoke(t, "", "merge", "parts", "-o", "out.rpz", "--collect")
		if r.status != cli.ExitOK || r.stderr != "reprise: warning: in no part: rank 1\n" {
			t.Errorf("%+v", r)
		}
	})
}

// TestMergeRawTree has the processes of a launcher do it.
func TestMergeRawTree(t *testing.T) {
	e2e.Programs(t)
	mpitest.SkipUnderRace(t)
	m := theMPI(t)
	t.Chdir(t.TempDir())
	spool, whole := orphan(t)
	placeSpool(t, merging.SpoolPlace{Host: launching.Host(), Spool: spool})
	if said, err := mergeTree(t, m, 3, "parts", "-o", "out.rpz").CombinedOutput(); err != nil ||
		strings.Count(string(said), spool) != 1 {
		t.Errorf("%v: %s", err, said)
	}
	if said, err := mergeTree(t, m, 3, "parts", "-o", "out.rpz", "--collect").CombinedOutput(); err != nil ||
		readFile(t, "out.rpz") != whole {
		t.Errorf("%v: %s", err, said)
	}
}
