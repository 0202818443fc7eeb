package simgrid

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
)

// show writes an argument with its parameter's name and kind.
func show(p cst.Param, v cst.Value) string {
	if v.Kind() == cst.KindArray {
		elems := make([]string, v.Len())
		for i := range elems {
			elems[i] = fmt.Sprint(v.Index(i).Int())
		}
		return fmt.Sprintf("%s=%v[%s]", p.Name, p.Type.Elem, strings.Join(elems, " "))
	}
	switch v.Kind() {
	case cst.KindFloat:
		return fmt.Sprintf("%s=%v(%v)", p.Name, p.Type, v.Float())
	case cst.KindString:
		return fmt.Sprintf("%s=%q", p.Name, v.Text())
	}
	return fmt.Sprintf("%s=%v(%d)", p.Name, p.Type, v.Int())
}

// describe writes a call as its rank, the name of its function and its arguments.
func describe(c Call) string {
	f := Functions()[c.Function]
	s := fmt.Sprint(c.Rank, " ", f.Name)
	for i, v := range c.Args {
		s += " " + show(f.Params[i], v)
	}
	return s
}

func readText(t rapid.TB, text string) []Call {
	t.Helper()
	return readAll(t, NewReader(strings.NewReader(text), Options{}))
}

func TestActions(t *testing.T) {
	tests := []struct{ line, want string }{
		{"0 init", "0 init"},
		{"12 finalize", "12 finalize"},
		{"0 barrier", "0 barrier"},
		{"0 ibarrier", "0 ibarrier"},
		{"2 compute 415517", "2 compute flops=float(415517)"},
		{"0 compute 8.33084e+06", "0 compute flops=float(8.33084e+06)"},
		{"0 compute 1e-05", "0 compute flops=float(1e-05)"},
		{"0 compute -0", "0 compute flops=float(-0)"},
		{"0 compute inf", "0 compute flops=float(+Inf)"},
		{"0 compute nan", "0 compute flops=float(NaN)"},
		{"0 compute 8330841", "0 compute flops=int(8330841)"}, // %g writes 8.33084e+06
		{"0 sleep 0.001", "0 sleep seconds=float(0.001)"},
		{"0 send 1 1000 1 1", "0 send destination=rank(1) tag=tag(1000) count=int(1) type=handle(datatype)(1)"},
		{"0 isend 1 0 9223372036854775807 -1",
			"0 isend destination=rank(1) tag=tag(0) count=int(9223372036854775807) type=handle(datatype)(-1)"},
		{"0 ISsend 1 22 20 5", "0 ISsend destination=rank(1) tag=tag(22) count=int(20) type=handle(datatype)(5)"},
		{"1 recv -333 -444 10 1", "1 recv source=rank(-333) tag=tag(-444) count=int(10) type=handle(datatype)(1)"},
		{"0 irecv 1 1300 128 0", "0 irecv source=rank(1) tag=tag(1300) count=int(128) type=handle(datatype)(0)"},
		{"0 wait -333 -333 -779", "0 wait source=rank(-333) destination=rank(-333) tag=tag(-779)"},
		{"0 test 3 0 24", "0 test source=rank(3) destination=rank(0) tag=tag(24)"},
		{"0 waitall 12", "0 waitall requests=int(12)"},
		{"1 waitAny 2", "1 waitAny requests=int(2)"},
		{"1 testall", "1 testall"},
		{"1 testany", "1 testany"},
		{"1 testsome", "1 testsome"},
		{"1 sendRecv 30 2 40 0 1 1", "1 sendRecv send_count=int(30) destination=rank(2) receive_count=int(40) " +
			"source=rank(0) send_type=handle(datatype)(1) receive_type=handle(datatype)(1)"},
		{"1 Start 2 33 12 1", "1 Start destination=rank(2) tag=tag(33) bytes=int(12) type=handle(datatype)(1)"},
		{"1 Startall", "1 Startall"},
		{"1 bcast 6 2 1 ", "1 bcast count=int(6) root=rank(2) type=handle(datatype)(1)"},
		{"0 reduce 1 0 0 2 ", "0 reduce count=int(1) flops=float(0) root=rank(0) type=handle(datatype)(2)"},
		{"0 ireduce 1 2.5 0 2 ", "0 ireduce count=int(1) flops=float(2.5) root=rank(0) type=handle(datatype)(2)"},
		{"0 allreduce 5 0 1 ", "0 allreduce count=int(5) flops=float(0) type=handle(datatype)(1)"},
		{"0 iscan 5 0 1 ", "0 iscan count=int(5) flops=float(0) type=handle(datatype)(1)"},
		{"1 gather 3 4 0 1 2", "1 gather send_count=int(3) receive_count=int(4) root=rank(0) " +
			"send_type=handle(datatype)(1) receive_type=handle(datatype)(2)"},
		{"1 gather 3 0 1 2", "1 gather send_count=int(3) root=rank(0) " +
			"send_type=handle(datatype)(1) receive_type=handle(datatype)(2)"},
		{"0 alltoall 1024 512 43 1", "0 alltoall send_count=int(1024) receive_count=int(512) " +
			"send_type=handle(datatype)(43) receive_type=handle(datatype)(1)"},
		{"1 ialltoall 0 1 2", "1 ialltoall send_count=int(0) " +
			"send_type=handle(datatype)(1) receive_type=handle(datatype)(2)"},
		{"0 gatherv 9 1 2 3 4 0 1 2", "0 gatherv send_count=int(9) receive_counts=int[1 2 3 4] root=rank(0) " +
			"send_type=handle(datatype)(1) receive_type=handle(datatype)(2)"},
		{"0 gatherv 9 0 1 2", "0 gatherv send_count=int(9) receive_counts=int[] root=rank(0) " +
			"send_type=handle(datatype)(1) receive_type=handle(datatype)(2)"},
		{"0 allgatherv 9 1 2 3 4 1 2", "0 allgatherv send_count=int(9) receive_counts=int[1 2 3 4] " +
			"send_type=handle(datatype)(1) receive_type=handle(datatype)(2)"},
		{"0 scatterv 1 2 3 4 9 0 1 2", "0 scatterv send_counts=int[1 2 3 4] receive_count=int(9) root=rank(0) " +
			"send_type=handle(datatype)(1) receive_type=handle(datatype)(2)"},
		{"1 alltoallv 8 2 6 9 4 5 1 2", "1 alltoallv send_sum=int(8) send_counts=int[2 6] receive_sum=int(9) " +
			"receive_counts=int[4 5] send_type=handle(datatype)(1) receive_type=handle(datatype)(2)"},
		{"1 alltoallw 0 0 1 2", "1 alltoallw send_sum=int(0) send_counts=int[] receive_sum=int(0) " +
			"receive_counts=int[] send_type=handle(datatype)(1) receive_type=handle(datatype)(2)"},
		{"1 reducescatter 2 3 4 5 0 6",
			"1 reducescatter receive_counts=int[2 3 4 5] flops=int(0) type=handle(datatype)(6)"},
		{"1 reducescatter 0 0 0 ", "1 reducescatter receive_counts=int[0 0] type=handle(datatype)(0)"},
		{"1 Put 2 0 3 1", "1 Put target=rank(2) tag=tag(0) count=int(3) type=handle(datatype)(1)"},
		{"1 Rget_accumulate 2 0 3 1",
			"1 Rget_accumulate target=rank(2) tag=tag(0) count=int(3) type=handle(datatype)(1)"},
		{"1 Win_lock", "1 Win_lock"},
		{"1 Win_flush_local_all", "1 Win_flush_local_all"},
		{"3 IO - write 4096", "3 IO - write bytes=float(4096)"},
		{"3 IO - read_at_all 1.04858e+06", "3 IO - read_at_all bytes=float(1.04858e+06)"},
		{"0 location a.c 13", `0 location file="a.c" line=int(13)`},
		{"0 location my  file 2.c 13", `0 location file="my  file 2.c" line=int(13)`},
		{"0 location  13", `0 location file="" line=int(13)`},
		{"0 comm_size 8", "0 comm_size size=int(8)"},
		{"0 comm_dup", "0 comm_dup"},
		{"0 migrate 4096", "0 migrate bytes=int(4096)"},
		{"0 iteration_in", "0 iteration_in"},

		// Other blanks, and other spellings of numbers.
		{"0 init ", `0 init text=""`},
		{"0 bcast 6 2 1", `0 bcast count=int(6) root=rank(2) type=handle(datatype)(1) text="6 2 1"`},
		{"0 send  1 2 3 4",
			`0 send destination=rank(1) tag=tag(2) count=int(3) type=handle(datatype)(4) text=" 1 2 3 4"`},
		{"0 send 01 +2 3 -0 ",
			`0 send destination=rank(1) tag=tag(2) count=int(3) type=handle(datatype)(0) text="01 +2 3 -0 "`},
		{"0 send 1 2 1e3 4",
			`0 send destination=rank(1) tag=tag(2) count=int(1000) type=handle(datatype)(4) text="1 2 1e3 4"`},
		{"0 compute 1e9", `0 compute flops=float(1e+09) text="1e9"`},
		{"0 compute 1e+09 ", `0 compute flops=float(1e+09) text="1e+09 "`},
		{"0 compute 1234567.5", `0 compute flops=float(1.2345675e+06) text="1234567.5"`},
		{"0 compute 0x1p4", `0 compute flops=float(16) text="0x1p4"`},
		{"0 gather 3  1 1 1",
			`0 gather send_count=int(3) root=rank(1) send_type=handle(datatype)(1) receive_type=handle(datatype)(1) text="3  1 1 1"`},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			text := tt.line + "\n"
			r := NewReader(strings.NewReader(text), Options{})
			calls := readAll(t, r)
			if len(calls) != 1 || describe(calls[0]) != tt.want {
				t.Fatalf("read %v\nwant %s", calls, tt.want)
			}
			if s := r.Stats(); s.Foreign != 0 {
				t.Errorf("Stats = %+v", s)
			}
			if got := write(t, calls); got != text {
				t.Errorf("written back as %q", got)
			}
		})
	}
}

