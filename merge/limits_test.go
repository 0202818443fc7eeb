package merge_test

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/allocated"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/tier"
	. "github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// openOnly opens a file, but reads no rank.
func openOnly(f *format.Reader) error {
	_, err := Open(f)
	return err
}

// alone returns a trace of one rank, one shape and one call, and of functions of
// which the signatures are still to be forged.
func alone(functions ...cst.Function) forgedTrace {
	return forgedTrace{
		ranks: "\x01", source: "\x00", flags: "\x00", shapes: "\x01\x02\x00\x00", functions: functionsOf(functions...),
		grammars: sharedGrammars(orderOf(0)),
	}
}

func (f forgedTrace) file(t testing.TB) []byte { return forge(t, present(f.sections()...)...) }

// manyParams returns a function with n parameters of a type.
func manyParams(n int, typ cst.Type) cst.Function {
	f := cst.Function{Name: "f"}
	for range n {
		f.Params = append(f.Params, cst.Param{Type: typ})
	}
	return f
}

// countTo returns a grammar of 0, 1, … n−1.
func countTo(n int) *sequitur.Grammar {
	var b sequitur.Builder
	for i := range n {
		b.Append(sequitur.Symbol(i))
	}
	return b.Finish()
}

// oneLong returns n lengths of arrays of arrays: those of one that has as many
// elements as there can be, all of them empty, and of others that have none.
func oneLong(n, others uint64) string {
	return uvarint(n) + "\x20\x02" + uvarint(2*(n-1-others)) + "\x00" + uvarint(2*(n-1-others)-1)
}

// TestTraceLimits checks that a small file takes little memory, or as much as a
// limit says. What these files once took is seconds to years.
func TestTraceLimits(t *testing.T) {
	tier.Long(t, "measures memory")
	if Racing {
		t.Skip("measures memory")
	}
	integers := cst.ArrayOf(cst.Type{Kind: cst.KindInt})
	const (
		none  = "\x00\x00" // domains and columns
		usual = 512 << 20  // memory
	)
	tests := []struct {
		name string
		file func() forgedTrace
		read func(*format.Reader) error
		most uint64 // bytes
		want error

		memory int64 // that it may take; zero means any
	}{
		{"Signatures", func() forgedTrace {
			f := alone(barrier)
			f.signatures = uvarint(1<<22<<1) + c0 + none
			return f
		}, readTrace, 40 << 20, nil, 0},
		{"LongArrays", func() forgedTrace { // 2⁴⁴ elements
			f := alone(vector)
			f.signatures = uvarint(1<<20<<1) + c0 + "\x01\x02\x00\x00" + "\x01" + "\x01\x06"
			f.vectorLengths = uvarint(1<<20) + "\x00" + uvarint(2*layout.MaxSlots) + c0
			f.inline = "\x03" + uvarint(layout.MaxSlots) + c0
			return f
		}, openOnly, 64 << 20, nil, 0},
		{"NestedArrays", func() forgedTrace { // in each of many parameters
			f := alone(manyParams(1000, cst.ArrayOf(integers)))
			f.signatures = uvarint(1<<1) + c0 + none
			f.vectorLengths = oneLong(1<<20, 999) + strings.Repeat(c0, 1000)
			return f
		}, openOnly, 24 << 20, nil, 0},
		{"LengthsOfManyFunctions", func() forgedTrace {
			list := []cst.Function{{Name: "a"}, {Name: "b"}, {Name: "c"}}
			for i := range list {
				list[i].Params = manyParams(1, cst.ArrayOf(integers)).Params
			}
			f := alone(list...)
			f.signatures = uvarint(3<<1) + ascending + none
			f.vectorLengths = strings.Repeat(oneLong(1<<24/2+1, 0)+c0, 3)
			return f
		}, openOnly, 256 << 20, format.ErrLimit, usual},
		{"ColumnNumbers", func() forgedTrace { // one of two columns, by 1 bit of the position
			f := alone(manyParams(65, cst.Type{Kind: cst.KindInt}))
			f.signatures = uvarint(1<<18<<1) + c0 + "\x01\x02\x00\x00" + "\x02\x00\x01\x00\x01"
			f.sendValues = strings.Repeat(c2+"\x06\x01\x00\x02\x00", 65)
			f.inline = c0 + c1
			return f
		}, openOnly, 64 << 20, format.ErrLimit, usual},
		{"Domains", func() forgedTrace {
			const shapes = 2100
			f := alone(barrier)
			f.ranks, f.shapes = uvarint(shapes), uvarint(shapes)
			for i := range shapes {
				f.shapes += "\x02" + uvarint(uint64(i)<<2) + "\x00"
			}
			f.signatures = uvarint(1<<1) + c0 + uvarint(shapes) + strings.Repeat("\x02\x00"+uvarint(shapes-1), shapes)
			return f
		}, openOnly, 400 << 20, format.ErrLimit, usual},
		{"Parameters", func() forgedTrace { // 2²⁶ and some values of a rank
			f := alone(manyParams(1<<10, cst.Type{Kind: cst.KindInt}))
			f.signatures = uvarint((1<<16+1)<<1) + c0 + none
			f.sendValues = strings.Repeat(c0+ascending, 1<<10)
			f.grammars = sharedGrammars(countTo(1<<16 + 1))
			return f
		}, readTrace, 64 << 20, format.ErrLimit, 4 << 30},
		{"ParametersOfARank", func() forgedTrace { // 2²³ values
			f := alone(manyParams(1<<9, cst.Type{Kind: cst.KindInt}))
			f.signatures = uvarint(1<<14<<1) + c0 + none
			f.sendValues = strings.Repeat(c0+ascending, 1<<9)
			f.grammars = sharedGrammars(countTo(1 << 14))
			return f
		}, readTrace, 192 << 20, nil, 0},
		{"ValuesOfArrays", func() forgedTrace {
			f := alone(vector)
			f.signatures = uvarint(5<<1) + c0 + "\x01\x02\x00\x00" + "\x01" + "\x01\x06"
			f.vectorLengths = uvarint(5) + "\x00" + uvarint(2*layout.MaxSlots) + c0
			f.inline = "\x03" + uvarint(layout.MaxSlots) + c0
			f.grammars = sharedGrammars(orderOf(0, 1, 2, 3, 4))
			return f
		}, readTrace, 1 << 20, format.ErrLimit, 4 << 30},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := tt.file().file(t)
			reader, err := format.NewReader(bytes.NewReader(file), int64(len(file)),
				format.Options{Memory: cmp.Or(tt.memory, math.MaxInt64)})
			if err != nil {
				t.Fatal(err)
			}
			if got := allocated.By(1, func() { err = tt.read(reader) }); got > tt.most {
				t.Errorf("%d bytes of file allocated %d bytes, want at most %d", len(file), got, tt.most)
			}
			if !errors.Is(err, tt.want) || err != nil && tt.want == nil {
				t.Errorf("%d bytes of file: err = %v, want %v", len(file), err, tt.want)
			}
		})
	}
}

