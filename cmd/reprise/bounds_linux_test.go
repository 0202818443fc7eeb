package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/compress"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/predict"
	"github.com/reprise-trace/reprise/internal/test/forged"
	"github.com/reprise-trace/reprise/internal/test/tier"
)

// peakIn names the environment variable with the file that gets the most memory that a process was in, in kB.
const peakIn = "REPRISE_TEST_PEAK"

// maxPeak is how much memory a command may be in, in kB, whatever its inputs are: those of these tests are
// small.
const maxPeak = 512 << 10

// peak returns the most memory that this process was in, in kB.
func peak() int {
	status, _ := os.ReadFile("/proc/self/status")
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kB, _ := strconv.Atoi(strings.TrimSpace(strings.Split(after, "kB")[0]))
	return kB
}

// writing is held while the file with the peak is written, and until the end when the last peak is.
var writing sync.Mutex

func writePeak(path string) { os.WriteFile(path, []byte(strconv.Itoa(peak())), 0o666) }

// watchPeak ends the process before it takes what others need.
func watchPeak(path string) {
	for last := 0; ; time.Sleep(20 * time.Millisecond) {
		now := peak()
		if now > last+now/64 { // it may be killed
			writing.Lock()
			writePeak(path)
			writing.Unlock()
			last = now
		}
		if now > 2*maxPeak {
			os.Exit(99)
		}
	}
}

// endlessly repeats a text after another.
func endlessly(begin, again string) io.Reader {
	return io.MultiReader(strings.NewReader(begin), &repeat{text: strings.Repeat(again, 1+(64<<10)/len(again))})
}

type repeat struct {
	text string
	at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := copy(p, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

// bounded runs a command as a process of its own, with what a stranger gives on its standard input, and
// returns how it ended.
func bounded(t *testing.T, stdin io.Reader, args ...string) result {
	t.Helper()
	if tier.Race {
		t.Skip("the race detector takes memory of its own")
	}
	path := filepath.Join(t.TempDir(), "peak")
	cmd := process(t, args...)
	cmd.Env = append(cmd.Env, peakIn+"="+path)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &tail{w: &stdout}, &tail{w: &stderr}
	cmd.WaitDelay = time.Second                                           // for what stdin has no end
	kill := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() }) // what has no end has shown what it takes
	defer kill.Stop()
	cmd.Run()
	kB, _ := strconv.Atoi(readFile(t, path))
	r := result{status: cmd.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
	t.Logf("reprise %.100s: status %d, %d kB, %v, %.150s", strings.Join(args, " "), r.status, kB,
		cmd.ProcessState.UserTime(), r.stderr)
	if kB == 0 || kB > maxPeak || strings.Contains(r.stderr, "goroutine ") {
		t.Errorf("reprise %.200s: status %d, %d kB, %.500s", strings.Join(args, " "), r.status, kB, r.stderr)
	}
	return r
}

// A tail passes on the first bytes alone.
type tail struct {
	w *bytes.Buffer
}

func (l *tail) Write(p []byte) (int, error) {
	l.w.Write(p[:min(len(p), max(0, 4096-l.w.Len()))])
	return len(p), nil
}

// hostileMachines are texts of machine files that cost much of little, by name.
func hostileMachines(n int) map[string]string {
	many := func(line func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			b.WriteString(line(i))
		}
		return b.String()
	}
	deep := func(open, middle, close string) string {
		k := n / (len(open) + len(close))
		return strings.Repeat(open, k) + middle + strings.Repeat(close, k) + "\n"
	}
	return map[string]string{
		"a key of many parts":   deep("a.", "a = 1", ""),
		"a table of many parts": "[" + deep("a.", "a", "") + "]\n",
		"tables of many parts": many(func(i int) string {
			return fmt.Sprintf("[[%sa%d]]\n", strings.Repeat("a.", 500), i)
		}),
		"quoted parts":          deep(`"a".'b' . `, "a = 1", ""),
		"behind quotes":         `x = {a = """b"""", ` + deep("a.", "a = 1}", ""),
		"arrays in arrays":      "a = " + deep("[", "1", "]"),
		"arrays without an end": "a = " + deep("[", "", ""),
		"arrays over lines":     "a = " + deep("[\n", "1", "]\n"),
		"tables in tables":      "a = " + deep("{a = ", "1", "}"),
		"a long string":         "a = \"" + strings.Repeat("b", n-8) + "\"\n",
		"escapes":               "a = \"" + strings.Repeat(`\u00e9`, n/6-4) + "\"\n",
		"a long number":         "a = " + strings.Repeat("9", n-8) + "\n",
		"zeros":                 strings.Repeat("\x00", n),
		"many keys":             many(func(i int) string { return fmt.Sprintf("%x=1\n", i) }),
		"many tables":           many(func(i int) string { return fmt.Sprintf("[%x]\n", i) }),
		"many of one table":     many(func(i int) string { return "[[a]]\n" }),
		"many larger ones": "[between]\n" + many(func(i int) string {
			return fmt.Sprintf("[[between.larger]]\nthan=%d\n", i)
		}),
		"many tables in a table": "[besides]\n" + many(func(i int) string { return fmt.Sprintf("%x.1B=1\n", i) }),
		"many nested":            many(func(i int) string { return fmt.Sprintf("a.b.c.d.e.f.g%x=1\n", i) }),
		"many operations": "[collectives]\n" + many(func(i int) string {
			return fmt.Sprintf("MPI_%x='a'\n", i)
		}),
		"factors of ranks": "[compute.ranks]\n" + many(func(i int) string {
			return fmt.Sprintf("%d=2\n", i)
		}),
		"sets of ranks": "[compute.ranks]\n" + many(func(i int) string {
			return fmt.Sprintf("'0,2-4,6,%d-2000000000'=2\n", 9+i)
		}),
		"one set of ranks": "[compute.ranks]\n'0" + many(func(i int) string {
			return fmt.Sprintf(",%d", 2*i+2)
		}) + "'=2\n",
		"factors of functions": "[compute.functions]\n" + many(func(i int) string {
			return fmt.Sprintf("f%x=2\n", i)
		}),
		"a value of many kinds":       "speed = " + deep("[{a=[", "1", "]}]"),
		"comments":                    many(func(int) string { return "#\n" }),
		"a comment, and nothing else": "#" + strings.Repeat("a", n-2),
	}
}

