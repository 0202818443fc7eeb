package slicing

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/mpi/slice"
)

// moduleSection is the section of an object that has the text of LLVM that it was made of.
const moduleSection = ".reprise.llvm"

// AsCompiler does what a command line of a compiler asks for, and returns the slice if it links a program.
// Objects that it makes have the text of LLVM that they are made of in them, and so it slices what it links:
// of objects and of archives. What neither compiles nor links is passed on.
func (p *Program) AsCompiler(ctx context.Context, args []string, stdout, stderr io.Writer) (*slice.Slice, error) {
	if slices.ContainsFunc(args, func(arg string) bool {
		return slices.Contains([]string{"-E", "-S", "-M", "-MM"}, arg)
	}) ||
		!slices.ContainsFunc(args, isInput) {
		return nil, p.passOn(ctx, args, stdout, stderr)
	}
	if k := slices.Index(args, "-o"); k >= 0 && k+1 < len(args) {
		p.Output = args[k+1]
	}
	if slices.Contains(args, "-c") {
		return nil, p.compileObjects(ctx, args)
	}
	b, err := newBuilder(ctx, p)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(b.directory)
	args = withoutOutput(args)
	if err := p.overwrites(args); err != nil {
		return nil, err
	}
	if args, err = b.takeModules(args); err != nil {
		return nil, err
	}
	if err := p.Arguments(args); err != nil {
		return nil, err
	}
	p.Output = cmp.Or(p.Output, "a.out")
	return b.build()
}

// isInput reports whether an argument is a file to compile or to link.
func isInput(arg string) bool {
	return !strings.HasPrefix(arg, "-") && (slices.Contains([]string{".o", ".a"}, filepath.Ext(arg)) || isSource(arg))
}

// passOn runs the compiler.
func (p *Program) passOn(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if err := p.checkCompiler(); err != nil {
		return err
	}
	b := &builder{Program: p}
	c := exec.CommandContext(ctx, p.compiler(), args...)
	c.Env, c.Stdout, c.Stderr = b.environment(), stdout, stderr
	return c.Run()
}

// compileObjects makes objects of sources, with their text of LLVM.
func (p *Program) compileObjects(ctx context.Context, args []string) error {
	if err := p.Arguments(withoutOutput(args)); err != nil {
		return err
	}
	if p.Output != "" && len(p.Sources) > 1 {
		return errors.New("-o names one object, and there are several sources")
	}
	b, err := newBuilder(ctx, p)
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.directory)
	b.modules, b.object = ".", true
	if err := b.prepareFortran(); err != nil {
		return err
	}
	for k, source := range p.Sources {
		name := strings.TrimSuffix(filepath.Base(source), filepath.Ext(source))
		output, text, object := cmp.Or(p.Output, name+".o"), b.file(fmt.Sprint(k, ".ll")), b.file(fmt.Sprint(k, ".o"))
		if err := b.compile(Compilation{Source: source, Flags: p.Compiler}, text); err != nil {
			return err
		}
		if err := p.writeDependences(ctx, args, source, output); err != nil {
			return err
		}
		if err := b.run("compiling "+source, clang, "-O0", "-c", "-w", "-o", object, text); err != nil {
			return err
		}
		if err := b.run("compiling "+source, "objcopy", "--add-section", moduleSection+"="+text, object,
			output); err != nil {
			return err
		}
	}
	return nil
}

// writeDependences writes the file of dependences that make reads, if a source is in C and the arguments ask
// for it.
func (p *Program) writeDependences(ctx context.Context, args []string, source, object string) error {
	wanted := slices.ContainsFunc(args, func(arg string) bool { return arg == "-MD" || arg == "-MMD" })
	if !wanted || isFortran(source) {
		return nil
	}
	flags := []string{"-MM", "-MT", object, "-MF", strings.TrimSuffix(object, filepath.Ext(object)) + ".d"}
	for i, arg := range args {
		if arg == "-MP" {
			flags = append(flags, arg)
		} else if slices.Contains([]string{"-MT", "-MF", "-MQ"}, arg) && i+1 < len(args) {
			flags = append(flags, arg, args[i+1])
		}
	}
	var message bytes.Buffer
	if err := p.passOn(ctx, slices.Concat(p.Compiler, flags, []string{source}), &message, &message); err != nil {
		return fmt.Errorf("%w\n%s", err, &message)
	}
	return nil
}

// takeModules writes the text of LLVM in objects and archives into files, and returns the other arguments.
func (b *builder) takeModules(args []string) (rest []string, err error) {
	var directories []string
	for k, arg := range args {
		switch {
		case arg == "-L" && k+1 < len(args):
			directories = append(directories, args[k+1])
		case strings.HasPrefix(arg, "-L"):
			directories = append(directories, arg[len("-L"):])
		}
	}
	for _, arg := range args {
		path := arg
		if strings.HasPrefix(arg, "-l") {
			path = ""
			for _, directory := range directories {
				if at := filepath.Join(directory, "lib"+arg[len("-l"):]+".a"); path == "" && exists(at) {
					path = at
				}
			}
		}
		var found int
		switch filepath.Ext(path) {
		case ".o":
			found, err = b.takeObject(path)
		case ".a":
			found, err = b.takeArchive(path)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if found == 0 {
			rest = append(rest, arg)
		}
	}
	return rest, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// takeObject takes the module of an object, and returns how many there are.
func (b *builder) takeObject(path string) (int, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return b.takeModule(data)
}

// takeModule takes the module of an object that is read.
func (b *builder) takeModule(object []byte) (int, error) {
	file, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		return 0, nil // the linker says what it is
	}
	section := file.Section(moduleSection)
	if section == nil {
		return 0, nil
	}
	text, err := section.Data()
	if err != nil {
		return 0, err
	}
	b.hasFortran = b.hasFortran || bytes.Contains(text, []byte("@_FortranA")) ||
		bytes.Contains(text, []byte("producer: \"Flang\""))
	path := b.file(fmt.Sprint("object", len(b.Modules), ".ll"))
	b.Modules = append(b.Modules, path)
	return 1, os.WriteFile(path, text, 0o600)
}

// takeArchive takes the modules of the members of an archive, and returns how many there are. All of them
// must have one, or none.
func (b *builder) takeArchive(path string) (found int, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	members, err := readArchive(data)
	if err != nil {
		return 0, err
	}
	var without string
	for _, m := range members {
		n, err := b.takeModule(m.data)
		if err != nil {
			return 0, err
		}
		if found += n; n == 0 {
			without = m.name
		}
	}
	if found > 0 && without != "" {
		return 0, fmt.Errorf("%s is not compiled for slicing, and others of the archive are", without)
	}
	return found, nil
}
