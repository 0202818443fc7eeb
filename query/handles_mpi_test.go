package query

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/mpitest/recorded"
	"github.com/reprise-trace/reprise/mpi/semantics"
)

// TestHandlesMPI runs programs that make and free handles of all kinds at random, before MPI_Init, while
// recording is on and off and by PMPI, and use them: the messages and blocks of their traces are those that
// the generator knows of.
func TestHandlesMPI(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		for seed := range uint64(4) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				m.Parallel(t)
				g := newHandleProgram(rand.New(rand.NewPCG(seed, 1)))
				source, program := filepath.Join(t.TempDir(), "handles.c"), filepath.Join(t.TempDir(), "handles")
				if err := os.WriteFile(source, []byte(g.text()), 0o600); err != nil {
					t.Fatal(err)
				}
				if message, err := exec.Command(m.CC, "-w", "-o", program, source).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, message)
				}
				trace := recorded.Trace(t, m, func(o mpitest.Options) { m.Run(t, withRanks(o), program) })
				model, err := semantics.Open(t.Context(), trace)
				if err != nil {
					t.Fatal(err)
				}
				if err := model.Unresolved(); err != nil {
					t.Error(err)
				}
				g.check(t, model)
				if t.Failed() {
					t.Log(g.text())
				}
			})
		}
	})
}

// handleRanks is the number of ranks of the programs.
const handleRanks = 3

// withRanks returns options with that number of ranks.
func withRanks(o mpitest.Options) mpitest.Options {
	o.Ranks = handleRanks
	return o
}

// A handleProgram is a program in C, and what its messages and blocks are.
type handleProgram struct {
	r                   *rand.Rand
	before, lines       []string
	on                  bool
	types               []handleType
	comms               []handleComm
	requests            []int64 // sizes of the messages of pairs of persistent requests
	messages, blocks    [handleRanks][handleRanks]uint64
	bytes, blockedBytes [handleRanks][handleRanks]uint64
}

type handleType struct {
	name string
	size int64
	live bool
	pmpi bool // made by PMPI
}

type handleComm struct {
	name     string
	reversed bool
	live     bool
}

func newHandleProgram(r *rand.Rand) *handleProgram {
	g := &handleProgram{r: r, on: true}
	if r.IntN(2) == 0 {
		g.before = append(g.before, "MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);", "ask_variables();")
	}
	g.types = append(g.types, handleType{"MPI_INT", 4, true, false}, handleType{"MPI_DOUBLE", 8, true, false})
	g.comms = append(g.comms, handleComm{"MPI_COMM_WORLD", false, true})
	steps := []func(){
		g.toggle, g.makeType, g.makeType, g.freeType, g.makeComm, g.freeComm, g.makeRequests, g.startRequests,
		g.sendrecv, g.sendrecv, g.bcast, g.bcast, g.across}
	for range 60 {
		steps[r.IntN(len(steps))]()
	}
	if !g.on {
		g.toggle()
	}
	for range 8 { // what was made is used at the end
		g.sendrecv()
		g.bcast()
		g.startRequests()
	}
	return g
}

func (g *handleProgram) add(format string, args ...any) {
	g.lines = append(g.lines, fmt.Sprintf(format, args...))
}

func (g *handleProgram) toggle() {
	g.on = !g.on
	switch {
	case g.r.IntN(2) == 0 && g.on:
		g.add(`by_info("on");`)
	case g.r.IntN(2) == 0 && !g.on:
		g.add(`by_info("off");`)
	case g.on:
		g.add("MPI_Pcontrol(%d);", 1+g.r.IntN(2))
	default:
		g.add("MPI_Pcontrol(0);")
	}
}

// anyType returns one that is there.
func (g *handleProgram) anyType() *handleType {
	for {
		if t := &g.types[g.r.IntN(len(g.types))]; t.live {
			return t
		}
	}
}

func (g *handleProgram) anyComm() *handleComm {
	for {
		if c := &g.comms[g.r.IntN(len(g.comms))]; c.live {
			return c
		}
	}
}

