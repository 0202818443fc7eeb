package interpose

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/atomicfile"
	"github.com/reprise-trace/reprise/internal/group"
	"github.com/reprise-trace/reprise/internal/header"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// The table: positions are the numbers in a spool.
var (
	functions = spec.Functions()
	constants = spec.Constants()
)

// An Interposer is a library to load into the processes of an MPI program with
// LD_PRELOAD.
type Interposer struct {
	Path string

	// MPI is the implementation and its version, as in "MPICH 4.0.2".
	MPI string

	// Functions is the number of functions of MPI that it records.
	Functions int
}

// Build returns the interposer for the MPI that a compiler command,
// such as "mpicc", belongs to. It builds it in cacheDir unless one built from the
// same sources and the same mpi.h is there already. If several processes do so at
// once, one of them builds it and the others wait.
//
// Nobody else may be able to change the library, and LD_PRELOAD must be able to name
// it: if cacheDir cannot be made or is not the user's, if others may write to it or rename it
// or a directory above, or if its path has a space, a colon or a dollar sign, the library is in
// a directory of the user's below that for temporary files, which must be safe in the same way.
// So the program is to use the Path. This is checked before each use.
//
// What the compiler command says is kept there as well, with the times and sizes of the files that it depends
// on: as long as they are the same, no compiler is run.
//
// Building takes some seconds to half a minute: where it has to, it calls building first, unless
// that is nil, with the name of the MPI.
func Build(ctx context.Context, mpicc, cacheDir string, building func(mpi string)) (*Interposer, error) {
	return cache{directory: cacheDir}.interposer(ctx, mpicc, building)
}

func (c cache) interposer(ctx context.Context, mpicc string, building func(mpi string)) (*Interposer, error) {
	made, err := remember(c, mpicc, "interposer", func() (product, []string, error) {
		p, _, files, err := c.product(ctx, mpicc)
		return p, files, err
	})
	if err != nil {
		return nil, err
	}
	path, err := buildOnce(ctx, c, made.Name, func() {
		if building != nil {
			building(made.MPI)
		}
	}, func(path string) error {
		_, source, _, err := c.product(ctx, mpicc)
		if err != nil {
			return err
		}
		return compile(ctx, compileCommand(mpicc), source, path)
	})
	if err != nil {
		return nil, err
	}
	return &Interposer{Path: path, MPI: made.MPI, Functions: made.Functions}, nil
}

// A product is an interposer in a cache.
type product struct {
	Name      string `json:"name"`
	MPI       string `json:"mpi"`
	Functions int    `json:"functions"`
}

// product returns the interposer of a compiler command, with its source, and the files that it depends on.
func (c cache) product(ctx context.Context, mpicc string) (product, []byte, []string, error) {
	h, err := c.header(ctx, mpicc)
	if err != nil {
		return product{}, nil, nil, err
	}
	source, library, err := interposerSource(h)
	if err != nil {
		return product{}, nil, nil, err
	}
	of := h.Files // whatever the name of the command: an MPI has several
	if len(of) == 0 {
		of = []string{mpicc}
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%q\n%q\n%q\n%x\n", of, compilerFlags, symbolVersions, h.Digest)
	hash.Write(source)
	name := fmt.Sprintf("libreprise-%x.so", hash.Sum(nil)[:8])
	return product{name, library.MPI, library.Functions}, source, h.Files, nil
}

func compileCommand(mpicc string) []string { return append([]string{mpicc}, compilerFlags...) }

// buildOnce returns the path of a file in a cache, or in another directory where that is not safe. Unless it
// is there, it waits until no other process builds there, and if it still is not there, calls begin and has
// build make it.
func buildOnce(ctx context.Context, c cache, name string, begin func(), build func(path string) error) (string, error) {
	directory, err := privateDirectory(c.directory)
	if err != nil {
		return "", err
	}
	path := filepath.Join(directory, name)
	if isPrivate(path, 0) {
		return path, nil
	}
	if c.kept {
		return "", errNotKept
	}
	unlock, err := lock(ctx, directory)
	if err != nil {
		return "", err
	}
	defer unlock()
	if isPrivate(path, 0) {
		return path, nil // another process has built it
	}
	removeUnfinished(directory)
	begin()
	return path, build(path)
}

// unfinished begins the names of files in a cache that are being made.
const unfinished = "building-"

// removeUnfinished removes what processes left in a cache that were interrupted while they built,
// as only one builds at a time. One that keeps what a compiler says may lose that, and asks again.
func removeUnfinished(directory string) {
	files, _ := os.ReadDir(directory)
	for _, f := range files {
		if strings.HasPrefix(f.Name(), unfinished) {
			os.Remove(filepath.Join(directory, f.Name()))
		}
	}
}

// compilerFlags build a library that exceptions of the program pass through.
var compilerFlags = []string{
	"-shared", "-fPIC", "-O1", "-std=gnu11", "-w", "-pthread", "-fexceptions", "-fvisibility=hidden",
	"-fno-builtin-malloc", "-fno-builtin-calloc", "-fno-builtin-realloc", "-fno-builtin-free",
	"-Wl,--as-needed",
}

// symbolVersions are those that symbols of the library may have: the first ones of the C library
// on different machines.
const symbolVersions = "GLIBC_2.2.5 {};\nGLIBC_2.17 {};\nGLIBC_2.27 {};\n"

func compile(ctx context.Context, command []string, source []byte, path string) error {
	versions, err := os.CreateTemp(filepath.Dir(path), unfinished+"versions-*")
	if err != nil {
		return fmt.Errorf("interpose: %w", err)
	}
	defer os.Remove(versions.Name())
	_, err = versions.WriteString(symbolVersions)
	if err = errors.Join(err, versions.Close()); err != nil {
		return fmt.Errorf("interpose: %w", err)
	}
	return compileTo(ctx, "the interposer", slices.Concat(command,
		[]string{"-Wl,--version-script=" + versions.Name()}), []string{"-ldl"}, source, path)
}

// compileTo compiles a source to a file, which is there when it is complete.
func compileTo(ctx context.Context, what string, command, libraries []string, source []byte, path string) error {
	output, err := os.CreateTemp(filepath.Dir(path), unfinished+"*")
	if err != nil {
		return fmt.Errorf("interpose: %w", err)
	}
	defer os.Remove(output.Name())
	output.Close()
	c := group.Command(ctx, command[0], slices.Concat(command[1:],
		[]string{"-o", output.Name(), "-x", "c", "-"}, libraries)...)
	c.Stdin = bytes.NewReader(source)
	if message, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("interpose: building %s: %s: %w\n%s", what, command[0], cmp.Or(ctx.Err(), err), message)
	}
	return install(output.Name(), path)
}

