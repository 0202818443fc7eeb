package otf2

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/reprise-trace/reprise/format"
)

// An archive is what definitions say that calls need.
type archive struct {
	encoded []byte // all records but events, without the end
	encoder

	strings   map[uint64]string
	named     map[string]map[uint64]uint64 // strings that name other references, by their types
	regions   map[uint64]uint64            // names
	waiting   map[uint64]bool              // regions in which a thread does not compute
	metrics   map[uint64][]uint64          // members of classes
	instances map[uint64]uint64            // classes
	windows   map[uint64]uint64            // communicators
	locations []location
	groups    []locationGroup
	sets      []set
	comms     []comm
	clock     clock
	began     time.Time // zero if it is not known
	creator   string
	labels    [][2]uint64 // strings: names of properties of groups of locations, and the values
}

// A location is one with a Location definition, in the order of these.
type location struct {
	number, group uint64
	processor     bool // it is a thread of one
	rank, thread  int  // set by place
}

type locationGroup struct {
	number, kind, creator uint64
}

// A set is a Group of definitions.
type set struct {
	number, kind, paradigm uint64
	members                []uint64
}

// A comm is a Comm or an InterComm.
type comm struct {
	number, name uint64
	groups       []uint64 // one, or two
}

func newArchive() *archive {
	return &archive{strings: make(map[uint64]string), named: make(map[string]map[uint64]uint64),
		regions: make(map[uint64]uint64), metrics: make(map[uint64][]uint64), instances: make(map[uint64]uint64),
		windows: make(map[uint64]uint64), waiting: make(map[uint64]bool)}
}

// add takes a record that is no event.
func (a *archive) add(r *Record) {
	a.encoded = a.append(a.encoded, r)
	v := r.Values
	switch r.Kind.Name {
	case "String":
		if _, ok := a.strings[v[0]]; !ok { // the first counts, as for otf2-print
			a.strings[v[0]] = r.Texts[0]
		}
	case "Region":
		if _, ok := a.regions[v[0]]; !ok {
			if a.regions[v[0]] = v[1]; isWaiting(v[4], v[5]) {
				a.waiting[v[0]] = true
			}
		}
	case "MetricClass":
		a.metrics[v[0]] = slices.Clone(v[3:])
	case "MetricInstance":
		a.instances[v[0]] = v[1]
	case "Creator":
		a.creator = r.Texts[0]
	case "LocationGroupProperty":
		if v[2] == typeString {
			a.labels = append(a.labels, [2]uint64{v[1], v[3]})
		}
	case "RmaWin":
		a.windows[v[0]] = v[2]
	case "Location":
		a.locations = append(a.locations, location{number: v[0], group: v[4],
			processor: v[2] == locationCPU || v[2] == locationUnknown})
	case "LocationGroup":
		a.groups = append(a.groups, locationGroup{v[0], v[2], v[4]})
	case "Group":
		a.sets = append(a.sets, set{v[0], v[2], v[3], slices.Clone(v[5:])})
	case "Comm":
		a.comms = append(a.comms, comm{v[0], v[1], slices.Clone(v[2:3])})
	case "InterComm":
		a.comms = append(a.comms, comm{v[0], v[1], slices.Clone(v[2:4])})
	case "ClockProperties":
		a.clock = clock{resolution: v[0], offset: v[1]}
		if v[3] < 1<<62 {
			a.began = time.Unix(0, int64(v[3])).UTC()
		}
	}
	a.name(r)
}

// referred are the types of references that have names, and the definitions with these, whose second field is that.
var referred = map[string]string{
	"Attribute": "AttributeRef", "MetricMember": "MetricMemberRef", "Comm": "CommRef",
	"InterComm": "CommRef", "Group": "GroupRef", "Parameter": "ParameterRef", "RmaWin": "RmaWinRef",
	"IoRegularFile": "IoFileRef", "IoDirectory": "IoFileRef", "IoHandle": "IoHandleRef", "IoParadigm": "IoParadigmRef",
	"InterruptGenerator": "InterruptGeneratorRef",
}

