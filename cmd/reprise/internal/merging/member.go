package merging

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/launching"
	"github.com/reprise-trace/reprise/format"
	"github.com/reprise-trace/reprise/internal/layout"
	"github.com/reprise-trace/reprise/internal/text"
	"github.com/reprise-trace/reprise/merge"
)

// A Member is a process of a tree that merges parts. Its program of MPI, see
// [interpose.BuildReducer], tells it what to read and what to merge, and passes on what it has.
type Member struct {
	Cmd       *cobra.Command
	Summary   *Summary
	Directory string // of the parts

	Recorded func() error // writes the part of what this process has recorded, nil if it does not record
	Part     string       // which is in this file
	Told     io.Writer    // of how many parts were merged

	all    merge.Accumulator
	origin format.Origin // of all
	tells  tidings
	Root   error // of writing the trace
	Remove bool  // the directory may be removed
}

// Tidings are what a member tells besides what it has merged.
type tidings struct {
	Parts   int      `json:"parts"`
	Left    []string `json:"left_out,omitempty"` // what is wrong with parts, which are left out
	Raw     []string `json:"raw,omitempty"`      // sentences about killed recorders
	Failure string   `json:"failure,omitempty"`  // why there is no trace
}

// mergeAsMember is what each process of a tree does.
func mergeAsMember(cmd *cobra.Command, s *Summary, o *TreeOptions) error {
	program, err := o.handed.Take(cmd.Context())
	if err == nil {
		err = o.collectLeft(cmd, s.Input)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", launching.Host(), err)
	}
	c := exec.CommandContext(cmd.Context(), program, s.Input[0], strconv.Itoa(o.Radix))
	socket, theirs, err := launching.SocketPair()
	if err != nil {
		return err
	}
	c.Stdin, c.Stdout, c.Stderr = theirs, os.Stderr, os.Stderr
	err = c.Start()
	theirs.Close()
	if err != nil {
		return err
	}
	m := &Member{Cmd: cmd, Summary: s, Directory: s.Input[0], Told: cmd.OutOrStdout()}
	m.tells.Raw = leftOf(s.Input)
	err = m.Serve(bufio.NewReader(socket), socket)
	socket.Close() // if there is an error, the program aborts
	e := c.Wait()
	if cmd.Context().Err() != nil {
		return cli.ExitStatus(cli.ExitInterrupted) // one says so, for all
	}
	if err == nil && e != nil {
		err = fmt.Errorf("merging with MPI: %w", e)
	}
	if err == nil && m.Remove && o.Remove {
		err = os.RemoveAll(m.Directory)
	}
	// Launchers make much noise about each process that fails: of the members, only the root does.
	return errors.Join(err, m.Root)
}

// Serve does what the program of MPI says.
func (m *Member) Serve(from *bufio.Reader, to io.Writer) error {
	for {
		what, err := from.ReadByte()
		if err != nil {
			return fmt.Errorf("merging with MPI: the program ended: %w", err)
		}
		switch what {
		case 'f':
			err = m.read(from)
		case 'w':
			m.record()
		case 'm':
			err = m.take(from)
		case 'g':
			err = m.give(to)
		case 'r':
			m.Root = m.write()
			_, err = to.Write([]byte{map[bool]byte{true: 1}[m.done()]})
		case 'd', 'e':
			m.Remove = what == 'd'
			return nil
		default:
			err = fmt.Errorf("merging with MPI: the program says %q", what)
		}
		if err != nil {
			return err
		}
	}
}

// read reads part files and merges them. Those that are damaged it leaves out.
func (m *Member) read(from io.Reader) error {
	var count int32
	if err := binary.Read(from, binary.NativeEndian, &count); err != nil {
		return err
	}
	numbers := make([]int32, count)
	if err := binary.Read(from, binary.NativeEndian, numbers); err != nil {
		return err
	}
	for _, n := range numbers {
		if err := m.readPart(PartName(m.Directory, int(n))); err != nil {
			m.tells.Left = append(m.tells.Left, fmt.Sprintf("%s: left out: %v", launching.Host(), err))
		}
	}
	return nil
}

// readPart reads a part file and merges it.
func (m *Member) readPart(path string) error {
	var part *merge.Accumulator
	var origin format.Origin
	err := openPart(m.Cmd.Context(), path, func(file *format.Reader) (err error) {
		if part, err = merge.ReadPart(file); err == nil {
			origin, err = layout.ReadOrigin(file)
		}
		return err
	})
	if err != nil {
		return err
	}
	m.tells.Parts++
	m.merge(part, origin)
	return nil
}

// record writes the part of what this process has recorded, and merges it. If it cannot, there is no trace.
func (m *Member) record() {
	if m.Recorded == nil {
		return
	}
	err := m.Recorded()
	if err == nil {
		err = m.readPart(m.Part)
	}
	if err != nil {
		m.tells.Failure = fmt.Sprintf("%s: %v", launching.Host(), err)
	}
}

