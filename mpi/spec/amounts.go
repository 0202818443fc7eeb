package spec

import "strings"

// An Amount is how much data a process gives to a collective operation, or gets from it. The
// zero Amount is none.
type Amount struct {
	Count, Type string // names of parameters: of arrays for some Parts

	// Parts says of what a count and a datatype are the size: "once" of all; "members" of what
	// there is for each member, or of an intercommunicator for each of the other group; "group"
	// of the part for each member of the process's own group; "neighbours" of the part for each
	// neighbour that the process gives to or gets from; "sum" of all, as
	// the counts in an array are; "own" of all, as the count of the process in an array;
	// "typed" as "sum" with a datatype for each.
	Parts string

	// Of is who has it: "root", "others", or empty for all, but of an intercommunicator not
	// for the root.
	Of string
}

// A dataRow has what a collective operation moves.
type dataRow struct {
	names       string
	gives, gets Amount
}

// dataRows are the collective operations on data, by their blocking forms.
var dataRows = func() []dataRow {
	amount := func(parts, of string) Amount { return Amount{"count", "datatype", parts, of} }
	block := func(parts string) Amount { return Amount{"recvcount", "datatype", parts, ""} }
	give := func(parts, of string) Amount { return buffer("send", parts, of) }
	get := func(parts, of string) Amount { return buffer("recv", parts, of) }
	counts := func(parts string) Amount { return Amount{"recvcounts", "datatype", parts, ""} }
	return []dataRow{
		{"Barrier", Amount{}, Amount{}},
		{"Bcast", amount("once", "root"), amount("once", "others")},
		{"Reduce", amount("once", ""), amount("once", "root")},
		{"Allreduce Scan Exscan", amount("once", ""), amount("once", "")},
		{"Reduce_scatter", counts("sum"), counts("own")},
		{"Reduce_scatter_block", block("group"), block("once")},
		{"Gather", give("once", ""), get("members", "root")},
		{"Gatherv", give("once", ""), get("sum", "root")},
		{"Scatter", give("members", "root"), get("once", "")},
		{"Scatterv", give("sum", "root"), get("once", "")},
		{"Allgather", give("once", ""), get("members", "")},
		{"Allgatherv", give("once", ""), get("sum", "")},
		{"Alltoall", give("members", ""), get("members", "")},
		{"Alltoallv Neighbor_alltoallv", give("sum", ""), get("sum", "")},
		{"Alltoallw Neighbor_alltoallw", give("typed", ""), get("typed", "")},
		{"Neighbor_allgather", give("once", ""), get("neighbours", "")},
		{"Neighbor_allgatherv", give("once", ""), get("sum", "")},
		{"Neighbor_alltoall", give("neighbours", ""), get("neighbours", "")},
	}
}()

// buffer returns the amount of parameters for sending or receiving: sendcount and sendtype, or
// the arrays sendcounts and sendtypes.
func buffer(side, parts, of string) Amount {
	a := Amount{side + "count", side + "type", parts, of}
	switch parts {
	case "typed":
		a.Type += "s"
		a.Count += "s"
	case "sum":
		a.Count += "s"
	}
	return a
}

// addData adds the collective operations on data.
func (t roleTable) addData() {
	for _, row := range dataRows {
		for data := range strings.FieldsSeq(row.names) {
			r := Role{Class: Collective, On: "comm", Collective: true, Data: data, Gives: row.gives, Gets: row.gets}
			t.add(data+" "+initial("I", data)+" "+data+"_init", r)
		}
	}
}

// addDatatypes adds the functions that make datatypes, and those that tell facts.
func (t roleTable) addDatatypes() {
	for datatype, names := range map[string]string{
		"same":       "Type_dup Type_create_resized",
		"contiguous": "Type_contiguous",
		"vector":     "Type_vector Type_hvector Type_create_hvector Type_create_indexed_block Type_create_hindexed_block",
		"indexed":    "Type_indexed Type_hindexed Type_create_hindexed",
		"subarray":   "Type_create_subarray",
		"darray":     "Type_create_darray",
		"struct":     "Type_create_struct Type_struct",
		"chosen":     "Type_create_f90_integer Type_create_f90_real Type_create_f90_complex",
	} {
		for name := range strings.FieldsSeq(names) {
			t.of(name).Datatype = datatype
		}
	}
	for _, name := range []string{"Comm_size", "Comm_rank"} {
		t.of(name).TellsPlace = true
	}
	for _, name := range []string{"Type_size", "Type_size_x"} {
		t.of(name).TellsSize = true
	}
}
