package collect

import (
	"encoding/binary"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/mpi/internal/spool"
)

// Raw values in the tests.
var (
	world     = int(constantValue("MPI_COMM_WORLD"))
	integers  = int(constantValue("MPI_INT"))
	noRequest = int(constantValue("MPI_REQUEST_NULL"))
	anySource = int(constantValue("MPI_ANY_SOURCE"))
	anyTag    = int(constantValue("MPI_ANY_TAG"))
)

func (w *spoolWriter) isend(at int64, tag, request int) {
	w.call(at, "MPI_Isend", 4096, 1, integers, 1, tag, world, request)
}

func (w *spoolWriter) irecv(at int64, source, tag, request int) {
	w.call(at, "MPI_Irecv", 4096, 1, integers, source, tag, world, request)
}

// requestOf returns the last argument of a listed call that is called request, or the
// array of them.
func requestOf(call string) string {
	_, rest, _ := strings.Cut(call[strings.LastIndex(call, "request"):], "=")
	if strings.HasPrefix(rest, "[") {
		rest, _, _ = strings.Cut(rest[1:], "]")
		return rest
	}
	return rest[:strings.IndexAny(rest, ",)")]
}

// TestHandlesUsedAgain has a request that one thread waits for while another begins an
// operation that gets the same handle, because MPI has freed it already.
func TestHandlesUsedAgain(t *testing.T) {
	directory := t.TempDir()
	first, second := newSpoolWriter(0, 0), newSpoolWriter(0, 1)
	first.isend(100, 1, 7000)
	second.begin(200, flagOutermost, "MPI_Wait", changes{7000, noRequest}, nothing{})
	first.isend(300, 1, 7000)
	second.end(400, flagOutermost, "MPI_Wait", changes{7000, noRequest}, nothing{})
	first.call(500, "MPI_Wait", changes{7000, noRequest}, nothing{})
	first.write(t, directory)
	second.write(t, directory)
	calls := list(t, directory)
	if len(calls) != 4 || !strings.Contains(calls[2], "thread=1") {
		t.Fatalf("%q", calls)
	}
	if a, b := requestOf(calls[0]), requestOf(calls[1]); a == b || requestOf(calls[2]) != a ||
		requestOf(calls[3]) != b {
		t.Errorf("%q", calls)
	}
}

// TestSharedHandles has operations that are complete when they begin, and share a
// handle.
func TestSharedHandles(t *testing.T) {
	directory := t.TempDir()
	w := newSpoolWriter(0, 0)
	w.isend(100, 1, 7000)
	w.isend(200, 2, 7000)
	w.call(300, "MPI_Waitall", 2, changes{words{7000, 7000}, words{int64(noRequest), int64(noRequest)}}, nothing{})
	w.isend(400, 1, 7000)
	w.write(t, directory)
	calls := list(t, directory)
	if got, want := requestOf(calls[2]), requestOf(calls[0])+" "+requestOf(calls[1]); got != want ||
		requestOf(calls[3]) != requestOf(calls[0]) {
		t.Errorf("%q", calls)
	}
}

// TestCompletionOrder has two operations that complete in either order: the ids of
// the next ones are the same.
func TestCompletionOrder(t *testing.T) {
	var listed [2][]string
	for order := range listed {
		directory := t.TempDir()
		w := newSpoolWriter(0, 0)
		for round := range 3 {
			at := int64(1000 * (round + 1))
			handles := []int{7000 + round, 8000 + round}
			w.irecv(at, 1, 1, handles[0])
			w.irecv(at+100, 1, 2, handles[1])
			for k := range 2 {
				w.call(at+200+int64(100*k), "MPI_Wait", changes{handles[(k+order)%2], noRequest}, nothing{})
			}
		}
		w.write(t, directory)
		listed[order] = list(t, directory)
		for i := range 8 {
			if listed[order][i+4] != listed[order][i] {
				t.Errorf("order %d: %s is not %s", order, listed[order][i+4], listed[order][i])
			}
		}
	}
}