// merge merges a part.
func (m *Member) merge(part *merge.Accumulator, origin format.Origin) {
	if m.tells.Failure != "" {
		return
	}
	origins := []format.Origin{m.origin, origin}
	if m.all.RankSet().Len() > 0 && len(layout.SplitRuns(origins)) > 1 {
		m.tells.Failure = fmt.Sprintf("the parts in %s are of several runs: %s, and %s", m.Directory,
			runName(m.origin), runName(origin))
		return
	}
	layout.MergeOrigin(&m.origin, origin)
	if err := m.all.Merge(part); err != nil {
		m.tells.Failure = err.Error()
	}
}

// take merges what another member gives: tidings, and a part file if it has any parts.
func (m *Member) take(from io.Reader) error {
	var size uint64
	if err := binary.Read(from, binary.NativeEndian, &size); err != nil {
		return err
	}
	if size > math.MaxInt64 {
		return fmt.Errorf("merging with MPI: a part of %s", text.Plural(size, "byte"))
	}
	var given bytes.Buffer // grows with what comes
	if _, err := io.CopyN(&given, from, int64(size)); err != nil {
		return err
	}
	line, err := given.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("merging with MPI: %w", err)
	}
	var tells tidings
	if err := json.Unmarshal(line, &tells); err != nil {
		return fmt.Errorf("merging with MPI: %w", err)
	}
	m.tells.Parts += tells.Parts
	m.tells.Left = append(m.tells.Left, tells.Left...)
	m.tells.Raw = append(m.tells.Raw, tells.Raw...) // each process of a node names them
	if m.tells.Failure == "" {
		m.tells.Failure = tells.Failure
	}
	if given.Len() == 0 {
		return nil
	}
	n := int64(given.Len())
	// as this program has written it
	file, err := format.NewReader(bytes.NewReader(given.Bytes()), n, layout.FileOptions(n, math.MaxInt64))
	if err != nil {
		return err
	}
	part, err := merge.ReadPart(file)
	if err != nil {
		return err
	}
	origin, err := layout.ReadOrigin(file)
	if err != nil {
		return err
	}
	m.merge(part, origin)
	return nil
}

// give gives what is merged, as take takes it.
func (m *Member) give(to io.Writer) error {
	line, err := json.Marshal(m.tells)
	if err != nil {
		return err
	}
	given := bytes.NewBuffer(append(line, '\n'))
	if m.tells.Failure == "" && m.all.RankSet().Len() > 0 {
		if _, err := layout.Unread(m.all.WritePart(given)); err != nil {
			return err
		}
	}
	m.all = merge.Accumulator{}
	if err := binary.Write(to, binary.NativeEndian, uint64(given.Len())); err != nil {
		return err
	}
	_, err = to.Write(given.Bytes())
	return err
}

// write writes the trace of all parts, and tells what was left out.
func (m *Member) write() error {
	stderr, s := m.Cmd.ErrOrStderr(), m.Summary
	for i, left := range m.tells.Left {
		if i == mostLeft {
			cli.Warn(stderr, "%s left out", text.Plural(len(m.tells.Left)-i, "more part"))
			break
		}
		cli.Warn(stderr, "%s", left)
	}
	slices.Sort(m.tells.Raw)
	for _, raw := range slices.Compact(m.tells.Raw) {
		cli.Warn(stderr, "%s", raw)
	}
	switch {
	case m.tells.Failure != "":
		return errors.New(m.tells.Failure)
	case m.tells.Parts == 0:
		if len(m.tells.Left) == 0 {
			return errors.Join(fmt.Errorf("%s: %w", m.Directory, errNoParts), m.say())
		}
		return fmt.Errorf("%s: no part in it can be read", m.Directory)
	}
	s.Parts = m.tells.Parts
	m.Cmd.SetContext(cli.Telling(m.Cmd.Context(), m.Told))
	err := cli.WriteOutput(m.Cmd, s.Output, nil, func(w io.Writer) error {
		if err := m.all.Describe(merge.Run{Ranks: s.size}); err != nil {
			return err
		}
		file, err := s.encode(m.Cmd, &m.all)
		if err != nil {
			return err
		}
		_, err = w.Write(file)
		return err
	})
	if err != nil {
		return err
	}
	s.Beyond.Warn(stderr, s.size > 0)
	return m.say()
}

// say tells the process that started the launcher how many parts were merged.
func (m *Member) say() error {
	_, err := fmt.Fprintf(m.Told, "%s%d\n", MergedParts, m.tells.Parts)
	return err
}

var errNoParts = errors.New("no node has a part in it: no call of MPI was recorded, or the recorders were killed. " +
	"Then raw records are in reprise-spool-* of the directory for temporary files, or of --spool, on each node: " +
	"merge --collect, or reprise collect, makes parts of them")

// MergedParts is what the root writes in front of the number of parts that were merged.
const MergedParts = "reprise-merged\t"

// done reports whether no part is needed any more.
func (m *Member) done() bool {
	return len(m.tells.Raw) == 0 && (m.Root == nil && len(m.tells.Left) == 0 || errors.Is(m.Root, errNoParts))
}

// mostLeft is how many parts that were left out are told of.
const mostLeft = 20
