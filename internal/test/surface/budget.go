package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A budget is what a folder at the top may have at most: lines of Go written by hand without tests,
// exported names, exported fields, and seconds of its tests.
type budget struct {
	lines, names, fields int
	seconds              float64
}

func (b budget) add(other budget) budget {
	return budget{b.lines + other.lines, b.names + other.names, b.fields + other.fields, b.seconds + other.seconds}
}

// everything is the row for all folders together.
const everything = "all"

// readBudgets reads a file with a row for each folder: its name, the four numbers, and after # the
// reason if one was raised.
func readBudgets(path string) (map[string]budget, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	budgets := make(map[string]budget)
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		row, _, _ := strings.Cut(line, "#")
		fields := strings.Fields(row)
		if len(fields) == 0 {
			continue
		}
		var b budget
		var errs [4]error
		if len(fields) == 5 {
			b.lines, errs[0] = strconv.Atoi(fields[1])
			b.names, errs[1] = strconv.Atoi(fields[2])
			b.fields, errs[2] = strconv.Atoi(fields[3])
			b.seconds, errs[3] = strconv.ParseFloat(fields[4], 64)
		}
		if _, twice := budgets[fields[0]]; twice || len(fields) != 5 || errors.Join(errs[:]...) != nil {
			return nil, fmt.Errorf(
				"%s:%d: a row is a folder, which has no other row, its lines, names, fields and seconds",
				path, number)
		}
		budgets[fields[0]] = b
	}
	return budgets, nil
}

// folders returns what each folder at the top has, and all together.
func (s *summary) folders(seconds map[string]float64) map[string]budget {
	has := make(map[string]budget)
	add := func(dir string, b budget) {
		top, _, _ := strings.Cut(dir, "/")
		has[top], has[everything] = has[top].add(b), has[everything].add(b)
	}
	for dir, f := range s.packages {
		add(dir, budget{lines: f.lines, names: f.names, fields: f.fields})
	}
	for _, dir := range slices.Sorted(maps.Keys(seconds)) {
		add(dir, budget{seconds: seconds[dir]})
	}
	return has
}

// exceeding returns where a folder has more than it may.
func exceeding(has, may map[string]budget) (problems []string) {
	for _, folder := range slices.Sorted(maps.Keys(has)) {
		h := has[folder]
		m, ok := may[folder]
		if !ok {
			problems = append(problems, folder+" has no budget")
		}
		for _, what := range []struct {
			name     string
			has, may float64
		}{
			{"lines", float64(h.lines), float64(m.lines)}, {"exported names", float64(h.names), float64(m.names)},
			{"exported fields", float64(h.fields), float64(m.fields)}, {"seconds of tests", h.seconds, m.seconds},
		} {
			if ok && what.has > what.may {
				problems = append(problems, fmt.Sprintf("%s: %v %s, more than its budget of %v",
					folder, math.Ceil(what.has), what.name, what.may))
			}
		}
	}
	for _, folder := range slices.Sorted(maps.Keys(may)) {
		if _, ok := has[folder]; !ok {
			problems = append(problems, folder+" has a budget, and is not there")
		}
	}
	return problems
}

// tested matches the line of go test for a package with its seconds.
var tested = regexp.MustCompile(`(?m)^ok  \t(\S+)\t([0-9.]+)s`)

// readSeconds reads what go test printed: the seconds of each package, by its directory.
func readSeconds(path, module string) (map[string]float64, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(filepath.FromSlash(path))
	if err != nil {
		return nil, err
	}
	seconds := make(map[string]float64)
	for _, match := range tested.FindAllStringSubmatch(string(text), -1) {
		took, err := strconv.ParseFloat(match[2], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		dir := strings.TrimPrefix(strings.TrimPrefix(match[1], module), "/")
		if dir == "" {
			dir = "."
		}
		seconds[dir] += took
	}
	return seconds, nil
}

// printBudgets prints a file of budgets that are just kept.
func printBudgets(w io.Writer, has map[string]budget) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%-12s %8s %6s %6s %8s\n", "# folder", "lines", "names", "fields", "seconds")
	for _, folder := range slices.Sorted(maps.Keys(has)) {
		h := has[folder]
		fmt.Fprintf(b, "%-12s %8d %6d %6d %8.0f\n", folder, h.lines, h.names, h.fields, math.Ceil(h.seconds))
	}
	return b.Flush()
}
