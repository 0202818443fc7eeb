package collect

import (
	"encoding/binary"
	"hash/fnv"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/mpi/internal/debuginfo"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
)

// unknownSite is the site of calls from code that is in no file.
const unknownSite = -1

// A site is the address in a file, of so many bits, below a hash of the file's name, of so many:
// the same wherever files are loaded, in all processes.
const (
	addressBits = 44
	moduleBits  = 11
)

// A module is an object in memory.
type module struct {
	address, size, base uint64
	path                string
}

// sites are where the calls of a thread are made.
type sites struct {
	modules []module            // the latest last
	callers map[uint64][]uint64 // addresses by their number
	ids     map[uint64]int64
}

// add takes note of an object, in place of what was there.
func (s *sites) add(r *spool.Record) {
	m := module{r.Address, r.Size, r.Base, string(r.Path.Text())}
	s.modules = slices.DeleteFunc(s.modules, func(old module) bool {
		return old.address < m.address+m.size && m.address < old.address+old.size
	})
	s.modules = append(s.modules, m)
	clear(s.ids)
}

// addCallers takes note of where the calls with a number for their site are made, and where the
// functions that make them were called.
func (s *sites) addCallers(r *spool.Record) {
	if s.callers == nil {
		s.callers = make(map[uint64][]uint64)
	}
	s.callers[r.Site] = slices.Clone(r.Addresses)
	delete(s.ids, r.Site)
}

// A sourceSite is an address of a file.
type sourceSite struct {
	file    string
	address uint64
}

// site returns the id of the place that a call of a thread returns to, or of the number that its
// callers have.
func (p *process) site(t *thread, number uint64) int64 {
	id, known := t.sites.ids[number]
	if known {
		return id
	}
	if t.sites.ids == nil {
		t.sites.ids = make(map[uint64]int64)
	}
	var at []sourceSite
	if addresses, ok := t.sites.callers[number]; ok {
		if at = t.sites.path(addresses); len(at) > 0 {
			id = pathSite(at)
		}
	} else if s, ok := t.sites.resolve(number); ok {
		at = []sourceSite{s}
		id = s.site()
	}
	if len(at) == 0 {
		id = unknownSite
	} else if p.called == nil {
		p.called = make(map[int64][]sourceSite)
	}
	if len(at) > 0 {
		p.called[id] = at
	}
	t.sites.ids[number] = id
	return id
}

// resolve returns which address of which file it is that a call returns to.
func (s *sites) resolve(address uint64) (sourceSite, bool) {
	for _, m := range slices.Backward(s.modules) {
		if address-m.address < m.size && m.path != "" {
			return sourceSite{m.path, address - m.base - 1}, true // in the call, not behind it
		}
	}
	return sourceSite{}, false
}

// path returns the calls that lead to a call, the innermost first, without those of the library
// of C, that which begins the program among them. Recursion is folded: of a call that occurs
// again and all that it led to, the outermost are left.
func (s *sites) path(addresses []uint64) (at []sourceSite) {
	began := false // what comes next is from the library of C
	for i, a := range slices.Backward(addresses) {
		site, ok := s.resolve(a)
		if !ok || isRuntime(site.file) {
			continue
		}
		if i == len(addresses)-1 && i > 0 {
			next, ok := s.resolve(addresses[i-1])
			began = ok && isRuntime(next.file)
		}
		if began {
			began = false
			continue // _start
		}
		if k := slices.Index(at, site); k >= 0 {
			at = at[:k]
		}
		at = append(at, site)
	}
	slices.Reverse(at)
	return at
}

// isRuntime reports whether a file is the library of C or the loader.
func isRuntime(file string) bool {
	base := path.Base(file)
	return strings.HasPrefix(base, "libc.so") || strings.HasPrefix(base, "ld-linux") ||
		strings.HasPrefix(base, "libpthread.so")
}

func (s sourceSite) site() int64 {
	return int64(moduleOf(s.file)<<addressBits | s.address&(1<<addressBits-1))
}

// pathSite returns the site of a call with those that led to it: a hash of them all below the
// lowest bits of the call's own site, so that the paths to a call follow each other.
func pathSite(at []sourceSite) int64 {
	h := fnv.New64a()
	for _, s := range at {
		binary.Write(h, binary.LittleEndian, s.site())
	}
	module, address := moduleOf(at[0].file)&7, at[0].address&(1<<27-1)
	return int64(layout.PathBit | (module<<27|address)<<layout.PathBits | h.Sum64()>>(64-layout.PathBits))
}

// moduleOf returns the number of a file, from its name without the directory.
func moduleOf(file string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(path.Base(file)))
	return h.Sum64() >> (64 - moduleBits)
}

// siteNames returns what the sites of processes are called. Several calls of one line are told apart
// when the names of all processes are there, by package merge.
func siteNames(list []*process) []format.Name {
	paths := make(map[int64][]sourceSite)
	unknown := false
	for _, p := range list {
		maps.Copy(paths, p.called)
		for _, t := range p.threads {
			for _, id := range t.sites.ids {
				unknown = unknown || id == unknownSite
			}
		}
	}
	lines := linesOf(paths)
	var names []format.Name
	for _, id := range slices.Sorted(maps.Keys(paths)) {
		names = append(names, siteName(id, pathName(paths[id], lines, id&layout.PathBit != 0)))
	}
	if unknown {
		names = append(names, siteName(unknownSite, "code in no file"))
	}
	return names
}

func siteName(id int64, name string) format.Name {
	return format.Name{Kind: cst.KindHandle, Class: layout.Site.Type.Class, Value: id, Name: name}
}

// linesOf returns what all places are called.
func linesOf(paths map[int64][]sourceSite) map[sourceSite][]string {
	addresses := make(map[string][]uint64) // by file
	lines := make(map[sourceSite][]string)
	for _, path := range paths {
		for _, at := range path {
			if _, ok := lines[at]; !ok {
				lines[at] = nil
				addresses[at.file] = append(addresses[at.file], at.address)
			}
		}
	}
	for file, list := range addresses {
		for i, names := range debuginfo.Lines(file, list) {
			lines[sourceSite{file, list[i]}] = names
		}
	}
	return lines
}

// calledFrom stands between a call and the one that led to it.
const calledFrom = " < "

// pathName returns the name of a call with those that led to it, if there are any, such as
// solver.f90:212 exchange_ < solver.f90:40 solve_ < main.c:12 main, but for those of a wrapper
// of MPI that is between the program and the interposer.
func pathName(path []sourceSite, lines map[sourceSite][]string, all bool) string {
	var names []string
	length := 0
	for i, at := range path {
		for _, name := range lines[at] {
			name = name[:min(len(name), cst.MaxName/2)]
			if all && len(names) == 0 && i+1 < len(path) && wrapper.MatchString(name) {
				continue
			}
			if length += len(name) + len(calledFrom); length <= layout.MaxSiteName {
				names = append(names, name)
			}
		}
	}
	if !all {
		names = names[:1]
	}
	return strings.Join(names, calledFrom)
}

// wrapper is what a call from a function called as one of MPI looks like.
var wrapper = regexp.MustCompile(`^([^ ]+:[0-9]+ )?P?MPI_[A-Z]`)
