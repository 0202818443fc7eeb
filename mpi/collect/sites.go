package collect

import (
	"fmt"
	"hash/fnv"
	"maps"
	"path"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/internal/debuginfo"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
)

// siteParam is the argument that says where a call was made.
var siteParam = cst.Param{Name: "site", Type: cst.HandleOf("site"), Direction: cst.In}

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
	modules []module // the latest last
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

// A sourceSite is an address of a file.
type sourceSite struct {
	file    string
	address uint64
}

// site returns the id of the place that a call of a thread returns to.
func (p *process) site(t *thread, address uint64) int64 {
	id, known := t.sites.ids[address]
	if known {
		return id
	}
	if id = unknownSite; t.sites.ids == nil {
		t.sites.ids = make(map[uint64]int64)
	}
	for _, m := range t.sites.modules {
		if address-m.address >= m.size || m.path == "" {
			continue
		}
		at := sourceSite{m.path, address - m.base - 1} // in the call, not behind it
		id = int64(moduleOf(m.path)<<addressBits | at.address&(1<<addressBits-1))
		if p.called == nil {
			p.called = make(map[int64]sourceSite)
		}
		p.called[id] = at
	}
	t.sites.ids[address] = id
	return id
}

// moduleOf returns the number of a file, from its name without the directory.
func moduleOf(file string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(path.Base(file)))
	return h.Sum64() >> (64 - moduleBits)
}

// siteNames returns what the sites of processes are called.
func siteNames(list []*process) []merge.Name {
	ids := make(map[string]map[uint64]int64) // by file and address
	unknown := false
	for _, p := range list {
		for id, at := range p.called {
			if ids[at.file] == nil {
				ids[at.file] = make(map[uint64]int64)
			}
			ids[at.file][at.address] = id
		}
		for _, t := range p.threads {
			for _, id := range t.sites.ids {
				unknown = unknown || id == unknownSite
			}
		}
	}
	var names []merge.Name
	calls := make(map[string]int) // of one line, in the order of their addresses
	add := func(id int64, name string) {
		if calls[name]++; calls[name] > 1 {
			name = fmt.Sprintf("%s #%d", name, calls[name])
		}
		names = append(names, merge.Name{Kind: cst.KindHandle, Class: siteParam.Type.Class, Value: id, Name: name[:min(len(name), cst.MaxName)]})
	}
	for _, file := range slices.Sorted(maps.Keys(ids)) {
		at := ids[file]
		addresses := slices.Sorted(maps.Keys(at))
		for i, name := range debuginfo.Lines(file, addresses) {
			add(at[addresses[i]], name)
		}
	}
	if unknown {
		add(unknownSite, "code in no file")
	}
	return names
}
