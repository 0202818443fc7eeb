package main

import "regexp"

// declarations are functions that neither of the two mpi.h declares: of MPI 4.0 those that
// one has macros for, and some of MPI 4.1.
const declarations = `
MPI_Fint MPI_Session_c2f(MPI_Session session);
MPI_Session MPI_Session_f2c(MPI_Fint session);
int MPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int *flag, MPI_Status *array_of_statuses);
int MPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int *index, int *flag, MPI_Status *status);
int MPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int *outcount, int array_of_indices[], MPI_Status *array_of_statuses);
`

// integers are the types in C of what is recorded as a number.
var integers = map[string]bool{
	"int":                true,
	"MPI_Aint":           true,
	"MPI_Count":          true,
	"MPI_Fint":           true,
	"MPI_Offset":         true,
	"MPI_T_cb_safety":    true,
	"MPI_T_source_order": true,
}

// callback matches the types in C of functions that MPI calls.
var callback = regexp.MustCompile(`^MPIX?_\w+_(function|function_c)$`)

// kinds of integers, by function and parameter; the first that matches counts.
// What none matches is a plain number.
var kinds = rules{
	{`MPI_T_.*`, `.*`, "int", ""},
	{`.*_f2c`, `.*`, "int", ""},
	{`.*`, `(send|recv|)tag`, "tag", ""},
	{`.*`, `root|(target_|new|)rank|rank_(source|dest)|(local|remote)_leader`, "rank", ""},
	{`.*`, `dest|source|sources|destinations|ranks[12]?|neighbors`, "rank", ""},
	{`MPI_Graph_(create|map|get)`, `edges`, "rank", ""},
	{`.*`, `(comm_|)keyval`, "comm_keyval", ""},
	{`.*`, `(type|win)_keyval`, "$0", ""},
	{`MPI_Get_address|MPI_Address`, `address`, "pointer", ""},
	{`MPI_Aint_add`, `base|result`, "pointer", ""},
	{`MPI_Aint_diff`, `addr[12]`, "pointer", ""},
}

// uses are those of numbers and addresses that say more than their types.
var uses = rules{
	{`MPI_Abort`, `errorcode`, "", ""},
	{`.*`, `errorcode`, "ErrorCode", ""},
	{`.*`, `array_of_addresses`, "Distances", ""},
	{`MPI_Type_(create_hindexed(_block)?|create_struct)(_c)?|MPI_Type_(hindexed|struct)`,
		`array_of_displacements`, "Distances", ""},
	{`.*`, `target_disp`, "Target", ""},
	{`.*`, `attribute_val|extra_state|user_data|obj_handle|addr[12]|f08_status`, "Word", ""},
	{`MPI_Aint_add|MPI_Free_mem`, `base`, "Word", ""},
}

// pointers are arguments declared as void * that point to a pointer.
var pointers = rules{
	{`MPI_Alloc_mem|MPI_Win_(allocate|allocate_shared|shared_query)(_c)?`, `baseptr`, "", ""},
	{`MPI_Buffer_detach(_c)?`, `buffer_addr`, "", ""},
	{`MPI_(Attr_get|\w+_get_attr)`, `attribute_val`, "", ""},
}

// directions that the manual pages leave out or have wrong.
var directions = rules{
	{`MPI_Status_(c2f|f082f)`, `f_status`, "out", ""},
	{`MPI_Status_(c2f08|f2f08)`, `f08_status`, "out", ""},
	{`MPI_Status_(f2c|f082c)`, `c_status`, "out", ""},
	{`MPI_Type_create_f90_\w+`, `newtype`, "out", ""},
	{`MPI_File_close`, `fh`, "inout", ""},
	{`MPI_Request_get_status_(all|any|some)`, `flag|index|outcount|status|array_of_(indices|statuses)`, "out", ""},
}

