package semantics

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi"
	"github.com/reprise-trace/reprise/mpi/groups"
	"github.com/reprise-trace/reprise/symbolic"
)

// Classes of handles.
const (
	commClass     = "comm"
	winClass      = "win"
	fileClass     = "file"
	datatypeClass = "datatype"
	requestClass  = "request"
	messageClass  = "message"
	errorClass    = "error" // of the names of classes of errors
)

// An mpiDialect says what calls of MPI mean.
type mpiDialect struct {
	model     *Model
	plans     []*mpiPlan // by function; nil if it means nothing
	failed    []bool     // by function: it is that of calls that failed
	constants mpiConstants
	makes     [][]int        // by function: the parameters that are objects that it makes
	cancels   bool           // whether there is a function that does
	groups    *groups.Groups // nil if there are none, or too many

	mutex         sync.Mutex
	communicators map[*symbolic.Group]*Communicator
	selves        map[int]*Communicator
}

// mpiConstants are numbers that a trace has names for.
type mpiConstants struct {
	world, self, null         int64 // communicators
	anySource, procNull, root int64 // ranks
	anyTag                    int64
	inPlace                   int64 // a segment
	noOp                      int64 // an operation
	noMessage                 int64
	truncate                  int64           // a class of errors, which differs between MPIs
	sizes                     map[int64]int64 // of datatypes, by their ids
}

// isMPI reports whether there are functions of MPI.
func isMPI(functions []cst.Function) bool {
	return slices.ContainsFunc(functions, func(f cst.Function) bool { return strings.HasPrefix(f.Name, "MPI_") })
}

// newMPI returns the dialect of a trace of MPI, and an error about the groups that it
// cannot resolve.
func newMPI(ctx context.Context, m *Model, o groups.Options) (d *mpiDialect, unresolved, err error) {
	functions := m.trace.Functions()
	d = &mpiDialect{
		model: m, plans: make([]*mpiPlan, len(functions)), failed: make([]bool, len(functions)), makes: make([][]int, len(functions)),
		constants:     constantsOf(m.trace.Run().Names),
		communicators: make(map[*symbolic.Group]*Communicator), selves: make(map[int]*Communicator),
	}
	resolve := false
	for i := range functions {
		d.plans[i], d.failed[i] = planOf(&functions[i]), hasFailed(&functions[i])
		d.cancels = d.cancels || d.plans[i] != nil && d.plans[i].name == "Cancel"
		for k, p := range functions[i].Params {
			if p.Direction != cst.Out {
				continue
			}
			if t := element(p.Type); t.Kind == cst.KindHandle {
				d.makes[i] = append(d.makes[i], k)
				resolve = resolve || t.Class == commClass || t.Class == winClass || t.Class == fileClass
			}
		}
	}
	if resolve {
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
// names of a kind and class, they are those of package collect.
func constantsOf(names []merge.Name) mpiConstants {
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
	next := make(map[string]int64)
	for _, c := range mpi.Constants() {
		next[c.Class]--
		k := key{cst.KindHandle, c.Class, ""}
		switch c.Class {
		case "rank":
			k = key{cst.KindRank, "", ""}
		case "tag":
			k = key{cst.KindTag, "", ""}
		case "int", errorClass:
			continue
		case "pointer":
			k = key{cst.KindPointer, "", ""}
		}
		if !named[k] {
			k.name = c.Name
			numbers[k] = next[c.Class]
		}
	}
	number := func(kind cst.Kind, class, name string) int64 {
		if n, ok := numbers[key{kind, class, name}]; ok {
			return n
		}
		return absent
	}
	c := mpiConstants{
		world: number(cst.KindHandle, commClass, "MPI_COMM_WORLD"), self: number(cst.KindHandle, commClass, "MPI_COMM_SELF"),
		null:      number(cst.KindHandle, commClass, "MPI_COMM_NULL"),
		anySource: number(cst.KindRank, "", "MPI_ANY_SOURCE"), procNull: number(cst.KindRank, "", "MPI_PROC_NULL"),
		root: number(cst.KindRank, "", "MPI_ROOT"), anyTag: number(cst.KindTag, "", "MPI_ANY_TAG"),
		inPlace: number(cst.KindPointer, "", "MPI_IN_PLACE"), noOp: number(cst.KindHandle, "op", "MPI_NO_OP"),
		noMessage: number(cst.KindHandle, messageClass, "MPI_MESSAGE_NO_PROC"),
		truncate:  number(cst.KindHandle, errorClass, "MPI_ERR_TRUNCATE"),
		sizes:     make(map[int64]int64, len(datatypeSizes)),
	}
	for name, size := range datatypeSizes {
		if id := number(cst.KindHandle, datatypeClass, name); id != absent {
			c.sizes[id] = size
		}
	}
	return c
}

// absent is the number of a constant that a trace does not have.
const absent = -1 << 63

// communicator returns the Communicator of a group.
func (d *mpiDialect) communicator(g *symbolic.Group) *Communicator {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if c := d.communicators[g]; c != nil {
		return c
	}
	c := &Communicator{Name: g.Name(), count: g.Count, size: len(g.Members), members: g.Members, remote: g.Remote}
	if g.Parent == nil {
		if c.Name == d.model.world.Name {
			c = d.model.world
		} else if len(g.Members) == 1 {
			c = d.selfLocked(g.Members[0])
		}
	}
	d.communicators[g] = c
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

func (d *mpiDialect) rank(read *reprise.Rank, number int) (meanings, error) {
	return newMPIRank(d, read, number), nil
}
