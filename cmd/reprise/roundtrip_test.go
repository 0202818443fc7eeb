package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/test/tier"

	"github.com/klauspost/compress/zstd"
)

// checkRoundTrip compresses the files in args and checks that the text comes back.
func checkRoundTrip(t *testing.T, text string, args ...string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out.rpz")
	if r := invoke(t, "", append([]string{"compress", "-o", out}, args...)...); r.status != cli.ExitOK {
		t.Fatal(r.stderr)
	}
	if got := must(t, "cat", out); got != text {
		t.Errorf("%s: %d bytes came back as %d others", args[0], len(text), len(got))
	}
	must(t, append([]string{"verify", out}, args...)...)
}

func unpacked(t *testing.T, data []byte) string {
	t.Helper()
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	text, err := d.DecodeAll(data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRoundTrip(t *testing.T) {
	t.Run("demo", func(t *testing.T) {
		checkRoundTrip(t, unpacked(t, demoTrace), filepath.Join("testdata", "lu.W.16.ti.zst"))
	})
	for _, name := range []string{"ring.txt", "mixed.txt", "one.txt", "sparse.txt", "foreign.txt"} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			writeInputs(t)
			checkRoundTrip(t, readFile(t, name), name)
			if got := invoke(t, readFile(t, name), "compress", "-", "-o", "-"); got.stdout != readFile(t,
				strings.TrimSuffix(name, "txt")+"rpz") {
				t.Errorf("through standard input and output %d other bytes come out: %s", len(got.stdout), got.stderr)
			}
		})
	}
	t.Run("forms", func(t *testing.T) {
		t.Chdir(t.TempDir())
		writeInputs(t)
		for _, name := range []string{"ring.txt.gz", "ring.txt.zst", "list.txt"} {
			checkRoundTrip(t, readFile(t, "ring.txt"), name)
		}
		checkRoundTrip(t, readFile(t, "ring.txt")+readFile(t, "foreign.txt"), "ring.txt", "foreign.txt")
	})
}

// TestRealTraces does the same with the traces beside this project, except those
// that are long or the demo.
func TestRealTraces(t *testing.T) {
	var paths []string
	for _, pattern := range []string{"kinds/*.txt", "ti/[im]*.64.ti.zst", "ti/[^l]*.16*.ti.zst"} {
		found, err := filepath.Glob(filepath.Join("..", "..", "..", "shared", "traces", pattern))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	if len(paths) == 0 {
		t.Skip("there is no ../shared/traces beside the project")
	}
	for _, path := range tier.Some(paths, 3) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text := string(data)
			if filepath.Ext(path) == ".zst" {
				text = unpacked(t, data)
			}
			checkRoundTrip(t, text, path)
		})
	}
}

// TestSplit checks that one file a rank, and the list of them, make the same
// trace again.
func TestSplit(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	for _, name := range []string{"ring", "one", "sparse"} {
		must(t, "cat", name+".rpz", "--split", name)
		list := filepath.Join(name, name+".txt")
		if r := invoke(t, "", "compress", list, "-o", "again.rpz"); r.status != cli.ExitOK {
			t.Fatal(r.stderr)
		}
		if readFile(t, "again.rpz") != readFile(t, name+".rpz") {
			t.Errorf("%s: compressing %s gives another trace", name, list)
		}
		r := invoke(t, "", "cat", name+".rpz", "--split", name)
		if want := fmt.Sprintf("reprise: open %s: file exists\n", list); r.status != cli.ExitFailure ||
			r.stderr != want {
			t.Errorf("a second time: status %d, %q, want %q", r.status, r.stderr, want)
		}
	}
	// The order of mixed.rpz is not that of its ranks.
	must(t, "cat", "mixed.rpz", "--split", "mixed")
	checkRoundTrip(t, readFile(t, "ring.txt"), filepath.Join("mixed", "mixed.txt"))
	checkRoundTrip(t, readFile(t, "ring.txt"), "mixed")
}

// TestCatFrom checks every way to ask for a part of a trace against all of it.
func TestCatFrom(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	for _, name := range []string{"ring", "mixed", "sparse"} {
		lines := strings.SplitAfter(readFile(t, name+".txt"), "\n")
		lines = lines[:len(lines)-1]
		for _, rank := range []string{"", "2", "5"} {
			var want []string
			for _, l := range lines {
				if strings.HasPrefix(l, rank) {
					want = append(want, l)
				}
			}
			if rank == "5" && name != "sparse" {
				continue // there is no such rank
			}
			for _, from := range []int{0, 1, 7, 211, 212, 213, 500, 847, 848, 1 << 30} {
				for _, count := range []int{0, 1, 3, 300, 1 << 30} {
					args := []string{"cat", name + ".rpz", "--first", fmt.Sprint(from), "--count", fmt.Sprint(count)}
					if rank != "" {
						args = append(args, "--ranks", rank)
					}
					if from > len(want) {
						if r := invoke(t, "", args...); r.status != cli.ExitFailure || r.stdout != "" {
							t.Fatalf("%s: status %d, %q", strings.Join(args, " "), r.status, r.stdout)
						}
						continue
					}
					end := min(from+count, len(want))
					if len(want) == 0 { // which a warning says
						if r := invoke(t, "", args...); r.status != cli.ExitOK || r.stdout != "" ||
							r.stderr != "reprise: warning: rank 2 has no calls\n" {
							t.Fatalf("%s: %+v", strings.Join(args, " "), r)
						}
						continue
					}
					if got := must(t, args...); got != strings.Join(want[from:end], "") {
						t.Fatalf("%s gave %q", strings.Join(args, " "), got)
					}
				}
			}
		}
	}
}

