package collect

import (
	"fmt"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/mpi/internal/spool"
)

// checkCalls checks which calls a spool of one thread makes, by the ends of their
// texts, and that they are as recorded.
func checkCalls(t *testing.T, w *spoolWriter, want ...string) {
	t.Helper()
	directory := t.TempDir()
	w.write(t, directory)
	if got := list(t, directory); !slices.Equal(got, want) {
		for i := range max(len(got), len(want)) {
			switch {
			case i >= len(got):
				t.Errorf("call %d: nothing, want %s", i, want[i])
			case i >= len(want):
				t.Errorf("call %d: %s, want nothing", i, got[i])
			case got[i] != want[i]:
				t.Errorf("call %d: %s, want %s", i, got[i], want[i])
			}
		}
	}
}

// TestSharedObjects has a group of which MPI returns several handles, which are equal.
func TestSharedObjects(t *testing.T) {
	null := int(constantValue("MPI_GROUP_NULL"))
	w := newSpoolWriter(0, 0)
	w.call(100, "MPI_Comm_group", world, 9000)
	w.call(200, "MPI_Comm_group", world, 9000)
	w.call(300, "MPI_Group_free", changes{9000, null})
	w.call(350, "MPI_Group_incl", int(constantValue("MPI_GROUP_EMPTY")), 0, words{}, 9050)
	w.call(400, "MPI_Group_incl", 9000, 1, words{0}, 9100)
	w.call(500, "MPI_Group_free", changes{9000, null})
	w.call(600, "MPI_Group_incl", 9100, 1, words{0}, 9200)
	w.call(700, "MPI_Comm_group", world, 9000)
	w.call(800, "MPI_Group_incl", 9000, 0, words{}, int(constantValue("MPI_GROUP_EMPTY")))
	checkCalls(t, w,
		"MPI_Comm_group(comm=-3, group=0)",
		"MPI_Comm_group(comm=-3, group=0)",
		"MPI_Group_free(group=0)",
		"MPI_Group_incl(group=-1, n=0, ranks=[], newgroup=1)",
		"MPI_Group_incl(group=0, n=1, ranks=[0], newgroup=2)",
		"MPI_Group_free(group=0)",
		"MPI_Group_incl(group=2, n=1, ranks=[0], newgroup=0)",
		"MPI_Comm_group(comm=-3, group=3)",
		"MPI_Group_incl(group=3, n=0, ranks=[], newgroup=-1)",
	)
}

// TestObjects has objects that are freed, with handles that are used again.
func TestObjects(t *testing.T) {
	null := int(constantValue("MPI_COMM_NULL"))
	dup := func(w *spoolWriter, at int64, raw int) {
		w.call(at, "MPI_Comm_dup", world, raw, members{0, 2})
	}
	w := newSpoolWriter(0, 0)
	dup(w, 100, 9000)
	dup(w, 200, 9100)
	w.failed(300, 5, "MPI_Comm_free", changes{9000, null})
	w.call(400, "MPI_Comm_free", changes{9000, null})
	w.call(500, "MPI_Info_create", 9000)
	dup(w, 600, 9200)
	dup(w, 700, 9000)
	dup(w, 800, 9100) // the freeing of the last one was not seen
	w.call(900, "MPI_Barrier", 9300)
	w.call(1000, "MPI_Comm_split", world, int(constantValue("MPI_UNDEFINED")), 0, null, members{-1, 0})
	w.call(1100, "MPI_Type_commit", changes{9000, 9000})
	w.call(1200, "MPI_Type_commit", changes{9000, 9000})
	checkCalls(t, w,
		"MPI_Comm_dup(comm=-3, newcomm=0)",
		"MPI_Comm_dup(comm=-3, newcomm=1)",
		"MPI_Comm_free(comm=0, error=5)",
		"MPI_Comm_free(comm=0)",
		"MPI_Info_create(info=0)",
		"MPI_Comm_dup(comm=-3, newcomm=0)",
		"MPI_Comm_dup(comm=-3, newcomm=2)",
		"MPI_Comm_dup(comm=-3, newcomm=1)",
		"MPI_Barrier(comm=4294967296)",
		// The value of MPI_UNDEFINED is a number of the test's.
		"MPI_Comm_split(comm=-3, color="+fmt.Sprint(constantValue("MPI_UNDEFINED"))+", key=0, newcomm=-1)",
		"MPI_Type_commit(datatype=4294967296)",
		"MPI_Type_commit(datatype=4294967296)",
	)
}

