package spool

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/mpi/spec"
)

// A segmentBuilder builds segments as the interposer does.
type segmentBuilder struct{ data []byte }

func newSegment(sequence uint32) *segmentBuilder {
	order := binary.LittleEndian
	data := make([]byte, headerSize)
	copy(data, segmentMagic)
	order.PutUint64(data[offsetTable:], Fingerprint())
	order.PutUint64(data[offsetProcess:], 1e18)
	order.PutUint32(data[offsetPID:], 4321)
	order.PutUint32(data[offsetThread:], 2)
	order.PutUint32(data[offsetSequence:], sequence)
	order.PutUint32(data[offsetInvariant:], 1)
	// Half a nanosecond per tick.
	for i, word := range []uint64{1000, 3000, 50000, 51000} {
		order.PutUint64(data[offsetTicks+8*i:], word)
	}
	for _, at := range []int{offsetSize, offsetState, offsetLost, offsetThreads} {
		double(data, at, 0)
	}
	double(data, offsetRank, 5)
	order.PutUint64(data[offsetWritten:], headerSize)
	order.PutUint64(data[offsetCost:], 87500)
	order.PutUint64(data[offsetJob:], 1<<63+9)
	order.PutUint64(data[offsetMachine:], 1<<63+10)
	checked(data)
	return &segmentBuilder{data}
}

// double writes what a header says twice.
func double(data []byte, offset int, value uint32) {
	binary.LittleEndian.PutUint64(data[offset:], uint64(value)|uint64(^value)<<32)
}

// checked writes the check of a header.
func checked(data []byte) {
	binary.LittleEndian.PutUint64(data[offsetCheck:], headerCheck(data))
}

// add appends a record. A string among the words is a text with its length.
func (b *segmentBuilder) add(kind, number, flags int, words ...any) *segmentBuilder {
	at := len(b.data)
	b.data = append(b.data, make([]byte, 8)...)
	for _, word := range words {
		switch word := word.(type) {
		case int:
			b.data = binary.LittleEndian.AppendUint64(b.data, uint64(word))
		case int64:
			b.data = binary.LittleEndian.AppendUint64(b.data, uint64(word))
		case string:
			b.data = binary.LittleEndian.AppendUint64(b.data, uint64(len(word)))
			b.data = append(b.data, word...)
			b.data = append(b.data, make([]byte, -len(word)&7)...)
		}
	}
	binary.LittleEndian.PutUint64(b.data[at:], firstWord((len(b.data)-at)/8, number, kind, flags))
	seal(b.data, at)
	return b
}

// seal writes the check of the record of a segment that begins at an offset.
func seal(segment []byte, at int) {
	record := segment[at:]
	first := binary.LittleEndian.Uint64(record) & uncheckedMask
	record = record[:SizeOf(first)]
	binary.LittleEndian.PutUint64(record, first|checkOf(contentOf(record), record, int64(at))<<checkAt)
}

