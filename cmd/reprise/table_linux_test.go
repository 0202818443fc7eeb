package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/reprise-trace/reprise/internal/text"
)

// TestTableWidth checks that tables are cut off at the width of a terminal, but for the
// beginning of their texts, and nowhere else.
func TestTableWidth(t *testing.T) {
	write := func(w io.Writer) {
		w = &output{ctx: t.Context(), w: w}
		table := text.NewTable(w, text.All, "number", "other", "<call")
		table.Row(1, 2, "é"+strings.Repeat("x", 90)+" root")
		table.Close()
		fmt.Fprintln(w)
		table = text.NewTable(w, text.All, "a table of a longer name", "<call")
		table.Row(12, strings.Repeat("y", 90))
		table.Close()
	}
	var whole bytes.Buffer
	if write(&whole); !strings.Contains(whole.String(), " root\n") || strings.Contains(whole.String(), "…") {
		t.Errorf("a file has %q", whole.String())
	}
	for width, want := range map[int][]int{20: {57, 68}, 60: {60, 68}, 72: {72, 72}, 500: {0, 0}} {
		master, terminal := openTerminal(t)
		if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: uint16(width)}); err != nil {
			t.Skip("the terminal has no width: ", err)
		}
		write(terminal)
		terminal.Close()
		shown := readTerminal(t, master)
		for i, letter := range []string{"x", "y"} {
			for line := range strings.SplitSeq(shown, "\r\n") {
				if !strings.Contains(line, letter+letter) {
					continue
				}
				if n := utf8.RuneCountInString(line); want[i] > 0 && (n != want[i] || !strings.HasSuffix(line, "…")) || want[i] == 0 && strings.Contains(line, "…") {
					t.Errorf("width %d: a line of %d columns, want %d: %s", width, n, want[i], line)
				}
			}
		}
	}
}

// readTerminal returns what was written to a terminal that is closed.
func readTerminal(t *testing.T, master *os.File) string {
	t.Helper()
	defer master.Close()
	text, _ := io.ReadAll(master) // fails at the end, as the terminal is closed
	return string(text)
}
