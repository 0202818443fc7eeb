package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A listed is what go list says about a package or about a variant of it for tests.
type listed struct {
	ImportPath   string
	Name         string
	Dir          string
	Export       string // file of export data
	GoFiles      []string
	CgoFiles     []string
	TestGoFiles  []string
	XTestGoFiles []string
	ImportMap    map[string]string
	ForTest      string
	DepOnly      bool
}

// A source is a package of the repository, checked from its sources: with the tests in
// the package, or the tests beside it.
type source struct {
	path  string // import path without "_test"
	dir   string // inside the repository, with slashes; "." for the root
	name  string
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
	fset  *token.FileSet
}

// load checks all packages of the modules of the repository at dir. What they import is
// read from export data, which go list makes.
func load(dir string) ([]*source, error) {
	modules, err := goList(dir, "-m", "-f", "{{.Dir}}")
	if err != nil {
		return nil, err
	}
	arguments := []string{"-export", "-deps", "-test",
		"-json=ImportPath,Name,Dir,Export,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,ImportMap,ForTest,DepOnly"}
	for _, module := range strings.Fields(string(modules)) {
		arguments = append(arguments, filepath.Join(module, "..."))
	}
	output, err := goList(dir, arguments...)
	if err != nil {
		return nil, err
	}
	all := make(map[string]*listed)
	var own []*listed
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		p := new(listed)
		if err := decoder.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all[p.ImportPath] = p
		if !p.DepOnly {
			own = append(own, p)
		}
	}
	var sources []*source
	for _, p := range own {
		if !isSource(p) {
			continue
		}
		s, err := checkSource(p, all)
		if err != nil {
			return nil, err
		}
		s.dir, err = inside(dir, p.Dir)
		if err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	return sources, nil
}

// inside is the name of directory sub in dir.
func inside(dir, sub string) (string, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if absolute, err = filepath.EvalSymlinks(absolute); err != nil {
		return "", err
	}
	if sub, err = filepath.EvalSymlinks(sub); err != nil {
		return "", err
	}
	relative, err := filepath.Rel(absolute, sub)
	return filepath.ToSlash(relative), err
}

func goList(dir string, arguments ...string) ([]byte, error) {
	command := exec.Command("go", append([]string{"list"}, arguments...)...)
	command.Dir = dir
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	return output, nil
}

// isSource tells whether p has to be checked: a package that has tests of its own is
// checked together with them, thus not without; mains of tests are generated.
func isSource(p *listed) bool {
	base, variant, isVariant := strings.Cut(p.ImportPath, " ")
	switch {
	case strings.HasSuffix(p.ImportPath, ".test"):
		return false
	case !isVariant:
		return len(p.TestGoFiles) == 0
	default:
		tested := strings.TrimSuffix(strings.Trim(variant, "[]"), ".test")
		return base == tested+"_test" || base == tested && p.ForTest == tested && hasTests(p)
	}
}

func hasTests(p *listed) bool {
	for _, file := range p.GoFiles {
		if strings.HasSuffix(file, "_test.go") {
			return true
		}
	}
	return false
}

func checkSource(p *listed, all map[string]*listed) (*source, error) {
	path, _, _ := strings.Cut(p.ImportPath, " ")
	s := &source{
		path: strings.TrimSuffix(path, "_test"),
		name: p.Name,
		fset: token.NewFileSet(),
		info: &types.Info{
			Types:      make(map[ast.Expr]types.TypeAndValue),
			Defs:       make(map[*ast.Ident]types.Object),
			Uses:       make(map[*ast.Ident]types.Object),
			Selections: make(map[*ast.SelectorExpr]*types.Selection),
		},
	}
	for _, name := range append(p.GoFiles, p.CgoFiles...) {
		file, err := parser.ParseFile(s.fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		s.files = append(s.files, file)
	}
	lookup := func(path string) (io.ReadCloser, error) {
		if mapped, ok := p.ImportMap[path]; ok {
			path = mapped
		}
		q := all[path]
		if q == nil || q.Export == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(q.Export)
	}
	config := types.Config{
		Importer:    importer.ForCompiler(s.fset, "gc", lookup),
		FakeImportC: true,
	}
	var err error
	s.pkg, err = config.Check(path, s.fset, s.files, s.info)
	if err != nil {
		return nil, fmt.Errorf("checking %s: %w", p.ImportPath, err)
	}
	return s, nil
}
