package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/text"
)

// TestTerminalWidth checks that tables are as wide as a terminal at most, or as 80 columns
// in a file, and that --wide does not cut them.
func TestTerminalWidth(t *testing.T) {
	t.Setenv("COLUMNS", "")
	t.Setenv("TERM", "dumb")
	write := func(w io.Writer, wide bool) {
		w = &cli.Output{Ctx: t.Context(), W: w, Wide: wide}
		table := text.NewTable(w, text.All, "number", "other", "<call")
		table.Row(1, 2, "é"+strings.Repeat("x", 90)+" root")
		table.Close()
	}
	var whole, file bytes.Buffer
	if write(&whole, true); !strings.Contains(whole.String(), " root\n") || strings.Contains(whole.String(), "…") {
		t.Errorf("--wide has %q", whole.String())
	}
	if write(&file, false); longest(file.String()) != cli.DefaultColumns {
		t.Errorf("a file has %d columns: %q", longest(file.String()), file.String())
	}
	for width, want := range map[int]int{20: 20, 60: 60, 72: 72, 500: longest(whole.String())} {
		master, terminal := openTerminal(t)
		resize(t, terminal, width)
		write(terminal, false)
		terminal.Close()
		if shown := strings.ReplaceAll(readTerminal(t, master), "\r", ""); longest(shown) != want {
			t.Errorf("width %d: %d columns, want %d: %s", width, longest(shown), want, shown)
		}
	}
}

// longest returns how many columns the longest line has.
func longest(text string) int {
	most := 0
	for line := range strings.Lines(text) {
		most = max(most, widthOf(strings.TrimSuffix(line, "\n")))
	}
	return most
}

// resize gives a terminal some columns.
func resize(t *testing.T, terminal *os.File, columns int) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ,
		&unix.Winsize{Row: 24, Col: uint16(columns)}); err != nil {
		t.Skip("the terminal has no width: ", err)
	}
}

// readTerminal returns what was written to a terminal that is closed.
func readTerminal(t *testing.T, master *os.File) string {
	t.Helper()
	defer master.Close()
	text, _ := io.ReadAll(master) // fails at the end, as the terminal is closed
	return string(text)
}