func (g *handleProgram) makeType() {
	old, name := g.anyType(), fmt.Sprintf("t[%d]", len(g.types))
	if old.size > 1<<7 {
		return
	}
	p, n := "", 1+g.r.IntN(3)
	made := handleType{name, old.size * int64(n), true, false}
	if g.r.IntN(3) == 0 {
		p, made.pmpi = "P", true
	}
	switch g.r.IntN(6) {
	case 0:
		g.add("%sMPI_Type_vector(%d, 1, 2, %s, &%s);", p, n, old.name, name)
	case 1:
		g.add("%sMPI_Type_indexed(1, (int[]){%d}, (int[]){1}, %s, &%s);", p, n, old.name, name)
	case 2:
		made.size = old.size
		g.add("%sMPI_Type_dup(%s, &%s);", p, old.name, name)
	case 3:
		made.size = old.size + 4
		g.add("%sMPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 4096}, (MPI_Datatype[]){%s, MPI_INT}, &%s);", p, old.name, name)
	case 4:
		made.size = 8 * int64(n)
		g.add("{ MPI_Datatype f; %sMPI_Type_create_f90_real(15, MPI_UNDEFINED, &f); MPI_Type_contiguous(%d, f, &%s); }", p, n, name)
		made.pmpi, p = false, ""
	default:
		g.add("%sMPI_Type_contiguous(%d, %s, &%s);", p, n, old.name, name)
	}
	g.add("%sMPI_Type_commit(&%s);", p, name)
	g.types = append(g.types, made)
}

func (g *handleProgram) freeType() {
	if t := g.anyType(); strings.HasPrefix(t.name, "t") {
		t.live = false
		p := ""
		if t.pmpi {
			p = "P"
		}
		g.add("%sMPI_Type_free(&%s);", p, t.name)
	}
}

func (g *handleProgram) makeComm() {
	old, name := g.anyComm(), fmt.Sprintf("c[%d]", len(g.comms))
	made := handleComm{name, old.reversed, true}
	switch g.r.IntN(4) {
	case 0:
		g.add("MPI_Comm_dup(%s, &%s);", old.name, name)
	case 1:
		g.add("{ MPI_Request q; MPI_Comm_idup(%s, &%s, &q); MPI_Wait(&q, MPI_STATUS_IGNORE); }", old.name, name)
	case 2:
		made.reversed = true
		g.add("MPI_Comm_split(%s, 0, -rank, &%s);", old.name, name)
	default:
		g.add("MPI_Cart_create(%s, 1, (int[]){%d}, (int[]){1}, 0, &%s);", old.name, handleRanks, name)
	}
	g.comms = append(g.comms, made)
}

func (g *handleProgram) freeComm() {
	if c := g.anyComm(); strings.HasPrefix(c.name, "c") {
		c.live = false
		g.add("MPI_Comm_free(&%s);", c.name)
	}
}

// ring counts a message of each rank of a communicator to the next.
func (g *handleProgram) ring(c *handleComm, size int64) {
	if !g.on {
		return
	}
	for rank := range handleRanks {
		to := (rank + 1) % handleRanks
		if c.reversed {
			to = (rank + handleRanks - 1) % handleRanks
		}
		g.messages[rank][to]++
		g.bytes[rank][to] += uint64(size)
	}
}

func (g *handleProgram) makeRequests() {
	t, c, n := g.anyType(), g.anyComm(), len(g.requests)
	if c.reversed { // counted in one direction only
		return
	}
	g.add("MPI_Recv_init(in, 1, %s, previous, %d, MPI_COMM_WORLD, &p[%d]);", t.name, n, 2*n)
	g.add("MPI_Send_init(out, 1, %s, next, %d, MPI_COMM_WORLD, &p[%d]);", t.name, n, 2*n+1)
	g.requests = append(g.requests, t.size)
}