// TestLooking has calls that look at a request, while another thread waits for it and
// before.
func TestLooking(t *testing.T) {
	directory := t.TempDir()
	first, second := newSpoolWriter(0, 0), newSpoolWriter(0, 1)
	null := changes{7000, noRequest}
	first.call(100, "MPI_Grequest_start", 1, 2, 3, 4, 7000)
	first.begin(200, flagOutermost, "MPI_Wait", null, nothing{})
	second.begin(300, flagOutermost, "MPI_Grequest_complete", 7000)
	first.end(400, flagOutermost, "MPI_Wait", null, outcome{3, 4})
	first.irecv(500, 1, 1, 7000)
	second.end(600, flagOutermost, "MPI_Grequest_complete", 7000)
	first.call(700, "MPI_Cancel", 7000)
	first.call(800, "MPI_Wait", null, nothing{})
	first.write(t, directory)
	second.write(t, directory)
	calls := list(t, directory)
	if len(calls) != 6 {
		t.Fatalf("%q", calls)
	}
	if !strings.HasSuffix(calls[1], "status={source=3, tag=4, error=0})") {
		t.Errorf("%s lacks what the program has answered", calls[1])
	}
	for i, like := range []int{0, 0, 2, 0, 2, 2} {
		if requestOf(calls[i]) != requestOf(calls[like]) {
			t.Errorf("%s has not the request of %s", calls[i], calls[like])
		}
	}
	if requestOf(calls[0]) == requestOf(calls[2]) {
		t.Errorf("%q", calls)
	}
}

// switchedOff appends an MPI_Pcontrol(0), and an MPI_Pcontrol(1) after it.
func (w *spoolWriter) switchedOff(at int64) {
	w.call(at, "MPI_Pcontrol", 0, unused{})
	w.begin(at+50, flagOutermost|flagHidden, "MPI_Pcontrol", 1, unused{})
	w.end(at+60, flagOutermost|flagHidden, "MPI_Pcontrol", 1, unused{})
}

// hidden appends a call that was made while recording was off.
func (w *spoolWriter) hidden(at int64, name string, values ...any) {
	w.begin(at, flagOutermost|flagHidden, name, values...)
	w.end(at+10, flagOutermost|flagHidden, name, values...)
}

// TestMadeWhileOff has a datatype that is freed while recording is off, and others
// that are made then, with its handle and others: the trace has all of it, and not what
// nothing depends on. Objects of which no call tells who made them have ids of their own.
func TestMadeWhileOff(t *testing.T) {
	gone := int(constantValue("MPI_DATATYPE_NULL"))
	w := newSpoolWriter(0, 0)
	w.call(100, "MPI_Type_contiguous", 3, integers, 9000)
	w.call(200, "MPI_Pcontrol", 0, unused{})
	w.hidden(300, "MPI_Type_free", changes{9000, gone})
	w.hidden(350, "MPI_Barrier", world)
	w.hidden(400, "MPI_Type_contiguous", 7, integers, 9000)
	w.hidden(500, "MPI_Comm_group", world, 9500)
	w.hidden(600, "MPI_Pcontrol", 1, unused{})
	w.call(700, "MPI_Type_commit", changes{9000, 9000})
	w.call(800, "MPI_Type_contiguous", 3, integers, 9100)
	w.call(900, "MPI_Comm_group", world, 9500)
	w.call(1000, "MPI_Type_free", changes{9000, gone})
	w.call(1100, "MPI_Type_contiguous", 3, 9200, 9000)
	checkCalls(t, w,
		"MPI_Type_contiguous(count=3, oldtype=-33, newtype=0)",
		"MPI_Pcontrol(level=0)",
		"MPI_Type_free(datatype=0)",
		"MPI_Type_contiguous(count=7, oldtype=-33, newtype=0)",
		"MPI_Comm_group(comm=-3, group=0)",
		"MPI_Pcontrol(level=1)",
		"MPI_Type_commit(datatype=0)",
		"MPI_Type_contiguous(count=3, oldtype=-33, newtype=1)",
		"MPI_Comm_group(comm=-3, group=0)",
		"MPI_Type_free(datatype=0)",
		"MPI_Type_contiguous(count=3, oldtype=4294967296, newtype=0)",
	)
}

