package trace

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/must"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/tracer"
)

// largeGen draws how many there are of something of which a size takes memory: around what readers take by
// default, which tests have made small, and any.
func largeGen(size uint64) *rapid.Generator[int] {
	most := int(wire.LeastMemory / size)
	return rapid.OneOf(rapid.IntRange(0, most/8), rapid.IntRange(most-3, most+3), rapid.IntRange(0, 2*most))
}

// drawLarge records calls of which some are large, and returns the part.
func drawLarge(t *rapid.T, rank int) merge.Part {
	var o tracer.Options
	if rapid.Bool().Draw(t, "times of every call") {
		exact := must.Get(timing.NewLossless(timing.Zstd))
		o.Series = must.Get(timing.NewSeriesCodec(exact, exact, timing.Gaps))
	}
	if rapid.Bool().Draw(t, "histograms") {
		o.Histograms = &timing.HistogramOptions{}
	}
	r, err := tracer.New(o)
	if err != nil {
		t.Fatal(err)
	}
	clock := int64(0)
	call := func(fn int, args ...cst.Value) {
		clock += 10
		r.CallAt(fn, clock, 5, args...)
	}
	number := cst.Type{Kind: cst.KindInt}
	texts := r.Declare(numbered("text", cst.Type{Kind: cst.KindString}))
	lists := r.Declare(numbered("list", cst.ArrayOf(number)))
	pointers := r.Declare(numbered("pointers", cst.ArrayOf(cst.Type{Kind: cst.KindPointer})))
	nested := r.Declare(numbered("nested", cst.ArrayOf(cst.ArrayOf(number))))
	numbers := r.Declare(numbered("number", number))
	for range rapid.IntRange(1, 4).Draw(t, "kinds") {
		times := rapid.SampledFrom([]int{1, 1, 2, 20}).Draw(t, "times")
		switch rapid.IntRange(0, 9).Draw(t, "kind") {
		case 0: // content
			n := largeGen(32).Draw(t, "length") / times
			for i := range times {
				call(texts, cst.String(fmt.Sprint(i)+strings.Repeat("x", n)))
			}
		case 1: // slots
			n := largeGen(64).Draw(t, "elements") / times
			for i := range times {
				list := make([]int64, n)
				if n > 0 {
					list[i%n] = int64(i)
				}
				call(lists, cst.Numbers(cst.KindInt, list))
			}
		case 2:
			call(pointers, cst.Array(repeated(cst.PointerTo(cst.Pointer{Segment: 1}),
				largeGen(3*64).Draw(t, "pointers"))...))
		case 3: // lengths
			call(nested, cst.Array(repeated(cst.Array(), largeGen(32).Draw(t, "lists"))...))
		case 4: // signatures
			for i := range largeGen(1536).Draw(t, "signatures") {
				call(numbers, cst.Int(int64(irregular(i, rank))))
			}
		case 5:
			for i := range largeGen(1536).Draw(t, "texts") {
				call(texts, cst.String(fmt.Sprint(i)))
			}
		case 6: // functions, with names of any length
			name := strings.Repeat("f", rapid.SampledFrom([]int{1, 100, cst.MaxName - 9}).Draw(t, "name"))
			for i := range largeGen(256+uint64(len(name))).Draw(t, "functions") / times {
				call(r.Declare(numbered(fmt.Sprint(name, i), number)), cst.Int(1))
			}
		case 7: // a grammar, and values of each call in its order
			for i := range largeGen(64).Draw(t, "order") {
				call(numbers, cst.Int(int64(irregular(i, rank)%5)))
			}
		case 8: // times that nothing foretells
			for i := range largeGen(64).Draw(t, "timed") {
				x := int64(irregular(i, rank))
				clock += x
				r.CallAt(numbers, clock, x%1000, cst.Int(x%2))
				clock += x % 1000
			}
		case 9: // groups
			for i := range largeGen(256).Draw(t, "groups") / times {
				r.SetGroup("comm", int64(i), merge.Group{Rank: rank, Size: 2 + i})
			}
		}
	}
	call(numbers, cst.Int(0))
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return r.Finish(rank)
}

