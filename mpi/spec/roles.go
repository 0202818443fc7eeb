package spec

import (
	"strconv"
	"strings"

	"github.com/reprise-trace/reprise/cst"
)

// A Role says what a function does to other processes and to objects. The zero Role is that
// of functions that do nothing to either. Texts are names of parameters, empty if there is
// no such parameter.
type Role struct {
	Class Class

	// On is the communicator, window or file of the operation.
	On string

	// Collective is set if all members of it call the function, or, for
	// [CreateGroup], all members of the new communicator.
	Collective bool

	// Data is the name of the blocking form, without MPI_, of a collective operation on
	// data: Alltoallv for MPI_Ialltoallv. Gives and Gets are what a process gives to it and
	// gets from it.
	Data        string
	Gives, Gets Amount

	Sends, Receives *Transfer // messages; nil for none
	Mode            string    // of sending: "buffered", "synchronous" or "ready", empty for the standard one

	// Accesses is the memory of another process that a one-sided operation uses. Where Reads
	// is set and the operation has no effect, the result's parameters say how much that is.
	Accesses *Transfer

	// What the operation does to the memory that it accesses, or to a file.
	Reads, Writes, Combines bool

	// Nonblocking is set if the operation is complete when a call completes the request that
	// this one makes, and Persistent if that is so once a call has started the request.
	// Others are complete when the call returns.
	Nonblocking, Persistent bool

	// Split is set if the operation is complete when another function, of the same name with
	// _end for _begin, returns. That tells how much it has read.
	Split bool

	// Requests is what the function does with requests that it is given. Some is set if it
	// returns when not all of them are complete.
	Requests Requests
	Some     bool

	// Polls is the output that is 0 if the function has looked for something in vain, and done nothing:
	// a message, an operation that is complete.
	Polls string

	// Reports is set if the status of the request that the function makes may name a source
	// and a tag, and no parameter asks for these.
	Reports bool

	// Makes says how the function makes a communicator, window or file of On; 0 for
	// functions that do not. Frees is set if it frees the object On.
	Makes Creation
	Frees bool

	// Shares is set if the function returns handles of objects that may exist already, or of
	// none that the program made.
	Shares bool

	// Datatype is how the datatype consists of others that the function makes: "same",
	// "contiguous", "vector", "indexed", "subarray", "darray" or "struct"; "chosen" if MPI
	// chooses it.
	Datatype string

	// The outputs tell the size of a communicator or the rank in it, or the size of a datatype.
	TellsPlace, TellsSize bool

	// What the function does to memory besides using it: MPI allocates some for the program
	// or for a window, frees that, or attaches memory to the window that the function makes,
	// later.
	Allocates, FreesMemory, Attaches bool

	// Begins is what the function begins: the "world" as MPI_Init, a "session", or the
	// "tools" interface; empty for others. Ends is set if it ends the world.
	Begins string
	Ends   bool

	EndsSession bool // the function ends a session

	// Early is set if programs may call the function before they begin anything: to ask whether MPI
	// is initialized, or which it is, and to make what they begin with.
	Early bool

	Switches bool // recording off or on, by level or by key and value
	Sets     bool // what is so for later calls: memory to use, views of files, and properties of objects
	Clock    bool // the result is the time, which a trace has anyway
}

// A Transfer is what a function moves, by the names of parameters.
type Transfer struct {
	Peer, Tag   string // Peer is empty for a message that a probe found
	Count, Type string
}

// A Class says what kind of operation a call is.
type Class uint8

// The classes.
const (
	Local           Class = iota // means nothing to other processes
	PointToPoint                 // sends or receives messages, or starts to
	OneSided                     // accesses the memory of another process
	Collective                   // is called by all members of a communicator, or starts what is
	Completion                   // waits for operations that were started, tests or frees them
	Probe                        // looks for messages
	Access                       // reads or writes a file, collectively or not
	Synchronization              // orders accesses to the memory of processes, but for collective ones
)

var classNames = [...]string{
	Local: "local", PointToPoint: "point-to-point", OneSided: "one-sided", Collective: "collective",
	Completion: "completion", Probe: "probe", Access: "file access", Synchronization: "synchronization",
}

// String returns the name of the class, such as point-to-point.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "class " + strconv.Itoa(int(c))
}

// Requests says what a function does with requests that it is given.
type Requests uint8

// The uses of requests. Functions that complete some have their outputs flag, index,
// outcount and array_of_indices in common, which say whether and which.
const (
	_     Requests = iota
	Looks          // leaves them as they are
	Starts
	Waits // until all, one or some are complete
	Tests // the same, whether they are complete
	Cancels
	Releases // frees them
)

// TellsTypeSize reports whether the size of a datatype that the function makes follows from its arguments.
func (r *Role) TellsTypeSize() bool {
	return r.Datatype != "" && r.Datatype != "chosen" && r.Datatype != "darray"
}

var noRole Role

// RoleOf returns what the function of a name does, which need not be in the table. The
// result must not be changed.
func RoleOf(name string) *Role {
	if base := Base(name); base != name && roles[base] != nil {
		return roles[base]
	}
	return &noRole
}

