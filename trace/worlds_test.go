package trace_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

const worldRanks = 9

// worlds draws those of a run.
func worlds(t *rapid.T) (list []format.World) {
	for first := range worldRanks {
		if rapid.IntRange(0, 2).Draw(t, "world") != 0 {
			continue
		}
		w := format.World{First: first, Parent: rapid.IntRange(-1, worldRanks-1).Draw(t, "parent")}
		if w.Parent >= 0 {
			w.Spawn = rapid.IntRange(0, 300).Draw(t, "spawn")
		}
		list = append(list, w)
	}
	return list
}

// TestWorlds checks that a trace has the worlds of its parts, in whatever order these come,
// those that are known best.
func TestWorlds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := [][]format.World{worlds(t), worlds(t), worlds(t)}
		known := make(map[int]format.World)
		for _, list := range all {
			for _, w := range list {
				was, ok := known[w.First]
				if !ok || was.Parent < 0 && w.Parent >= 0 ||
					w.Parent >= 0 && (w.Parent < was.Parent || w.Parent == was.Parent && w.Spawn < was.Spawn) {
					known[w.First] = w
				}
			}
		}
		var want []format.World
		for first := range worldRanks {
			if w, ok := known[first]; ok {
				want = append(want, w)
			}
		}
		files := [2][]byte{}
		for i, order := range [][]int{{0, 1, 2}, {2, 0, 1}} {
			var a merge.Accumulator
			for _, k := range order {
				var part bytes.Buffer
				var b merge.Accumulator
				if err := errors.Join(b.Describe(merge.Run{Ranks: worldRanks, Worlds: all[k]}),
					b.WritePart(&part)); err != nil {
					t.Fatal(err)
				}
				read, err := merge.ReadPart(container(t, part.Bytes()))
				if err != nil {
					t.Fatal(err)
				}
				if err := a.Merge(read); err != nil {
					t.Fatal(err)
				}
			}
			var file bytes.Buffer
			if err := a.Write(&file); err != nil {
				t.Fatal(err)
			}
			files[i] = file.Bytes()
		}
		if !bytes.Equal(files[0], files[1]) {
			t.Fatal("the order of parts makes a difference")
		}
		tr, err := trace.OpenReader(bytes.NewReader(files[0]), int64(len(files[0])), trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		run := tr.Run()
		if !reflect.DeepEqual(run.Worlds, want) {
			t.Fatalf("%+v, want %+v", run.Worlds, want)
		}
		for rank := range worldRanks {
			world, first, size := run.WorldOf(rank)
			if rank < first || rank >= first+size {
				t.Fatalf("rank %d is in world %d, of %d ranks from %d on: %+v", rank, world, size, first, want)
			}
			if len(want) > 0 && first != 0 && first != want[world].First {
				t.Fatalf("world %d begins at rank %d: %+v", world, first, want)
			}
		}
	})
}

// TestDescribeWorlds checks which worlds are refused.
func TestDescribeWorlds(t *testing.T) {
	for _, list := range [][]format.World{
		{{First: -1, Parent: -1}}, {{First: 1<<31 - 1, Parent: -1}}, {{Parent: -2}}, {{Parent: -1, Spawn: 1}},
		{{Spawn: -1}},
		{{First: 1, Parent: -1}, {First: 1, Parent: -1}}, {{First: 1, Parent: -1}, {First: 0, Parent: -1}},
	} {
		var a merge.Accumulator
		if a.Describe(merge.Run{Worlds: list}) == nil {
			t.Errorf("accepted %+v", list)
		}
	}
}

// TestWorldErrors checks that worlds that cannot be are refused.
func TestWorldErrors(t *testing.T) {
	var r tracer.Recorder
	r.Call(r.Declare(cst.Function{Name: "f"}))
	file := container(t, testtrace.File(t, merge.Run{Ranks: 3}, []merge.Part{r.Finish(0)}))
	for _, tt := range []struct{ name, content string }{
		{"None", "\x00"},
		{"Cut", "\x02\x00\x00"},
		{"Trailing", "\x01\x00\x00\x00"},
		{"Many", "\xff\xff\xff\x7f\x00\x00"},
		{"First", "\x01\x03\x00"},
		{"Parent", "\x01\x00\x04\x00"},
		{"Far", "\x02\xff\xff\xff\xff\x07\x00\xff\xff\xff\xff\x07\x00"},
	} {
		checkRefused(t, tt.name, file, layout.KindWorlds, tt.content)
	}
}
