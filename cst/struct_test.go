package cst_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
)

type pair struct{ A, B int }

type nested []nested

// TestStructErrors lists structs that are no function: the error names the field.
func TestStructErrors(t *testing.T) {
	for want, of := range map[string]func() (cst.Function, error){
		"cst: int is not a struct": func() (cst.Function, error) {
			return cst.FunctionOf[int]("f")
		},
		"cst: *cst_test.pair is not a struct": func() (cst.Function, error) {
			return cst.FunctionOf[*pair]("f")
		},
		"field P of struct { P *int }: *int is no argument": func() (cst.Function, error) {
			return cst.FunctionOf[struct{ P *int }]("f")
		},
		"field M of struct { M map[int]int }: map[int]int is no argument": func() (cst.Function, error) {
			return cst.FunctionOf[struct{ M map[int]int }]("f")
		},
		"its kind is interface": func() (cst.Function, error) {
			return cst.FunctionOf[struct{ E any }]("f")
		},
		"field C of": func() (cst.Function, error) {
			return cst.FunctionOf[struct{ C complex128 }]("f")
		},
		"field U of": func() (cst.Function, error) {
			return cst.FunctionOf[struct{ U uintptr }]("f")
		},
		"field L of": func() (cst.Function, error) {
			return cst.FunctionOf[struct{ L []pair }]("f")
		},
		"field T of": func() (cst.Function, error) {
			return cst.FunctionOf[struct{ T time.Time }]("f")
		},
		"field pair of": func() (cst.Function, error) {
			return cst.FunctionOf[struct{ Pair pair }]("f")
		},
		"nest deeper than 32": func() (cst.Function, error) {
			return cst.FunctionOf[struct{ N nested }]("f")
		},
		`"other" in its tag is not`: func() (cst.Function, error) {
			return cst.FunctionOf[struct {
				X int `cst:"x,other"`
			}]("f")
		},
		"float values are no rank": func() (cst.Function, error) {
			return cst.FunctionOf[struct {
				X float64 `cst:"x,rank"`
			}]("f")
		},
		"bytes values are no handle": func() (cst.Function, error) {
			return cst.FunctionOf[struct {
				X []byte `cst:"x,handle=comm"`
			}]("f")
		},
		`"handle=" in its tag is not`: func() (cst.Function, error) {
			return cst.FunctionOf[struct {
				X int `cst:"x,handle="`
			}]("f")
		},
		"more than one of rank, tag and handle": func() (cst.Function, error) {
			return cst.FunctionOf[struct {
				X int `cst:"x,rank,tag"`
			}]("f")
		},
		"or of out and inout": func() (cst.Function, error) {
			return cst.FunctionOf[struct {
				X int `cst:"x,inout,out"`
			}]("f")
		},
		`another field is the parameter "x"`: func() (cst.Function, error) {
			return cst.FunctionOf[struct {
				A int `cst:"x"`
				B int `cst:"x"`
			}]("f")
		},
		"name has 5000 bytes": func() (cst.Function, error) {
			return cst.FunctionOf[pair](strings.Repeat("x", 5000))
		},
	} {
		if f, err := of(); err == nil ||
			!strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) &&
				!strings.Contains(err.Error(), "5000") {
			t.Errorf("%v, %v; want an error of %s", f, err, want)
		}
	}
	for _, v := range []any{nil, 1, (*pair)(nil), struct{ U uint64 }{math.MaxInt64 + 1},
		struct{ L []uint64 }{[]uint64{1, math.MaxUint64}}, struct{ F func() }{}} {
		if values, err := cst.ValuesOf(v); err == nil || !strings.HasPrefix(err.Error(), "cst: ") {
			t.Errorf("%T is %v, %v", v, values, err)
		}
	}
}

// everything has a field of each kind.
type everything struct {
	Flag    bool
	Small   int8          `cst:"small,inout"`
	Wait    time.Duration `cst:"wait"`
	Rank    uint16        `cst:"rank,rank"`
	Tag     int32         `cst:",tag,out"`
	Comm    uint64        `cst:"comm,handle=comm"`
	Half    float32
	Whole   float64
	Text    string
	Data    []byte
	Hash    [4]byte
	At      cst.Pointer
	Status  cst.Status
	Peers   []int32   `cst:"peers,rank"`
	Grid    [2][]uint // of arrays
	Words   []string
	left    int
	LeftOut chan int `cst:"-"`
}