// sample returns a segment with a record of each type and a value of each form.
func sample(t testing.TB) *segmentBuilder {
	b := newSegment(0)
	b.add(recordConstant, 3, 0, 77)
	b.add(recordRegion, 0, 0, 0x4000, 0x1000, -17)
	b.add(recordAllocate, 0, 0, 3100, 0x5000, 64)
	b.add(recordBegin, number(t, "MPI_Waitall"), flagOutermost, 3200, 2, 2, 11, 12)
	b.add(recordEnd, number(t, "MPI_Waitall"), 0, 3300, 0, 2, 21, 22, 2, 1, 7, 0, 2, 8, 0)
	b.add(recordResize, 0, 0, 3600, 0x6000, 128, 3500, 0x5000)
	b.add(recordClock, 0, 0, 5000, 52000)
	b.add(recordBegin, number(t, "MPI_Reduce_local"), flagOutermost|flagHidden, 5200, 1, 2, 3, 4, 5)
	b.add(recordBegin, number(t, "MPI_Comm_set_name"), 0, 5300, 9, "a name")
	b.add(recordEnd, number(t, "MPI_Comm_set_name"), flagFailed, 5400, 13)
	b.add(recordEnd, number(t, "MPI_Reduce_local"), 0, 5500, 0)
	b.add(recordBegin, number(t, "MPI_Comm_spawn"), flagOutermost, 5600, "app", 2, "-n", "twelve bytes", 1, 2, 0, 3)
	b.add(recordEnd, number(t, "MPI_Comm_spawn"), 0, 5700, 0, 1, 8, 44, -2)
	b.add(recordRelease, 0, 0, 5800, 0x6000)
	b.add(recordUnmap, 0, 0, 5850, 0x7000, 8192)
	b.add(recordBegin, number(t, "MPI_Test"), flagOutermost, 5900, 31)
	b.add(recordEnd, number(t, "MPI_Test"), 0, 6000, 0, 31, 0, -3)
	b.add(recordBegin, number(t, "MPI_Wait"), flagOutermost, 6010, 31)
	// a status of the interposer
	b.add(recordEnd, number(t, "MPI_Wait"), 0, 6020, 0, 0, int64(math.MinInt64+1), 5, 6, 0)
	b.add(recordBegin, number(t, "MPI_Wtime"), flagOutermost, 6100)
	b.add(recordEnd, number(t, "MPI_Wtime"), 0, 6200, int64(0x4008000000000000))
	b.add(recordModule, 0, 0, 0x400000, 0x1000, 0x3ff000, "/bin/app")
	b.add(recordCallers, 0, 0, 77, 0x400123, 0x400456)
	b.add(recordSized, 0, 0, 9000, 40)
	b.add(recordBegin, number(t, "MPI_Finalize"), flagOutermost|flagSited, 6300, 77)
	return b
}

// decodeAll describes what a decoder still has to read of a segment.
func decodeAll(d *Decoder) (list []string, err error) {
	for {
		r, err := d.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return list, err
		}
		list = append(list, r.String())
	}
}

