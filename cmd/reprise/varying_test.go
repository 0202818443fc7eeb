package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/wire"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/sequitur"
)

// A way is one of the ways in which a trace of the same calls is written.
type way struct {
	name   string
	blocks bool // of grammars
	of     func(parts []merge.Part) []merge.Part
}

// ways are the ways that are compared: grammars in blocks, as a forest, which they are if one of
// them is not what a Builder makes, and calls without loops.
var ways = []way{
	{"blocks", true, func(parts []merge.Part) []merge.Part { return parts }},
	{"forest", false, func(parts []merge.Part) []merge.Part {
		last := len(parts) - 1
		return append(parts[:last:last], withoutLoops(parts[last]))
	}},
	{"calls", false, func(parts []merge.Part) []merge.Part {
		var list []merge.Part
		for _, p := range parts {
			list = append(list, withoutLoops(p))
		}
		return list
	}},
}

// withoutLoops returns a part with the same calls, one after the other.
func withoutLoops(p merge.Part) merge.Part {
	var runs []*sequitur.Grammar
	for _, r := range p.Grammar.Runs() {
		var b sequitur.Builder
		b.AppendRun(r.Symbol, r.Count)
		runs = append(runs, b.Finish())
	}
	p.Grammar = sequitur.Concat(runs...)
	return p
}

// flagsOf returns the flags of the run of a trace.
func flagsOf(t *testing.T, path string) (flags byte) {
	t.Helper()
	data := readFile(t, path)
	file, err := format.NewReader(strings.NewReader(data), int64(len(data)), layout.FileOptions(int64(len(data)), 0))
	if err != nil {
		t.Fatal(err)
	}
	err = layout.NewSections(file).Read(layout.KindRun, 0, func(data []byte) error {
		d := wire.NewDecoder("merge", data)
		d.Uvarint("ranks")
		d.String("source")
		flags = d.Byte("flags")
		return d.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return flags
}

// varyingCommands are what is asked of traces in all ways, OUT being a file. The numbers of
// signatures are left out, and the export to pprof, which has the loops of grammars.
var varyingCommands = strings.Split(strings.TrimSpace(`
cat run.rpz
cat run.rpz --json
cat run.rpz --ranks 3-9:2 --format csv
cat run.rpz --absolute --clock
cat run.rpz --function MPI_Test,MPI_Iprobe
cat run.rpz --ranks 5 --first 7 --count 20 --format text
cat run.rpz --from 2us --to 5us
profile run.rpz
profile run.rpz --json
profile run.rpz --by rank
profile run.rpz --by rank --json
profile run.rpz --by signature --json
profile run.rpz --by line
profile run.rpz --ranks 2-7 --json
profile run.rpz --from 1us --to 4us
profile run.rpz --series --json
messages run.rpz
messages run.rpz --json
messages run.rpz --by size --json
messages run.rpz --by communicator --json
messages run.rpz --ranks 0-4
matrix run.rpz -o OUT --format csv
matrix run.rpz -o OUT --format svg
matrix run.rpz -o OUT --format png --bins 5
match run.rpz
match run.rpz --json
match run.rpz --late
hang run.rpz
hang run.rpz --json
waits run.rpz
waits run.rpz --json
waits run.rpz --series --json
efficiency run.rpz
efficiency run.rpz --json
at run.rpz 2us
at run.rpz 3us --json
at run.rpz 1ns --ranks 1-3
diff run.rpz ../blocks/run.rpz --json
diff ../forest/run.rpz run.rpz
export run.rpz -o OUT --format csv --columns rank,position,function,call,thread,class,send_to,recv_from,send_messages,recv_messages,requests,collective,arg_tag,arg_flag
export run.rpz -o OUT --format csv --by message --columns message,send_rank,recv_rank,tag,communicator,bytes,send_function,recv_function,complete_function,send_position,recv_position,complete_position
export run.rpz -o OUT --format parquet --by message --columns message,send_rank,recv_rank,tag,communicator,bytes,send_function,recv_function,complete_function,send_position,recv_position,complete_position
export run.rpz -o OUT --format parquet --columns rank,position,function,class,send_to,recv_from,send_messages
export run.rpz -o OUT --format perfetto
export run.rpz -o OUT --format chrome
export run.rpz -o OUT --format paraver
export run.rpz -o OUT --format simgrid
info run.rpz --json`), "\n")

// TestVaryingAnswers compares all answers, searches and exports of traces whose shapes are written
// in blocks with those of the same calls as a forest, and of calls without loops.
func TestVaryingAnswers(t *testing.T) {
	const ranks = 20
	programs := []struct {
		times testtrace.Times
		seeds []uint64
	}{{testtrace.Series, []uint64{1, 2}}, {"", []uint64{0, 10}}, {testtrace.Statistics, []uint64{0}}}
	if !tier.Nightly {
		programs = programs[:1]
		programs[0].seeds = programs[0].seeds[:1]
	}
	for _, of := range programs {
		times := of.times
		for _, seed := range of.seeds {
			root := t.TempDir()
			run, parts := testtrace.Nearly(t, seed, ranks, times)
			for _, w := range ways {
				if err := os.Mkdir(filepath.Join(root, w.name), 0o777); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(root, w.name, "run.rpz")
				writeTrace(t, path, run, w.of(parts)...)
				if got := flagsOf(t, path)&layout.FlagBlocks != 0; got != w.blocks {
					t.Fatalf("%q, program %d: %s have blocks: %v", times, seed, w.name, got)
				}
			}
			for _, command := range tier.Some(varyingCommands, 6) {
				var want string
				for i, w := range ways {
					t.Chdir(filepath.Join(root, w.name))
					got := varyingAnswer(t, command)
					if i == 0 {
						want = got
					} else if got != want {
						t.Errorf("%q, program %d, %s: reprise %s: %s", times, seed, w.name, command,
							differenceOf(want, got))
					}
				}
			}
		}
	}
}

// varyingAnswer returns all that a command writes that does not say how the trace is written.
func varyingAnswer(t *testing.T, command string) string {
	t.Helper()
	args := strings.Fields(command)
	for i, arg := range args {
		if arg == "OUT" {
			args[i] = "out"
		}
	}
	r := invoke(t, "", args...)
	out := r.stdout + r.stderr
	switch {
	case args[0] == "info":
		out = infoOfCalls(t, r.stdout)
	case strings.Contains(out, `"signatures": [`):
		out = withoutNumbers(t, r.stdout)
	}
	files, err := filepath.Glob("out*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		out += "\n" + f + "\n" + readFile(t, f)
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// infoOfCalls returns what info says of the calls.
func infoOfCalls(t *testing.T, out string) string {
	t.Helper()
	var all map[string]json.RawMessage
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatal(err)
	}
	maps.DeleteFunc(all, func(key string, _ json.RawMessage) bool {
		return !slices.Contains([]string{"ranks", "calls", "number_of_shapes", "shapes", "programs", "functions"}, key)
	})
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// withoutNumbers returns an answer without the numbers of signatures, which are others in blocks,
// and with those that are equal otherwise in one order.
func withoutNumbers(t *testing.T, out string) string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, s := range all["signatures"].([]any) {
		delete(s.(map[string]any), "signature")
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(b))
	}
	slices.Sort(list)
	all["signatures"] = list
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// differenceOf shows where texts differ.
func differenceOf(want, got string) string {
	i := 0
	for i < min(len(want), len(got)) && want[i] == got[i] {
		i++
	}
	part := func(s string) string { return s[max(0, min(i, len(s))-100):min(len(s), i+100)] }
	return "at " + part(got) + "\n… not\n" + part(want)
}
