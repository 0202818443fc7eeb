package spool

import (
	"encoding/binary"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// A RecordType says what a [Record] tells.
type RecordType uint8

// The types of records.
const (
	Call      RecordType = iota + 1 // a call of a function of MPI that returned
	Began                           // a call that may not have returned; see [spec.Function.Begins]
	Allocated                       // memory that was allocated
	Released                        // memory that is about to be freed
	Resized                         // memory that was freed and allocated by realloc
	Known                           // the value of a constant
	Region                          // memory that is not allocated: static data or a stack
	Module                          // an object in memory that calls come from
	Callers                         // where the function that makes calls was called, and so on
	Unmapped                        // a range of addresses that is about to be unmapped
	Assumed                         // what the program was assumed to do when it was sliced
	Sized                           // the size of a datatype that the call is given which is the next Call
)

// The numbers of regions. A region replaces an earlier one of its number: a thread
// may have the number of one that has ended. What is allocated may lie within a
// region, such as the stack of a thread for which the program itself found the
// memory.
const (
	Stack       = -16  // the stack of the first thread, as far as it may grow
	Static      = -17  // static data of the program; below, of what it loaded, in that order
	ThreadStack = -512 // less the number of a thread: its stack
)

// A Record is one event of a thread. A [Decoder] owns what it refers to.
type Record struct {
	Type RecordType

	// Function is the number of the function of a Call or a Began, see [spec.Functions],
	// and of the constant of a Known, see [spec.Constants].
	Function int

	// Start and End are the times of a Call in nanoseconds on the monotonic clock
	// of the machine. A Began has no End yet. Of memory, Start is when Old was still allocated, and End
	// when Address was allocated.
	Start, End int64

	// Depth is the number of calls of MPI that the thread was in when it made this
	// one: zero for what the program does itself, more in its callbacks and in an
	// MPI that is made of its own functions. A Call comes after those inside it.
	Depth int

	// Hidden is set for a call that was made while recording was off: it is there
	// because it makes or frees an object.
	Hidden bool

	// Site is the address that a Call or a Began returns to, or zero if the
	// interposer was not asked for it. The thread has told of the Module that it lies
	// in before. If the thread has told of Callers of this Site, it is a number for
	// these.
	Site uint64

	// Addresses are those that Callers return to, the innermost first, each in a Module.
	Addresses []uint64

	// Failed is set for a Call that returned an error: what it would have written
	// is not there.
	Failed bool

	// Result is the result of a Call as an integer; see [Record.Float]. Of a Known,
	// it is the value, and of a Sized the datatype.
	Result int64

	// Class is the class of the error code that a Call returned, or zero if MPI was
	// not initialized, or finalized already.
	Class int

	// Arguments are the arguments of a Call in the order of the parameters. A Began
	// has only those from before the call.
	Arguments []Argument

	Address, Old, Size uint64 // of memory; Old is not that of a Region; Size may be that of a datatype

	// Device is that of what was Allocated: 0 for the host, and one more than its number
	// for others.
	Device int

	// Base is what a Module adds to the addresses in its file, whose name is Path. Of an Assumed, Path is the
	// text.
	Base uint64
	Path Value

	// Number says what a Region is: see [Stack].
	Number int64

	// Group is that of the communicator that a Call has made: of every function
	// with one communicator for its output, unless it has a request as well.
	Group Group
}

// A Group says of a communicator what only the process knows that made it. The
// zero Group is none; that of MPI_COMM_NULL is the rank −1 and the size 0.
type Group struct {
	Rank int // of the process, among the processes on its side of an intercommunicator
	Size int // number of processes, of those on the other side of an intercommunicator
}

// Float returns the result of a function whose result is a [cst.KindFloat].
func (r *Record) Float() float64 { return floatOf(r.Result) }

// An Argument is the value of an argument before and after a call; which of them
// there is, the [spec.Param] says.
type Argument struct{ Before, After Value }

// A Presence says whether a value is there, and why not.
type Presence uint8

// The presences. The zero Presence is that of a value that is not recorded.
const (
	Missing Presence = iota // the table has none here, or the call failed
	Given                   // a value
	Absent                  // a null pointer
	// a constant for no array, such as MPI_UNWEIGHTED or, with or without the statuses, MPI_STATUS_IGNORE
	Ignored
	Unused // an argument that does not count in this call
	Empty  // MPI_WEIGHTS_EMPTY
)

// A Value is what was recorded of an argument: a number, an address or a handle
// as it is in C, or some of them, or text.
type Value struct {
	Presence Presence
	word     int64  // a single value; the elements of an array, or the bytes of a text
	data     []byte // words of an array or a text
}

// Int returns a single value, and is meaningless for others.
func (v Value) Int() int64 { return v.word }

// Len returns the number of elements of an array, of strings of Texts or of
// bytes of a text, and zero for what is none of them.
func (v Value) Len() int {
	if v.data == nil {
		return 0
	}
	return int(v.word)
}

// Index returns element i of an array of numbers, addresses or handles.
func (v Value) Index(i int) int64 {
	return int64(binary.LittleEndian.Uint64(v.data[8*i:]))
}

// Status returns element i of an array of statuses, or for i = 0 a status. Its
// error code is zero unless the call returned MPI_ERR_IN_STATUS.
func (v Value) Status(i int) cst.Status {
	return cst.Status{Source: v.Index(3 * i), Tag: v.Index(3*i + 1), Error: int64(int32(v.Index(3*i + 2)))}
}

// StatusClass returns the class of the error code of element i.
func (v Value) StatusClass(i int) int { return int(int32(v.Index(3*i+2) >> 32)) }

// Text returns a text. The result must not be changed.
func (v Value) Text() []byte { return v.data[:v.word] }

// Texts returns an iterator over strings and whether each is there: one that is
// absent was a null pointer, and closes a list among TextLists. The strings must
// not be changed.
func (v Value) Texts() iter.Seq2[[]byte, bool] {
	return func(yield func([]byte, bool) bool) {
		data := v.data
		for range v.word {
			n := int64(binary.LittleEndian.Uint64(data))
			data = data[8:]
			if n < 0 {
				if !yield(nil, false) {
					return
				}
				continue
			}
			if !yield(data[:n], true) {
				return
			}
			data = data[(n+7)&^7:]
		}
	}
}

// String returns r in one line, with all its values.
func (r *Record) String() string {
	switch r.Type {
	case Call:
		return fmt.Sprintf("%d..%d %s %g", r.Start, r.End, r.call(), r.Float())
	case Began:
		return fmt.Sprintf("%d %s began", r.Start, r.call())
	case Region:
		return fmt.Sprintf("region %d: %#x, %d bytes", r.Number, r.Address, r.Size)
	case Callers:
		return fmt.Sprintf("callers %#x: %#x", r.Site, r.Addresses)
	case Module:
		return fmt.Sprintf("module %q: %#x, %d bytes, base %#x", r.Path.Text(), r.Address, r.Size, r.Base)
	case Assumed:
		return fmt.Sprintf("assumed: %q", r.Path.Text())
	case Sized:
		return fmt.Sprintf("datatype %d: %d bytes", r.Result, r.Size)
	case Known:
		return fmt.Sprintf("%s = %d", constants[r.Function].Name, r.Result)
	}
	return fmt.Sprintf("%d..%d type %d: %#x, %#x, %d bytes", r.Start, r.End, r.Type, r.Old, r.Address, r.Size)
}

// call returns a call in one line.
func (r *Record) call() string {
	f := &functions[r.Function]
	var list []string
	for i := range f.Params {
		p, a := &f.Params[i], r.Arguments[i]
		if p.Before() {
			list = append(list, p.Name+"<"+a.Before.Format(p))
		}
		if p.After() {
			list = append(list, p.Name+">"+a.After.Format(p))
		}
	}
	group := ""
	if r.Site != 0 {
		group = fmt.Sprintf(", site %#x", r.Site)
	}
	if r.Group != (Group{}) {
		group += fmt.Sprintf(", rank %d, size %d", r.Group.Rank, r.Group.Size)
	}
	return fmt.Sprintf("%s(%s) = %d at depth %d, hidden %t, failed %t%s",
		f.Name, strings.Join(list, " "), r.Result, r.Depth, r.Hidden, r.Failed, group)
}

// Format returns v as text: the value of a parameter.
func (v Value) Format(p *spec.Param) string {
	switch v.Presence {
	case Missing:
		return "missing"
	case Absent:
		return "absent"
	case Ignored:
		if v.Len() == 0 {
			return "ignored"
		}
		return "ignored " + v.statuses()
	case Unused:
		return "unused"
	case Empty:
		return "empty"
	}
	var list []string
	switch layoutOf(p) {
	case layoutText:
		return strconv.Quote(string(v.Text()))
	case layoutTexts:
		for text, ok := range v.Texts() {
			if ok {
				list = append(list, strconv.Quote(string(text)))
			} else {
				list = append(list, "absent")
			}
		}
	case layoutStatus:
		return formatStatus(v.Status(0))
	case layoutStatuses:
		return v.statuses()
	case layoutWords:
		for i := range v.Len() {
			list = append(list, fmt.Sprint(v.Index(i)))
		}
	default:
		return fmt.Sprint(v.Int())
	}
	return "[" + strings.Join(list, ",") + "]"
}

// statuses returns statuses as text.
func (v Value) statuses() string {
	var list []string
	for i := range v.Len() {
		list = append(list, formatStatus(v.Status(i)))
	}
	return "[" + strings.Join(list, ",") + "]"
}

func formatStatus(s cst.Status) string {
	return fmt.Sprintf("{%d,%d,%d}", s.Source, s.Tag, s.Error)
}