func TestDecoder(t *testing.T) {
	var d Decoder
	if err := d.Segment(append(sample(t).data, make([]byte, 64)...)); err != nil {
		t.Fatal(err)
	}
	got, err := decodeAll(&d)
	if err != nil {
		t.Fatal(err)
	}
	for r := range d.Unfinished() {
		got = append(got, "unfinished "+r.String())
	}
	want := []string{
		`MPI_T_CVAR_HANDLE_NULL = 77`,
		`region -17: 0x4000, 4096 bytes`,
		`51050..51050 type 3: 0x0, 0x5000, 64 bytes`,
		`51100 MPI_Waitall(count<2 array_of_requests<[11,12] array_of_requests>missing array_of_statuses>missing) = 0 at depth 0, hidden false, failed false began`,
		`51100..51150 MPI_Waitall(count<2 array_of_requests<[11,12] array_of_requests>[21,22] array_of_statuses>[{1,7,0},{2,8,0}]) = 0 at depth 0, hidden false, failed false 0`,
		`51250..51300 type 5: 0x5000, 0x6000, 128 bytes`,
		`52150..52200 MPI_Comm_set_name(comm<9 comm_name<"a name") = 13 at depth 1, hidden false, failed true 6.4e-323`,
		`52100..52250 MPI_Reduce_local(inbuf<1 inoutbuf<2 count<3 datatype<4 op<5) = 0 at depth 0, hidden true, failed false 0`,
		`52300..52350 MPI_Comm_spawn(command<"app" argv<["-n","twelve bytes"] maxprocs<1 info<2 root<0 comm<3 intercomm>44 array_of_errcodes>ignored) = 0 at depth 0, hidden false, failed false, rank 1, size 8 0`,
		`52400..52400 type 4: 0x6000, 0x0, 0 bytes`,
		`52425..52425 type 10: 0x7000, 0x0, 8192 bytes`,
		`52450 MPI_Test(request<31 request>missing flag>missing status>missing) = 0 at depth 0, hidden false, failed false began`,
		`52450..52500 MPI_Test(request<31 request>31 flag>0 status>unused) = 0 at depth 0, hidden false, failed false 0`,
		`52505 MPI_Wait(request<31 request>missing status>missing) = 0 at depth 0, hidden false, failed false began`,
		`52505..52510 MPI_Wait(request<31 request>0 status>ignored [{5,6,0}]) = 0 at depth 0, hidden false, failed false 0`,
		`52550..52600 MPI_Wtime() = 4613937818241073152 at depth 0, hidden false, failed false 3`,
		`module "/bin/app": 0x400000, 4096 bytes, base 0x3ff000`,
		`callers 0x4d: [0x400123 0x400456]`,
		`datatype 9000: 40 bytes`,
		`unfinished 52650..0 MPI_Finalize() = 0 at depth 0, hidden false, failed false, site 0x4d 0`,
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Fatalf("record %d of\n%s\nwant\n%s", i, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	if h := d.Header(); h.Process != (Process{4321, 1e18}) || h.Thread != 2 || h.Rank != 5 ||
		h.State != Open || h.Cost != 87.5 || h.Job != 1<<63+9 || h.Machine != 1<<63+10 {
		t.Errorf("header %+v", h)
	}
}

// TestSegments follows a segment that grows and goes on to the next, with a call
// that begins in one and ends in the other.
func TestSegments(t *testing.T) {
	name := number(t, "MPI_Comm_set_name")
	var d Decoder
	steps := []struct {
		segment *segmentBuilder
		want    string
	}{
		{newSegment(0), ""},
		{newSegment(0).add(recordBegin, name, flagOutermost, 3000, 1, "half"), ""},
		{newSegment(0).add(recordBegin, name, flagOutermost, 3000, 1, "half").add(recordRelease, 0, 0, 3100, 1),
			"51050..51050 type 4: 0x1, 0x0, 0 bytes"},
		{newSegment(1).add(recordEnd, name, 0, 3200, 0),
			`51000..51100 MPI_Comm_set_name(comm<1 comm_name<"half") = 0 at depth 0, hidden false, failed false 0`},
		{newSegment(1).add(recordEnd, name, 0, 3200, 0), ""},
	}
	for i, step := range steps {
		before := d.data
		if err := d.Segment(step.segment.data); err != nil {
			t.Fatal(err)
		}
		clear(before) // the decoder has done with it
		if got, err := decodeAll(&d); err != nil || strings.Join(got, "\n") != step.want {
			t.Errorf("step %d: records %q, error %v, want %q", i, got, err, step.want)
		}
	}
	for _, wrong := range []uint32{0, 3} {
		if err := d.Segment(newSegment(wrong).data); !errors.Is(err, ErrCorrupt) {
			t.Errorf("segment %d after 1: error %v", wrong, err)
		}
	}
	if err := new(Decoder).Segment(newSegment(1).data); !errors.Is(err, ErrCorrupt) {
		t.Errorf("segment 1 first: error %v", err)
	}
	other := newSegment(2)
	other.data[offsetThread]++
	checked(other.data)
	if err := d.Segment(other.data); !errors.Is(err, ErrCorrupt) {
		t.Errorf("segment of another thread: error %v", err)
	}
}

func TestDecoderErrors(t *testing.T) {
	barrier, waitall, test := number(t, "MPI_Barrier"), number(t, "MPI_Waitall"), number(t, "MPI_Test")
	name, wtime, get := number(t, "MPI_Comm_set_name"), number(t, "MPI_Wtime"), number(t, "MPI_Comm_get_parent")
	header := func(change func([]byte)) *segmentBuilder {
		b := newSegment(0)
		change(b.data)
		return b
	}
	begun := func(f int, words ...any) *segmentBuilder { return newSegment(0).add(recordBegin, f, 4, words...) }
	tests := []struct {
		name    string
		segment *segmentBuilder
		offset  int64
		err     error
	}{
		{"NoHeader", &segmentBuilder{newSegment(0).data[:100]}, 100, io.ErrUnexpectedEOF},
		{"Magic", header(func(b []byte) { b[7]++ }), 0, ErrCorrupt},
		{"Table", header(func(b []byte) { b[offsetTable]++ }), offsetTable, ErrCorrupt},
		{"State", header(func(b []byte) { double(b, offsetState, 3) }), offsetState, ErrCorrupt},
		{"Rank", header(func(b []byte) { double(b, offsetRank, 0xff000005) }), offsetRank, ErrCorrupt},
		{"ClockStandsStill", header(func(b []byte) {
			copy(b[offsetTicks:], b[offsetTicks+8:offsetTicks+16])
			checked(b)
		}), offsetTicks, ErrCorrupt},
		{"HalfAWord", &segmentBuilder{append(newSegment(0).data, 1, 0, 0)}, headerSize, io.ErrUnexpectedEOF},
		{"SizeNone", &segmentBuilder{append(newSegment(0).data, 0, 0, 0, 0, 0, 3, 0, 0)}, headerSize, ErrCorrupt},
		{"SizeLarge", &segmentBuilder{append(newSegment(0).data, 2, 0, 0, 0, 0, 3, 0, 0)}, headerSize,
			io.ErrUnexpectedEOF},
		{"Type", newSegment(0).add(14, 0, 0), headerSize, ErrCorrupt},
		{"SizedCut", newSegment(0).add(recordSized, 0, 0, 1), headerSize, io.ErrUnexpectedEOF},
		{"SizedNegative", newSegment(0).add(recordSized, 0, 0, 1, -1), headerSize, ErrCorrupt},
		{"RegionNumber", newSegment(0).add(recordRegion, 0, 0, 1, 2, -15), headerSize, ErrCorrupt},
		{"RegionSize", newSegment(0).add(recordRegion, 0, 0, 2, -1, -16), headerSize, ErrCorrupt},
		{"RegionCut", newSegment(0).add(recordRegion, 0, 0, 2, 3), headerSize, io.ErrUnexpectedEOF},
		{"ModuleSize", newSegment(0).add(recordModule, 0, 0, 2, -1, 0, "app"), headerSize, ErrCorrupt},
		{"ModulePath", newSegment(0).add(recordModule, 0, 0, 2, 3, 0, -1), headerSize, ErrCorrupt},
		{"ModulePathCut", newSegment(0).add(recordModule, 0, 0, 2, 3, 0, int64(1)<<40), headerSize, ErrCorrupt},
		{"ModuleCut", newSegment(0).add(recordModule, 0, 0, 2, 3), headerSize, io.ErrUnexpectedEOF},
		{"AssumptionAbsent", newSegment(0).add(recordAssumption, 0, 0, -1), headerSize, ErrCorrupt},
		{"AssumptionCut", newSegment(0).add(recordAssumption, 0, 0, int64(1)<<40), headerSize, ErrCorrupt},
		{"CallersCut", newSegment(0).add(recordCallers, 0, 0), headerSize, io.ErrUnexpectedEOF},
		{"UnmapCut", newSegment(0).add(recordUnmap, 0, 0, 1, 2), headerSize, io.ErrUnexpectedEOF},
		{"SiteCut", newSegment(0).add(recordBegin, barrier, flagSited, 3200), headerSize, io.ErrUnexpectedEOF},
		{"Function", begun(len(functions), 1), headerSize, ErrCorrupt},
		{"Constant", newSegment(0).add(recordConstant, len(constants), 0, 1), headerSize, ErrCorrupt},
		{"TooShort", begun(barrier, 1), headerSize, io.ErrUnexpectedEOF},
		{"TooLong", begun(barrier, 1, 2, 3), headerSize, ErrCorrupt},
		{"Length", begun(waitall, 1, 1, int64(1)<<60), headerSize, ErrCorrupt},
		{"LengthOverflows", begun(name, 1, 1, int64(1<<63-1)), headerSize, ErrCorrupt},
		{"LengthNegative", begun(waitall, 1, 1, -5), headerSize, ErrCorrupt},
		{"Single", begun(test, 1, 5).add(recordEnd, test, 0, 2, 0, 5, 1, 2, 1, 1, 1, 1, 1, 1),
			headerSize + 24, ErrCorrupt},
		{"SingleNone", begun(test, 1, 5).add(recordEnd, test, 0, 2, 0, 5, 1, 0), headerSize + 24, ErrCorrupt},
		{"EndOfFunction", begun(barrier, 1, 2).add(recordEnd, len(functions), 0, 2, 3), headerSize + 24, ErrCorrupt},
		{"CannotFail", begun(wtime, 1).add(recordEnd, wtime, flagFailed, 2, 3), headerSize + 16, ErrCorrupt},
		{"Rank", begun(get, 1).add(recordEnd, get, 0, 2, 0, -2, 1, 5), headerSize + 16, ErrCorrupt},
		{"Size", begun(get, 1).add(recordEnd, get, 0, 2, 0, 0, int64(1)<<31, 5), headerSize + 16, ErrCorrupt},
		{"NoGroup", begun(get, 1).add(recordEnd, get, 0, 2, 0, 0), headerSize + 16, io.ErrUnexpectedEOF},
		{"ClockGoesBack", newSegment(0).add(recordClock, 0, 0, 900, 60000), headerSize, ErrCorrupt},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var d Decoder
			err := d.Segment(test.segment.data)
			if err == nil {
				_, err = decodeAll(&d)
			}
			var parse *ParseError
			if err == nil || !errors.As(err, &parse) || parse.Offset != test.offset || !errors.Is(err, test.err) {
				t.Fatalf("error %v, want offset %d and %v", err, test.offset, test.err)
			}
			if _, again := d.Next(); test.offset >= headerSize && (again == nil || again.Error() != err.Error()) {
				t.Errorf("the error did not stay: %v", again)
			}
		})
	}
}

