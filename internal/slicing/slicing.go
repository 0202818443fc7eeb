// Package slicing builds sliced MPI programs: it compiles sources to text of LLVM, slices it, and links what
// is left with a library that stands in for MPI.
package slicing

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/internal/atomicfile"
	"github.com/reprise-trace/reprise/internal/group"
	"github.com/reprise-trace/reprise/internal/header"
	"github.com/reprise-trace/reprise/mpi/slice"
)

// The commands of LLVM.
const (
	clang    = "clang-16"
	opt      = "opt-16"
	llvmLink = "llvm-link-16"
)

// Missing returns an error that names the commands that are not there, nil if all are.
func Missing() error {
	var missing []string
	for _, command := range []string{clang, opt, llvmLink} {
		if _, err := exec.LookPath(command); err != nil {
			missing = append(missing, command)
		}
	}
	if missing == nil {
		return nil
	}
	return fmt.Errorf("%s missing: slicing takes LLVM 16, of the packages clang-16 and llvm-16 of Debian",
		strings.Join(missing, ", "))
}

// A Program is what to slice.
type Program struct {
	MPICC      string        // the compiler command of the MPI; empty means $MPICC, or mpicc
	Sources    []string      // in C, C++ and Fortran
	Compiler   []string      // flags of all of them
	Commands   []Compilation // sources with flags of their own
	Modules    []string      // files with text of LLVM: sources that are compiled
	Linker     []string      // flags, objects and libraries
	Output     string        // the program; the library that stands in for MPI is beside it, with .so behind
	Whole      bool          // leave nothing out
	ExecuteAll bool          // execute all operations
	Warnings   io.Writer     // of what is an error to this compiler alone; nil for nowhere

	Assume         []slice.Assumption
	AssumeNoErrors bool               // no condition leads to an error
	KeepErrors     bool               // nothing is assumed of errors, not even of those that calls of MPI do not need
	Assumed        []slice.Assumption // what Build assumes
}

// Build builds the program.
func (p *Program) Build(ctx context.Context) (*slice.Slice, error) {
	b, err := newBuilder(ctx, p)
	if err != nil {
		return nil, err
	}
	defer b.remove()
	return b.build()
}

func (b *builder) build() (*slice.Slice, error) {
	text, err := b.module()
	if err != nil {
		return nil, err
	}
	options, err := b.wildcards()
	if err != nil {
		return nil, err
	}
	list, err := b.slice(text, options)
	if err != nil {
		return nil, err
	}
	return list, b.finish()
}

// finish makes the program and its library, or leaves what was there before.
func (b *builder) finish() error {
	program, library := b.file("program"), b.file("library.so")
	if err := b.library(library, filepath.Base(b.Output)+".so"); err != nil {
		return err
	}
	if err := b.link(library, program); err != nil {
		return err
	}
	outputs := []string{b.Output + ".so", b.Output}
	atomicfile.RemoveLeftovers(outputs...)
	var files []*atomicfile.File
	for i, made := range []string{library, program} {
		f, err := copied(outputs[i], made)
		if err != nil {
			return err
		}
		defer f.Abandon()
		files = append(files, f)
	}
	return atomicfile.Commit(files...)
}

// copied begins a program that is to be at a path, with what is in a file.
func copied(path, from string) (*atomicfile.File, error) {
	in, err := os.Open(from)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f, err := atomicfile.CreateProgram(path)
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(f, in); err != nil {
		f.Abandon()
		return nil, err
	}
	return f, nil
}

// check returns an error if the program would be in the place of what it is made of, or has no place.
func (p *Program) check() error {
	inputs := slices.Concat(p.Sources, p.Modules, p.Linker)
	for _, c := range p.Commands {
		source := c.Source
		if !filepath.IsAbs(source) {
			source = filepath.Join(c.Directory, source)
		}
		inputs = append(inputs, source)
	}
	if err := p.overwrites(inputs); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Dir(p.Output)); err != nil {
		return fmt.Errorf("%s: no directory to write the program to: %w", p.Output, err)
	}
	return nil
}

// overwrites returns an error if the program would be in the place of one of what it is made of.
func (p *Program) overwrites(inputs []string) error {
	for _, output := range []string{p.Output, p.Output + ".so"} {
		there, err := os.Stat(output)
		if err != nil {
			continue
		}
		for _, input := range inputs {
			if in, err := os.Stat(input); err == nil && os.SameFile(there, in) {
				return fmt.Errorf(
					"%s: the program would be written over what it is made of: choose another output", output)
			}
		}
	}
	return nil
}

// A builder builds a program in a directory.
type builder struct {
	*Program
	ctx       context.Context
	directory string
	remove    func() // the directory
	mpicc     string

	fortranIncludes, fortranLibraries []string
	fortranTools                      string         // directory
	hasFortran, hasCPlusPlus          bool           // a module is in Fortran, or in C++
	object                            bool           // it is for an object
	ownAllocators                     bool           // as of slice.Options
	known                             *slice.Options // of the MPI, nil if not asked for yet
	modules                           string         // directory of modules of Fortran, empty for that of the builder
}

