package trace

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/internal/requestid"
)

// PrintOptions configures a [Printer]. The zero PrintOptions is the default
// configuration.
type PrintOptions struct {
	// Absolute has ranks written as numbers, not as expressions.
	Absolute bool

	// Pooled has an argument of a signature that varies from call to call written with
	// the values of all calls of the function, not with those of the signature: then it
	// is the same text wherever that argument varies.
	Pooled bool
}

// A Printer writes the calls of a trace as people write them:
//
//	MPI_Isend(buf=heap#3+0, count=270, datatype=MPI_DOUBLE, dest=rank+1, tag=2000, comm=MPI_COMM_WORLD, request=isend#0)
//
// Its methods may be called from several goroutines at once. A call is written as
// the name of the function and its arguments, as name=value, in parentheses; after
// that, = and the value of a last parameter that is an output named result. The
// values are
//
//	handle   the name that the trace has for it, or its class and id: comm#0
//	request  a handle of class request: the function that makes it, without MPI_ and in
//	         lower case, and the number of the pool among those of that function, see
//	         internal/requestid; and the number within the pool unless it is 0:
//	         isend#0, isend#0.1; or request#7 if no call makes requests of pool 7
//	pointer  the segment and the displacement in bytes: heap#3+16, memory#0-8 in memory
//	         that is unknown, stack+16 if the segment has a name, and then MPI_IN_PLACE
//	         for displacement 0; segment#-20+0 for others; and @1 on device 1
//	rank     its name, or an expression if all ranks that make the call have one in
//	         common: rank+1, rank xor 1, or (rank+1) mod N where that is not rank+1;
//	         otherwise the number. Rank is that of the caller in the communicator,
//	         window or file that the call names, or in the run, and N the number of
//	         ranks there; world+1 says that it is 1 more than the rank of the caller in the run
//	         where the call names something else
//	tag, int the name, or the number
//	status   {source=3, tag=7, error=1}, without an error of 0, and without source
//	         or tag if it is −9, which says that the call tells it already
//	array    [1 2 3]
//
// and strings, bytes and floats as [cst.Value.AppendText] has them. Names that two
// numbers of one kind and class share are not used. A name that is not made of
// letters, digits, dots, colons, slashes and underscores and begins with a
// letter or an underscore is quoted as in Go, as is rank, world or N for a value.
type Printer struct {
	options PrintOptions
	numbers [cst.KindArray]map[int64]string // names by kind, but for handles
	handles map[string]map[int64]string     // by class

	canonical *canonical
}

// name returns the name of a number of type t, if it has one.
func (p *Printer) name(t *cst.Type, v int64) (string, bool) {
	names := p.numbers[t.Kind]
	if t.Kind == cst.KindHandle {
		names = p.handles[t.Class]
	}
	name, ok := names[v]
	return name, ok
}

// Printer returns a Printer of the calls of t.
func (t *Trace) Printer(o PrintOptions) *Printer {
	list := t.Run().Names
	p := &Printer{options: o, handles: make(map[string]map[int64]string), canonical: newCanonical(t)}
	type word struct {
		kind        cst.Kind
		class, name string
	}
	count := make(map[word]int, len(list))
	for _, n := range list {
		count[word{n.Kind, n.Class, n.Name}]++
	}
	for _, n := range list {
		names := &p.numbers[n.Kind]
		if n.Kind == cst.KindHandle {
			of := p.handles[n.Class]
			names = &of
		}
		if *names == nil {
			*names = make(map[int64]string)
		}
		if count[word{n.Kind, n.Class, n.Name}] == 1 {
			(*names)[n.Value] = n.Name
		}
		if n.Kind == cst.KindHandle {
			p.handles[n.Class] = *names
		}
	}
	return p
}

// maxPrinted is how many bytes of the texts of its calls a rank keeps: equal calls
// have equal texts.
const maxPrinted = 64 << 10

// A printedRank is what a Printer knows of a rank.
type printedRank struct {
	by    *Printer
	pools func() map[int64]requestPool
	texts []atomic.Pointer[[]string] // by terminal: its text, or what is around the arguments that advance
	kept  atomic.Int64               // bytes of these
}

// AppendCall appends a call that was read from the trace, and returns the extended
// slice.
func (p *Printer) AppendCall(dst []byte, c Call) []byte {
	if c.of == nil {
		c.check()
		return p.printing(dst, Call{Function: c.Function, Args: c.Args}).write((*printing).call)
	}
	r := p.printed(c.of)
	need.That(uint(c.Terminal) < uint(len(r.texts)), "trace: terminal out of range")
	c.check()
	x := p.printing(dst, c)
	if c.one {
		return x.write(func(x *printing) { x.around(r) })
	}
	if text := r.texts[c.Terminal].Load(); text != nil && len(*text) == 1 {
		return append(dst, (*text)[0]...)
	}
	begin := len(dst)
	dst = x.write((*printing).call)
	r.keep(c.Terminal, []string{string(dst[begin:])})
	return dst
}