// TestDecoderCut reads every beginning of a segment: the records that are there
// are those of the whole.
func TestDecoderCut(t *testing.T) {
	data := sample(t).data
	var whole Decoder
	if err := whole.Segment(data); err != nil {
		t.Fatal(err)
	}
	want, err := decodeAll(&whole)
	if err != nil {
		t.Fatal(err)
	}
	for n := headerSize; n < len(data); n++ {
		var d Decoder
		if err := d.Segment(data[:n]); err != nil {
			t.Fatal(err)
		}
		got, err := decodeAll(&d)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes: error %v", n, err)
		}
		if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
			t.Errorf("%d bytes: records %v", n, got)
		}
	}
}

// TestDepth keeps a bounded number of calls that are never left.
func TestDepth(t *testing.T) {
	b, barrier := newSegment(0), number(t, "MPI_Barrier")
	for i := range 3 * maxDepth {
		b.add(recordBegin, barrier, 0, 3000+i, i)
	}
	var d Decoder
	if err := d.Segment(b.data); err != nil {
		t.Fatal(err)
	}
	if got, err := decodeAll(&d); err != nil || len(got) != 0 {
		t.Fatalf("records %v, error %v", got, err)
	}
	first := -1
	n := 0
	for r := range d.Unfinished() {
		if n++; first < 0 {
			first = int(r.Arguments[0].Before.Int())
		}
	}
	if n != maxDepth || first != 2*maxDepth {
		t.Errorf("%d calls from %d, want %d from %d", n, first, maxDepth, 2*maxDepth)
	}
}

