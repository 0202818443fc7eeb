package proxy

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/need"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/sequitur"
	"github.com/reprise-trace/reprise/trace"
)

//go:embed runtime/proxy.h
var runtimeHeader string

//go:embed runtime/proxy.c
var runtimeSource string

// A Compute says what a proxy does for the time between calls.
type Compute string

// What a proxy does in gaps.
const (
	None  Compute = "none"  // nothing
	Spin  Compute = "spin"  // it computes, in all as long as the gaps take
	Sleep Compute = "sleep" // it sleeps so long
)

// Options say what is written.
type Options struct {
	Name    string // of the trace, for a comment
	Compute Compute
	Gaps    Gaps    // means, if it is empty
	Scale   float64 // a factor on the gaps; 0 stands for 1
}

// OneFile returns the program as one source.
func (p *Program) OneFile() string {
	one := p.define + runtimeSource + "\n" + p.Files[0].Text
	for _, f := range slices.Backward(p.Files) { // a header includes those before it
		if include := fmt.Sprintf("#include %q\n", f.Name); strings.HasSuffix(f.Name, ".h") {
			one = strings.ReplaceAll(strings.Replace(one, include, f.Text, 1), include, "")
		}
	}
	return one
}

// A Program is the source of a proxy.
type Program struct {
	Files   []File
	Lines   int       // of main.c
	Tables  int       // lines of tables in a file of their own, 0 if they are few
	Calls   uint64    // of all ranks, that are made; 2⁶⁴−1 if they are more
	LeftOut []LeftOut // by function and reason
	Command string    // a shell builds and runs it with, in its directory
	define  string    // before the runtime
}

// A File is one of those of a Program.
type File struct{ Name, Text string }

// A LeftOut is calls that a Program does not make.
type LeftOut struct {
	Function string
	Reason   string // goes on after "which"
	Calls    uint64 // of all ranks
}

// A generator writes a program.
type generator struct {
	ctx     context.Context
	trace   *trace.Trace
	options Options
	size    int // ranks

	calls    []map[uint32]*call // of each shape, by signature
	grammars []*sequitur.Grammar
	folded   []map[uint32]uint32 // the signature that another one is written as
	tags     map[int64]bool      // of messages

	objects map[string]*objects
	buffers buffers
	tables  tables
	loops   []loop // that the call stands in which is written, the outermost first

	functions   strings.Builder
	names       map[string]int    // of functions, how often each was asked for
	bodies      map[string]string // the names of functions by their lines
	mostOutputs int
	mostArray   int             // elements of an array
	room        []room          // of the buffers
	reaches     map[int64]reach // of the datatypes of the program
	written     int             // calls and loops
	refused     int             // calls that turned out to have arguments that are not made again
	init        string
	early       int  // calls before MPI_Init
	simgrid     bool // the trace is one of SimGrid
	begins      beginnings
	foreign     map[int64]string // handlers of errors that are there from the start, and of what
	files       []string         // that are opened, by their names in the trace
	texts       []string         // those that differ between ranks or calls, as they are written
	textNumbers map[string]int64
}

// Generate returns a program that makes the calls of a trace. If Options ask for [Spin] or [Sleep], and the
// trace does not say how long, an error is [ErrNoTimes].
func Generate(ctx context.Context, tr *trace.Trace, o Options) (*Program, error) {
	need.That(tr != nil, "proxy: no trace")
	if err := checkTimes(tr, o); err != nil {
		return nil, err
	}
	g := &generator{ctx: ctx, trace: tr, options: o, size: tr.Ranks(), objects: make(map[string]*objects)}
	if o.Scale == 0 {
		g.options.Scale = 1
	}
	if err := g.read(); err != nil {
		return nil, err
	}
	g.findTags()
	for _, shape := range g.calls {
		for _, c := range shape {
			g.simgrid = g.simgrid || c.function == nil && c.signature.Function.Name == "init"
		}
	}
	var main string
	for again := true; again; { // until no call is left out that was not before
		g.clear()
		if err := g.leaveOutAll(); err != nil {
			return nil, err
		}
		g.collect()
		g.findRoom()
		before := g.refused
		var err error
		if main, err = g.main(); err != nil {
			return nil, err
		}
		again = g.refused > before
	}
	p := &Program{Command: g.command()}
	p.Lines = strings.Count(main, "\n")
	if o.Compute == Sleep {
		p.define = "#define PROXY_SLEEP\n"
	}
	g.count(p)
	p.Files = []File{{"main.c", main}, {"proxy.h", runtimeHeader}, {"proxy.c", runtimeSource},
		{"Makefile", g.makefile()}, {"README", g.readme(p)}}
	if g.tables.apart() {
		text := "/* The numbers that differ from rank to rank, or from call to call. */\n" + g.tables.text.String()
		p.Files = append(p.Files, File{"tables.h", text})
		p.Tables = strings.Count(text, "\n")
	}
	if g.simgrid {
		p.Files = append(p.Files, File{"simgrid.h", simgridHeader})
	}
	if g.begins.session {
		p.Files = append(p.Files, File{"sessions.h", sessionsHeader})
	}
	return p, nil
}

