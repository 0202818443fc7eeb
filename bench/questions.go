package bench

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reprise-trace/reprise/internal/test/programs"
	"github.com/reprise-trace/reprise/merge"
)

// questions are the commands that look into a trace. TRACE stands for its file, OTHER
// for that of a run that is a little longer, and OUT for a file to write. The trace of LU
// has no times.
var questions = []string{
	"info TRACE",
	"profile TRACE",
	"profile TRACE --by signature",
	"profile TRACE --by rank",
	"messages TRACE --by pair",
	"messages TRACE --by size",
	"messages TRACE --by communicator",
	"matrix TRACE -o OUT.svg",
	"grammar TRACE --shape 0",
	"at TRACE 100us",
	"imbalance TRACE",
	"match TRACE",
	"diff TRACE TRACE",
	"diff TRACE OTHER",
	"report TRACE -o OUT.html",
}

// exports are the formats of the export command, and the suffixes of files.
var exports = []string{"parquet", "csv", "pprof", "chrome", "perfetto", "paraver", "simgrid"}

// reportQuestions reports what the commands that look into a trace take, as whole programs:
// on the trace of LU on 64 ranks, and on one of 10⁹ calls.
func reportQuestions(w io.Writer, dir string) error {
	c, err := newCommand()
	if err != nil {
		return err
	}
	defer c.remove()
	if err := c.writeTraces(dir); err != nil {
		return err
	}
	fmt.Fprintf(w, "| command | LU, 64 ranks, 4.4·10⁶ calls: ms | MB | 1,024 ranks, %.3g calls: ms | MB |\n|---|---|---|---|---|\n", float64(c.calls))
	for _, q := range questions {
		fmt.Fprintf(w, "| `%s` ", q)
		for _, name := range []string{"lu", "stencil"} {
			if timesOnly := strings.HasPrefix(q, "at ") ||
				strings.HasPrefix(q, "imbalance "); timesOnly && name == "lu" {
				fmt.Fprint(w, "| – | – ")
				continue
			}
			took, resident, err := c.median(strings.Fields(q), name)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "| %.0f | %.0f ", took.Seconds()*1e3, float64(resident)/1e6)
		}
		fmt.Fprintln(w, "|")
	}
	return nil
}

// reportExports reports how fast the calls of the trace of LU on 64 ranks are written in
// other formats.
func reportExports(w io.Writer, dir string) error {
	c, err := newCommand()
	if err != nil {
		return err
	}
	defer c.remove()
	if err := c.writeLU(dir); err != nil {
		return err
	}
	heads(w, "format", "s", "million calls/s", "MB resident", "file, MB")
	for _, format := range exports {
		took, resident, err := c.median([]string{"export", "TRACE", "--format", format, "-o", "OUT"}, "lu")
		if err != nil {
			return err
		}
		size, err := sizeOf(c.path("out"))
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %s | %.2f | %.1f | %.0f | %.1f |\n", format, took.Seconds(),
			float64(c.calls)/took.Seconds()/1e6, float64(resident)/1e6, float64(size)/1e6)
	}
	return nil
}

// sizeOf returns the size of a file, or of all files in a directory.
func sizeOf(path string) (int64, error) {
	size := int64(0)
	err := filepath.Walk(path, func(_ string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
		return err
	})
	return size, err
}

// A command is the program of cmd/reprise and what it reads and writes.
type command struct {
	directory string
	calls     uint64 // of the trace that was written last
	rounds    int
}

// newCommand builds the program.
func newCommand() (*command, error) {
	directory, err := os.MkdirTemp("", "reprise-bench-")
	if err != nil {
		return nil, err
	}
	c := &command{directory: directory, rounds: rounds}
	if out, err := exec.Command("go", "build", "-o", c.path("reprise"),
		"github.com/reprise-trace/reprise/cmd/reprise").CombinedOutput(); err != nil {
		c.remove()
		return nil, fmt.Errorf("building the command: %w: %s", err, out)
	}
	return c, nil
}