// name takes note of the name of what a record defines.
func (a *archive) name(r *Record) {
	kind, ok := referred[r.Kind.Name]
	if !ok {
		return
	}
	if a.named[kind] == nil {
		a.named[kind] = make(map[uint64]uint64)
	}
	if _, ok := a.named[kind][r.Values[0]]; !ok {
		a.named[kind][r.Values[0]] = r.Values[1]
	}
}

// exported reports whether Reprise wrote the archive.
func (a *archive) exported() bool { return strings.HasPrefix(a.creator, Creator) }

// times returns what the times of calls are, in an archive that was exported of a trace: none if they are those that
// were recorded.
func (a *archive) times() (list []string) {
	if !a.exported() {
		return nil
	}
	for _, l := range a.labels {
		if a.strings[l[0]] == TimesProperty && a.strings[l[1]] != asRecorded {
			list = append(list, a.strings[l[1]])
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// What export/otf2 writes: the beginning of the creator's name, and the name of the property of groups of locations
// that says what times are, and its value if they are those that were recorded.
const (
	Creator       = "Reprise"
	TimesProperty = "times"
	asRecorded    = "as recorded"
)

// nameOf returns the name of a number of a type, "" if it has none.
func (a *archive) nameOf(kind string, v uint64) string {
	if kind == "StringRef" {
		return a.strings[v]
	}
	if name, ok := theTable().names[kind][v]; ok {
		return name
	}
	named := a.named[kind]
	if kind == "RegionRef" {
		named = a.regions
	}
	if s, ok := named[v]; ok {
		return a.strings[s]
	}
	return ""
}

// place numbers the ranks of location groups and the threads of these. Members of MPI's locations are the first
// ranks, in their order; then come other groups as they are defined. What a process has created, such as the
// streams of an accelerator, are threads of that.
func (a *archive) place() (ranks int) {
	process := make(map[uint64]uint64) // of a group: the group of its process
	for _, g := range a.groups {
		process[g.number] = g.number
	}
	for _, g := range a.groups {
		if _, ok := process[g.creator]; ok && g.creator != g.number && g.kind != groupProcess {
			process[g.number] = g.creator
		}
	}
	groupOf := func(l *location) uint64 {
		if p, ok := process[l.group]; ok {
			return p
		}
		return l.group
	}
	numbers := make(map[uint64]int)
	number := func(group uint64) {
		if _, ok := numbers[group]; !ok {
			numbers[group] = len(numbers)
		}
	}
	located := make(map[uint64]*location)
	for i := range slices.Backward(a.locations) { // the first of a number counts
		located[a.locations[i].number] = &a.locations[i]
	}
	for _, of := range a.worldLocations() {
		if l := located[of]; l != nil {
			number(groupOf(l))
		}
	}
	threads := make([]int, 0, len(a.locations))
	for i := range a.locations {
		l := &a.locations[i]
		number(groupOf(l))
		l.rank = numbers[groupOf(l)]
		for len(threads) <= l.rank {
			threads = append(threads, 0)
		}
		l.thread = threads[l.rank]
		threads[l.rank]++
	}
	return max(len(numbers), 1)
}

// groupProcess is LOCATION_GROUP_TYPE_PROCESS, and so are the others.
const (
	groupProcess     = 1
	setCommLocations = 4
	setCommGroup     = 5
	setCommSelf      = 6
	paradigmMPI      = 4
	locationUnknown  = 0
	locationCPU      = 1
)

// worldLocations returns the locations that ranks of MPI's communicators are numbers of, nil if none are defined.
func (a *archive) worldLocations() []uint64 {
	for _, s := range a.sets {
		if s.kind == setCommLocations && s.paradigm == paradigmMPI {
			return s.members
		}
	}
	return nil
}

// A clock converts ticks to nanoseconds.
type clock struct {
	resolution, offset uint64 // ticks in a second, and ticks of the archive at 0
	plain              bool   // a tick is taken for a nanosecond, as times would be too large
}

const second = 1e9

// errScale is that of times that are too large in nanoseconds.
var errScale = errors.New("otf2: times are too large")

// nanoseconds returns a time in nanoseconds, and how many ticks the time is beyond the first that becomes that.
func (c *clock) nanoseconds(ticks uint64) (ns int64, rest uint64, err error) {
	x := int64(ticks - c.offset)
	if c.plain || c.resolution == second {
		return x, 0, nil
	}
	if c.resolution == 0 {
		return 0, 0, errScale
	}
	if ns, err = scale(x, second, c.resolution, false); err != nil {
		return 0, 0, err
	}
	first, err := scale(ns, c.resolution, second, true)
	return ns, uint64(x - first), err
}

// ticks is the inverse of nanoseconds.
func (c *clock) ticks(ns int64, rest uint64) uint64 {
	if c.plain || c.resolution == second {
		return uint64(ns) + c.offset
	}
	first, err := scale(ns, c.resolution, second, true)
	if err != nil { // it was not made of ticks
		return 0
	}
	return uint64(first) + rest + c.offset
}

// hasRest reports whether several ticks become one nanosecond.
func (c *clock) hasRest() bool { return !c.plain && c.resolution > second }

// scale returns x·by/of, rounded up or down.
func scale(x int64, by, of uint64, up bool) (int64, error) {
	negative := x < 0
	magnitude := uint64(x)
	if negative {
		magnitude = -magnitude
	}
	quotient, remainder, ok := mulDiv(magnitude, by, of)
	if !ok {
		return 0, errScale
	}
	if remainder > 0 && up != negative {
		quotient++
	}
	if quotient > 1<<62 {
		return 0, errScale
	}
	if negative {
		return -int64(quotient), nil
	}
	return int64(quotient), nil
}

// mulDiv returns x·by/of and the remainder, and whether the quotient has 64 bits.
func mulDiv(x, by, of uint64) (quotient, remainder uint64, ok bool) {
	high, low := bits.Mul64(x, by)
	if high >= of {
		return 0, 0, false
	}
	quotient, remainder = bits.Div64(high, low, of)
	return quotient, remainder, true
}

// The header of what is kept of definitions.
const (
	keptVersion   = 1
	keptName      = "otf2"
	keptLocations = "otf2/" // and then the position of the location
	keptExact     = "otf2/exact"
)

// appendKept appends what is kept of the definitions.
func (a *archive) appendKept(dst []byte) []byte {
	dst = append(dst, keptVersion)
	plain := byte(0)
	if a.clock.plain {
		plain = 1
	}
	return append(append(append(dst, plain), a.encoded...), numberEnd)
}

// parseKept reads what is kept of definitions, and hands each record to take, if there is one.
func parseKept(data []byte, take func(*Record) error) (*archive, error) {
	if len(data) < 2 || data[0] != keptVersion {
		return nil, fmt.Errorf("otf2: %w: definitions of another version", format.ErrCorrupt)
	}
	a := newArchive()
	d := decoder{in: bufio.NewReader(bytes.NewReader(data[2:]))}
	for {
		err := d.next()
		if err == io.EOF {
			break
		}
		if err == nil && d.record.Kind.Class == Event {
			err = errProtocol
		}
		if err != nil {
			return nil, fmt.Errorf("otf2: %w: definitions: %w", format.ErrCorrupt, err)
		}
		a.add(&d.record)
		if take != nil {
			if err := take(&d.record); err != nil {
				return nil, err
			}
		}
	}
	a.clock.plain = data[1] != 0
	a.place()
	return a, nil
}

// appendText appends a text with its length.
func appendText(dst []byte, text string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

// keyOf returns the name under which the i-th location is kept.
func keyOf(i int) string { return fmt.Sprintf("%s%08x", keptLocations, i) }
