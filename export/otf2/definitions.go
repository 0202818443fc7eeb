package otf2

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/export/internal/events"
	archive "github.com/reprise-trace/reprise/mpi/otf2"
	"github.com/reprise-trace/reprise/mpi/semantics"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/query"
)

// Definitions number what events refer to. Readers want the numbers of each kind to begin at 0, to ascend, and to come
// before those that refer to them: strings, regions, attributes and lines are written when they are first used,
// groups and what has them at the end.
type definitions struct {
	out    recordWriter
	err    error // the first
	record archive.Record
	index  func(rank int) (uint64, bool) // among the ranks that were chosen

	texts      map[string]uint64
	nextText   uint64
	attributes map[attribute]uint32
	regions    map[string]uint64
	lines      map[string]uint64
	mpi        bool // defineMPI was called

	sets        map[string]uint64 // groups of ranks, by their members
	lists       map[listOfRanks]uint64
	groupList   []setOfRanks
	comms       map[*semantics.Communicator]*communicator
	commList    []*communicator
	windows     map[*semantics.Communicator]*window
	windowList  []*window
	files       map[string]uint64
	fileList    []string
	handles     map[*semantics.Communicator]*handle
	handleList  []*handle
	selfDefined *communicator
}

// An attribute is one that calls have.
type attribute struct {
	name string
	kind uint8 // of OTF2
}

// A recordWriter writes records, as [archive.Writer] does, and keeps nothing of them.
type recordWriter interface{ Write(*archive.Record) error }

func newDefinitions(out recordWriter, index func(rank int) (uint64, bool)) *definitions {
	return &definitions{out: out, index: index, texts: make(map[string]uint64), attributes: make(map[attribute]uint32),
		regions: make(map[string]uint64), lines: make(map[string]uint64), sets: make(map[string]uint64),
		lists:   make(map[listOfRanks]uint64),
		comms:   make(map[*semantics.Communicator]*communicator),
		windows: make(map[*semantics.Communicator]*window), files: make(map[string]uint64),
		handles: make(map[*semantics.Communicator]*handle)}
}

// put writes a record that is no event.
func (d *definitions) put(k *archive.Kind, values []uint64, texts ...string) {
	if d.err == nil {
		d.record = archive.Record{Kind: k, Values: values, Texts: texts}
		d.err = d.out.Write(&d.record)
	}
}

func (d *definitions) define(k *archive.Kind, values ...uint64) { d.put(k, values) }

// maxTexts is how many texts are kept, to write each once; then it starts again.
const maxTexts = 1 << 18

// text returns the number of a String.
func (d *definitions) text(s string) uint64 {
	if id, ok := d.texts[s]; ok {
		return id
	}
	if len(d.texts) >= maxTexts {
		clear(d.texts)
	}
	id := d.nextText
	d.nextText++
	d.texts[s] = id
	d.put(kinds.text, []uint64{id}, plain(s))
	return id
}

// attribute returns the number of an attribute.
func (d *definitions) attribute(name string, kind uint8) uint32 {
	k := attribute{name, kind}
	id, ok := d.attributes[k]
	if !ok {
		id = uint32(len(d.attributes))
		d.attributes[k] = id
		d.define(kinds.attribute, uint64(id), d.text(name), d.text(""), uint64(kind))
	}
	return id
}

// defineMPI writes what MPI is to OTF2, once.
func (d *definitions) defineMPI() {
	if d.mpi {
		return
	}
	d.mpi = true
	d.define(kinds.paradigm, constants.mpi, d.text("MPI"), constants.classProcess)
	for _, p := range [][3]uint64{
		{constants.commNames, constants.typeString, d.text("MPI Communicator ${id}")},
		{constants.windowNames, constants.typeString, d.text("MPI Window ${id}")},
		{constants.rmaOnly, constants.typeBool, 0},
	} {
		d.define(kinds.paradigmProperty, constants.mpi, p[0], p[1], p[2])
	}
	d.define(kinds.ioParadigm, 0, d.text("MPI-IO"), d.text("MPI-IO"), constants.ioParallel, 0)
}

