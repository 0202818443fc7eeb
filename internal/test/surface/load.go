package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A repository is the packages of all modules of one.
type repository struct {
	module  string // import path of its root
	sources []*source
	files   []goFile
}

// A source is a package, checked from its sources: with the tests in the package, or the
// tests beside it.
type source struct {
	path  string // import path without "_test"
	dir   string // inside the repository, with slashes; "." for the root
	files []*ast.File
	pkg   *types.Package
	info  *types.Info
	fset  *token.FileSet
}

// A goFile is a file written by hand that is no test.
type goFile struct {
	dir   string // as that of its source
	lines int
}

// A listed is what go list says about a package or about a variant of it for tests.
type listed struct {
	ImportPath, Dir, ForTest          string
	Export                            string // file of export data
	GoFiles, CgoFiles, IgnoredGoFiles []string
	ImportMap                         map[string]string
	DepOnly                           bool
}

// load checks all packages of the modules of the repository at dir. What they import is
// read from export data, which go list makes.
func load(dir string) (*repository, error) {
	output, err := goList(dir, "-m", "-f", "{{.Path}} {{.Dir}}")
	if err != nil {
		return nil, err
	}
	arguments, root := []string{"-export", "-deps", "-test",
		"-json=ImportPath,Dir,ForTest,Export,GoFiles,CgoFiles,IgnoredGoFiles,ImportMap,DepOnly"}, ""
	for module := range strings.Lines(string(output)) {
		path, at, _ := strings.Cut(strings.TrimSpace(module), " ")
		if arguments = append(arguments, filepath.Join(at, "...")); root == "" || len(path) < len(root) {
			root = path // the others are in directories of it
		}
	}
	if output, err = goList(dir, arguments...); err != nil {
		return nil, err
	}
	inside := func(path string) string {
		return cmp.Or(strings.TrimPrefix(strings.TrimPrefix(path, root), "/"), ".")
	}
	r := &repository{module: root}
	all, own := make(map[string]*listed), make(map[string]*listed)
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		p := new(listed)
		if err := decoder.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all[p.ImportPath] = p
		path, _, _ := strings.Cut(p.ImportPath, " ")
		tested := strings.TrimSuffix(path, "_test")
		if p.DepOnly || strings.HasSuffix(path, ".test") || p.ForTest != "" && p.ForTest != tested {
			continue
		}
		if p.ForTest != "" || own[path] == nil {
			own[path] = p // with its tests, if it has some
		}
		if p.ForTest == "" {
			if err := r.count(p, inside(path)); err != nil {
				return nil, err
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(own)) {
		s, err := own[path].check(path, all)
		if err != nil {
			return nil, err
		}
		s.dir = inside(s.path)
		r.sources = append(r.sources, s)
	}
	return r, nil
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

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// count takes down the files of a package that were written by hand and are no tests.
func (r *repository) count(p *listed, dir string) error {
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles, p.IgnoredGoFiles) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return err
		}
		if !generated.Match(text) {
			r.files = append(r.files, goFile{dir, bytes.Count(text, []byte("\n"))})
		}
	}
	return nil
}

// check parses and checks a package.
func (p *listed) check(path string, all map[string]*listed) (*source, error) {
	s := &source{
		path: strings.TrimSuffix(path, "_test"),
		fset: token.NewFileSet(),
		info: &types.Info{Types: make(map[ast.Expr]types.TypeAndValue),
			Defs: make(map[*ast.Ident]types.Object), Uses: make(map[*ast.Ident]types.Object)},
	}
	for _, name := range append(p.GoFiles, p.CgoFiles...) {
		file, err := parser.ParseFile(s.fset, filepath.Join(p.Dir, name), nil,
			parser.ParseComments|parser.SkipObjectResolution)
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
	config := types.Config{Importer: importer.ForCompiler(s.fset, "gc", lookup), FakeImportC: true}
	var err error
	if s.pkg, err = config.Check(path, s.fset, s.files, s.info); err != nil {
		return nil, fmt.Errorf("checking %s: %w", p.ImportPath, err)
	}
	return s, nil
}

// importable tells whether others can import s: it is no command, no test beside a
// package, and not internal.
func (s *source) importable() bool {
	return s.pkg.Name() != "main" && s.pkg.Path() == s.path && !slices.Contains(strings.Split(s.path, "/"), "internal")
}

// inTest tells whether at is in a test, a benchmark or a helper of tests.
func (s *source) inTest(at token.Pos) bool {
	return strings.HasSuffix(s.fset.Position(at).Filename, "_test.go")
}

// examples are those that godoc shows: functions whose name begins with Example, and
// whole files with one such function.
func (s *source) examples() []ast.Node {
	var all []ast.Node
	for _, file := range s.files {
		if !s.inTest(file.Pos()) {
			continue
		}
		var examples []ast.Node
		tests := 0
		for _, declaration := range file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			switch {
			case !ok || f.Recv != nil:
			case strings.HasPrefix(f.Name.Name, "Example"):
				examples = append(examples, f)
			case strings.HasPrefix(f.Name.Name, "Test"), strings.HasPrefix(f.Name.Name, "Benchmark"),
				strings.HasPrefix(f.Name.Name, "Fuzz"):
				tests++
			}
		}
		if len(examples) == 1 && tests == 0 {
			examples = []ast.Node{file}
		}
		all = append(all, examples...)
	}
	return all
}
