package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/predict"
	"github.com/reprise-trace/reprise/internal/test/testtrace"
	"github.com/reprise-trace/reprise/merge"
	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/replay/loggps"
	"github.com/reprise-trace/reprise/timing"
	"github.com/reprise-trace/reprise/trace"
	"github.com/reprise-trace/reprise/tracer"
)

// commandBlock is a block of a document that shows commands.
var commandBlock = regexp.MustCompile("(?s)```\n(\\$ reprise .*?)```\n")

// TestPredictDocument runs the commands of docs/predict.md, and reads the machine that it shows.
func TestPredictDocument(t *testing.T) {
	document, err := filepath.Abs(filepath.Join("..", "..", "docs", "predict.md"))
	if err != nil {
		t.Fatal(err)
	}
	heat := readFile(t, heatTrace)
	t.Chdir(t.TempDir())
	writeInputs(t)
	if err := os.Mkdir("notebook", 0o777); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join("notebook", "heat.rpz"), heat)
	want := readFile(t, document)
	blocks := 0
	got := commandBlock.ReplaceAllStringFunc(want, func(block string) string {
		blocks++
		return "```\n" + transcribe(t, commandBlock.FindStringSubmatch(block)[1]) + "```\n"
	})
	if blocks != 3 {
		t.Errorf("%d blocks of commands", blocks)
	}
	if *update {
		writeFile(t, document, got)
	} else if got != want {
		t.Errorf("docs/predict.md differs, from %q on: run go test -update and look at what changed",
			firstDifference(got, want))
	}
	_, after, _ := strings.Cut(want, "<!-- machine -->\n```toml\n")
	machine, _, ok := strings.Cut(after, "```\n<!-- /machine -->")
	if !ok {
		t.Fatal("docs/predict.md shows no machine")
	}
	writeFile(t, "there.toml", machine)
	p, err := readMachine("there.toml")
	if err != nil {
		t.Fatal(err)
	}
	if p.RanksPerNode != 16 || p.Between.Latency != 1200*replay.Nanosecond || p.Between.Bandwidth != 12.5e9 ||
		p.Within.Overhead != 200*replay.Nanosecond ||
		p.Compute.String() != "0.8x" || len(p.OfRanks) != 1 || p.Collectives["bcast"] != "binomial" {
		t.Errorf("parameters %+v", p)
	}
}

var heatTrace = filepath.Join("..", "..", "examples", "notebook", "heat.rpz")