// leaveOutAll leaves out what cannot be made: what that leaves without an object is left out, too.
func (g *generator) leaveOutAll() error {
	for again := true; again; {
		g.leaveOut()
		var err error
		if again, err = g.follow(); err != nil {
			return err
		}
	}
	return nil
}

// clear forgets what was written.
func (g *generator) clear() {
	g.tables = tables{names: make(map[string]string), count: make(map[string]int), cursors: make(map[string]string)}
	g.buffers, g.functions, g.mostOutputs, g.mostArray, g.init, g.files = nil, strings.Builder{}, 0, 0, "", nil
	g.names, g.bodies = make(map[string]int), make(map[string]string)
	g.texts, g.textNumbers, g.loops = nil, make(map[string]int64), nil
	for class := range classes {
		g.objects[class] = &objects{made: make(map[int64]bool), got: make(map[int64]bool)}
	}
}

// collect numbers the objects and buffers of the calls that are made.
func (g *generator) collect() {
	for _, shape := range g.calls {
		for _, c := range shape {
			if c.left != "" || c.function == nil || isInit(c.signature.Function.Name) {
				continue
			}
			c.uses(func(class string, id int64, makes bool) {
				if isObject(id) || makes {
					g.objects[class].add(id)
				}
			})
			for _, p := range c.function.Declared() {
				v := c.argument(p.Name)
				if v == nil {
					continue
				}
				v.each(func(x cst.Value) {
					switch x.Kind() {
					case cst.KindArray:
						g.mostArray = max(g.mostArray, x.Len())
						for i := range x.Len() {
							if x.Index(i).Kind() == cst.KindPointer {
								g.buffers.add(x.Index(i).Pointer())
							}
						}
					case cst.KindInt:
						if p.Direction == cst.In && (p.Name == "count" || p.Name == "incount" ||
							strings.HasPrefix(p.Name, "max")) && spec.RoleOf(c.function.Name).Sends == nil {
							g.mostArray = max(g.mostArray, int(min(x.Int(), 1<<16)))
						}
					case cst.KindPointer:
						if p.Form == spec.ByValue && (p.Use != spec.Word || usesWords(c.function.Name)) ||
							allocates(c.function.Name) {
							g.buffers.add(x.Pointer())
						}
					}
				})
				if e := p.Element(); p.Form == spec.Array && e.Kind == cst.KindHandle && classes[e.Class] != "" {
					if _, same := v.same(); !same {
						v.each(func(x cst.Value) {
							eachHandle(&p, x, func(class string, id int64, _ bool) { g.objects[class].add(id) })
						})
					}
				}
				class := p.Type.Class
				if p.Type.Kind != cst.KindHandle || classes[class] == "" {
					continue
				}
				if _, same := v.same(); !same { // constants, too, if some ranks have objects in their place
					v.each(func(x cst.Value) { g.objects[class].add(x.Int()) })
				}
			}
			if v := c.argument("array_of_requests"); v != nil {
				v.each(func(x cst.Value) {
					for i := range x.Len() {
						g.objects["request"].add(x.Index(i).Int())
					}
				})
			}
		}
	}
}
