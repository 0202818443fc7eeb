package interpose

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// TestThreads records threads that communicate at once, some with the numbers of
// others that have ended.
func TestThreads(t *testing.T) {
	forOneMPI(t, func(t *testing.T, m *implementation) {
		spool := t.TempDir()
		m.run(t, "2", spool, m.build(t, "events.c"), "threads")
		byRank := threads(t, spool)
		for rank := range 2 {
			counts := make(map[string]int)
			for _, thread := range byRank[rank] {
				tag, next, end := int64(-1), 0, int64(0)
				readAll(t, thread, func(r *Record) {
					if r.Type != Call || thread.Thread == 0 {
						return
					}
					name := functions[r.Function].Name
					counts[name]++
					if r.Start < end {
						t.Errorf("%s begins at %d, before %d", name, r.Start, end)
					}
					end = r.End
					if name != "MPI_Wait" {
						return
					}
					// One thread after another, each with its tag throughout.
					status := r.Arguments[1].After.Status(0)
					if next%200 == 0 {
						tag = status.Tag
					}
					next++
					if status.Tag != tag || status.Source != int64(rank) || r.Depth != 0 {
						t.Errorf("%s, want tag %d", r, tag)
					}
				})
			}
			want := map[string]int{"MPI_Irecv": 2400, "MPI_Send": 2400, "MPI_Wait": 2400}
			if !maps.Equal(counts, want) {
				t.Errorf("rank %d: calls %v, want %v", rank, counts, want)
			}
			if n := len(byRank[rank]); n > 10 {
				t.Errorf("rank %d: %d threads in the spool, although four run at once", rank, n)
			}
		}
	})
}

// TestMemory compares what a program says of its memory with the records.
func TestMemory(t *testing.T) {
	forOneMPI(t, func(t *testing.T, m *implementation) {
		program := m.build(t, "events.c")
		compareMemory(t, m, program, "memory")
		compareMemory(t, m, program, "callback")
	})
}

func compareMemory(t *testing.T, m *implementation, program, argument string) {
	t.Helper()
	spool := t.TempDir()
	said := m.run(t, "1", spool, program, argument)
	var got strings.Builder
	marks := 0
	readAll(t, threads(t, spool)[0][0], func(r *Record) {
		if r.Type == Call && functions[r.Function].Name == "MPI_Pcontrol" {
			marks++
		}
		if marks != 1 || r.Size == 1024 || r.Size == 4096 {
			return // the buffer of the standard output
		}
		if r.Start > r.End {
			t.Errorf("from %d to %d", r.Start, r.End)
		}
		switch r.Type {
		case Allocated:
			fmt.Fprintf(&got, "allocated %#x %d\n", r.Address, r.Size)
		case Released:
			fmt.Fprintf(&got, "released %#x\n", r.Old)
		case Resized:
			fmt.Fprintf(&got, "resized %#x %d %#x\n", r.Address, r.Size, r.Old)
		}
	})
	if got.String() != said {
		t.Errorf("recorded\n%s\nthe program says\n%s", got.String(), said)
	}
}

// TestRegions checks that what a program says of its static data and its stacks
// lies in the regions that are recorded.
func TestRegions(t *testing.T) {
	forOneMPI(t, func(t *testing.T, m *implementation) {
		spool := t.TempDir()
		said := m.run(t, "1", spool, m.build(t, "events.c"), "regions")
		regions := make(map[string][]Record)
		for _, thread := range threads(t, spool)[0] {
			readAll(t, thread, func(r *Record) {
				if r.Type != Region {
					return
				}
				kind := "other"
				switch {
				case r.Number == Stack:
					kind = "stack"
				case r.Number == Static:
					kind = "static"
				case r.Number <= ThreadStack:
					kind = "thread"
					if want := ThreadStack - int64(thread.Thread); r.Number != want {
						t.Errorf("thread %d has region %d", thread.Thread, r.Number)
					}
				}
				regions[kind] = append(regions[kind], *r)
			})
		}
		if n := len(regions["static"]); n != 1 || regions["static"][0].Size > 1<<25 {
			t.Errorf("static data %v", regions["static"])
		}
		if n := len(regions["stack"]); n != 1 || regions["stack"][0].Size < 1<<20 {
			t.Errorf("stacks %v", regions["stack"])
		}
		for line := range strings.Lines(said) {
			var kind string
			var address uint64
			if _, err := fmt.Sscanf(line, "%s 0x%x", &kind, &address); err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(regions[kind], func(r Record) bool { return address-r.Address < r.Size }) {
				t.Errorf("%s is in none of %v", strings.TrimSpace(line), regions[kind])
			}
		}
	})
}

