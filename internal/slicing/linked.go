package slicing

import (
	"bytes"
	"cmp"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/mpi/spec"
)

// checkLinked returns an error if what a linker says it has linked with the slice, a file in each line, calls
// MPI: nobody would know which of its messages are needed.
func (b *builder) checkLinked(said []byte) error {
	c := &linkedFiles{seen: map[string]bool{}}
	for line := range strings.Lines(string(said)) {
		path, member := strings.TrimSpace(line), ""
		if archive, name, ok := strings.Cut(path, ")"); ok && strings.HasPrefix(archive, "(") {
			path, member = archive[1:], name
		}
		if strings.HasPrefix(path, b.directory) {
			continue
		}
		if err := c.check(path, member); err != nil {
			return err
		}
	}
	return nil
}

// linkedFiles are files that are linked with a program.
type linkedFiles struct {
	seen map[string]bool
}

// check checks an object, a library, or a member of an archive. What cannot be read is left to the linker.
func (c *linkedFiles) check(path, member string) error {
	name := path
	if member != "" {
		name = fmt.Sprint(path, "(", member, ")")
	}
	if c.seen[name] {
		return nil
	}
	c.seen[name] = true
	data, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(data, []byte("\x7fELF")) && member == "" {
		return nil
	}
	if member != "" {
		members, err := readArchive(data)
		if err != nil {
			return nil
		}
		for _, m := range members {
			if m.name == member {
				if err := c.checkObject(name, m.data); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return c.checkObject(name, data)
}

func (c *linkedFiles) checkObject(name string, data []byte) error {
	file, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	list := file.Symbols
	if file.Type == elf.ET_DYN {
		list = file.DynamicSymbols
	}
	symbols, err := list()
	if err != nil {
		return nil
	}
	called := ""
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && strings.Contains(strings.ToLower(s.Name), "mpi_init") {
			return nil // a library of MPI
		}
		if s.Section == elf.SHN_UNDEF && isMPI(s.Name) {
			called = cmp.Or(called, s.Name)
		}
	}
	if called != "" {
		return fmt.Errorf(
			"%s calls %s, and is linked only, not sliced: give its sources, or make it with reprise-cc or reprise-fc", name, called)
	}
	libraries, err := file.ImportedLibraries()
	if err != nil {
		return nil
	}
	for _, library := range libraries {
		if err := c.check(filepath.Join(filepath.Dir(name), library), ""); err != nil {
			return err
		}
	}
	return nil
}

// isMPI reports whether a symbol is a function of MPI, in C, Fortran or C++, that does more than to tell the
// time.
func isMPI(symbol string) bool {
	if strings.HasPrefix(symbol, "_ZN3MPI") || strings.HasPrefix(symbol, "_ZNK3MPI") {
		return true
	}
	name := strings.TrimRight(strings.TrimSuffix(symbol, "_f08_"), "_")
	if len(name) > len("PMPI_") && strings.EqualFold(name[:len("PMPI_")], "PMPI_") {
		name = name[1:]
	}
	if strings.EqualFold(name, "MPI_Wtime") || strings.EqualFold(name, "MPI_Wtick") {
		return false
	}
	return slices.ContainsFunc(spec.Functions(), func(f spec.Function) bool { return strings.EqualFold(f.Name, name) })
}