// A roleTable has roles by the names of functions, as [Base] returns them.
type roleTable map[string]*Role

var roles = makeRoles()

func makeRoles() roleTable {
	t := make(roleTable)
	t.addMessages()
	t.addOneSided()
	t.addCollectives()
	t.addObjects()
	t.addFiles()
	t.addDatatypes()
	t.addOthers()
	for i := range functions {
		t.derive(&functions[i])
	}
	return t
}

// of returns the role of a function, to be set.
func (t roleTable) of(name string) *Role {
	if t[name] == nil {
		t[name] = new(Role)
	}
	return t[name]
}

// add gives functions, whose names are separated by spaces, one role.
func (t roleTable) add(names string, r Role) {
	for name := range strings.FieldsSeq(names) {
		*t.of(name) = r
	}
}

// derive sets what follows from the parameters of a function.
func (t roleTable) derive(f *Function) {
	base := Base(f.Name)
	if strings.HasPrefix(base, "T_") {
		t.of(base).Shares = true
	}
	for _, early := range []string{"T_", "Info_", "Session_", "Errhandler_", "Error_", "Add_error_"} {
		if strings.HasPrefix(base, early) && t.of(base).Begins == "" {
			t[base].Early = true
		}
	}
	for i := range f.Params {
		p := &f.Params[i]
		if p.Direction != cst.Out || p.Element().Class != "request" {
			continue
		}
		t.of(base).Persistent = strings.HasSuffix(base, "_init")
		t[base].Nonblocking = !t[base].Persistent
	}
}

// initial returns a name that begins with another prefix, as Isend for send and I.
func initial(prefix, name string) string {
	if prefix == "" {
		return strings.ToUpper(name[:1]) + name[1:]
	}
	return prefix + strings.ToLower(name[:1]) + name[1:]
}

// addMessages adds the functions that send and receive, and those that are given requests.
func (t roleTable) addMessages() {
	one := Role{Class: PointToPoint, On: "comm"}
	send, receive := one, one
	send.Sends = &Transfer{"dest", "tag", "count", "datatype"}
	receive.Receives = &Transfer{"source", "tag", "count", "datatype"}
	for name, mode := range map[string]string{"send": "", "bsend": "buffered", "ssend": "synchronous",
		"rsend": "ready"} {
		send.Mode = mode
		t.add(initial("", name)+" I"+name+" "+initial("", name)+"_init", send)
	}
	send.Mode = ""
	t.add("Psend_init", send)
	t.add("Recv Irecv Recv_init Precv_init", receive)
	t.add("Mrecv Imrecv", Role{Class: PointToPoint, Receives: &Transfer{"", "", "count", "datatype"}})
	t["Imrecv"].Reports = true

	both := one
	both.Sends = &Transfer{"dest", "sendtag", "sendcount", "sendtype"}
	both.Receives = &Transfer{"source", "recvtag", "recvcount", "recvtype"}
	t.add("Sendrecv Isendrecv", both)
	both.Sends = &Transfer{"dest", "sendtag", "count", "datatype"}
	both.Receives = &Transfer{"source", "recvtag", "count", "datatype"}
	t.add("Sendrecv_replace Isendrecv_replace", both)
	t.add("Probe Mprobe", Role{Class: Probe, On: "comm"})
	t.add("Iprobe Improbe", Role{Class: Probe, On: "comm", Polls: "flag"})

	t.add("Start Startall", Role{Class: PointToPoint, Requests: Starts})
	t.add("Wait Waitall", Role{Class: Completion, Requests: Waits})
	t.add("Waitany Waitsome", Role{Class: Completion, Requests: Waits, Some: true})
	t.add("Test Testall Testany", Role{Class: Completion, Requests: Tests, Polls: "flag"})
	t.add("Testsome", Role{Class: Completion, Requests: Tests, Polls: "outcount"})
	t.add("Request_get_status Request_get_status_all Request_get_status_any",
		Role{Class: Completion, Requests: Looks, Polls: "flag"})
	t.add("Request_get_status_some", Role{Class: Completion, Requests: Looks, Polls: "outcount"})
	t.add("Request_free", Role{Class: Completion, Requests: Releases})
	t.add("Cancel", Role{Class: Completion, Requests: Cancels})
	t.add("Grequest_start Grequest_class_allocate", Role{Reports: true})
}

// addOneSided adds the functions that access the memory of another process.
func (t roleTable) addOneSided() {
	many := &Transfer{"target_rank", "", "origin_count", "origin_datatype"}
	single := &Transfer{"target_rank", "", "", "datatype"}
	get := Role{Class: OneSided, On: "win", Accesses: many, Reads: true}
	put := Role{Class: OneSided, On: "win", Accesses: many, Writes: true}
	combine, fetch := put, put
	combine.Combines = true
	fetch.Reads, fetch.Combines = true, true
	for _, prefix := range []string{"", "R"} {
		t.add(initial(prefix, "get"), get)
		t.add(initial(prefix, "put"), put)
		t.add(initial(prefix, "accumulate"), combine)
		t.add(initial(prefix, "get_accumulate"), fetch)
	}
	fetch.Accesses = single
	t.add("Fetch_and_op Compare_and_swap", fetch)
	t.add("Win_post Win_start Win_complete Win_wait Win_test Win_lock Win_unlock Win_lock_all Win_unlock_all "+
		"Win_flush Win_flush_all Win_flush_local Win_flush_local_all Win_sync", Role{Class: Synchronization, On: "win"})
}

