package proxy

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// actions are the calls in C for the actions of traces of SimGrid, package
// [github.com/reprise-trace/reprise/mpi/simgrid]. What is in braces are arguments. Buffers and
// requests are not in these traces: a request is found again by the ranks and the tag of its
// message.
var actions = map[string]string{
	"finalize":   "MPI_Finalize()",
	"barrier":    "MPI_Barrier(MPI_COMM_WORLD)",
	"comm_dup":   "MPI_Comm_dup(MPI_COMM_WORLD, &(MPI_Comm){MPI_COMM_NULL})",
	"send":       "MPI_Send(SENT, {count}, {type}, {destination}, {tag}, MPI_COMM_WORLD)",
	"bsend":      "MPI_Send(SENT, {count}, {type}, {destination}, {tag}, MPI_COMM_WORLD)",
	"Ssend":      "MPI_Ssend(SENT, {count}, {type}, {destination}, {tag}, MPI_COMM_WORLD)",
	"isend":      "MPI_Isend(SENT, {count}, {type}, {destination}, {tag}, MPI_COMM_WORLD, started(rank, {destination}, {tag}))",
	"ibsend":     "MPI_Isend(SENT, {count}, {type}, {destination}, {tag}, MPI_COMM_WORLD, started(rank, {destination}, {tag}))",
	"ISsend":     "MPI_Issend(SENT, {count}, {type}, {destination}, {tag}, MPI_COMM_WORLD, started(rank, {destination}, {tag}))",
	"recv":       "MPI_Recv(RECEIVED, {count}, {type}, {source}, {tag}, MPI_COMM_WORLD, MPI_STATUS_IGNORE)",
	"irecv":      "MPI_Irecv(RECEIVED, {count}, {type}, {source}, {tag}, MPI_COMM_WORLD, started({source}, rank, {tag}))",
	"wait":       "MPI_Wait(oldest({source}, {destination}, {tag}), MPI_STATUS_IGNORE)",
	"test":       "MPI_Wait(oldest({source}, {destination}, {tag}), MPI_STATUS_IGNORE)",
	"waitall":    "finish_all()",
	"bcast":      "MPI_Bcast(SENT, {count}, {type}, {root}, MPI_COMM_WORLD)",
	"reduce":     "MPI_Reduce(SENT, RECEIVED, {count}, {type}, ANY_OPERATION({type}), {root}, MPI_COMM_WORLD)",
	"allreduce":  "MPI_Allreduce(SENT, RECEIVED, {count}, {type}, ANY_OPERATION({type}), MPI_COMM_WORLD)",
	"scan":       "MPI_Scan(SENT, RECEIVED, {count}, {type}, ANY_OPERATION({type}), MPI_COMM_WORLD)",
	"exscan":     "MPI_Exscan(SENT, RECEIVED, {count}, {type}, ANY_OPERATION({type}), MPI_COMM_WORLD)",
	"gather":     "MPI_Gather(SENT, {send_count}, {send_type}, RECEIVED, {receive_count}, {receive_type}, {root}, MPI_COMM_WORLD)",
	"scatter":    "MPI_Scatter(SENT, {send_count}, {send_type}, RECEIVED, {receive_count}, {receive_type}, {root}, MPI_COMM_WORLD)",
	"allgather":  "MPI_Allgather(SENT, {send_count}, {send_type}, RECEIVED, {receive_count}, {receive_type}, MPI_COMM_WORLD)",
	"alltoall":   "MPI_Alltoall(SENT, {send_count}, {send_type}, RECEIVED, {receive_count}, {receive_type}, MPI_COMM_WORLD)",
	"gatherv":    "MPI_Gatherv(SENT, {send_count}, {send_type}, RECEIVED, {receive_counts}, no_distances, {receive_type}, {root}, MPI_COMM_WORLD)",
	"scatterv":   "MPI_Scatterv(SENT, {send_counts}, no_distances, {send_type}, RECEIVED, {receive_count}, {receive_type}, {root}, MPI_COMM_WORLD)",
	"allgatherv": "MPI_Allgatherv(SENT, {send_count}, {send_type}, RECEIVED, {receive_counts}, no_distances, {receive_type}, MPI_COMM_WORLD)",
	"alltoallv":  "MPI_Alltoallv(SENT, {send_counts}, no_distances, {send_type}, RECEIVED, {receive_counts}, no_distances, {receive_type}, MPI_COMM_WORLD)",
}

// simgridHeader has what the calls of actions need.
//
//go:embed runtime/simgrid.h
var simgridHeader string

