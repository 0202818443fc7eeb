package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/launching"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/atomicfile"
	"github.com/reprise-trace/reprise/internal/regular"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/mpi/collect"
)

// A helper is the process in which record collects: one of its own session, so that
// it comes to its end when a launcher kills all that belongs to a program that died.
type helper struct {
	Cmd   *exec.Cmd
	stdin io.WriteCloser
	hangs chan struct{} // closed when the helper wants the command killed
	again []string      // begins what collects what lies in the spool, if the helper was killed
	spool string
	left  bool     // the spool is to stay
	lock  *os.File // of the directory of parts, if it is locked
}

// An Ending is what record tells the helper of the command that has ended.
type Ending struct {
	Status int           `json:"status"`
	Ran    time.Duration `json:"ran_ns"`

	Nothing string `json:"nothing"` // why no call may have been recorded
}

// StartHelper starts a process that collects from a spool.
func StartHelper(spool string, o *Options, made format.Origin) (*helper, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	origin, err := json.Marshal(made)
	if err != nil {
		return nil, err
	}
	note, err := json.Marshal(spoolNote{made, o.kept()})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(spool, originFile), note, 0o600); err != nil {
		return nil, err
	}
	args := []string{"collect", "--origin", string(origin)}
	for _, f := range o.kept() {
		args = append(args, "--"+f.Name+"="+f.Value)
	}
	for flag, set := range map[string]bool{"--json": o.json, "--quiet": o.Quiet} {
		if set {
			args = append(args, flag)
		}
	}
	var extra []*os.File
	if o.Output.Parts != "" {
		args = append(args, "--parts", o.Output.Parts)
	} else {
		args = append(args, "-o", o.Output.Path)
	}
	again := slices.Clone(args)
	args = append(args, "--live")
	if o.raw != "" {
		args = append(args, "--keep")
	}
	if o.timeout > 0 {
		args = append(args, "--timeout", o.timeout.String())
	}
	h := &helper{hangs: make(chan struct{}), again: again, spool: spool}
	if o.Lock {
		if h.lock, err = LockParts(o.Output.Parts); err != nil {
			return nil, err
		}
		extra = append(extra, h.lock)
	}
	if o.place != nil {
		extra = append(extra, o.place)
	}
	if o.finalize.wanted() {
		mine, theirs, err := launching.SocketPair()
		if err != nil {
			return nil, err
		}
		defer mine.Close()
		o.finalize.socket = theirs
		extra = append(extra, mine)
		args = append(args, "--finalize", o.finalize.String(), "--socket", strconv.Itoa(FirstExtra+len(extra)-1))
	}
	h.Cmd = exec.Command(self, append(args, "--", spool)...)
	h.Cmd.Stderr, h.Cmd.ExtraFiles = os.Stderr, extra
	h.Cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if h.stdin, err = h.Cmd.StdinPipe(); err != nil {
		return nil, err
	}
	told, err := h.Cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := o.processors.start(h.Cmd); err != nil {
		return nil, err
	}
	go func() {
		word := make([]byte, len(hangs))
		if _, err := io.ReadFull(told, word); err == nil && o.OnTimeout.Value == "kill" {
			close(h.hangs)
		}
	}()
	return h, nil
}

// A keptFlag is a flag of record that says what the trace is to keep, as collect takes it.
type keptFlag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// keptFlags are the names of those flags.
var keptFlags = []string{"times", "error", "allocations", "polls", "bounded"}

// kept returns what was asked for. What is asked of the processes, such as --sites, is in their records.
func (o *Options) kept() []keptFlag {
	list := []keptFlag{{"times", o.Times.Words}}
	for _, e := range o.Times.Errors {
		list = append(list, keptFlag{"error", e})
	}
	if o.allocations {
		list = append(list, keptFlag{"allocations", "true"})
	}
	if areDropped(o.Polls) {
		list = append(list, keptFlag{"polls", dropPolls})
	}
	if o.Output.bounded > 0 {
		list = append(list, keptFlag{"bounded", strconv.FormatInt(int64(o.Output.bounded), 10)})
	}
	return list
}

// A spoolNote is what record writes into a spool.
type spoolNote struct {
	format.Origin
	Keep []keptFlag `json:"keep,omitempty"`
}

// apply sets flags of collect as those of record were, unless any of them is given.
func (n *spoolNote) apply(f *pflag.FlagSet) error {
	for _, name := range keptFlags {
		if f.Changed(name) {
			return nil
		}
	}
	for _, k := range n.Keep {
		if !slices.Contains(keptFlags, k.Name) {
			return fmt.Errorf("it keeps %q, which is none of %s", k.Name, strings.Join(keptFlags, ", "))
		}
		if k.Name == "bounded" && f.Changed("parts") {
			continue // a trace is made to fit when its parts are merged
		}
		if err := f.Set(k.Name, k.Value); err != nil {
			return err
		}
	}
	return nil
}

