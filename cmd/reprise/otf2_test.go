package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/test/e2e"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
)

// otf2Archive returns the directory of an archive that export makes of a recorded trace, and skips where OTF2's library
// is missing.
func otf2Archive(t *testing.T, trace string) string {
	t.Helper()
	r := invoke(t, "", "export", trace, "-o", "run.otf2")
	if strings.Contains(r.stderr, "libotf2") {
		t.Skip(r.stderr)
	}
	if r.status != cli.ExitOK {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	return "run.otf2"
}

// TestOTF2 makes an archive of a trace, a trace of the archive, and the archive again, and compares answers of the traces.
func TestOTF2(t *testing.T) {
	e2e.Programs(t)
	name := "stencil.exact.rpz"
	content := readFile(t, recordedRun)
	t.Chdir(t.TempDir())
	writeFile(t, name, content)
	archive := otf2Archive(t, name)
	for _, args := range [][]string{{"compress", archive, "-o", "back.rpz"}, {"verify", "back.rpz", archive},
		{"verify", "back.rpz", filepath.Join(archive, "traces.otf2")}, {"export", "back.rpz", "-o", "again.otf2"},
		{"verify", "back.rpz", "again.otf2"}, {"compress", archive, "--times", "all", "-o", "all.rpz"},
		{"compress", archive, "--times", "statistics", "-o", "statistics.rpz"},
		{"profile", "back.rpz", "--by", "region"},
		{"grammar", "back.rpz"}, {"waits", "back.rpz"}, {"efficiency", "back.rpz"}, {"match", "statistics.rpz"},
		{"report", "back.rpz", "-o", "back.html"}, {"cat", "back.rpz"}, {"hang", "back.rpz"}, {"why", "back.rpz"}} {
		if r := invoke(t, "", args...); r.status != cli.ExitOK {
			t.Errorf("%v: status %d: %s", args, r.status, r.stderr)
		}
	}
	if a, b := otf2Print(t, "run.otf2"), otf2Print(t, "again.otf2"); a != b {
		t.Errorf("otf2-print says %d bytes of one archive, and %d of the other, which differ", len(a), len(b))
	}
	if r := invoke(t, "", "verify", "statistics.rpz", archive); r.status != cli.ExitFailure ||
		!strings.Contains(r.stderr, "does not have all of run.otf2") {
		t.Errorf("verify of statistics: status %d: %s", r.status, r.stderr)
	}
	if want, ok := pythonSums(t, filepath.Join(archive, "traces.otf2")); ok {
		writeFile(t, "run.rpz", readFile(t, "back.rpz"))
		compareSums(t, want)
	}
	must(t, "compress", archive, "--bounded", "2500", "-o", "bounded.rpz")
	a, b := answerOf(t, "messages", "bounded.rpz")["pairs"], answerOf(t, "messages", "back.rpz")["pairs"]
	if n := len(readFile(t, "bounded.rpz")); n > 2500 || !reflect.DeepEqual(a, b) {
		t.Errorf("%d bytes with the messages %v, want 2,500 and %v", n, a, b)
	}
	must(t, "export", "statistics.rpz", "-o", "estimates.otf2")
	must(t, "compress", "estimates.otf2", "-o", "estimates.rpz")
	for _, question := range []string{"profile --by region", "profile --from 0", "efficiency", "grammar", "at 0", "match",
		"waits"} {
		words := strings.Fields(question)
		out := invoke(t, "", slices.Insert(words, 1, "estimates.rpz")...).stdout
		if strings.Contains(out, "exact") || strings.Contains(out, "every call") !=
			strings.Contains(out, "estimated from statistics") {
			t.Errorf("%s: estimates in an archive are not said to be:\n%s", question, out)
		}
	}
	for _, field := range []string{"messages", "bytes", "exchanged", "channels"} {
		question := "messages"
		if field == "channels" {
			question = "match"
		}
		a, b := answerOf(t, question, name)[field], answerOf(t, question, "back.rpz")[field]
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s of %s: %v and %v", field, question, a, b)
		}
	}
}