// TestTraceMemory opens a file that may take less memory than its signatures need, or as much.
func TestTraceMemory(t *testing.T) {
	f := alone(barrier)
	f.signatures = uvarint(1<<22<<1) + c0 + "\x00\x00"
	file := f.file(t)
	open := func(memory int64) (err error) {
		reader, err := format.NewReader(bytes.NewReader(file), int64(len(file)), format.Options{Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		return openOnly(reader)
	}
	var (
		err    error
		memory *format.MemoryError
	)
	if got := allocated.By(1, func() { err = open(0) }); got > 4<<20 && !Racing {
		t.Errorf("%d bytes allocated for what is refused", got)
	}
	if !errors.As(err, &memory) || !errors.Is(err, format.ErrLimit) || memory.N != 1<<22 || memory.Most != 512<<20 {
		t.Fatalf("err = %v", err)
	}
	if err := open(int64(memory.Need)); err != nil {
		t.Errorf("as much as it needs: %v", err)
	}
	if err := open(int64(memory.Need) - 1); !errors.As(err, &memory) {
		t.Errorf("a byte less than it needs: %v", err)
	}
}

// TestPartLimits checks the memory that part files take that claim many ranks.
func TestPartLimits(t *testing.T) {
	if Racing {
		t.Skip("measures memory")
	}
	const ranks = 1 << 20
	f := forgedFile{
		size: uvarint(layout.MaxRanks), sources: "\x00", shapes: "\x01", orders: "\x00",
		functions: functionsOf(barrier),
		ranks:     "\x02" + uvarint(4000<<2|1) + "\x00\x00" + uvarint(ranks-2), // every other one
		forms:     "\x01\x00", grammar: encoded(0),
	}
	sections := []section{{layout.KindPart, 0, f.part()}, {layout.KindShape, 0, f.shape()}}
	for i := range 1000 { // in descending order, below
		g := f
		g.ranks = "\x02" + uvarint(uint64(2000-2*i)<<2) + "\x00"
		enc, _ := repeatCall(0, uint64(i+2), barrier).Grammar.AppendBinary(nil)
		g.grammar = string(enc)
		sections = append(sections, section{layout.KindShape, uint64(i + 1), g.shape()})
	}
	for _, n := range []int{0, 1000} {
		f.shapes = uvarint(uint64(n) + 1)
		sections[0].content = f.part()
		file := forge(t, sections[:n+2]...)
		var a *Accumulator
		got := allocated.By(1, func() { a = mustRead(t, file) })
		if a.RankSet().Len() != ranks+n || got > 128*ranks {
			t.Errorf("%d bytes of file with %d ranks allocated %d bytes", len(file), a.RankSet().Len(), got)
		}
	}
}

// TestOpenMemory checks that opening a trace and reading a rank allocates nothing
// by the number of ranks it has.
func TestOpenMemory(t *testing.T) {
	small := write(t, Run{Ranks: layout.MaxRanks}, []Part{oneCall(layout.MaxRanks-1, barrier)})
	const model = 2304 << 10 // of a coder of small containers, unless there is one
	for _, tt := range []struct {
		file []byte
		most uint64
	}{{testtrace.Records(t, small), 64 << 10}, {small, model + 64<<10}} {
		var rank int
		got := allocated.By(1, func() {
			trace := open(t, tt.file)
			rank = int(trace.RankSet().At(0))
			readPart(t, trace, rank-1)
			readPart(t, trace, rank)
		})
		if rank != layout.MaxRanks-1 || got > tt.most {
			t.Errorf("%d bytes of file allocated %d bytes, rank %d", len(tt.file), got, rank)
		}
	}
}

// TestHugeLoops checks that the cost of writing and reading depends on neither
// the number of calls nor that of ranks.
func TestHugeLoops(t *testing.T) {
	const calls = 1 << 61
	var size int
	var small Accumulator
	if err := small.Add(repeatCall(0, 1, barrier)); err != nil {
		t.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which may take away compressors of some 50 MiB,
	open(t, traceFile(t, &small))                    // that are there now
	got := allocated.By(1, func() {
		var a Accumulator
		for _, rank := range []int{0, 1, 2, 3, layout.MaxRanks - 1} {
			if err := a.Add(repeatCall(rank, calls, send, cst.Rank(int64(rank)+1))); err != nil {
				t.Fatal(err)
			}
		}
		file := traceFile(t, &a)
		size = len(file)
		p := readPart(t, open(t, file), layout.MaxRanks-1)
		if p.Grammar.Len() != calls {
			t.Errorf("%d calls", p.Grammar.Len())
		}
	})
	if got > 10<<20 && !Racing || size > 250 {
		t.Errorf("%d bytes allocated, a file of %d bytes", got, size)
	}
}

// TestOrderTooLong checks that an interleaving that cannot be is an error.
func TestOrderTooLong(t *testing.T) {
	var a Accumulator
	for rank := range 3 {
		if err := a.Add(repeatCall(rank, 1<<62, barrier)); err != nil {
			t.Fatal(err)
		}
	}
	for rank := 3; rank < 5; rank++ {
		a.Add(repeatCall(rank, 2, barrier))
	}
	if err := a.Describe(Run{Interleaving: orderOf(3, 4, 3, 4)}); err != nil {
		t.Fatal(err)
	}
	if err := a.Write(new(strings.Builder)); err == nil || !strings.HasPrefix(err.Error(), "merge: ") {
		t.Errorf("err = %v", err)
	}
}

// TestMostRuns writes shapes of more runs of consecutive ranks than are read.
func TestMostRuns(t *testing.T) {
	if !tier.Nightly || Racing {
		t.Skip("takes memory for millions of ranks")
	}
	var a Accumulator
	for rank := range 2*layout.MaxRuns + 2 {
		f := cst.Function{Name: "other"}
		if rank%2 > 0 {
			f = barrier
		}
		if err := a.Add(oneCall(rank, f)); err != nil {
			t.Fatal(err)
		}
	}
	for name, err := range map[string]error{"trace": a.Write(io.Discard), "part": a.WritePart(io.Discard)} {
		if !errors.Is(err, format.ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMostClockRuns writes ranks that are placed in turn on two machines, more than are read.
func TestMostClockRuns(t *testing.T) {
	tier.SlowRace(t)
	var a Accumulator
	if err := a.Add(oneCall(0, barrier)); err != nil {
		t.Fatal(err)
	}
	const ranks = layout.MaxRuns + 2
	a.Stretch(ranks)
	var every [2]rankenc.SetBuilder
	for rank := range ranks {
		every[rank%2].Add(rank)
	}
	if err := a.Describe(Run{Clocks: []format.Clock{
		{Ranks: every[0].Finish(), Machine: "a", Error: -1}, {Ranks: every[1].Finish(), Machine: "b", Error: -1},
	}}); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"trace": a.Write(io.Discard), "part": a.WritePart(io.Discard)} {
		if !errors.Is(err, format.ErrLimit) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
