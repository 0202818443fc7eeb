package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/internal/test/tier"
)

// openTerminal returns both ends of a new pseudoterminal.
func openTerminal(t *testing.T) (master, terminal *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudoterminals: ", err)
	}
	var number, unlock uint32
	for request, p := range map[uintptr]*uint32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlock} {
		if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(p))); e != 0 {
			t.Skip("no pseudoterminals: ", e)
		}
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudoterminals: ", err)
	}
	return master, terminal
}

// screen returns what can be seen of text whose lines are written over.
func screen(text string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		var seen []rune
		at := 0
		for _, r := range line {
			switch {
			case r == '\r':
				at = 0
				continue
			case at == len(seen):
				seen = append(seen, r)
			default:
				seen[at] = r
			}
			at++
		}
		lines = append(lines, strings.TrimRight(string(seen), " "))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// showAtOnce has progress shown as soon as work begins.
func showAtOnce(t *testing.T) {
	t.Helper()
	after := cli.ProgressAfter
	cli.ProgressAfter = 0
	t.Cleanup(func() { cli.ProgressAfter = after })
}

// TestProgress checks that long work shows its progress on a terminal, takes it
// away at the end, and shows nothing elsewhere.
func TestProgress(t *testing.T) {
	t.Chdir(t.TempDir())
	writeInputs(t)
	showAtOnce(t)
	for _, tt := range []struct{ args, what string }{
		{"compress long.txt -o out.rpz", "compress"},
		{"compress longs.txt -o out.rpz", "compress"},
		{"compress long.txt -o out.rpz", "merge"},
		{"merge even.part.rpz odd.part.rpz -o out.rpz", "merge"},
		{"merge even.part.rpz odd.part.rpz -o out.rpz", "write"},
		{"info long.rpz", "info"},
		{"repair flipped.rpz -o out.rpz", "repair"},
		{"verify long.rpz long.txt", "verify"},
		{"info long.rpz --compare", "gzip and zstd"},
		{"cat long.rpz --split dir", "cat"},
		{"report long.rpz -o out.html", "report"},
		{"profile long.rpz", "profile"},
	} {
		master, terminal := openTerminal(t)
		status := run(t.Context(), strings.Fields(tt.args), strings.NewReader(""), io.Discard, terminal)
		terminal.Close()
		shown, _ := io.ReadAll(master) // its end is an error
		master.Close()
		if status != cli.ExitOK || !strings.Contains(string(shown), tt.what) {
			t.Errorf("reprise %s: status %d, %q on the terminal", tt.args, status, shown)
		}
		if rest := screen(string(shown)); rest != "" {
			t.Errorf("reprise %s leaves %q on the terminal", tt.args, rest)
		}
	}
	checkFileProgress(t)
}

// TestProgressOfCollect checks that the end of a recording shows its steps, and none with --quiet.
func TestProgressOfCollect(t *testing.T) {
	t.Chdir(t.TempDir())
	showAtOnce(t)
	writeSpool(t, "spool", 2, 0, 1)
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"collect spool -o out.rpz", []string{"collect", "merge", "write"}},
		{"collect spool -o out.rpz --quiet", nil},
	} {
		master, terminal := openTerminal(t)
		status := run(t.Context(), strings.Fields(tt.args), strings.NewReader(""), io.Discard, terminal)
		terminal.Close()
		shown, _ := io.ReadAll(master)
		master.Close()
		if status != cli.ExitOK || (len(shown) > 0) != (tt.want != nil) {
			t.Errorf("reprise %s: status %d, %q on the terminal", tt.args, status, shown)
		}
		for _, what := range tt.want {
			if !strings.Contains(string(shown), "\r"+what) {
				t.Errorf("reprise %s: no %s in %q", tt.args, what, shown)
			}
		}
	}
}

// checkFileProgress checks that what is written to a file shows its progress, and
// that a file shows none.
func checkFileProgress(t *testing.T) {
	t.Helper()
	file, err := os.Create("file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if status := run(t.Context(), []string{"compress", "long.txt", "-o", "out.rpz"}, nil, io.Discard,
		file); status != cli.ExitOK {
		t.Errorf("status %d", status)
	}
	if text := readFile(t, "file"); text != "" {
		t.Errorf("%q in a file", text)
	}
	master, terminal := openTerminal(t)
	defer master.Close()
	status := run(t.Context(), []string{"cat", "long.rpz"}, nil, file, terminal)
	terminal.Close()
	shown, _ := io.ReadAll(master)
	if status != cli.ExitOK || !strings.Contains(string(shown), "cat") ||
		readFile(t, "file") != readFile(t, "long.txt") {
		t.Errorf("status %d, %q on the terminal", status, shown)
	}
}

// A shown is what came to a terminal so far.
type shown struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// readShown reads what comes to a terminal.
func readShown(master *os.File) (s *shown, ended chan struct{}) {
	s, ended = new(shown), make(chan struct{})
	go func() {
		defer close(ended)
		p := make([]byte, 4096)
		for {
			n, err := master.Read(p)
			s.mu.Lock()
			s.text.Write(p[:n])
			s.mu.Unlock()
			if err != nil {
				return // as the terminal is closed
			}
		}
	}()
	return s, ended
}

