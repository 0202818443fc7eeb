package semantics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/memory"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/internal/groups"
	"github.com/reprise-trace/reprise/mpi/internal/resolve"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
)

// Classes of handles.
const (
	commClass     = "comm"
	winClass      = "win"
	fileClass     = "file"
	datatypeClass = "datatype"
	requestClass  = "request"
	messageClass  = "message"
)

// An mpiDialect says what calls of MPI mean.
type mpiDialect struct {
	model     *Model
	run       merge.Run
	worlds    []*Communicator // what MPI_COMM_WORLD is, in each world of the run
	roles     []*spec.Role    // by function
	outcomes  []spec.Outcome  // by function: how its calls ended
	constants mpiConstants
	makes     [][]int         // by function: the parameters that are objects that it makes
	cancels   bool            // whether there is a function that does
	groups    *resolve.Groups // nil if there are none, or too many

	mutex         sync.Mutex
	communicators map[*resolve.Group]*Communicator
	selves        map[int]*Communicator
	persistent    map[persistentKey]*Communicator
}

// A persistentKey is a kind of persistent collective operations on a communicator.
type persistentKey struct {
	of   *Communicator
	role *spec.Role
	root int
}

// mpiConstants are numbers that a trace has names for.
type mpiConstants struct {
	world, self, null         int64 // communicators
	anySource, procNull, root int64 // ranks
	anyTag                    int64
	inPlace                   int64 // a segment
	noOp                      int64 // an operation
	noMessage                 int64
	truncate, pending         int64           // classes of errors, which differ between MPIs
	sizes                     map[int64]int64 // of datatypes, by their ids
}

// isMPI reports whether there are functions of MPI.
func isMPI(functions []cst.Function) bool {
	return slices.ContainsFunc(functions, func(f cst.Function) bool { return spec.Base(f.Name) != f.Name })
}

// newMPI returns the dialect of a trace of MPI, and an error about the groups that it
// cannot resolve.
func newMPI(ctx context.Context, m *Model, o groups.Options) (d *mpiDialect, unresolved, err error) {
	functions := m.trace.Functions()
	worlds, err := m.worlds()
	if err != nil {
		return nil, nil, err
	}
	d = &mpiDialect{
		model: m, roles: make([]*spec.Role, len(functions)), outcomes: make([]spec.Outcome, len(functions)),
		makes:     make([][]int, len(functions)),
		constants: constantsOf(m.trace.Run().Names),
		run:       m.trace.Run(), worlds: worlds,
		communicators: make(map[*resolve.Group]*Communicator), selves: make(map[int]*Communicator),
		persistent: make(map[persistentKey]*Communicator),
	}
	grouped := false
	for i := range functions {
		d.roles[i], d.outcomes[i] = spec.RoleOf(functions[i].Name), spec.OutcomeOf(&functions[i])
		d.cancels = d.cancels || d.roles[i].Requests == spec.Cancels
		for k, p := range functions[i].Params {
			if p.Direction != cst.Out {
				continue
			}
			if t := element(p.Type); t.Kind == cst.KindHandle {
				d.makes[i] = append(d.makes[i], k)
				grouped = grouped || t.Class == commClass || t.Class == winClass || t.Class == fileClass
			}
		}
	}
	if grouped {
		d.groups, err = groups.Resolve(ctx, m.trace, o)
		if limit := (*groups.LimitError)(nil); err != nil && d.groups == nil && !errors.As(err, &limit) {
			return nil, nil, fmt.Errorf("semantics: communicators: %w", err)
		}
		unresolved = err
	}
	return d, unresolved, nil
}

// element returns the type of the elements of an array, and others as they are.
func element(t cst.Type) cst.Type {
	for t.Kind == cst.KindArray {
		t = *t.Elem
	}
	return t
}

// constantsOf returns the constants of a trace that names numbers so. Where it has no
// names of a type, they are those of package collect.
func constantsOf(names []format.Name) mpiConstants {
	type key struct {
		kind        cst.Kind
		class, name string
	}
	numbers := make(map[key]int64)
	named := make(map[key]bool)
	for _, n := range names {
		numbers[key{n.Kind, n.Class, n.Name}] = n.Value
		named[key{n.Kind, n.Class, ""}] = true
	}
	c := mpiConstants{sizes: make(map[int64]int64)}
	wanted := map[string]*int64{
		"MPI_COMM_WORLD": &c.world, "MPI_COMM_SELF": &c.self, "MPI_COMM_NULL": &c.null,
		"MPI_ANY_SOURCE": &c.anySource, "MPI_PROC_NULL": &c.procNull, "MPI_ROOT": &c.root, "MPI_ANY_TAG": &c.anyTag,
		"MPI_IN_PLACE": &c.inPlace, "MPI_NO_OP": &c.noOp, "MPI_MESSAGE_NO_PROC": &c.noMessage,
		"MPI_ERR_TRUNCATE": &c.truncate, "MPI_ERR_PENDING": &c.pending,
	}
	for _, known := range spec.Constants() {
		t := known.Type()
		number, ok := numbers[key{t.Kind, t.Class, known.Name}]
		switch {
		case ok:
		case named[key{t.Kind, t.Class, ""}] || t.Kind == cst.KindInt || t.Class == "error":
			number = absent
		default:
			number = known.ID
		}
		if to := wanted[known.Name]; to != nil {
			*to = number
		}
		if size := known.Size(); size >= 0 && number != absent {
			c.sizes[number] = size
		}
	}
	return c
}

