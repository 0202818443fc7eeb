package slicing

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// flang is the command of the compiler for Fortran.
const flang = "flang-new-16"

// public are the names of a program that others use: the main program, and what addresses in it mean to MPI.
var public = []string{"main", "_QQmain", "_QQEnvironmentDefaults", "mpipriv1_", "mpipriv2_", "mpiprivc_",
	"mpifcmb5_", "mpifcmb9_"}

func isFortran(source string) bool {
	return slices.Contains([]string{".f", ".F", ".for", ".f90", ".F90"}, filepath.Ext(source))
}

// prepareFortran finds what programs in Fortran are compiled and linked with, if there are any.
func (b *builder) prepareFortran() error {
	inFortran := func(c Compilation) bool { return isFortran(c.Source) }
	if !slices.ContainsFunc(b.Sources, isFortran) && !slices.ContainsFunc(b.Commands, inFortran) &&
		!b.hasFortran || b.fortranLibraries != nil {
		return nil
	}
	command, err := exec.LookPath(flang)
	if err != nil {
		return fmt.Errorf(
			"%s is missing: slicing programs in Fortran takes the Debian packages flang-16 and libflang-16-dev", flang)
	}
	if command, err = filepath.EvalSymlinks(command); err != nil {
		return err
	}
	b.fortranTools = filepath.Dir(command)
	name := strings.Replace(b.mpicc, "mpicc", "mpifort", 1)
	shown, err := exec.CommandContext(b.ctx, name, "-show").Output()
	if err != nil {
		return fmt.Errorf("%s -show: %w", name, err)
	}
	if !strings.Contains(string(shown), "mpich") {
		return errors.New("programs in Fortran can be sliced with MPICH only: --mpicc mpicc.mpich")
	}
	for _, word := range strings.Fields(string(shown)) {
		switch {
		case strings.HasPrefix(word, "-I"):
			b.fortranIncludes = append(b.fortranIncludes, word)
		case strings.HasPrefix(word, "-l") && strings.Contains(word, "fort"):
			b.fortranLibraries = append(b.fortranLibraries, word)
		}
	}
	b.fortranLibraries = append(b.fortranLibraries, "-L"+filepath.Join(filepath.Dir(b.fortranTools), "lib"),
		"-lFortran_main",
		"-lFortranRuntime", "-lFortranDecimal", "-lstdc++", "-lm")
	// The module of the MPI is for the compiler that the MPI was built by.
	module := b.file("mpi.f90")
	if err := os.WriteFile(module, []byte("module mpi\n  include 'mpif.h'\nend module\n"), 0o600); err != nil {
		return err
	}
	return b.compileFortran(Compilation{Source: module}, b.file("mpi.ll"))
}

// compileFortran compiles a source in Fortran to text of LLVM, with the lines in it: Flang's own driver
// leaves them out.
func (b *builder) compileFortran(c Compilation, output string) error {
	tree, lines := output+".mlir", output+".lines.mlir"
	flags, modules := fortranFlags(c.Flags)
	if modules = cmp.Or(modules, b.modules); modules == "" || c.Source == b.file("mpi.f90") {
		modules = b.directory
	}
	err := b.runIn(c.Directory, "compiling "+c.Source, flang,
		slices.Concat([]string{"-fc1", "-emit-mlir", "-mmlir", "--mlir-print-debuginfo"}, flags,
			[]string{"-module-dir", modules, "-I" + modules, "-I" + b.directory}, b.fortranIncludes,
			[]string{"-o", tree, c.Source})...)
	if err != nil {
		return cmp.Or(usesF08(filepath.Join(c.Directory, c.Source)), err)
	}
	if err := b.run("compiling "+c.Source, filepath.Join(b.fortranTools, "fir-opt"),
		"--external-name-interop", "--add-debug-foundation",
		"--mlir-print-debuginfo", "-o", lines, tree); err != nil {
		return err
	}
	text, err := os.ReadFile(lines)
	if err != nil {
		return err
	}
	if err := os.WriteFile(lines, commonZero.ReplaceAll(placeConditions(text), []byte("${1}linkonce $2")),
		0o600); err != nil {
		return err
	}
	if err := b.run("compiling "+c.Source, filepath.Join(b.fortranTools, "tco"), "-o", output, lines); err != nil {
		return err
	}
	if text, err = os.ReadFile(output); err != nil {
		return err
	}
	return os.WriteFile(output, commonUndefined.ReplaceAll(text, []byte("${1}common$2 zeroinitializer")), 0o600)
}

var f08 = regexp.MustCompile(`(?i)^\s*use\b[\s,:_a-z]*\bmpi_f08\b`)

// usesF08 returns an error if a source uses the module mpi_f08.
func usesF08(source string) error {
	text, err := os.ReadFile(source)
	if err != nil {
		return nil
	}
	for n, line := range bytes.Split(text, []byte("\n")) {
		if f08.Match(line) {
			return fmt.Errorf(
				"%s:%d: use mpi_f08 is not supported: %s cannot read the module of the MPI, which is compiled by another compiler; use mpi can be sliced", source, n+1, flang)
		}
	}
	return nil
}

// fortranFlags returns the flags that Flang takes, of those for GNU's compiler, and the directory for
// modules. Warnings, tuning and the length of lines in free form are left out.
func fortranFlags(flags []string) (kept []string, modules string) {
	for i := 0; i < len(flags); i++ {
		switch flag := flags[i]; {
		case (flag == "-J" || flag == "-module-dir") && i+1 < len(flags):
			i++
			modules = flags[i]
		case strings.HasPrefix(flag, "-J"):
			modules = flag[len("-J"):]
		case flag == "-ffixed-line-length-none":
			kept = append(kept, "-ffixed-line-length=0")
		case strings.HasPrefix(flag, "-ffixed-line-length-"):
			kept = append(kept, "-ffixed-line-length="+flag[len("-ffixed-line-length-"):])
		case strings.HasPrefix(flag, "-W"), strings.HasPrefix(flag, "-m"),
			strings.HasPrefix(flag, "-ffree-line-length-"),
			flag == "-fPIC", flag == "-fPIE", flag == "-pipe", flag == "-w", flag == "-fallow-argument-mismatch":
		default:
			kept = append(kept, flag)
		}
	}
	return kept, modules
}

// Common blocks as fir-opt writes them, with a zero for each byte, of which tco makes a constant each, and as
// tco writes them if there is nothing in them.
var (
	commonZero      = regexp.MustCompile(`(?m)^(\s*fir\.global )common (@\S+)\(dense<0> : vector<\d+xi8>\)`)
	commonUndefined = regexp.MustCompile(`(?m)^(@\S+ = )linkonce( global \[\d+ x i8\]) undef`)
)
