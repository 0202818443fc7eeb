package collect_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/tier"
	"github.com/reprise-trace/reprise/mpi/collect"
	"github.com/reprise-trace/reprise/mpi/interpose"
)

// hpccInput is the example of hpcc with a smaller problem: two lines of text, the
// settings of HPL, a line of text, and those of PTRANS.
const hpccInput = "HPLinpack benchmark input file\n\nHPL.out\n8\n1\n200\n1\n80\n0\n1\n2\n2\n16.0\n1\n2\n1\n4\n1\n2\n1\n1\n1\n1\n1\n0\n2\n64\n0\n0\n1\n8\n" +
	"\n0\n1200 10000 30000\n0\n40 9 8 13 13 20 16 32 64\n"

// TestHPCC records hpcc: it has the calls that a counter counts, with the arguments of
// the raw records, and takes less than a twentieth of what Pilgrim's traces of as many
// calls take.
func TestHPCC(t *testing.T) {
	program, err := exec.LookPath("hpcc")
	if err != nil {
		t.Skip(err)
	}
	var m *mpitest.MPI
	for _, i := range mpitest.Installed(t) {
		if i.Name == "openmpi" {
			m = i
		}
	}
	if m == nil {
		t.Skip("hpcc is linked with Open MPI, which is not installed")
	}
	library, err := interpose.Build(t.Context(), m.CC, mpitest.Cache(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, peer := range tier.Some([]struct {
		ranks int
		calls uint64
		bytes int
	}{{4, 323_827, 174_077}, {8, 420_446, 455_821}}, 2) {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("hpccinf.txt", []byte(hpccInput), 0o600); err != nil {
			t.Fatal(err)
		}
		spool, counts := t.TempDir(), t.TempDir()
		output := m.Run(t, mpitest.Options{
			Ranks: peer.ranks, Limit: 3 * time.Minute,
			Preload: []string{m.Counter(t), library.Path},
			Env:     []string{"REPRISE_SPOOL=" + spool, mpitest.CountIn(counts)},
		}, program)
		if result, err := os.ReadFile("hpccoutf.txt"); err != nil ||
			!strings.Contains(string(result), "Success=1") || output.Status != 0 {
			t.Fatalf("status %d: %v\n%s", output.Status, err, output.Rest)
		}
		r := collectRun(t, spool, counts)
		if lines := r.counts.Differences(countsOf(t, r.trace)); len(lines) > 0 {
			t.Errorf("counted, and in the trace: %q", lines)
		}
		if n, err := collect.Compare(t.Context(), spool, callsOf(t, r.trace)); err != nil || n != r.summary.Calls {
			t.Errorf("%d of %d calls are as recorded: %v", n, r.summary.Calls, err)
		}
		t.Logf("%d ranks: %d calls, %d bytes", peer.ranks, r.summary.Calls, len(r.file))
		if r.summary.Calls < 2*peer.calls && len(r.file) > peer.bytes/10 {
			t.Errorf("%d ranks: %d bytes, more than a tenth of %d", peer.ranks, len(r.file), peer.bytes)
		}
	}
}
