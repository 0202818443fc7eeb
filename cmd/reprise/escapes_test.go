package main

import (
	"strings"
	"testing"
	"unicode"

	"github.com/reprise-trace/reprise/cst"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/rankenc"
	"github.com/reprise-trace/reprise/trace"
)

// evil is what a terminal obeys, what turns the direction of text, and what begins a line.
const (
	evil       = "\x1b[2J\x07\u202eevil\u2067\u009b31m\r\x7f\n" + forgedLine + "\n"
	forgedLine = "reprise: a forged line"
)

// writeEvil writes a trace again that says evil things of its run.
func writeEvil(t *testing.T, to string, tr *trace.Trace) {
	t.Helper()
	run := tr.Run()
	run.Source += evil
	run.Origin = format.Origin{
		Runs: []string{evil}, Jobs: []string{evil}, Commands: []string{evil}, Hosts: []string{evil},
		Versions: []string{evil}, Assumptions: []string{evil},
	}
	if tr.Ranks() > 1 {
		half := []rankenc.Set{rankenc.SetOf(0), rankenc.World(tr.Ranks()).Difference(rankenc.SetOf(0))}
		if timed, _, err := tr.SeriesRanks(); err == nil && timed.Len() > 0 {
			run.Clocks = []format.Clock{{Machine: "a" + evil, Ranks: half[0]},
				{Machine: evil, Ranks: half[1], Alignment: format.Alignment{Offset: 3e9}, Error: 1000}}
		}
	}
	for class, value := range map[string]int64{"comm": 0, "comm" + evil: 1, "datatype": 3, evil: 7} {
		run.Names = append(run.Names, format.Name{Kind: cst.KindHandle, Class: class, Value: value, Name: evil})
	}
	writeFile(t, to, describedAs(t, tr, run))
}

// evilCalls returns a trace of an MPI program with evil strings, names and classes.
func evilCalls(t *testing.T) *trace.Trace {
	var ranks [][]testtrace.Call
	for rank := range int64(4) {
		at := int64(0)
		call := func(f cst.Function, args ...cst.Value) testtrace.Call {
			at += 1000 + rank
			return testtrace.Call{Function: f, Args: args, Start: at, Duration: 500}
		}
		ranks = append(ranks, []testtrace.Call{
			call(testtrace.Function("MPI_Init")),
			call(testtrace.Function("MPI_File_open", testtrace.Param("filename", cst.KindString),
				testtrace.Param(evil, cst.KindInt)), cst.String(evil), cst.Int(rank)),
			call(testtrace.Function(evil, testtrace.Param(evil, cst.KindString)), cst.String(evil)),
			call(testtrace.Function("MPI_"+evil, testtrace.Param("tag"+evil, cst.KindTag),
				cst.Param{Name: "comm", Type: cst.HandleOf("comm" + evil)}), cst.Tag(rank*rank), cst.Handle(1)),
			call(testtrace.Function("MPI_Barrier", cst.Param{Name: "comm", Type: cst.HandleOf("comm")}), cst.Handle(0)),
			call(testtrace.Function("MPI_Finalize")),
		})
	}
	return testtrace.Record(t, merge.Run{Ranks: 4, Source: "MPI"}, true, ranks)
}

// TestEscapes checks that no command writes to a terminal what a trace says to it, or what the name of its
// file says.
func TestEscapes(t *testing.T) {
	stencil := programs.Stencil2D(2, 2, 4).Timed()
	for name, tr := range map[string]*trace.Trace{
		"stencil": testtrace.Write(t, stencil.Run(), stencil.Parts()),
		"calls":   evilCalls(t),
		"hostile": testtrace.Hostile(t, true),
		"table":   testtrace.HostileTable(t),
		"lines":   testtrace.TI(t, "0 init\n0 send 1 0 8\n0 finalize\n1 init\n1 recv 0 0 8\n1 finalize\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir()) // so that all begin without outputs
			testEscapes(t, name+evil+".rpz", tr)
		})
	}
}

func testEscapes(t *testing.T, path string, tr *trace.Trace) {
	writeEvil(t, path, tr)
	for _, command := range tier.Some(escapeCommands, 9) {
		var args []string
		for _, arg := range strings.Fields(command) {
			args = append(args, strings.NewReplacer("OUT", "out"+evil, "F", path, "EVIL", evil).Replace(arg))
		}
		r := ask(t, args...)
		for _, c := range r.stdout + r.stderr {
			if c != '\n' && c != '\t' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c)) {
				t.Errorf("reprise %s: %q", command, r.stdout+r.stderr)
				break
			}
		}
		if strings.Contains("\n"+r.stdout+"\n"+r.stderr, "\n"+forgedLine) {
			t.Errorf("reprise %s: a line that is not of it:\n%s%s", command, r.stdout, r.stderr)
		}
	}
}

// escapeCommands are all that says something of a trace, and mistakes.
var escapeCommands = append(forgedCommands, strings.Split(strings.TrimSpace(`
info F --shapes
info F --times
cat F --absolute
cat F --clock
cat F --function EVIL
cat F --split OUT
cat EVIL
cat F --from EVIL
cat F --format EVIL
profile F --function EVIL
profile F --by EVIL
profile F --by function
messages F --json
match F --json
match F --all
efficiency F --json
efficiency F F
efficiency F --by EVIL
waits F --series
waits F --json
why F
why F --json
predict F --machine EVIL
predict F --json
predict F -o OUT
replay F -- EVIL
extrapolate F --ranks EVIL
extrapolate F F --ranks 8
extrapolate F F F --ranks 64 --json
slice F -o OUT
slice EVIL.c -o OUT
slice OUT/EVIL.c -o OUT
hang F --json
diff F lines.rpz
export F -o OUT
export F -o OUT.csv --columns EVIL
export F -o OUT.pb.gz
export F -o OUT.prv
export F -o OUT/sub/a.csv
matrix F -o OUT.svg
matrix F -o EVIL/sub/a.csv
merge F F -o OUT
merge EVIL -o OUT
report F -o OUT.html
report F -o EVIL/sub/a.html
report F F -o OUT.html
proxy F -o OUT.d --compute spin
proxy F -o F
proxy F F --ranks 8 -o OUT.e
verify F F
verify F EVIL
compress F -o OUT
compress EVIL -o OUT
collect EVIL -o OUT
collect F -o OUT
calibrate -o OUT -- EVIL
record -o OUT -- EVIL
record -o EVIL/sub/a.rpz -- true
repair F -o F
view EVIL
codecs F
EVIL F
info F --EVIL`), "\n")...)