func (g *handleProgram) startRequests() {
	if len(g.requests) == 0 {
		return
	}
	n := g.r.IntN(len(g.requests))
	g.add("MPI_Startall(2, p + %d); MPI_Waitall(2, p + %d, MPI_STATUSES_IGNORE);", 2*n, 2*n)
	g.ring(&g.comms[0], g.requests[n])
}

func (g *handleProgram) sendrecv() {
	t, c := g.anyType(), g.anyComm()
	g.add("ring(1, %s, %s);", t.name, c.name)
	g.ring(c, t.size)
}

// across has requests that are begun before recording is switched and completed after.
func (g *handleProgram) across() {
	t := g.anyType()
	g.add("MPI_Irecv(in, 1, %s, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, q); MPI_Isend(out, 1, %s, next, 99, MPI_COMM_WORLD, q + 1);", t.name, t.name)
	g.ring(&g.comms[0], t.size)
	g.toggle()
	g.add("MPI_Waitall(2, q, MPI_STATUSES_IGNORE);")
}

func (g *handleProgram) bcast() {
	t, c, root := g.anyType(), g.anyComm(), g.r.IntN(handleRanks)
	g.add("MPI_Bcast(out, 1, %s, %d, %s);", t.name, root, c.name)
	if c.reversed {
		root = handleRanks - 1 - root
	}
	for rank := range handleRanks {
		if g.on && rank != root {
			g.blocks[root][rank]++
			g.blockedBytes[root][rank] += uint64(t.size)
		}
	}
}

func (g *handleProgram) text() string {
	return fmt.Sprintf(`#include <mpi.h>
static char in[1 << 22], out[1 << 22];
static int rank, next, previous, provided;
static MPI_Datatype t[100];
static MPI_Comm c[100];
static MPI_Request p[200], q[2];
static void ask_variables(void)
{
	int n = 0;
	MPI_T_cvar_get_num(&n);
	for (int i = 0; i < n && i < 50; i++) {
		char name[256], text[2048];
		int a = sizeof name, b = sizeof text, verbosity, bind, scope;
		MPI_Datatype type;
		MPI_T_enum values;
		MPI_T_cvar_get_info(i, name, &a, &verbosity, &type, &values, text, &b, &bind, &scope);
	}
}
static void by_info(const char *value)
{
	MPI_Info info;
	MPI_Info_create(&info);
	MPI_Info_set(info, "reprise_record", value);
	MPI_Info_free(&info);
}
static void ring(int n, MPI_Datatype type, MPI_Comm comm)
{
	int r, size;
	PMPI_Comm_rank(comm, &r);
	PMPI_Comm_size(comm, &size);
	MPI_Sendrecv(out, n, type, (r + 1) %% size, 7, in, n, type, (r + size - 1) %% size, 7, comm, MPI_STATUS_IGNORE);
}
int main(int argc, char **argv)
{
	%s
	MPI_Init(&argc, &argv);
	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	next = (rank + 1) %% %d;
	previous = (rank + %d) %% %d;
	%s
	MPI_Finalize();
	return 0;
}
`, strings.Join(g.before, "\n\t"), handleRanks, handleRanks-1, handleRanks, strings.Join(g.lines, "\n\t"))
}

// check compares what a trace has of messages and blocks with what the program does.
func (g *handleProgram) check(t *testing.T, model *semantics.Model) {
	t.Helper()
	found, err := OpenMessages(t.Context(), model, 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := found.Traffic.Matrix(handleRanks)
	if err != nil {
		t.Fatal(err)
	}
	if m.Uncounted > 0 || m.Unplaced.Messages > 0 {
		t.Errorf("%d collective calls and %+v are of unknown ranks", m.Uncounted, m.Unplaced)
	}
	for i := range handleRanks {
		for j := range handleRanks {
			want := Volume{Flow: Flow{Messages: g.messages[i][j], Bytes: g.bytes[i][j]},
				Exchanged: Blocks{Blocks: g.blocks[i][j], Bytes: g.blockedBytes[i][j]}}
			if got := m.At(i, j); got != want {
				t.Errorf("from %d to %d: %+v, want %+v", i, j, got, want)
			}
		}
	}
}