func newBuilder(ctx context.Context, p *Program) (*builder, error) {
	if err := cmp.Or(p.check(), Missing(), p.checkCompiler()); err != nil {
		return nil, err
	}
	directory, remove, err := atomicfile.TemporaryDirectory("reprise-slice-")
	if err != nil {
		return nil, err
	}
	return &builder{Program: p, ctx: ctx, directory: directory, remove: remove, mpicc: p.compiler()}, nil
}

// compiler returns the compiler command of the MPI. What make exports as $MPICC may be this program, which is
// no compiler of MPI.
func (p *Program) compiler() string {
	named := os.Getenv("MPICC")
	if isItself(named) {
		named = ""
	}
	return cmp.Or(p.MPICC, named, "mpicc")
}

// checkCompiler returns an error if the compiler command of the MPI is this program.
func (p *Program) checkCompiler() error {
	if command := p.compiler(); isItself(command) {
		return fmt.Errorf("%s is this command, not the compiler of the MPI: name that with --mpicc", command)
	}
	return nil
}

// isItself reports whether a command runs this program.
func isItself(command string) bool {
	words := strings.Fields(command)
	if len(words) == 0 {
		return false
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return false
	}
	self, err := os.Executable()
	if err != nil {
		return false
	}
	one, err := os.Stat(path)
	two, err2 := os.Stat(self)
	return err == nil && err2 == nil && os.SameFile(one, two)
}

// file returns the path of a file in the directory.
func (b *builder) file(name string) string { return filepath.Join(b.directory, name) }

// run runs a command.
func (b *builder) run(what, command string, args ...string) error {
	return b.runIn("", what, command, args...)
}

// runIn runs a command in a directory. Compiler commands of MPI take the compiler from the environment.
func (b *builder) runIn(directory, what, command string, args ...string) error {
	_, err := b.outputIn(directory, what, command, args...)
	return err
}

// output runs a command and returns what it prints.
func (b *builder) output(what, command string, args ...string) ([]byte, error) {
	return b.outputIn("", what, command, args...)
}

func (b *builder) outputIn(directory, what, command string, args ...string) ([]byte, error) {
	said, _, err := b.start(directory, what, command, args...)
	return said, err
}

// saidIn runs a command in a directory, and returns what it says besides what it prints.
func (b *builder) saidIn(directory, what, command string, args ...string) ([]byte, error) {
	_, message, err := b.start(directory, what, command, args...)
	return message, err
}

func (b *builder) start(directory, what, command string, args ...string) (printed, said []byte, err error) {
	c := group.Command(b.ctx, command, args...)
	c.Dir = directory
	c.Env = b.environment()
	var output, message bytes.Buffer
	c.Stdout, c.Stderr = &output, &message
	if err := c.Run(); err != nil {
		if message.Len() == 0 {
			message = output
		}
		return nil, nil, fmt.Errorf("%s: %s: %w\n%s", what, command, cmp.Or(b.ctx.Err(), err),
			bytes.TrimSpace(message.Bytes()))
	}
	return output.Bytes(), message.Bytes(), nil
}

func (b *builder) environment() []string {
	return append(os.Environ(), "OMPI_CC="+clang, "MPICH_CC="+clang, "I_MPI_CC="+clang)
}

// compileAll compiles all sources, and returns the files with the text of LLVM. Those in Fortran that do not
// compile are tried again when there are the modules of the others.
func (b *builder) compileAll() (parts []string, err error) {
	var all []Compilation
	for _, source := range b.Sources {
		all = append(all, Compilation{Source: source, Flags: b.Compiler})
	}
	all = append(all, b.Commands...)
	parts = make([]string, len(all))
	for left := len(all); left > 0; {
		before, first := left, error(nil)
		for k, c := range all {
			if parts[k] != "" {
				continue
			}
			part := b.file(fmt.Sprint(k, ".ll"))
			err := b.compile(c, part)
			switch {
			case err == nil:
				parts[k], left = part, left-1
			case !isFortran(c.Source) || b.ctx.Err() != nil:
				return nil, err
			default:
				first = cmp.Or(first, err)
			}
		}
		if left == before {
			return nil, first
		}
	}
	return parts, nil
}

// compile compiles a source to text of LLVM, with the lines in it.
func (b *builder) compile(c Compilation, output string) error {
	if isFortran(c.Source) {
		return b.compileFortran(c, output)
	}
	// the names of values say which way a condition leads, and what is kept
	c.Flags = append(slices.Clone(c.Flags), "-fno-discard-value-names")
	if isCPlusPlus(c.Source) {
		c.Flags = append([]string{"-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX",
			"-fno-threadsafe-statics"}, c.Flags...)
	}
	return b.compileC(c, output)
}

