package collect

import (
	"fmt"
	"slices"
	"testing"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
	"github.com/reprise-trace/reprise/mpi/spec"
)

// TestSmallAddresses has numbers in place of addresses, and what is a constant for a
// buffer only.
func TestSmallAddresses(t *testing.T) {
	noWhere, inPlace := int(constantValue("MPI_BOTTOM")), int(constantValue("MPI_IN_PLACE"))
	w := newSpoolWriter(0, 0)
	w.call(100, "MPI_Comm_set_attr", world, 9000, 40)
	w.call(200, "MPI_Comm_set_attr", world, 9000, 0)
	w.call(300, "MPI_Comm_set_attr", world, 9000, -1)
	w.call(400, "MPI_Comm_set_attr", world, 9000, inPlace)
	w.call(500, "MPI_Comm_set_attr", world, 9000, 1<<16)
	w.call(600, "MPI_Comm_create_keyval", 0, 1<<30, 9001, 7)
	w.send(700, noWhere)
	w.send(800, inPlace)
	w.send(900, 8)
	set := func(value string) string {
		return "MPI_Comm_set_attr(comm=-3, comm_keyval=4294967296, attribute_val=" + value + ")"
	}
	send := func(value string) string {
		return "MPI_Send(buf=" + value + ", count=1, datatype=-33, dest=1, tag=1, comm=-3)"
	}
	checkCalls(t, w,
		set("seg-15+40"), set("seg-15+0"), set("seg-15-1"), set(fmt.Sprint("seg-15+", inPlace)), set("seg-1024+0"),
		"MPI_Comm_create_keyval(comm_copy_attr_fn=-1, comm_delete_attr_fn=0, comm_keyval=0, extra_state=seg-15+7)",
		send("seg-1+0"), send("seg-2+0"), send("seg-15+8"),
	)
	if got := nameOf(constantKey{cst.KindPointer, "", absolute}); got != "NULL" {
		t.Errorf("the segment of numbers is called %q", got)
	}
}

// TestTargets has displacements in windows: with memory that is attached, where they
// are addresses, and without.
func TestTargets(t *testing.T) {
	noInfo, null := int(constantValue("MPI_INFO_NULL")), int(constantValue("MPI_WIN_NULL"))
	w := newSpoolWriter(0, 0)
	put := func(at int64, target, window int) {
		w.call(at, "MPI_Put", lower, 1, integers, 0, target, 1, integers, window)
	}
	w.words(recordAllocate, 0, 0, 50, lower, 64)
	w.call(100, "MPI_Win_create_dynamic", noInfo, world, 7000)
	put(200, lower+8, 7000)
	put(300, upper, 7000)
	put(400, 8, 7000)
	w.call(500, "MPI_Win_free", changes{7000, null})
	w.call(600, "MPI_Win_create", lower, 64, 1, noInfo, world, 7000)
	put(700, lower+8, 7000)
	directory := t.TempDir()
	w.write(t, directory)
	calls := list(t, directory)
	for i, want := range map[int]string{1: "seg0+8", 2: "536870912", 3: "8", 6: "268435464"} {
		if got := idOfArgument(calls[i], "target_disp"); got != want {
			t.Errorf("%s: target %s, want %s", calls[i], got, want)
		}
	}
}

// TestGroupsOfWorlds has processes of one world, and of two.
func TestGroupsOfWorlds(t *testing.T) {
	noInfo := int(constantValue("MPI_INFO_NULL"))
	for _, worlds := range []int{1, 2} {
		directory := t.TempDir()
		for i := range 2 * worlds {
			w := newSpoolWriter(int32(i%2), 0)
			w.id = spool.Process{PID: uint32(200 + i), Loaded: 1e18 + uint64(i)}
			w.header(int32(i % 2))
			w.constants()
			w.call(100, "MPI_Win_create_dynamic", noInfo, world, 7000)
			w.write(t, directory)
		}
		c, err := New(directory, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, p := range c.ranked() {
			part, err := p.part(0, true)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range []merge.GroupHandle{{Class: "comm", Value: commWorld}, {Class: "win", Value: 0}} {
				got, known := part.Groups[h]
				if want := (merge.Group{Rank: i % 2, Size: 2}); known != (worlds > 1) || known && got != want {
					t.Errorf("%d worlds: group of %v in process %d: %v, %v", worlds, h, i, got, known)
				}
			}
		}
	}
}

// TestPlainPointers checks which pointers a constant may stand for.
func TestPlainPointers(t *testing.T) {
	var plain []string
	for i := range plans {
		for j := range plans[i].params {
			if q := &plans[i].params[j]; q.operation == address && q.Use == spec.Word &&
				!slices.Contains(plain, q.Name) {
				plain = append(plain, q.Name)
			}
		}
	}
	slices.Sort(plain)
	want := []string{"addr1", "addr2", "address", "attribute_val", "base", "baseptr", "buffer_addr",
		"extra_state", "f08_status", "obj_handle", "user_data"}
	if !slices.Equal(plain, want) {
		t.Errorf("%q, want %q", plain, want)
	}
}
