package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
)

// TestMergeRemove merges parts that are to be removed: they are gone once the trace is written, with
// their directory unless something else is in it, and stay if it is not written, or if it leaves
// something out.
func TestMergeRemove(t *testing.T) {
	for _, tt := range []struct {
		name, beside string // a file in the directory
		fails        bool
		left         int
	}{{"Alone", "", false, -1}, {"Note", "note.txt", false, 1}, {"Fails", "flipped.part.rpz", true, 3},
		{"Bounded", "note.txt", true, 3}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			writeInputs(t)
			if err := os.Mkdir("parts", 0o777); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"even.part.rpz", "odd.part.rpz", tt.beside} {
				if content, err := os.ReadFile(name); err == nil {
					writeFile(t, filepath.Join("parts", name), string(content))
				} else if name != "" {
					writeFile(t, filepath.Join("parts", name), "note")
				}
			}
			args := []string{"merge", "parts", "-o", "out.rpz", "--remove"}
			if tt.name == "Bounded" {
				args = append(args, "--bounded", "16kB")
			}
			r := invoke(t, "", args...)
			if (r.status != cli.ExitOK) != tt.fails {
				t.Fatalf("%+v", r)
			}
			left, err := os.ReadDir("parts")
			if err != nil {
				left = make([]os.DirEntry, 0)
			}
			if n := len(left); tt.left >= 0 && n != tt.left || (err != nil) != (tt.left < 0) {
				t.Errorf("left %v, %v", left, err)
			}
		})
	}
}
