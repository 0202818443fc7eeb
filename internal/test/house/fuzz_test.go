package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCorpora checks that each folder testdata/fuzz/X has a func X in its package: go test reads no others.
func TestCorpora(t *testing.T) {
	inRoot(t)
	found := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		corpora := filepath.Dir(path)
		dir, ok := strings.CutSuffix(corpora, filepath.Join(string(filepath.Separator), "testdata", "fuzz"))
		if !ok {
			return nil
		}
		found++
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			return err
		}
		target := "func " + filepath.Base(path) + "(f *testing.F)"
		has := func(file string) bool {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Contains("\n"+string(text), "\n"+target)
		}
		if !slices.ContainsFunc(files, has) {
			t.Errorf("%s: no test of the package has %s", path, target)
		}
		return nil
	})
	if err != nil || found < 50 {
		t.Fatalf("%d corpora, %v", found, err)
	}
}