// lengths of arrays and of texts that a function writes, and when an argument
// counts. Where the argument is no array, the length stays empty. The functions
// that they use are in the interposer.
var lengths = rules{
	// Completion.
	{`MPI_(Waitall|Testall|Waitany|Testany|Startall)`, `array_of_requests`, "count", ""},
	{`MPI_Waitall`, `array_of_statuses`, "count", ""},
	{`MPI_Testall`, `array_of_statuses`, "count", "*flag"},
	{`MPI_(Wait|Test)some`, `array_of_requests`, "incount", ""},
	{`MPI_(Wait|Test)some`, `array_of_(indices|statuses)`, "completed(*outcount)", ""},
	{`MPI_(Test|Testany|Iprobe|Improbe|Request_get_status)`, `status|message`, "", "*flag"},
	{`MPI_Request_get_status_(all|any)`, `array_of_requests`, "count", ""},
	{`MPI_Request_get_status_all`, `array_of_statuses`, "count", "*flag"},
	{`MPI_Request_get_status_any`, `status`, "", "*flag"},
	{`MPI_Request_get_status_some`, `array_of_requests`, "incount", ""},
	{`MPI_Request_get_status_some`, `array_of_(indices|statuses)`, "completed(*outcount)", ""},
	{`MPI_Pready_list`, `array_of_partitions`, "length", ""},

	// Collectives with a count for each process.
	{`MPI_I?[Gg]atherv(_init)?(_c)?`, `recvcounts|displs`, "peers(comm)", "at_root(root, comm)"},
	{`MPI_I?[Ss]catterv(_init)?(_c)?`, `sendcounts|displs`, "peers(comm)", "at_root(root, comm)"},
	{`MPI_I?[Aa]llgatherv(_init)?(_c)?`, `recvcounts|displs`, "peers(comm)", ""},
	{`MPI_I?[Rr]educe_scatter(_init)?(_c)?`, `recvcounts`, "members(comm)", ""},
	{`MPI_I?[Aa]lltoall[vw](_init)?(_c)?`, `send(counts|types)|sdispls`, "peers(comm)", "sendbuf != MPI_IN_PLACE"},
	{`MPI_I?[Aa]lltoall[vw](_init)?(_c)?`, `recv(counts|types)|rdispls`, "peers(comm)", ""},
	{`MPI_I?[Nn]eighbor_allgatherv(_init)?(_c)?`, `recvcounts|displs`, "in_degree(comm)", ""},
	{`MPI_I?[Nn]eighbor_alltoall[vw](_init)?(_c)?`, `send(counts|types)|sdispls`, "out_degree(comm)", ""},
	{`MPI_I?[Nn]eighbor_alltoall[vw](_init)?(_c)?`, `recv(counts|types)|rdispls`, "in_degree(comm)", ""},

	// Topologies.
	{`MPI_(Cart_create|Cart_map|Dims_create)`, `dims|periods`, "ndims", ""},
	{`MPI_Cart_get`, `dims|periods|coords`, "smaller(maxdims, dimensions(comm))", ""},
	{`MPI_Cart_coords`, `coords`, "smaller(maxdims, dimensions(comm))", ""},
	{`MPI_Cart_rank`, `coords`, "dimensions(comm)", ""},
	{`MPI_Cart_sub`, `remain_dims`, "dimensions(comm)", ""},
	{`MPI_Graph_(create|map)`, `index`, "nnodes", ""},
	{`MPI_Graph_(create|map)`, `edges`, "last(nnodes, index)", ""},
	{`MPI_Graph_get`, `index`, "smaller(maxindex, graph_nodes(comm))", ""},
	{`MPI_Graph_get`, `edges`, "smaller(maxedges, graph_edges(comm))", ""},
	{`MPI_Graph_neighbors`, `neighbors`, "smaller(maxneighbors, graph_degree(comm, rank))", ""},
	{`MPI_Dist_graph_create`, `sources|degrees`, "n", ""},
	{`MPI_Dist_graph_create`, `destinations|weights`, "sum(n, degrees)", ""},
	{`MPI_Dist_graph_create_adjacent`, `sources|sourceweights`, "indegree", ""},
	{`MPI_Dist_graph_create_adjacent`, `destinations|destweights`, "outdegree", ""},
	{`MPI_Dist_graph_neighbors`, `sources|sourceweights`, "smaller(maxindegree, in_degree(comm))", ""},
	{`MPI_Dist_graph_neighbors`, `destinations|destweights`, "smaller(maxoutdegree, out_degree(comm))", ""},

	// Groups.
	{`MPI_Group_(incl|excl)`, `ranks`, "n", ""},
	{`MPI_Group_range_(incl|excl)`, `ranges`, "triplets(n)", ""},
	{`MPI_Group_translate_ranks`, `ranks[12]`, "n", ""},

	// Datatypes.
	{`MPI_Type_(create_)?(hindexed|indexed|struct)(_block)?(_c)?`, `array_of_\w+`, "count", ""},
	{`MPI_Type_create_(subarray|darray)(_c)?`, `array_of_\w+`, "ndims", ""},
	{`MPI_Type_get_contents`, `array_of_integers`, "smaller(max_integers, content_integers(datatype))", ""},
	{`MPI_Type_get_contents`, `array_of_addresses`, "smaller(max_addresses, content_addresses(datatype))", ""},
	{`MPI_Type_get_contents`, `array_of_datatypes`, "smaller(max_datatypes, content_datatypes(datatype))", ""},
	{`MPI_Type_get_contents_c`, `array_of_integers`, "smaller(max_integers, large_integers(datatype))", ""},
	{`MPI_Type_get_contents_c`, `array_of_addresses`, "smaller(max_addresses, large_addresses(datatype))", ""},
	{`MPI_Type_get_contents_c`, `array_of_large_counts`, "smaller(max_large_counts, large_counts(datatype))", ""},
	{`MPI_Type_get_contents_c`, `array_of_datatypes`, "smaller(max_datatypes, large_datatypes(datatype))", ""},

	// Processes.
	{`MPI_Init(_thread)?`, `argc`, "", "argc != NULL"},
	{`MPI_Init(_thread)?`, `argv`, "*argc", "argc != NULL"},
	{`MPI_Info_create_env`, `argv`, "argc", ""},
	{`MPI_Comm_spawn`, `argv`, "pointers(argv)", "at_root(root, comm)"},
	{`MPI_Comm_spawn`, `command`, "", "at_root(root, comm)"},
	{`MPI_Comm_spawn`, `array_of_errcodes`, "maxprocs", "at_root(root, comm)"},
	{`MPI_Comm_spawn_multiple`, `array_of_(commands|argv|maxprocs|info)`, "count", "at_root(root, comm)"},
	{`MPI_Comm_spawn_multiple`, `array_of_errcodes`, "sum(count, array_of_maxprocs)", "at_root(root, comm)"},
	{`MPI_Comm_(accept|connect)`, `port_name`, "", "at_root(root, comm)"},

	// Attributes, info and names.
	{`MPI_(Attr_get|\w+_get_attr)`, `attribute_val`, "", "*flag"},
	{`MPI_Info_get`, `value`, "valuelen + 1", "*flag"},
	{`MPI_Info_get_valuelen`, `valuelen`, "", "*flag"},
	{`MPI_Info_get_string`, `value`, "entry_buflen", "*flag && entry_buflen > 0"},
	{`MPI_Info_get_nthkey`, `key`, "MPI_MAX_INFO_KEY", ""},
	{`MPI_(Comm|Type|Win)_get_name`, `\w+_name`, "MPI_MAX_OBJECT_NAME", ""},
	{`MPI_Error_string`, `string`, "MPI_MAX_ERROR_STRING", ""},
	{`MPI_Get_processor_name`, `name`, "MPI_MAX_PROCESSOR_NAME", ""},
	{`MPI_Get_library_version`, `version`, "MPI_MAX_LIBRARY_VERSION_STRING", ""},
	{`MPI_(Open_port|Lookup_name)`, `port_name`, "MPI_MAX_PORT_NAME", ""},
	{`MPI_File_get_view`, `datarep`, "MPI_MAX_DATAREP_STRING", ""},
	{`MPI_Session_get_nth_pset`, `pset_name`, "entry_pset_len", "entry_pset_len > 0"},
	{`MPI_Status_\w+`, `f_status`, "FORTRAN_STATUS", ""},

	// The tools interface. Most of what it returns need not be asked for.
	{`MPI_T_\w+_get_(info|item)`, `name`, "entry_name_len", "entry_name_len > 0"},
	{`MPI_T_\w+_get_info`, `desc`, "entry_desc_len", "entry_desc_len > 0"},
	{`MPI_T_category_get_\w+`, `indices`, "len", ""},
	{`MPI_T_event_get_info`, `array_of_\w+`, "smaller(entry_num_elements, *num_elements)", "num_elements != NULL"},
}

