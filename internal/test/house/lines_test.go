package house

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestShortLines counts the lines of Go that are too long to read beside another file. A change may lower the
// numbers, which are those of today: texts, and tables of tests.
func TestShortLines(t *testing.T) {
	inRoot(t)
	const columns, tab = 120, 4
	most := map[bool]int{false: 255, true: 325} // whether it is a test
	long := make(map[bool]int)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || bytes.HasPrefix(text, []byte("// Code generated ")) {
			return err
		}
		lines := bufio.NewScanner(bytes.NewReader(text))
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if utf8.RuneCountInString(lines.Text())+(tab-1)*strings.Count(lines.Text(), "\t") > columns {
				long[strings.HasSuffix(path, "_test.go")]++
			}
		}
		return lines.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	for test, n := range long {
		if n > most[test] {
			t.Errorf("tests %v: %d lines of more than %d columns, and there may be %d", test, n, columns, most[test])
		}
	}
	t.Log(long)
}
