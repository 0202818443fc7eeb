//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-trace/reprise/cmd/reprise/internal/cli"
	"github.com/reprise-trace/reprise/cmd/reprise/internal/predict"
	"github.com/reprise-trace/reprise/internal/test/mpitest"
	"github.com/reprise-trace/reprise/mpi/interpose"
)

// launcher returns the command line that starts some ranks, without the program.
func launcher(m *mpitest.MPI, ranks int) []string {
	line := m.Launch(ranks, "program")
	return line[:len(line)-1]
}

// TestCalibrate checks that what each MPI takes is measured, and that the file is a machine. Times depend on
// what else runs: bounds are wide.
func TestCalibrate(t *testing.T) {
	mpitest.ForOne(t, func(t *testing.T, m *mpitest.MPI) {
		file := filepath.Join(t.TempDir(), "m.toml")
		calibrate := func(line []string) result {
			cmd := process(t, append([]string{"calibrate", "--json", "-o", file, "--"}, line...)...)
			cmd.Env = append(mpitest.Environment(t), runMain+"=1", "MPICC="+m.CC)
			return outcome(t, cmd)
		}
		r := calibrate(launcher(m, 2))
		if r.status != cli.ExitOK {
			t.Fatalf("status %d: %s", r.status, r.stderr)
		}
		c := jsonChecker{t, jsonTypes(t), make(map[string]bool)}
		c.object("calibrate", r.stdout)
		var a predict.Calibrated
		if err := json.Unmarshal([]byte(r.stdout), &a); err != nil {
			t.Fatal(err)
		}
		if a.Ranks != 2 || a.Nodes != 1 || len(a.Links) != 1 || a.Links[0].Name != "within" || len(a.Collectives) == 0 {
			t.Fatalf("%+v", a)
		}
		l := a.Links[0]
		if way := l.Latency + 2*l.Overhead; way < 50 || way > 1e9 {
			t.Errorf("small messages take %v ns", way)
		}
		if l.EagerLimit == nil || *l.EagerLimit <= 0 || *l.EagerLimit > 4<<20 {
			t.Errorf("eager limit %v", l.EagerLimit)
		}
		var errors []float64
		for _, m := range l.Messages {
			if !m.Fitted {
				errors = append(errors, math.Abs(float64(m.Predicted/m.Measured)-1))
			}
		}
		slices.Sort(errors)
		if quiet := len(a.Doubts) == 0; len(errors) < 5 || quiet && errors[len(errors)/2] > 0.5 {
			t.Errorf("errors of messages that are not fitted: %.2f", errors)
		} else if !quiet {
			t.Log("something else runs on this machine: what is not fitted is not compared")
		}
		p, err := readMachine(file)
		if err != nil {
			t.Fatalf("%v in\n%s", err, readFile(t, file))
		}
		if p.RanksPerNode < 2 || predict.Nanoseconds(p.Within.Latency) != l.Latency ||
			len(p.Within.Larger) != len(l.Larger) {
			t.Errorf("%+v, want %+v", p.Within, l)
		}
		if other := otherMPI(t, m); other != nil {
			if r := calibrate(launcher(other, 2)); r.status != cli.ExitFailure ||
				!strings.Contains(r.stderr, " starts programs of ") ||
				strings.Contains(r.stderr, "reprise-calibrate\\t") {
				t.Errorf("launcher of %s: status %d: %s", other.Name, r.status, r.stderr)
			}
		}
		if r := calibrate(launcher(m, 1)); r.status != cli.ExitFailure ||
			!strings.Contains(r.stderr,
				"started one rank: messages need two, such as: reprise calibrate -- mpirun -n 2") {
			t.Errorf("one rank: status %d: %s", r.status, r.stderr)
		}
	})
}