// TestKept has the lines that are kept as they are: how often, as which function,
// and whether they count as comments.
func TestKept(t *testing.T) {
	tests := []struct {
		name, text string
		function   int // of the first call
		comments   uint64
		foreign    uint64
	}{
		{"Comment", "# made by hand\n0 init\n", whole, 1, 0},
		{"Blank", "\n0 init\n", whole, 1, 0},
		{"BlankAndTab", " \t \r\n0 init\n", whole, 1, 0},
		{"CommentBehindBlank", " # text\n", whole, 0, 1},
		{"NoRank", "init\n", whole, 0, 1},
		{"RankAlone", "0\n", whole, 0, 1},
		{"RankAndTab", "0\tinit\n", whole, 0, 1},
		{"RankWithZero", "01 init\n", whole, 0, 1},
		{"RankWithPlus", "+1 init\n", whole, 0, 1},
		{"NegativeRank", "-1 init\n", whole, 0, 1},
		{"BlankBeforeRank", " 0 init\n", whole, 0, 1},
		{"NoAction", "0 \n", opaque, 0, 1},
		{"UnknownAction", "0 dance 1 2 3\n", opaque, 0, 1},
		{"UnknownAmongBlanks", "0 IO - dance 3\n", opaque, 0, 1},
		{"UpperCase", "0 SEND 1 2 3 4\n", opaque, 0, 1},
		{"Tab", "0 send\t1 2 3 4\n", opaque, 0, 1},
		{"CarriageReturns", "0 init\r\r\n", opaque, 0, 1},
		{"CarriageReturnWithin", "0 send 1\r 2 3 4\n", opaque, 0, 1},
		{"FieldMissing", "0 send 1 2 3\n", opaque, 0, 1},
		{"FloatForARank", "0 send 1e1 2 3 4\n", opaque, 0, 1},
		{"FieldTooMany", "0 send 1 2 3 4 5\n", opaque, 0, 1},
		{"NotANumber", "0 send x 2 3 4\n", opaque, 0, 1},
		{"FractionForInt", "0 send 1 2 1.5 4\n", opaque, 0, 1},
		{"LargeFloatForInt", "0 send 1 2 1e16 4\n", opaque, 0, 1},
		{"TooLarge", "0 send 9223372036854775808 2 3 4\n", opaque, 0, 1},
		{"FloatTooLarge", "0 compute 1e+999\n", opaque, 0, 1},
		{"UnequalCounts", "0 alltoallv 8 2 2 2 8 2 2 1 1\n", opaque, 0, 1},
		{"LocationWithoutFile", "0 location 13\n", opaque, 0, 1},
		{"NoLineFeed", "0 init", opaque, 0, 1},
		{"NoLineFeedNorAction", "0 ", opaque, 0, 1},
		{"NoLineFeedNorRank", "ini", whole, 0, 1},
		{"OtherText", "0 größe 3\n", opaque, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := NewReader(strings.NewReader(tt.text), Options{})
			calls := readAll(t, r)
			if calls[0].Function != tt.function {
				t.Errorf("first call = %s, want function %d", describe(calls[0]), tt.function)
			}
			if s := r.Stats(); s.Comments != tt.comments || s.Foreign != tt.foreign {
				t.Errorf("Stats = %+v, want %d comments, %d foreign", s, tt.comments, tt.foreign)
			}
			if got := write(t, calls); got != tt.text {
				t.Errorf("written back as %q", got)
			}
		})
	}
}

