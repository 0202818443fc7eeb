package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/reprise-trace/reprise"
	"github.com/reprise-trace/reprise/mpi/collect"
)

// hpccInput is what hpcc reads: its example, but for the size of the problem, which
// makes a run of about as many calls as that of PEERS.md §1, which does not say it.
func hpccInput() []byte {
	lines := []string{"HPLinpack benchmark input file", "", "HPL.out", "8", "1", "200", "1", "80", "0", "1", "2", "2", "16.0",
		"1", "2", "1", "4", "1", "2", "1", "1", "1", "1", "1", "0", "2", "64", "0", "0", "1", "8", "", "0", "1200 10000 30000", "0", "40 9 8 13 13 20 16 32 64"}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// hpccPeers are the figures of PEERS.md §1.
var hpccPeers = []struct {
	ranks             int
	calls, signatures string
	bytes             int
}{
	{4, "323,827", "1,638", 174_077},
	{8, "420,446", "4,076", 455_821},
}

// hpcc reports the size of traces of hpcc.
func (m *implementation) hpcc(w io.Writer, directory string) error {
	program, err := exec.LookPath("hpcc")
	if err != nil {
		fmt.Fprintf(w, "\nhpcc is not installed.\n")
		return nil
	}
	fmt.Fprintf(w, "\nhpcc with problems of size 200. It polls: the number of calls differs from run to run.\n\n")
	fmt.Fprintln(w, "| ranks | calls | signatures | trace without times, bytes | of Pilgrim's | statistics of times, bytes a signature | raw records, bytes | Pilgrim: calls | signatures | bytes |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|")
	for _, peer := range hpccPeers {
		spool, err := os.MkdirTemp(directory, "spool-")
		if err != nil {
			return err
		}
		work, err := os.MkdirTemp(directory, "hpcc-")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(work, "hpccinf.txt"), hpccInput(), 0o600); err != nil {
			return err
		}
		if _, err := m.run(peer.ranks, spool, work, program); err != nil {
			return err
		}
		size, _, _, err := collectSpool(spool, collect.Options{Keep: true, Untimed: true})
		if err != nil {
			return err
		}
		timed, signatures, s, err := collectSpool(spool, collect.Options{})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %d | %d | %d | %d | %.3f | %.1f | %d | %s | %s | %d |\n", peer.ranks, s.Calls, signatures,
			size, float64(size)/float64(peer.bytes), float64(timed-size)/float64(signatures), s.Bytes,
			peer.calls, peer.signatures, peer.bytes)
	}
	return nil
}

// collectSpool makes a trace of a spool and returns its size and the number of
// signatures in it.
func collectSpool(spool string, o collect.Options) (size, signatures int, s collect.Summary, err error) {
	c, err := collect.New(spool, o)
	if err != nil {
		return 0, 0, s, err
	}
	a, s, err := c.Finish(context.Background())
	if err != nil {
		return 0, 0, s, err
	}
	var file bytes.Buffer
	if err := a.Write(&file); err != nil {
		return 0, 0, s, err
	}
	trace, err := reprise.OpenReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		return 0, 0, s, err
	}
	return file.Len(), trace.Signatures(), s, nil
}
