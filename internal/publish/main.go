// Publish tags the modules of this repository as a version: go run ./internal/publish v0.1.0
//
// Modules here require each other as v0.0.0, which go.work replaces by what is beside them. Who installs one
// has no go.work, so the tags are of another commit, whose parent is HEAD and whose modules require each
// other at the version, with their sums. It is made in a clone, by the go command, which takes modules from
// the clone as it takes them from the place where they are published. No branch and no working tree changes,
// and nothing is uploaded.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if len(os.Args) != 2 || !regexp.MustCompile(`^v[01]\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`).MatchString(os.Args[1]) {
		fmt.Fprintln(os.Stderr, "usage: publish vX.Y.Z (X is 0 or 1: later versions need other paths of modules)")
		os.Exit(2)
	}
	if err := publish(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "publish:", err)
		os.Exit(1)
	}
}

func publish(version string) error {
	here := shell{dir: "."}
	if changed, err := here.run("git", "status", "--porcelain"); err != nil || changed != "" {
		return errors.Join(err, fmt.Errorf("files differ from HEAD; commit or remove them: %s", changed))
	}
	work, err := os.MkdirTemp("", "publish-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	clone := shell{dir: filepath.Join(work, "clone")}
	if _, err := here.run("git", "clone", "-q", ".", clone.dir); err != nil {
		return err
	}
	modules, err := modulesOf(clone)
	if err != nil {
		return err
	}
	if done, err := tagged(here, modules, version); done || err != nil {
		return err
	}
	date, err := here.run("git", "log", "-1", "--format=%cI")
	if err != nil {
		return err
	}
	clone.environment = []string{
		"GOWORK=off", "GOFLAGS=-mod=mod -modcacherw", "GOMODCACHE=" + filepath.Join(work, "modules"),
		"GONOPROXY=" + modules[0].path, "GONOSUMDB=" + modules[0].path, // and those in directories of it
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url." + clone.dir + ".insteadOf",
		"GIT_CONFIG_VALUE_0=https://" + modules[0].path,
		"GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date, // the same tags each time
	}
	if err := commit(clone, modules, version); err != nil {
		return err
	}
	fetch, push := []string{"fetch", "-q", "--no-tags", clone.dir}, "git push origin"
	for _, m := range modules {
		fetch = append(fetch, "refs/tags/"+m.tag(version)+":refs/tags/"+m.tag(version))
		push += " " + m.tag(version)
	}
	if _, err := here.run("git", fetch...); err != nil {
		return err
	}
	fmt.Println("tagged; this publishes it:", push)
	return nil
}

// A module is one of the repository.
type module struct {
	dir, path string
	requires  []string // paths of other modules of the repository
	replaces  []string // as go mod edit -dropreplace takes them
}

// tag returns the tag that the go command takes the module of a version from.
func (m module) tag(version string) string { return strings.TrimPrefix(m.dir+"/"+version, "./") }

// modulesOf returns the modules of a repository, each after those that it requires: first that of the root.
func modulesOf(in shell) ([]module, error) {
	files, err := in.run("git", "ls-files", "go.mod", "*/go.mod")
	if err != nil {
		return nil, err
	}
	var unordered, ordered []module
	for file := range strings.Lines(files) {
		m := module{dir: filepath.Dir(strings.TrimSpace(file))}
		text, err := in.run("go", "mod", "edit", "-json", filepath.Join(in.dir, m.dir, "go.mod"))
		if err != nil {
			return nil, err
		}
		var said struct {
			Module  struct{ Path string }
			Require []struct{ Path string }
			Replace []struct {
				Old struct{ Path, Version string }
			}
		}
		if err := json.Unmarshal([]byte(text), &said); err != nil {
			return nil, err
		}
		m.path = said.Module.Path
		for _, r := range said.Require {
			m.requires = append(m.requires, r.Path)
		}
		for _, r := range said.Replace {
			m.replaces = append(m.replaces, strings.TrimSuffix(r.Old.Path+"@"+r.Old.Version, "@"))
		}
		unordered = append(unordered, m)
	}
	for i, m := range unordered {
		unordered[i].requires = slices.DeleteFunc(m.requires, func(path string) bool {
			return !slices.ContainsFunc(unordered, func(m module) bool { return m.path == path })
		})
	}
	for len(unordered) > 0 {
		next := slices.IndexFunc(unordered, func(m module) bool {
			return !slices.ContainsFunc(unordered, func(o module) bool { return slices.Contains(m.requires, o.path) })
		})
		if next < 0 {
			return nil, errors.New("modules require each other in a circle")
		}
		ordered, unordered = append(ordered, unordered[next]), slices.Delete(unordered, next, next+1)
	}
	return ordered, nil
}

// tagged tells that HEAD has the version already; it is an error if another commit has.
func tagged(here shell, modules []module, version string) (bool, error) {
	head, err := here.run("git", "rev-parse", "HEAD")
	if err != nil {
		return false, err
	}
	var commits []string
	for _, m := range modules {
		if commit, err := here.run("git", "rev-parse", "-q", "--verify",
			"refs/tags/"+m.tag(version)+"^{commit}"); err == nil {
			parent, _ := here.run("git", "rev-parse", "-q", "--verify", commit+"^")
			if parent != head {
				return false, fmt.Errorf(
					"tag %s is of commit %.12s, which was not made from HEAD, %.12s: take another version",
					m.tag(version), commit, head)
			}
			commits = append(commits, commit)
		}
	}
	if commits = slices.Compact(commits); len(commits) > 1 {
		return false, fmt.Errorf("tags of %s are of several commits: remove them if they are not published", version)
	}
	return len(commits) == 1, nil
}

// commit makes the commit in a clone, and the tags. The sum of a module is known only after
// the sums in those that it requires, so they are set, and the commit made again, one after another.
func commit(clone shell, modules []module, version string) error {
	work := []string{"work", "edit"}
	for _, m := range modules {
		edit := []string{"mod", "edit"}
		for _, path := range m.requires {
			edit = append(edit, "-require="+path+"@"+version)
		}
		for _, old := range m.replaces {
			edit = append(edit, "-dropreplace="+old)
		}
		if len(edit) > 2 {
			if _, err := clone.run("go", append(edit, filepath.Join(clone.dir, m.dir, "go.mod"))...); err != nil {
				return err
			}
		}
		work = append(work, "-dropreplace="+m.path+"@v0.0.0", "-replace="+m.path+"@"+version+"=./"+m.dir)
	}
	if _, err := clone.run("go", append(work, filepath.Join(clone.dir, "go.work"))...); err != nil {
		return err
	}
	if _, err := clone.run("git", "commit", "-q", "--allow-empty", "-a", "-m", "release: "+version); err != nil {
		return err
	}
	for _, m := range modules {
		tidy := shell{dir: filepath.Join(clone.dir, m.dir), environment: clone.environment}
		if _, err := tidy.run("go", "mod", "tidy"); err != nil {
			return err
		}
		if _, err := clone.run("git", "commit", "-q", "--amend", "--allow-empty", "-a", "--no-edit"); err != nil {
			return err
		}
		if _, err := clone.run("git", "tag", m.tag(version)); err != nil {
			return err
		}
	}
	for _, m := range modules { // all at the last commit, in which the files of each are as they were
		if _, err := clone.run("git", "tag", "-f", m.tag(version)); err != nil {
			return err
		}
	}
	return nil
}

// A shell runs programs in a directory.
type shell struct {
	dir         string
	environment []string // besides that of this process
}

// run returns what a program writes.
func (s shell) run(name string, arguments ...string) (string, error) {
	var out, problems bytes.Buffer
	command := exec.Command(name, arguments...)
	command.Dir, command.Env, command.Stdout, command.Stderr = s.dir, append(os.Environ(), s.environment...),
		&out, &problems
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s in %s: %w\n%s", command, s.dir, err, problems.Bytes())
	}
	return strings.TrimSpace(out.String()), nil
}