// TestBoundedMachines predicts with machine files of strangers.
func TestBoundedMachines(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	size, few := predict.MaxMachine-2048, map[string]bool{"a key of many parts": true, "tables in tables": true}
	if !tier.Nightly {
		size = 64 << 10
	}
	for name, text := range hostileMachines(size) {
		if !tier.Nightly && !few[name] {
			continue
		}
		t.Run(name, func(t *testing.T) {
			writeFile(t, "m.toml", text)
			bounded(t, nil, "predict", "long.rpz", "-m", "m.toml")
		})
	}
	bounded(t, nil, "predict", "long.rpz", "-m", "/dev/zero")
	bounded(t, endlessly("a = ", "["), "predict", "long.rpz", "-m", "/dev/stdin")
}

// claims are traces of a few bytes that claim to have much: those with the names, all if there are none.
func claims(t *testing.T, names ...string) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	for name, make := range map[string]func() ([]byte, error){
		"few.rpz":    func() ([]byte, error) { return forged.AllCalling(30_000) },
		"many.rpz":   func() ([]byte, error) { return forged.AllCalling(1 << 17) },
		"all.rpz":    func() ([]byte, error) { return forged.AllCalling(math.MaxInt32) },
		"long.rpz":   func() ([]byte, error) { return forged.Endless(3, 3, math.MaxInt64) },
		"wide.rpz":   func() ([]byte, error) { return forged.Endless(1<<12, 1<<12, 1<<20) },
		"runs.rpz":   forged.ManyRuns,
		"deep.rpz":   forged.DeepRules,
		"varied.rpz": func() ([]byte, error) { return forged.ManySignatures(1 << 17) },
	} {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		file, err := make()
		if err != nil {
			t.Fatal(err)
		}
		files[name] = file
	}
	return files
}

