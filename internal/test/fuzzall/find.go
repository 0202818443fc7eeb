package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"hash/fnv"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A fuzzed is a package that has fuzz targets.
type fuzzed struct {
	Dir, ImportPath           string
	TestGoFiles, XTestGoFiles []string
	targets                   []string
}

// find returns the packages of patterns that have fuzz targets, or those of all modules.
func find(ctx context.Context, patterns []string) ([]fuzzed, error) {
	if len(patterns) == 0 {
		modules, err := output(ctx, "list", "-m", "-f", "{{.Dir}}/...")
		if err != nil {
			return nil, err
		}
		patterns = strings.Fields(string(modules))
	}
	list, err := output(ctx, append([]string{"list", "-json=Dir,ImportPath,TestGoFiles,XTestGoFiles"}, patterns...)...)
	if err != nil {
		return nil, err
	}
	var all []fuzzed
	for d := json.NewDecoder(bytes.NewReader(list)); ; {
		var p fuzzed
		switch err := d.Decode(&p); {
		case err == io.EOF && len(all) == 0:
			return nil, errors.New("no fuzz targets")
		case err == io.EOF:
			return all, nil
		case err != nil:
			return nil, err
		}
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			targets, err := targetsOf(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			p.targets = append(p.targets, targets...)
		}
		if len(p.targets) > 0 {
			all = append(all, p)
		}
	}
}

// choose returns one in n targets, with their packages; a text says which of the n shares.
func choose(packages []fuzzed, n int, text string) []fuzzed {
	h := fnv.New32a()
	_, _ = io.WriteString(h, text) // which has no errors
	var chosen []fuzzed
	for i := int(h.Sum32() % uint32(n)); len(packages) > 0; packages = packages[1:] {
		p := packages[0]
		all := p.targets
		p.targets = nil
		for ; i < len(all); i += n {
			p.targets = append(p.targets, all[i])
		}
		if i -= len(all); p.targets != nil {
			chosen = append(chosen, p)
		}
	}
	return chosen
}

// targetsOf returns the names of the fuzz targets of a file.
func targetsOf(path string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Fuzz") &&
			len(f.Type.Params.List) == 1 {
			list = append(list, f.Name.Name)
		}
	}
	return list, nil
}

// output returns what the go command prints.
func output(ctx context.Context, args ...string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	if e := new(exec.ExitError); errors.As(err, &e) {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, e.Stderr)
	}
	return out, err
}