// asked are values that are no arguments, for the functions that make a
// communicator of which the arguments do not say who is where in it, or who is whose neighbour, and for
// those that read a file, which may end. Of MPI_Pcontrol, it is the name of a region.
var asked = []struct {
	function string // regular expression for the whole name
	column
}{
	{`MPI_Comm_(create|split_type)|MPIX_Comm_shrink`, column{
		name: "leader", kind: "rank", direction: "Out", form: "Indirect",
		given: "*newcomm != MPI_COMM_NULL", asked: "leader_in(comm, *newcomm)",
	}},
	{`MPI_Comm_(create|split_type)|MPIX_Comm_shrink`, column{
		name: "newrank", kind: "rank", direction: "Out", form: "Indirect",
		given: "*newcomm != MPI_COMM_NULL", asked: "rank_in(*newcomm)",
	}},
	{`MPI_Comm_create_group`, column{
		name: "members", kind: "cst.ArrayOf(rank)", direction: "Out", form: "Array", length: "group_members(group)",
		given: "*newcomm != MPI_COMM_NULL", asked: "ranks_in(comm, group)",
	}},
	{`MPI_Comm_create_from_group`, column{
		name: "members", kind: "cst.ArrayOf(rank)", direction: "Out", form: "Array", length: "group_members(group)",
		given: "*newcomm != MPI_COMM_NULL", asked: "ranks_in_world(group)",
	}},
	{`MPI_Intercomm_create_from_groups`, column{
		name: "members", kind: "cst.ArrayOf(rank)", direction: "Out", form: "Array",
		length: "group_members(local_group)",
		given:  "*newintercomm != MPI_COMM_NULL", asked: "ranks_in_world(local_group)",
	}},
	{`MPI_Intercomm_create_from_groups`, column{ // the remote group counts at the leader only
		name: "newleader", kind: "rank", direction: "Out", form: "Indirect",
		given: "*newintercomm != MPI_COMM_NULL", asked: "remote_in_world(*newintercomm, remote_leader)",
	}},
	{`MPI_Pcontrol`, column{
		name: "name", kind: "text", direction: "In", form: "Text",
		given: "asked_name", asked: "region_of(level, ARGUMENT_AFTER(level))",
	}},
	{`MPI_Cart_create`, newrank("comm_cart")},
	{`MPI_Graph_create`, newrank("comm_graph")},
	{`MPI_Dist_graph_create(_adjacent)?`, newrank("comm_dist_graph")},
	{`MPI_File_read(_at|_all|_at_all|_shared|_ordered)?(_c)?`, short},
	{`MPI_File_read_(all|at_all|ordered)_end`, read("status != MPI_STATUS_IGNORE", "bytes_of(status)")},
	{`MPI_Dist_graph_create`, newNeighbours("sources", "in_degree", "")},
	{`MPI_Dist_graph_create`, newNeighbours("destinations", "out_degree", "")},
	{`MPI_Dist_graph_create_adjacent`, newNeighbours("sources", "in_degree", "reorder && ")},
	{`MPI_Dist_graph_create_adjacent`, newNeighbours("destinations", "out_degree", "reorder && ")},
	{`MPI_Intercomm_merge`, column{
		name: "newrank", kind: "rank", direction: "Out", form: "Indirect",
		given: "*newintracomm != MPI_COMM_NULL", asked: "rank_in(*newintracomm)",
	}},
}

