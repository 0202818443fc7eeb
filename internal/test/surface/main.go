// Command surface measures the house: hand-written lines of Go without tests, files and
// their median, and exported names and examples by package, and it lists the
// exported names that nobody uses.
//
//	go run ./internal/test/surface            # the table
//	go run ./internal/test/surface -unused    # also the names without a caller
//	go run ./internal/test/surface -check     # fails if a name has no caller or a package no example
//	go run ./internal/test/surface -budget budget.txt -tests FILE    # fails if a folder has more than its budget
//
// A name is a package-level name or a method of an exported type, of a package that
// others can import. Fields of structs and methods of interfaces are counted apart. A
// name is used if another package mentions it, tests and benchmarks included, or if an
// example of godoc of its own package does; a type also if a value of it is seen there. A
// method is used too if it makes its type satisfy an interface, and a constant of an
// enumeration if another one of it is used. Names that stay without a caller stand in
// exceptions.txt, each with a reason.
//
// The check fails also if an exception is not needed.
//
// Budgets are a ratchet: a change may lower a number of budget.txt, and raise one only with a reason on
// the row. Of FILE, what go test printed, the seconds are those that it says of each package.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("surface", flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("C", ".", "`directory` of the repository")
	listUnused := flags.Bool("unused", false, "list exported names without a caller")
	listNames := flags.Bool("names", false, "list all exported names")
	check := flags.Bool("check", false, "exit with 1 if a name has no caller or a package has no example")
	budgets := flags.String("budget", "",
		"exit with 1 if a folder has more than this `file` says, inside the repository")
	tests := flags.String("tests", "", "`file` of what go test printed, for the seconds of tests")
	write := flags.Bool("write", false, "print a file of budgets that are just kept")
	exceptions := flags.String("exceptions", "internal/test/surface/exceptions.txt",
		"`file` of names that may have no caller, inside the repository")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	r, err := load(*dir)
	var problems []string
	var names []*name
	if err == nil {
		names = exportedNames(r.sources)
		problems, err = except(names, *dir, *exceptions)
	}
	if err != nil {
		fmt.Fprintln(stderr, "surface:", err)
		return 1
	}
	if *listNames {
		for _, n := range names {
			fmt.Fprintf(stdout, "%s\t%s\t%s\n", n, n.kind, n.use)
		}
		return 0
	}
	total := measure(r, names)
	problems = append(problems, total.print(stdout)...)
	callerless := 0
	for _, n := range names {
		if *listUnused && n.kind != "field" && n.use == byTest {
			fmt.Fprintln(stdout, "only tests call:", n)
		}
		if n.kind == "field" || n.use != unused || n.excepted {
			continue
		}
		if callerless++; *listUnused || *check {
			fmt.Fprintln(stdout, "no caller:", n)
		}
	}
	if callerless > 0 {
		problems = append(problems,
			fmt.Sprintf("%d exported names have no caller outside their package and no example", callerless))
	}
	if !*check {
		problems = nil
	}
	seconds, err := readSeconds(*tests, r.module)
	has := total.folders(seconds)
	if err == nil && *write {
		err = printBudgets(stdout, has)
	}
	if err == nil && *budgets != "" {
		var may map[string]budget
		may, err = readBudgets(filepath.Join(*dir, filepath.FromSlash(*budgets)))
		problems = append(problems, exceeding(has, may)...)
	}
	if err != nil {
		fmt.Fprintln(stderr, "surface:", err)
		return 1
	}
	if len(problems) > 0 {
		fmt.Fprintln(stderr, "surface:", strings.Join(problems, "\n"))
		return 1
	}
	return 0
}

// figures of a package or of all.
type figures struct {
	lines, files, names, unused, fields, examples int
	importable                                    bool
}

// A summary has the figures of all packages.
type summary struct {
	packages map[string]*figures // by directory
	total    figures
	sizes    []int // lines of each file
}

// measure adds up the figures of a repository.
func measure(r *repository, names []*name) *summary {
	s := &summary{packages: make(map[string]*figures)}
	add := func(dir string, count func(*figures)) {
		if s.packages[dir] == nil {
			s.packages[dir] = new(figures)
		}
		count(s.packages[dir])
		count(&s.total)
	}
	for _, file := range r.files {
		s.sizes = append(s.sizes, file.lines)
		add(file.dir, func(f *figures) { f.files, f.lines = f.files+1, f.lines+file.lines })
	}
	for _, n := range names {
		add(n.dir, func(f *figures) {
			switch {
			case n.kind == "field":
				f.fields++
			case n.use == unused:
				f.unused++
				fallthrough
			default:
				f.names++
			}
		})
	}
	for _, p := range r.sources {
		if p.importable() {
			add(p.dir, func(f *figures) { f.importable = true })
		}
	}
	for _, p := range r.sources {
		if f := s.packages[p.dir]; f != nil && f.importable {
			add(p.dir, func(f *figures) { f.examples += len(p.examples()) })
		}
	}
	return s
}

// print writes the table. It returns which packages with names have no example.
func (s *summary) print(w io.Writer) (problems []string) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(label string, f *figures) {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t\n", label, f.lines, f.files, f.names, f.unused,
			f.fields, f.examples)
	}
	fmt.Fprintln(table, "package\tlines\tfiles\tnames\tunused\tfields\texamples\t")
	for _, dir := range slices.Sorted(maps.Keys(s.packages)) {
		f := s.packages[dir]
		if row(dir, f); f.importable && f.names > 0 && f.examples == 0 {
			problems = append(problems, fmt.Sprintf("package %s has no example", dir))
		}
	}
	row("all", &s.total)
	table.Flush()
	fmt.Fprintf(w, "median file: %d lines\n", s.median())
	return problems
}

// median returns the lines of the median file.
func (s *summary) median() int {
	slices.Sort(s.sizes)
	return s.sizes[(len(s.sizes)-1)/2]
}

// except marks the names that may have no caller, and says which exceptions are not
// needed. They stand in a file, with a name and a reason on each line, such as
//
//	merge.Part.MarshalBinary  parts travel between processes
//
// Empty lines and lines that begin with # are skipped. Without the file there are none.
func except(names []*name, dir, file string) (problems []string, err error) {
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		id, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
		if id == "" || strings.HasPrefix(id, "#") {
			continue
		}
		if strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s: %s: an exception needs a reason", file, id)
		}
		i := slices.IndexFunc(names, func(n *name) bool { return n.String() == id && n.use == unused })
		if i < 0 {
			problems = append(problems, fmt.Sprintf("exceptions: %s has callers, or is not there", id))
			continue
		}
		names[i].excepted = true
	}
	return problems, nil
}
