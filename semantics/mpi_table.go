package semantics

import (
	"slices"
	"strings"

	"github.com/reprise-trace/reprise/cst"
)

// An mpiPlan says what a function of MPI means.
type mpiPlan struct {
	name       string // as mpiName returns it
	class      Class
	group      string // the parameter that is the communicator, window or file
	groupClass string // of the handle

	parts       []part // messages
	persistent  bool   // the call makes a request; MPI_Start begins what it says
	starts      bool   // MPI_Start, MPI_Startall
	nonblocking bool   // a call makes a request that another completes
	fetches     bool   // one-sided, with a result
	takes       bool   // receives the message that a probe found

	family string // of a collective operation on data, such as Alltoallv
	access access
}

// A part is a message of a function, by the names of its parameters.
type part struct {
	direction                  Direction
	mode                       Mode
	peer, tag, count, datatype string
}

// An access says which way the data of a function for files go.
type access uint8

const (
	noAccess access = iota
	reads
	writes
)

// mpiName returns the name of a function without MPI_, and _c of large counts.
func mpiName(function string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(function, "MPIX_"), "MPI_"), "_c")
}

// planOf returns the plan of a function; nil if it means nothing.
func planOf(f *cst.Function) *mpiPlan {
	if !strings.HasPrefix(f.Name, "MPI") {
		return nil
	}
	return mpiPlans[mpiName(f.Name)]
}

// hasFailed reports whether a function is that of calls that failed.
func hasFailed(f *cst.Function) bool {
	n := len(f.Params)
	return n > 0 && f.Params[n-1].Name == "error" && f.Params[n-1].Direction == cst.Out
}

// happened reports whether a call that failed means what others do: it received a message,
// of which there was no room for all, or it has a status for each of several operations.
func (p *mpiPlan) happened(args arguments, truncate int64) bool {
	if p.class == Completion {
		_, told := args.find("array_of_statuses", cst.KindArray)
		return told
	}
	receives := slices.ContainsFunc(p.parts, func(q part) bool { return q.direction == Receive })
	return receives && args.number("error", cst.KindInt) == truncate
}

// mpiPlans are the plans by names.
var mpiPlans = makePlans()

func makePlans() map[string]*mpiPlan {
	plans := make(map[string]*mpiPlan)
	planMessages(plans)
	planOneSided(plans)
	planCollectives(plans)
	planFiles(plans)
	add := func(class Class, names string) {
		for name := range strings.FieldsSeq(names) {
			plans[name] = &mpiPlan{class: class}
		}
	}
	add(Completion, "Wait Waitall Waitany Waitsome Test Testall Testany Testsome Request_free Request_get_status Request_get_status_all "+
		"Request_get_status_any Request_get_status_some Cancel")
	for name := range strings.FieldsSeq("Probe Iprobe Mprobe Improbe") {
		plans[name] = &mpiPlan{class: Probe, group: "comm", groupClass: commClass}
	}
	for name := range strings.FieldsSeq("Win_post Win_start Win_complete Win_wait Win_test Win_lock Win_unlock Win_lock_all Win_unlock_all " +
		"Win_flush Win_flush_all Win_flush_local Win_flush_local_all Win_sync") {
		plans[name] = &mpiPlan{class: Synchronization, group: "win", groupClass: winClass}
	}
	for name, p := range plans {
		p.name = name
	}
	return plans
}

// planMessages adds the functions that send and receive.
func planMessages(plans map[string]*mpiPlan) {
	sends := map[string]Mode{"send": Standard, "bsend": Buffered, "ssend": Synchronous, "rsend": Ready}
	message := func(name string, parts ...part) *mpiPlan {
		p := &mpiPlan{class: PointToPoint, group: "comm", groupClass: commClass, parts: parts}
		plans[name] = p
		return p
	}
	for name, mode := range sends {
		one := part{Send, mode, "dest", "tag", "count", "datatype"}
		upper := strings.ToUpper(name[:1]) + name[1:]
		message(upper, one)
		message("I"+name, one).nonblocking = true
		message(upper+"_init", one).persistent = true
	}
	one := part{Receive, Standard, "source", "tag", "count", "datatype"}
	message("Recv", one)
	message("Irecv", one).nonblocking = true
	message("Recv_init", one).persistent = true
	message("Precv_init", one).persistent = true
	message("Psend_init", part{Send, Standard, "dest", "tag", "count", "datatype"}).persistent = true
	message("Mrecv", one).takes = true
	taking := message("Imrecv", one)
	taking.takes, taking.nonblocking = true, true

	both := []part{
		{Send, Standard, "dest", "sendtag", "sendcount", "sendtype"},
		{Receive, Standard, "source", "recvtag", "recvcount", "recvtype"},
	}
	message("Sendrecv", both...)
	message("Isendrecv", both...).nonblocking = true
	both = []part{
		{Send, Standard, "dest", "sendtag", "count", "datatype"},
		{Receive, Standard, "source", "recvtag", "count", "datatype"},
	}
	message("Sendrecv_replace", both...)
	message("Isendrecv_replace", both...).nonblocking = true
	plans["Start"] = &mpiPlan{class: PointToPoint, starts: true}
	plans["Startall"] = &mpiPlan{class: PointToPoint, starts: true}
}

