package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/merging"
	"github.com/reprise-trace/reprise/mpi/collect"
)

// A Finalizing says of a run that its processes merge their parts inside MPI_Finalize. It is passed on, as
// JSON, to the recorder of each process and to the helper of that.
type Finalizing struct {
	Output  string `json:"output"` // the trace, which rank 0 writes
	Bounded int64  `json:"bounded,omitempty"`
	Remove  bool   `json:"remove"` // the directory of the parts, once the trace is written

	socket *os.File // the program's, which leads to the helper
}

// String, Set and Type make a value of a flag of it.
func (f *Finalizing) String() string {
	if f == nil || f.Output == "" {
		return ""
	}
	text, _ := json.Marshal(f)
	return string(text)
}

func (f *Finalizing) Set(text string) error { return json.Unmarshal([]byte(text), f) }

func (f *Finalizing) Type() string { return "json" }

// wanted reports whether processes merge inside MPI_Finalize.
func (f *Finalizing) wanted() bool { return f.Output != "" }

// files returns the files that the program is given: the socket.
func (f *Finalizing) files() []*os.File {
	if f.socket == nil {
		return nil
	}
	return []*os.File{f.socket}
}

// environment returns what tells the program of the socket: its number as a file and as a socket, so that the
// program does not take one of its own for it, and the radix of the tree.
func (f *Finalizing) environment() string {
	var status unix.Stat_t
	if err := unix.Fstat(int(f.socket.Fd()), &status); err != nil {
		return ""
	}
	return fmt.Sprintf("%d %d %d", FirstExtra, status.Ino, merging.DefaultRadix)
}

// A finalizer is what a helper is while its program merges.
type finalizer struct {
	socket net.Conn
	from   *bufio.Reader
	asked  chan struct{} // closed when the program merges, or does not
}

// newFinalizer waits for what a program says on a socket, until a channel is closed, which says that the
// program has ended.
func newFinalizer(socket *os.File, ended <-chan struct{}) (*finalizer, error) {
	defer socket.Close()
	conn, err := net.FileConn(socket)
	if err != nil {
		return nil, err
	}
	f := &finalizer{socket: conn, from: bufio.NewReader(conn), asked: make(chan struct{})}
	go func() {
		<-ended
		conn.Close()
	}()
	go func() {
		defer close(f.asked)
		_, _ = f.from.Peek(1)
	}()
	return f, nil
}

// merge merges what is recorded with that of the other processes of the program, as it says, and reports
// whether it has written the part. If this fails, the part is merged later: all have written theirs before.
func (f *finalizer) merge(cmd *cobra.Command, collector *collect.Collector, o *collectOptions,
	s *Summary) (written bool) {
	<-f.asked
	defer f.socket.Close()
	m := &merging.Member{Cmd: cmd, Directory: o.output.Parts, Told: io.Discard,
		Summary: &merging.Summary{Input: []string{o.output.Parts}, Output: o.finalize.Output,
			Bound: o.finalize.Bounded}}
	m.Recorded = func() error {
		err := o.output.write(cmd, collector, s)
		m.Part, written = s.Output, err == nil
		return err
	}
	err := m.Serve(f.from, f.socket)
	if err == nil && m.Remove && o.finalize.Remove {
		err = os.RemoveAll(m.Directory)
	}
	if e := errors.Join(err, m.Root); e != nil && written && !errors.Is(e, net.ErrClosed) { // the program has ended, which others say
		cli.Warn(cmd.ErrOrStderr(), "merging in MPI_Finalize: %v", e)
	}
	return written
}
