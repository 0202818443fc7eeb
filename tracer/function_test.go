package tracer

import (
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cst"
)

type file struct{}

type (
	celsius float32
	name    string
	small   int8
	list    []int
)

// TestEncoder checks the type and the value of arguments of every type.
func TestEncoder(t *testing.T) {
	integer := cst.Type{Kind: cst.KindInt}
	encodes(t, true, integer, cst.Int(1))
	encodes(t, -1, integer, cst.Int(-1))
	encodes(t, small(-8), integer, cst.Int(-8))
	encodes(t, int16(-16), integer, cst.Int(-16))
	encodes(t, int32(-32), integer, cst.Int(-32))
	encodes(t, int64(-64), integer, cst.Int(-64))
	encodes(t, uint(1<<31), integer, cst.Int(1<<31))
	encodes(t, uint8(200), integer, cst.Int(200))
	encodes(t, uint16(60_000), integer, cst.Int(60_000))
	encodes(t, uint32(1<<31), integer, cst.Int(1<<31))
	encodes(t, uint64(1<<62), integer, cst.Int(1<<62))
	encodes(t, time.Second, integer, cst.Int(1e9))
	encodes(t, celsius(0.5), cst.Type{Kind: cst.KindFloat}, cst.Float(0.5))
	encodes(t, 0.1, cst.Type{Kind: cst.KindFloat}, cst.Float(0.1))
	encodes(t, name("x"), cst.Type{Kind: cst.KindString}, cst.String("x"))
	encodes(t, []byte("y"), cst.Type{Kind: cst.KindBytes}, cst.Bytes([]byte("y")))
	encodes(t, Rank(3), cst.Type{Kind: cst.KindRank}, cst.Rank(3))
	encodes(t, Tag(-4), cst.Type{Kind: cst.KindTag}, cst.Tag(-4))
	encodes(t, Handle[file](5), cst.HandleOf("file"), cst.Handle(5))
	encodes(t, cst.Pointer{Segment: 1, Device: 2}, cst.Type{Kind: cst.KindPointer},
		cst.PointerTo(cst.Pointer{Segment: 1, Device: 2}))
	encodes(t, cst.Status{Source: 1}, cst.Type{Kind: cst.KindStatus}, cst.StatusOf(cst.Status{Source: 1}))
	encodes(t, list{1, 2}, cst.ArrayOf(integer), cst.Array(cst.Int(1), cst.Int(2)))
	encodes(t, []int64{-1}, cst.ArrayOf(integer), cst.Array(cst.Int(-1)))
	encodes(t, []float64{1}, cst.ArrayOf(cst.Type{Kind: cst.KindFloat}), cst.Array(cst.Float(1)))
	encodes(t, []string{"a"}, cst.ArrayOf(cst.Type{Kind: cst.KindString}), cst.Array(cst.String("a")))
	encodes(t, []Rank{7}, cst.ArrayOf(cst.Type{Kind: cst.KindRank}), cst.Array(cst.Rank(7)))
	if _, value := encoder[uint64](); value(1<<63).Kind() != 0 {
		t.Error("a number that does not fit")
	}
}

func encodes[A Argument](t *testing.T, v A, typ cst.Type, want cst.Value) {
	t.Helper()
	f := Func2[A, string]("f", "out x", "inout y").f.function
	if p := f.Params[0]; !p.Type.Equal(typ) || p.Name != "x" || p.Direction != cst.Out ||
		f.Params[1].Direction != cst.InOut || f.Params[1].Name != "y" {
		t.Errorf("%T is declared as %+v", v, f)
	}
	if _, value := encoder[A](); !value(v).Equal(want) {
		t.Errorf("%T %v is %v, want %v", v, v, value(v), want)
	}
}

// TestTypedAllocs checks that a call with arguments that the compiler checks allocates
// nothing.
func TestTypedAllocs(t *testing.T) {
	p := openProcess(t, Config{})
	f := Func5[name, time.Duration, Rank, Handle[file], float64]("f", "a", "b", "c", "d", "e")
	thread := p.Thread()
	call := func() { f.End(thread, thread.Begin(), "text", time.Hour, 1000, 1000, 0.1) }
	for range 100 {
		call()
	}
	if n := testing.AllocsPerRun(1000, call); n != 0 {
		t.Errorf("%v allocations in a call", n)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}
