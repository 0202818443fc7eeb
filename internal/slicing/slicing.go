// Package slicing builds sliced MPI programs: it compiles sources to text of LLVM, slices it, and links what
// is left with a library that stands in for MPI.
package slicing

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/fact"
	"github.com/reprise-trace/reprise/internal/header"
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
	return fmt.Errorf("%s missing: slicing takes LLVM 16, of the packages clang-16 and llvm-16 of Debian", strings.Join(missing, ", "))
}

// A Program is what to slice.
type Program struct {
	MPICC      string   // the compiler command of the MPI; empty means mpicc
	Sources    []string // in C and Fortran
	Compiler   []string // flags
	Linker     []string // flags, objects and libraries
	Output     string   // the program; the library that stands in for MPI is beside it, with .so behind
	Whole      bool     // leave nothing out
	ExecuteAll bool     // execute all operations

	Assume         []fact.Assumption
	AssumeNoErrors bool              // no condition leads to an end of the program with an error
	Assumed        []fact.Assumption // what Build assumes for both
}

// Arguments sorts the arguments of a compiler command into sources and flags.
func (p *Program) Arguments(args []string) error {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "-o" || arg == "-c" || arg == "-S" || arg == "-E":
			return fmt.Errorf("%s is no argument for slicing: the arguments are sources, and flags of the compiler and the linker", arg)
		case slices.Contains([]string{"-I", "-D", "-U", "-include", "-isystem", "-x"}, arg) && i+1 < len(args):
			i++
			p.Compiler = append(p.Compiler, arg, args[i])
		case slices.Contains([]string{"-L", "-l"}, arg) && i+1 < len(args):
			i++
			p.Linker = append(p.Linker, arg+args[i])
		case strings.HasPrefix(arg, "-l") || strings.HasPrefix(arg, "-L") || strings.HasPrefix(arg, "-Wl,"):
			p.Linker = append(p.Linker, arg)
		case arg == "-fopenmp" || arg == "-pthread":
			return fmt.Errorf("%s: threads are not supported", arg)
		case strings.HasPrefix(arg, "-O") || strings.HasPrefix(arg, "-g"):
		case strings.HasPrefix(arg, "-"):
			p.Compiler = append(p.Compiler, arg)
		default:
			switch filepath.Ext(arg) {
			case ".c", ".f", ".F", ".for", ".f90", ".F90":
				p.Sources = append(p.Sources, arg)
			case ".o", ".a", ".so":
				p.Linker = append(p.Linker, arg)
			default:
				return fmt.Errorf("%s is neither a source in C or Fortran nor an object or a library", arg)
			}
		}
	}
	if len(p.Sources) == 0 {
		return errors.New("there is no source to slice")
	}
	return nil
}

// Build builds the program.
func (p *Program) Build(ctx context.Context) (*fact.Slice, error) {
	if err := Missing(); err != nil {
		return nil, err
	}
	directory, err := os.MkdirTemp("", "reprise-slice-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(directory)
	b := builder{Program: p, ctx: ctx, directory: directory, mpicc: cmp.Or(p.MPICC, "mpicc")}
	text, err := b.module()
	if err != nil {
		return nil, err
	}
	options, err := b.wildcards()
	if err != nil {
		return nil, err
	}
	slice, err := b.slice(text, options)
	if err != nil {
		return nil, err
	}
	if err := b.library(b.Output + ".so"); err != nil {
		return nil, err
	}
	return slice, b.link(b.Output + ".so")
}

// A builder builds a program in a directory.
type builder struct {
	*Program
	ctx       context.Context
	directory string
	mpicc     string

	fortranIncludes, fortranLibraries []string
	fortranTools                      string // directory
}

// file returns the path of a file in the directory.
func (b *builder) file(name string) string { return filepath.Join(b.directory, name) }

// run runs a command. Compiler commands of MPI take the compiler from the environment.
func (b *builder) run(what, command string, args ...string) error {
	c := exec.CommandContext(b.ctx, command, args...)
	c.Env = append(os.Environ(), "OMPI_CC="+clang, "MPICH_CC="+clang, "I_MPI_CC="+clang)
	if message, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %s: %w\n%s", what, command, err, bytes.TrimSpace(message))
	}
	return nil
}