func (c *command) remove() { os.RemoveAll(c.directory) }

func (c *command) path(name string) string { return filepath.Join(c.directory, name) }

// writeTraces writes the traces that questions are about.
func (c *command) writeTraces(dir string) error {
	if err := c.writeLU(dir); err != nil {
		return err
	}
	if err := c.writeProgram("stencil.other", programs.Stencil2D(32, 32, 110_001).Timed()); err != nil {
		return err
	}
	return c.writeProgram("stencil", programs.Stencil2D(32, 32, 110_000).Timed())
}

func (c *command) writeProgram(name string, p programs.Program) error {
	var a merge.Accumulator
	if err := a.Describe(p.Run()); err != nil {
		return err
	}
	c.calls = 0
	for rank := range p.Ranks {
		part := p.Part(rank)
		c.calls += part.Grammar.Len()
		if err := a.Add(part); err != nil {
			return err
		}
	}
	var file bytes.Buffer
	if err := a.Write(&file); err != nil {
		return err
	}
	return os.WriteFile(c.path(name), file.Bytes(), 0o666)
}

// writeLU writes the trace of LU on 64 ranks, and again as one of another run.
func (c *command) writeLU(dir string) error {
	traces, err := readTraces(dir)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(traces, func(t traceText) bool { return t.name == "lu.W.64" })
	if at < 0 {
		return fmt.Errorf("lu.W.64: %w", ErrNoTraces)
	}
	file, err := traces[at].compress()
	if err != nil {
		return err
	}
	if c.calls, err = expand(file); err != nil {
		return err
	}
	if err := os.WriteFile(c.path("lu"), file, 0o666); err != nil {
		return err
	}
	return os.WriteFile(c.path("lu.other"), file, 0o666)
}

// median runs the program some times with a trace, and returns the median of the
// times and the most memory that was resident, in bytes.
func (c *command) median(args []string, trace string) (time.Duration, int64, error) {
	took, _, resident, err := c.medians(args, trace)
	return took, resident, err
}

// medians is median, with the median of the times of processors as well.
func (c *command) medians(args []string, trace string) (took, processor time.Duration, most int64, err error) {
	names := strings.NewReplacer("TRACE", c.path(trace), "OTHER", c.path(trace+".other"), "OUT", c.path("out"))
	var times, processors []time.Duration
	for range c.rounds {
		cmd := exec.Command(c.path("reprise"))
		for _, a := range args {
			cmd.Args = append(cmd.Args, names.Replace(a))
		}
		var errors bytes.Buffer
		cmd.Stderr = &errors
		if err := os.RemoveAll(c.path("out")); err != nil {
			return 0, 0, 0, err
		}
		begin := time.Now()
		resident, err := run(cmd)
		times = append(times, time.Since(begin))
		processors = append(processors, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		most = max(most, resident)
		if differ := args[0] == "diff" && cmd.ProcessState.ExitCode() == 1 && errors.Len() == 0; err != nil && !differ {
			return 0, 0, 0, fmt.Errorf("reprise %s: %w: %s", strings.Join(args, " "), err, &errors)
		}
	}
	slices.Sort(times)
	slices.Sort(processors)
	return times[len(times)/2], processors[len(processors)/2], most, nil
}

// run runs a command and returns the most memory that was resident, in bytes, which it
// asks Linux for again and again. What the system says of a process that has ended
// is of no use: it counts what this one had when it began the other.
func run(cmd *exec.Cmd) (resident int64, err error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	status := fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)
	for {
		select {
		case err := <-ended:
			return resident, err
		case <-time.After(200 * time.Microsecond):
		}
		data, _ := os.ReadFile(status)
		if _, value, ok := strings.Cut(string(data), "VmHWM:"); ok {
			var kilobytes int64
			fmt.Sscan(value, &kilobytes)
			resident = max(resident, kilobytes<<10)
		}
	}
}