// interposerSource returns the source of the interposer for what an mpi.h
// declares, and what there is to say of it.
func interposerSource(h *header.Header) ([]byte, *Interposer, error) {
	var (
		library  = Interposer{MPI: h.Version}
		wrappers []wrapper
		named    []numbered
	)
	for _, declared := range h.Functions {
		number, ok := spec.Lookup(declared.Name)
		if !ok || fits(&functions[number], declared) != nil {
			continue // see Unrecorded
		}
		wrappers = append(wrappers, newWrapper(number, declared))
	}
	for number, c := range constants {
		if slices.Contains(h.Constants, header.Constant{Name: c.Name, Class: c.Class}) {
			named = append(named, numbered{number, c.Name})
		}
	}
	library.Functions = len(wrappers)
	if library.Functions == 0 {
		return nil, nil, errors.New("interpose: mpi.h declares no function of MPI")
	}
	var source bytes.Buffer
	err := sources.Execute(&source, map[string]any{
		"Fingerprint": spool.Fingerprint(),
		"Count":       len(functions),
		"Functions":   wrappers,
		"Control":     controlOf(wrappers),
		"Constants":   named,
		"Datatypes": slices.DeleteFunc(slices.Clone(named), func(c numbered) bool {
			return constants[c.Number].Class != "datatype"
		}),
	})
	return source.Bytes(), &library, err
}

// controlOf returns the wrapper of MPI_Pcontrol, which is recorded for annotations, too: nil if there is none.
func controlOf(wrappers []wrapper) *wrapper {
	i := slices.IndexFunc(wrappers, func(w wrapper) bool { return w.Name == "MPI_Pcontrol" })
	if i < 0 {
		return nil
	}
	return &wrappers[i]
}

// A numbered constant is one of the table.
type numbered struct {
	Number int
	Name   string
}

// fits returns nil if a function is declared with the parameters of its row of
// the table, and what is different otherwise.
func fits(f *spec.Function, declared header.Function) error {
	if (declared.Result == "double") != (f.Result.Kind == cst.KindFloat) {
		return fmt.Errorf("it returns %s", declared.Result)
	}
	params := f.Declared()
	if len(declared.Params) != len(params) {
		return fmt.Errorf("%d parameters instead of %d", len(declared.Params), len(params))
	}
	for i := range params {
		p, d := &params[i], declared.Params[i]
		if !paramFits(p, d) {
			return fmt.Errorf("%s is %s%s", p.Name, d.Type, d.Suffix)
		}
	}
	return nil
}