// TestKeptRanks checks to which ranks lines without one belong.
func TestKeptRanks(t *testing.T) {
	text := "# a\n\n3 init\n# b\n1 init\nfoo\n3 finalize\n\nbar"
	var got []int
	for _, c := range readText(t, text) {
		got = append(got, c.Rank)
	}
	if want := []int{3, 3, 3, 3, 1, 1, 3, 3, 3}; !reflect.DeepEqual(got, want) {
		t.Errorf("ranks = %v, want %v", got, want)
	}
	// After too many lines without one, the number of the file takes its place.
	for _, rank := range []int{0, 3} {
		calls := readText(t, strings.Repeat("#\n", maxHeld+10)+fmt.Sprint(rank, " init\n"))
		if a, b := calls[maxHeld+9].Rank, calls[maxHeld+10].Rank; a != 0 || b != rank {
			t.Errorf("ranks = %d, %d, want 0, %d", a, b, rank)
		}
	}
}

// TestKeptSize checks that long lines without a rank are not held until one comes.
func TestKeptSize(t *testing.T) {
	comment := "#" + strings.Repeat("-", 60) + "\n"
	calls := readAll(t, NewReader(strings.NewReader(strings.Repeat(comment, 3)+"3 init\n"), Options{maxLine: 100}))
	if calls[2].Rank != 0 || calls[3].Rank != 3 {
		t.Errorf("ranks = %d, %d, want 0, 3", calls[2].Rank, calls[3].Rank)
	}
}