// drawRun draws what a trace says besides calls: many ranks without any, names, texts about who made it.
func drawRun(t *rapid.T) merge.Run {
	run := merge.Run{Ranks: rapid.SampledFrom([]int{2, 1 << 10, 1 << 20, 1<<31 - 1}).Draw(t, "ranks"), Source: "test"}
	switch rapid.IntRange(0, 4).Draw(t, "run") {
	case 1:
		for i := range largeGen(512).Draw(t, "names") {
			run.Names = append(run.Names, format.Name{Kind: cst.KindHandle, Class: "comm", Value: int64(i),
				Name: fmt.Sprint("communicator ", i)})
		}
	case 2: // as stacks of calls are
		for i := range largeGen(cst.MaxName).Draw(t, "sites") {
			run.Names = append(run.Names, format.Name{Kind: cst.KindPointer, Value: int64(i),
				Name: fmt.Sprint(i, strings.Repeat("s", cst.MaxName-9))})
		}
	case 3:
		run.Origin.Commands = []string{strings.Repeat("x", largeGen(32).Draw(t, "command"))}
	case 4:
		for i := range largeGen(256).Draw(t, "hosts") {
			run.Origin.Hosts = append(run.Origin.Hosts, fmt.Sprint("host", i))
		}
	}
	return run
}

func repeated(v cst.Value, n int) []cst.Value {
	list := make([]cst.Value, n)
	for i := range list {
		list[i] = v
	}
	return list
}

// checkWritten checks that what was written without an error can be read, and that what was written with one
// can be if readers are given as much memory as it says, and not with less.
func checkWritten(t rapid.TB, write func(io.Writer) error, read func(r io.ReaderAt, size, memory int64) error) {
	t.Helper()
	var b bytes.Buffer
	err := write(&b)
	file := bytes.NewReader(b.Bytes())
	var large, refused *format.MemoryError
	if !errors.As(err, &large) {
		if err == nil {
			err = read(file, file.Size(), 0)
		}
		if err != nil {
			t.Fatalf("%d bytes: %v", file.Size(), err)
		}
		return
	}
	if err := read(file, file.Size(), 0); !errors.As(err, &refused) {
		t.Fatalf("%d bytes are read: %v; the writer says: %v", file.Size(), err, large)
	}
	if err := read(file, file.Size(), int64(large.Need)-1); !errors.As(err, &refused) {
		t.Fatalf("%d bytes are read with less than they need: %v; the writer says: %v", file.Size(), err, large)
	}
	if err := read(file, file.Size(), int64(large.Need)); err != nil {
		t.Fatalf("%d bytes are not read with what they need: %v; the writer says: %v", file.Size(), err, large)
	}
}

// lowerMemory makes readers take little memory by default.
func lowerMemory(t *testing.T, bytes uint64) {
	before := wire.LeastMemory
	wire.LeastMemory = bytes
	t.Cleanup(func() { wire.LeastMemory = before })
}

// TestWrittenIsReadable records calls of sizes around the limits of readers, and reads what was written of
// them.
func TestWrittenIsReadable(t *testing.T) {
	lowerMemory(t, 1<<18)
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		_ = checks.Value.Set("8") // each takes a tenth of a second
		t.Cleanup(func() { _ = checks.Value.Set(checks.DefValue) })
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := []merge.Part{drawLarge(t, 0)}
		if rapid.Bool().Draw(t, "another rank") {
			parts = append(parts, drawLarge(t, 1))
		}
		openAll := func(r io.ReaderAt, size, memory int64) error {
			trace, err := OpenReader(r, size, Options{Memory: memory})
			if err != nil {
				return err
			}
			for _, rank := range trace.RankSet().All() {
				read, err := trace.Rank(rank)
				if err != nil {
					return err
				}
				if read.Series() != nil {
					for _, err := range read.Times(0) {
						if err != nil {
							return err
						}
					}
				}
				checkCallsOf(t, trace, parts[rank])
			}
			return nil
		}
		var a merge.Accumulator
		for _, p := range parts {
			if err := a.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Describe(drawRun(t)); err != nil {
			t.Fatal(err)
		}
		checkWritten(t, a.Write, openAll)
		if len(parts) == 1 {
			checkWritten(t, a.WritePart, openAll)
			return
		}
		checkWritten(t, a.WritePart, func(r io.ReaderAt, size, memory int64) error {
			file, err := format.NewReader(r, size, layout.FileOptions(size, memory))
			if err == nil {
				_, err = merge.ReadPart(file)
			}
			return err
		})
	})
}
