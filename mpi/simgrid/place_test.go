package simgrid

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestPlace checks the places of calls: of lines with a rank, of those that are held
// until there is one, and of several files.
func TestPlace(t *testing.T) {
	t.Chdir(files(t, map[string]string{
		"a": "0 init\n# note\n0 finalize\n", "b": "# one\n\n# three\n1 init\n1 finalize", "c": "# alone\n#\n",
		"d": "# good\n# too\n# bad \x00\n",
	}))
	r, err := Open([]string{"a", "b", "c", "d"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var places []string
	for {
		if file, line := r.Place(); line > 0 {
			places = append(places, fmt.Sprint(file, line))
		} else if file != "" || len(places) > 0 {
			t.Errorf("%q before the first call", file)
		}
		if _, err := r.Read(); err != nil {
			break
		}
	}
	want := "a1 a2 a3 b1 b2 b3 b4 b5 c1 c2 d1 d2"
	if got := strings.Join(places, " "); got != want {
		t.Errorf("places %s, want %s", got, want)
	}
}

// TestPlaceOfStdin checks what standard input is called.
func TestPlaceOfStdin(t *testing.T) {
	r := NewReader(strings.NewReader("0 init\n"), Options{})
	defer r.Close()
	for _, err := r.Read(); err != io.EOF; _, err = r.Read() {
		if file, line := r.Place(); err != nil || file != "input" || line != 1 {
			t.Errorf("%s, line %d, %v", file, line, err)
		}
	}
}
