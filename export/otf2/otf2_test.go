package otf2

import (
	"context"
	"io"
	"strconv"
	"testing"

	"github.com/reprise-trace/reprise/export"
	"github.com/reprise-trace/reprise/export/internal/exporttest"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	archive "github.com/reprise-trace/reprise/mpi/otf2"
	"github.com/reprise-trace/reprise/trace"
)

// TestRecords checks that what is written of traces of all kinds is in order and nested, and has all calls.
func TestRecords(t *testing.T) {
	for _, c := range exporttest.Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			records, _ := collect(t, c.Trace, c.Options)
			read(t, records, false).checkCalls(c.Trace, c.Options)
		})
	}
}

// TestMessages checks messages and collective operations.
func TestMessages(t *testing.T) {
	stencil := testtrace.Stencil(t, "exact")
	records, said := collect(t, stencil, export.Options{})
	r := read(t, records, false)
	r.checkMessages(stencil, true)
	r.checkCollectives()
	if said.Omitted > 0 || said.Unsized > 0 || said.Messages == 0 || r.kinds["MpiCollectiveEnd"] == 0 {
		t.Errorf("%+v, %v", said, r.kinds)
	}
	actions := testtrace.TI(t, exporttest.Lines)
	records, _ = collect(t, actions, export.Options{})
	r = read(t, records, false)
	r.checkMessages(actions, true)
	if r.kinds["MpiSend"] != 1 || r.kinds["MpiCollectiveEnd"] != 4 {
		t.Errorf("of actions: %v", r.kinds)
	}
}

// A sizer writes something of each record.
type sizer struct {
	w    io.Writer
	text []byte
}

func (s *sizer) Write(r *archive.Record) error {
	s.text = append(strconv.AppendUint(s.text[:0], r.Time, 10), 10)
	_, err := s.w.Write(s.text)
	return err
}

// TestBounds checks that what is held does not grow with the number of calls, and that writing can be stopped.
func TestBounds(t *testing.T) {
	exporttest.CheckBounds(t, func(ctx context.Context, w io.Writer, tr *trace.Trace, o export.Options) error {
		choice, err := choose(ctx, tr, o)
		if err != nil {
			return err
		}
		return newWriter(&sizer{w: w}, choice).write(ctx)
	})
}

// TestTimes checks that ranks say how exact their times are.
func TestTimes(t *testing.T) {
	for times, want := range map[string]string{"exact": "as recorded", "statistics": "estimated from statistics"} {
		records, _ := collect(t, testtrace.Stencil(t, times), export.Options{})
		var texts []string
		n := 0
		for _, k := range records {
			switch k.Kind.Name {
			case "String":
				texts = append(texts, k.Texts[0])
			case "LocationGroupProperty":
				if n++; texts[k.Values[1]] != "times" || texts[k.Values[3]] != want {
					t.Errorf("%s: property %s is %q, want %q", times, texts[k.Values[1]], texts[k.Values[3]], want)
				}
			}
		}
		if n != 4 {
			t.Errorf("%s: %d ranks have properties", times, n)
		}
	}
}

// TestRoles checks the roles of functions, which are those of Score-P.
func TestRoles(t *testing.T) {
	loadTables()
	for name, want := range map[string]uint64{
		"MPI_Send": roles.pointToPoint, "MPI_Isend_c": roles.pointToPoint, "MPI_Recv_init": roles.pointToPoint,
		"MPI_Iprobe": roles.pointToPoint, "MPI_Waitall": roles.none, "MPI_Request_free": roles.none,
		"MPI_Barrier": roles.barrier, "MPI_Ibarrier": roles.barrier, "MPI_Bcast": roles.one2all,
		"MPI_Igatherv": roles.all2one, "MPI_Reduce": roles.all2one, "MPI_Allreduce": roles.all2all,
		"MPI_Reduce_scatter": roles.all2all, "MPI_Neighbor_alltoall": roles.all2all, "MPI_Scan": roles.other,
		"MPI_Iexscan": roles.other, "MPI_Put": roles.rma, "MPI_Rget": roles.rma, "MPI_Accumulate": roles.atomic,
		"MPI_Compare_and_swap": roles.atomic, "MPI_Win_fence": roles.none, "MPI_Win_create": roles.none,
		"MPI_Win_allocate": roles.allocate, "MPI_Alloc_mem": roles.allocate, "MPI_Free_mem": roles.deallocate,
		"MPI_File_write_at_all": roles.file, "MPI_File_iread": roles.file, "MPI_File_open": roles.fileMetadata,
		"MPI_File_seek": roles.fileMetadata, "MPI_Init": roles.none, "MPI_Comm_dup": roles.none,
		"main.run": roles.function,
	} {
		if got := roleOf(name, false); got != want {
			t.Errorf("%s has role %d, want %d", name, got, want)
		}
	}
	for name, want := range map[string]uint64{"send": roles.pointToPoint, "allReduce": roles.all2all,
		"compute": roles.none} {
		if got := roleOf(name, true); got != want {
			t.Errorf("action %s has role %d, want %d", name, got, want)
		}
	}
}
