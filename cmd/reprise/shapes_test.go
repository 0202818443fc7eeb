package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/show"
)

// TestShapes checks what info says of ranks that differ from most ranks in one
// way each.
func TestShapes(t *testing.T) {
	t.Chdir(t.TempDir())
	var text strings.Builder
	for r := range 12 {
		send := fmt.Sprintf("%d send %d 0 8 1\n", r, r+1)
		lines := []string{fmt.Sprintf("%d init\n", r), send, send, fmt.Sprintf("%d barrier\n", r)}
		switch r {
		case 1: // without a peer
			lines = append(lines[:1], lines[3:]...)
		case 3, 4: // with a peer
			lines = append(lines, fmt.Sprintf("%d recv %d 0 8 1\n", r, r-1))
		case 5: // once more
			lines = append(lines, send)
		}
		text.WriteString(strings.Join(lines, ""))
	}
	writeFile(t, "in.txt", text.String())
	if r := invoke(t, "", "compress", "in.txt", "-o", "in.rpz"); r.status != cli.ExitOK {
		t.Fatal(r.stderr)
	}
	const want = `
shape 0: 8 ranks with 4 calls each: 0-2:2, 6-11
shape 2: 2 ranks with 5 calls each: 3-4
  with recv(rank-1)
shape 1: 1 rank with 2 calls: 1
  without send(rank+1)
shape 3: 1 rank with 5 calls: 5
  3 × send(6), not 2
`
	if got := must(t, "info", "in.rpz"); !strings.Contains(got, want) {
		t.Errorf("info gives %s\nwant %s", got, want)
	}
	var got show.Info
	if err := json.Unmarshal([]byte(must(t, "info", "--json", "in.rpz")), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Shapes) != 4 || got.Shapes[2].Without[0] != "send(rank+1)" || got.Shapes[3].Often[0].Times != 3 {
		t.Errorf("shapes %+v", got.Shapes)
	}
}

// TestShapeOfOneRank checks that a rank whose calls have numbers where those of others have
// expressions of the rank is not said to make other calls if the numbers are what these give.
func TestShapeOfOneRank(t *testing.T) {
	t.Chdir(t.TempDir())
	var text strings.Builder
	for r := range 5 {
		fmt.Fprintf(&text, "%d init\n", r)
		size := 8
		if r == 0 {
			size = 16 // so that this send is another
		}
		if r < 4 {
			fmt.Fprintf(&text, "%d send %d 0 %d 1\n", r, r+1, size)
		}
		if r > 0 {
			fmt.Fprintf(&text, "%d recv %d 0 8 1\n", r, r-1)
		}
		if r == 4 {
			fmt.Fprintf(&text, "%d send 2 0 8 1\n", r)
		}
	}
	for r := range 5 {
		fmt.Fprintf(&text, "%d finalize\n", r)
	}
	writeFile(t, "in.txt", text.String())
	must(t, "compress", "in.txt", "-o", "in.rpz")
	const want = `
shape 1: 3 ranks with 4 calls each: 1-3
shape 0: 1 rank with 3 calls: 0
  without recv(rank-1)
shape 2: 1 rank with 4 calls: 4
  without send(rank+1)
  with send(2)
`
	if got := must(t, "info", "in.rpz"); !strings.Contains(got, want) {
		t.Errorf("info gives %s\nwant %s", got, want)
	}
}

// TestManyShapes checks how many shapes are shown, and how much of a list.
func TestManyShapes(t *testing.T) {
	t.Chdir(t.TempDir())
	var text strings.Builder
	for r := range 30 {
		text.WriteString(strings.Repeat(fmt.Sprintf("%d barrier\n", r), r+1))
		for to := range r {
			fmt.Fprintf(&text, "%d send %d 0 8 1\n", r, 1000*to*to)
		}
	}
	writeFile(t, "in.txt", text.String())
	if r := invoke(t, "", "compress", "in.txt", "-o", "in.rpz"); r.status != cli.ExitOK {
		t.Fatal(r.stderr)
	}
	got := must(t, "info", "in.rpz")
	if n := strings.Count(got, "\nshape "); n != show.MaxShapes ||
		!strings.Contains(got, "\nand 10 more shapes: --all shows them\n") {
		t.Errorf("%d shapes: %s", n, got)
	}
	if !strings.Contains(got, "; and 15 more\n") {
		t.Errorf("no list is cut off: %s", got)
	}
	if n := strings.Count(must(t, "info", "--all", "in.rpz"), "\nshape "); n != 30 {
		t.Errorf("%d shapes of all", n)
	}
}