// planOneSided adds the functions that access the memory of another process.
func planOneSided(plans map[string]*mpiPlan) {
	origin := func(d Direction) part { return part{d, Standard, "target_rank", "", "origin_count", "origin_datatype"} }
	single := part{Fetch, Standard, "target_rank", "", "", "datatype"}
	for _, one := range []struct {
		name string
		part part
	}{
		{"Put", origin(Put)}, {"Get", origin(Get)}, {"Accumulate", origin(Accumulate)}, {"Get_accumulate", origin(Fetch)},
		{"Fetch_and_op", single}, {"Compare_and_swap", single},
	} {
		p := &mpiPlan{class: OneSided, group: "win", groupClass: winClass, parts: []part{one.part}, fetches: one.part.direction == Fetch}
		plans[one.name] = p
		request := *p
		request.nonblocking = true
		plans["R"+strings.ToLower(one.name[:1])+one.name[1:]] = &request
	}
}

// planCollectives adds the functions that all members of a communicator call.
func planCollectives(plans map[string]*mpiPlan) {
	for family := range strings.FieldsSeq("Barrier Bcast Reduce Allreduce Scan Exscan Gather Gatherv Scatter Scatterv Allgather Allgatherv " +
		"Alltoall Alltoallv Alltoallw Reduce_scatter Reduce_scatter_block Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall " +
		"Neighbor_alltoallv Neighbor_alltoallw") {
		p := mpiPlan{class: Collective, group: "comm", groupClass: commClass, family: family}
		plain, started, persistent := p, p, p
		started.nonblocking, persistent.persistent = true, true
		plans[family], plans["I"+strings.ToLower(family[:1])+family[1:]], plans[family+"_init"] = &plain, &started, &persistent
	}
	add := func(class, parameter, names string) {
		for name := range strings.FieldsSeq(names) {
			plans[name] = &mpiPlan{class: Collective, group: parameter, groupClass: class}
		}
	}
	add(commClass, "comm", "Comm_dup Comm_dup_with_info Comm_idup Comm_idup_with_info Comm_split Comm_split_type Comm_create Comm_free "+
		"Comm_disconnect Comm_set_info Comm_spawn Comm_spawn_multiple Comm_accept Comm_connect Comm_shrink Comm_agree Cart_sub "+
		"Win_create Win_create_dynamic Win_allocate Win_allocate_shared File_open")
	add(commClass, "comm_old", "Cart_create Graph_create Dist_graph_create Dist_graph_create_adjacent")
	add(commClass, "local_comm", "Intercomm_create")
	add(commClass, "intercomm", "Intercomm_merge")
	add(commClass, "", "Comm_create_group Comm_create_from_group Intercomm_create_from_groups")
	add(winClass, "win", "Win_free Win_fence Win_set_info")
	add(fileClass, "fh", "File_close File_set_view File_set_size File_preallocate File_set_info File_set_atomicity File_sync File_seek_shared")
}

// planFiles adds the functions that read and write files.
func planFiles(plans map[string]*mpiPlan) {
	for verb, way := range map[string]access{"read": reads, "write": writes} {
		add := func(suffix string, collective bool) {
			for _, start := range []string{"", "i"} {
				p := &mpiPlan{class: Access, access: way, nonblocking: start != ""}
				if collective {
					p.group, p.groupClass = "fh", fileClass
				}
				plans["File_"+start+verb+suffix] = p
			}
		}
		for _, suffix := range []string{"", "_at", "_shared"} {
			add(suffix, false)
		}
		for _, suffix := range []string{"_all", "_at_all", "_ordered"} {
			add(suffix, true)
			add(suffix+"_begin", true)
			plans["File_"+verb+suffix+"_end"] = &mpiPlan{class: Access, group: "fh", groupClass: fileClass}
		}
	}
}
