package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
)

// A goFile is a file written by hand that is no test.
type goFile struct {
	dir   string // inside the repository, with slashes; "." for the root
	lines int
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// goFiles lists the files of Go at dir that were written by hand and are no tests.
func goFiles(dir string) ([]goFile, error) {
	var files []goFile
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := path != dir && (strings.HasPrefix(entry.Name(), ".") || strings.HasPrefix(entry.Name(), "_"))
		if entry.IsDir() {
			if hidden || entry.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		}
		if hidden || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || generated.Match(text) {
			return err
		}
		relative, err := filepath.Rel(dir, filepath.Dir(path))
		files = append(files, goFile{filepath.ToSlash(relative), bytes.Count(text, []byte("\n"))})
		return err
	})
	return files, err
}

// figures of a package or of all.
type figures struct {
	lines, files, names, unused, fields, examples int
	importable                                    bool
}

func (f figures) print(w io.Writer, label string) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t\n", label, f.lines, f.files, f.names, f.unused, f.fields, f.examples)
}

// A summary has the figures of all packages.
type summary struct {
	packages map[string]*figures // by directory
	total    figures
	median   int // lines of a file
}

func summarize(files []goFile, names []*name, examples map[string]int) *summary {
	s := &summary{packages: make(map[string]*figures)}
	at := func(dir string) *figures {
		if s.packages[dir] == nil {
			s.packages[dir] = new(figures)
		}
		return s.packages[dir]
	}
	var lines []int
	for _, file := range files {
		for _, f := range []*figures{at(file.dir), &s.total} {
			f.lines += file.lines
			f.files++
		}
		lines = append(lines, file.lines)
	}
	if len(lines) > 0 {
		slices.Sort(lines)
		s.median = lines[(len(lines)-1)/2]
	}
	for _, n := range names {
		for _, f := range []*figures{at(n.dir), &s.total} {
			if n.kind == "field" {
				f.fields++
				continue
			}
			f.names++
			if n.use == unused {
				f.unused++
			}
		}
	}
	for dir, count := range examples {
		at(dir).importable = true
		at(dir).examples = count
		s.total.examples += count
	}
	return s
}

func (s *summary) print(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "package\tlines\tfiles\tnames\tunused\tfields\texamples\t")
	for _, dir := range slices.Sorted(maps.Keys(s.packages)) {
		s.packages[dir].print(table, dir)
	}
	s.total.print(table, "all")
	table.Flush()
	fmt.Fprintf(w, "median file: %d lines\n", s.median)
}

// withoutExample says which packages have no example.
func (s *summary) withoutExample() []string {
	var problems []string
	for _, dir := range slices.Sorted(maps.Keys(s.packages)) {
		if f := s.packages[dir]; f.importable && f.examples == 0 {
			problems = append(problems, fmt.Sprintf("package %s has no example", dir))
		}
	}
	return problems
}

// beyondLimits says which limits of the house are exceeded.
func (s *summary) beyondLimits() []string {
	var problems []string
	if s.total.lines > maxLines {
		problems = append(problems, fmt.Sprintf("%d lines: more than %d", s.total.lines, maxLines))
	}
	if s.total.names > maxNames {
		problems = append(problems, fmt.Sprintf("%d exported names: more than %d", s.total.names, maxNames))
	}
	if s.median < minMedian {
		problems = append(problems, fmt.Sprintf("the median file has %d lines: fewer than %d", s.median, minMedian))
	}
	return problems
}

// exceptions are names that may have no caller, and why.
type exceptions map[string]string

// readExceptions reads a file with a name and a reason on each line, such as
//
//	merge.Part.MarshalBinary  parts travel between processes
//
// Empty lines and lines that begin with # are skipped. Without the file there are none.
func readExceptions(dir, file string) (exceptions, error) {
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	found := make(exceptions)
	for scanner := bufio.NewScanner(bytes.NewReader(text)); scanner.Scan(); {
		line := strings.TrimSpace(scanner.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, reason, _ := strings.Cut(line, " ")
		if reason = strings.TrimSpace(reason); reason == "" {
			return nil, fmt.Errorf("%s: %s: an exception needs a reason", file, id)
		}
		found[id] = reason
	}
	return found, nil
}

// apply marks the names that may have no caller. It says which exceptions are not needed.
func (e exceptions) apply(names []*name) []string {
	needed := make(map[string]bool)
	for _, n := range names {
		if _, ok := e[n.String()]; ok && n.use == unused {
			n.excepted = true
			needed[n.String()] = true
		}
	}
	var problems []string
	for _, id := range slices.Sorted(maps.Keys(e)) {
		if !needed[id] {
			problems = append(problems, fmt.Sprintf("exceptions: %s has callers, or is not there", id))
		}
	}
	return problems
}
