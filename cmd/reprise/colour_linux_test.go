package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestColours checks that answers, warnings and errors have styles on a terminal that shows
// them, and only there, and that their text is the same.
func TestColours(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	writeTimed(t)
	escape := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"profile timed.rpz", []string{"\x1b[1mcalls\x1b[0m", "\x1b[36m97.9 %\x1b[0m",
			"\x1b[2mno room for share of calls: --wide shows it\x1b[0m"}},
		{"grammar timed.rpz", []string{"\x1b[1m    each in calls    share\x1b[0m"}},
		{"messages ring.rpz", []string{"\x1b[1mmessages\x1b[0m"}},
		{"info flipped.rpz", []string{"\x1b[33mreprise: warning:\x1b[0m ", "\x1b[31mreprise:\x1b[0m "}},
		{"info nothing.rpz", []string{"\x1b[31mreprise:\x1b[0m "}},
		{"info --nothing", []string{"\x1b[31mreprise:\x1b[0m "}},
		{"profile timed.rpz --json", nil},
		{"cat timed.rpz", nil},
	} {
		show := func(name, noColour string) string {
			t.Setenv("TERM", name)
			t.Setenv("NO_COLOR", noColour)
			t.Setenv("COLUMNS", "80")
			master, terminal := openTerminal(t)
			s, ended := readShown(master)
			run(t.Context(), strings.Fields(tt.args), strings.NewReader(""), terminal, terminal)
			terminal.Close()
			<-ended
			return strings.ReplaceAll(s.String(), "\r\n", "\n")
		}
		coloured := show("xterm-256color", "")
		for _, want := range tt.want {
			if !strings.Contains(coloured, want) {
				t.Errorf("reprise %s: there is no %q in %q", tt.args, want, coloured)
			}
		}
		if tt.want == nil && strings.Contains(coloured, "\x1b") {
			t.Errorf("reprise %s: %q", tt.args, coloured)
		}
		plain := show("xterm-256color", "1")
		if strings.Contains(plain, "\x1b") || escape.ReplaceAllString(coloured, "") != plain {
			t.Errorf("reprise %s: with NO_COLOR %q, otherwise %q", tt.args, plain, coloured)
		}
		for _, name := range []string{"dumb", ""} {
			if got := show(name, ""); got != plain {
				t.Errorf("reprise %s: with TERM=%s %q", tt.args, name, got)
			}
		}
		t.Setenv("TERM", "xterm")
		t.Setenv("NO_COLOR", "")
		file, err := os.Create("file")
		if err != nil {
			t.Fatal(err)
		}
		var pipe bytes.Buffer
		run(t.Context(), strings.Fields(tt.args), strings.NewReader(""), file, &pipe)
		file.Close()
		if text := readFile(t, "file") + pipe.String(); strings.Contains(text, "\x1b") {
			t.Errorf("reprise %s: a file has %q", tt.args, text)
		}
	}
}