// originFile is who records, as JSON, in a spool: for what collects it if record is killed.
const originFile = "origin.json"

// maxOrigin is how many bytes of it are read.
const maxOrigin = 1 << 20

// spoolOrigin reads who made a spool, which says nothing if there is no such file. What record does not
// write there is left out.
func spoolOrigin(directory string) (spoolNote, error) {
	f, err := regular.Open(filepath.Join(directory, originFile))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			err = nil
		}
		return spoolNote{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxOrigin+1))
	if err == nil && len(data) > maxOrigin {
		err = fmt.Errorf("it is longer than %d bytes", maxOrigin)
	}
	var o spoolNote
	if err == nil {
		err = json.Unmarshal(data, &o)
	}
	if err != nil {
		return spoolNote{}, err
	}
	o.Origin = format.Origin{Jobs: o.Jobs, Commands: o.Commands, Hosts: o.Hosts, Versions: o.Versions, Began: o.Began}
	return o, nil
}

// FirstExtra is the number of the first of further files that a process is given.
const FirstExtra = 3

// LockParts takes a lock of a directory of parts that others share. It is held as long as any process has the
// file open, so until record has ended, which may collect again, and the helper, even if one of them is
// killed.
func LockParts(directory string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(directory, ".recording"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	_ = unix.Flock(int(f.Fd()), unix.LOCK_SH) // where files cannot be locked, nobody waits
	return f, nil
}

// hangs is what the helper writes to standard output when the program hangs.
const hangs = "hangs\n"

// abandon ends a helper whose command did not start.
func (h *helper) abandon() {
	_ = h.Cmd.Process.Kill()
	_ = h.Cmd.Wait()
	h.unlock()
}

// unlock gives the directory of parts free.
func (h *helper) unlock() {
	if h.lock != nil {
		h.lock.Close()
	}
}

// Finish tells the helper that the command has ended, and waits for the trace.
func (h *helper) Finish(e Ending) error {
	message, err := json.Marshal(e)
	if err != nil {
		return err
	}
	defer h.unlock()
	_, err = h.stdin.Write(message)
	err = errors.Join(err, h.stdin.Close())
	killed := h.Cmd.Wait()
	if h.Cmd.ProcessState != nil && h.Cmd.ProcessState.ExitCode() > 0 {
		return cli.ExitStatus(h.Cmd.ProcessState.ExitCode()) // it has said why
	} else if killed == nil {
		return err
	}
	return h.collectAgain(killed, message)
}

// collectAgain collects what lies in the spool, of which the helper was killed, with the ending of the
// command.
func (h *helper) collectAgain(cause error, message []byte) error {
	if _, err := os.Lstat(h.spool); errors.Is(err, fs.ErrNotExist) {
		cli.Warn(os.Stderr, "the process that collects: %v, when the trace was written", cause)
		return nil
	}
	if !collect.IsSpool(h.spool) {
		return fmt.Errorf("the process that collects: %w: %w", cause, ErrNothing)
	}
	cli.Warn(os.Stderr, "the process that collects: %v: the records are collected again", cause)
	again := exec.Command(h.Cmd.Path, append(h.again, "--ended", string(message), "--", h.spool)...)
	again.Stderr, again.SysProcAttr = os.Stderr, h.Cmd.SysProcAttr
	if h.lock != nil {
		again.ExtraFiles = []*os.File{h.lock}
	}
	err := again.Run()
	if h.left = err != nil; !h.left {
		return nil
	}
	cli.Warn(os.Stderr, "the records are in %s: reprise collect makes a trace of them", h.spool)
	if again.ProcessState != nil && again.ProcessState.ExitCode() > 0 {
		return cli.ExitStatus(again.ProcessState.ExitCode()) // it has said why
	}
	return fmt.Errorf("the process that collects: %w", err)
}

// collectLive collects from a spool until standard input says that the command has ended. If that ends
// without a word, record itself was killed: then it goes on until the processes have ended, and removes the
// spool, whatever comes of it. The trace is told of before the spool is removed.
func collectLive(cmd *cobra.Command, collector *collect.Collector, o *collectOptions, spool string) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	cmd.SetContext(context.WithoutCancel(cmd.Context()))
	stop := make(chan struct{})
	var e Ending
	var told error
	go func() {
		defer close(stop)
		told = json.NewDecoder(os.Stdin).Decode(&e)
	}()
	w := &watch{cmd: cmd, collector: collector, path: o.output.Path, timeout: o.timeout, quiet: o.quiet || o.json}
	until, merging := (<-chan struct{})(stop), (*finalizer)(nil)
	if o.finalize.wanted() {
		var err error
		if merging, err = newFinalizer(os.NewFile(uintptr(o.socket), "socket"), stop); err != nil {
			return err
		}
		until = merging.asked
	}
	collectUntil(until, collector, cmd.ErrOrStderr(), w.look)
	var s Summary
	var err error
	if merging != nil && merging.merge(cmd, collector, o, &s) {
		<-stop
		s.Status, s.Command = e.Status, e.Ran
	} else {
		for told != nil && collector.Alive() {
			time.Sleep(Idle)
			if _, err := collector.Poll(); err != nil {
				break
			}
		}
		begin := time.Now()
		s = Summary{Status: e.Status, Command: e.Ran}
		err = o.output.write(cmd, collector, &s)
		s.After = time.Since(begin)
	}
	switch {
	case err == nil:
		err = s.Print(cmd.ErrOrStderr(), o.json, o.quiet)
	case errors.Is(err, ErrNothing) && collector.Processes() > 0:
		err = fmt.Errorf("%w: the program made none", err)
	case errors.Is(err, ErrNothing) && e.Nothing != "":
		err = fmt.Errorf("%w: %s", err, e.Nothing)
	}
	if !o.keep && (err == nil || told != nil) { // else record does it
		atomicfile.Discard(spool)
	}
	if errors.Is(err, ErrNothing) && told == nil {
		cli.Notice(cmd.ErrOrStderr(), "reprise:", text.Failure, err.Error())
		return cli.ExitStatus(exitNothing)
	}
	return err
}