// TestMachineFile checks that the file has the parameters exactly, within a node and between nodes.
func TestMachineFile(t *testing.T) {
	link := func(times ...float64) *interpose.LinkTimes {
		l := &interpose.LinkTimes{Send: 61.5, Receive: 40.25, Gap: 70, Alone: 8000, Together: 50000, EagerLimit: 4096}
		for i, t := range times {
			l.OneWay = append(l.OneWay, interpose.MessageTime{Bytes: 64 << i, Nanoseconds: t, Lower: t - 1,
				Higher: t + 1})
		}
		return l
	}
	all := link(900, 950, 1500)
	all.EagerLimit = -1
	all.OneWay[1].Nanoseconds = 0 // a clock may be coarse
	all.OneWay = append(all.OneWay, interpose.MessageTime{Bytes: 3000})
	unlimited := link(400, 500, 700, 1000)
	unlimited.Unlimited = true
	for _, c := range []interpose.Calibration{
		{Nodes: []int{0, 0}, Processors: 4, Within: link(400, 410, 430, 480, 600, 800, 1200, 9000, 9100, 9300,
			9700, 12000, 18000, 29000)},
		{Nodes: []int{0, 1, 0, 1}, Processors: 1, Within: unlimited, Between: all,
			Collectives: []interpose.CollectiveTime{{Operation: "barrier", Nanoseconds: 5000},
				{Operation: "alltoall", Bytes: 8, Nanoseconds: 1e4}}},
	} {
		c.Delayed = 0.3
		a := &predict.Calibrated{Schema: cli.Schema, Command: "mpirun -n 2", MPI: "an\nMPI"}
		if err := a.Fit(context.Background(), &c); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "m.toml")
		writeFile(t, path, a.MachineFile())
		p, err := readMachine(path)
		if err != nil {
			t.Fatalf("%v in\n%s", err, a.MachineFile())
		}
		if !reflect.DeepEqual(p.Within, a.Parameters.Within) ||
			!reflect.DeepEqual(p.Between, a.Parameters.Between) ||
			!reflect.DeepEqual(p.Besides, a.Parameters.Besides) ||
			p.RanksPerNode != a.Parameters.RanksPerNode || p.Cyclic != a.Parameters.Cyclic {
			t.Errorf("%+v\nbecomes\n%+v\nin\n%s", a.Parameters, p, a.MachineFile())
		}
		const doubt = "other programs had the processor of a rank for 30.0 % of the time: the parameters are not those of an idle machine"
		if share := []string{"2 ranks share 1 processor: calibrate with at most one on each"}; c.Processors == 4 && !slices.Equal(a.Doubts, []string{doubt}) || c.Processors == 1 && !slices.Equal(a.Doubts, share) {
			t.Errorf("doubts %q", a.Doubts)
		}
		if !strings.Contains(a.MachineFile(), "# Warning: "+a.Doubts[0]) {
			t.Errorf("no warning in\n%s", a.MachineFile())
		}
		var out bytes.Buffer
		if err := json.NewEncoder(&out).Encode(a); err != nil {
			t.Error(err)
		}
		if a.Parameters.Within.Overhead != 50875 {
			t.Errorf("overhead %v", a.Parameters.Within.Overhead)
		}
	}
}

// TestCalibrateErrors checks what is said where there is nothing to measure.
func TestCalibrateErrors(t *testing.T) {
	for _, tt := range []struct {
		args   string
		status int
		want   string
	}{
		{"", cli.ExitUsage, "calibrate takes the MPI launcher"},
		{"--json -o - -- mpirun", cli.ExitUsage, "-o takes a file"},
		{"-- true", cli.ExitFailure,
			"true: nothing was measured: calibrate takes the MPI launcher with its flags, such as: reprise calibrate -- mpirun -n 2"},
		{"-- no-such-launcher -n 2", 127, "no-such-launcher: "},
		{"-o missing/m.toml -- no-such-launcher -n 2", cli.ExitFailure, "missing/m.toml: no such file or directory"}, // before it measures
	} {
		if r := invoke(t, "", append([]string{"calibrate"},
			strings.Fields(tt.args)...)...); r.status != tt.status || !strings.Contains(r.stderr, tt.want) {
			t.Errorf("%s: status %d, %q, want %q", tt.args, r.status, r.stderr, tt.want)
		}
	}
}
