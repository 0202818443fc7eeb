package spool

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A layoutKind says how a value is laid out in a record.
type layoutKind uint8

const (
	layoutWord     layoutKind = iota // one word
	layoutOptional                   // a length and at most one word
	layoutWords                      // a length and that many words
	layoutStatus                     // a length and at most one status
	layoutStatuses                   // a length and three words for each status
	layoutText                       // a length and that many bytes, padded to words
	layoutTexts                      // a length and that many texts
)

// A field is a value in a record.
type field struct {
	param int
	kind  layoutKind
	inOut bool // there even if the call failed
}

// A layout is the fields of the two records of a call.
type layout struct {
	before, after []field
	fails         bool // the function returns an error code
	begins        bool // there is a Began of each call
	group         bool // the function makes a communicator, of which there is the group
}

// The table: positions are the numbers in a spool.
var (
	functions = spec.Functions()
	constants = spec.Constants()
)

// Fingerprint returns a number that tells tables apart: a segment has that of the table
// that its interposer was built from, and is read with the same.
var Fingerprint = sync.OnceValue(func() uint64 {
	hash := sha256.New()
	for i := range functions {
		fmt.Fprintf(hash, "%s %v\n", functions[i].Name, functions[i].Result)
		for j := range functions[i].Params {
			p := &functions[i].Params[j]
			fmt.Fprintf(hash, "%s %v %v %t %t %t\n", p.Name, p.Type, p.Direction, p.Before(), p.After(), p.Counted())
		}
	}
	for _, c := range constants {
		fmt.Fprintln(hash, c.Name, c.Class)
	}
	return binary.LittleEndian.Uint64(hash.Sum(nil))
})

var layouts = func() []layout {
	list := make([]layout, len(functions))
	for i := range functions {
		l := &list[i]
		l.fails = functions[i].Result.Kind == 0
		l.begins = functions[i].Begins()
		l.group = functions[i].Communicator() >= 0
		for j := range functions[i].Params {
			p := &functions[i].Params[j]
			f := field{j, layoutOf(p), p.Direction == cst.InOut}
			if p.Before() {
				l.before = append(l.before, f)
			}
			if p.After() {
				l.after = append(l.after, f)
			}
		}
	}
	return list
}()

func layoutOf(p *spec.Param) layoutKind {
	switch {
	case p.Form == spec.Text:
		return layoutText
	case p.Form == spec.Texts || p.Form == spec.TextLists:
		return layoutTexts
	case p.Type.Kind == cst.KindStatus:
		return layoutStatus
	case p.Element().Kind == cst.KindStatus:
		return layoutStatuses
	case p.Form == spec.Array:
		return layoutWords
	case p.Counted():
		return layoutOptional
	}
	return layoutWord
}

func floatOf(word int64) float64 { return math.Float64frombits(uint64(word)) }

// A cursor reads values from the words of a record. The first failure sticks.
type cursor struct {
	data []byte
	off  int
	err  error
}

func (c *cursor) word() int64 {
	if c.err != nil {
		return 0
	}
	if len(c.data)-c.off < 8 {
		c.err = fmt.Errorf("%w: the record ends", io.ErrUnexpectedEOF)
		return 0
	}
	c.off += 8
	return int64(binary.LittleEndian.Uint64(c.data[c.off-8:]))
}

// take returns the next n·size bytes, rounded up to words.
func (c *cursor) take(n, size int64) []byte {
	if c.err != nil {
		return nil
	}
	if left := int64(len(c.data) - c.off); n > left/size || n*size > left {
		c.err = fmt.Errorf("%w: length %d in %d bytes", ErrCorrupt, n, left)
		return nil
	}
	from := c.off
	c.off += int(n*size+7) &^ 7
	if c.off > len(c.data) {
		c.err = fmt.Errorf("%w: length %d", ErrCorrupt, n)
		return nil
	}
	return c.data[from:c.off]
}

// group reads the group of a new communicator.
func (c *cursor) group(g *Group) error {
	rank, size := c.word(), c.word()
	if rank < -1 || rank > math.MaxInt32 || size < 0 || size > math.MaxInt32 {
		return fmt.Errorf("%w: rank %d in a group of %d", ErrCorrupt, rank, size)
	}
	*g = Group{int(rank), int(size)}
	return nil
}

var presences = [...]Presence{Absent, Ignored, Unused, Empty}

// read reads one value into v, which is zero. Most are a word: those are set
// without a copy.
func (c *cursor) read(v *Value, kind layoutKind) {
	if kind != layoutWord {
		*v = c.value(kind)
	} else if len(c.data)-c.off >= 8 {
		v.Presence = Given
		v.word = int64(binary.LittleEndian.Uint64(c.data[c.off:]))
		c.off += 8
	} else {
		c.word()
	}
}

// value reads a value that begins with its length.
func (c *cursor) value(kind layoutKind) Value {
	n := c.word()
	presence := Given
	if n < math.MinInt64/2 && (kind == layoutStatus || kind == layoutStatuses) {
		n, presence = n-math.MinInt64, Ignored // statuses of the interposer
	}
	if n < 0 {
		if n < -int64(len(presences)) {
			c.err = fmt.Errorf("%w: length %d", ErrCorrupt, n)
			return Value{}
		}
		return Value{Presence: presences[-n-1]}
	}
	v := Value{Presence: presence, word: n}
	if n != 1 && (kind == layoutOptional || kind == layoutStatus) {
		c.err = fmt.Errorf("%w: length %d of a single value", ErrCorrupt, n)
		return Value{}
	}
	switch kind {
	case layoutOptional:
		v.word = c.word()
	case layoutWords:
		v.data = c.take(n, 8)
	case layoutStatus, layoutStatuses:
		v.data = c.take(n, 24)
	case layoutText:
		v.data = c.take(n, 1)
	case layoutTexts:
		v.data = c.texts(n)
	}
	if c.err != nil {
		return Value{}
	}
	return v
}

// texts skips n texts and returns the bytes they take.
func (c *cursor) texts(n int64) []byte {
	from := c.off
	for i := int64(0); i < n && c.err == nil; i++ {
		if length := c.word(); length >= 0 {
			c.take(length, 1)
		} else if length != -1 && c.err == nil {
			c.err = fmt.Errorf("%w: length %d of a text", ErrCorrupt, length)
		}
	}
	return c.data[from:c.off]
}