// exitNothing is the status of a helper that has said that nothing was recorded.
const exitNothing = 99

// forwarded are the signals that go on to the command.
var forwarded = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1,
	syscall.SIGUSR2, syscall.SIGCONT, syscall.SIGWINCH, syscall.SIGALRM, syscall.SIGXCPU, syscall.SIGTSTP}

// runCommand runs a command, hands signals on to it, and returns its exit status. It ends
// the command when a channel is closed.
func runCommand(ctx context.Context, args, env []string, files []*os.File, stop <-chan struct{}) (int, error) {
	c := exec.Command(args[0], args[1:]...)
	c.Env, c.ExtraFiles = env, files
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	cli.Running.Store(true)
	defer cli.Running.Store(false)
	signals := make(chan os.Signal, 16)
	alone := apart()
	Notify(signals, alone)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: alone}
	defer signal.Stop(signals)
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := c.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	end, handed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(handed)
		relay := NewRelay(c.Process)
		defer relay.end()
		relay.HandOn(signals, end)
	}()
	defer func() {
		close(end)
		<-handed
	}()
	for {
		select {
		case err := <-ended:
			return statusOf(c, err)
		case <-stop:
			stop = nil
			_ = c.Process.Signal(syscall.SIGTERM)
			kill := time.AfterFunc(launching.Patience, func() { _ = c.Process.Kill() })
			defer kill.Stop()
		}
	}
}

// How long the collector waits before it looks for more: at most, and while the program writes a lot.
const (
	Idle = 50 * time.Millisecond
	Busy = 2 * time.Millisecond
)

// Worth is how many bytes of records are worth a look. Smaller amounts can wait, as looking for them costs
// more than reading them.
const Worth = 256 << 10

// NextWait returns how long the collector waits that has waited and found so many bytes: it waits for about
// as many as are worth a look.
func NextWait(wait time.Duration, found int64) time.Duration {
	switch {
	case found >= 8*Worth:
		return Busy
	case found >= 2*Worth:
		return max(wait/2, Busy)
	case found < Worth:
		return min(2*wait, Idle)
	}
	return wait
}

// collectUntil collects until a channel is closed, and calls look each time. An error need not
// last.
func collectUntil(stop <-chan struct{}, collector *collect.Collector, stderr io.Writer, look func()) {
	complained := false
	for wait := Idle; ; {
		select {
		case <-stop:
			return
		case <-time.After(wait):
		}
		found, err := collector.Poll()
		if err != nil && !complained {
			cli.Warn(stderr, "%v", err)
			complained = true
		}
		look()
		wait = NextWait(wait, found)
	}
}

// statusOf returns the exit status of a command as a shell would tell it.
func statusOf(c *exec.Cmd, err error) (int, error) {
	if c.ProcessState == nil {
		return 0, err
	}
	if w, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal()), nil
	}
	return c.ProcessState.ExitCode(), nil
}

// ProcessorTime returns the time that this program took of processors.
func ProcessorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