// TestSessionsEnd checks that a process has ended well whose sessions have, or which called MPI_Finalize.
func TestSessionsEnd(t *testing.T) {
	null := int(constantValue("MPI_SESSION_NULL"))
	for calls, want := range map[string]bool{"s": false, "sf": true, "ssf": false, "ssff": true, "sfs": false,
		"i": false, "isf": false, "isfe": true, "ie": true} {
		directory, w := t.TempDir(), newSpoolWriter(0, 0)
		for i, c := range calls {
			at := int64(100 * (i + 1))
			switch c {
			case 's':
				w.call(at, "MPI_Session_init", 1, 2, 9000+i)
			case 'f':
				w.call(at, "MPI_Session_finalize", changes{9000, null})
			case 'i':
				w.call(at, "MPI_Init", nothing{}, nothing{})
			case 'e':
				w.begin(at, flagOutermost, "MPI_Finalize")
				w.words(recordEnd, w.function("MPI_Finalize"), flagOutermost, uint64(at+10), 0)
			}
		}
		w.write(t, directory)
		c, err := New(directory, Options{Untimed: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := c.ranked()[0].ended; got != want {
			t.Errorf("%s: ended %v, want %v", calls, got, want)
		}
	}
}

// TestSized has datatypes of which MPI said the size when a call had used them, and others.
func TestSized(t *testing.T) {
	w := newSpoolWriter(0, 0)
	sized := func(raw, size uint64) { w.words(recordSized, 0, 0, raw, size) }
	w.call(100, "MPI_Type_contiguous", 3, integers, 9000)
	w.begin(200, flagOutermost, "MPI_Type_contiguous", 5, 9100, 9200)
	sized(9100, 24)
	w.end(210, flagOutermost, "MPI_Type_contiguous", 5, 9100, 9200)
	w.begin(300, flagOutermost, "MPI_Type_create_struct", 2, words{1, 2}, words{0, 8}, words{9000, 9100}, 9300)
	sized(9100, 48)
	w.end(310, flagOutermost, "MPI_Type_create_struct", 2, words{1, 2}, words{0, 8}, words{9000, 9100}, 9300)
	w.call(400, "MPI_Type_contiguous", 5, 9100, 9400)
	checkCalls(t, w,
		"MPI_Type_contiguous(count=3, oldtype=-33, newtype=0)",
		"MPI_Type_contiguous(count=5, oldtype=4294967296, oldtype_size=24, newtype=1)",
		"MPI_Type_create_struct(count=2, array_of_blocklengths=[1 2], array_of_displacements=[0 8], array_of_types=[0 4294967296], array_of_types_size=[-1 48], newtype=2)",
		"MPI_Type_contiguous(count=5, oldtype=4294967296, newtype=3)",
	)
}

// TestRequestsWhileOff has a persistent request and a communicator that is duplicated meanwhile, both
// begun while recording is off, and other requests: calls count that free the one and complete the other.
func TestRequestsWhileOff(t *testing.T) {
	w := newSpoolWriter(0, 0)
	w.hidden(300, "MPI_Send_init", 0x400000, 1, integers, 1, 2, world, 7000)
	w.hidden(400, "MPI_Comm_idup", world, 9000, 7100)
	w.hidden(500, "MPI_Wait", changes{7200, noRequest}, nothing{})
	w.hidden(600, "MPI_Waitall", 2, changes{words{7200, 7100}, words{int64(noRequest), int64(noRequest)}}, nothing{})
	w.hidden(700, "MPI_Request_free", changes{7300, noRequest})
	w.hidden(800, "MPI_Request_free", changes{7000, noRequest})
	w.hidden(900, "MPI_Wait", changes{7100, noRequest}, nothing{})
	w.call(1000, "MPI_Wait", changes{7300, noRequest}, nothing{})
	checkCalls(t, w,
		"MPI_Send_init(buf=seg-1024+0, count=1, datatype=-33, dest=1, tag=2, comm=-3, request=0)",
		"MPI_Comm_idup(comm=-3, newcomm=0, request=8)",
		"MPI_Waitall(count=2, array_of_requests=[16 8], array_of_statuses=-1)",
		"MPI_Request_free(request=0)",
		"MPI_Wait(request=16, status=-1)",
	)
}

// TestGaps has a request that completes while recording is off, and its handle that
// is used again; requests whose handle is shared; and one that is made meanwhile.
func TestGaps(t *testing.T) {
	null := changes{7000, noRequest}
	for _, tt := range []struct {
		name   string
		before int // requests made
		static bool
		want   []int // call whose request each of the calls has that wait
	}{
		{"Reused", 1, false, []int{3}},
		{"SeenShared", 2, false, []int{0, 1, 4}},
		{"Static", 1, true, []int{0, 3}},
	} {
		directory := t.TempDir()
		w := newSpoolWriter(0, 0)
		if tt.static {
			w.words(recordRegion, 0, 0, 6000, 2000, ^uint64(17))
		}
		for k := range tt.before {
			w.isend(100+int64(k), k, 7000)
		}
		w.switchedOff(200)
		w.isend(400, 2, 7000)
		for range tt.want {
			w.call(500, "MPI_Wait", null, nothing{})
		}
		w.write(t, directory)
		calls := list(t, directory)
		if n := tt.before + 3 + len(tt.want); len(calls) != n {
			t.Errorf("%s: %d calls, want %d: %q", tt.name, len(calls), n, calls)
			continue
		}
		for k, i := range tt.want {
			if got := calls[tt.before+3+k]; requestOf(got) != requestOf(calls[i]) {
				t.Errorf("%s: %s has not the request of %s", tt.name, got, calls[i])
			}
		}
	}
	directory := t.TempDir()
	w := newSpoolWriter(0, 0)
	w.switchedOff(200)
	w.call(300, "MPI_Wait", null, outcome{3, 5})
	w.isend(400, 2, 7000)
	w.call(500, "MPI_Wait", null, outcome{3, 5})
	w.call(600, "MPI_Wait", null, outcome{3, 5})
	w.write(t, directory)
	calls := list(t, directory)
	for i, want := range map[int]string{2: "{source=3, tag=5, error=0}", 4: "{source=-9, tag=-9, error=0}",
		5: "{source=3, tag=5, error=0}"} {
		if !strings.HasSuffix(calls[i], want+")") {
			t.Errorf("%s, want the status %s", calls[i], want)
		}
	}
}

// TestPlacesOfHandles tells handles of MPICH that are of several requests.
func TestPlacesOfHandles(t *testing.T) {
	p := process{noRequest: 0x2c000000}
	for raw, want := range map[uint64]bool{0x6c000000: true, 0x6c000003: true, 0xac000000: false,
		0xec000001: false, 0x7f006c000000: false} {
		if got := p.ofMany(raw); got != want {
			t.Errorf("%#x: %v", raw, got)
		}
	}
}

// TestStatuses checks what is left of statuses.
func TestStatuses(t *testing.T) {
	null := changes{7000, noRequest}
	for _, tt := range []struct {
		name        string
		source, tag int
		got         outcome
		want        string
	}{
		{"Named", 3, 5, outcome{3, 5}, "{source=-9, tag=-9, error=0}"},
		{"AnySource", anySource, 5, outcome{3, 5}, "{source=3, tag=-9, error=0}"},
		{"AnyTag", 3, anyTag, outcome{3, 5}, "{source=-9, tag=5, error=0}"},
		{"NoProcess", int(constantValue("MPI_PROC_NULL")), 5,
			outcome{constantValue("MPI_PROC_NULL"), int64(anyTag)}, "{source=-9, tag=-1, error=0}"},
	} {
		directory := t.TempDir()
		w := newSpoolWriter(0, 0)
		w.irecv(100, tt.source, tt.tag, 7000)
		w.call(200, "MPI_Wait", null, tt.got)
		w.call(300, "MPI_Recv", 4096, 1, integers, tt.source, tt.tag, world, tt.got)
		w.call(400, "MPI_Recv_init", 4096, 1, integers, tt.source, tt.tag, world, 7100)
		w.call(500, "MPI_Waitany", 2, changes{words{int64(noRequest), 7100}, words{int64(noRequest), 7100}}, 1, tt.got)
		w.isend(600, 1, 7000)
		w.call(700, "MPI_Wait", null, outcome{-5555, 77})
		w.write(t, directory)
		calls := list(t, directory)
		for _, i := range []int{1, 2, 4} {
			if !strings.HasSuffix(calls[i], "status="+tt.want+")") {
				t.Errorf("%s: %s, want %s", tt.name, calls[i], tt.want)
			}
		}
		if !strings.HasSuffix(calls[6], "status={source=-9, tag=-9, error=0})") {
			t.Errorf("of a send: %s", calls[6])
		}
	}
}

// TestLive reads segments while they grow, cut at every word, and finds what it finds
// in the whole.
func TestLive(t *testing.T) {
	w := newSpoolWriter(0, 0)
	for i := range int64(20) {
		w.isend(1000*i+1000, int(i%3), 7000)
		w.call(1000*i+1500, "MPI_Waitall", 1, changes{words{7000}, words{int64(noRequest)}}, nothing{})
	}
	next := &spoolWriter{id: w.id, sequence: 1}
	next.header(0)
	next.isend(100000, 1, 7000)
	whole := t.TempDir()
	w.write(t, whole)
	w.set(offsetState, 1) // continued
	w.write(t, whole)
	next.write(t, whole)
	want := list(t, whole)
	if len(want) != 41 {
		t.Fatalf("%d calls", len(want))
	}

	directory := t.TempDir()
	c, err := New(directory, Options{Untimed: true})
	if err != nil {
		t.Fatal(err)
	}
	w.set(offsetState, 0)
	path := spool.Thread{Process: w.id}.Segment(directory, 0)
	record := headerSize // where the record begins that is being written
	for n := 0; n < len(w.data); n += 8 {
		file := make([]byte, len(w.data)+64)
		if n >= headerSize {
			copy(file, w.data[:n])
			if size := spool.SizeOf(binary.LittleEndian.Uint64(w.data[record:])); n == record+size {
				record = n
			}
			clear(file[record:min(record+8, n)]) // the first word comes last
		}
		if n == 8 {
			file = nil
		}
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Poll(); err != nil {
			t.Fatal(err)
		}
	}
	next.write(t, directory)
	w.set(offsetState, 1)
	w.write(t, directory)
	if _, err := c.Poll(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the first segment is still there")
	}
	a, s, err := c.Finish(t.Context())
	if err != nil || s.Problems != nil {
		t.Fatal(err, s.Problems)
	}
	if s.Calls != uint64(len(want)) || a.RankSet().Len() != 1 || !slices.Equal(s.Unfinished, []int{0}) {
		t.Errorf("%+v", s)
	}
}

// TestWorlds has processes that know of the same ranks, and such of several jobs that
// ran at once.
func TestWorlds(t *testing.T) {
	type process struct {
		rank int32
		job  uint64
	}
	tests := []struct {
		name      string
		processes []process // in the order in which they began
		want      []uint32
	}{
		{"Unknown", []process{{0, 0}, {1, 0}, {0, 0}, {1, 0}, {0, 0}, {-1, 0}}, []uint32{0, 1, 2, 3, 4, 5}},
		{"Jobs", []process{{1, 9}, {-1, 9}, {2, 3}, {0, 9}, {0, 3}, {1, 3}, {0, 7}}, []uint32{3, 0, 4, 5, 2, 6, 1}},
		{"SameJobTwice", []process{{0, 9}, {1, 9}, {0, 3}, {1, 9}, {0, 9}}, []uint32{0, 1, 4, 3, 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			directory := t.TempDir()
			for i, p := range tt.processes {
				w := newSpoolWriter(p.rank, 0)
				w.id = spool.Process{PID: uint32(200 + i), Loaded: 1e18 + uint64(i)}
				w.header(p.rank)
				binary.LittleEndian.PutUint64(w.data[offsetJob:], p.job)
				w.check()
				w.constants()
				w.call(100, "MPI_Comm_size", world, i)
				w.write(t, directory)
			}
			c, err := New(directory, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			var order []uint32
			for i, p := range c.ranked() {
				if p.rank != i {
					t.Errorf("process %d has rank %d", i, p.rank)
				}
				order = append(order, p.id.PID-200)
			}
			if !slices.Equal(order, tt.want) {
				t.Errorf("order %v, want %v", order, tt.want)
			}
		})
	}
}

// TestVariants checks that the states of all parameters of each function fit into the
// key of a variant.
func TestVariants(t *testing.T) {
	for i := range plans {
		if n := len(plans[i].params); stateBits*n > 60 {
			t.Errorf("%s has %d parameters", plans[i].Name, n)
		}
	}
}

// TestOverwritten has a program that writes over the headers of its segments.
func TestOverwritten(t *testing.T) {
	for offset, value := range map[int]byte{offsetRank: 7, offsetRank + 7: 1, offsetSize: 9, 28: 1, 0: 0, 0x10: 0xfe} {
		directory := t.TempDir()
		w := newSpoolWriter(3, 0)
		w.set(offsetSize, 4) // the size of MPI_COMM_WORLD
		w.call(1000, "MPI_Barrier", world)
		w.write(t, directory)
		c, err := New(directory, Options{Untimed: true, Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Poll(); err != nil {
			t.Fatal(err)
		}
		w.data[offset] = value
		w.call(2000, "MPI_Barrier", world)
		w.write(t, directory)
		_, s, err := c.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s.First != 3 || s.Calls != 2 || s.Problems == nil ||
			!strings.Contains(s.Problems.Error(), "was overwritten") || c.ranked()[0].size != 4 {
			t.Errorf("byte %d: %+v, a world of %d", offset, s, c.ranked()[0].size)
		}
	}
}

// TestClockError has a thread whose ticks are off the clock by 500 ns at its second segment: a trace with times says
// so, and one without does not depend on clocks.
func TestClockError(t *testing.T) {
	for _, untimed := range []bool{false, true} {
		directory := t.TempDir()
		w := newSpoolWriter(3, 0)
		w.ticks(1000, 3000, 50_000, 51_000)
		w.call(10_990, "MPI_Barrier", world)
		w.set(offsetState, uint32(spool.Continued))
		w.write(t, directory)
		w.sequence++
		w.header(3)
		w.ticks(1000, 11_000, 50_000, 55_500)
		w.call(12_000, "MPI_Barrier", world)
		w.write(t, directory)
		c, err := New(directory, Options{Untimed: untimed, Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err = c.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := int64(500)
		if untimed {
			want = 0
		}
		if got := c.ranked()[0].origin().ClockError; got != want {
			t.Errorf("untimed %v: clocks are off by %d ns, want %d", untimed, got, want)
		}
	}
}

// TestMissing has a thread that could not write five records between two segments, and one that could write
// none from some time on: what the trace says is missing, and from when.
func TestMissing(t *testing.T) {
	for _, later := range []bool{true, false} {
		directory := t.TempDir()
		w := newSpoolWriter(3, 0)
		w.call(1000, "MPI_Barrier", world)
		w.call(2000, "MPI_Barrier", world)
		if later {
			w.set(offsetState, uint32(spool.Continued))
			w.write(t, directory)
			w.sequence++
			w.header(3)
			w.call(7000, "MPI_Barrier", world)
		} else {
			w.set(offsetState, uint32(spool.Broken))
		}
		w.set(offsetLost, 5)
		w.write(t, directory)
		c, err := New(directory, Options{Untimed: true, Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err = c.Finish(t.Context()); err != nil {
			t.Fatal(err)
		}
		p := c.ranked()[0]
		last := time.Unix(0, p.since1970(p.threads[0], p.threads[0].taken)).UTC()
		want := format.Missing{Rank: 3, Records: 5, Since: last}
		if later {
			want.Since = last.Add(-5000)
		}
		if got := p.origin().Missing; len(got) != 1 || got[0] != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// TestBeginningGone has a thread whose first segment a recorder has removed, and one that is whole.
func TestBeginningGone(t *testing.T) {
	for _, whole := range []bool{true, false} {
		directory := t.TempDir()
		w := newSpoolWriter(3, 0)
		w.call(1000, "MPI_Barrier", world)
		if whole {
			w.write(t, directory)
		}
		w = newSpoolWriter(4, 0)
		w.sequence++
		w.header(4)
		w.call(2000, "MPI_Barrier", world)
		w.write(t, directory)
		c, err := New(directory, Options{Untimed: true, Keep: true})
		if err != nil {
			t.Fatal(err)
		}
		_, s, err := c.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if s.Calls > 0 != whole || s.Problems == nil ||
			!strings.Contains(s.Problems.Error(), "calls of a thread are lost: "+
				spool.Thread{Process: w.id}.Segment(directory, 0)) {
			t.Errorf("%+v", s)
		}
	}
}

// TestNothing checks that a spool in which nothing was called is no error, also where the clock of the
// machine is told.
func TestNothing(t *testing.T) {
	c, err := New(t.TempDir(), Options{Machine: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if _, s, err := c.Finish(t.Context()); err != nil || s.Calls != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestLongCall has a call that takes so long that it is looked for several times.
func TestLongCall(t *testing.T) {
	directory := t.TempDir()
	w := newSpoolWriter(0, 0)
	write := func() { // a segment that has space for more than is read at once
		w.write(t, directory)
		if err := os.Truncate(spool.Thread{Process: w.id}.Segment(directory, 0), 4*window); err != nil {
			t.Fatal(err)
		}
	}
	c, err := New(directory, Options{Untimed: true, Keep: true})
	if err != nil {
		t.Fatal(err)
	}
	write()
	if _, err := c.Poll(); err != nil {
		t.Fatal(err)
	}
	w.begin(1000, flagOutermost, "MPI_Recv", 4096, 1234, integers, 3, 5678, world, nothing{})
	write()
	for range 5 {
		if _, err := c.Poll(); err != nil {
			t.Fatal(err)
		}
	}
	w.end(2000, flagOutermost, "MPI_Recv", 4096, 1234, integers, 3, 5678, world, nothing{})
	write()
	want := list(t, directory)
	if _, err := c.poll(true); err != nil {
		t.Fatal(err)
	}
	part, _ := c.ranked()[0].part(0, true)
	var last string
	for _, terminal := range part.Grammar.All() {
		fn, args := part.Table.Signature(terminal)
		last = string(cst.AppendCall(nil, part.Table.Functions()[fn], args))
	}
	if last != want[len(want)-1] || !strings.Contains(last, "1234") {
		t.Errorf("%s, want %s", last, want[len(want)-1])
	}
}

// TestIdle looks for what has come, where nothing has, of a thread whose segment has little space left: it
// costs no memory for records.
func TestIdle(t *testing.T) {
	directory := t.TempDir()
	stencilSpool(t, directory, 1, 1, 10, 1)
	path := pathsOf(t, directory, "*")[0]
	if err := os.Truncate(path, int64(len(readFile(t, path)))+window/2); err != nil {
		t.Fatal(err)
	}
	c, err := New(directory, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.Poll(); err != nil || n == 0 {
		t.Fatalf("%d bytes, %v", n, err)
	}
	const polls = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range polls {
		if n, err := c.Poll(); err != nil || n != 0 {
			t.Fatalf("%d bytes, %v", n, err)
		}
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > polls*8<<10 {
		t.Errorf("%d bytes a look", (after.TotalAlloc-before.TotalAlloc)/polls)
	}
}