// region returns the number of the region of a function.
func (d *definitions) region(function string, action bool) uint64 {
	if id, ok := d.regions[function]; ok {
		return id
	}
	role, paradigm, file := roleOf(function, action), constants.user, uint64(unknown32)
	if action || spec.Base(function) != function {
		d.defineMPI()
		paradigm, file = constants.mpi, d.text("MPI")
	}
	return d.newRegion(function, function, role, paradigm, file)
}

// userRegion returns the number of the region of an annotation, which is none of a function of the same name.
func (d *definitions) userRegion(name string) uint64 {
	key := "annotation\x00" + name
	if id, ok := d.regions[key]; ok {
		return id
	}
	return d.newRegion(key, name, constants.code, constants.user, unknown32)
}

func (d *definitions) newRegion(key, name string, role, paradigm, file uint64) uint64 {
	id := uint64(len(d.regions))
	d.regions[key] = id
	text := d.text(events.Readable(name))
	d.define(kinds.region, id, text, text, d.text(""), role, paradigm, 0, file, 0, 0)
	return id
}

// line returns the number of the line of a call site, such as solver.c:12 solve; false if it is none.
func (d *definitions) line(site string) (uint64, bool) {
	at, _, _ := strings.Cut(query.Frames(site)[0], " ")
	i := strings.LastIndexByte(at, ':')
	if i < 0 {
		return 0, false
	}
	number, err := strconv.ParseUint(at[i+1:], 10, 32)
	if err != nil {
		return 0, false
	}
	id, ok := d.lines[at]
	if !ok {
		id = uint64(len(d.lines))
		d.lines[at] = id
		d.define(kinds.line, id, d.text(at[:i]), number)
	}
	return id, true
}

// A setOfRanks is a group of some of the ranks, by their numbers in the group of all.
type setOfRanks struct {
	members []uint64
	self    bool // the group that stands for each rank alone
}

// A listOfRanks is one that communicators with the same members share.
type listOfRanks struct {
	first *int
	count int
}

// set returns the number of a group of ranks, without those that were not chosen.
func (d *definitions) set(ranks []int) uint64 {
	if len(ranks) == 0 {
		return d.setOf(ranks)
	}
	list := listOfRanks{&ranks[0], len(ranks)}
	id, ok := d.lists[list]
	if !ok {
		id = d.setOf(ranks)
		d.lists[list] = id
	}
	return id
}

func (d *definitions) setOf(ranks []int) uint64 {
	var key strings.Builder
	var members []uint64
	for _, r := range ranks {
		if i, ok := d.index(r); ok {
			members = append(members, i)
			key.WriteString(strconv.FormatUint(i, 36))
			key.WriteByte(' ')
		}
	}
	id, ok := d.sets[key.String()]
	if !ok {
		id = d.addSet(setOfRanks{members: members})
		d.sets[key.String()] = id
	}
	return id
}

// addSet adds a group. That of all locations is number 0.
func (d *definitions) addSet(s setOfRanks) uint64 {
	d.groupList = append(d.groupList, s)
	return uint64(len(d.groupList))
}

// A communicator has the number of a Comm or an InterComm.
type communicator struct {
	*semantics.Communicator
	id      uint64
	given   string // name that the program has given it
	grid    *grid  // of a process grid
	sets    [2]uint64
	self    bool
	flags   uint64
	numbers [2]map[int]uint64 // of the members that were chosen, by group; nil if they are those of all ranks
}

