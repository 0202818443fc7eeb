package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// largest is the size of the largest input that is kept, in bytes: what is in the repository is to be small.
const largest = 1 << 10

// hashed are the names of inputs that the fuzzer found: others were given by people.
var hashed = regexp.MustCompile(`^[0-9a-f]{16}$`)

// An input is a file of one.
type input struct {
	name string // the hash of what is in it
	size int64
}

// isAsLarge reports whether i and j have the same size.
func (i input) isAsLarge(j input) bool { return i.size == j.size }

// inputs returns those of a directory that the fuzzer found, none if there is no such directory.
func inputs(directory string) (list []input, err error) {
	entries, err := os.ReadDir(directory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		if hashed.MatchString(e.Name()) {
			list = append(list, input{e.Name(), info.Size()})
		}
	}
	return list, nil
}

// spread returns at most n inputs of different sizes, from the smallest to the largest that may be kept. Of
// each size, the one with the lowest hash counts, so that the order in which they were found does not matter.
func spread(all []input, n int) (chosen []input) {
	all = slices.DeleteFunc(slices.Clone(all), func(i input) bool { return i.size > largest })
	slices.SortFunc(all, func(a, b input) int {
		return cmp.Or(cmp.Compare(a.size, b.size), cmp.Compare(a.name, b.name))
	})
	all = slices.CompactFunc(all, func(a, b input) bool { return a.size == b.size })
	for i := range min(n, len(all)) {
		chosen = append(chosen, all[i*(len(all)-1)/max(1, min(n, len(all))-1)])
	}
	return chosen
}

// keep copies inputs that the fuzzer found for targets to their packages, until each has n of them or one of
// each size, and returns how many it copied. go test runs them.
func keep(cache string, packages []fuzzed, n int) (copied int, err error) {
	for _, p := range packages {
		for _, target := range p.targets {
			from, to := filepath.Join(cache, p.ImportPath, target), filepath.Join(p.Dir, "testdata", "fuzz", target)
			kept, err := inputs(to)
			if err != nil {
				return copied, err
			}
			found, err := inputs(from)
			if err != nil {
				return copied, err
			}
			found = slices.DeleteFunc(found, func(i input) bool { return slices.ContainsFunc(kept, i.isAsLarge) })
			for _, i := range spread(found, n-len(kept)) {
				data, err := os.ReadFile(filepath.Join(from, i.name))
				if err != nil {
					return copied, err
				}
				if err := os.MkdirAll(to, 0o755); err != nil {
					return copied, err
				}
				if err := os.WriteFile(filepath.Join(to, i.name), data, 0o644); err != nil {
					return copied, err
				}
				copied++
			}
		}
	}
	return copied, nil
}