// addCollectives adds the functions that all members of a communicator, window or file call.
func (t roleTable) addCollectives() {
	t.addData()
	add := func(on, names string) { t.add(names, Role{Class: Collective, On: on, Collective: true}) }
	add("comm", "Comm_set_info Comm_agree")
	add("win", "Win_fence Win_set_info")
	add("fh", "File_set_view File_set_size File_preallocate File_set_info File_set_atomicity File_sync File_seek_shared")
}

// addObjects adds the functions that make and free communicators, windows and files, and
// those that return handles of what there is.
func (t roleTable) addObjects() {
	add := func(kind Creation, on, names string) {
		t.add(names, Role{Class: Collective, On: on, Collective: true, Makes: kind})
	}
	add(Duplicate, "comm", "Comm_dup Comm_dup_with_info Comm_idup Comm_idup_with_info File_open "+
		"Win_create Win_create_dynamic Win_allocate Win_allocate_shared")
	add(Split, "comm", "Comm_split Cart_sub")
	add(SplitType, "comm", "Comm_split_type Comm_shrink")
	add(Create, "comm", "Comm_create")
	add(CreateGroup, "comm", "Comm_create_group")
	add(CreateGroup, "", "Comm_create_from_group") // of all processes of the world
	add(Topology, "comm_old", "Cart_create Graph_create Dist_graph_create Dist_graph_create_adjacent")
	add(IntercommCreate, "local_comm", "Intercomm_create")
	add(IntercommCreate, "", "Intercomm_create_from_groups")
	add(IntercommMerge, "intercomm", "Intercomm_merge")
	add(Spawn, "comm", "Comm_spawn Comm_spawn_multiple")
	add(Accept, "comm", "Comm_accept")
	add(Connect, "comm", "Comm_connect")
	for on, names := range map[string]string{"comm": "Comm_free Comm_disconnect", "win": "Win_free",
		"fh": "File_close"} {
		t.add(names, Role{Class: Collective, On: on, Collective: true, Frees: true})
	}
	t.add("Comm_group Comm_remote_group Win_get_group File_get_group Comm_get_errhandler Win_get_errhandler File_get_errhandler "+
		"Session_get_errhandler Errhandler_get Type_get_contents File_get_view "+
		"Type_match_size Type_create_f90_integer Type_create_f90_real Type_create_f90_complex", Role{Shares: true})
	t.add("Comm_get_parent", Role{Shares: true, Makes: SpawnedBy})
}

// addFiles adds the functions that read and write files.
func (t roleTable) addFiles() {
	for _, verb := range []string{"read", "write"} {
		r := Role{Class: Access, On: "fh", Reads: verb == "read", Writes: verb == "write"}
		all, end := r, Role{Class: Access, On: "fh", Collective: true, Reads: r.Reads}
		all.Collective = true
		begin := all
		begin.Split = true
		for _, suffix := range []string{"", "_at", "_shared"} {
			t.add("File_"+verb+suffix+" File_i"+verb+suffix, r)
		}
		t.add("File_i"+verb+"_all File_i"+verb+"_at_all", all)
		for _, suffix := range []string{"_all", "_at_all", "_ordered"} {
			t.add("File_"+verb+suffix, all)
			t.add("File_"+verb+suffix+"_begin", begin)
			t.add("File_"+verb+suffix+"_end", end)
		}
	}
}

// addOthers adds what functions do to MPI, to memory and to recording.
func (t roleTable) addOthers() {
	t.add("Initialized Finalized Get_version Get_library_version", Role{Early: true})
	t.add("Init Init_thread", Role{Begins: "world"})
	t.add("Session_init", Role{Begins: "session"})
	t.add("T_init_thread", Role{Begins: "tools"})
	t.add("Finalize", Role{Ends: true})
	t.add("Session_finalize", Role{EndsSession: true})
	t.add("Pcontrol Info_set", Role{Switches: true})
	for _, name := range []string{"Alloc_mem", "Win_allocate", "Win_allocate_shared"} {
		t.of(name).Allocates = true
	}
	t.of("Free_mem").FreesMemory = true
	for name := range strings.FieldsSeq("Buffer_attach Buffer_detach Win_attach Win_detach File_set_view Info_delete " +
		"Comm_set_errhandler Win_set_errhandler File_set_errhandler Session_set_errhandler Errhandler_set " +
		"Comm_set_attr Type_set_attr Win_set_attr Attr_put Comm_delete_attr Type_delete_attr Win_delete_attr Attr_delete " +
		"Comm_set_name Type_set_name Win_set_name") {
		t.of(name).Sets = true
	}
	t.of("Win_create_dynamic").Attaches = true
	t.of("Wtime").Clock = true
}
