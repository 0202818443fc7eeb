package interpose

import (
	"context"
	"debug/elf"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/internal/need"
)

// Unrecorded returns the names, sorted, of the functions of MPI that the program of a command and the
// libraries that it links import, and that the interposer does not record: the table does not have them, or
// not as mpi.h declares them. The libraries of MPI itself do not count. It finds no function that the program
// looks up by name or in a library that it loads while it runs, and none if [Command.Program] is empty. It
// reads the symbols of these files: some milliseconds, and more for programs with very many symbols.
func (l *Interposer) Unrecorded(ctx context.Context, c *Command) []string {
	need.That(c != nil, "interpose: no command")
	program := executable(c.Program)
	recorded, err := functionSymbols(l.Path, false)
	if c.Program == "" || program == "" || err != nil {
		return nil
	}
	unrecorded := make(map[string]bool)
	for _, path := range append(librariesOf(ctx, program), program) {
		imported, _ := functionSymbols(path, true) // the program starts without what cannot be read here
		for name := range imported {
			if !recorded[name] {
				unrecorded[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(unrecorded))
}

// librariesOf returns the paths of the libraries that a program links, without those of MPI.
func librariesOf(ctx context.Context, program string) []string {
	file, err := elf.Open(program)
	if err != nil {
		return nil
	}
	defer file.Close()
	return slices.DeleteFunc(strings.Fields(string(listLibraries(ctx, file, program))), func(path string) bool {
		return !filepath.IsAbs(path) || strings.HasPrefix(filepath.Base(path), "libmpi") // libmpi_mpifh, libmpifort
	})
}

// functionName matches the functions of MPI's C interface. Data, such as MPI_UNWEIGHTED, has no small
// letters.
var functionName = regexp.MustCompile(`^MPIX?_\w*[a-z]\w*$`)

// functionSymbols returns the functions of MPI that a file imports, or defines for others.
func functionSymbols(path string, imported bool) (map[string]bool, error) {
	file, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	symbols, err := file.DynamicSymbols()
	names := make(map[string]bool)
	for _, s := range symbols {
		if imported == (s.Section == elf.SHN_UNDEF) && functionName.MatchString(s.Name) {
			names[s.Name] = true
		}
	}
	return names, err
}