// TestRequestPools has requests of several calls, some persistent, which are freed in
// another order than made.
func TestRequestPools(t *testing.T) {
	null := int(constantValue("MPI_BOTTOM"))
	receive := func(w *spoolWriter, at int64, source, request int) {
		w.call(at, "MPI_Recv_init", null, 1, integers, source, int(at), world, request) // tags advance
	}
	const init = "MPI_Recv_init(buf=seg-1+0, count=1, datatype=-33, source="
	w := newSpoolWriter(0, 0)
	receive(w, 100, 1, 7100)
	receive(w, 200, 1, 7200)
	receive(w, 300, 2, 7300)
	w.call(400, "MPI_Startall", 2, changes{words{7100, 7200}, words{7100, 7200}})
	w.call(500, "MPI_Waitall", 2, changes{words{7200, 7100}, words{7200, 7100}}, nothing{})
	// As MPI does not, but may: the request is there until it is freed.
	w.call(600, "MPI_Wait", changes{7300, noRequest}, nothing{})
	receive(w, 700, 2, 7400)
	w.call(800, "MPI_Request_free", changes{7100, noRequest})
	receive(w, 900, 1, 7500)
	w.call(1000, "MPI_Request_free", changes{7300, noRequest})
	receive(w, 1100, 2, 7300)
	w.call(1150, "MPI_Waitall", 0, words{}, ignored{})
	w.call(1160, "MPI_Wait", noRequest, ignored{})
	w.call(1200, "MPI_Start", changes{7200, 7200})
	w.call(1300, "MPI_Test", changes{7200, 7200}, 0, nothing{})
	w.call(1400, "MPI_Isend", null, 1, integers, 1, 1, world, 7600)
	w.call(1500, "MPI_Wait", changes{7600, noRequest}, nothing{})
	w.call(1600, "MPI_Isend", null, 1, integers, 1, 1, world, 7700)
	checkCalls(t, w,
		init+"1, tag=100, comm=-3, request=0)",
		init+"1, tag=200, comm=-3, request=1)",
		init+"2, tag=300, comm=-3, request=8)",
		"MPI_Startall(count=2, array_of_requests=[0 1])",
		"MPI_Waitall(count=2, array_of_requests=[1 0], array_of_statuses=-1)",
		"MPI_Wait(request=8, status=-1)",
		init+"2, tag=700, comm=-3, request=9)",
		"MPI_Request_free(request=0)",
		init+"1, tag=900, comm=-3, request=0)",
		"MPI_Request_free(request=8)",
		init+"2, tag=1100, comm=-3, request=8)",
		"MPI_Waitall(count=0, array_of_requests=[], array_of_statuses=-3)",
		"MPI_Wait(request=-1, status=-2)",
		"MPI_Start(request=1)",
		"MPI_Test(request=1, flag=0, status=-1)",
		"MPI_Isend(buf=seg-1+0, count=1, datatype=-33, dest=1, tag=1, comm=-3, request=16)",
		"MPI_Wait(request=16, status=-1)",
		"MPI_Isend(buf=seg-1+0, count=1, datatype=-33, dest=1, tag=1, comm=-3, request=16)",
	)
}