// simgridTypes are the names of datatypes by their numbers in traces of SimGrid.
var simgridTypes = []string{
	"MPI_DOUBLE", "MPI_INT", "MPI_CHAR", "MPI_SHORT", "MPI_LONG", "MPI_FLOAT", "MPI_BYTE", "MPI_LONG_LONG",
	"MPI_SIGNED_CHAR",
	"MPI_UNSIGNED_CHAR", "MPI_UNSIGNED_SHORT", "MPI_UNSIGNED", "MPI_UNSIGNED_LONG", "MPI_UNSIGNED_LONG_LONG",
	"MPI_LONG_DOUBLE",
	"MPI_WCHAR", "MPI_C_BOOL", "MPI_INT8_T", "MPI_INT16_T", "MPI_INT32_T", "MPI_INT64_T", "MPI_UINT8_T",
	"MPI_UINT16_T", "MPI_UINT32_T", "MPI_UINT64_T",
}

// simgridName writes numbers of traces of SimGrid.
func simgridName(n int64) string {
	switch n {
	case -333:
		return "MPI_ANY_SOURCE"
	case -444:
		return "MPI_ANY_TAG"
	}
	return fmt.Sprint(n)
}

// inBraces is an argument in a call of an action.
var inBraces = regexp.MustCompile(`\{[a-z_]+\}`)

// computes reports whether an action computes, or sleeps.
func (c *call) computes() bool { return semantics.HasAmount(*c.signature.Function) }

// nanosecondsOf returns how long a value of a computing action takes: an operation a nanosecond, as reprise
// predict has it unless it is told otherwise.
func (c *call) nanosecondsOf(x cst.Value) float64 {
	var amount float64
	if x.Kind() == cst.KindFloat {
		amount = x.Float()
	} else {
		amount = float64(x.Int())
	}
	if c.signature.Function.Name == "sleep" {
		amount *= 1e9
	}
	if !(amount > 0) { // or no number
		return 0
	}
	return min(amount, 1<<52)
}

// amounts has calls follow the times of the computing actions before them: the mean, or each time.
func (g *generator) amounts(calls map[uint32]*call, list []uint32, to map[uint32]uint32) {
	if g.options.Compute == None || !slices.ContainsFunc(slices.Collect(maps.Values(calls)), (*call).computes) {
		return
	}
	g.simgrid = true
	var before []float64 // of each rank
	at := make(map[uint32]int)
	for _, n := range list {
		c := calls[n]
		if first, ok := to[n]; ok {
			c = calls[first]
		}
		before = slices.Grow(before, len(c.ranks))[:len(c.ranks)]
		switch {
		case c.computes():
			for k, of := range c.args[0].of {
				i := 0
				if c.args[0].varies {
					i = at[n]
				}
				before[k] += c.nanosecondsOf(of[i]) * g.options.Scale
			}
			at[n]++
		case c.left == "":
			for k, ns := range before {
				if c.gap += ns * 1e-9 / float64(c.times) / float64(len(c.ranks)); g.options.Gaps == Every {
					c.addGap(k, int64(ns))
				}
			}
			clear(before)
		}
	}
}

// addGap adds a gap in nanoseconds before a call of the k-th rank.
func (c *call) addGap(k int, ns int64) {
	if c.gaps == nil {
		c.gaps = &values{ranks: c.ranks, of: make([][]cst.Value, len(c.ranks)), varies: true, measured: true}
	}
	c.gaps.of[k] = append(c.gaps.of[k], cst.Int(ns))
}

// action returns the call of an action in C.
func (s *statement) action() (string, error) {
	var failed error
	text := inBraces.ReplaceAllStringFunc(actions[s.signature.Function.Name], func(name string) string {
		name = name[1 : len(name)-1]
		v := s.argument(name)
		if v == nil {
			return "0" // as a process has that is not the root
		}
		var text string
		var err error
		switch s.typeOf(name).Kind {
		case cst.KindHandle:
			x, same := v.same()
			if !same || x.Int() < 0 || x.Int() >= int64(len(simgridTypes)) {
				err = refusal("has a datatype that is not known")
				break
			}
			text = simgridTypes[x.Int()]
		case cst.KindArray:
			text, err = s.row(v, s.key(), name, "int", cst.Value.Int, simgridName)
		default:
			text, err = s.number(v, s.key(), name, cst.Value.Int, simgridName)
		}
		if failed == nil {
			failed = err
		}
		return text
	})
	return text + ";", failed
}
