package query

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/mpitest/recorded"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

func TestMain(m *testing.M) { os.Exit(mpitest.Main(m)) }

// TestMatchMPI checks that all messages and collective operations of programs match that
// use all parts of MPI and check what they compute, and that datatypes have the sizes that
// MPI says, as far as they are known.
func TestMatchMPI(t *testing.T) {
	programs := []string{"p2p.c", "requests.c", "collectives.c", "comms.c", "rings.c", "topologies.c",
		"types.c", "rma.c", "io.c", "large.c", "errors.c",
		"mpif.f", "usempi.f90", "usempif08.f90"}
	mpitest.ForEach(t, func(t *testing.T, m *mpitest.MPI) {
		for _, p := range mpitest.Programs() {
			if !slices.Contains(programs, p.Source) || !m.Turn(p.Name()) {
				continue
			}
			if filepath.Ext(p.Source) != ".c" && (m.Fortran == "" || p.Source == "usempif08.f90" && m.Name == "mpich") {
				continue
			}
			t.Run(p.Name(), func(t *testing.T) {
				m.Parallel(t)
				trace := recorded.Trace(t, m, func(o mpitest.Options) { m.RunProgram(t, p, o) })
				match := openMatch(t, trace)
				if err := match.model.Unresolved(); err != nil {
					t.Error(err)
				}
				for _, u := range match.Unmatched {
					first, err := firstOf(match, u)
					t.Errorf("%v of %d from %d to %d, tag %d on %s: first %d, %v", u.Direction, u.Count,
						u.Source, u.Destination, u.Tag, u.Communicator.Name, first, err)
				}
				operations := uint64(0)
				for _, n := range match.Instances {
					operations += n.Count
					for _, d := range n.Different {
						t.Errorf("%s: %+v", n.Communicator.Name, d)
					}
				}
				t.Logf("%d messages, %d guessed, %d cancelled, %d unknown, %d collective operations, %d unknown", match.Messages, match.Assumed, match.Cancelled, match.Unknown,
					operations, match.UnknownCollectives)
				checkMatch(t, match, 1)
				checkDatatypes(t, match.model)
			})
		}
	})
}

// checkDatatypes compares sizes of datatypes with what MPI_Type_size says.
func checkDatatypes(t *testing.T, m *semantics.Model) {
	t.Helper()
	known, unknown := 0, 0
	for _, rank := range m.Trace().RankSet().All() {
		r, err := m.Rank(rank)
		if err != nil {
			t.Fatal(err)
		}
		for call, err := range r.Calls(0) {
			if err != nil {
				t.Fatal(err)
			}
			position := call.Position
			if !strings.HasPrefix(call.Function.Name, "MPI_Type_size") {
				continue
			}
			datatype, ok := call.Arg("datatype")
			size, also := call.Arg("size")
			if !ok || !also || datatype.Kind() != cst.KindHandle || size.Kind() != cst.KindInt {
				continue
			}
			got := r.DatatypeSize(position, datatype.Int())
			if got == semantics.Unknown {
				unknown++ // that of an array that is distributed by default, for instance
				continue
			}
			if known++; got != size.Int() {
				t.Errorf("rank %d, call %d: %s, but its size is said to be %d", rank, position, call, got)
			}
		}
	}
	t.Logf("the sizes of %d datatypes are known, and those of %d are not", known, unknown)
	if known < 5*unknown {
		t.Errorf("the sizes of %d datatypes are not known, and those of %d are", unknown, known)
	}
}

// TestDistributedArrays checks the sizes of datatypes that are known in part only.
func TestDistributedArrays(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		trace := recorded.Trace(t, m, func(o mpitest.Options) {
			o.Ranks = 1
			m.Run(t, o, m.Build(t, "darray.c"))
		})
		checkDatatypes(t, openMatch(t, trace).model)
	})
}

// TestMatchTraffic checks what is said of a program that sends a known number of messages
// of known sizes, of which some are not received.
func TestMatchTraffic(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		trace := recorded.Trace(t, m, func(o mpitest.Options) {
			o.Ranks = 3
			m.Run(t, o, m.Build(t, "traffic.c"))
		})
		match := openMatch(t, trace)
		checkMatch(t, match, 1)
		checkDatatypes(t, match.model)
		if match.Messages != 3*20+3*20+2*10+3*8 || match.Assumed != 0 || match.Cancelled != 1 {
			t.Errorf("%d messages, %d guessed, %d cancelled", match.Messages, match.Assumed, match.Cancelled)
		}
		if len(match.Unmatched) != 1 {
			t.Fatalf("unmatched: %+v", match.Unmatched)
		}
		if u := match.Unmatched[0]; u.Source != 0 || u.Destination != 1 || u.Tag != 99 || u.Count != 2 ||
			u.Direction != semantics.Send {
			t.Errorf("unmatched: %+v", u)
		}
		traffic := openMessages(t, match.model, 0, Options{}).Traffic
		const vector, ring = 20 * 3 * 2 * 8, 20 * 7 * 4 // bytes from each rank to the next
		bytes := map[[2]int]uint64{
			{0, 1}: vector + ring + 8*12 + 2, {1, 2}: vector + ring + 8*12,
			{2, 0}: vector + ring + 8*12 + 10*4, {1, 0}: 10 * 4,
		}
		for _, p := range traffic.Pairs {
			key := [2]int{p.Source, p.Destination}
			if p.Bytes != bytes[key] || p.Unknown > 0 {
				t.Errorf("%d to %d: %d bytes, want %d, and %d messages of unknown size", p.Source,
					p.Destination, p.Bytes, bytes[key], p.Unknown)
			}
			delete(bytes, key)
		}
		if len(bytes) > 0 {
			t.Errorf("no traffic: %v", bytes)
		}
	})
}
