// Package debuginfo says which line of which source file the code at an address of an ELF file
// comes from.
//
//	for i, names := range debuginfo.Lines("/usr/bin/app", []uint64{0x1234}) {
//		…
//	}
package debuginfo

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"path"
	"slices"
	"sort"
)

// Lines returns what the code at addresses of a file is: its file, line and function, such as
// "solver.f90:212 exchange_"; without information for debuggers the function and the distance
// from its beginning, such as "exchange_+0x1f"; without symbols, or if the file cannot be read,
// the name of the file and the address, such as "libsolver.so+0x1234". Functions of C++ are
// called what they are called in their class or namespace, if that is known. Code that was
// inlined is that of the inlined function; what that was inlined in comes after it.
//
// It reads the parts of the information for debuggers that are about the addresses. What is
// damaged in a file is not there.
func Lines(file string, addresses []uint64) (names [][]string) {
	names = make([][]string, len(addresses))
	defer func() { _ = recover() }() // package dwarf may panic
	for i, a := range addresses {
		names[i] = []string{fmt.Sprintf("%s+%#x", path.Base(file), a)}
	}
	f, err := elf.Open(file)
	if err != nil {
		return names
	}
	defer f.Close()
	symbols := functionsOf(f)
	d, err := f.DWARF()
	var places map[uint64][]place
	if err == nil {
		places = placesOf(d, addresses)
	}
	for i, a := range addresses {
		s, begun := symbols.at(a)
		if at := places[a]; len(at) > 0 {
			names[i] = nil
			for _, p := range at {
				names[i] = append(names[i], fmt.Sprintf("%s:%d %s", path.Base(p.file), p.line,
					cmp.Or(p.function, s, "?")))
			}
		} else if s != "" {
			names[i] = []string{fmt.Sprintf("%s+%#x", s, a-begun)}
		}
	}
	return names
}

