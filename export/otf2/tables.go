package otf2

import (
	"strings"
	"sync"

	"github.com/reprise-trace/reprise/export/internal/events"
	"github.com/reprise-trace/reprise/internal/need"
	archive "github.com/reprise-trace/reprise/mpi/otf2"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// kinds are the kinds of records that are written.
var kinds struct {
	creator, description, machine, property                                                 *archive.Kind
	clock, text, attribute, paradigm, paradigmProperty, ioParadigm                          *archive.Kind
	node, domain, group, groupProperty, location, region, line                              *archive.Kind
	dimension, topology, coordinate, rankSet, comm, interComm, window, file, handle         *archive.Kind
	enter, leave, programBegin, programEnd                                                  *archive.Kind
	send, receive, isend, isendDone, irecv, irecvDone, tested, cancelled                    *archive.Kind
	collectiveBegin, collectiveEnd, icollective, icollectiveDone, commMade, commFreed       *archive.Kind
	windowMade, windowFreed, rmaCollectiveBegin, rmaCollectiveEnd, groupSync                *archive.Kind
	lock, unlock, sync, put, get, atomic, rmaDone, rmaDoneRemote                            *archive.Kind
	fileOpened, fileClosed, fileDeleted, accessBegin, accessTested, accessIssued, accessEnd *archive.Kind
}

// constants are those of OTF2 that are written.
var constants struct {
	typeString, typeInt64, typeDouble, typeLine, typeBool               uint64
	mpi, user, classProcess, commNames, windowNames, rmaOnly            uint64
	ioParallel, machine, sharedMemory, process, cpuThread               uint64
	commLocations, commGroup, commSelf                                  uint64
	code, handlePreCreated, commEvents, windowEvents                    uint64
	makes, makesAndAllocates, frees, barrier                            uint64
	syncProcess, syncMemory, syncOfMemory, exclusive, shared            uint64
	accumulate, fetchAndAccumulate, compareAndSwap                      uint64
	reads, writes, flushes, nonblocking, collectively                   uint64
	readOnly, writeOnly, readWrite, create, exclusively, noSeek, unique uint64
	appends, deleteOnClose                                              uint64
	rootSelf, rootThisGroup                                             uint64
}

// collectiveOps are the numbers of collective operations on data, by their blocking forms.
var collectiveOps map[string]uint64

// roles are the roles of regions, by those of functions.
var roles struct {
	none, function, pointToPoint, barrier, one2all, all2one, all2all, other, rma, atomic, file, fileMetadata, allocate,
	deallocate uint64
}

// loadTables fills in the numbers.
var loadTables = sync.OnceFunc(func() {
	for name, to := range map[string]**archive.Kind{
		"Creator": &kinds.creator, "Description": &kinds.description, "MachineName": &kinds.machine,
		"Property": &kinds.property, "ClockProperties": &kinds.clock, "String": &kinds.text,
		"Attribute": &kinds.attribute, "Paradigm": &kinds.paradigm, "ParadigmProperty": &kinds.paradigmProperty,
		"IoParadigm": &kinds.ioParadigm, "SystemTreeNode": &kinds.node, "SystemTreeNodeDomain": &kinds.domain,
		"LocationGroup": &kinds.group, "LocationGroupProperty": &kinds.groupProperty, "Location": &kinds.location,
		"Region": &kinds.region, "SourceCodeLocation": &kinds.line, "Group": &kinds.rankSet, "Comm": &kinds.comm,
		"InterComm": &kinds.interComm, "CartDimension": &kinds.dimension, "CartTopology": &kinds.topology,
		"CartCoordinate": &kinds.coordinate, "RmaWin": &kinds.window, "IoRegularFile": &kinds.file,
		"IoHandle": &kinds.handle, "Enter": &kinds.enter, "ProgramBegin": &kinds.programBegin,
		"ProgramEnd": &kinds.programEnd,
		"Leave":      &kinds.leave, "MpiSend": &kinds.send,
		"MpiRecv": &kinds.receive, "MpiIsend": &kinds.isend, "MpiIsendComplete": &kinds.isendDone,
		"MpiIrecvRequest": &kinds.irecv, "MpiIrecv": &kinds.irecvDone, "MpiRequestTest": &kinds.tested,
		"MpiRequestCancelled": &kinds.cancelled, "MpiCollectiveBegin": &kinds.collectiveBegin,
		"MpiCollectiveEnd": &kinds.collectiveEnd, "NonBlockingCollectiveRequest": &kinds.icollective,
		"NonBlockingCollectiveComplete": &kinds.icollectiveDone, "CommCreate": &kinds.commMade,
		"CommDestroy": &kinds.commFreed, "RmaWinCreate": &kinds.windowMade, "RmaWinDestroy": &kinds.windowFreed,
		"RmaCollectiveBegin": &kinds.rmaCollectiveBegin, "RmaCollectiveEnd": &kinds.rmaCollectiveEnd,
		"RmaGroupSync": &kinds.groupSync, "RmaRequestLock": &kinds.lock, "RmaReleaseLock": &kinds.unlock,
		"RmaSync": &kinds.sync, "RmaPut": &kinds.put, "RmaGet": &kinds.get, "RmaAtomic": &kinds.atomic,
		"RmaOpCompleteNonBlocking": &kinds.rmaDone, "RmaOpCompleteRemote": &kinds.rmaDoneRemote,
		"IoCreateHandle": &kinds.fileOpened, "IoDestroyHandle": &kinds.fileClosed, "IoDeleteFile": &kinds.fileDeleted,
		"IoOperationBegin": &kinds.accessBegin, "IoOperationTest": &kinds.accessTested,
		"IoOperationIssued": &kinds.accessIssued, "IoOperationComplete": &kinds.accessEnd,
	} {
		*to = archive.LookupKind(name)
		need.That(*to != nil, "otf2: no kind of the name")
	}
	c, r := &constants, &roles
	for name, to := range map[string]*uint64{
		"TYPE_STRING": &c.typeString, "TYPE_INT64": &c.typeInt64, "TYPE_DOUBLE": &c.typeDouble,
		"TYPE_UINT8":                &c.typeBool,
		"TYPE_SOURCE_CODE_LOCATION": &c.typeLine, "PARADIGM_MPI": &c.mpi, "PARADIGM_USER": &c.user,
		"PARADIGM_CLASS_PROCESS":               &c.classProcess,
		"PARADIGM_PROPERTY_COMM_NAME_TEMPLATE": &c.commNames, "PARADIGM_PROPERTY_RMA_WIN_NAME_TEMPLATE": &c.windowNames,
		"PARADIGM_PROPERTY_RMA_ONLY": &c.rmaOnly, "IO_PARADIGM_CLASS_PARALLEL": &c.ioParallel,
		"SYSTEM_TREE_DOMAIN_MACHINE": &c.machine, "SYSTEM_TREE_DOMAIN_SHARED_MEMORY": &c.sharedMemory,
		"LOCATION_GROUP_TYPE_PROCESS": &c.process, "LOCATION_TYPE_CPU_THREAD": &c.cpuThread,
		"GROUP_TYPE_COMM_LOCATIONS": &c.commLocations, "GROUP_TYPE_COMM_GROUP": &c.commGroup,
		"GROUP_TYPE_COMM_SELF": &c.commSelf, "REGION_ROLE_CODE": &c.code,
		"IO_HANDLE_FLAG_PRE_CREATED": &c.handlePreCreated, "COMM_FLAG_CREATE_DESTROY_EVENTS": &c.commEvents,
		"RMA_WIN_FLAG_CREATE_DESTROY_EVENTS": &c.windowEvents, "COLLECTIVE_OP_CREATE_HANDLE": &c.makes,
		"COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE": &c.makesAndAllocates, "COLLECTIVE_OP_DESTROY_HANDLE": &c.frees,
		"COLLECTIVE_OP_BARRIER": &c.barrier, "RMA_SYNC_LEVEL_PROCESS": &c.syncProcess,
		"RMA_SYNC_LEVEL_MEMORY": &c.syncMemory, "RMA_SYNC_TYPE_MEMORY": &c.syncOfMemory,
		"LOCK_EXCLUSIVE": &c.exclusive, "LOCK_SHARED": &c.shared, "RMA_ATOMIC_TYPE_ACCUMULATE": &c.accumulate,
		"RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE": &c.fetchAndAccumulate,
		"RMA_ATOMIC_TYPE_COMPARE_AND_SWAP":     &c.compareAndSwap, "IO_OPERATION_MODE_READ": &c.reads,
		"IO_OPERATION_MODE_WRITE": &c.writes, "IO_OPERATION_MODE_FLUSH": &c.flushes,
		"IO_OPERATION_FLAG_NON_BLOCKING": &c.nonblocking, "IO_OPERATION_FLAG_COLLECTIVE": &c.collectively,
		"IO_ACCESS_MODE_READ_ONLY": &c.readOnly, "IO_ACCESS_MODE_WRITE_ONLY": &c.writeOnly,
		"IO_ACCESS_MODE_READ_WRITE": &c.readWrite, "IO_CREATION_FLAG_CREATE": &c.create,
		"IO_CREATION_FLAG_EXCLUSIVE": &c.exclusively, "IO_CREATION_FLAG_NO_SEEK": &c.noSeek,
		"IO_CREATION_FLAG_UNIQUE": &c.unique, "IO_STATUS_FLAG_APPEND": &c.appends,
		"IO_STATUS_FLAG_DELETE_ON_CLOSE": &c.deleteOnClose, "COLLECTIVE_ROOT_SELF": &c.rootSelf,
		"COLLECTIVE_ROOT_THIS_GROUP": &c.rootThisGroup,

		"REGION_ROLE_UNKNOWN": &r.none, "REGION_ROLE_FUNCTION": &r.function, "REGION_ROLE_POINT2POINT": &r.pointToPoint,
		"REGION_ROLE_BARRIER": &r.barrier, "REGION_ROLE_COLL_ONE2ALL": &r.one2all,
		"REGION_ROLE_COLL_ALL2ONE": &r.all2one,
		"REGION_ROLE_COLL_ALL2ALL": &r.all2all, "REGION_ROLE_COLL_OTHER": &r.other, "REGION_ROLE_RMA": &r.rma,
		"REGION_ROLE_ATOMIC": &r.atomic, "REGION_ROLE_FILE_IO": &r.file,
		"REGION_ROLE_FILE_IO_METADATA": &r.fileMetadata, "REGION_ROLE_ALLOCATE": &r.allocate,
		"REGION_ROLE_DEALLOCATE": &r.deallocate,
	} {
		*to = constant(name)
	}
	collectiveOps = make(map[string]uint64)
	for data := range strings.FieldsSeq("Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall " +
		"Alltoallv Alltoallw Allreduce Reduce Reduce_scatter Scan Exscan Reduce_scatter_block") {
		collectiveOps[data] = constant("COLLECTIVE_OP_" + strings.ToUpper(data))
	}
})

func constant(name string) uint64 {
	v, ok := archive.Constant(name)
	need.That(ok, "otf2: no constant of the name")
	return v
}

// opOf returns the collective operation that a blocking form is: of one among neighbours, that among all.
func opOf(data string) (op uint64, ok bool) {
	if name, found := strings.CutPrefix(data, "Neighbor_"); found {
		data = strings.ToUpper(name[:1]) + name[1:]
	}
	op, ok = collectiveOps[data]
	return op, ok
}

// hasRoot reports whether a collective operation on data has a root.
func hasRoot(data string) bool {
	switch data {
	case "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Reduce":
		return true
	}
	return false
}

// roleOf returns the role of the region of a function of MPI, as Score-P has it, or of an action of SimGrid.
func roleOf(function string, action bool) uint64 {
	base := spec.Base(function)
	if base == function && !action {
		return roles.function
	}
	base = strings.ToLower(base)
	if action {
		base = strings.Replace(base, "reducescatter", "reduce_scatter", 1)
	}
	r := events.RoleOf(base)
	switch {
	case r.Data != "":
		return collectiveRole(r.Data)
	case r.Class == spec.PointToPoint, r.Class == spec.Probe:
		return roles.pointToPoint
	case r.Class == spec.OneSided && r.Combines:
		return roles.atomic
	case r.Class == spec.OneSided:
		return roles.rma
	case r.Class == spec.Access:
		return roles.file
	case strings.HasPrefix(base, "file_"):
		return roles.fileMetadata
	case r.Allocates:
		return roles.allocate
	case r.FreesMemory:
		return roles.deallocate
	}
	return roles.none
}

func collectiveRole(data string) uint64 {
	switch data {
	case "Barrier":
		return roles.barrier
	case "Bcast", "Scatter", "Scatterv":
		return roles.one2all
	case "Gather", "Gatherv", "Reduce":
		return roles.all2one
	case "Scan", "Exscan":
		return roles.other
	}
	return roles.all2all
}
