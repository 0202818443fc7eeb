package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/e2e"
	"github.com/reprise-trace/reprise/internal/test/tier"
)

// TestPublished publishes what is in the working tree, from a copy, and uses it as others do: from a proxy,
// without a workspace. The command is installed and runs, and a program of one file is built for each module
// that has packages to import.
func TestPublished(t *testing.T) {
	e2e.Programs(t)
	tier.Long(t, "unpacks what all modules require, and builds it")
	const version = "v0.1.0"
	here, work := shell{dir: "../.."}, t.TempDir()
	cache := must(t, here, "go", "env", "GOMODCACHE")
	proxy := "GOPROXY=file://" + cache + "/cache/download," + must(t, here, "go", "env", "GOPROXY")
	source := shell{dir: filepath.Join(work, "source"),
		environment: []string{proxy, "GOFLAGS=-modcacherw", "GOCACHE=" + must(t, here, "go", "env", "GOCACHE")}}
	copyTree(t, here, source.dir)
	for _, arguments := range [][]string{
		{"init", "-q"}, {"config", "user.name", "test"}, {"config", "user.email", "test@localhost"},
		{"add", "-A"}, {"commit", "-q", "-m", "all"},
	} {
		must(t, source, "git", arguments...)
	}
	publisher := filepath.Join(work, "publisher")
	must(t, here, "go", "build", "-o", publisher, "./internal/publish")
	head := must(t, source, "git", "rev-parse", "HEAD")
	must(t, source, publisher, version)
	if status := must(t, source, "git", "status", "--porcelain"); status != "" ||
		must(t, source, "git", "rev-parse", "HEAD") != head {
		t.Errorf("publishing has changed the tree: %s", status)
	}
	tags := must(t, source, "git", "show-ref", "--tags")
	must(t, source, publisher, version)
	if again := must(t, source, "git", "show-ref", "--tags"); again != tags {
		t.Errorf("tags are\n%s, and after publishing again\n%s", tags, again)
	}
	modules, err := modulesOf(source)
	if err != nil {
		t.Fatal(err)
	}
	user := userOf(t, source, modules, version, filepath.Join(work, "user"))
	must(t, user, "go", "install", modules[0].path+"/cmd/reprise@"+version)
	reprise := filepath.Join(user.dir, "bin", "reprise")
	if said := must(t, user, reprise, "--version"); !strings.Contains(said, version) {
		t.Errorf("--version says %q", said)
	}
	must(t, user, reprise, "demo")
	for _, m := range modules {
		buildProgram(t, user, m, version)
	}
	refusals(t, source, publisher, version)
}

// userOf returns a shell of somebody who has nothing but a proxy with the modules of a repository.
func userOf(t *testing.T, source shell, modules []module, version, dir string) shell {
	root := modules[0].path
	served := filepath.Join(dir, "served")
	download := shell{dir: source.dir, environment: append(source.environment, "GOWORK=off",
		"GOMODCACHE="+served, "GONOPROXY="+root, "GONOSUMDB="+root,
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url."+source.dir+".insteadOf", "GIT_CONFIG_VALUE_0=https://"+root)}
	for _, m := range modules {
		must(t, download, "go", "mod", "download", m.path+"@"+version)
	}
	proxy, _ := strings.CutPrefix(source.environment[0], "GOPROXY=")
	return shell{dir: dir, environment: append(source.environment, "GOWORK=off",
		"GOMODCACHE="+filepath.Join(dir, "modules"),
		"GOBIN="+filepath.Join(dir, "bin"), "GONOSUMDB="+root, "GOPROXY=file://"+served+"/cache/download,"+proxy)}
}

// buildProgram builds a program that imports the packages of a module, alone in a module of its own.
func buildProgram(t *testing.T, user shell, m module, version string) {
	user.dir = filepath.Join(user.dir, "program", m.dir)
	if err := os.MkdirAll(user.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	must(t, user, "go", "mod", "init", "example.com/program")
	must(t, user, "go", "get", m.path+"/...@"+version)
	packages := must(t, user, "go", "list", "-e", "-f", `{{if ne .Name "main"}}{{.ImportPath}}{{end}}`, m.path+"/...")
	program := "package main\n\nimport (\n"
	imported := 0
	for path := range strings.FieldsSeq(packages) {
		if rest, ok := strings.CutPrefix(path, m.path); ok && !strings.Contains(rest+"/", "/internal/") {
			program += "\t_ \"" + path + "\"\n"
			imported++
		}
	}
	if imported == 0 {
		return // a module of commands
	}
	if err := os.WriteFile(filepath.Join(user.dir, "main.go"), []byte(program+")\n\nfunc main() {}\n"),
		0o666); err != nil {
		t.Fatal(err)
	}
	must(t, user, "go", "build", "-o", "program", ".")
	must(t, user, "./program")
}

// refusals checks what is not published: a tree with changes, and a version that another commit has.
func refusals(t *testing.T, source shell, publisher, version string) {
	file := filepath.Join(source.dir, "LICENSE")
	if err := os.WriteFile(file, []byte("another"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := source.run(publisher, "v0.2.0"); err == nil || !strings.Contains(err.Error(), "LICENSE") {
		t.Errorf("a tree with changes: %v", err)
	}
	must(t, source, "git", "commit", "-q", "-a", "-m", "another")
	if _, err := source.run(publisher, version); err == nil ||
		!strings.Contains(err.Error(), "was not made from HEAD") {
		t.Errorf("a version of another commit: %v", err)
	}
	if tags := must(t, source, "git", "tag", "-l", "*v0.2.0"); tags != "" {
		t.Errorf("tags that a refusal leaves: %s", tags)
	}
}

// copyTree copies the files of a repository that git has or would add.
func copyTree(t *testing.T, from shell, to string) {
	for name := range strings.SplitSeq(must(t, from, "git", "ls-files", "-co", "--exclude-standard", "-z"), "\x00") {
		data, err := os.ReadFile(filepath.Join(from.dir, name))
		info, err2 := os.Stat(filepath.Join(from.dir, name))
		if err != nil || err2 != nil || !info.Mode().IsRegular() {
			continue // deleted, or the end of the list
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, name), data, info.Mode().Perm()); err != nil {
			t.Fatal(err)
		}
	}
}

func must(t *testing.T, in shell, name string, arguments ...string) string {
	t.Helper()
	out, err := in.run(name, arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRequirements checks that each module requires those of the repository that its packages and tests
// import: in a workspace they are found without, but not once they are published.
func TestRequirements(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	modules, err := modulesOf(shell{dir: root})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		for path, file := range importsOf(t, filepath.Join(root, m.dir)) {
			of := moduleOf(modules, path)
			if of != "" && of != m.path && !slices.Contains(m.requires, of) {
				t.Errorf("%s imports %s: %s/go.mod does not require %s", file, path, m.dir, of)
			}
		}
	}
}

// moduleOf returns the path of the module that a package is of, or "".
func moduleOf(modules []module, path string) (of string) {
	for _, m := range modules {
		if (path == m.path || strings.HasPrefix(path, m.path+"/")) && len(m.path) > len(of) {
			of = m.path
		}
	}
	return of
}

// importsOf returns what the packages of a module import, with a file that does.
func importsOf(t *testing.T, dir string) map[string]string {
	imports := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if path != dir && (err == nil || entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".")) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range file.Imports {
			imports[strings.Trim(i.Path.Value, `"`)] = path
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return imports
}