// TestBig records a call that is larger than a segment.
func TestBig(t *testing.T) {
	forOneMPI(t, func(t *testing.T, m *implementation) {
		spool := t.TempDir()
		m.run(t, "1", spool, m.build(t, "events.c"), "big")
		var names []string
		readAll(t, threads(t, spool)[0][0], func(r *Record) {
			if r.Type != Call {
				return
			}
			names = append(names, functions[r.Function].Name)
			if r.Function == number(t, "MPI_Waitall") {
				if a := r.Arguments[1]; a.Before.Len() != 700000 || a.After.Len() != 700000 ||
					a.Before.Index(0) != a.After.Index(699999) {
					t.Errorf("%d and %d requests", a.Before.Len(), a.After.Len())
				}
			}
		})
		want := "[MPI_Init MPI_Comm_rank MPI_Waitall MPI_Barrier MPI_Finalize]"
		if got := fmt.Sprint(names); got != want {
			t.Errorf("calls %s, want %s", got, want)
		}
	})
}

func number(t testing.TB, name string) int {
	t.Helper()
	n, ok := spec.Lookup(name)
	if !ok {
		t.Fatalf("%s is not in the table", name)
	}
	return n
}

// TestKilled kills a process inside a call: what came before is there, and so is
// what is known of the call.
func TestKilled(t *testing.T) {
	forOneMPI(t, func(t *testing.T, m *implementation) {
		spool := t.TempDir()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := m.command(ctx, t, "1", spool, m.build(t, "events.c"), "killed").Run(); err == nil {
			t.Fatal("the program was not killed")
		}
		counts := make(map[string]int)
		reader := readAll(t, threads(t, spool)[0][0], func(r *Record) {
			if r.Type == Call {
				counts[functions[r.Function].Name]++
			}
		})
		want := map[string]int{"MPI_Init": 1, "MPI_Op_create": 1, "MPI_Comm_rank": 100001}
		if !maps.Equal(counts, want) {
			t.Errorf("calls %v, want %v", counts, want)
		}
		n := 0
		for r := range reader.Decoder().Unfinished() {
			if n++; functions[r.Function].Name != "MPI_Reduce_local" || r.Arguments[2].Before.Int() != 1 || r.End != 0 {
				t.Errorf("unfinished: %s", r)
			}
		}
		if n != 1 {
			t.Errorf("%d calls are unfinished, want 1", n)
		}
	})
}

// TestForked checks that children leave the spool alone.
func TestForked(t *testing.T) {
	forOneMPI(t, func(t *testing.T, m *implementation) {
		spool := t.TempDir()
		if said := m.run(t, "1", spool, m.build(t, "events.c"), "forked"); said != "child 7\nshell 5\n" {
			t.Errorf("the program says %q", said)
		}
		byRank := threads(t, spool)
		if len(byRank) != 1 {
			t.Errorf("ranks %v in the spool", byRank)
		}
		for _, thread := range byRank[0] {
			if thread.Process != byRank[0][0].Process {
				t.Errorf("process %v is in the spool", thread.Process)
			}
		}
		calls := 0
		readAll(t, byRank[0][0], func(r *Record) {
			if r.Type == Call {
				calls++
			}
		})
		if calls != 5 {
			t.Errorf("%d calls, want 5", calls)
		}
	})
}

