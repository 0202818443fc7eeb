package house

import (
	"bufio"
	"bytes"
	_ "embed"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

//go:embed floors.txt
var floorsText []byte

// A room is what imports are between: packages below one folder.
type room struct {
	name  string
	floor int // 0 is the top
}

// rooms returns those of floors.txt.
func rooms() (list []room) {
	floor := 0
	for lines := bufio.NewScanner(bytes.NewReader(floorsText)); lines.Scan(); {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for _, name := range strings.Fields(line) {
			list = append(list, room{name, floor})
		}
		floor++
	}
	return list
}

// roomOf returns the room that a package is in: the one with the longest name.
func roomOf(rooms []room, folder string) (in room, ok bool) {
	for _, r := range rooms {
		if (folder == r.name || strings.HasPrefix(folder, r.name+"/")) && len(r.name) > len(in.name) {
			in, ok = r, true
		}
	}
	return in, ok
}

// TestFloors checks that imports point down only.
func TestFloors(t *testing.T) {
	inRoot(t)
	const module = "github.com/reprise-trace/reprise/"
	rooms := rooms()
	met := make(map[string]bool)
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		if d.IsDir() {
			if base := d.Name(); base == "testdata" || path != "." && strings.HasPrefix(base, ".") ||
				filepath.ToSlash(path) == "internal/test" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || folder == "." {
			return nil
		}
		from, ok := roomOf(rooms, folder)
		if !ok {
			t.Errorf("%s is on no floor of floors.txt", folder)
			return nil
		}
		met[from.name] = true
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range file.Imports {
			imported, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			to, ok := strings.CutPrefix(imported, module)
			if !ok {
				continue
			}
			if room, ok := roomOf(rooms, to); !ok {
				if !usedByFigures(folder, to) {
					t.Errorf("%s imports %s, which is on no floor", path, to)
				}
			} else if room.name != from.name && room.floor <= from.floor {
				t.Errorf("%s imports %s, which is not below %s", path, to, from.name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rooms {
		if !met[r.name] {
			t.Errorf("floors.txt has %s, where no package is", r.name)
		}
	}
}

// usedByFigures reports whether a package is one that only tests use, and that bench or the tests of
// exports, which are a package of their own, measure and compare with.
func usedByFigures(folder, imported string) bool {
	if !strings.HasPrefix(imported, "internal/test/") {
		return false
	}
	return folder == "bench" || folder == "export/internal/exporttest"
}
