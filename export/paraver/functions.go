package paraver

import (
	"strings"

	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/mpi/spec"
	"github.com/reprise-trace/reprise/trace"
)

// Types of events.
const (
	pointToPoint = 50000001
	collective   = 50000002
	others       = 50000003
	oneSided     = 50000004
	files        = 50000005
	userFunction = 60000019
)

// typeNames are what types of events are called.
var typeNames = []struct {
	number int
	name   string
}{
	{pointToPoint, "MPI Point-to-point"},
	{collective, "MPI Collective Comm"},
	{others, "MPI Other"},
	{oneSided, "MPI One-sided"},
	{files, "MPI I/O"},
	{userFunction, "Function"},
}

// mpiValues are the functions of MPI that Extrae knows, without MPI_ and in lower case, in
// the order of their values, from 1 on.
var mpiValues = valuesOf(`send recv isend irecv wait waitall bcast barrier reduce allreduce
alltoall alltoallv gather gatherv scatter scatterv allgather allgatherv comm_rank comm_size
comm_create comm_dup comm_split comm_group comm_free comm_remote_group comm_remote_size comm_test_inter comm_compare scan
init finalize bsend ssend rsend ibsend issend irsend test cancel
sendrecv sendrecv_replace cart_create cart_shift cart_coords cart_get cart_map cart_rank cart_sub cartdim_get
dims_create graph_get graph_map graph_create graph_neighbors graphdims_get graph_neighbors_count topo_test waitany waitsome
probe iprobe win_create win_free put get accumulate win_fence win_start win_complete
win_post win_wait win_test win_lock win_unlock pack unpack op_create op_free reduce_scatter
attr_delete attr_get attr_put group_difference group_excl group_free group_incl group_intersection group_rank group_range_excl
group_range_incl group_size group_translate_ranks group_union group_compare intercomm_create intercomm_merge keyval_free keyval_create abort
error_class errhandler_create errhandler_free errhandler_get error_string errhandler_set get_processor_name initialized wtick wtime
address bsend_init buffer_attach buffer_detach request_free recv_init send_init get_count get_elements pack_size
rsend_init ssend_init start startall testall testany test_cancelled testsome type_commit type_contiguous
type_extent type_free type_hindexed type_hvector type_indexed type_lb type_size type_struct type_ub type_vector
file_open file_close file_read file_read_all file_write file_write_all file_read_at file_read_at_all file_write_at file_write_at_all
comm_spawn comm_spawn_multiple request_get_status ireduce iallreduce ibarrier ibcast ialltoall ialltoallv iallgather
iallgatherv igather igatherv iscatter iscatterv ireduce_scatter iscan`)

func valuesOf(names string) map[string]int {
	m := make(map[string]int)
	for name := range strings.FieldsSeq(names) {
		m[name] = len(m) + 1
	}
	return m
}

// States of Extrae.
const (
	stateRunning        = 1
	stateReceiving      = 3
	stateSending        = 4
	stateSynchronizing  = 5
	stateTesting        = 6
	stateWaiting        = 8
	stateBeginsSending  = 10
	stateBeginsReceive  = 11
	stateInputOutput    = 12
	stateGrouped        = 13
	stateOtherwise      = 15
	stateExchanging     = 16
	stateMemoryTransfer = 17
)

// stateNames are all of them, with their colours.
var stateNames = []struct{ name, colour string }{
	{"Idle", "{117,195,255}"}, {"Running", "{0,0,255}"}, {"Not created", "{255,255,255}"},
	{"Waiting a message", "{255,0,0}"},
	{"Blocking Send", "{255,0,174}"}, {"Synchronization", "{179,0,0}"}, {"Test/Probe", "{0,255,0}"},
	{"Scheduling and Fork/Join", "{255,255,0}"},
	{"Wait/WaitAll", "{235,0,0}"}, {"Blocked", "{0,162,0}"}, {"Immediate Send", "{255,0,255}"},
	{"Immediate Receive", "{100,100,177}"},
	{"I/O", "{172,174,41}"}, {"Group Communication", "{255,144,26}"}, {"Tracing Disabled", "{2,255,177}"},
	{"Others", "{192,224,0}"},
	{"Send Receive", "{66,66,66}"}, {"Memory transfer", "{255,0,96}"},
}

// A function is what records say of the calls of a function.
type function struct {
	kind, value, state int
}

// functionsOf returns what the functions of a trace are.
func functionsOf(t *trace.Trace) []function {
	list := t.Functions()
	actions := events.AreActions(list)
	all := make([]function, len(list))
	for i, f := range list {
		name := strings.ToLower(spec.Base(f.Name))
		if actions {
			name = strings.Replace(name, "reducescatter", "reduce_scatter", 1)
		}
		switch {
		case strings.HasPrefix(f.Name, "MPI"), actions && mpiValues[name] > 0:
			all[i] = mpiFunction(name, i)
		case actions && name == "compute":
			all[i] = function{userFunction, i + 1, stateRunning}
		default:
			all[i] = function{userFunction, i + 1, stateOtherwise}
		}
	}
	return all
}

// mpiFunction returns what a function of MPI is, that is number i of the trace.
func mpiFunction(name string, i int) function {
	f := function{others, mpiValues[name], stateOtherwise}
	if f.value == 0 {
		f.value = 1000 + i
	}
	switch {
	case strings.HasPrefix(name, "win_"):
		f.kind = oneSided
	case strings.HasPrefix(name, "file_"):
		f.kind, f.state = files, stateInputOutput
	}
	switch r := events.RoleOf(name); {
	case r.Class == spec.PointToPoint:
		f.kind, f.state = pointToPoint, messageState(r)
	case r.Requests == spec.Waits:
		f.kind, f.state = pointToPoint, stateWaiting
	case r.Requests == spec.Tests, r.Class == spec.Probe:
		f.kind, f.state = pointToPoint, stateTesting
	case r.Requests == spec.Cancels:
		f.kind = pointToPoint
	case r.Data == "Barrier":
		f.kind, f.state = collective, stateSynchronizing
	case r.Data != "":
		f.kind, f.state = collective, stateGrouped
	case r.Class == spec.OneSided:
		f.kind, f.state = oneSided, stateMemoryTransfer
	case r.Class == spec.Synchronization, name == "win_fence":
		f.kind, f.state = oneSided, stateSynchronizing
	}
	return f
}

// messageState returns the state of a call that sends or receives.
func messageState(r *spec.Role) int {
	switch {
	case r.Persistent || r.Requests == spec.Starts:
		return stateOtherwise
	case r.Sends != nil && r.Receives != nil:
		return stateExchanging
	case r.Sends != nil && r.Nonblocking:
		return stateBeginsSending
	case r.Sends != nil:
		return stateSending
	case r.Nonblocking:
		return stateBeginsReceive
	}
	return stateReceiving
}
