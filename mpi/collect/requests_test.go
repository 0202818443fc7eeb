package collect

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var nullComm = int(constantValue("MPI_COMM_NULL"))

// idOfArgument returns an argument of a listed call.
func idOfArgument(call, name string) string {
	_, rest, _ := strings.Cut(call, name+"=")
	return rest[:strings.IndexAny(rest, ",)")]
}

func (w *spoolWriter) dup(at int64, comm int) {
	w.call(at, "MPI_Comm_dup", world, comm, members{0, 1})
}

// TestFreedWhileUsedAgain has a communicator whose handle another thread is given for a
// new one, while the call that frees it has not returned, and a callback of that call.
func TestFreedWhileUsedAgain(t *testing.T) {
	directory := t.TempDir()
	one, two := newSpoolWriter(0, 0), newSpoolWriter(0, 1)
	freed := changes{7000, nullComm}
	one.dup(100, 7000)
	one.begin(200, flagOutermost, "MPI_Comm_free", freed)
	one.begin(210, 0, "MPI_Comm_test_inter", 7000, 0)
	one.end(220, 0, "MPI_Comm_test_inter", 7000, 0)
	two.dup(300, 7000)
	one.end(400, flagOutermost, "MPI_Comm_free", freed)
	two.call(500, "MPI_Comm_free", freed)
	one.dup(600, 7000)
	one.call(700, "MPI_Comm_free", changes{7000, 7000}) // it fails
	one.dup(800, 7001)
	one.call(900, "MPI_Comm_test_inter", 7000, 0)
	one.write(t, directory)
	two.write(t, directory)
	calls := list(t, directory)
	want := []struct{ name, id string }{
		{"newcomm", "0"}, {"comm", "0"}, {"newcomm", "1"}, {"comm", "0"}, {"comm", "1"},
		{"newcomm", "0"}, {"comm", "0"}, {"newcomm", "1"}, {"comm", "0"},
	}
	if len(calls) != len(want) {
		t.Fatalf("%d calls: %q", len(calls), calls)
	}
	for i, w := range want {
		if got := idOfArgument(calls[i], w.name); got != w.id {
			t.Errorf("%s has %s %s, want %s", calls[i], w.name, got, w.id)
		}
	}
}

// Raw addresses in the tests.
const (
	lower = 1 << 28
	upper = 1 << 29
)

func (w *spoolWriter) send(at int64, buffer int) {
	w.call(at, "MPI_Send", buffer, 1, integers, 1, 1, world)
}

// bufferOf returns the first argument of a listed call after the thread.
func bufferOf(call string) string { return idOfArgument(call, "buf") }

// TestReallocatedBetween has memory that another thread is given while a thread still
// reallocates it.
func TestReallocatedBetween(t *testing.T) {
	directory := t.TempDir()
	one, two := newSpoolWriter(0, 0), newSpoolWriter(0, 1)
	one.words(recordAllocate, 0, 0, 100, lower, 64)
	one.send(110, lower)
	two.words(recordAllocate, 0, 0, 150, upper, 64)
	two.send(160, upper)
	two.words(recordRelease, 0, 0, 210, upper)
	two.words(recordAllocate, 0, 0, 220, lower, 64)
	one.words(recordResize, 0, 0, 300, upper, 128, 200, lower)
	two.send(310, lower)
	one.send(400, upper+100)
	one.write(t, directory)
	two.write(t, directory)
	calls := list(t, directory)
	for i, want := range []string{"seg0+0", "seg1+0", "seg1+0", "seg0+100"} {
		if got := bufferOf(calls[i]); got != want {
			t.Errorf("%s sends from %s, want %s", calls[i], got, want)
		}
	}
}

// TestMemoryOfMPI has memory that MPI allocates and frees.
func TestMemoryOfMPI(t *testing.T) {
	directory := t.TempDir()
	one, two := newSpoolWriter(0, 0), newSpoolWriter(0, 1)
	noInfo, nullWin := int(constantValue("MPI_INFO_NULL")), int(constantValue("MPI_WIN_NULL"))
	one.call(100, "MPI_Alloc_mem", 64, noInfo, lower)
	one.begin(200, flagOutermost, "MPI_Free_mem", lower)
	two.words(recordAllocate, 0, 0, 250, lower, 64)
	two.send(260, lower+8)
	one.end(300, flagOutermost, "MPI_Free_mem", lower)
	two.send(310, lower+8)
	one.call(400, "MPI_Win_allocate", 64, 1, noInfo, world, upper, 7000)
	one.call(500, "MPI_Win_free", changes{7000, 7000}) // it fails
	one.send(600, upper+8)
	one.begin(700, flagOutermost, "MPI_Win_free", changes{7000, nullWin})
	two.words(recordAllocate, 0, 0, 750, upper, 64)
	one.end(800, flagOutermost, "MPI_Win_free", changes{7000, nullWin})
	two.send(900, upper+8)
	one.write(t, directory)
	two.write(t, directory)
	calls := list(t, directory)
	want := []string{"baseptr=seg0+0", "buf=seg0+8", "base=seg0+0", "buf=seg0+8", "baseptr=seg1+0", "win=0",
		"buf=seg1+8", "win=0", "buf=seg1+8"}
	if len(calls) != len(want) {
		t.Fatalf("%d calls: %q", len(calls), calls)
	}
	for i := range want {
		if !strings.Contains(calls[i], want[i]) {
			t.Errorf("%s lacks %s", calls[i], want[i])
		}
	}
}

