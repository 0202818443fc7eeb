package running

import (
	"encoding/binary"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/progression"
	"github.com/reprise-trace/reprise/sequitur"
)

const (
	// A slot advances once it has scored so much. With 3, what goes round among a few values is taken to
	// advance; with 12, a rank that goes round among 13 is not.
	enough = 12

	// recent is the number of differences that a slot has lately had.
	recent = 4

	// maxRuns is how many runs the values of a slot have at most that is not known to advance.
	maxRuns = 64

	// maxGroups is how many groups are watched: where memory is new in every call, each is of one.
	maxGroups = 1 << 12
)

// A function describes the calls of one.
type function struct {
	keys    []int16 // the parameters that tell groups apart: pointers, and where the call was made
	slots   []slotOf
	last    *group            // the one that was found last
	groups  map[string]*group // by key; nil if there are less than two
	running int32             // groups in which a slot advances
}

// A slotOf is a number among the arguments.
type slotOf struct {
	param int16
	slot  uint8 // among the slots of a signature in no array
}

// newFunction returns what is known of calls of f before the first.
func newFunction(f *cst.Function) *function {
	of := new(function)
	site, slot := layout.SiteOf(f), 0
	for i, p := range f.Params {
		if i > 1<<14 || slot+1 >= layout.MaxStreamSlot {
			break
		}
		switch p.Type.Kind {
		case cst.KindArray:
			continue
		case cst.KindInt, cst.KindTag:
			of.slots = append(of.slots, slotOf{int16(i), uint8(slot)})
		case cst.KindPointer:
			of.keys = append(of.keys, int16(i))
			of.slots = append(of.slots, slotOf{int16(i), uint8(slot + 1)})
		}
		if i == site {
			of.keys = append(of.keys, int16(i))
		}
		slot += layout.ScalarSlots(p.Type)
	}
	if len(of.slots) == 0 {
		return &unwatched
	}
	return of
}

// unwatched are functions in which nothing advances: they have no groups.
var unwatched function

// A group is the calls of a function that have their streams in common.
type group struct {
	number int32
	first  uint32 // terminal
	key    string
	calls  uint64
	*watch // nil while there is one signature
}

// A watch describes a group with several signatures.
type watch struct {
	states  []state // of the slots of the function
	open    []int   // the slots whose values are written, of which none advances
	mask    uint64  // of the slots that advance, by their number among the slots of a signature
	variant int     // the function of signatures of this mask
	advance []int   // the slots that advance
}

// A state describes a slot of a group.
type state struct {
	phase       phase
	known, next uint8 // how many differences there are, and which comes next
	score       int32
	last        int64 // value
	low, high   int64
	differences [recent]int64
	stream      *stream
}

// A phase says what becomes of the values of a slot.
type phase uint8

const (
	constant  phase = iota // all are one so far
	written                // they are a stream that may be dropped
	given                  // they were a stream that had too many runs
	advancing              // they are a stream
)

// A stream is the values of a slot of a group.
type stream struct {
	late    bool // it does not begin with the first call of the group
	writer  progression.Writer
	runs    sequitur.Builder // over numbers of runs
	list    []progression.Run
	numbers map[progression.Run]sequitur.Symbol
	count   int // runs
}

// append adds a value.
func (s *stream) append(v int64) {
	if r, ok := s.writer.Append(v); ok {
		s.add(r)
	}
}

// add adds a run.
func (s *stream) add(r progression.Run) {
	n, ok := s.numbers[r]
	if !ok {
		if s.numbers == nil {
			s.numbers = make(map[progression.Run]sequitur.Symbol)
		}
		n = sequitur.Symbol(len(s.list))
		s.numbers[r], s.list = n, append(s.list, r)
	}
	s.runs.Append(n)
	s.count++
}

// appendKey appends what tells the group of a call from others of its function.
func (f *function) appendKey(key []byte, args []cst.Value) []byte {
	for _, k := range f.keys {
		if v := &args[k]; v.Kind() == cst.KindPointer {
			p := v.Pointer()
			key = binary.AppendVarint(binary.AppendVarint(key, p.Segment), p.Device)
		} else {
			key = binary.AppendVarint(key, v.Int())
		}
	}
	return key
}

// find returns the group with a key, nil if there is none.
func (f *function) find(key []byte) *group {
	if f.last != nil && f.last.key == string(key) {
		return f.last
	}
	g := f.groups[string(key)]
	if g != nil {
		f.last = g
	}
	return g
}

// add adds a group.
func (f *function) add(g *group) {
	if f.groups == nil && f.last != nil {
		f.groups = map[string]*group{f.last.key: f.last}
	}
	if f.groups != nil {
		f.groups[g.key] = g
	}
	f.last = g
}

// see looks at the value of a slot in a call whose signature is new, and reports whether the slot advances
// from the next call on. Calls is the number of calls of the group before.
func (s *state) see(v int64, calls uint64) bool {
	if s.phase == written {
		s.last = s.stream.writer.Value()
	}
	d := v - s.last
	if d == 0 {
		return false
	}
	if s.phase == constant {
		s.phase, s.stream = written, new(stream)
		s.stream.writer.Repeat(s.last, calls)
	}
	beyond := v < s.low || v > s.high
	if beyond && slices.Contains(s.differences[:s.known], d) {
		s.score++
	} else {
		s.score = max(0, s.score-2)
		s.differences[s.next] = d
		s.next, s.known = (s.next+1)%recent, min(s.known+1, recent)
	}
	s.last, s.low, s.high = v, min(s.low, v), max(s.high, v)
	return s.score >= enough
}