func TestLookup(t *testing.T) {
	for i, f := range Functions() {
		if got, ok := Lookup(f); got != i || !ok {
			t.Errorf("Lookup(%v) = %d, %t, want %d", f, got, ok, i)
		}
	}
	strange := []cst.Function{
		{Name: "dance"},
		{Name: "init", Params: []cst.Param{count}},
		{Name: "waitall", Params: []cst.Param{count}},
		{Name: "waitall", Params: []cst.Param{{Name: "requests", Type: cst.Type{Kind: cst.KindFloat}}}},
		{Name: "waitall", Params: []cst.Param{{Name: "requests", Type: requests.Type, Direction: cst.Out}}},
	}
	for _, f := range strange {
		if i, ok := Lookup(f); ok {
			t.Errorf("Lookup(%v) = %d", f, i)
		}
	}
}

// TestFloat compares with what C's printf writes for %g.
func TestFloat(t *testing.T) {
	tests := []struct {
		x    float64
		want string
	}{
		{0, "0"}, {math.Copysign(0, -1), "-0"}, {1, "1"}, {100000, "100000"}, {999999.4, "999999"},
		{999999.5, "1e+06"}, {1000000, "1e+06"}, {1234567, "1.23457e+06"}, {0.0001, "0.0001"}, {0.00001, "1e-05"},
		{0.00012345678, "0.000123457"}, {1e100, "1e+100"}, {5e-324, "4.94066e-324"}, {-2.5, "-2.5"},
		{120, "120"}, {0.5, "0.5"}, {math.Inf(-1), "-inf"}, {math.NaN(), "nan"},
	}
	for _, tt := range tests {
		if got := string(appendFloat(nil, tt.x)); got != tt.want {
			t.Errorf("%v is written %q, want %q", tt.x, got, tt.want)
		}
	}
}

