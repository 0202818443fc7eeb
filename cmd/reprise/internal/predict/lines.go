package predict

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/text"
)

// A keyError is what is wrong with the value of a key of a machine file: its own name, behind those of the
// tables that it is in.
type keyError struct {
	key []string
	err error
}

func (e *keyError) Error() string {
	return text.Printable(strings.Join(e.key, ".")) + ": " + e.err.Error()
}

// ofKey returns the error of a key, which may be one of a key in its table.
func ofKey(name string, err error) error {
	if in := new(keyError); errors.As(err, &in) {
		return &keyError{append([]string{name}, in.key...), in.err}
	}
	return &keyError{[]string{name}, err}
}

// nth returns how a table is called of which there are several: the first is [0].
func nth(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }

// lineOf returns the name of a machine file of that text with the number of the line that has a key, or the
// last of the tables around it if none has. It knows how such files are written, not all of TOML.
func lineOf(path string, data []byte, key []string) string {
	path = text.Printable(path)
	table, seen := []string{}, make(map[string]int)
	best, common := 0, 0 // the line that has most of the key
	for i, line := range strings.Split(string(data), "\n") {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		here := table
		if name, several := strings.CutPrefix(line, "[["); several {
			table = keysIn(strings.TrimRight(name, "]"))
			last := &table[len(table)-1]
			seen[strings.Join(table, ".")]++
			*last = nth(*last, seen[strings.Join(table, ".")]-1)
			here = table
		} else if name, one := strings.CutPrefix(line, "["); one {
			table = keysIn(strings.TrimRight(name, "]"))
			here = table
		} else {
			here = slices.Concat(table, keysIn(line))
		}
		has := 0
		for _, name := range here {
			if has < len(key) && name == key[has] {
				has++
			}
		}
		if has > common {
			best, common = i+1, has
		}
	}
	if best == 0 {
		return path
	}
	return fmt.Sprintf("%s:%d", path, best)
}

// keysIn returns the words in a line of a file, of which some are keys.
func keysIn(line string) []string {
	var keys []string
	for len(line) > 0 {
		quote := line[0] // a key in quotes may have dots and spaces
		if end := strings.IndexByte(line[1:], quote); (quote == '"' || quote == '\'') && end >= 0 {
			keys = append(keys, line[1:1+end])
			line = line[end+2:]
			continue
		}
		n := strings.IndexAny(line, " \t\r,{}=.\"'")
		if n < 0 {
			n = len(line)
		}
		if n > 0 {
			keys = append(keys, line[:n])
		}
		line = strings.TrimLeft(line[n:], " \t\r,{}=.")
	}
	return keys
}
