package foreign

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-trace/reprise/mpi/replay"
	"github.com/reprise-trace/reprise/mpi/replay/loggps"
)

// A Platform is where SimGrid's smpirun replays a trace.
type Platform struct {
	XML     func(ranks int) string // with hosts that are called host0 and so on
	Options []string               // of smpirun
}

// A Simulated is what smpirun says of a replay.
type Simulated struct {
	Seconds   float64       // of the run
	Processor time.Duration // that smpirun took
}

var simulationTime = regexp.MustCompile(`Simulation time ([0-9.]+)`)

// Simulate has smpirun replay a file with the actions of all ranks, in a directory of its own. The
// error is [exec.ErrNotFound] if there is no smpirun.
func (p Platform) Simulate(dir, trace string, ranks int) (s Simulated, err error) {
	smpirun, err := exec.LookPath("smpirun")
	if err != nil {
		return s, fmt.Errorf("SimGrid, which is Debian's libsimgrid-dev, is not installed: %w", err)
	}
	var hosts strings.Builder
	for rank := range ranks {
		fmt.Fprintf(&hosts, "host%d\n", rank)
	}
	for name, text := range map[string]string{"platform.xml": p.XML(ranks), "hosts": hosts.String(),
		"list": trace + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return s, err
		}
	}
	args := append([]string{"-np", strconv.Itoa(ranks), "-platform", "platform.xml", "-hostfile", "hosts",
		"-replay", "list"}, p.Options...)
	cmd := exec.Command(smpirun, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return s, fmt.Errorf("smpirun -replay: %w\n%s", err, out)
	}
	for _, m := range simulationTime.FindAllSubmatch(out, -1) {
		seconds, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			return s, err
		}
		s.Seconds = max(s.Seconds, seconds)
	}
	if s.Seconds == 0 {
		return s, fmt.Errorf("smpirun -replay says no time:\n%s", out)
	}
	s.Processor = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return s, nil
}

// Cluster is of hosts that compute 1e9 flops a second, and exchange 1e9 bytes a second.
var Cluster = Platform{XML: func(ranks int) string {
	return platform(
		fmt.Sprintf(`<cluster id="cluster" prefix="host" suffix="" radical="0-%d" speed="1Gf" bw="1GBps" lat="1us"/>`, ranks-1))
}}

// Switch is a cluster on one switch without contention, in the simplest terms that SimGrid has: messages take
// a latency and their bytes at a bandwidth, and none waits for its receiver. Its hosts compute 1e9 flops a
// second. [SwitchParameters] are the same. The algorithms of collective operations are set one by one, as
// SimGrid 3.32 ends with a fault if it is asked to choose as MPICH does, or is left to choose that of
// MPI_Alltoallv itself.
var Switch = Platform{
	XML: func(ranks int) string {
		var b strings.Builder
		b.WriteString(`<zone id="cluster" routing="Full">` + "\n")
		for i := range ranks {
			fmt.Fprintf(&b, "<host id=\"host%d\" speed=\"1Gf\"/>\n", i)
		}
		b.WriteString(`<link id="switch" bandwidth="10GBps" latency="1500ns" sharing_policy="FATPIPE"/>` + "\n")
		for i := range ranks {
			for j := i + 1; j < ranks; j++ {
				fmt.Fprintf(&b, "<route src=\"host%d\" dst=\"host%d\"><link_ctn id=\"switch\"/></route>\n", i, j)
			}
		}
		b.WriteString("</zone>")
		return platform(b.String())
	},
	Options: []string{
		// No factors on what the platform says, no window of TCP, no traffic of acknowledgements.
		"--cfg=network/model:CM02", "--cfg=network/latency-factor:1", "--cfg=network/bandwidth-factor:1",
		"--cfg=network/weight-S:0", "--cfg=network/TCP-gamma:0", "--cfg=network/crosstraffic:0",
		// No overheads of calls.
		"--cfg=smpi/os:0:0:0", "--cfg=smpi/or:0:0:0", "--cfg=smpi/ois:0:0:0",
		"--cfg=smpi/test:0", "--cfg=smpi/iprobe:0", "--cfg=smpi/wtime:0",
		// All messages are eager.
		"--cfg=smpi/async-small-thresh:1000000000", "--cfg=smpi/send-is-detached-thresh:1000000000",
		"--cfg=smpi/allreduce:rdb", "--cfg=smpi/alltoall:pair", "--cfg=smpi/alltoallv:pair",
		"--cfg=smpi/bcast:binomial_tree", "--cfg=smpi/reduce:binomial", "--cfg=smpi/barrier:ompi_recursivedoubling",
	},
}

// SwitchParameters are those of [Switch].
func SwitchParameters() loggps.Parameters {
	return loggps.Parameters{
		Between: loggps.Link{Latency: 1500 * replay.Nanosecond, Bandwidth: 10e9},
		Speed:   1e9,
		Collectives: map[string]loggps.Algorithm{
			"allreduce": "recursive-doubling", "alltoall": "pairwise", "alltoallv": "pairwise",
			"bcast": "binomial", "reduce": "binomial", "barrier": "recursive-doubling",
		},
	}
}

// platform returns the text of a platform.
func platform(zone string) string {
	return "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform version=\"4.1\">\n" + zone + "\n</platform>\n"
}