func TestAppendCallErrors(t *testing.T) {
	str := func(s string) []cst.Value { return []cst.Value{cst.String(s)} }
	find := func(name string) int {
		for i, f := range Functions() {
			if f.Name == name {
				return i
			}
		}
		t.Fatal("no function ", name)
		return 0
	}
	one := cst.Array(cst.Int(1))
	tests := []struct {
		name string
		call Call
		want string
	}{
		{"NegativeRank", Call{Rank: -1, Function: find("init")}, "rank -1"},
		{"NegativeFunction", Call{Function: -1}, "function -1"},
		{"UnknownFunction", Call{Function: len(forms)}, "function "},
		{"TooManyArguments", Call{Function: find("init"), Args: str("")}, "1 arguments for 0"},
		{"TooFewArguments", Call{Function: find("waitall")}, "0 arguments for 1"},
		{"OtherKind", Call{Function: find("waitall"), Args: str("3")}, "requests is of kind string, not int"},
		{"OtherElement", Call{Function: find("allgatherv"), Args: []cst.Value{cst.Int(1),
			cst.Array(cst.Rank(1)), cst.Handle(1), cst.Handle(1)}}, "element 0 of receive_counts is of kind rank"},
		{"OtherLength", Call{Function: find("alltoallv"), Args: []cst.Value{cst.Int(1), one, cst.Int(1),
			cst.Array(), cst.Handle(1), cst.Handle(1)}}, "receive_counts has 0 elements, not 1"},
		{"LineFeedInFile", Call{Function: find("location"), Args: append(str("a\nb"), cst.Int(1))}, "byte 0x0a at 1"},
		{"LineFeedInside", Call{Function: opaque, Args: str("init\n1 init\n")}, "byte 0x0a at 4"},
		{"TwoLineFeeds", Call{Function: whole, Args: str("\n\n")}, "byte 0x0a at 0"},
		{"ControlByte", Call{Function: whole, Args: str("a\x00")}, "byte 0x00 at 1"},
		{"InvalidText", Call{Function: whole, Args: str("a\xc3")}, "byte 0xc3 at 1"},
		{"NoText", Call{Function: whole, Args: str("")}, "text is empty"},
		{"NoArgument", Call{Function: whole}, "one argument"},
		{"NoString", Call{Function: opaque, Args: []cst.Value{cst.Int(1)}}, "one argument"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dst, err := AppendCall([]byte("before"), tt.call)
			if err == nil || !strings.Contains(err.Error(), tt.want) || string(dst) != "before" {
				t.Errorf("AppendCall = %q, %v, want %q", dst, err, tt.want)
			}
		})
	}
}
