package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/test/tier"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata")

// seconds matches what demo prints differently every time.
var seconds = regexp.MustCompile(`[0-9]+\.[0-9]{2} s\b`)

// TestTranscripts runs the commands in testdata/*.txt and compares what they
// print. In these files, what follows a line with a command is its standard
// output, then its standard error, then its status if that is not 0.
func TestTranscripts(t *testing.T) {
	tier.SlowRace(t)
	paths, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatal("there are no transcripts: ", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			path, err := filepath.Abs(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir())
			writeInputs(t)
			want := readFile(t, path)
			got := transcribe(t, want)
			if *update {
				writeFile(t, path, got)
			} else if got != want {
				t.Errorf("%s differs, from %q on: run go test -update and look at what changed", path,
					firstDifference(got, want))
			}
		})
	}
}

// transcribe runs the commands of a transcript and returns the new one.
func transcribe(t *testing.T, transcript string) string {
	t.Helper()
	var out strings.Builder
	for _, line := range strings.SplitAfter(transcript, "\n") {
		command, ok := strings.CutPrefix(line, "$ reprise ")
		if !ok {
			continue
		}
		if out.Len() > 0 {
			out.WriteString("\n")
		}
		out.WriteString(line)
		r := invokeIn(t, cli.DefaultColumns, strings.Fields(command)...)
		if strings.Contains(command, "--json") {
			checkJSON(t, command, r.stdout)
		}
		if strings.TrimSpace(command) == "demo" {
			r.stdout = seconds.ReplaceAllString(r.stdout, "N s")
		}
		out.WriteString(r.stdout + r.stderr)
		if r.status != cli.ExitOK {
			out.WriteString("exit status " + strconv.Itoa(r.status) + "\n")
		}
	}
	return out.String()
}

// firstDifference returns the first line of got that is not one of want, by
// position.
func firstDifference(got, want string) string {
	lines := strings.SplitAfter(want, "\n")
	for i, line := range strings.SplitAfter(got, "\n") {
		if i >= len(lines) || line != lines[i] {
			return line
		}
	}
	return ""
}

// checkJSON checks that text is a sequence of JSON values.
func checkJSON(t *testing.T, command, text string) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	for {
		var v any
		err := d.Decode(&v)
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Errorf("reprise %s: %v", command, err)
			return
		}
	}
}

// TestReadme checks that the README shows the first lines that the demonstration prints.
func TestReadme(t *testing.T) {
	_, after, _ := strings.Cut(readFile(t, filepath.Join("..", "..", "README.md")), "<!-- demo -->\n```\n")
	shown, _, ok := strings.Cut(after, "…\n```\n<!-- /demo -->\n")
	if !ok {
		t.Fatal("README.md has no output of the demonstration")
	}
	_, want, _ := strings.Cut(readFile(t, filepath.Join("testdata", "demo.txt")), "\n")
	if got := seconds.ReplaceAllString(shown, "N s"); !strings.HasPrefix(want, got) {
		t.Errorf("README.md differs from the output of the demonstration, from %q on", firstDifference(got, want))
	}
}