func paramFits(p *spec.Param, d header.Param) bool {
	base, stars := d.Base(), d.Indirections()
	if base == "void" {
		return stars == 1 && p.Type.Kind == cst.KindPointer
	}
	element := p.Element()
	if class := spec.ClassOf(base); class != "" || element.Kind == cst.KindHandle {
		if element.Class == "function" {
			return class == ""
		}
		return (stars == 0) == (p.Form == spec.ByValue) && (class == element.Class || class == "" && base == "int")
	}
	switch p.Form {
	case spec.ByValue:
		return stars == 0 || p.Type.Kind == cst.KindPointer
	case spec.Indirect:
		return stars == 1 && (base == "MPI_Status") == (element.Kind == cst.KindStatus) && base != "char"
	case spec.Array:
		return stars >= 1 && (base == "MPI_Status") == (element.Kind == cst.KindStatus) && base != "char"
	}
	return base == "char" && stars >= 1
}

// privateDirectory returns the directory to keep libraries in: the one that is
// wanted, which it makes if need be and if it can. Another user may neither own it nor write to it,
// and LD_PRELOAD must be able to name what is in it: otherwise it is one below the
// directory for temporary files.
func privateDirectory(wanted string) (string, error) {
	if err := os.MkdirAll(wanted, 0o700); err == nil {
		if path, err := absolute(wanted); err == nil && canPreload(path) && isPrivate(path, fs.ModeDir) &&
			isSafe(filepath.Dir(path)) {
			return path, nil
		}
	}
	temporary, err := absolute(os.TempDir())
	if err != nil {
		return "", temporaryError(err)
	}
	if !canPreload(temporary) {
		return "", fmt.Errorf(
			"interpose: the interposer can be neither in %q nor in %q (TMPDIR): LD_PRELOAD takes no path with a space, a colon or a dollar sign, and nobody else may write there", wanted, temporary)
	}
	if !isSafe(temporary) {
		return "", fmt.Errorf(
			"interpose: the interposer can be neither in %q nor in %q (TMPDIR): others may change files there, which would run as you. Set TMPDIR to a directory that only you can write to, in one of yours or of root", wanted, temporary)
	}
	path := filepath.Join(temporary, fmt.Sprintf("reprise-%d", os.Getuid()))
	if err := os.Mkdir(path, 0o700); err == nil || errors.Is(err, fs.ErrExist) && isPrivate(path, fs.ModeDir) {
		return path, nil
	}
	if path, err = os.MkdirTemp(temporary, "reprise-"); err != nil {
		return "", temporaryError(err)
	}
	return path, nil
}

// absolute returns the path of a file from the root, without symbolic links.
func absolute(path string) (string, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// temporaryError says of an error that it is about the directory for temporary files.
func temporaryError(err error) error {
	return fmt.Errorf("interpose: the directory for temporary files, TMPDIR: %w", err)
}

// canPreload reports whether LD_PRELOAD can name a path: the dynamic linker splits it
// at spaces and colons, and replaces what follows a dollar sign.
func canPreload(path string) bool { return !strings.ContainsAny(path, " :$\t\n") }

// isPrivate reports whether a file or a directory, not a symbolic link, is there that
// belongs to the user and that nobody else may write to.
func isPrivate(path string, kind fs.FileMode) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type() != kind || info.Mode().Perm()&0o022 != 0 {
		return false
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(status.Uid) == os.Getuid()
}

// IsPrivate reports whether a file is there that nobody but the user, and root, can have written, and no
// symbolic link.
func IsPrivate(path string) bool { return isPrivate(path, 0) }

// isSafe reports whether nobody but the user and root can rename what is in a directory and
// belongs to the user: the directory and all above are theirs, and others may write to none of
// them, unless it is sticky as /tmp is. The path is absolute, without symbolic links.
func isSafe(directory string) bool {
	for {
		info, err := os.Lstat(directory)
		if err != nil || !info.IsDir() || info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0 {
			return false
		}
		status, ok := info.Sys().(*syscall.Stat_t)
		if !ok || status.Uid != 0 && int(status.Uid) != os.Getuid() {
			return false
		}
		above := filepath.Dir(directory)
		if above == directory {
			return true
		}
		directory = above
	}
}

// lock waits until no other process has the lock of a directory, and returns the function that gives it back.
func lock(ctx context.Context, directory string) (unlock func(), err error) {
	unlock, err = atomicfile.Lock(ctx, filepath.Join(directory, "lock"))
	if ended := ctx.Err(); ended != nil {
		if err == nil {
			unlock()
		}
		return nil, fmt.Errorf("interpose: another process builds in %s: %w", directory, ended)
	}
	if err != nil {
		return nil, fmt.Errorf("interpose: %w", err)
	}
	return unlock, nil
}
