package collect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestThreadOrder has threads take turns at random: at collective operations, at messages of a few channels,
// and at requests that one thread makes and another completes. Without times, calls that use one thing stand
// in the order in which they were made.
func TestThreadOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		threads := rapid.IntRange(1, 4).Draw(rt, "threads")
		writers := make([]*spoolWriter, threads)
		for i := range writers {
			writers[i] = newSpoolWriter(0, uint32(i))
		}
		var (
			made []string // what is to be found, by thing
			open []int    // requests
			next = 7000
			at   = int64(1000)
		)
		for range rapid.IntRange(1, 40).Draw(rt, "calls") {
			thread := rapid.IntRange(0, threads-1).Draw(rt, "thread")
			w, tag := writers[thread], rapid.IntRange(1, 3).Draw(rt, "tag")
			switch kind := rapid.IntRange(0, 4).Draw(rt, "kind"); {
			case kind == 0:
				w.call(at, "MPI_Barrier", world)
				made = append(made, "world MPI_Barrier")
			case kind == 1:
				w.call(at, "MPI_Bcast", 4096, 1, integers, 0, world)
				made = append(made, "world MPI_Bcast")
			case kind == 2:
				w.call(at, "MPI_Send", 4096, thread+1, integers, 1, tag, world)
				made = append(made, fmt.Sprintf("tag%d MPI_Send by %d", tag, thread))
			case kind == 3 || len(open) == 0:
				w.irecv(at, 1, 10+tag, next)
				open, next = append(open, next), next+8
				made = append(made, "receive MPI_Irecv")
			default:
				k := rapid.IntRange(0, len(open)-1).Draw(rt, "request")
				w.call(at, "MPI_Wait", changes{open[k], noRequest}, nothing{})
				open = slices.Delete(open, k, k+1)
			}
			at += 100
		}
		directory := t.TempDir()
		for _, w := range writers {
			w.write(t, directory)
		}
		began, active := make(map[string]int), 0
		var found []string
		for _, call := range list(t, directory) {
			name, arguments, _ := strings.Cut(call, "(")
			switch name {
			case "MPI_Barrier", "MPI_Bcast":
				found = append(found, "world "+name)
			case "MPI_Send":
				thread, tag := 0, 0
				_, count, _ := strings.Cut(arguments, "count=")
				_, rest, _ := strings.Cut(arguments, ", tag=")
				_, _ = fmt.Sscan(count[:1], &thread)
				_, _ = fmt.Sscan(rest[:1], &tag)
				thread--
				found = append(found, fmt.Sprintf("tag%d MPI_Send by %d", tag, thread))
			case "MPI_Irecv":
				id := requestOf(call)
				if began[id]++; began[id] > 1 {
					rt.Fatalf("%s: a request that nobody completed before", call)
				}
				active++
				found = append(found, "receive MPI_Irecv")
			case "MPI_Wait":
				id := requestOf(call)
				if began[id] == 0 {
					rt.Fatalf("%s: a request that nobody made before", call)
				}
				began[id]--
				active--
			}
		}
		for _, thing := range []string{"world", "tag1", "tag2", "tag3", "receive"} {
			of := func(all []string) (list []string) {
				for _, s := range all {
					if strings.HasPrefix(s, thing) {
						list = append(list, s)
					}
				}
				return list
			}
			if !slices.Equal(of(found), of(made)) {
				rt.Fatalf("%s: %q, want %q", thing, of(found), of(made))
			}
		}
		if active != len(open) {
			rt.Fatalf("%d requests are open, want %d", active, len(open))
		}
	})
}
