package beam

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/programs"
)

// asWorker is set in processes that do a bundle, to how many steps they do until they die; −1 for all.
const asWorker = "REPRISE_BEAM_WORKER"

// A step is one of a bundle: what an engine has the CombineFn do between two writes.
type step func() error

// steps returns those of a bundle: "add" of part files, "merge" of accumulators or "extract" of one, which
// write a file.
func steps(kind, out string, in []string) []step {
	var fn Combine
	var a parts
	var result []byte
	list := []step{func() error { a = fn.CreateAccumulator(); return nil }}
	for i, path := range in {
		list = append(list, func() error {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if kind == "add" {
				a, err = fn.AddInput(a, File{path, content})
				return err
			}
			b, err := decode(content)
			if err == nil && i == 0 {
				a = b
			} else if err == nil {
				a, err = fn.MergeAccumulators(a, b)
			}
			return err
		})
	}
	return append(list, func() (err error) {
		if kind == "extract" {
			result, err = fn.ExtractOutput(a)
		} else {
			result, err = encode(a)
		}
		return err
	}, func() error { return os.WriteFile(out, result[:len(result)/2], 0o666) }, func() error {
		return os.WriteFile(out, result, 0o666)
	})
}

// work does a bundle in a process of its own, and does not return.
func work(most string, args []string) {
	n, err := strconv.Atoi(most)
	for i, do := range steps(args[0], args[1], args[2:]) {
		if i == n {
			os.Exit(9) // whatever it holds is gone
		}
		if err == nil {
			err = do()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// TestWorkersDie merges parts in several processes, as an engine does: each bundle of each phase fails after
// each of its steps in one process, where it may leave half a file, and is done again in another from the
// start. The trace is that of merge.Files.
func TestWorkersDie(t *testing.T) {
	paths, want := writeParts(t, programs.RandomPartners(12, 10, 1).Timed(), 1)
	dir := t.TempDir()
	bundle := func(kind, name string, in ...string) string {
		out := filepath.Join(dir, name)
		for n := range len(steps(kind, out, in)) + 1 {
			cmd := exec.Command(os.Args[0], append([]string{kind, out}, in...)...)
			most, status := n, 9
			if n == len(steps(kind, out, in)) {
				most, status = -1, 0
			}
			cmd.Env = append(os.Environ(), fmt.Sprint(asWorker, "=", most))
			text, _ := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != status {
				t.Errorf("%s, %d steps: status %d, %s", name, n, got, strings.TrimSpace(string(text)))
			}
		}
		return out
	}
	var added [4]string
	var wait sync.WaitGroup
	for i := range added {
		wait.Go(func() { added[i] = bundle("add", fmt.Sprint("added", i), paths[3*i], paths[3*i+2], paths[3*i+1]) })
	}
	wait.Wait()
	var merged [2]string
	for i := range merged {
		wait.Go(func() { merged[i] = bundle("merge", fmt.Sprint("merged", i), added[i+2], added[1-i]) })
	}
	wait.Wait()
	all := bundle("merge", "all", merged[1], merged[0])
	if got := readFile(t, bundle("extract", "trace", all)); !bytes.Equal(got, want) {
		t.Errorf("%d bytes, not the %d of merge.Files", len(got), len(want))
	}
}