// TestJumped leaves calls by longjmp: those that follow are not inside them.
func TestJumped(t *testing.T) {
	forEachMPI(t, func(t *testing.T, m *implementation) {
		spool := t.TempDir()
		m.run(t, "1", spool, m.build(t, "events.c"), "jumped")
		calls, allocations := 0, 0
		reader := readAll(t, threads(t, spool)[0][0], func(r *Record) {
			if r.Type == Allocated && r.Size == 4321 {
				allocations++
			}
			if r.Type == Call {
				if calls++; r.Depth != 0 {
					t.Error(r)
				}
			}
		})
		if calls != 6 || allocations != 1 {
			t.Errorf("%d calls and %d allocations, want 6 and 1", calls, allocations)
		}
		for r := range reader.Decoder().Unfinished() {
			t.Errorf("unfinished: %s", r)
		}
	})
}

// TestJobs runs two programs at once with one spool, which start more processes: those
// of each, and those that each starts, have a job of their own.
func TestJobs(t *testing.T) {
	forOneMPI(t, func(t *testing.T, m *implementation) {
		spool, program := t.TempDir(), m.build(t, "events.c")
		does, want := "spawn", 4
		if output, err := m.command(t.Context(), t, "2", "", program, does).CombinedOutput(); err != nil {
			t.Logf("no process can be started by another: %v\n%s", err, output)
			does, want = "none", 2
		}
		var running sync.WaitGroup
		for range 2 {
			// A launcher may not be the parent.
			running.Go(func() { m.run(t, "2", spool, "sh", "-c", `"$0" "$@"; exit $?`, program, does) })
		}
		running.Wait()
		jobs := make(map[uint64]map[int]int) // processes by rank
		for rank, list := range threads(t, spool) {
			for _, thread := range list {
				reader := readAll(t, thread, func(*Record) {})
				if thread.Thread > 0 {
					continue
				}
				job := reader.Decoder().Header().Job
				if jobs[job] == nil {
					jobs[job] = make(map[int]int)
				}
				jobs[job][rank]++
			}
		}
		if len(jobs) != want || jobs[0] != nil {
			t.Errorf("jobs %v, want %d", jobs, want)
		}
		for job, ranks := range jobs {
			if !maps.Equal(ranks, map[int]int{0: 1, 1: 1}) {
				t.Errorf("job %#x has the ranks %v", job, ranks)
			}
		}
		alone := t.TempDir()
		c := m.command(t.Context(), t, "1", alone, "")
		c.Path, c.Args = program, []string{program, "none"}
		if output, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		if h := readAll(t, threads(t, alone)[0][0], func(*Record) {}).Decoder().Header(); h.Job != 0 {
			t.Errorf("without a launcher, the job is %#x", h.Job)
		}
	})
}

// TestNoSpool runs programs that cannot be recorded: they notice nothing.
func TestNoSpool(t *testing.T) {
	forEachMPI(t, func(t *testing.T, m *implementation) {
		program, said := m.build(t, "calls.c"), t.TempDir()
		output := m.run(t, "2", filepath.Join(t.TempDir(), "missing"), program, said)
		if !strings.Contains(output, "not recorded") {
			t.Errorf("the program says %q", output)
		}
		want, err := os.ReadFile(filepath.Join(said, "said.0"))
		if err != nil || strings.Contains(string(want), "wrong") ||
			!strings.HasSuffix(string(want), "MPI_Finalize result>0\n") {
			t.Errorf("the program ended with %v, %q", err, want)
		}
	})
}