// Functions returns the names of the functions of a file of up to some bytes of code that are to be kept, ascending;
// none if it cannot be read.
func Functions(file string, most uint64, keep func(name string) bool) (names []string) {
	f, err := elf.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	for _, s := range functionsOf(f) {
		if s.Size <= most && keep(s.Name) {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// symbols are functions in the order of their addresses.
type symbols []elf.Symbol

// functionsOf returns those of a file, of which a stripped one has those that others call.
func functionsOf(f *elf.File) (list symbols) {
	for _, read := range []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols} {
		all, err := read()
		if err != nil {
			continue
		}
		for _, s := range all {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Section != elf.SHN_UNDEF && s.Size > 0 {
				list = append(list, s)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b elf.Symbol) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// at returns the function that an address lies in, and where it begins.
func (l symbols) at(address uint64) (name string, begun uint64) {
	i := sort.Search(len(l), func(i int) bool { return l[i].Value > address })
	for i--; i >= 0; i-- {
		if s := &l[i]; address-s.Value < s.Size {
			// Of several names of one function the first.
			for i > 0 && l[i-1].Value == s.Value {
				i--
			}
			return l[i].Name, s.Value
		} else if address-s.Value > 1<<24 {
			break
		}
	}
	return "", 0
}

// A place is a line of a source file.
type place struct {
	file, function string
	line           int
}

// placesOf returns the places of the addresses that the information for debuggers tells of, each
// with those that it was inlined in.
func placesOf(d *dwarf.Data, addresses []uint64) (places map[uint64][]place) {
	places = make(map[uint64][]place)
	defer func() { _ = recover() }()
	sorted := slices.Compact(slices.Sorted(slices.Values(addresses)))
	looked := make(map[dwarf.Offset]bool)
	for _, a := range sorted {
		if _, known := places[a]; known {
			continue
		}
		unit, err := d.Reader().SeekPC(a)
		if err != nil || looked[unit.Offset] {
			continue
		}
		looked[unit.Offset] = true
		in := within(d, unit, sorted)
		slices.Sort(in)
		addUnit(d, unit, in, places)
	}
	return places
}

// within returns those of sorted addresses that lie in an entry.
func within(d *dwarf.Data, e *dwarf.Entry, sorted []uint64) (in []uint64) {
	ranges, err := d.Ranges(e)
	if err != nil {
		return nil
	}
	for _, r := range ranges {
		in = append(in, between(sorted, r[0], r[1])...)
	}
	return in
}

// A function is one that an address lies in, and where it is called if it is inlined there.
type function struct {
	name       string
	file, line int64
}

// addUnit adds the places of addresses that lie in a unit.
func addUnit(d *dwarf.Data, unit *dwarf.Entry, addresses []uint64, places map[uint64][]place) {
	l, err := d.LineReader(unit)
	if err != nil || l == nil {
		return
	}
	functions := functionsIn(d, unit, addresses)
	// Sequences of lines may stand in any order.
	var entry, last dwarf.LineEntry
	for last.EndSequence = true; l.Next(&entry) == nil; last = entry {
		if last.EndSequence || last.File == nil {
			continue
		}
		for _, a := range between(addresses, last.Address, entry.Address) {
			places[a] = placesIn(functions[a], place{file: last.File.Name, line: last.Line}, l.Files())
		}
	}
}

// functionsIn returns the functions that addresses of a unit lie in, the outermost first.
func functionsIn(d *dwarf.Data, unit *dwarf.Entry, addresses []uint64) map[uint64][]function {
	functions := make(map[uint64][]function)
	r := d.Reader()
	r.Seek(unit.Offset)
	_, _ = r.Next()
	for depth := 1; depth > 0; {
		e, err := r.Next()
		if err != nil || e == nil {
			break
		}
		if e.Tag == 0 {
			depth--
			continue
		}
		// A function that is inlined in another comes after it.
		if e.Tag == dwarf.TagSubprogram || e.Tag == dwarf.TagInlinedSubroutine {
			for _, a := range within(d, e, addresses) {
				f := function{name: functionName(d, e)}
				f.file, _ = e.Val(dwarf.AttrCallFile).(int64)
				f.line, _ = e.Val(dwarf.AttrCallLine).(int64)
				functions[a] = append(functions[a], f)
			}
		}
		if e.Children {
			depth++
		}
	}
	return functions
}

// placesIn returns the place in the innermost of functions, then where that is called in the
// next one, as far as they are inlined.
func placesIn(functions []function, at place, files []*dwarf.LineFile) (list []place) {
	for _, f := range slices.Backward(functions) {
		at.function = f.name
		list = append(list, at)
		if f.line == 0 || f.file < 0 || f.file >= int64(len(files)) || files[f.file] == nil {
			return list
		}
		at = place{file: files[f.file].Name, line: int(f.line)}
	}
	if list == nil {
		list = append(list, at)
	}
	return list
}

// between returns those of sorted addresses from one up to another, not included.
func between(sorted []uint64, from, until uint64) []uint64 {
	i, _ := slices.BinarySearch(sorted, from)
	j, _ := slices.BinarySearch(sorted, until)
	return sorted[i:max(i, j)]
}

// functionName returns the name of a function, as the linker has it unless that is one of C++.
func functionName(d *dwarf.Data, e *dwarf.Entry) string {
	for range 4 { // an instance of an instance of a declaration
		linked, _ := e.Val(dwarf.AttrLinkageName).(string)
		name, _ := e.Val(dwarf.AttrName).(string)
		if linked != "" && (len(linked) < 2 || linked[:2] != "_Z") {
			return linked
		}
		if name != "" {
			return name
		}
		at, ok := e.Val(dwarf.AttrSpecification).(dwarf.Offset)
		if !ok {
			if at, ok = e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); !ok {
				break
			}
		}
		r := d.Reader()
		r.Seek(at)
		next, err := r.Next()
		if err != nil || next == nil {
			break
		}
		e = next
	}
	return ""
}