// communicator returns that of a trace.
func (d *definitions) communicator(c *semantics.Communicator) *communicator {
	c = c.Whole()
	if known := d.comms[c]; known != nil {
		return known
	}
	if p := c.Parent(); p != nil {
		d.communicator(p) // which comes first
	}
	n := &communicator{Communicator: c, self: isSelf(c)}
	if n.self && d.selfDefined != nil {
		d.comms[c] = d.selfDefined
		return d.selfDefined
	}
	n.id = uint64(len(d.commList))
	d.comms[c] = n
	d.commList = append(d.commList, n)
	switch {
	case n.self:
		d.selfDefined = n
		n.sets[0] = d.addSet(setOfRanks{self: true})
		return n
	case c.IsInter():
		n.sets[1], n.numbers[1] = d.set(c.Members(1)), d.numbers(c.Members(1))
	}
	n.sets[0] = d.set(c.Members(0))
	if !c.InRunOrder() {
		n.numbers[0] = d.numbers(c.Members(0))
	}
	return n
}

// isSelf reports whether c is MPI_COMM_SELF of a rank.
func isSelf(c *semantics.Communicator) bool {
	return c.Size() == 1 && !c.IsInter() && !c.InRunOrder() && c.Parent() == nil && strings.HasPrefix(c.Name, "self")
}

// numbers returns where those of some ranks are among them that were chosen.
func (d *definitions) numbers(ranks []int) map[int]uint64 {
	numbers := make(map[int]uint64, len(ranks))
	for _, r := range ranks {
		if _, ok := d.index(r); ok {
			numbers[r] = uint64(len(numbers))
		}
	}
	return numbers
}

// rankOf returns the number of a rank of the run in a group of a communicator; false if it has none.
func (d *definitions) rankOf(c *communicator, group, rank int) (uint64, bool) {
	switch {
	case rank < 0:
		return 0, false
	case c.self:
		return 0, true
	case c.numbers[group] == nil:
		return d.index(rank)
	}
	i, ok := c.numbers[group][rank]
	return i, ok
}

// peerOf returns the number by which a rank means another in a communicator: of an intercommunicator, in the other
// group.
func (d *definitions) peerOf(c *communicator, self, peer int) (uint64, bool) {
	if c.IsInter() {
		if _, first := c.numbers[0][self]; first {
			return d.rankOf(c, 1, peer)
		}
	}
	return d.rankOf(c, 0, peer)
}

// A window has the number of an RmaWin.
type window struct {
	id    uint64
	name  string // or that which the program has given it
	comm  *communicator
	flags uint64
}

// window returns that of a trace.
func (d *definitions) window(c *semantics.Communicator) *window {
	w := d.windows[c]
	if w == nil {
		on := c.Parent()
		if on == nil {
			on = c
		}
		w = &window{id: uint64(len(d.windowList)), name: c.Name, comm: d.communicator(on)}
		d.windows[c] = w
		d.windowList = append(d.windowList, w)
	}
	return w
}

// A handle has the number of an IoHandle.
type handle struct {
	id, file uint64
	name     string
	comm     *communicator
	created  bool // there is an event that opens it
}

// handle returns that of a file that is open.
func (d *definitions) handle(c *semantics.Communicator) *handle {
	h := d.handles[c]
	if h == nil {
		h = &handle{id: uint64(len(d.handleList)), name: c.Name, file: unknown32}
		if on := c.Parent(); on != nil {
			h.comm = d.communicator(on)
		}
		d.handles[c] = h
		d.handleList = append(d.handleList, h)
	}
	return h
}

// file returns the number of an IoRegularFile.
func (d *definitions) file(name string) uint64 {
	id, ok := d.files[name]
	if !ok {
		id = uint64(len(d.fileList))
		d.files[name] = id
		d.fileList = append(d.fileList, name)
	}
	return id
}

// worldGroup writes the group of all ranks, by their first threads.
func (d *definitions) worldGroup(groups []group) {
	if len(d.commList) > 0 { // as functions may have the meaning of those of MPI
		d.defineMPI()
	}
	if !d.mpi {
		return
	}
	values := []uint64{0, d.text(""), constants.commLocations, constants.mpi, 0}
	for i := range groups {
		values = append(values, locationID(i, 0))
	}
	d.define(kinds.rankSet, values...)
}