// lenient are the flags for what is an error to clang and a warning to GCC 12, and to other versions of
// clang: that is said, and nothing else.
var lenient = []string{"-Wno-everything", "-Wno-error", "-Wimplicit-function-declaration",
	"-Wno-error=implicit-function-declaration", "-Wimplicit-int", "-Wno-error=implicit-int",
	"-Wint-conversion", "-Wno-error=int-conversion", "-Wincompatible-function-pointer-types",
	"-Wno-error=incompatible-function-pointer-types"}

func (b *builder) compileC(c Compilation, output string) error {
	args := slices.Concat(c.Flags, []string{
		"-O0", "-Xclang", "-disable-O0-optnone", "-gline-tables-only", "-fdebug-compilation-dir=.", "-S",
		"-emit-llvm", "-Qunused-arguments", "-o", output, c.Source,
	})
	if !isCPlusPlus(c.Source) {
		args = append(args, lenient...)
	}
	said, err := b.saidIn(c.Directory, "compiling "+c.Source, b.mpicc, args...)
	if err == nil && b.Warnings != nil {
		_, err = b.Warnings.Write(said)
	}
	return err
}

// slice writes the slice of a module.
func (b *builder) slice(text []byte, options slice.Options) (*slice.Slice, error) {
	module, err := slice.Read(text)
	if err != nil {
		return nil, err
	}
	options.ExecuteAll, options.OwnAllocators = b.ExecuteAll, b.ownAllocators
	list, err := slice.Cut(module, options)
	if err != nil {
		return nil, err
	}
	sliced, err := list.AppendText(nil)
	if err != nil {
		return nil, err
	}
	if b.Whole {
		sliced = module.AppendWhole(nil)
	}
	if err := os.WriteFile(b.file("slice.ll"), sliced, 0o600); err != nil {
		return nil, err
	}
	if err := b.run("checking the slice", opt, "-passes=verify", "-disable-output", b.file("slice.ll")); err != nil {
		return nil, err
	}
	return list, nil
}

var wildcard = regexp.MustCompile(`@any_(source|tag) = .*i32 (-?\d+)`)

// wildcards returns the values of MPI_ANY_SOURCE and MPI_ANY_TAG.
func (b *builder) wildcards() (o slice.Options, err error) {
	if b.known != nil {
		return *b.known, nil
	}
	source, output := b.file("wildcards.c"), b.file("wildcards.ll")
	text := "#include <mpi.h>\nint any_source = MPI_ANY_SOURCE, any_tag = MPI_ANY_TAG;\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		return o, err
	}
	if err := b.compileC(Compilation{Source: source}, output); err != nil { // flags may be for Fortran
		return o, err
	}
	compiled, err := os.ReadFile(output)
	if err != nil {
		return o, err
	}
	found := wildcard.FindAllSubmatch(compiled, -1)
	for _, f := range found {
		n, _ := strconv.ParseInt(string(f[2]), 10, 64)
		if string(f[1]) == "tag" {
			o.AnyTag = n
		} else {
			o.AnySource = n
		}
	}
	o.Wildcards = len(found) == 2
	b.known = &o
	return o, nil
}

// library makes the library that stands in for MPI, which the program knows by a name.
func (b *builder) library(output, name string) error {
	h, err := header.Read(b.ctx, b.mpicc)
	if err != nil {
		return err
	}
	text, err := source(h, b.Assumed)
	if err != nil {
		return err
	}
	if err := os.WriteFile(b.file("standin.c"), text, 0o600); err != nil {
		return err
	}
	return b.run("building the library that stands in for MPI", b.mpicc, "-shared", "-fPIC", "-O1", "-w",
		"-Wl,-soname,"+name,
		"-o", output, b.file("standin.c"), "-ldl")
}

// link makes the program of the slice in the directory.
func (b *builder) link(library, output string) error {
	if err := b.run("compiling the slice", clang, "-O0", "-c", "-w", "-o", b.file("slice.o"),
		b.file("slice.ll")); err != nil {
		return err
	}
	var libraries []string
	if b.hasCPlusPlus {
		libraries = []string{"-lstdc++", "-lm"}
	}
	said, err := b.output("linking the slice", b.mpicc,
		slices.Concat([]string{"-o", output, b.file("slice.o"), "-Wl,-t,-t,--no-as-needed", library,
			"-Wl,-rpath,$ORIGIN"}, b.fortranLibraries, b.Linker, libraries)...)
	if err != nil {
		return cmp.Or(missingFunctions(err), err)
	}
	return b.checkLinked(said)
}

var undefined = regexp.MustCompile("undefined reference to [`']([^'\n]+)'")

// missingFunctions returns an error that names what a linker does not find, nil if that is nothing.
func missingFunctions(err error) error {
	var names []string
	for _, found := range undefined.FindAllStringSubmatch(err.Error(), -1) {
		if !slices.Contains(names, found[1]) {
			names = append(names, found[1])
		}
	}
	if names == nil {
		return nil
	}
	return fmt.Errorf("none of the sources, objects and libraries has %s: all of the program must be given",
		strings.Join(names, ", "))
}
