package foreign

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// platform is a cluster of hosts that compute 1e9 flops a second, and exchange 1e9 bytes
// a second.
const platform = `<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cluster" prefix="host" suffix="" radical="0-%d" speed="1Gf" bw="1GBps" lat="1us"/>
</platform>
`

var simulationTime = regexp.MustCompile(`Simulation time ([0-9.]+)`)

// Replay has SimGrid's smpirun replay a file with the actions of all ranks, and returns
// the simulated time in seconds. It skips the test if there is no smpirun.
func Replay(t testing.TB, trace string, ranks int) float64 {
	t.Helper()
	skipShort(t)
	smpirun, err := exec.LookPath("smpirun")
	if err != nil {
		t.Skip("SimGrid, which is Debian's libsimgrid-dev, is not installed: ", err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var hosts strings.Builder
	for rank := range ranks {
		fmt.Fprintf(&hosts, "host%d\n", rank)
	}
	write("platform.xml", fmt.Sprintf(platform, ranks-1))
	write("hosts", hosts.String())
	write("list", trace+"\n")
	cmd := exec.Command(smpirun, "-np", strconv.Itoa(ranks), "-platform", "platform.xml", "-hostfile", "hosts", "-replay", "list")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("smpirun -replay: %v\n%s", err, out)
	}
	last := 0.0
	for _, m := range simulationTime.FindAllSubmatch(out, -1) {
		seconds, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		last = max(last, seconds)
	}
	if last == 0 {
		t.Fatalf("smpirun -replay says no time:\n%s", out)
	}
	return last
}