// predicted returns what predict says as JSON.
func predicted(t *testing.T, args ...string) (a predict.Answer) {
	t.Helper()
	if err := json.Unmarshal([]byte(must(t, append([]string{"predict", "--json"}, args...)...)), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestPredictAgain checks that a prediction is a trace: predicted again for the same machine, it
// takes the same time, and with a factor on everything that much more.
func TestPredictAgain(t *testing.T) {
	heat := readFile(t, heatTrace)
	t.Chdir(t.TempDir())
	writeFile(t, "heat.rpz", heat)
	first := predicted(t, "heat.rpz", "--times", "exact", "-o", "exact.rpz")
	if made := must(t, "info", "exact.rpz"); !strings.Contains(made, "reprise predict heat.rpz --times=exact") {
		t.Errorf("info does not say that it is a prediction: %s", made)
	}
	made, err := trace.Open("exact.rpz", trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	for _, r := range first.Ranks {
		rank, err := made.Rank(r.Rank)
		if err != nil {
			t.Fatal(err)
		}
		end := int64(0)
		for c := range rank.Calls(0) {
			end = max(end, c.Start+c.Duration)
		}
		if d := float64(r.End) - float64(end); d < -1 || d > 1 {
			t.Errorf("rank %d ends at %v ns, in the trace at %d ns", r.Rank, r.End, end)
		}
	}
	again := predicted(t, "exact.rpz", "--compute", "1x")
	if d := first.Time - again.Time; d < -5000 || d > 5000 { // starts and ends are rounded to nanoseconds
		t.Errorf("%v ns, again %v ns", first.Time, again.Time)
	}
	free := []string{"--latency", "0x", "--bandwidth", "inf"}
	writeFile(t, "free.toml", "[between]\noverhead = 0\ngap = 0\n")
	once := predicted(t, append(free, "heat.rpz", "-m", "free.toml")...)
	twice := predicted(t, append(free, "heat.rpz", "-m", "free.toml", "--compute", "2x")...)
	if d := twice.Time - 2*once.Time; d < -2 || d > 2 {
		t.Errorf("%v ns, with twice the computing %v ns", once.Time, twice.Time)
	}
	if once.Time >= first.Time {
		t.Errorf("%v ns, without communication %v ns", first.Time, once.Time)
	}
	var path float64
	for _, s := range first.Path.Steps {
		path += float64(s.Computing + s.Within)
	}
	if d := path - float64(first.Time); d < -100 || d > 100 {
		t.Errorf("a critical path of %v ns, of a run of %v ns", path, first.Time)
	}
	for _, name := range []string{"statistics", "exact"} {
		must(t, "predict", "heat.rpz", "-o", "out.rpz", "--times", name)
		var p struct {
			Calls     uint64 `json:"calls"`
			Functions []struct {
				Time struct {
					Nanoseconds float64 `json:"time_ns"`
				} `json:"time"`
			} `json:"functions"`
		}
		decodeJSON(t, &p, "profile", "--json", "out.rpz")
		within, all := 0.0, 0.0 // in calls: all of it, and what is no computing
		for _, r := range first.Ranks {
			within += float64(r.Sending + r.Waiting)
			all += float64(r.End)
		}
		time := 0.0
		for _, f := range p.Functions {
			time += f.Time.Nanoseconds
		}
		if p.Calls != first.Calls || time < within || time > all {
			t.Errorf("%s: profile has %d calls of %v ns, predict %d of %v to %v ns", name, p.Calls, time,
				first.Calls, within, all)
		}
		must(t, "report", "out.rpz", "-o", "out.html")
		must(t, "export", "out.rpz", "-o", "out.parquet")
		must(t, "waits", "out.rpz")
	}
}

// TestPredictPath checks that the critical path of many calls is followed only if that is asked for.
func TestPredictPath(t *testing.T) {
	heat := readFile(t, heatTrace)
	t.Chdir(t.TempDir())
	writeFile(t, "heat.rpz", heat)
	defer func(n uint64) { predict.MaxFollowed = n }(predict.MaxFollowed)
	predict.MaxFollowed = 1000
	if a := predicted(t, "heat.rpz"); a.Path != nil {
		t.Errorf("path %+v", a.Path)
	}
	if text := must(t, "predict", "heat.rpz"); !strings.Contains(text,
		"more than 1,000 calls is followed with --critical-path") {
		t.Errorf("predict says %s", text)
	}
	if a := predicted(t, "heat.rpz", "--critical-path"); a.Path == nil {
		t.Error("no path")
	}
}

// TestMachineErrors checks what is said of files and flags that are wrong.
func TestMachineErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	for _, tt := range []struct{ file, want string }{
		{"ranks_per_node = \n", "m.toml:1: *"},
		{"ranks_per_node = \"x\"\n", "m.toml: line 1 *"},
		{"ranks_per_node = 0\n", "m.toml:1: ranks_per_node: 0 is not from 1 to *"},
		{"mapping = \"random\"\n", `m.toml:1: mapping: it is block or cyclic, not "random"`},
		{"latency = 1\n", "m.toml:1: no parameter is called latency: docs/predict.md has them"},
		{"[between]\nlatency = 5\n", `m.toml:2: between.latency: "5" has no unit: it is one of ps, ns, us, µs, ms, s`},
		{"[within]\ngap = \"-1us\"\n", `m.toml:2: within.gap: "-1us" is below 0`},
		{"[between]\nbandwidth = \"10 GB\"\n",
			`m.toml:2: between.bandwidth: "10 GB": no unit is called GB: it is one of B/s, kB/s, MB/s, GB/s, TB/s, Gbit/s, or inf`},
		{"[between]\nbandwidth = 0\n", "m.toml:2: between.bandwidth: there is none"},
		{"[between]\neager_limit = true\n",
			`m.toml:2: between.eager_limit: "true" is not a number with a unit, such as 1.5MB; units are B, kB, KiB, MB, MiB, GB, GiB, or inf`},
		{"[compute]\nfactor = -1\n",
			`m.toml:2: compute.factor: "-1" is no factor: a number from 0 to 1e9, such as 0.5x`},
		{"[compute]\nranks = { a = 1 }\n", "m.toml:2: compute.ranks.a: *"},
		{"[compute]\nranks = { 1 = \"y\" }\n", `m.toml:2: compute.ranks.1: "y" is no factor: *`},
		{"[compute]\nfunctions = { f = \"y\" }\n", `m.toml:2: compute.functions.f: "y" is no factor: *`},
		{"[collectives]\nallreduce = \"fast\"\n",
			`m.toml:2: collectives.allreduce: the algorithm of allreduce cannot be "fast": it is one of recursive-doubling, rabenseifner, ring`},
		{"[[between.larger]]\nlatency = \"1us\"\n",
			"m.toml:1: between.larger[0]: than is missing: the size beyond which the cost applies"},
		{"[[between.larger]]\nthan = \"1KiB\"\n[[between.larger]]\nthan = \"1000\"\n",
			"m.toml:4: between.larger[1].than: 1000 is not more than that of the table before: smaller sizes come first"},
		{"[[between.larger]]\nthan = 5\n[[within.larger]]\nthan = 5\n\n[[within.larger]]\nthan = 9\nlatency = 3\n", "m.toml:8: within.larger[1].latency: *"},
		{"[besides.allredcue]\n8B = \"1us\"\n",
			`m.toml:1: besides.allredcue: nothing is known to take time besides the messages of "allredcue": *`},
		{"[besides.barrier]\n8B = \"1us\"\n\"8.0B\" = \"2us\"\n",
			"m.toml:1: besides.barrier: besides the messages of barrier: 8 bytes stand behind 8"},
		{"[between]\nlatency = nan\n", "m.toml:2: between.latency: *"},
		{"[between]\nlatency = inf\n", "m.toml:2: between.latency: *"},
		{"[between]\nlatency = \"1e300s\"\n", "m.toml:2: between.latency: *"},
		{"[between]\nbandwidth = -inf\n", "m.toml:2: between.bandwidth: *"},
		{"[between]\nbandwidth = \"0.1B/s\"\n", "m.toml:2: between.bandwidth: there is none"},
		{"ranks_per_node = 9223372036854775807\n", "m.toml:1: ranks_per_node: 9223372036854775807 is not from 1 to *"},
		{"compute = 3\n", "m.toml:1: compute is a table: docs/predict.md shows what is in it"},
		{"between = 3\n", "m.toml:1: between is a table: *"},
		{"collectives = \"ring\"\n", "m.toml:1: collectives is a table: *"},
		{"besides = 3\n", "m.toml:1: besides is a table: *"},
		{"[besides]\nallreduce = \"1ms\"\n", "m.toml:2: besides.allreduce is a table: *"},
		{"[compute]\nranks = 3\n", "m.toml:2: compute.ranks is a table: *"},
		{"[compute]\nfunctions = 2\n", "m.toml:2: compute.functions is a table: *"},
		{"[between]\nlatncy = \"1us\"\n", "m.toml:2: no parameter is called between.latncy: *"},
		{"[compute]\nfactor = nan\n", "m.toml:2: compute.factor: *"},
		{"[collectives]\nsend = \"ring\"\n",
			`m.toml:2: collectives.send: no collective operation whose algorithm can be chosen is called "send": it is one of allgather, *`},
		{"compute.ranks.'0,2' = 1 # 3\ncompute.ranks.\"0-1\" = -1\n",
			`m.toml:2: compute.ranks.0-1: "-1" is no factor: *`},
		{"between = { latency = \"1us\", gap = \"1\" }\n", "m.toml:1: between.gap: *"},
		{"[besides.barrier]\n8B = \"1us\"\n64B = \"2\"\n", "m.toml:3: besides.barrier.64B: *"},
	} {
		writeFile(t, "m.toml", tt.file)
		r := invoke(t, "", "predict", "ring.rpz", "-m", "m.toml")
		if r.status != cli.ExitFailure || !matches(r.stderr, "reprise: "+tt.want+"\n") {
			t.Errorf("%q: status %d, %q, want %q", tt.file, r.status, r.stderr, tt.want)
		}
	}
	for _, tt := range []struct{ file, bandwidth, eager string }{
		{"[between]\nbandwidth = \"8Gbit/s\"\neager_limit = 0\n", "1000000000", "-1"},
		{"[between]\nbandwidth = \"inf\"\neager_limit = \"inf\"\n", "0", "0"},
		{"[between]\nbandwidth = inf\neager_limit = 100\n", "0", "100"},
		{"[between]\nbandwidth = 5e9\neager_limit = \"1.5KiB\"\n", "5000000000", "1536"},
	} {
		writeFile(t, "m.toml", tt.file)
		p, err := readMachine("m.toml")
		if err != nil {
			t.Errorf("%q: %v", tt.file, err)
			continue
		}
		if got, _ := json.Marshal([]int64{p.Between.Bandwidth, p.Between.EagerLimit}); string(got) != "["+
			tt.bandwidth+","+tt.eager+"]" {
			t.Errorf("%q: %s", tt.file, got)
		}
	}
	for _, args := range []string{"--compute y", "--latency -1", "--bandwidth 0x", "--bandwidth fast"} {
		if r := invoke(t, "", append([]string{"predict", "ring.rpz"},
			strings.Fields(args)...)...); r.status != cli.ExitUsage {
			t.Errorf("%s: status %d, %s", args, r.status, r.stderr)
		}
	}
	if r := invoke(t, "", "predict", "ring.rpz", "-m", "missing.toml"); r.status != cli.ExitFailure ||
		r.stderr != "reprise: missing.toml: no such file or directory\n" {
		t.Errorf("status %d, %s", r.status, r.stderr)
	}
	if r := invoke(t, "", "predict", "ring.rpz", "-o", "ring.rpz"); r.status != cli.ExitUsage {
		t.Errorf("status %d, %s", r.status, r.stderr)
	}
}

// TestPredictEqual checks that no rank is called the slowest whose computing is that of all, as far as it is
// shown.
func TestPredictEqual(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	writeSlowRank(t, "equal.rpz", tracer.Options{}, 1)
	for name, want := range map[string]bool{"equal.rpz": false, "scale4.sums.rpz": true, "scale4.rpz": true} {
		if text := must(t, "predict", name); strings.Contains(text, " is the slowest: ") != want {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestPredictSlowest checks that the slowest rank is the one that computed longest, also if the trace has
// only statistics or histograms of all ranks together.
func TestPredictSlowest(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, o := range map[string]tracer.Options{"statistics.rpz": {},
		"histograms.rpz": {Histograms: &timing.HistogramOptions{}}} {
		writeSlowRank(t, name, o, 3)
		a := predicted(t, name)
		if a.Slowest == nil || a.Slowest.Rank != 2 {
			t.Errorf("%s: slowest %+v", name, a.Slowest)
			continue
		}
		if c := int64(a.Slowest.Computing); c < 270_000_000 || c > 330_000_000 { // 100 times 3 ms
			t.Errorf("%s: rank 2 computes %d ns", name, c)
		}
		if text := must(t, "predict", name); !strings.Contains(text, ", scaled to the sums of each rank\n") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// writeSlowRank writes a trace of four ranks that compute for 1 ms before each of 100 barriers, and rank 2
// for so many.
func writeSlowRank(t *testing.T, name string, o tracer.Options, slow int64) {
	t.Helper()
	var parts []merge.Part
	for rank := range 4 {
		r, err := tracer.New(o)
		if err != nil {
			t.Fatal(err)
		}
		call := testtrace.MPICall("MPI_Barrier", "comm", "MPI_COMM_WORLD")
		barrier, compute := r.Declare(call.Function), int64(1_000_000)
		if rank == 2 {
			compute *= slow
		}
		r.CallAt(barrier, 0, 1000, call.Args...)
		for i := range int64(100) {
			at := 1000 + i*3_001_000
			r.CallAt(barrier, at+compute, 3_001_000-compute, call.Args...)
		}
		parts = append(parts, r.Finish(rank))
	}
	writeFile(t, name, string(testtrace.File(t, merge.Run{Ranks: 4}, parts)))
}

// readMachine reads the parameters in a file.
func readMachine(path string) (loggps.Parameters, error) {
	data, err := predict.ReadMachineText(path)
	if err != nil {
		return loggps.Parameters{}, err
	}
	return predict.ParseMachine(path, data)
}