// TestTimes corrects a clock that was ahead: the times of records stay in order,
// and those of a call are right once the clock has caught up.
func TestTimes(t *testing.T) {
	wtime, barrier := number(t, "MPI_Wtime"), number(t, "MPI_Barrier")
	b := newSegment(0) // half a nanosecond per tick from 3000, at 51000
	b.add(recordBegin, barrier, flagOutermost, 3000, 1)
	b.add(recordBegin, wtime, 0, 4000)
	b.add(recordEnd, wtime, 0, 5000, 0)
	b.add(recordClock, 0, 0, 5000, 51500) // not 52000
	b.add(recordEnd, barrier, 0, 5200, 0)
	b.add(recordAllocate, 0, 0, 5400, 1, 1)
	b.add(recordResize, 0, 0, 9000, 2, 2, 0, 1) // from when it was not recorded
	b.add(recordRelease, 0, 0, 9000, 2)
	var d Decoder
	if err := d.Segment(b.data); err != nil {
		t.Fatal(err)
	}
	var got []int64
	for {
		r, err := d.Next()
		if err != nil {
			break
		}
		got = append(got, r.Start, r.End)
	}
	want := []int64{51500, 52000, 51000, 52000, 52000, 52000, 52000, 53000, 53000, 53000}
	if !slices.Equal(got, want) {
		t.Errorf("times %v, want %v", got, want)
	}
}