// TestRequestsOfThreads has threads that begin operations and wait for them at random,
// all with one handle. Every call is given the first request of its own thread.
func TestRequestsOfThreads(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		directory := t.TempDir()
		threads := make([]*spoolWriter, rapid.IntRange(1, 4).Draw(rt, "threads"))
		for i := range threads {
			threads[i] = newSpoolWriter(0, uint32(i))
		}
		begun := make([][]int, len(threads)) // tags of what each thread waits for yet
		numbers := make(map[int]int)         // of the threads, in the order of their first calls
		var want []string                    // for each call, the thread and the tag
		for k := range rapid.IntRange(1, 30).Draw(rt, "calls") {
			i, at := rapid.IntRange(0, len(threads)-1).Draw(rt, "thread"), int64(100*(k+1))
			if _, known := numbers[i]; !known {
				numbers[i] = len(numbers)
			}
			tag := k
			if len(begun[i]) > 0 && rapid.Bool().Draw(rt, "wait") {
				tag, begun[i] = begun[i][0], begun[i][1:]
				threads[i].call(at, "MPI_Wait", changes{7000, int(noRequest)}, ignored{})
			} else {
				begun[i] = append(begun[i], tag)
				threads[i].call(at, "MPI_Isend", lower, 1, integers, 1, tag, world, 7000)
			}
			want = append(want, fmt.Sprint(numbers[i], " ", tag))
		}
		for _, w := range threads {
			w.write(t, directory)
		}
		tags := make(map[string]string) // by the id of the request
		for k, call := range list(t, directory) {
			thread, request := "0", idOfArgument(call, "request")
			if strings.Contains(call, "thread=") {
				thread = idOfArgument(call, "thread")
			}
			if strings.HasPrefix(call, "MPI_Isend") {
				tags[request] = idOfArgument(call, "tag")
			}
			if got := thread + " " + tags[request]; got != want[k] {
				rt.Fatalf("call %d, %s, is of thread and tag %s, want %s", k, call, got, want[k])
			}
		}
	})
}

// TestRacingThreads has threads that make the same loop in step with no other: the grammar
// is that of the loops, however long they are.
func TestRacingThreads(t *testing.T) {
	symbols := func(rounds int) int {
		directory := t.TempDir()
		random := rand.New(rand.NewPCG(1, 2))
		for lane := range uint32(3) {
			w := newSpoolWriter(0, lane)
			at := int64(100 * lane)
			for range rounds {
				w.isend(at, 1, 7000+int(lane))
				w.call(at+20, "MPI_Wait", changes{7000 + int(lane), noRequest}, nothing{})
				at += 50 + random.Int64N(1000)
			}
			w.write(t, directory)
		}
		part := partOf(t, directory)
		if part.Grammar.Len() != uint64(6*rounds) {
			t.Errorf("%d calls, want %d", part.Grammar.Len(), 6*rounds)
		}
		return part.Grammar.Symbols()
	}
	if few, many := symbols(100), symbols(3000); many > few || many > 20 {
		t.Errorf("%d symbols for 100 rounds, %d for 3000", few, many)
	}
}

// TestTagsOfRequests checks that each request knows what tag it asked for, though those of one pool have others.
func TestTagsOfRequests(t *testing.T) {
	directory := t.TempDir()
	w := newSpoolWriter(0, 0)
	for i := range 3 {
		w.irecv(int64(100+100*i), 1, 5+i, 7000+i)
	}
	both := changes{words{7002, 7000}, words{int64(noRequest), int64(noRequest)}}
	w.call(400, "MPI_Waitall", 2, both, results{{1, 7}, {1, 5}})
	w.irecv(500, 1, 8, 7003)
	w.call(600, "MPI_Wait", changes{7001, noRequest}, outcome{1, 8})
	w.call(700, "MPI_Wait", changes{7003, noRequest}, outcome{1, 8})
	w.write(t, directory)
	calls := list(t, directory)
	for i, want := range map[int]string{
		3: "array_of_requests=[2 0], array_of_statuses=[{source=-9, tag=-9, error=0} {source=-9, tag=-9, error=0}])",
		5: "request=1, status={source=-9, tag=8, error=0})", // it asked for 6
		6: "request=0, status={source=-9, tag=-9, error=0})",
	} {
		if !strings.HasSuffix(calls[i], want) {
			t.Errorf("%s, want %s", calls[i], want)
		}
	}
}