// TestCatRanks checks that all ranks are the set of them, with their calls rank by rank,
// and what is said of positions that none of the chosen ranks has.
func TestCatRanks(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	for _, name := range []string{"ring", "mixed", "foreign"} {
		for _, options := range []string{"", "--first 2 --count 2", "--count 3 --format text", "--first 3",
			"--first 1 --json"} {
			list := "0-3"
			if name == "foreign" {
				list = "0"
			}
			args := append([]string{"cat", name + ".rpz"}, strings.Fields(options)...)
			all, set := must(t, append(args, "--ranks", "all")...), must(t, append(args, "--ranks", list)...)
			if all != set || all == "" {
				t.Errorf("%s: all ranks give %q, those of the set %q", strings.Join(args, " "), all, set)
			}
		}
	}
	if got := must(t, "cat", "ring.rpz", "--ranks", "all", "--count", "1"); got != "0 init\n1 init\n2 init\n3 init\n" {
		t.Errorf("%q", got)
	}
	for _, tt := range []struct{ name, ranks, first, want string }{
		{"ring", "3", "213", "rank 3 has 212 calls"},
		{"ring", "0-3", "213", "ranks 0-3 have at most 212 calls"},
		{"mixed", "all", "213", "ranks 0-3 have at most 212 calls"},
		{"sparse", "0-5", "4", "ranks 0-5 have at most 3 calls"},
		{"sparse", "0-3", "1", "ranks 0-3 have at most 0 calls"},
		{"empty", "all", "1", "the trace has 0 calls"},
	} {
		r := invoke(t, "", "cat", tt.name+".rpz", "--ranks", tt.ranks, "--first", tt.first)
		if want := fmt.Sprintf("reprise: %s.rpz: no call at position %s: %s\n", tt.name, tt.first,
			tt.want); r.status != cli.ExitFailure || r.stdout != "" || r.stderr != want {
			t.Errorf("%s: status %d, %q, want %q", tt.name, r.status, r.stderr, want)
		}
	}
	if got := must(t, "cat", "sparse.rpz", "--ranks", "0-5", "--first", "2"); got != "5 finalize\n" {
		t.Errorf("%q", got)
	}
}

// TestAllRanks checks that commands answer for the set of all ranks as for all.
func TestAllRanks(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	for _, args := range []string{
		"match unmatched.rpz 0-3", "match unmatched.rpz 0-3 --json", "messages ring.rpz 0-3",
		"matrix ring.rpz 0-3 --format csv -o out",
		"imbalance summed.rpz 0-3", "imbalance timed.rpz 0-3", "profile summed.rpz 0-3",
		"profile timed.rpz 0-3 --by rank", "at timed.rpz 0-3 1ms",
		"grammar ring.rpz 0-3", "export timed.rpz 0-3 --format csv -o out",
		"export sparse.rpz 5 --format simgrid -o out",
		"report noisy.rpz 0-599 -o out", "diff ring.rpz 0-3 ring.rpz",
	} {
		answer := func(ranks string) string {
			list := strings.Fields(args)
			list = append(list[:2:2], append([]string{"--ranks", ranks}, list[3:]...)...)
			r := invoke(t, "", list...)
			if r.status != cli.ExitOK {
				t.Errorf("%v: status %d, %s", list, r.status, r.stderr)
			}
			if strings.HasSuffix(args, "out") {
				return r.stdout + r.stderr + readFile(t, "out")
			}
			return r.stdout + r.stderr
		}
		if all, set := answer("all"), answer(strings.Fields(args)[2]); all != set {
			t.Errorf("%s: all ranks give\n%.2000s\nthose of the set\n%.2000s", args, all, set)
		}
	}
	// Of some ranks, it is told what the trace keeps of each, and no statistics of all.
	if got := must(t, "waits", "summed.rpz", "--ranks", "0-2"); !strings.Contains(got,
		"from the sums of each rank") || strings.Contains(got, "signature") {
		t.Error(got)
	}
}

// A generator is the text of a trace of nested loops, without holding it.
type generator struct {
	left   int // bytes, at least
	line   string
	i      int
	sample func()
}

func (g *generator) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if g.line == "" {
			if g.left <= 0 {
				break
			}
			switch g.i++; {
			case g.i%1000 == 0:
				g.line = fmt.Sprintf("%d allreduce %d 0 0 \n", g.i%4, g.i%3)
			default:
				g.line = fmt.Sprintf("%d send %d %d 1024 1\n", g.i%4, (g.i+1)%4, g.i%10)
			}
			if g.i%(1<<15/slow) == 0 {
				g.sample()
			}
		}
		k := copy(p[n:], g.line)
		g.line = g.line[k:]
		g.left -= k
		n += k
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// TestCompressMemory checks that what compress holds does not follow the length
// of its input.
func TestCompressMemory(t *testing.T) {
	tier.Long(t, "measures memory")
	t.Chdir(t.TempDir())
	const (
		text  = 50 << 20 / slow
		limit = 8 << 20
	)
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var most uint64
	samples := 0
	in := &generator{left: text, sample: func() {
		runtime.GC()
		runtime.ReadMemStats(&now)
		most = max(most, now.HeapAlloc)
		samples++
	}}
	var stderr strings.Builder
	if status := run(t.Context(), []string{"compress", "-", "-o", "out.rpz"}, in, io.Discard,
		&stderr); status != cli.ExitOK {
		t.Fatal(stderr.String())
	}
	growth := int64(most) - int64(before.HeapAlloc)
	t.Logf("%d bytes of heap at most in %d samples, a trace of %d bytes", growth, samples, len(readFile(t, "out.rpz")))
	if growth > limit || samples < 8 {
		t.Errorf("compressing %d bytes of text took %d bytes of heap in %d samples, want at most %d", text,
			growth, samples, limit)
	}
}
