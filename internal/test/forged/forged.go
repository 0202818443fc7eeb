// Package forged makes sound traces that claim much: what a stranger might send, for tests and benchmarks of
// what they cost.
package forged

import (
	"bytes"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/columns"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/simgrid"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/sequitur"
)

// Rewritten returns a sound file of what write makes of each section of one.
func Rewritten(file []byte, write func(w *format.Writer, s format.Section, content []byte)) ([]byte, error) {
	f, err := format.NewReader(bytes.NewReader(file), int64(len(file)), layout.FileOptions(int64(len(file)), 0))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := format.NewWriter(&out, format.Options{})
	for _, s := range f.All() {
		content, err := f.Content(s)
		if err != nil {
			return nil, err
		}
		write(w, s, bytes.Clone(content))
	}
	err = w.Close()
	return out.Bytes(), err
}

// ManySignatures returns a trace of some hundred bytes whose one rank makes calls that differ in a number
// that counts them, and claims to have n signatures.
func ManySignatures(n int) ([]byte, error) {
	file, err := Endless(1, 1, 1)
	if err != nil {
		return nil, err
	}
	values := make([]int64, n)
	zeros, err := column(values)
	if err != nil {
		return nil, err
	}
	for i := range values {
		values[i] = int64(i)
	}
	counting, err := column(values)
	if err != nil {
		return nil, err
	}
	return Rewritten(file, func(w *format.Writer, s format.Section, content []byte) {
		if s.Kind == layout.KindSignatures {
			content = wire.AppendUvarint(nil, uint64(n)<<1)
			content = append(content, zeros...) // the functions
			content = append(content, 0, 0)     // no domains, no columns
			content = append(content, zeros...) // all are constants
			content = append(content, counting...)
		}
		w.Add(s.Kind, s.Key, content)
	})
}

func column(values []int64) ([]byte, error) {
	n := len(values)
	return columns.NewColumn(columns.Over(rankenc.World(n), n), values, columns.Options{}).AppendBinary(nil)
}

// Endless returns the trace of some ranks of which some make so many calls.
func Endless(ranks, calling int, n uint64) ([]byte, error) {
	var parts []merge.Part
	for rank := range calling {
		var table cst.Table
		var calls sequitur.Builder
		table.Intern(table.Declare(cst.Function{Name: "compute",
			Params: []cst.Param{{Name: "amount", Type: cst.Type{Kind: cst.KindInt}}}}), cst.Int(0))
		calls.AppendRun(0, n)
		parts = append(parts, merge.Part{Rank: rank, Table: &table, Grammar: calls.Finish()})
	}
	var file bytes.Buffer
	err := merge.Write(&file, merge.Run{Ranks: ranks, Source: simgrid.Source}, parts)
	return file.Bytes(), err
}

// ManyRuns returns the trace of 2²² ranks in two shapes, of which no two follow each other: as many runs of
// ranks as a trace may have.
func ManyRuns() ([]byte, error) {
	const runs = layout.MaxRuns / 2
	var parts []merge.Part
	for rank, names := range [][]string{{"init", "finalize"}, {"init", "barrier", "finalize"}} {
		parts = append(parts, partOf(rank, names...))
	}
	run := merge.Run{Ranks: 6 * runs, Source: simgrid.Source}
	var file bytes.Buffer
	if err := merge.Write(&file, run, parts); err != nil {
		return nil, err
	}
	var every [2]rankenc.SetBuilder
	for i := range runs {
		every[0].Add(4 * i)
		every[1].Add(6*i + 1)
	}
	return withShapes(file.Bytes(), run.Ranks, []rankenc.Set{rankenc.SetOf(0), rankenc.SetOf(1)},
		[]rankenc.Set{every[0].Finish(), every[1].Finish()})
}

// AllCalling returns the trace of some ranks, all of which make the same two calls.
func AllCalling(ranks int) ([]byte, error) {
	var file bytes.Buffer
	err := merge.Write(&file, merge.Run{Ranks: ranks, Source: simgrid.Source},
		[]merge.Part{partOf(0, "init", "finalize")})
	if err != nil {
		return nil, err
	}
	return withShapes(file.Bytes(), ranks, []rankenc.Set{rankenc.SetOf(0)}, []rankenc.Set{rankenc.World(ranks)})
}

// PartOfMany returns a part file of some ranks, all of which make the same two calls.
func PartOfMany(ranks int) ([]byte, error) {
	var all merge.Accumulator
	if err := all.Describe(merge.Run{Ranks: ranks, Source: simgrid.Source}); err != nil {
		return nil, err
	}
	for rank := range ranks {
		if err := all.Add(partOf(rank, "init", "finalize")); err != nil {
			return nil, err
		}
	}
	var file bytes.Buffer
	err := all.WritePart(&file)
	return file.Bytes(), err
}

// partOf returns a rank that calls functions without arguments.
func partOf(rank int, functions ...string) merge.Part {
	var table cst.Table
	var calls sequitur.Builder
	for _, name := range functions {
		calls.Append(table.Intern(table.Declare(cst.Function{Name: name})))
	}
	return merge.Part{Rank: rank, Table: &table, Grammar: calls.Finish()}
}

// withShapes returns a file of so many ranks with other ranks in its shapes.
func withShapes(file []byte, ranks int, shapes, others []rankenc.Set) ([]byte, error) {
	few, _ := layout.AppendShapes(nil, shapes, ranks, 0)
	many, _ := layout.AppendShapes(nil, others, ranks, 0)
	return Rewritten(file, func(w *format.Writer, s format.Section, content []byte) {
		if s.Kind == layout.KindRun {
			content = bytes.Replace(content, few, many, 1)
		}
		w.Add(s.Kind, s.Key, content)
	})
}

// Depth is how many rules the grammar of [DeepRules] has.
const Depth = 60

// DeepRules returns the trace of one rank, each of whose rules is the one before twice, and a call.
func DeepRules() ([]byte, error) {
	data := []byte{Depth, 2, 0 << 2, 1 << 2} // the rules, and the first: 0 1
	for range Depth - 1 {
		data = append(data, 2, 0<<2|3, 0, 0<<2) // twice the rule before, then 0
	}
	g, err := sequitur.Parse(data, sequitur.Options{})
	if err != nil {
		return nil, err
	}
	var table cst.Table
	table.Intern(table.Declare(cst.Function{Name: "init"}))
	table.Intern(table.Declare(cst.Function{Name: "finalize"}))
	var file bytes.Buffer
	err = merge.Write(&file, merge.Run{Ranks: 1, Source: simgrid.Source}, []merge.Part{{Table: &table, Grammar: g}})
	return file.Bytes(), err
}
