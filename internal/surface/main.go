// Command surface measures the house: hand-written lines of Go without tests, files and
// their median, and exported names and examples by package, and it lists the
// exported names that nobody uses.
//
//	go run ./internal/surface            # the table
//	go run ./internal/surface -unused    # also the names without a caller
//	go run ./internal/surface -check     # fails if something is beyond what the house allows
//
// A name is a package-level name or a method of an exported type, of a package that
// others can import. Fields of structs and methods of interfaces are counted apart. A
// name is used if another package mentions it, tests and benchmarks included, or if an
// example of godoc of its own package does; a type also if a value of it is seen there. A
// method is used too if it makes its type satisfy an interface, and a constant of an
// enumeration if another one of it is used. Names that stay without a caller stand in
// exceptions.txt, each with a reason.
//
// The check fails if a name has no caller, if a package has no example, and if a limit of
// the house is exceeded.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// limits of the house. The check fails beyond them.
const (
	maxLines  = 60000
	maxNames  = 600
	minMedian = 200
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
	check := flags.Bool("check", false, "exit with 1 if a name has no caller, a package has no example or a limit is exceeded")
	exceptions := flags.String("exceptions", "internal/surface/exceptions.txt", "`file` of names that may have no caller, inside the repository")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	fail := func(err error) int {
		fmt.Fprintln(stderr, "surface:", err)
		return 1
	}

	packages, err := load(*dir)
	if err != nil {
		return fail(err)
	}
	names, err := exportedNames(packages)
	if err != nil {
		return fail(err)
	}
	excepted, err := readExceptions(*dir, *exceptions)
	if err != nil {
		return fail(err)
	}
	files, err := goFiles(*dir)
	if err != nil {
		return fail(err)
	}
	sum := summarize(files, names, countExamples(packages))
	if *listNames {
		for _, n := range names {
			fmt.Fprintf(stdout, "%s\t%s\t%s\n", n, n.kind, n.use)
		}
		return 0
	}
	sum.print(stdout)

	problems := excepted.apply(names)
	callerless := 0
	for _, n := range names {
		if *listUnused && n.kind != "field" && n.use == byTest {
			fmt.Fprintln(stdout, "only tests call:", n)
		}
		if n.kind == "field" || n.use != unused || n.excepted {
			continue
		}
		callerless++
		if *listUnused || *check {
			fmt.Fprintln(stdout, "no caller:", n)
		}
	}
	if !*check {
		return 0
	}
	if callerless > 0 {
		problems = append(problems, fmt.Sprintf("%d exported names have no caller outside their package and no example", callerless))
	}
	problems = append(problems, sum.withoutExample()...)
	problems = append(problems, sum.beyondLimits()...)
	if len(problems) > 0 {
		return fail(fmt.Errorf("%s", strings.Join(problems, "\n")))
	}
	return 0
}