// TestStruct makes calls of structs of all kinds, and compares them with those that are made by hand.
func TestStruct(t *testing.T) {
	f, err := cst.FunctionOf[everything]("f")
	if err != nil {
		t.Fatal(err)
	}
	kind := func(k cst.Kind) cst.Type { return cst.Type{Kind: k} }
	want := cst.Function{Name: "f", Params: []cst.Param{
		{Name: "Flag", Type: kind(cst.KindInt)},
		{Name: "small", Type: kind(cst.KindInt), Direction: cst.InOut},
		{Name: "wait", Type: kind(cst.KindInt)},
		{Name: "rank", Type: kind(cst.KindRank)},
		{Name: "Tag", Type: kind(cst.KindTag), Direction: cst.Out},
		{Name: "comm", Type: cst.HandleOf("comm")},
		{Name: "Half", Type: kind(cst.KindFloat)},
		{Name: "Whole", Type: kind(cst.KindFloat)},
		{Name: "Text", Type: kind(cst.KindString)},
		{Name: "Data", Type: kind(cst.KindBytes)},
		{Name: "Hash", Type: kind(cst.KindBytes)},
		{Name: "At", Type: kind(cst.KindPointer)},
		{Name: "Status", Type: kind(cst.KindStatus)},
		{Name: "peers", Type: cst.ArrayOf(kind(cst.KindRank))},
		{Name: "Grid", Type: cst.ArrayOf(cst.ArrayOf(kind(cst.KindInt)))},
		{Name: "Words", Type: cst.ArrayOf(kind(cst.KindString))},
	}}
	if !f.Equal(want) {
		t.Fatalf("got %+v, want %+v", f, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Int64()
		e := everything{
			Flag: rapid.Bool().Draw(t, "flag"), Small: rapid.Int8().Draw(t, "small"),
			Rank: rapid.Uint16().Draw(t, "rank"),
			Wait: time.Duration(number.Draw(t, "wait")), Tag: rapid.Int32().Draw(t, "tag"),
			Comm: rapid.Uint64Max(math.MaxInt64).Draw(t, "comm"),
			Half: rapid.Float32().Draw(t, "half"), Whole: rapid.Float64().Draw(t, "whole"),
			Text: rapid.String().Draw(t, "text"),
			Data: rapid.SliceOf(rapid.Byte()).Draw(t, "data"), Hash: [4]byte{1, 2, rapid.Byte().Draw(t, "hash"), 4},
			At:     cst.Pointer{Segment: number.Draw(t, "segment"), Displacement: 3, Device: number.Draw(t, "device")},
			Status: cst.Status{Source: number.Draw(t, "source"), Tag: 1, Error: number.Draw(t, "error")},
			Peers:  rapid.SliceOf(rapid.Int32()).Draw(t, "peers"), Grid: [2][]uint{{1, 2}, nil},
			Words: rapid.SliceOf(rapid.String()).Draw(t, "words"), left: 7,
		}
		var flag int64
		if e.Flag {
			flag = 1
		}
		var peers, words []cst.Value
		for _, p := range e.Peers {
			peers = append(peers, cst.Rank(int64(p)))
		}
		for _, w := range e.Words {
			words = append(words, cst.String(w))
		}
		want := []cst.Value{
			cst.Int(flag), cst.Int(int64(e.Small)), cst.Int(int64(e.Wait)), cst.Rank(int64(e.Rank)),
			cst.Tag(int64(e.Tag)),
			cst.Handle(int64(e.Comm)), cst.Float(float64(e.Half)), cst.Float(e.Whole), cst.String(e.Text),
			cst.Bytes(e.Data),
			cst.Bytes(e.Hash[:]), cst.PointerTo(e.At), cst.StatusOf(e.Status), cst.Array(peers...),
			cst.Array(cst.Array(cst.Int(1), cst.Int(2)), cst.Array()), cst.Array(words...),
		}
		var table cst.Table
		fn := table.Declare(f)
		for _, v := range []any{e, &e} {
			got, err := cst.ValuesOf(v)
			if err != nil || len(got) != len(want) {
				t.Fatalf("%v, %v", got, err)
			}
			for i := range want {
				if !got[i].Equal(want[i]) {
					t.Fatalf("field %d is %v, want %v", i, got[i], want[i])
				}
			}
			clear(e.Peers) // the values are copies
			clear(e.Data)
			if table.Intern(fn, got...) != table.Intern(fn, want...) {
				t.Fatal("two signatures")
			}
			want[9], want[13] = cst.Bytes(e.Data), cst.Numbers(cst.KindRank, make([]int64, len(e.Peers)))
		}
	})
}

// BenchmarkValuesOf builds the arguments of a call of a struct, and by the functions of values.
func BenchmarkValuesOf(b *testing.B) {
	type send struct {
		Dest  int32 `cst:"dest,rank"`
		Tag   int32 `cst:"tag,tag"`
		Bytes int64 `cst:"bytes"`
		Comm  int64 `cst:"comm,handle=comm"`
	}
	s := send{1, 2, 3, 4}
	b.Run("struct", func(b *testing.B) {
		for b.Loop() {
			if _, err := cst.ValuesOf(&s); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("functions", func(b *testing.B) {
		for b.Loop() {
			built = []cst.Value{cst.Rank(int64(s.Dest)), cst.Tag(int64(s.Tag)), cst.Int(s.Bytes), cst.Handle(s.Comm)}
		}
	})
}

var built []cst.Value // so that it is not optimized away

// TestNamedBytes checks that bytes whose type has a name of its own are bytes, also in arrays and lists, and
// that a field that is embedded is an error.
func TestNamedBytes(t *testing.T) {
	type octet uint8
	type message struct {
		A []octet
		B [3]octet
		C [][]octet
	}
	if _, err := cst.FunctionOf[message]("f"); err != nil {
		t.Fatal(err)
	}
	got, err := cst.ValuesOf(message{[]octet{1, 2}, [3]octet{3, 4, 5}, [][]octet{{6}, nil}})
	want := []cst.Value{cst.Bytes([]byte{1, 2}), cst.Bytes([]byte{3, 4, 5}),
		cst.Array(cst.Bytes([]byte{6}), cst.Bytes(nil))}
	if err != nil || !slices.EqualFunc(got, want, cst.Value.Equal) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	type inner struct{ X int }
	type outer struct {
		inner
		Y int
	}
	if f, err := cst.FunctionOf[outer]("f"); err == nil || !strings.Contains(err.Error(), "embedded") {
		t.Errorf("%v, %v; want an error", f, err)
	}
}
