//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/internal/test/tier"
)

// launch is what stands in for a launcher in the scripts of docs/clusters.md: it starts four processes, in
// whatever job its own scheduler takes it to be.
const launch = `#!/bin/sh
unset SLURM_JOB_ID PBS_JOBID
case "$1 $2" in
"--version ") exec LAUNCHER --version ;;
"getattr jobid") echo flux; exit ;;
"job id") echo "job-of-$3"; exit ;;
"run "*) shift ;;
esac
while [ "$1" = -N ] || [ "$1" = -n ]; do shift 2; done
exec LAUNCHER -n 4 "$@"
`

// TestClusterScriptsRun runs each job script of docs/clusters.md as a scheduler does, with stand-ins for its
// launchers: the trace is there, under the name of the job.
func TestClusterScriptsRun(t *testing.T) {
	m := theMPI(t)
	page, err := os.ReadFile("../../docs/clusters.md")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	scripts := regexp.MustCompile("(?s)```\n(#!/bin/bash\n.*?)```").FindAllSubmatch(page, -1)
	if len(scripts) != 4 {
		t.Fatalf("%d scripts", len(scripts))
	}
	directory, tools := t.TempDir(), t.TempDir()
	t.Chdir(directory)
	real := m.Launch(4, "x")[0]
	for _, name := range []string{"srun", "mpirun", "flux"} {
		writeScript(t, filepath.Join(tools, name), strings.ReplaceAll(launch, "LAUNCHER", real))
	}
	writeScript(t, filepath.Join(tools, "reprise"), "#!/bin/sh\nexec "+self+" \"$@\"\n")
	if err := os.Symlink(m.Build(t, "ring.c"), "app"); err != nil {
		t.Fatal(err)
	}
	for _, s := range tier.Some(scripts, 2) {
		// the memory of the node is not for tests
		script := string(bytes.ReplaceAll(s[1], []byte("/dev/shm"), []byte(t.TempDir())))
		t.Run(strings.Join(strings.Fields(strings.Split(script, "\n")[1])[:1], ""), func(t *testing.T) {
			writeScript(t, "job.sh", script)
			cmd := exec.CommandContext(t.Context(), "bash", "job.sh")
			cmd.Env = append(mpitest.Environment(t), runMain+"=1", "MPICC="+m.CC, "PATH="+tools+":"+os.Getenv("PATH"),
				"SLURM_SUBMIT_DIR="+directory, "SLURM_JOB_ID=job-of-slurm", "PBS_O_WORKDIR="+directory,
				"PBS_JOBID=job-of-pbs")
			if got := outcome(t, cmd); got.status != 0 {
				t.Fatalf("%+v", got)
			}
			traces, err := filepath.Glob("job-of-*.rpz")
			if err != nil || len(traces) != 1 {
				t.Fatalf("traces %q, %v", traces, err)
			}
			if got := must(t, "info", traces[0]); !strings.HasPrefix(got, traces[0]+": 4 ranks, ") ||
				strings.Contains(got, "no part") {
				t.Error(got)
			}
			if err := os.Remove(traces[0]); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// writeScript writes a program of a shell.
func writeScript(t *testing.T, path, text string) {
	t.Helper()
	writeFile(t, path, text)
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
}
