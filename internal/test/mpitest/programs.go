package mpitest

import (
	"strings"
	"testing"
)

// A Program is one of those of this package.
type Program struct {
	Source    string   // the name of the file
	Ranks     int      // for how many it is meant, see [MPI.Ranks]
	Arguments []string // "DIRECTORY" stands for one to write to
	Flags     []string // of the compiler

	// Varies is set if the calls of a rank differ between runs, as those of one
	// that polls do, or their order. What is printed is the same in any case.
	Varies bool

	// Calls says of some functions how often each rank calls them.
	Calls map[string]uint64

	// Dies is set if the exit status is that of a program that went wrong.
	Dies bool
}

// Programs returns the programs.
func Programs() []Program {
	return []Program{
		{Source: "p2p.c", Ranks: 3},
		{Source: "requests.c", Ranks: 3},
		{Source: "polling.c", Ranks: 3, Varies: true},
		{Source: "collectives.c", Ranks: 3},
		{Source: "icollectives.c", Ranks: 3},
		{Source: "comms.c", Ranks: 4},
		{Source: "rings.c", Ranks: 5},
		{Source: "topologies.c", Ranks: 4},
		{Source: "types.c", Ranks: 2},
		{Source: "attributes.c", Ranks: 2},
		{Source: "rma.c", Ranks: 3, Varies: true},
		{Source: "io.c", Ranks: 2, Arguments: []string{"DIRECTORY"}},
		{Source: "iomore.c", Ranks: 2, Varies: true, Arguments: []string{"DIRECTORY"}},
		{Source: "objects.c", Ranks: 3},
		{Source: "mpi4.c", Ranks: 2, Varies: true},
		{Source: "threads.c", Ranks: 2, Varies: true},
		{Source: "waits.c", Ranks: 2, Varies: true, Calls: map[string]uint64{"MPI_Irecv": 1000,
			"MPI_Isend": 1000, "MPI_Wait": 2000}},
		{Source: "many.c", Ranks: 2, Varies: true, Calls: map[string]uint64{"MPI_Irecv": 5120,
			"MPI_Isend": 5120, "MPI_Waitall": 5120}},
		{Source: "signals.c", Ranks: 2, Varies: true, Calls: map[string]uint64{"MPI_Isend": 100,
			"MPI_Reduce_local": 100, "MPI_Finalize": 1}},
		{Source: "execs.c", Ranks: 2, Calls: map[string]uint64{"MPI_Allreduce": 1, "MPI_Finalize": 1}},
		{Source: "unasked.c", Ranks: 3, Varies: true},
		{Source: "errors.c", Ranks: 2},
		{Source: "made.c", Ranks: 2, Calls: map[string]uint64{"MPI_Barrier": 9}},
		{Source: "large.c", Ranks: 2},
		{Source: "memory.c", Ranks: 2},
		{Source: "switch.c", Ranks: 2},
		{Source: "slow.c", Ranks: 3, Arguments: []string{"1"}, Calls: map[string]uint64{"MPI_Allreduce": 25}},
		{Source: "numbers.c", Ranks: 4, Arguments: []string{"6", "DIRECTORY"}, Calls: map[string]uint64{
			"MPI_Send": 6, "MPI_Recv": 6, "MPI_Isend": 6, "MPI_Irecv": 6, "MPI_Allreduce": 6,
			"MPI_Alltoallv": 6, "MPI_Bcast": 1, "MPI_File_write_at": 1,
		}},
		{Source: "loop.c", Ranks: 2, Arguments: []string{"100"}, Calls: map[string]uint64{
			"MPI_Irecv": 200, "MPI_Isend": 200, "MPI_Waitall": 100, "MPI_Allreduce": 10, "MPI_Bcast": 1,
		}},
		{Source: "kill.c", Ranks: 2, Arguments: []string{"25", "kill"}, Varies: true, Dies: true},
		{Source: "kill.c", Ranks: 2, Arguments: []string{"25", "abort"}, Varies: true, Dies: true},
		{Source: "kill.c", Ranks: 2, Arguments: []string{"25", "exit"}, Varies: true, Dies: true},
		{Source: "mpif.f", Ranks: 2, Calls: map[string]uint64{
			"MPI_Init": 1, "MPI_Irecv": 5, "MPI_Isend": 4, "MPI_Waitall": 1, "MPI_Get_count": 4, "MPI_Send": 2,
			"MPI_Waitany": 1, "MPI_Waitsome": 1, "MPI_Testall": 1, "MPI_Sendrecv": 1, "MPI_Allreduce": 1,
			"MPI_Get_address": 2, "MPI_Type_create_struct": 1, "MPI_Bcast": 1, "MPI_Comm_dup": 1,
			"MPI_Error_class": 1, "MPI_Comm_free": 1, "MPI_Finalize": 1,
		}},
		{Source: "usempi.f90", Ranks: 2, Varies: true, Calls: map[string]uint64{
			"MPI_Init_thread": 1, "MPI_Recv_init": 2, "MPI_Send_init": 2, "MPI_Startall": 3, "MPI_Waitall": 3,
			"MPI_Request_free": 4, "MPI_Allgatherv": 1, "MPI_Gather": 1, "MPI_Ireduce": 1, "MPI_Cart_create": 1,
			"MPI_Cart_coords": 1, "MPI_Cart_shift": 1, "MPI_Comm_free": 1, "MPI_Wtime": 2, "MPI_Get_address": 6,
			"MPI_Finalize": 1,
		}},
		{Source: "usempif08.f90", Ranks: 3, Calls: map[string]uint64{
			"MPI_Init": 1, "MPI_Comm_rank": 2, "MPI_Comm_size": 2, "MPI_Irecv": 4, "MPI_Isend": 5, "MPI_Waitall": 1,
			"MPI_Get_count": 5, "MPI_Mprobe": 1, "MPI_Mrecv": 1, "MPI_Wait": 2, "MPI_Type_vector": 1,
			"MPI_Type_commit": 1, "MPI_Sendrecv": 1, "MPI_Type_free": 1, "MPI_Allreduce": 1, "MPI_Iallreduce": 1,
			"MPI_Bcast": 1, "MPI_Comm_split": 1, "MPI_Comm_free": 2, "MPI_Comm_dup": 1, "MPI_Send": 1,
			"MPI_Error_class": 1, "MPI_Finalize": 1,
		}},
	}
}

// Name returns the name of the file and the arguments.
func (p Program) Name() string {
	return strings.Join(append([]string{p.Source}, p.Arguments...), " ")
}

// RunProgram compiles and runs a program. The options say all but the number of
// ranks. It fails the test if the program failed that
// should not.
func (m *MPI) RunProgram(t testing.TB, p Program, o Options) *Output {
	t.Helper()
	o.Ranks = m.Ranks(p.Ranks)
	var arguments []string
	for _, a := range p.Arguments {
		if a == "DIRECTORY" {
			a = t.TempDir()
		}
		arguments = append(arguments, a)
	}
	output := m.Run(t, o, m.Build(t, p.Source, p.Flags...), arguments...)
	if (output.Status != 0) != p.Dies {
		t.Fatalf("%s: exit status %d\n%s", p.Source, output.Status, output.Rest)
	}
	return output
}
