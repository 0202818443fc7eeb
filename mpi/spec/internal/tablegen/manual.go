package main

import (
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	section = regexp.MustCompile(`(?i)^\.SH (INPUT|OUTPUT|INPUT/OUTPUT|INOUT) PARAMETERS?\b`)
	heading = regexp.MustCompile(`^\.SH\b`)
	entry   = regexp.MustCompile(`^\.B ([\w, ]+?) *$`)
)

// A manual tells the directions of the parameters of a function: "in", "out"
// or "inout", by name.
type manual map[string]string

// readManual reads the page of a function in the form of MPICH's manual. A page
// that is not there is an empty manual.
func readManual(directory, function string) (manual, error) {
	file, err := os.Open(filepath.Join(directory, function+".3.gz"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(plain)
	if err != nil {
		return nil, err
	}
	return parseManual(string(text)), nil
}

// parseManual reads the sections on parameters. One parameter may stand in two
// of them: then it is both input and output.
func parseManual(text string) manual {
	m := make(manual)
	direction := ""
	for line := range strings.SplitSeq(text, "\n") {
		if found := section.FindStringSubmatch(line); found != nil {
			direction = map[string]string{"input": "in", "output": "out"}[strings.ToLower(found[1])]
			if direction == "" {
				direction = "inout"
			}
			continue
		}
		if heading.MatchString(line) {
			direction = ""
			continue
		}
		found := entry.FindStringSubmatch(line)
		if direction == "" || found == nil {
			continue
		}
		for name := range strings.SplitSeq(found[1], ",") {
			name = strings.TrimSpace(name)
			if known, ok := m[name]; ok && known != direction {
				m[name] = "inout"
			} else {
				m[name] = direction
			}
		}
	}
	return m
}
