package bench

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/reprise-trace/reprise/internal/test/forged"
)

// forgeries are small files that claim much.
var forgeries = []struct {
	claim string
	make  func() ([]byte, error)
}{
	{"4,194,303 signatures", func() ([]byte, error) { return forged.ManySignatures(1<<22 - 1) }},
	{"340,000 signatures, which 512 MiB have room for", func() ([]byte, error) {
		return forged.ManySignatures(340_000)
	}},
	{"2,147,483,647 ranks, one with calls", func() ([]byte, error) { return forged.Endless(math.MaxInt32, 1, 1000) }},
	{"9,223,372,036,854,775,807 calls on each of 3 ranks", func() ([]byte, error) {
		return forged.Endless(3, 3, math.MaxInt64)
	}},
	{"4,194,304 ranks in two shapes, no two of them next to each other", forged.ManyRuns},
	{"2,147,483,647 ranks, all with calls", func() ([]byte, error) { return forged.AllCalling(math.MaxInt32) }},
	{"524,288 ranks with calls, which 512 MiB have room for", func() ([]byte, error) {
		return forged.AllCalling(1 << 19)
	}},
	{"2^60 calls, in rules 60 deep", forged.DeepRules},
}

// forgedCommands are what is asked of them.
var forgedCommands = strings.Split(strings.TrimSpace(`
info TRACE
info TRACE --all
profile TRACE
messages TRACE
matrix TRACE -o OUT.csv
match TRACE
hang TRACE
imbalance TRACE
efficiency TRACE
diff TRACE TRACE
grammar TRACE
cat TRACE
cat TRACE --split OUT
verify TRACE TRACE
codecs TRACE
predict TRACE
proxy TRACE -o OUT
repair TRACE -o OUT.rpz
merge TRACE -o OUT.rpz
report TRACE -o OUT.html
export TRACE -o OUT.parquet
export TRACE -o OUT.csv
export TRACE -o OUT.pftrace
export TRACE -o OUT.json
export TRACE -o OUT.prv
export TRACE -o OUT.ti
export TRACE -o OUT.pb.gz`), "\n")

// mostResident is how many bytes of memory a command may have. A limit of its addresses would not do, as Go
// reserves more than it uses.
const mostResident = 1 << 30

// patient is how long a command may go on until it is interrupted.
const patient = 2 * time.Second

// reportForged reports what commands take for files that claim much.
func reportForged(w io.Writer) error {
	c, err := newCommand()
	if err != nil {
		return err
	}
	defer c.remove()
	heads(w, "claim", "file, bytes", "commands", "longest, s", "of", "most memory, MB", "of", "interrupted",
		"ended after, ms at most")
	for _, f := range forgeries {
		file, err := f.make()
		if err != nil {
			return fmt.Errorf("%s: %w", f.claim, err)
		}
		if err := os.WriteFile(c.path("forged"), file, 0o666); err != nil {
			return err
		}
		var (
			longest, latest time.Duration
			most            int64
			slow, large     string
			interrupted     int
		)
		for _, line := range forgedCommands {
			took, after, resident, err := c.bounded(line, "forged")
			if err != nil {
				return fmt.Errorf("%s: reprise %s: %w", f.claim, line, err)
			}
			if after > 0 {
				interrupted++
				latest = max(latest, after)
			} else if took > longest {
				longest, slow = took, line
			}
			if resident > most {
				most, large = resident, line
			}
		}
		fmt.Fprintf(w, "| %s | %d | %d | %.2f | `%s` | %.0f | `%s` | %d |", f.claim, len(file),
			len(forgedCommands), longest.Seconds(), slow, float64(most)/1e6, large, interrupted)
		if interrupted > 0 {
			fmt.Fprintf(w, " %d |\n", latest.Milliseconds())
		} else {
			fmt.Fprintln(w, " – |")
		}
	}
	return nil
}

// bounded runs the program with a trace, and returns how long that took, how long after an interrupt if it
// went on too long, and the most memory that was resident. It may fail, with an error of one line at least.
func (c *command) bounded(line, trace string) (took, after time.Duration, resident int64, err error) {
	out := c.path("forged.out")
	if err := os.MkdirAll(out, 0o777); err != nil {
		return 0, 0, 0, err
	}
	defer os.RemoveAll(out)
	cmd := exec.Command(c.path("reprise"), strings.Fields(
		strings.NewReplacer("TRACE", c.path(trace), "OUT", out+"/out").Replace(line))...)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	begin := time.Now()
	timer := time.AfterFunc(patient, func() {
		if cmd.Process != nil {
			_ = cmd.Process.Signal(os.Interrupt)
		}
	})
	defer timer.Stop()
	resident, err = run(cmd)
	took = time.Since(begin)
	if took > patient {
		after = took - patient
	}
	if err != nil && (cmd.ProcessState == nil || cmd.ProcessState.ExitCode() < 0 ||
		errors.Len() == 0 && cmd.ProcessState.ExitCode() != 1 || strings.Contains(errors.String(), "goroutine ")) {
		return took, after, resident, fmt.Errorf("%w: %s", err, &errors)
	}
	if resident > mostResident {
		return took, after, resident, fmt.Errorf("%d MB resident", resident/1e6)
	}
	return took, after, resident, nil
}