// TestFull records a program that may not write files as large as one call takes: it
// goes on, and so does the recording after a while.
func TestFull(t *testing.T) {
	forOneMPI(t, func(t *testing.T, m *implementation) {
		spool := t.TempDir()
		script := `ulimit -f $((5 * 1024 * 1024 / 512)); exec "$0" "$@"` // of 512 bytes each in sh
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		command := m.command(ctx, t, "1", spool, "sh", "-c", script, m.build(t, "events.c"), "many")
		output, err := command.CombinedOutput()
		if err != nil || !strings.Contains(string(output), "called 200000 times") {
			t.Fatalf("the program ended with %v\n%s", err, output)
		}
		if !strings.Contains(string(output), "not recorded") {
			t.Errorf("the program says %s", output)
		}
		ranks, ended := 0, false
		list, err := List(spool)
		if err != nil {
			t.Fatal(err)
		}
		reader := readAll(t, list[0], func(r *Record) {
			if r.Type == Call {
				ended = functions[r.Function].Name == "MPI_Finalize"
			}
			if r.Type == Call && functions[r.Function].Name == "MPI_Comm_rank" {
				ranks++
			}
		})
		// The call that is too large, and those until it is tried again.
		h := reader.Decoder().Header()
		if h.State != Open || h.Lost != 1024 || ranks != 200001-1023 || !ended {
			t.Errorf("%d calls, state %d, %d lost", ranks, h.State, h.Lost)
		}
	})
}

// TestSmallFiles records a program that may not write files as large as segments become: smaller ones have
// all.
func TestSmallFiles(t *testing.T) {
	forEachMPI(t, func(t *testing.T, m *implementation) {
		if !strings.Contains(m.name, "openmpi") {
			t.Skip("MPICH itself needs larger files")
		}
		spool := t.TempDir()
		script := `ulimit -f $((3 * 1024 * 1024 / 512)); exec "$0" "$@"` // of 512 bytes each in sh
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		command := m.command(ctx, t, "1", spool, "sh", "-c", script, m.build(t, "events.c"), "many")
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("the program ended with %v\n%s", err, output)
		}
		list, err := List(spool)
		if err != nil {
			t.Fatal(err)
		}
		ranks := 0
		reader := readAll(t, list[0], func(r *Record) {
			if r.Type == Call && functions[r.Function].Name == "MPI_Comm_rank" {
				ranks++
			}
		})
		// The call that takes more than such a file, and those until it is tried again.
		if h := reader.Decoder().Header(); h.Lost != 1024 || ranks != 200001-1023 {
			t.Errorf("%d calls, %d lost", ranks, h.Lost)
		}
	})
}

// TestConstants checks that the constants of an implementation are recorded with
// the values that calls mention.
func TestConstants(t *testing.T) {
	forEachMPI(t, func(t *testing.T, m *implementation) {
		spool := t.TempDir()
		m.run(t, "1", spool, m.build(t, "events.c"), "none")
		world := int64(-1)
		values := make(map[string]int64)
		reader := readAll(t, threads(t, spool)[0][0], func(r *Record) {
			switch {
			case r.Type == Known:
				values[constants[r.Function].Name] = r.Result
			case r.Type == Call && r.Function == number(t, "MPI_Comm_rank"):
				world = r.Arguments[0].Before.Int()
			}
		})
		if cost := reader.Decoder().Header().Cost; cost < 1 || cost > 1e5 {
			t.Errorf("a call costs %g ns", cost)
		} else {
			t.Logf("a call costs %g ns", cost)
		}
		if values["MPI_COMM_WORLD"] != world || len(values) < 90 {
			t.Errorf("MPI_COMM_WORLD is %#x, calls have %#x; %d constants", values["MPI_COMM_WORLD"], world,
				len(values))
		}
		for name, value := range values {
			if value == 0 && strings.Contains(m.name, "openmpi") &&
				constants[constantNumber(name)].Class == "datatype" {
				t.Errorf("%s is null", name)
			}
		}
	})
}

func constantNumber(name string) int {
	for i, c := range constants {
		if c.Name == name {
			return i
		}
	}
	return -1
}
