package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// openTerminal returns both ends of a new pseudoterminal.
func openTerminal(t *testing.T) (master, terminal *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudoterminals: ", err)
	}
	var number, unlock uint32
	for request, p := range map[uintptr]*uint32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlock} {
		if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(p))); e != 0 {
			t.Skip("no pseudoterminals: ", e)
		}
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudoterminals: ", err)
	}
	return master, terminal
}

// screen returns what can be seen of text whose lines are written over.
func screen(text string) string {
	var line []rune
	at := 0
	for _, r := range text {
		switch {
		case r == '\r':
			at = 0
			continue
		case at == len(line):
			line = append(line, r)
		default:
			line[at] = r
		}
		at++
	}
	return strings.TrimSpace(string(line))
}

// TestProgress checks that long work shows its progress on a terminal, takes it
// away at the end, and shows nothing elsewhere.
func TestProgress(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	for _, tt := range []struct{ args, what string }{
		{"compress long.txt -o out.rpz", "compress"},
		{"compress longs.txt -o out.rpz", "compress"},
		{"compress long.txt -o out.rpz", "merge"},
		{"merge even.part.rpz odd.part.rpz -o out.rpz", "merge"},
		{"merge even.part.rpz odd.part.rpz -o out.rpz", "write"},
		{"info long.rpz", "info"},
		{"repair flipped.rpz -o out.rpz", "repair"},
		{"verify long.rpz long.txt", "verify"},
		{"info long.rpz --compare", "gzip and zstd"},
		{"cat long.rpz --split dir", "cat"},
	} {
		master, terminal := openTerminal(t)
		status := run(t.Context(), strings.Fields(tt.args), strings.NewReader(""), io.Discard, terminal)
		terminal.Close()
		shown, _ := io.ReadAll(master) // its end is an error
		master.Close()
		if status != exitOK || !strings.Contains(string(shown), tt.what) {
			t.Errorf("reprise %s: status %d, %q on the terminal", tt.args, status, shown)
		}
		if rest := screen(string(shown)); rest != "" {
			t.Errorf("reprise %s leaves %q on the terminal", tt.args, rest)
		}
	}
	checkFileProgress(t)
}

// checkFileProgress checks that what is written to a file shows its progress, and
// that a file shows none.
func checkFileProgress(t *testing.T) {
	t.Helper()
	file, err := os.Create("file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if status := run(t.Context(), []string{"compress", "long.txt", "-o", "out.rpz"}, nil, io.Discard, file); status != exitOK {
		t.Errorf("status %d", status)
	}
	if text := readFile(t, "file"); text != "" {
		t.Errorf("%q in a file", text)
	}
	master, terminal := openTerminal(t)
	defer master.Close()
	status := run(t.Context(), []string{"cat", "long.rpz"}, nil, file, terminal)
	terminal.Close()
	shown, _ := io.ReadAll(master)
	if status != exitOK || !strings.Contains(string(shown), "cat") || readFile(t, "file") != readFile(t, "long.txt") {
		t.Errorf("status %d, %q on the terminal", status, shown)
	}
}