// TestAddresses has memory of all kinds: allocated, freed, moved, in regions, on
// stacks, and unknown.
func TestAddresses(t *testing.T) {
	const (
		heap   = 0x10000000
		image  = 0x20000000
		other  = 0x30000000
		stack  = 0x7ff00000
		mapped = 0x50000000
	)
	w := newSpoolWriter(0, 0)
	var at int64
	var want []string
	use := func(address uint64, segment string) {
		at += 100
		w.call(at, "MPI_Bcast", int(address), 1, integers, 0, world)
		want = append(want, "MPI_Bcast(buffer=seg"+segment+", count=1, datatype=-33, root=0, comm=-3)")
	}
	region := func(address, size uint64, number int64) {
		w.words(recordRegion, 0, 0, address, size, uint64(number))
	}
	region(image, 1<<20, spool.Static)
	region(other, 1<<16, spool.Static-1)
	region(stack, 1<<20, spool.Stack)
	region(stack-1<<20, 1<<20, spool.ThreadStack-1)
	w.allocate(10, heap, 1000)
	w.allocate(20, heap+0x1000, 1000)
	w.allocate(30, heap+0x2000, 1000)
	use(heap+0x2000, "0+0")
	use(heap+8, "1+8")
	use(heap+1000, "1+1000") // behind it
	w.release(at+50, heap+0x2000)
	use(heap+0x1000, "0+0")
	use(heap+0x2000, "-1024+0") // freed
	w.allocate(at+60, heap+0x2000, 1<<20)
	use(heap+0x2010, "2+16")
	w.words(recordResize, 0, 0, uint64(at+70), heap+0x200000, 5000, uint64(at+65), heap)
	use(heap+0x200008, "1+8")
	w.allocate(at+80, heap+0x1100, 16) // over one whose freeing was not seen
	use(heap+0x1108, "0+8")
	w.release(at+90, heap+0x1108) // nothing begins here
	use(heap+0x1108, "0+8")
	use(image+4096, "-17+4096")
	use(other, "-18+0")
	use(stack+0x8000, "-16+0")
	use(stack+0x7ff0, "-16-16")
	use(stack-0x100, "-513+0")
	use(stack-0x108, "-513-8")
	use(mapped, "-1025+0")
	use(mapped+1<<20, "-1025+1048576")
	use(mapped+1<<20+2, "-1026+0")
	use(mapped+1<<19+1, "-1025+524289") // as near to the one as to the other
	use(mapped+1<<19+2, "-1026-524288")
	w.release(at+10, heap+0x1100)
	w.words(recordResize, 0, 0, uint64(at+30), heap+0x400000, 6000, uint64(at+20), heap+0x200000)
	use(heap+0x400008, "1+8") // although 0 is free
	use(heap+0x2010, "2+16")
	w.allocate(at+10, heap, 8)
	use(heap, "0+0")
	w.call(at+50, "MPI_Win_allocate", 4096, 1, int(constantValue("MPI_INFO_NULL")), world, mapped+0x1000, 9000)
	want = append(want, "MPI_Win_allocate(size=4096, disp_unit=1, info=-2, comm=-3, baseptr=seg3+0, win=0)")
	use(mapped+0x1008, "3+8")
	w.call(at+50, "MPI_Win_free", changes{9000, int(constantValue("MPI_WIN_NULL"))})
	want = append(want, "MPI_Win_free(win=0)")
	use(mapped+0x1008, "-1025+4104")
	w.call(at+50, "MPI_Alloc_mem", 4096, int(constantValue("MPI_INFO_NULL")), mapped+0x1000)
	want = append(want, "MPI_Alloc_mem(size=4096, info=-2, baseptr=seg3+0)")
	use(mapped+0x1004, "3+4")
	w.call(at+50, "MPI_Free_mem", mapped+0x1000)
	want = append(want, "MPI_Free_mem(base=seg3+0)")
	use(mapped+0x1004, "-1025+4100")
	checkCalls(t, w, want...)
}