// TestBegan holds on to nothing of a record that says that a call began: calls
// inside it, and those after it, have arguments of their own.
func TestBegan(t *testing.T) {
	wait, cancel, comm := number(t, "MPI_Wait"), number(t, "MPI_Cancel"), number(t, "MPI_Comm_free")
	b := newSegment(0)
	b.add(recordBegin, wait, flagOutermost, 3000, 1)
	b.add(recordBegin, cancel, 0, 3100, 2)
	b.add(recordBegin, comm, flagHidden, 3200, 3)
	b.add(recordEnd, comm, flagHidden, 3300, 0, 4)
	b.add(recordBegin, comm, 0, 3300, 7)
	b.add(recordEnd, comm, 0, 3300, 0, 8)
	b.add(recordEnd, cancel, 0, 3400, 0)
	b.add(recordBegin, cancel, 0, 3500, 5)
	b.add(recordEnd, wait, 0, 3600, 0, 6, -2)
	var d Decoder
	if err := d.Segment(b.data); err != nil {
		t.Fatal(err)
	}
	got, err := decodeAll(&d)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`51000 MPI_Wait(request<1 request>missing status>missing) = 0 at depth 0, hidden false, failed false began`,
		`51050 MPI_Cancel(request<2) = 0 at depth 1, hidden false, failed false began`,
		`51100 MPI_Comm_free(comm<3 comm>missing) = 0 at depth 2, hidden true, failed false began`,
		`51100..51150 MPI_Comm_free(comm<3 comm>4) = 0 at depth 2, hidden true, failed false 0`,
		`51150 MPI_Comm_free(comm<7 comm>missing) = 0 at depth 2, hidden false, failed false began`,
		`51150..51150 MPI_Comm_free(comm<7 comm>8) = 0 at depth 2, hidden false, failed false 0`,
		`51050..51200 MPI_Cancel(request<2) = 0 at depth 1, hidden false, failed false 0`,
		`51250 MPI_Cancel(request<5) = 0 at depth 1, hidden false, failed false began`,
		`51000..51300 MPI_Wait(request<1 request>6 status>ignored) = 0 at depth 0, hidden false, failed false 0`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestLost reads what is left of calls of which a begin or an end is missing: the
// others are whole.
func TestLost(t *testing.T) {
	barrier, reduce, name := number(t, "MPI_Barrier"), number(t, "MPI_Reduce_local"), number(t, "MPI_Comm_set_name")
	b := newSegment(0)
	double(b.data, offsetLost, 5)
	b.add(recordEnd, barrier, flagOutermost, 3000, 0)
	b.add(recordBegin, name, 0, 3100, 1, "in a call whose begin is lost")
	b.add(recordEnd, name, 0, 3200, 0)
	b.add(recordEnd, reduce, flagOutermost, 3300, 0)
	b.add(recordBegin, barrier, flagOutermost, 3400, 2)
	b.add(recordBegin, barrier, 0, 3500, 3) // its end is lost
	b.add(recordEnd, barrier, flagOutermost, 3600, 0)
	b.add(recordBegin, barrier, flagOutermost, 3700, 4) // and so is this
	b.add(recordBegin, barrier, flagOutermost, 3800, 5)
	b.add(recordEnd, barrier, flagOutermost, 3900, 0)
	var d Decoder
	if err := d.Segment(b.data); err != nil {
		t.Fatal(err)
	}
	got, err := decodeAll(&d)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`51050..51100 MPI_Comm_set_name(comm<1 comm_name<"in a call whose begin is lost") = 0 at depth 1, hidden false, failed false 0`,
		`51200..51300 MPI_Barrier(comm<2) = 0 at depth 0, hidden false, failed false 0`,
		`51400..51450 MPI_Barrier(comm<5) = 0 at depth 0, hidden false, failed false 0`,
	}
	if !slices.Equal(got, want) || d.Skipped() != 2 || d.Header().Lost != 5 {
		t.Errorf("%d calls are skipped; got\n%s\nwant\n%s", d.Skipped(), strings.Join(got, "\n"),
			strings.Join(want, "\n"))
	}
	for r := range d.Unfinished() {
		t.Errorf("unfinished: %s", r)
	}
}