// absent is the number of a constant that a trace does not have.
const absent = -1 << 63

// worlds returns what MPI_COMM_WORLD is, which is one communicator or several. Of several, it lists the
// members.
func (m *Model) worlds() ([]*Communicator, error) {
	run := m.trace.Run()
	if len(run.Worlds) < 2 {
		return []*Communicator{m.world}, nil
	}
	const memberMemory = 16
	if err := memory.Check(m.trace, "ranks of the run", uint64(run.Ranks), memberMemory); err != nil {
		return nil, err
	}
	list := make([]*Communicator, len(run.Worlds))
	for i, w := range run.Worlds {
		_, first, size := run.WorldOf(w.First)
		list[i] = &Communicator{Name: groups.WorldName(run, i), size: size, members: make([]int, size)}
		for k := range size {
			list[i].members[k] = first + k
		}
	}
	return list, nil
}

// communicator returns the Communicator of a group.
func (d *mpiDialect) communicator(g *resolve.Group) *Communicator {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.communicatorLocked(g)
}

func (d *mpiDialect) communicatorLocked(g *resolve.Group) *Communicator {
	if c := d.communicators[g]; c != nil {
		return c
	}
	c := &Communicator{Name: g.Name(), size: len(g.Members), members: g.Members, remote: g.Remote}
	c.reordered = g.Parent != nil && g.Kind == spec.Topology && !slices.Equal(g.Members, g.Parent.Members)
	if g.Parent == nil {
		if w := slices.IndexFunc(d.worlds, func(w *Communicator) bool { return w.Name == c.Name }); w >= 0 {
			c = d.worlds[w]
		} else if len(g.Members) == 1 {
			c = d.selfLocked(g.Members[0])
		}
	} else {
		c.parent = d.communicatorLocked(g.Parent)
	}
	d.communicators[g] = c
	return c
}

// kindOf returns the Communicator on which persistent operations such as o are counted, which a function
// begins.
func (d *mpiDialect) kindOf(o *Operation, function string) *Communicator {
	k := persistentKey{o.Communicator, o.Role, -1}
	name := k.of.Name + ", persistent " + strings.TrimSuffix(function, "_init")
	if o.Root >= 0 && !k.of.IsInter() {
		k.root = o.Root
		name += fmt.Sprintf(" of %d", o.Root)
	}
	d.mutex.Lock()
	defer d.mutex.Unlock()
	c := d.persistent[k]
	if c == nil {
		kind := *k.of
		kind.Name, kind.of = name, k.of
		c = &kind
		d.persistent[k] = c
	}
	return c
}

// selfOf returns the Communicator that is MPI_COMM_SELF for a rank.
func (d *mpiDialect) selfOf(rank int) *Communicator {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.selfLocked(rank)
}

func (d *mpiDialect) selfLocked(rank int) *Communicator {
	c := d.selves[rank]
	if c == nil {
		c = &Communicator{Name: fmt.Sprint("self", rank), size: 1, members: []int{rank}}
		d.selves[rank] = c
	}
	return c
}

func (d *mpiDialect) rank(read *trace.Rank, number int) (meanings, error) {
	return newMPIRank(d, read, number), nil
}

// counts tells nothing of addresses, and of where data is in files and windows.
func (d *mpiDialect) counts(function, param int) bool {
	p := &d.model.trace.Functions()[function].Params[param]
	switch p.Name {
	case "offset", "disp", "target_disp":
		return p.Type.Kind != cst.KindInt
	}
	return p.Type.Kind != cst.KindPointer
}

// happened reports whether a call that did not succeed means what others do. One that failed does
// if it received a message, of which there was no room for all, if it waited for one
// operation, which is what failed, or if it says what became of several operations. One
// that has not returned has begun what it does, but completed nothing.
func happened(p *spec.Role, outcome spec.Outcome, args arguments, truncate int64) bool {
	switch {
	case outcome == spec.InFlight:
		return p.Class != spec.Completion && p.Class != spec.Probe
	case p.Class == spec.Completion:
		_, single := args.find("request", cst.KindHandle)
		for _, output := range []string{"flag", "index", "outcount"} {
			if _, told := args.find(output, cst.KindInt); told {
				return true
			}
		}
		_, told := args.told("array_of_statuses", cst.KindArray)
		return told || single && p.Requests == spec.Waits
	}
	return p.Receives != nil && args.number("error", cst.KindInt) == truncate
}