func (s *shown) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestProgressLine checks when progress is shown, what it says, how wide it is at most, and
// that nothing of it stays.
func TestProgressLine(t *testing.T) {
	for _, width := range tier.Some([]int{80, 30, 12, 200}, 2) {
		master, terminal := openTerminal(t)
		resize(t, terminal, width)
		s, ended := readShown(master)
		short := cli.NewCounter(t.Context(), terminal, "short", 100, "ranks")
		short.Show(50)
		time.Sleep(50 * time.Millisecond)
		short.Done()
		begin := time.Now()
		p := cli.NewCounter(t.Context(), terminal, "work", 100, "ranks")
		p.Show(25)
		waitFor(t, func() bool { return strings.Contains(s.String(), "25 %") })
		if since := time.Since(begin); since < cli.ProgressAfter {
			t.Errorf("shown after %v", since)
		}
		p.Show(101) // a total that was none
		waitFor(t, func() bool { return strings.Contains(s.String(), "\rwork  101 r") })
		p.Say("step 2 of 4, all", 3*time.Second)
		waitFor(t, func() bool {
			return width <= 80 || strings.Contains(s.String(), "2 of 4, all  at most 3 s of processor left")
		})
		p.Done()
		p.Done()
		p.Show(7)
		terminal.Close()
		<-ended
		text := s.String()
		if strings.Contains(text, "short") || width > 20 && !strings.Contains(text, "s left") ||
			width >= 80 && !strings.Contains(text, "[=====") {
			t.Errorf("width %d: %q", width, text)
		}
		if screen(text) != "" {
			t.Errorf("width %d: %q stays", width, screen(text))
		}
		for line := range strings.SplitSeq(text, "\r") {
			if len(line) >= width {
				t.Errorf("width %d: %d columns: %q", width, len(line), line)
			}
		}
	}
}

// TestProgressEnds checks that nothing of the progress stays after an error, and after work
// that was cancelled.
func TestProgressEnds(t *testing.T) {
	t.Setenv("TERM", "dumb")
	t.Chdir(t.TempDir())
	writeInputs(t)
	showAtOnce(t)
	writeFile(t, "bad.txt", readFile(t, "long.txt")+"0 no such action\n\x00")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		ctx  context.Context
		want string
	}{{t.Context(), "reprise: bad.txt:"}, {ctx, "reprise: interrupted"}} {
		master, terminal := openTerminal(t)
		s, ended := readShown(master)
		status := run(tt.ctx, []string{"compress", "bad.txt", "-o", "out.rpz"}, strings.NewReader(""),
			io.Discard, terminal)
		terminal.Close()
		<-ended
		if left := screen(s.String()); status == cli.ExitOK || !strings.HasPrefix(left, tt.want) {
			t.Errorf("status %d, %q is left of %q", status, left, s.String())
		}
	}
}

// TestProgressSignal interrupts work whose progress is shown, once, and twice as it does not
// notice.
func TestProgressSignal(t *testing.T) {
	t.Setenv("TERM", "dumb")
	t.Chdir(t.TempDir())
	writeFile(t, "in.txt", "0 init\n0 finalize\n")
	if err := syscall.Mkfifo("pipe", 0o666); err != nil {
		t.Skip("no named pipes: ", err)
	}
	for _, tt := range tier.Some([]struct{ args, want string }{
		{"compress - -o out.rpz", "reprise: interrupted"},
		{"compress in.txt pipe -o out.rpz", "reprise: interrupted"},
	}, 2) {
		master, terminal := openTerminal(t)
		cmd := process(t, strings.Fields(tt.args)...)
		cmd.Stderr = terminal
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer stdin.Close()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		io.WriteString(stdin, strings.Repeat("0 send 1 0 8 1\n", 1000))
		s, ended := readShown(master)
		waitFor(t, func() bool { return strings.Contains(s.String(), "compress") })
		gone := make(chan struct{})
		go func() {
			cmd.Wait()
			close(gone)
		}()
		for waiting := true; waiting; {
			cmd.Process.Signal(syscall.SIGINT)
			select {
			case <-gone:
				waiting = false
			case <-time.After(300 * time.Millisecond):
			}
		}
		terminal.Close()
		<-ended
		if status := cmd.ProcessState.ExitCode(); status != cli.ExitInterrupted || screen(s.String()) != tt.want {
			t.Errorf("reprise %s: status %d, %q is left of %q", tt.args, status, screen(s.String()), s.String())
		}
	}
}

// TestProgressNotice checks that a warning has a line of its own while progress is shown.
func TestProgressNotice(t *testing.T) {
	t.Setenv("TERM", "dumb")
	showAtOnce(t)
	master, terminal := openTerminal(t)
	s, ended := readShown(master)
	p := cli.NewCounter(t.Context(), terminal, "work", 100, "ranks")
	p.Show(25)
	waitFor(t, func() bool { return strings.Contains(s.String(), "25 %") })
	cli.Warn(terminal, "something")
	p.Show(50)
	waitFor(t, func() bool { return strings.Contains(s.String(), "50 %") })
	p.Done()
	terminal.Close()
	<-ended
	if left := screen(s.String()); left != "reprise: warning: something" {
		t.Errorf("%q is left of %q", left, s.String())
	}
}