// module compiles the sources and returns the text of all of them in one module.
func (b *builder) module() ([]byte, error) {
	if err := b.prepareFortran(); err != nil {
		return nil, err
	}
	var parts []string
	for k, source := range b.Sources {
		part := b.file(fmt.Sprint(k, ".ll"))
		compile := b.compile
		if isFortran(source) {
			compile = b.compileFortran
		}
		if err := compile(source, part); err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	linked, module := b.file("linked.ll"), b.file("module.ll")
	if err := b.run("linking the sources", llvmLink, slices.Concat([]string{"-S", "-o", linked}, parts)...); err != nil {
		return nil, err
	}
	if err := b.assume(linked); err != nil {
		return nil, err
	}
	if err := b.run("preparing the module", opt, "-S", "-internalize-public-api-list="+strings.Join(public, ","),
		"-passes=internalize,globaldce,function(sroa,mem2reg,sccp,simplifycfg,instnamer)", "-o", module, linked); err != nil {
		return nil, err
	}
	return os.ReadFile(module)
}

// assumes reports whether something may be assumed.
func (b *builder) assumes() bool { return b.Assume != nil || b.AssumeNoErrors }

// assume writes into a module what is assumed.
func (b *builder) assume(path string) error {
	if !b.assumes() {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if text, b.Assumed, err = fact.Assume(text, b.Assume, b.AssumeNoErrors); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// compile compiles a source to text of LLVM, with the lines in it.
func (b *builder) compile(source, output string) error {
	flags := b.Compiler
	if b.assumes() {
		flags = append(slices.Clone(flags), "-fno-discard-value-names") // they say which way a condition leads
	}
	return b.compileWith(flags, source, output)
}

func (b *builder) compileWith(flags []string, source, output string) error {
	return b.run("compiling "+source, b.mpicc, slices.Concat(flags, []string{
		"-O0", "-Xclang", "-disable-O0-optnone", "-gline-tables-only", "-fdebug-compilation-dir=.", "-S", "-emit-llvm", "-Qunused-arguments", "-o", output, source,
	})...)
}

// slice writes the slice of a module.
func (b *builder) slice(text []byte, options fact.Options) (*fact.Slice, error) {
	module, err := fact.Read(text)
	if err != nil {
		return nil, err
	}
	options.ExecuteAll = b.ExecuteAll
	slice, err := fact.Cut(module, options)
	if err != nil {
		return nil, err
	}
	sliced, err := slice.AppendText(nil)
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
	return slice, nil
}

var wildcard = regexp.MustCompile(`@any_(source|tag) = .*i32 (-?\d+)`)

// wildcards returns the values of MPI_ANY_SOURCE and MPI_ANY_TAG.
func (b *builder) wildcards() (o fact.Options, err error) {
	source, output := b.file("wildcards.c"), b.file("wildcards.ll")
	text := "#include <mpi.h>\nint any_source = MPI_ANY_SOURCE, any_tag = MPI_ANY_TAG;\n"
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		return o, err
	}
	if err := b.compileWith(nil, source, output); err != nil { // flags may be for Fortran
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
	return o, nil
}

// library makes the library that stands in for MPI.
func (b *builder) library(output string) error {
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
	return b.run("building the library that stands in for MPI", b.mpicc, "-shared", "-fPIC", "-O1", "-w", "-Wl,-soname,"+filepath.Base(output),
		"-o", output, b.file("standin.c"), "-ldl")
}

// link makes the program of the slice in the directory.
func (b *builder) link(library string) error {
	if err := b.run("compiling the slice", clang, "-O0", "-c", "-w", "-o", b.file("slice.o"), b.file("slice.ll")); err != nil {
		return err
	}
	return b.run("linking the slice", b.mpicc, slices.Concat([]string{"-o", b.Output, b.file("slice.o"), "-Wl,--no-as-needed", library,
		"-Wl,-rpath,$ORIGIN"}, b.fortranLibraries, b.Linker)...)
}