// keep keeps the text of calls of a terminal, if there is room.
func (r *printedRank) keep(terminal uint32, text []string) {
	n := int64(0)
	for _, part := range text {
		n += int64(len(part))
	}
	if r.kept.Add(n) <= maxPrinted {
		r.texts[terminal].Store(&text)
	} else {
		r.kept.Add(-n)
	}
}

// around writes a call of which some arguments advance, with what is around these as it was written before.
func (p *printing) around(r *printedRank) {
	varied := p.of.rest.params(p.terminal)
	if slices.ContainsFunc(varied, func(i int) bool { return p.function.Params[i].Type.Kind == cst.KindHandle }) {
		p.call() // others are written as belongs to the group that it may be
		return
	}
	kept := r.texts[p.terminal].Load()
	if kept == nil || len(*kept) != len(varied)+1 {
		x, parts := *p, make([]string, 0, len(varied)+1)
		x.dst = nil
		x.list(func(i int) {
			if slices.Contains(varied, i) {
				parts, x.dst = append(parts, string(x.dst)), nil
				return
			}
			x.argument(i)
		})
		parts = append(parts, string(x.dst))
		kept = &parts
		r.keep(p.terminal, parts)
	}
	for k, part := range *kept {
		if p.dst = append(p.dst, part...); k < len(varied) {
			p.argument(varied[k])
		}
	}
}

// printed returns what p knows of a rank.
func (p *Printer) printed(of *Rank) *printedRank {
	r := of.printed.Load()
	if r == nil || r.by != p {
		r = newPrintedRank(p, of)
		of.printed.Store(r)
	}
	return r
}

func newPrintedRank(p *Printer, r *Rank) *printedRank {
	return &printedRank{
		by: p, texts: make([]atomic.Pointer[[]string], r.Terminals()),
		pools: sync.OnceValue(func() map[int64]requestPool { return poolsOf(r) }),
	}
}

// printings are kept from call to call, for their memory.
var printings = sync.Pool{New: func() any { return new(printing) }}

// printing returns what writes a call.
func (p *Printer) printing(dst []byte, c Call) printing {
	x := printing{Printer: p, of: c.of, function: c.Function, args: c.Args, terminal: c.Terminal, one: c.one, dst: dst}
	if c.of != nil {
		x.pools = p.printed(c.of).pools
	}
	return x
}

// write returns what f writes.
func (p printing) write(f func(*printing)) []byte {
	x := printings.Get().(*printing)
	*x = p
	f(x)
	dst := x.dst
	*x = printing{}
	printings.Put(x)
	return dst
}

// AppendArgument appends the i-th argument of a call that was read from the trace, as
// AppendCall writes its value, and returns the extended slice.
func (p *Printer) AppendArgument(dst []byte, c Call, i int) []byte {
	c.check()
	need.Index(i, len(c.Args), "trace: argument")
	return p.printing(dst, c).write(func(x *printing) { x.argument(i) })
}

// A requestPool is the n-th pool of the requests that a function makes.
type requestPool struct {
	maker string
	n     int
}

// requestClass is the class of handles of requests.
const requestClass = "request"

// poolsOf returns the pools of the requests that calls of a rank make.
func poolsOf(r *Rank) map[int64]requestPool {
	names := make(map[int64]string)
	for terminal := range uint32(r.Terminals()) {
		f := &r.trace.Functions()[r.Function(terminal)]
		for i, p := range f.Params {
			if makesRequests(p) {
				namePools(names, makerName(f.Name), r.call(terminal).Args[i])
			}
		}
	}
	return numberPools(names)
}

// makesRequests reports whether a parameter is a request, or several, that the
// function makes.
func makesRequests(p cst.Param) bool {
	t := p.Type
	for t.Kind == cst.KindArray {
		t = *t.Elem
	}
	return p.Direction == cst.Out && t.Kind == cst.KindHandle && t.Class == requestClass
}

// makerName returns what the requests that a function makes are called, nothing if
// that would be what others are called.
func makerName(function string) string {
	name := strings.ToLower(strings.TrimPrefix(function, "MPI_"))
	if name == requestClass {
		return ""
	}
	return name
}

// namePools gives the pools of requests a name, unless they have one.
func namePools(names map[int64]string, name string, v cst.Value) {
	if v.Kind() == cst.KindArray {
		for i := range v.Len() {
			namePools(names, name, v.Index(i))
		}
		return
	}
	if pool, _ := requestid.Split(v.Int()); pool >= 0 && name != "" && names[pool] == "" {
		names[pool] = name
	}
}

// numberPools numbers the pools of each name.
func numberPools(names map[int64]string) map[int64]requestPool {
	pools := make(map[int64]requestPool, len(names))
	count := make(map[string]int)
	for _, pool := range sortedKeys(names) {
		name := names[pool]
		pools[pool] = requestPool{name, count[name]}
		count[name]++
	}
	return pools
}

// A printing is a call that is being written.
type printing struct {
	*Printer
	pools    func() map[int64]requestPool // nil if it is not known who makes requests
	of       *Rank                        // nil if the call was not read from a trace
	function *cst.Function
	args     []cst.Value
	terminal uint32
	one      bool // as of a Call
	dst      []byte
}