// short is how many bytes a function has read, if the file ended before all was.
var short = read("is_short(status, count, datatype)", "bytes_of(status)")

// read is how many bytes a function has read.
func read(given, asked string) column {
	return column{name: "bytes", kind: "integer", direction: "Out", form: "Indirect", given: given, asked: asked}
}

// newrank is the rank in a communicator with a topology, if MPI may have chosen it.
func newrank(comm string) column {
	return column{
		name: "newrank", kind: "rank", direction: "Out", form: "Indirect",
		given: "reorder && *" + comm + " != MPI_COMM_NULL", asked: "rank_in(*" + comm + ")",
	}
}

// newNeighbours are the neighbours of the process in a graph, where others may have named them.
func newNeighbours(name, degree, condition string) column {
	return column{
		name: "new" + name, kind: "cst.ArrayOf(rank)", direction: "Out", form: "Array",
		length: degree + "(*comm_dist_graph)",
		given:  condition + "*comm_dist_graph != MPI_COMM_NULL", asked: "new_" + name + "(*comm_dist_graph)",
	}
}

// opaque are arguments of which the address is recorded alone.
var opaque = map[string]bool{"MPI_F08_status": true}

// names are the names in the standard of parameters that mpi.h calls otherwise.
var names = rules{
	{`.*`, `indx`, "index", ""},
	{`MPI_Precv_init`, `dest`, "source", ""},
	{`MPI_T_pvar_.*`, `session`, "pe_session", ""},
}

// A rule gives what holds for the parameters whose names match.
type rule struct {
	function, param string // regular expressions for the whole name
	value, given    string
}

type rules []rule

// find returns the first rule that matches. The value $0 stands for the name of
// the parameter.
func (list rules) find(function, param string) (rule, bool) {
	for _, r := range list {
		if matches(r.function, function) && matches(r.param, param) {
			if r.value == "$0" {
				r.value = param
			}
			return r, true
		}
	}
	return rule{}, false
}

func matches(pattern, name string) bool {
	return regexp.MustCompile(`^(?:` + pattern + `)$`).MatchString(name)
}