func TestList(t *testing.T) {
	directory := t.TempDir()
	for _, name := range []string{
		"12-ff.1.0.spool", "12-ff.0.10.spool", "12-ff.0.9.spool", "9-ff.0.0.spool", "12-fe.0.0.spool",
		"12-ff.0.x.spool", "012-ff.0.0.spool", "12-ff.0.0.tmp", "12-ff.0.spool", "12-FF.0.0.spool",
	} {
		if err := os.WriteFile(filepath.Join(directory, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := List(directory)
	if err != nil {
		t.Fatal(err)
	}
	path := func(name string) string { return filepath.Join(directory, name) }
	want := []Thread{
		{Process{9, 0xff}, 0, []string{path("9-ff.0.0.spool")}},
		{Process{12, 0xfe}, 0, []string{path("12-fe.0.0.spool")}},
		{Process{12, 0xff}, 0, []string{path("12-ff.0.9.spool"), path("12-ff.0.10.spool")}},
		{Process{12, 0xff}, 1, []string{path("12-ff.1.0.spool")}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

// TestRegionTime checks that a region counts from the record before it, and the first
// one from when its segment was begun.
func TestRegionTime(t *testing.T) {
	b := newSegment(0)
	b.add(recordRegion, 0, 0, 0x4000, 0x1000, Static)
	b.add(recordAllocate, 0, 0, 9000, 0x7000, 64)
	b.add(recordRegion, 0, 0, 0x8000, 0x1000, ThreadStack-1)
	var d Decoder
	if err := d.Segment(b.data); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{51000, 54000, 54000} {
		r, err := d.Next()
		if err != nil {
			t.Fatal(err)
		}
		if r.Start != want || r.End != want {
			t.Errorf("record %d counts from %d to %d, want %d", i, r.Start, r.End, want)
		}
	}
}

func number(t testing.TB, name string) int {
	t.Helper()
	n, ok := spec.Lookup(name)
	if !ok {
		t.Fatalf("%s is not in the table", name)
	}
	return n
}

// BenchmarkDecoder decodes the calls of a small stencil.
func BenchmarkDecoder(b *testing.B) {
	isend, irecv, waitall := number(b, "MPI_Isend"), number(b, "MPI_Irecv"), number(b, "MPI_Waitall")
	segment := newSegment(0)
	calls := 0
	for i := range 5000 {
		for k := range 2 {
			at := 4000 + 1000*i + 100*k
			segment.add(recordBegin, irecv, flagOutermost, at, 0x7000, 270, 9, k, 2000, 1)
			segment.add(recordEnd, irecv, 0, at+10, 0, 50+k)
			segment.add(recordBegin, isend, flagOutermost, at+20, 0x7000, 270, 9, k, 2000, 1)
			segment.add(recordEnd, isend, 0, at+30, 0, 60+k)
			calls += 2
		}
		segment.add(recordBegin, waitall, flagOutermost, 4300+1000*i, 4, 4, 50, 60, 51, 61)
		segment.add(recordEnd, waitall, 0, 4400+1000*i, 0, 4, 0, 0, 0, 0, -2)
		calls++
	}
	b.ReportAllocs()
	for b.Loop() {
		var d Decoder
		if err := d.Segment(segment.data); err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := d.Next(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*calls), "ns/call")
	b.ReportMetric(0, "ns/op")
}

// TestClockError reads clocks that are slewed: by how much times would have been off is told, of one segment and
// of the next.
func TestClockError(t *testing.T) {
	var d Decoder
	b := newSegment(0) // from 1000 to 3000 ticks, half a nanosecond each, to 51000 ns
	b.add(recordAllocate, 0, 0, 4000, 0x5000, 64)
	b.add(recordClock, 0, 0, 5000, 52008) // 8 behind, 4 when memory was allocated
	b.add(recordRelease, 0, 0, 9000, 0x5000)
	b.add(recordClock, 0, 0, 9000, 54000) // 16 ahead
	b.add(recordAllocate, 0, 0, 10_000, 0x5000, 64)
	next := newSegment(1)
	binary.LittleEndian.PutUint64(next.data[offsetTicks+8:], 11_000)
	binary.LittleEndian.PutUint64(next.data[offsetMonotonic+8:], 56_000)
	checked(next.data)
	for i, want := range []int64{16, 500} {
		if err := d.Segment([]*segmentBuilder{b, next}[i].data); err != nil {
			t.Fatal(err)
		}
		if _, err := decodeAll(&d); err != nil {
			t.Fatal(err)
		}
		if got := d.ClockError(); got != want {
			t.Errorf("segment %d: clocks are off by %d ns, want %d", i, got, want)
		}
	}
}