// TestBoundedText compresses texts of strangers, and compares their times.
func TestBoundedText(t *testing.T) {
	t.Chdir(t.TempDir())
	compressed := func(text io.Reader, n int64) io.Reader {
		var file bytes.Buffer
		w, err := zstd.NewWriter(&file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(w, text, n); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return &file
	}
	ranks := func(n int, line string) io.Reader {
		var b strings.Builder
		for rank := range n {
			fmt.Fprintf(&b, line, rank)
		}
		return strings.NewReader(b.String())
	}
	const whole = 1 << 40
	inputs := []struct {
		name  string
		short bool
		args  string
		in    func() io.Reader
	}{
		{"ranks", true, "compress - -o o.rpz", func() io.Reader {
			return compressed(ranks(tier.Number(1<<15, 1<<17), "%[1]d init\n%[1]d barrier\n%[1]d finalize\n"), whole)
		}},
		{"different ranks", false, "compress - -o o.rpz", func() io.Reader {
			return compressed(ranks(1<<17, "%[1]d init\n%[1]d compute %[1]d\n%[1]d finalize\n"), whole)
		}},
		{"a million ranks", false, "compress - -o o.rpz", func() io.Reader {
			return compressed(ranks(1<<20, "%[1]d init\n"), whole)
		}},
		{"a million ranks of a part", false, "compress - --part -o o.rpz", func() io.Reader {
			return compressed(ranks(1<<20, "%[1]d init\n"), whole)
		}},
		{"ranks of many calls", false, "compress - -o o.rpz", func() io.Reader {
			return compressed(ranks(1<<15, strings.Repeat("%[1]d init\n%[1]d barrier\n", 20)), whole)
		}},
		{"long lines", false, "compress - -o o.rpz", func() io.Reader {
			return compressed(ranks(300, "%d "+strings.Repeat("x", 4<<20-10)+"\n"), whole)
		}},
		{"long vectors", false, "compress - -o o.rpz", func() io.Reader {
			return compressed(ranks(40, "%d reducescatter"+strings.Repeat(" 1", 1<<20)+" 0 0\n"), whole)
		}},
		{"a line", true, "compress - -o o.rpz", func() io.Reader { return endlessly("0 ", "x") }},
		{"a line of nothing", false, "compress - -o o.rpz", func() io.Reader {
			return compressed(endlessly("", "\x00"), 1<<30)
		}},
		{"a line without a rank", false, "compress - -o o.rpz", func() io.Reader {
			return compressed(endlessly("", "x\n"), 1<<28)
		}},
		{"names", false, "compress - -o o.rpz", func() io.Reader {
			return compressed(endlessly("", "no-such-file\n"), 1<<26)
		}},
		{"calls", false, "compress - -o o.rpz", func() io.Reader {
			return compressed(endlessly("", "0 barrier\n1 barrier\n"), 1<<29)
		}},
		{"times", false, "codecs -", func() io.Reader { return endlessly("", "1\n") }},
		{"a time", false, "codecs -", func() io.Reader { return endlessly("", "1") }},
		{"a field", true, "codecs - --column 1", func() io.Reader { return endlessly("\"", "1\n") }},
		{"fields", false, "codecs - --column 1", func() io.Reader { return endlessly("", "1,") }},
		{"rows", false, "codecs - --column 1", func() io.Reader { return endlessly("", "1,2\n") }},
	}
	for _, i := range inputs {
		if !tier.Nightly && !i.short {
			continue
		}
		t.Run(i.name, func(t *testing.T) { bounded(t, i.in(), strings.Fields(i.args)...) })
	}
	if !tier.Nightly {
		return
	}
	times, err := os.Create("times.txt")
	if err != nil {
		t.Fatal(err)
	}
	io.CopyN(times, endlessly("", "1\n"), 2*(compress.LeastRoom/compress.ValueMemory))
	times.Close()
	if r := bounded(t, nil, "codecs", "times.txt"); r.status != cli.ExitOK {
		t.Errorf("%+v", r)
	}
	for _, command := range []string{"predict few.rpz -o o.rpz", "compress t.txt -o /dev/full",
		"export few.rpz -o /dev/full --format csv", "cat few.rpz"} {
		file, _ := forged.AllCalling(1000)
		writeFile(t, "few.rpz", string(file))
		writeFile(t, "t.txt", "0 init\n")
		bounded(t, nil, strings.Fields(command)...)
	}
}

// TestPatience interrupts commands that wait for what never comes, once.
func TestPatience(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	if err := syscall.Mkfifo("pipe", 0o666); err != nil {
		t.Skip("no named pipes: ", err)
	}
	writeFile(t, "list", "pipe\n")
	commands := []string{"compress pipe -o o.rpz", "verify long.rpz pipe", "predict long.rpz -m pipe", "codecs pipe"}
	if tier.Nightly {
		commands = append(commands, "compress list --outside -o o.rpz", "compress - -o o.rpz",
			"verify long.rpz -", "codecs -")
	}
	for _, command := range commands {
		status := -1
		// before it listens, a signal kills it
		for wait := 200 * time.Millisecond; status == -1 && wait < 10*time.Second; wait *= 2 {
			status = interrupted(t, wait, strings.Fields(command)...)
		}
		if status != cli.ExitInterrupted {
			t.Errorf("reprise %s: status %d", command, status)
		}
	}
}

// interrupted runs a command that gets nothing from its standard input, sends it one signal after a while,
// and returns its exit status.
func interrupted(t *testing.T, wait time.Duration, args ...string) int {
	status, _ := interruptedAfter(t, wait, args...)
	return status
}

// interruptedAfter says besides how long after the signal the command has ended.
func interruptedAfter(t *testing.T, wait time.Duration, args ...string) (status int, after time.Duration) {
	cmd := process(t, args...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	defer kill.Stop()
	time.Sleep(wait)
	begin := time.Now()
	cmd.Process.Signal(syscall.SIGINT)
	cmd.Wait()
	if after = time.Since(begin); kill.Stop() {
		return cmd.ProcessState.ExitCode(), after
	}
	return -2, after
}