// finish writes groups, and what has them.
func (d *definitions) finish() {
	for i, s := range d.groupList {
		kind := constants.commGroup
		if s.self {
			kind = constants.commSelf
		}
		values := []uint64{uint64(i + 1), d.text(""), kind, constants.mpi, 0}
		d.define(kinds.rankSet, append(values, s.members...)...)
	}
	for _, c := range d.commList {
		d.defineComm(c)
	}
	d.grids()
	for _, w := range d.windowList {
		d.define(kinds.window, w.id, d.text(w.name), w.comm.id, w.flags)
	}
	for i, name := range d.fileList {
		d.define(kinds.file, uint64(i), d.text(name), 0)
	}
	for _, h := range d.handleList {
		comm, flags := uint64(unknown32), constants.handlePreCreated
		if h.comm != nil {
			comm = h.comm.id
		}
		if h.created {
			flags = 0
		}
		d.define(kinds.handle, h.id, d.text(h.name), h.file, 0, flags, comm, unknown32)
	}
}

// A grid has the extents of a process grid, and in which dimensions it is periodic.
type grid struct{ extents, periodic []int64 }

// size returns the number of processes of a grid, 0 if that is none.
func (g *grid) size() uint64 {
	n := uint64(1)
	for _, extent := range g.extents {
		if extent < 1 || uint64(extent) > 1<<31/n {
			return 0
		}
		n *= uint64(extent)
	}
	return n
}

// maxDimensions is how many dimensions a grid of OTF2 has at most.
const maxDimensions = 255

// grids writes the process grids, with the coordinates of all ranks.
func (d *definitions) grids() {
	dimension, topology := uint64(0), uint64(0)
	for _, c := range d.commList {
		g := c.grid
		if g == nil || c.IsInter() || g.size() != uint64(c.Size()) || len(g.extents) == 0 ||
			len(g.extents) > maxDimensions || len(g.periodic) != len(g.extents) {
			continue
		}
		values := []uint64{topology, d.text(""), c.id}
		for i, extent := range g.extents {
			d.define(kinds.dimension, dimension, d.text(fmt.Sprint("dimension ", i)), uint64(extent),
				uint64(min(max(g.periodic[i], 0), 1)))
			values = append(values, dimension)
			dimension++
		}
		d.define(kinds.topology, values...)
		for member := range c.Size() {
			rank, ok := d.rankOf(c, 0, c.Member(member))
			if !ok {
				continue
			}
			values := make([]uint64, 2, 2+len(g.extents))
			values[0], values[1] = topology, rank
			rest := uint64(member)
			for i := len(g.extents) - 1; i >= 0; i-- {
				values = slices.Insert(values, 2, rest%uint64(g.extents[i]))
				rest /= uint64(g.extents[i])
			}
			d.define(kinds.coordinate, values...)
		}
		topology++
	}
}

// common returns the number of the communicator nearest to an intercommunicator that has both groups.
func (d *definitions) common(c *communicator) uint64 {
	members := c.RankSet()
	for p := c.Parent(); p != nil; p = p.Parent() {
		if !p.IsInter() && members.Difference(p.RankSet()).Len() == 0 {
			return d.communicator(p).id
		}
	}
	return unknown32
}

func (d *definitions) defineComm(c *communicator) {
	name := c.Name
	switch {
	case c.given != "":
		name = c.given
	case c.self:
		name = "MPI_COMM_SELF"
	case c.Parent() == nil && strings.HasPrefix(name, "world") && !strings.Contains(name, "/"):
		name = "MPI_COMM_WORLD" + strings.TrimPrefix(name, "world")
	}
	parent := uint64(unknown32)
	if p := c.Parent(); p != nil && !p.IsInter() { // which OTF2's reader in Python does not find
		parent = d.communicator(p).id
	}
	if c.IsInter() {
		d.define(kinds.interComm, c.id, d.text(name), c.sets[0], c.sets[1], d.common(c), c.flags)
		return
	}
	d.define(kinds.comm, c.id, d.text(name), c.sets[0], parent, c.flags)
}