// TestAccessesBack compares accesses to the memory of other ranks before and after they were in an archive.
func TestAccessesBack(t *testing.T) {
	e2e.Programs(t)
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		program := m.Launch(4, m.Build(t, "rma.c"))
		t.Chdir(t.TempDir())
		if r := outcome(t, recorder(t, m, []string{"-q", "-o", "run.rpz"}, program...)); r.status != 0 {
			t.Fatalf("%+v", r)
		}
		otf2Archive(t, "run.rpz")
		must(t, "compress", "run.otf2", "-o", "back.rpz")
		for _, field := range []string{"messages", "bytes", "pairs"} {
			a, b := answerOf(t, "messages", "run.rpz")[field], answerOf(t, "messages", "back.rpz")[field]
			if !reflect.DeepEqual(a, b) {
				t.Errorf("%s: %v and %v", field, a, b)
			}
		}
	})
}

// answerOf returns the answer to a question as JSON.
func answerOf(t *testing.T, question, trace string) map[string]any {
	t.Helper()
	var a map[string]any
	if err := json.Unmarshal([]byte(must(t, question, trace, "--json")), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// otf2Print returns what otf2-print says of an archive, but for what it has of itself.
func otf2Print(t *testing.T, directory string) string {
	t.Helper()
	out, err := exec.Command("otf2-print", "-A", filepath.Join(directory, "traces.otf2")).Output()
	if err != nil {
		t.Skip(err)
	}
	var kept []string
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "Trace identifier") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// summing is a program of Python that prints a sums.
const summing = `
import otf2, sys, json
calls, time, messages, bytes = {}, {}, 0, 0
with otf2.reader.open(sys.argv[1]) as trace:
    stacks = {}
    for location, event in trace.events:
        if isinstance(event, otf2.events.Enter):
            stacks.setdefault(location, []).append(event)
        elif isinstance(event, otf2.events.Leave):
            begun = stacks[location].pop()
            name = event.region.name
            calls[name] = calls.get(name, 0) + 1
            time[name] = time.get(name, 0) + event.time - begun.time
        elif isinstance(event, (otf2.events.MpiSend, otf2.events.MpiIsend)):
            messages, bytes = messages + 1, bytes + event.msg_length
    print(json.dumps({"calls": calls, "time": time, "messages": messages, "bytes": bytes}))
`

// TestEZTrace compresses an archive that EZTrace has recorded of the stencil, writes it again, and compares counts and
// times of functions, and messages, with those that otf2-print shows.
func TestEZTrace(t *testing.T) {
	e2e.Programs(t)
	eztrace, err := exec.LookPath("eztrace")
	if err != nil {
		t.Skip(err)
	}
	var m *mpitest.MPI
	for _, i := range mpitest.Installed(t) {
		if i.Name == "openmpi" {
			m = i
		}
	}
	if m == nil {
		t.Skip("EZTrace is for Open MPI, which is not installed")
	}
	program := filepath.Join(t.TempDir(), "stencil")
	source := filepath.Join("..", "..", "examples", "stencil", "stencil.c")
	if out, err := exec.Command(m.CC, "-O1", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Chdir(t.TempDir())
	output := m.Run(t, mpitest.Options{Ranks: 4, Limit: time.Minute}, eztrace, "-t", "openmpi", "-o", "out",
		program, "300")
	found, _ := filepath.Glob("out/*/eztrace_log.otf2")
	if output.Status != 0 || len(found) != 1 {
		t.Skipf("EZTrace made no archive: status %d: %s", output.Status, output.Rest)
	}
	archive := filepath.Dir(found[0])
	if r := invoke(t, "", "compress", archive, "-o", "run.rpz"); r.status != cli.ExitOK {
		if strings.Contains(r.stderr, "libotf2") {
			t.Skip(r.stderr)
		}
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	must(t, "verify", "run.rpz", archive)
	must(t, "export", "run.rpz", "-o", "again.otf2")
	must(t, "verify", "run.rpz", "again.otf2")
	compareSums(t, printedSums(t, found[0]))
}

// A sums is what the events of an archive sum up to: enters and nanoseconds by region, messages and bytes sent.
type sums struct {
	Calls           map[string]uint64
	Time            map[string]float64
	Messages, Bytes float64
}

// printedEvent is what otf2-print says of some events.
var printedEvent = regexp.MustCompile(
	`^(ENTER|LEAVE|MPI_SEND|MPI_ISEND) +(\d+) +(\d+) .*?(?:Region: "([^"]*)"|Length: (\d+))`)

// printedSums sums up what otf2-print says of an archive.
func printedSums(t *testing.T, anchor string) sums {
	t.Helper()
	out, err := exec.Command("otf2-print", anchor).Output()
	if err != nil {
		t.Skip(err)
	}
	s := sums{Calls: make(map[string]uint64), Time: make(map[string]float64)}
	stacks := make(map[string][]float64) // of each location
	for line := range strings.Lines(string(out)) {
		m := printedEvent.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		time, _ := strconv.ParseFloat(m[3], 64)
		bytes, _ := strconv.ParseFloat(m[5], 64)
		switch stack := stacks[m[2]]; m[1] {
		case "ENTER":
			stacks[m[2]] = append(stack, time)
			s.Calls[m[4]]++
		case "LEAVE":
			s.Time[m[4]] += time - stack[len(stack)-1]
			stacks[m[2]] = stack[:len(stack)-1]
		default:
			s.Messages, s.Bytes = s.Messages+1, s.Bytes+bytes
		}
	}
	return s
}

// pythonSums sums up an archive by python3-otf2.
func pythonSums(t *testing.T, anchor string) (s sums, ok bool) {
	t.Helper()
	out, err := exec.Command("/usr/bin/python3", "-c", summing, anchor).Output()
	if err != nil {
		return s, false
	}
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatal(err)
	}
	return s, true
}

// compareSums compares calls and times of functions, and messages, of run.rpz with those of its archive.
func compareSums(t *testing.T, want sums) {
	t.Helper()
	var a struct {
		Functions []struct {
			Name  string `json:"function"`
			Calls uint64 `json:"calls"`
			Time  struct {
				Total float64 `json:"time_ns"`
			} `json:"time"`
		} `json:"functions"`
	}
	if err := json.Unmarshal([]byte(must(t, "profile", "run.rpz", "--json")), &a); err != nil {
		t.Fatal(err)
	}
	have := make(map[string]string)
	for _, f := range a.Functions {
		have[f.Name] = fmt.Sprintf("%d calls, %.0f ns", f.Calls, f.Time.Total)
	}
	for name, n := range want.Calls {
		if want := fmt.Sprintf("%d calls, %.0f ns", n, want.Time[name]); strings.HasPrefix(name, "MPI_") &&
			have[name] != want {
			t.Errorf("%s: %s, not %s", name, have[name], want)
		}
	}
	if a := answerOf(t, "messages", "run.rpz"); a["messages"] != want.Messages || a["bytes"] != want.Bytes {
		t.Errorf("%v messages of %v bytes, not %v of %v", a["messages"], a["bytes"], want.Messages, want.Bytes)
	}
	if len(want.Calls) == 0 || want.Messages == 0 {
		t.Error("nothing was compared")
	}
}

// TestDamagedOTF2 changes bytes of an archive: compress says what is wrong, or makes a trace that can be read.
func TestDamagedOTF2(t *testing.T) {
	e2e.Programs(t)
	content := readFile(t, recordedRun)
	t.Chdir(t.TempDir())
	writeFile(t, "stencil.rpz", content)
	archive := otf2Archive(t, "stencil.rpz")
	var files []string
	err := filepath.WalkDir(archive, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 60 {
		path := files[i%len(files)]
		whole := []byte(readFile(t, path))
		damaged := append([]byte{}, whole...)
		switch random.IntN(3) {
		case 0:
			damaged = damaged[:random.IntN(len(damaged))]
		case 1:
			for range 1 + random.IntN(20) {
				damaged[random.IntN(len(damaged))] = byte(random.Uint32())
			}
		default:
			at := random.IntN(len(damaged))
			damaged = append(damaged[:at:at], damaged[min(len(damaged), at+random.IntN(100)):]...)
		}
		writeFile(t, path, string(damaged))
		r := invoke(t, "", "compress", archive, "-o", "damaged.rpz")
		writeFile(t, path, string(whole))
		switch {
		case r.status == cli.ExitOK:
			must(t, "info", "damaged.rpz")
		case r.status != cli.ExitFailure || !strings.Contains(r.stderr, archive):
			t.Errorf("%s: status %d: %s", path, r.status, r.stderr)
		}
	}
}
